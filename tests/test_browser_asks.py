"""What a page asks for: files, permissions, printing, the whole screen. Told, answered by the grants, never a hang."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from trials import act

from uigym.beside import OpenChooser, OpenDialog
from uigym.browser import Browser, Frame, Session
from uigym.errors import ActionRefused
from uigym.surroundings import Surroundings
from uigym.types import NOTHING_OPEN, Action, Click, Dialog, Event, Key, Type, Upload

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
ACT, ONE = Click(60, 20), Click(60, 60)
FILES = {"a.txt": "first", "b.pdf": b"%PDF", "photos/c.png": b"png", "photos/d.png": b"png2"}
READ = "input.onchange = async () => say((await Promise.all([...input.files].map(async f => f.webkitRelativePath + f.name + '=' + await f.text()))).join())"


async def note(session: Session) -> str:
    return await session.page.inner_text("#note")


async def choosing(opened: Opener, attributes: str = "", grants: tuple[type, ...] = (Upload,)) -> tuple[Session, Frame]:
    """A session whose page has just opened a file chooser."""
    session, _ = await opened("/trial.html", grants=grants)
    session.offer(FILES)
    field = f"<input id=input type=file {attributes} style=display:none oncancel=\"say('cancelled')\">"
    await session.page.evaluate(f"document.body.insertAdjacentHTML('beforeend', `{field}`); {READ}; 0")
    return session, await act(session, "input.click()")


# --- file choosers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "kind", "told", "upload", "found"),
    [
        ("", "one", OpenChooser(tuple(FILES)), "a.txt", "a.txt=first"),
        ("", "one", OpenChooser(tuple(FILES)), ("b.pdf",), "b.pdf=%PDF"),
        ("multiple", "several", OpenChooser(tuple(FILES), True), ("b.pdf", "a.txt"), "b.pdf=%PDF,a.txt=first"),
        ("accept=.png", "one", OpenChooser(tuple(FILES), accept=".png"), "a.txt", "a.txt=first"),
    ],
)
async def test_a_chooser_is_told_and_answered(
    opened: Opener, attributes: str, kind: str, told: OpenChooser, upload: Any, found: str
) -> None:
    session, frame = await choosing(opened, attributes)
    assert [event.type for event in frame.events] == [kind] and frame.open.chooser == told
    assert "b.pdf" in frame.open.words[0] and "Escape" in frame.open.words[0]
    frame = await session.step(Upload(upload))
    assert await note(session) == found and frame.open == NOTHING_OPEN
    log = await session.page.evaluate("log.filter(e => e.type === 'change').map(e => e.trusted)")
    assert log == [True]


async def test_a_folder_is_uploaded_with_its_files(opened: Opener) -> None:
    session, frame = await choosing(opened, "webkitdirectory")
    assert frame.open.chooser == OpenChooser(("photos",)) and frame.events[0].type == "folder"
    with pytest.raises(ActionRefused, match=r'no folder "a\.txt"'):
        await session.step(Upload("a.txt"))
    await session.step(Upload("photos"))
    await session.look()
    assert sorted((await note(session)).split(",")) == ["photos/c.pngc.png=png", "photos/d.pngd.png=png2"]


@pytest.mark.parametrize("cancel", [Upload(()), Key("Escape"), Key("esc")])
async def test_a_chooser_is_cancelled(opened: Opener, cancel: Action) -> None:
    session, _ = await choosing(opened)
    frame = await session.step(cancel)
    assert await note(session) == "cancelled" and frame.open == NOTHING_OPEN
    with pytest.raises(ActionRefused, match="no file chooser is open"):
        await session.step(Upload("a.txt"))


async def test_what_a_chooser_does_not_take_is_refused(opened: Opener) -> None:
    session, _ = await choosing(opened)
    for wrong, reason in (
        (Upload(("a.txt", "b.pdf")), "takes one file, not 2"),
        (Upload("a.tx"), 'Did you mean "a.txt"'),
        (Upload("../a.txt"), "no file"),
        (ONE, "a file chooser is open"),
        (Dialog(False), "not granted"),
    ):
        with pytest.raises(ActionRefused, match=reason):
            await session.step(wrong)
    await session.step(Upload("a.txt"))
    assert await note(session) == "a.txt=first"


async def test_without_the_grant_a_chooser_is_cancelled_at_once(opened: Opener) -> None:
    session, frame = await choosing(opened, grants=())
    assert frame.events == (Event("filechooser", "cancelled at once", "cancelled"),) and frame.open == NOTHING_OPEN
    assert await note(session) == "cancelled"
    log = await session.page.evaluate("log.filter(e => e.type === 'cancel').map(e => e.trusted)")
    assert log == [True]


async def test_a_field_that_is_removed_or_whose_page_is_left(opened: Opener) -> None:
    session, _ = await choosing(opened)
    await session.page.evaluate("input.remove()")
    await session.step(Upload("a.txt"))  # the page's script still holds it
    session, _ = await choosing(opened)
    await session.page.goto(session.url.replace("trial", "form"))
    assert (await session.look()).open == NOTHING_OPEN
    with pytest.raises(ActionRefused, match="no file chooser is open"):
        await session.step(Upload("a.txt"))
    await session.step(ONE)


async def test_a_picker_that_has_no_field_is_told(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(Upload,))
    frame = await act(session, "showOpenFilePicker().catch((error) => say(error.name))")
    assert frame.events == (Event("filechooser", "cancelled at once", "cancelled"),)
    assert await note(session) == "AbortError" and frame.open == NOTHING_OPEN


async def test_a_frame_of_another_site_asks_as_the_page_does(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(Upload, Dialog))
    session.offer(FILES)
    other = session.url.replace("127.0.0.1", "localhost")
    await session.page.evaluate(f"document.body.insertAdjacentHTML('beforeend', '<iframe src={other} style=\"position:absolute;left:160px;top:0;width:150px;height:220px;border:0\">'); 0")  # fmt: skip
    await session.look()
    frame = session.page.frames[1]
    act_inside, one, two = Click(200, 20), Click(200, 60), Click(60, 100)
    await frame.evaluate("document.body.insertAdjacentHTML('beforeend', '<input id=input type=file oncancel=\"say(1)\">'); act = () => input.click(); 0")  # fmt: skip
    assert (await session.step(act_inside)).open.chooser == OpenChooser(tuple(FILES))
    await session.step(Key("Escape"))
    assert await frame.inner_text("#note") == "1"
    await session.step(act_inside)
    await session.step(Upload("a.txt"))
    assert await frame.evaluate("input.files[0].name") == "a.txt"
    await frame.evaluate("act = () => Notification.requestPermission().then(say); 0")
    assert (await session.step(act_inside)).events == (Event("permission", "notifications: denied", "denied"),)
    await frame.evaluate("act = () => say(confirm('Far?')); 0")
    assert (await session.step(act_inside)).open.dialog == OpenDialog("confirm", "Far?")
    await session.step(Dialog(True))
    assert await frame.inner_text("#note") == "true"
    await frame.evaluate("act = () => { location.href = '/download/' }; 0")
    assert (await session.step(act_inside)).events[0].type == "finished"
    for action in (one, Type("far"), Key("Control+A"), Key("Control+C"), two, Key("Control+V"), one, Key("Control+V")):
        await session.step(action)
    assert await session.page.input_value("#two") == "far" and await frame.input_value("#one") == "farfar"


# --- permissions -----------------------------------------------------------------------------------------------

ASKS = {
    "geolocation": "navigator.geolocation.getCurrentPosition((p) => say(p.coords.latitude), (e) => say('error ' + e.code))",
    "notifications": "Notification.requestPermission().then(say)",
    "camera or microphone": "navigator.mediaDevices.getUserMedia({video: true}).catch((e) => say(e.name))",
    "screen": "navigator.mediaDevices.getDisplayMedia().catch((e) => say(e.name))",
    "persistent storage": "navigator.storage.persist().then(say)",
    "midi": "navigator.requestMIDIAccess().then(() => say('midi'), (e) => say(e.name))",
    "usb": "navigator.usb.requestDevice({filters: []}).catch((e) => say(e.name))",
}


@pytest.mark.parametrize("name", ASKS)
async def test_an_ask_is_denied_and_told(opened: Opener, name: str) -> None:
    session, _ = await opened("/trial.html")
    frame = await act(session, ASKS[name])
    assert frame.events == (Event("permission", f"{name}: denied", "denied"),) and frame.settled
    assert await note(session) in (
        "error 1",
        "denied",
        "false",
        "NotFoundError",
        "NotSupportedError",
        "NotAllowedError",
    )


async def test_what_the_surroundings_grant_is_granted(browser: Browser, pages: Any) -> None:
    granted = Surroundings(permissions=("geolocation", "notifications"), position=(48.25, 16.5))
    session = await browser.session(base_url=pages.url, viewport=(320, 256), surroundings=granted)
    await session.open("/trial.html")
    frame = await act(session, ASKS["geolocation"])
    assert frame.events == (Event("permission", "geolocation: granted", "granted"),) and await note(session) == "48.25"
    frame = await act(session, ASKS["notifications"])
    assert frame.events[0].type == "granted" and await note(session) == "granted"
    frame = await act(session, ASKS["midi"])
    assert frame.events[0].type == "denied"
    await session.close()


async def test_the_page_cannot_see_who_listens(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    spy = """window.spied = []; const keep = (name) => ({get() { spied.push(name); return undefined }, configurable: true});
        for (const name of ['toJSON', 'detail', 'bubbles', 'kind']) Object.defineProperty(Object.prototype, name, keep(name));
        Object.defineProperty(CustomEvent.prototype, 'detail', keep('event'));
        EventTarget.prototype.dispatchEvent = () => spied.push('dispatched')"""
    frame = await act(session, f"{spy}; print(); Notification.requestPermission(); navigator.clipboard.writeText('x')")
    assert [event.kind for event in frame.events] == ["print", "permission"]
    assert await session.page.evaluate("spied.join()") == ""
    for name in (
        "print",
        "Notification.requestPermission",
        "Clipboard.prototype.readText",
        "HTMLElement.prototype.click",
    ):
        assert "[native code]" in await session.page.evaluate(f"Function.prototype.toString.call({name})")
    assert await session.page.evaluate("Object.keys(window).filter(name => /beside|clipboard|paste|binding/i.test(name))") == []  # fmt: skip


# --- printing, full screen, the pointer -------------------------------------------------------------------


async def test_printing_does_not_block(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    frame = await act(
        session, "addEventListener('afterprint', () => log.push({type: 'after'})); print(); say('printed')"
    )
    assert frame.events == (Event("print", "the page asked to be printed"),)
    assert await note(session) == "printed"


async def test_full_screen_keeps_the_viewport_and_escape_leaves_it(opened: Opener) -> None:
    session, first = await opened("/trial.html")
    frame = await act(
        session, "document.documentElement.requestFullscreen().then(() => say(innerWidth + ' ' + innerHeight))"
    )
    assert await note(session) == "320 256" and frame.png[16:24] == first.png[16:24] and frame.settled
    await session.step(ONE)
    await session.step(Type("full"))
    assert await session.page.input_value("#one") == "full"
    await session.step(Key("Escape"))
    assert await session.page.evaluate("document.fullscreenElement") is None
    assert "Escape" not in await session.page.evaluate("log.map(e => e.key)")
    await session.step(Key("Escape"))
    assert "Escape" in await session.page.evaluate("log.map(e => e.key)")


async def test_the_pointer_is_not_locked_and_goes_on_to_work(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    await session.page.evaluate("document.onpointerlockerror = () => log.push({type: 'refused', key: ''})")
    frame = await act(session, "document.body.requestPointerLock().catch((error) => say(error.name))")
    assert frame.events == (Event("permission", "pointer lock: denied", "denied"),)
    assert await note(session) == "NotAllowedError"
    assert "refused" in await session.page.evaluate("log.map(e => e.type)")
    await session.step(ONE)
    assert await session.page.evaluate("document.activeElement.id") == "one"


async def test_files_are_written_where_the_session_lives(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    session.offer(FILES)
    paths: list[Path] = list(session.files.values())
    assert [path.read_bytes() for path in paths] == [b"first", b"%PDF", b"png", b"png2"]
    await session.close()
    assert not any(path.exists() for path in paths)
