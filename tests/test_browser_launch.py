"""Browsers start, crash, end, and leave nothing behind, not even when their owner is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from uigym.browser import Browser, Frame, Session, find_chromium
from uigym.browser.orphans import SWITCH, claim, discard, end_group, is_running, mark, note_profile, sweep
from uigym.errors import BrowserError, ProductError
from uigym.types import Click, Event, Key

pytestmark = pytest.mark.browser
on_loop = pytest.mark.asyncio(loop_scope="module")
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]


def family(pid: int) -> list[int]:
    """The process ids of a browser's process group."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and is_running(int(entry.name)):
            try:
                if os.getpgid(int(entry.name)) == pid:
                    found.append(int(entry.name))
            except ProcessLookupError:
                continue
    return found


def profile_of(pid: int) -> Path:
    command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return Path(next(part for part in command if part.startswith("--user-data-dir=")).partition("=")[2])


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@on_loop
async def test_sessions_share_nothing(opened: Opener, browser: Browser) -> None:
    first, _ = await opened("/input.html")
    await first.page.evaluate("document.cookie = 'a=1'; localStorage.a = 1; sessionStorage.a = 1")
    second, _ = await opened("/input.html")
    for _ in range(2):
        left = await second.page.evaluate(
            "[document.cookie, localStorage.length, sessionStorage.length, history.length]"
        )
        assert left == ["", 0, 0, 1] and second.pointer is None
        await second.close()
        second, _ = await opened("/input.html")
    assert await second.page.evaluate("document.hasFocus()") and await first.page.evaluate("document.hasFocus()")


@on_loop
async def test_pictures_have_the_size_of_the_viewport(opened: Opener) -> None:
    for size in ((320, 256), (1280, 720), (375, 812)):
        session, frame = await opened("/paint.html", viewport=size)
        assert frame.png[:4] == b"\x89PNG"
        assert tuple(int.from_bytes(frame.png[i : i + 4], "big") for i in (16, 20)) == size
        assert await session.page.evaluate("[innerWidth, innerHeight, devicePixelRatio]") == [*size, 1]


@on_loop
async def test_a_crashed_page_is_an_error_of_its_session_alone(opened: Opener, browser: Browser) -> None:
    session, _ = await opened("/input.html")
    other, _ = await opened("/input.html")
    with pytest.raises(BrowserError, match="crash"):
        await asyncio.gather(session.page.goto("chrome://crash"), session.step(Click(5, 5)), return_exceptions=True)
        await session.step(Click(5, 5))
    assert Event("crash", "the page crashed") in session._beside.take()
    assert browser.alive and (await other.step(Click(5, 5))).settled
    await session.close()


@on_loop
async def test_a_product_that_is_down_is_not_the_browsers_fault(browser: Browser) -> None:
    session = await browser.session(base_url="http://127.0.0.1:9")
    with pytest.raises(ProductError, match=r"http://127.0.0.1:9/ could not be opened: net::ERR_"):
        await session.open("/")
    await session.close()


@on_loop
async def test_a_product_that_never_answers_is_not_the_browsers_fault(browser: Browser, pages: Any) -> None:
    session = await browser.session(base_url=pages.url)
    with pytest.raises(ProductError, match=r"/never/1 did not answer within 1 s"):
        await session.open("/never/1", timeout_s=1.0)
    await session.close()


@on_loop
async def test_a_page_cannot_reach_the_devtools_port(opened: Opener, browser: Browser) -> None:
    port, path = (profile_of(browser.pid) / "DevToolsActivePort").read_text().splitlines()
    session, _ = await opened("/input.html")
    tried = await session.page.evaluate(
        """([port, path]) => Promise.all([
            fetch(`http://127.0.0.1:${port}/json/version`).then((r) => r.text(), () => "refused"),
            fetch(`http://127.0.0.1:${port}/json/new?about:blank`, {method: "PUT"}).then((r) => r.text(), () => "refused"),
            new Promise((go) => {
                const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
                socket.onopen = () => go("open");
                socket.onerror = () => go("refused");
            }),
        ])""",
        [port, path],
    )
    assert tried == ["refused"] * 3


