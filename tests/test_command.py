"""Products that a command starts: how they fail, how they end, and that nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness
from uigym.product import Product, scratch, strays
from uigym.product.command import words
from uigym.product.output import KEPT_BYTES, Output
from uigym.types import State

SERVER = """
import http.server, os, pathlib, subprocess, sys
port, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(str(folder).encode())
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
(folder / "pids").write_text(f"{os.getpid()} {child.pid}")
http.server.HTTPServer(("127.0.0.1", port), Page).serve_forever()
"""


async def read(product: Any) -> State:
    return State({"t": ({"id": 1},)})


async def reset(product: Any, seed: int, appearance: Any) -> None:
    pass


def harness(**fields: Any) -> Harness:
    return Harness(**{"name": "shop", "state": read, "reset": reset, "ready_timeout_s": 20.0, **fields})


def command(folder: Path, source: str, **fields: Any) -> Harness:
    """A harness whose product is this Python program, called with {port} and {workdir}."""
    script = folder / "product.py"
    script.write_text(textwrap.dedent(source))
    return harness(start=f"{{python}} '{script}' {{port}} {{workdir}}", **fields)


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


async def gone(*pids: int, within_s: float = 8.0) -> bool:
    deadline = time.monotonic() + within_s
    while any(map(is_running, pids)) and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    return not any(map(is_running, pids))


async def get(product: Product, path: str = "/") -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, verify=False) as client:
        return await client.get(product.base_url + path)


async def test_command_gets_its_port_and_a_workdir_with_spaces(tmp_path: Path) -> None:
    workdir = tmp_path / "a folder; with 'quotes' $HOME"
    async with Product(command(tmp_path, SERVER), workdir) as product:
        assert (await get(product)).text == str(workdir)
        assert product.base_url == f"http://127.0.0.1:{product.port}"


async def test_stop_ends_the_whole_group_and_keeps_a_given_workdir(tmp_path: Path) -> None:
    product = Product(command(tmp_path, SERVER), tmp_path / "work")
    await product.start()
    pids = [int(pid) for pid in (tmp_path / "work/pids").read_text().split()]
    own = product.scratch
    await product.stop()
    await product.stop()
    assert await gone(*pids)
    assert (tmp_path / "work/pids").exists() and not own.exists()


async def test_temporary_workdir_is_deleted(tmp_path: Path) -> None:
    async with Product(command(tmp_path, SERVER)) as product:
        assert (product.workdir / "pids").exists()
    assert not product.workdir.exists()


async def test_dead_command_shows_its_status_and_last_20_lines(tmp_path: Path) -> None:
    product = Product(command(tmp_path, "for i in range(30): print('line', i)\nraise SystemExit(3)"))
    with pytest.raises(ProductError, match="shop: its command ended with status 3") as caught:
        await product.start()
    assert str(caught.value).endswith("\n".join(f"line {i}" for i in range(10, 30)))
    assert not product.workdir.exists()


async def test_command_that_is_never_ready(tmp_path: Path) -> None:
    source = SERVER.replace("send_response(200)", "send_response(503)").replace("child =", "print('warming'); child =")
    product = Product(command(tmp_path, source, ready="/healthz", ready_timeout_s=1.5), tmp_path / "work")
    with pytest.raises(ProductError, match=r"did not answer 200 on /healthz .* within 1.5 s \(last: 503\)") as caught:
        await product.start()
    assert "warming" in str(caught.value)
    assert await gone(*map(int, (tmp_path / "work/pids").read_text().split()))


async def test_command_that_listens_elsewhere_is_told_where(tmp_path: Path) -> None:
    product = Product(command(tmp_path, "import time; time.sleep(30)", ready_timeout_s=2.0))
    with pytest.raises(ProductError, match=r"connection refused; it must listen on 127.0.0.1 and on \{port\}"):
        await product.start()


async def test_program_that_does_not_exist() -> None:
    with pytest.raises(ProductError, match="Is 'no-such-program' installed"):
        await Product(harness(start="no-such-program {port}")).start()


async def test_port_in_use_takes_another(tmp_path: Path) -> None:
    refuse = """
        first = folder / "first"
        if not first.exists():
            first.write_text(str(port))
            raise OSError(98, "Address already in use")
        """
    source = SERVER.replace("class Page", textwrap.dedent(refuse) + "class Page")
    async with Product(command(tmp_path, source), tmp_path / "work") as product:
        assert product.port != int((tmp_path / "work/first").read_text())


async def test_port_always_in_use_is_an_error(tmp_path: Path) -> None:
    source = "import sys; print('try', file=open(sys.argv[2] + '/tries', 'a')); sys.exit('EADDRINUSE: ' + sys.argv[1])"
    with pytest.raises(ProductError, match="EADDRINUSE"):
        await Product(command(tmp_path, source), tmp_path / "work").start()
    assert (tmp_path / "work/tries").read_text() == "try\n" * 3


async def test_product_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.command.GRACE_S", 0.2)
    source = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVER
    async with Product(command(tmp_path, source), tmp_path / "work"):
        pids = [int(pid) for pid in (tmp_path / "work/pids").read_text().split()]
    assert await gone(*pids)


async def test_product_that_died_is_named_at_the_next_reset(tmp_path: Path) -> None:
    async with Product(command(tmp_path, SERVER), tmp_path / "work") as product:
        pid, child = map(int, (tmp_path / "work/pids").read_text().split())
        os.kill(pid, signal.SIGKILL)
        assert await gone(pid)
        with pytest.raises(ProductError, match="its command ended with signal SIGKILL"):
            await product.reset(0)
        with pytest.raises(ProductError, match="its command ended with signal SIGKILL"):
            await product.read_state()
        assert await gone(child)


LEAVE = """
import pathlib, subprocess, sys
away = subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path(sys.argv[2], "away").write_text(str(away.pid))
"""


async def test_what_leaves_its_group_ends_with_the_product(tmp_path: Path) -> None:
    """A child with a session of its own is outside the product's process group."""
    async with Product(command(tmp_path, LEAVE + SERVER), tmp_path / "work"):
        away = int((tmp_path / "work/away").read_text())
        os.kill(away, 0)
    assert await gone(away)


