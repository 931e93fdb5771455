"""Downloads: one record each, readable by a verifier, however the page gives the file away."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from trials import act

from uigym.browser import Frame, Session, downloads
from uigym.browser.downloads import clean
from uigym.types import NOTHING_OPEN, Click, Download, Event, Wait

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
ACT = Click(40, 20)
REPORT = Download.of("report.csv", b"a,b\n")
BLOB = "const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x,y'])); a.download = {!r};"


def finished(one: Download) -> Event:
    return Event("download", f"{one.name}, {one.size} bytes, sha256 {one.sha256[:12]}", "finished")


def sessions_on_disk(folder: Path) -> set[Path]:
    return set(folder.glob("session-*"))


def files_on_disk(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "script",
    [
        "location.href = '/download/'",
        "window.open('/download/')",
        "window.open('/download/', '_blank', 'noopener,width=200,height=100')",
        "const w = window.open(); w.location = '/download/'",
        "document.body.insertAdjacentHTML('beforeend', '<a target=_blank href=/download/>x'); document.links[0].click()",
        "document.body.insertAdjacentHTML('beforeend', '<a download href=/download/>x'); document.links[0].click()",
        "document.body.insertAdjacentHTML('beforeend', '<iframe src=/download/>')",
        "const f = document.createElement('form'); f.action = '/download/'; document.body.append(f); f.submit()",
    ],
)
async def test_a_file_is_one_record_and_leaves_the_page_as_it_was(opened: Opener, script: str) -> None:
    session, _ = await opened("/trial.html")
    frame = await act(session, script)
    assert frame.settled and frame.open == NOTHING_OPEN
    assert await session.downloads() == (REPORT,)
    assert session.url.endswith("/trial.html")
    again = await session.step(Click(80, 60))
    *begun, ended = (*frame.events, *again.events)  # a frame's navigation may become a download after the picture
    assert ended == finished(REPORT) and begun in ([], [Event("download", "report.csv", "started")])
    assert await session.page.evaluate("document.activeElement.id") == "one"


async def test_a_link_in_a_frame_and_one_that_script_makes(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    frame = await act(session, BLOB.format("blob.csv") + "a.click(); URL.revokeObjectURL(a.href)")
    blob = Download.of("blob.csv", b"x,y")
    assert frame.events == (finished(blob),)
    inside = '<a id=x href="data:text/plain,hi" download="hi.txt" style="position:absolute;left:0;top:0">save</a>'
    await session.page.evaluate(
        "html => { document.body.insertAdjacentHTML('beforeend', '<iframe style=\"position:absolute;left:10px;top:180px;border:0\">');"
        "document.querySelector('iframe').srcdoc = html }",
        inside,
    )
    await session.look()
    frame = await session.step(Click(18, 186))
    greeting = Download.of("hi.txt", b"hi")
    assert frame.events == (finished(greeting),) and await session.downloads() == (blob, greeting)


async def test_a_slow_one_is_told_when_it_begins_and_when_it_ends(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    frame = await act(session, "location.href = '/drip/1200'")
    assert frame.events == (Event("download", "slow.csv", "started"),)
    whole = Download.of("slow.csv", b"a,b\nc,d\n")
    told: tuple[Event, ...] = ()
    for _ in range(10):
        told += (await session.step(Wait(0.3))).events
        if told:
            break
    assert told == (finished(whole),) and await session.downloads() == (whole,)


async def test_one_that_does_not_end_is_unfinished_and_one_that_breaks_off_has_failed(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    await act(session, "location.href = '/drip/60000'")
    assert await session.downloads(patience_s=0.1) == (Download("slow.csv", 4, "", "unfinished"),)
    frame = await act(session, "location.href = '/drip/broken'")
    *begun, ended = (*frame.events, *(await session.look()).events)  # of one that is slow the beginning is told too
    assert ended == Event("download", "slow.csv: it broke off", "failed")
    assert begun in ([], [Event("download", "slow.csv", "started")])
    assert [one.state for one in await session.downloads(patience_s=0.1)] == ["unfinished", "failed"]


async def test_two_at_once_and_the_same_name_twice(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    frame = await act(session, (BLOB.format("a.csv") + "a.click(); a.click(); a.download = 'b.csv'; a.click();"))
    first, other = Download.of("a.csv", b"x,y"), Download.of("b.csv", b"x,y")
    assert sorted(frame.events, key=str) == [finished(first), finished(first), finished(other)]
    assert sorted(await session.downloads(), key=str) == [first, first, other]


@pytest.mark.parametrize(
    "name", ["../../etc/x.csv", "..\\..\\x.csv", "a\x07b\nc.csv", "x" * 500 + ".csv", ".", "CON.csv", "\u202etxt.csv"]
)
async def test_a_hostile_name_is_only_a_name(opened: Opener, name: str) -> None:
    session, _ = await opened("/trial.html")
    folder = session._prepared.folder
    await act(session, BLOB.format("") + f"a.download = {name!r}; a.click()")
    (one,) = await session.downloads()
    assert one.content == b"x,y" and one.name.isprintable() and len(one.name) <= downloads.MAX_NAME
    assert "/" not in one.name and "\\" not in one.name and not one.name.startswith("..")
    assert b"x,y" not in files_on_disk(folder.parent)


async def test_names_are_cleaned() -> None:
    assert clean("../../etc/passwd") == "passwd" and clean("a\x00b.txt") == "a_b.txt" and clean(" . ") == "download"
    assert clean("x" * 999 + ".pdf").endswith("x.pdf") and len(clean("x" * 999 + ".pdf")) == downloads.MAX_NAME


async def test_a_file_that_is_too_large_or_one_too_many_is_cancelled(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(downloads, "MAX_DOWNLOADS", 2)
    session, _ = await opened("/trial.html")
    frame = await act(session, BLOB.replace("['x,y']", "['x'.repeat(3 << 20)]").format("big.txt") + "a.click()")
    assert [event.type for event in frame.events] == ["failed"] and "larger than 1 MiB" in frame.events[0].text
    await act(session, "location.href = '/download/'")
    frame = await act(session, "location.href = '/download/'")
    assert "more than 2 downloads" in frame.events[0].text
    assert [one.state for one in await session.downloads()] == ["failed", "finished", "failed"]


async def test_sessions_of_one_browser_see_only_their_own_and_leave_nothing(opened: Opener) -> None:
    one, _ = await opened("/trial.html")
    other, _ = await opened("/trial.html")
    folder = one._prepared.folder
    assert folder in sessions_on_disk(folder.parent)
    await act(one, "window.open('/download/')")
    assert await other.downloads() == () and (await other.look()).events == ()
    assert (await one.downloads())[0].sha256 == hashlib.sha256(b"a,b\n").hexdigest()
    await one.close()
    assert folder not in sessions_on_disk(folder.parent)