@on_loop
async def test_a_dead_browser_says_so(pages: Any) -> None:
    browser = await Browser.launch()
    session = await browser.session(base_url=pages.url, viewport=(320, 256))
    await session.open("/input.html")
    assert browser.alive and is_running(browser.pid) and os.getpgid(browser.pid) == browser.pid
    step = asyncio.create_task(session.step(Key("Tab")))
    end_group(browser.pid)
    with pytest.raises(BrowserError):
        await step
        await session.step(Key("Tab"))
    assert not browser.alive
    with pytest.raises(BrowserError, match="browser is gone"):
        await browser.session(base_url=pages.url)
    await session.close()
    await browser.close()
    await browser.close()


@on_loop
async def test_nothing_is_left_after_close(pages: Any) -> None:
    browser = await Browser.launch()
    session = await browser.session(base_url=pages.url, viewport=(320, 256))
    await session.open("/settle.html?hang")
    with pytest.raises(ProductError):
        await session.step(Click(50, 25), timeout_s=0.5)
    profile = profile_of(browser.pid)
    assert family(browser.pid) and wait_until(profile.is_dir)
    await browser.close()
    assert wait_until(lambda: not family(browser.pid))
    assert wait_until(lambda: not profile.exists())


OWNER = """
import asyncio, sys
from uigym.browser import Browser
async def main():
    browser = await Browser.launch()
    print(browser.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


def test_a_killed_owner_leaves_no_browser() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    assert family(pid)
    profile = profile_of(pid)
    owner.kill()
    owner.wait()
    owner.stdout.close()
    if not wait_until(lambda: not family(pid), 3.0):
        assert pid in sweep()
    assert wait_until(lambda: not family(pid))
    sweep()
    assert wait_until(lambda: not profile.exists())


def test_the_profile_of_a_dead_owner_is_removed_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive, foreign = (tmp_path / f"playwright_profile-{name}" for name in "abc")
    for folder in (dead, alive, foreign):
        folder.mkdir()
    left, held = claim(), claim()
    note_profile(left, dead)
    note_profile(held, alive)
    owner = left / "uigym-owner"
    owner.write_text(owner.read_text().replace(f".{os.getpid()}.", f".{gone.pid}."))
    sweep()
    assert not dead.exists() and not left.exists()
    assert alive.is_dir() and held.is_dir() and foreign.is_dir()
    discard(held)
    assert not alive.exists() and not held.exists()


def test_no_other_folder_is_taken_for_a_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    others = [tmp_path / "mine", tmp_path / "deeper" / "playwright_profile"]
    for other in others:
        other.mkdir(parents=True)
        folder = claim()
        note_profile(folder, other)
        discard(folder)
        assert other.is_dir() and not folder.exists()


def stand_in(switch: str, command: str = "sleep 30") -> subprocess.Popen[bytes]:
    """A process that carries the mark of a browser."""
    code = f"import subprocess; subprocess.run({command.split()!r})"
    return subprocess.Popen([sys.executable, "-c", code, switch], start_new_session=True)


def test_only_browsers_of_dead_owners_are_swept() -> None:
    gone = subprocess.Popen(["true"])
    namespace, owner, started = mark().removeprefix(SWITCH).split(".")
    gone.wait()
    switches = {
        "dead owner": f"{SWITCH}{namespace}.{gone.pid}.{started}",
        "reused pid": f"{SWITCH}{namespace}.{owner}.1",
        "alive": mark(),
        "other namespace": f"{SWITCH}1{namespace}.{gone.pid}.{started}",
        "no number": f"{SWITCH}{namespace}.x.{started}",
        "other program": "--owner=1",
    }
    processes = {name: stand_in(switch) for name, switch in switches.items()}
    try:
        for process in processes.values():
            assert wait_until(lambda process=process: len(family(process.pid)) == 2)  # with its child
        swept = sweep()
        for name, process in processes.items():
            expected = name in ("dead owner", "reused pid")
            assert (process.pid in swept) == expected, name
            assert wait_until(lambda process=process: not family(process.pid)) if expected else family(process.pid), (
                name
            )
    finally:
        for process in processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


async def test_a_browser_that_does_not_start_is_one_message(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text(
        "#!/bin/sh\necho 'error while loading shared libraries: libnss3.so: cannot open' >&2\nexit 127\n"
    )
    program.chmod(0o755)
    with pytest.raises(BrowserError) as failed:
        await Browser.launch(program)
    assert str(program) in str(failed.value) and "libnss3.so" in str(failed.value)
    assert "\n" not in str(failed.value)


async def test_two_event_loops_can_each_have_a_browser() -> None:
    browser = await Browser.launch(find_chromium())
    assert browser.version.split(".")[0].isdigit()
    await browser.close()