async def test_a_command_that_goes_to_the_background_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ProductError, match="its command ended with status 0"):
        await Product(command(tmp_path, LEAVE), tmp_path / "work").start()
    assert await gone(int((tmp_path / "work/away").read_text()))


async def test_strays_of_a_dead_owner_are_swept_and_no_others() -> None:
    owner = subprocess.Popen(["true"])  # noqa: ASYNC220
    owner.wait()
    dead = re.sub(r"\.\d+\.", f".{owner.pid}.", strays.token(), count=1)
    values = {"dead": dead, "alive": strays.token(), "nobody's": "x"}
    sleeping = {
        name: subprocess.Popen(["sleep", "60"], env={**os.environ, strays.VARIABLE: value})  # noqa: ASYNC220
        for name, value in values.items()
    }
    try:
        assert sleeping["dead"].pid in strays.sweep()
        sleeping["dead"].wait(5)
        assert [name for name, process in sleeping.items() if process.poll() is None] == ["alive", "nobody's"]
        assert strays.end(values["alive"]) == [sleeping["alive"].pid]
    finally:
        for process in sleeping.values():
            process.kill()
            process.wait()


async def test_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    source = SERVER.replace("http.server.HTTPServer", "import time; time.sleep(60); http.server.HTTPServer")
    start = asyncio.create_task(Product(command(tmp_path, source), tmp_path / "work").start())
    while not (tmp_path / "work/pids").exists() or not (tmp_path / "work/pids").read_text():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert await gone(*map(int, (tmp_path / "work/pids").read_text().split()))


async def test_nothing_survives_a_killed_controller(tmp_path: Path) -> None:
    product = command(tmp_path, SERVER)
    controller = tmp_path / "controller.py"
    controller.write_text(f"""
import asyncio, tests_of_product as tests
from pathlib import Path
from uigym.harness import Harness
from uigym.product import Product
async def main():
    product = Product(Harness(name="shop", start={product.start!r}, state=tests.read, reset=tests.reset))
    await product.start()
    print(product.scratch, (product.workdir / "pids").read_text(), flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
""")
    (tmp_path / "tests_of_product.py").write_text("async def read(p): ...\nasync def reset(p, s, a): ...\n")
    process = subprocess.Popen([sys.executable, controller], stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    assert process.stdout is not None
    folder, *pids = process.stdout.readline().split()
    process.kill()
    process.wait()
    process.stdout.close()
    assert await gone(*map(int, pids))
    assert Path(folder) in scratch.sweep(Path(folder).parent)
    assert not Path(folder).exists()  # noqa: ASYNC240


def test_sweep_leaves_folders_whose_owner_lives() -> None:
    mine = scratch.Scratch()
    try:
        assert mine.path not in scratch.sweep(mine.path.parent)
        assert mine.path.is_dir()
    finally:
        mine.remove()
    assert not mine.path.exists()


async def test_output_without_end_fills_nothing(tmp_path: Path) -> None:
    talk = "import threading; threading.Thread(target=lambda: [print('x' * 9999) for _ in iter(int, 1)], daemon=True).start()"
    async with Product(command(tmp_path, SERVER.replace("child =", f"{talk}; child ="))) as product:
        launched: Any = product._launched
        await asyncio.sleep(0.2)
        await product.reset(0)
        assert 0 < len(launched._output._kept) <= KEPT_BYTES
        assert "x" * 500 in launched.output() and len(launched.output().splitlines()) <= 20
        assert not list(product.scratch.glob("*.log"))


async def test_the_last_words_of_a_product_are_told(tmp_path: Path) -> None:
    last = "print('first'); print('last words'); raise SystemExit(4)"
    with pytest.raises(ProductError, match=r"(?s)status 4.*last words"):
        await Product(command(tmp_path, last)).start()


async def test_nobody_reads_on_where_a_stray_keeps_the_pipe_open() -> None:
    output = Output()
    writer = os.dup(output.writer)
    output.begin()
    os.write(writer, b"a line")
    assert output.tail() == "a line"
    output.end()
    for _ in range(300):
        if output._reader < 0:
            break
        await asyncio.sleep(0.01)
    with pytest.raises(BrokenPipeError):
        os.write(writer, b"more")
    os.close(writer)


def values(workdir: Path) -> dict[str, str]:
    return {"port": "80", "workdir": str(workdir)}


@settings(deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1))
def test_any_folder_name_is_one_argument(name: str) -> None:
    _, arguments = words("serve --db '{workdir}/my shop.db' --port {port}", values(Path("/tmp") / name))
    assert arguments == ["serve", "--db", f"{Path('/tmp') / name}/my shop.db", "--port", "80"]


def test_leading_settings_are_the_environment() -> None:
    assert words("DB={workdir}/a.db PORT={port} serve x=1", values(Path("/a b"))) == (
        {"DB": "/a b/a.db", "PORT": "80"},
        ["serve", "x=1"],
    )


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("serve", r"does not say \{port\}"),
        ("serve 'a {port}", "No closing quotation"),
        ("cd x && serve {port}", "no shell reads it"),
        ("PORT={port}", "names no program"),
    ],
)
def test_start_commands_that_cannot_work(start: str, message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        words(start, values(Path("/tmp")))
