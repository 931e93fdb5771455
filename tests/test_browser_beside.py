"""Dialogs, tabs, downloads and file choosers: reported, and never a reason to hang."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from uigym.beside import OpenChooser, OpenDialog
from uigym.browser import Frame, Session
from uigym.errors import ActionRefused, ProductError
from uigym.types import NOTHING_OPEN, Click, Dialog, Download, Event, Key, SwitchTab, Upload

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
ALERT, CONFIRM, PROMPT, OPEN, DOWNLOAD, UPLOAD, THREE, LATE = (Click(40, y) for y in range(20, 260, 30))
LINK, SAVE = Click(120, 108), Click(120, 138)
ENDLESS, LEAVE, BRIEF, SLOWLY = (Click(250, y) for y in (20, 50, 80, 110))


async def note(session: Session) -> str:
    return await session.page.inner_text("#note")


async def test_without_the_grant_dialogs_are_answered_and_reported(opened: Opener) -> None:
    session, _ = await opened("/beside.html")
    for click, message, type_, answer in (
        (ALERT, "Saved <b>7</b>", "alert", "undefined"),
        (CONFIRM, "Delete?", "confirm", "false"),
        (PROMPT, "Name?", "prompt", "null"),
        (LATE, "Late?", "confirm", "false"),
    ):
        frame = await session.step(click)
        assert frame.events == (Event("dialog", message, type_),) and frame.settled and frame.open == NOTHING_OPEN
        assert await note(session) == answer
    frame = await session.step(THREE)
    assert [event.text for event in frame.events] == ["0", "1", "2"] and await note(session) == "three"
    assert (await session.look()).events == ()


async def test_with_the_grant_a_dialog_stays_open_until_it_is_answered(opened: Opener) -> None:
    session, _ = await opened("/beside.html", grants=(Dialog,))
    with pytest.raises(ActionRefused, match="no dialog is open"):
        await session.step(Dialog(True))
    began = time.monotonic()
    frame = await session.step(CONFIRM)
    assert frame.events == (Event("dialog", "Delete?", "confirm"),) and time.monotonic() - began < 2
    assert frame.open.dialog == OpenDialog("confirm", "Delete?") and "Delete?" in frame.open.words[0]
    assert (await session.look()).open == frame.open
    assert (await session.look()).png == frame.png
    with pytest.raises(ActionRefused, match="Delete"):
        await session.step(ALERT)
    frame = await session.step(Dialog(True))
    assert await note(session) == "true" and frame.events == () and frame.settled and frame.open == NOTHING_OPEN
    frame = await session.step(PROMPT)
    assert frame.open.dialog == OpenDialog("prompt", "Name?", "nobody") and "nobody" in frame.open.words[0]
    await session.step(Dialog(True, "Ada"))
    assert await note(session) == "Ada"
    await session.step(LATE)
    await session.step(Dialog(False))
    assert await note(session) == "false"
    for number, click in enumerate((THREE, Dialog(True), Dialog(True))):
        assert (await session.step(click)).events == (Event("dialog", str(number), "alert"),)
    await session.step(Dialog(True))
    assert await note(session) == "three"


async def test_a_session_with_an_open_dialog_can_be_closed(opened: Opener) -> None:
    session, _ = await opened("/beside.html", grants=(Dialog,))
    await session.step(CONFIRM)
    began = time.monotonic()
    await session.close()
    await session.close()
    assert time.monotonic() - began < 3


async def test_endless_dialogs_end_in_an_error(opened: Opener) -> None:
    session, _ = await opened("/beside.html")
    with pytest.raises(ProductError, match="hung"):
        await session.step(ENDLESS, timeout_s=1.0)


async def test_a_page_may_be_left_although_it_asks(opened: Opener) -> None:
    session, _ = await opened("/beside.html")
    await session.step(ALERT)
    frame = await session.step(LEAVE)
    assert session.url.endswith("/green.html") and frame.settled


@pytest.mark.parametrize(("click", "title", "page"), [(OPEN, "green", "/green.html"), (LINK, "form", "/form.html")])
async def test_a_new_tab_is_shown_and_reported(opened: Opener, click: Click, title: str, page: str) -> None:
    session, first = await opened("/beside.html", grants=(SwitchTab,))
    frame = await session.step(click)
    assert frame.events == (Event("tab", title, "opened"),) and frame.settled
    assert frame.open.shown == 1 and frame.open.tabs == ("beside", title)
    assert session.url.endswith(page) and frame.png != first.png
    again = await session.step(Key("Tab"))  # the new tab is driven like the first
    assert again.settled
    await session.step(SwitchTab(0))
    assert session.url.endswith("/beside.html")
    await session.step(CONFIRM)
    assert await note(session) == "false"
    with pytest.raises(ActionRefused, match="2 tabs, counted from 0; no tab 2"):
        await session.step(SwitchTab(2))


async def test_a_new_tab_is_shown_once_its_document_is_there(opened: Opener) -> None:
    session, _ = await opened("/beside.html")
    frame = await session.step(SLOWLY)
    assert session.url.endswith("/slow/400") and frame.settled
    assert await session.page.inner_text("h1") == "slow page"


async def test_a_tab_that_closes_itself_shows_the_one_before(opened: Opener) -> None:
    session, _ = await opened("/beside.html")
    await session.step(BRIEF)
    await session.page.wait_for_timeout(600) if not session.url.endswith("/beside.html") else None
    frame = await session.look()
    assert session.url.endswith("/beside.html") and frame.settled


@pytest.mark.parametrize("click", [DOWNLOAD, SAVE])
async def test_a_download_is_reported(opened: Opener, click: Click) -> None:
    session, _ = await opened("/beside.html")
    frame = await session.step(click)
    digest = hashlib.sha256(b"a,b\n").hexdigest()
    assert frame.events == (Event("download", f"report.csv, 4 bytes, sha256 {digest[:12]}", "finished"),)
    assert await session.downloads() == (Download("report.csv", 4, digest, "finished", b"a,b\n"),)
    assert session.url.endswith("/beside.html")


async def test_a_file_chooser_is_answered_with_a_file_of_the_episode(opened: Opener, tmp_path: Path) -> None:
    session, _ = await opened("/beside.html", grants=(Upload,))
    (tmp_path / "photo.txt").write_text("a photo")
    session.files = {"photo.txt": tmp_path / "photo.txt"}
    with pytest.raises(ActionRefused, match="no file chooser is open"):
        await session.step(Upload("photo.txt"))
    frame = await session.step(UPLOAD)
    assert frame.events == (Event("filechooser", "one file", "one"),)
    assert frame.open.chooser == OpenChooser(("photo.txt",)) and "photo.txt" in frame.open.words[0]
    with pytest.raises(ActionRefused, match=r'no file "foto.txt". Did you mean "photo.txt"'):
        await session.step(Upload("foto.txt"))
    await session.step(Upload("photo.txt"))
    assert await note(session) == "photo.txt"
