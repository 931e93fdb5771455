"""Dialogs in unlikely places: on load, in frames and background tabs, in the middle of an input, without end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from trials import act

from uigym.beside import OpenDialog
from uigym.browser import Frame, Session
from uigym.browser import beside as browser_beside
from uigym.errors import ActionRefused
from uigym.types import NOTHING_OPEN, Back, Click, Dialog, Drag, Event, Goto, Key, SwitchTab, Type, Wait

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
ACT, ONE = Click(60, 20), Click(60, 60)
GREETING = "data:text/html,"


async def note(session: Session) -> str:
    return await session.page.inner_text("#note")


async def test_a_first_page_that_alerts_while_it_loads(opened: Opener) -> None:
    session, frame = await opened("/alerting.html")
    assert frame.events == (Event("dialog", "Welcome", "alert"),) and frame.settled
    assert await note(session) == "loaded"
    session, frame = await opened("/alerting.html", grants=(Dialog,))
    assert frame.open.dialog == OpenDialog("alert", "Welcome") and frame.png[16:24] == b"\0\0\x01\x40\0\0\x01\0"
    frame = await session.step(Dialog(True))
    assert frame.open == NOTHING_OPEN and await note(session) == "loaded"


async def test_going_to_a_page_that_alerts_while_it_loads(opened: Opener) -> None:
    for grants in ((Goto, Back), (Goto, Back, Dialog)):
        session, _ = await opened("/trial.html", grants=grants)
        frame = await session.step(Goto("/alerting.html"))
        assert frame.events == (Event("dialog", "Welcome", "alert"),)
        if Dialog in grants:
            with pytest.raises(ActionRefused, match="Welcome"):
                await session.step(Back())
            frame = await session.step(Dialog(True))
        assert frame.settled and await note(session) == "loaded"
        await session.step(Back())
        assert session.url.endswith("/trial.html")


async def test_a_new_window_that_alerts_while_it_loads(opened: Opener) -> None:
    for grants in ((), (Dialog,)):
        session, _ = await opened("/trial.html", grants=grants)
        frame = await act(session, "window.open('/alerting.html')")
        if grants:
            assert frame.open.dialog == OpenDialog("alert", "Welcome")
            frame = await session.step(Dialog(True))
        assert frame.open.tabs == ("trial", "alerting") and await note(session) == "loaded"


async def test_a_page_that_asks_before_it_is_left_is_left_or_stayed_on(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(Dialog,))
    leave = "addEventListener('beforeunload', (e) => e.preventDefault()); location.href = '/green.html'"
    frame = await act(session, leave)
    assert frame.open.dialog == OpenDialog("beforeunload", "") and "leave" in frame.open.words[0]
    frame = await session.step(Dialog(False))
    assert session.url.endswith("/trial.html") and frame.settled and frame.open == NOTHING_OPEN
    await session.step(ONE)
    await session.step(Type("unsaved"))
    assert await session.page.input_value("#one") == "unsaved"
    frame = await session.step(ACT)
    assert frame.events == (Event("dialog", "", "beforeunload"),)
    frame = await session.step(Dialog(True))
    assert session.url.endswith("/green.html") and frame.settled


async def test_goto_asks_too(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(Dialog, Goto))
    await act(session, "addEventListener('beforeunload', (e) => e.preventDefault())")
    frame = await session.step(Goto("/green.html"))
    assert frame.open.dialog == OpenDialog("beforeunload", "")
    frame = await session.step(Dialog(False))
    assert session.url.endswith("/trial.html") and frame.settled
    await session.step(Goto("/green.html"))
    await session.step(Dialog(True))
    assert session.url.endswith("/green.html")


async def test_a_dialog_of_a_frame_and_one_of_a_tab_in_the_background(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(Dialog, SwitchTab))
    await session.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc=\"<script>onmessage = () => parent.note.textContent = confirm(7)</script>\">')")  # fmt: skip
    frame = await act(session, "document.querySelector('iframe').contentWindow.postMessage('', '*')")
    assert frame.open.dialog == OpenDialog("confirm", "7")
    await session.step(Dialog(True))
    assert await note(session) == "true"
    await act(session, "window.open('/trial.html')")
    await session._tabs.open[0].page.evaluate("setTimeout(() => say(prompt('Behind?')), 50); 0")
    frame = await session.step(Wait(0.3))
    assert frame.open.dialog == OpenDialog("prompt", "Behind?") and frame.open.shown == 1
    await session.step(Dialog(True, "yes"))
    await session.step(SwitchTab(0))
    assert await note(session) == "yes"


async def test_two_tabs_ask_at_once_and_are_answered_one_after_the_other(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(Dialog,))
    await act(session, "window.open('/trial.html')")
    await session.page.evaluate(
        """opener.setTimeout("say(prompt('0?'))", 50); setTimeout("say(prompt('1?'))", 50); 0"""
    )
    frame = await session.step(Wait(0.3))
    seen = []
    while len(seen) < 2:
        while frame.open.dialog is None:
            frame = await session.look()
        seen.append(frame.open.dialog.message)
        frame = await session.step(Dialog(True, f"to {frame.open.dialog.message}"))
    assert sorted(seen) == ["0?", "1?"]
    assert [await tab.page.inner_text("#note") for tab in session._tabs.open] == ["to 0?", "to 1?"]


@pytest.mark.parametrize("grants", [(), (Dialog,)])
async def test_a_dialog_in_the_middle_of_typing_and_dragging(opened: Opener, grants: tuple[type, ...]) -> None:
    session, _ = await opened("/trial.html", grants=grants)
    await session.page.evaluate("one.addEventListener('input', () => one.value.length === 2 && alert('two'))")
    await session.step(ONE)
    frame = await session.step(Type("ABC"))
    assert frame.events == (Event("dialog", "two", "alert"),)
    if grants:
        await session.step(Dialog(True))
    typed = await session.page.input_value("#one")
    assert typed in ("AB", "ABC")  # what comes while a dialog is open is not the page's
    keys = await session.page.evaluate("log.filter(e => e.key === 'Shift').map(e => e.type)")
    assert keys[-1] == "keyup"
    await session.page.evaluate("addEventListener('mousedown', () => confirm('dragging?'), {once: true})")
    frame = await session.step(Drag(((60, 200), (200, 200), (210, 220)), modifiers=("Control",)))
    assert frame.events == (Event("dialog", "dragging?", "confirm"),)
    if grants:
        await session.step(Dialog(True))
    log = await session.page.evaluate(
        "log.splice(0).filter(e => /mouse|Control/.test(e.type + e.key)).map(e => e.type)"
    )
    assert "mouseup" in log[log.index("mousedown") :] and log[-1] == "keyup"
    await session.step(Click(60, 60))
    await session.step(Key("x"))
    assert await session.page.input_value("#one") == typed + "x"


async def test_a_loop_of_dialogs_does_not_fill_the_record(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_beside, "MAX_EVENTS", 3)
    session, _ = await opened("/trial.html")
    frame = await act(session, "for (let i = 0; i < 9; i++) alert(i); say('over')")
    assert [event.text for event in frame.events] == ["0", "1", "2", "and 6 more that are not told"]
    assert await note(session) == "over"


async def test_without_the_grant_a_page_is_left_although_it_asks(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(Goto,))
    await act(session, "addEventListener('beforeunload', (e) => e.preventDefault())")
    frame = await session.step(Goto("/green.html"))
    assert session.url.endswith("/green.html") and frame.events == (Event("dialog", "", "beforeunload"),)
