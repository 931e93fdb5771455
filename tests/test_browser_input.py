"""A policy's mouse and keyboard are a person's, as far as the page can tell."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from uigym.browser import Frame, Session
from uigym.browser.input import check
from uigym.errors import MAX_REASON, ActionRefused
from uigym.types import (
    Action,
    Answer,
    Back,
    Click,
    Dialog,
    Drag,
    Goto,
    HoldKey,
    Invalid,
    Key,
    Move,
    Scroll,
    SwitchTab,
    Type,
    Upload,
    Wait,
)

Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
browser = pytest.mark.browser
on_loop = pytest.mark.asyncio(loop_scope="module")
TEXT, AREA, PAD = (60, 20), (60, 70), (60, 150)


async def log(session: Session, *types: str) -> list[dict[str, Any]]:
    """Events since the last call, all of them trusted; Chromium's own one at the corner left out."""
    events = await session.page.evaluate("log.splice(0)")
    assert all(event["isTrusted"] for event in events)
    events = [event for event in events if (event["type"], event["x"], event["y"]) != ("mousemove", 0, 0)]
    return [event for event in events if not types or event["type"] in types]


async def value(session: Session, name: str = "text") -> str:
    return await session.page.evaluate(f"document.getElementById('{name}').value")


@browser
@on_loop
async def test_a_refused_action_reaches_no_page(opened: Opener) -> None:
    session, _ = await opened("/input.html")
    await log(session)
    for action in (Click(320, 20), Type("\x00"), Key("nokey"), Goto("/green.html"), Wait(math.nan)):
        with pytest.raises(ActionRefused):
            await session.step(action)
    assert await log(session) == [] and session.pointer is None
    with pytest.raises(TypeError, match="ends an episode"):
        await session.step(Answer("42"))


@browser
@on_loop
async def test_goto_where_it_is_granted(opened: Opener) -> None:
    session, _ = await opened("/input.html", grants=(Goto, Back))
    await session.step(Goto("/form.html?n=3"))
    assert session.url.endswith("/form.html?n=3")
    await session.step(Goto("green.html"))
    await session.step(Back())
    assert session.url.endswith("/form.html?n=3")
    for url in ("file:///etc/passwd", "javascript:alert(1)", "chrome://version", "data:text/html,x", "about:blank"):
        with pytest.raises(ActionRefused, match="only http and https"):
            await session.step(Goto(url))
    await session.step(Back())
    with pytest.raises(ActionRefused, match="first page"):
        await session.step(Back())


REFUSED: list[tuple[Action, str]] = [
    (Click(1412, 80), "click at (1412, 80) px is outside the 1280 x 720 px viewport"),
    (Click(-1, 80), "click at (-1, 80) px is outside the 1280 x 720 px viewport"),
    (Move(10, 720), "move at (10, 720) px is outside"),
    (Click(math.nan, 1), "click at (nan, 1): x and y must be finite numbers"),
    (Click(math.inf, 1), "finite"),
    (Click("12", 1), "finite"),  # type: ignore[arg-type]
    (Click(True, 1), "finite"),
    (Click(1, 1, count=4), "count is 1, 2 or 3, not 4"),
    (Click(1, 1, count=0), "count"),
    (Click(1, 1, button="wheel"), "left, middle or right"),  # type: ignore[arg-type]
    (Click(1, 1, modifiers=("Ctrl",)), "Alt, Control, Meta, Shift"),  # type: ignore[arg-type]
    (Drag(((1, 1),)), "2 to 200 points, not 1"),
    (Drag(((1, 1), (5, 900))), "drag at (5, 900) px is outside"),
    (Drag((1, 2)), "list of (x, y) points"),  # type: ignore[arg-type]
    (Drag(None), "list of (x, y) points, not None"),  # type: ignore[arg-type]
    (Drag(5), "list of (x, y) points, not 5"),  # type: ignore[arg-type]
    (Scroll(1, 1, dy=1e9), "dy must be between -10000 and 10000"),
    (Scroll(1, 1, dx=math.nan), "dx must be a finite number"),
    (Type("a\x08b"), "U+0008 is no character that can be typed"),
    (Type("\ud83d"), "U+D83D"),
    (Type("x" * 4001), "at most 4000 characters at once, not 4001"),
    (Type(None), "must be a text"),  # type: ignore[arg-type]
    (Key("Entr"), '"Entr" in the chord "Entr" is no key; did you mean Enter'),
    (Key("ctrl+pagedwn"), "did you mean PageDown"),
    (Key("hello"), "is no key"),
    (Key("a+b"), '"a" in "a+b" is no modifier'),
    (Key(""), "a chord is a text"),
    (Key("ctrl+"), "is no key"),
    (HoldKey("a", -1), "seconds must be at least 0, not -1"),
    (Wait(math.inf), "finite"),
    (Invalid("click it", "no action in the answer"), "no action in the answer"),
    (Goto("/x"), "goto is not granted here"),
    (Back(), "back is not granted"),
    (SwitchTab(0), "switchtab is not granted"),
    (Upload("a"), "upload is not granted"),
    (Dialog(True), "dialog is not granted"),
]
GRANTED_REFUSED: list[tuple[Action, str]] = [
    (Goto(None), "an address is a text"),  # type: ignore[arg-type]
    (Goto(5), "an address is a text"),  # type: ignore[arg-type]
    (Goto(" "), "an address is a text"),
    (Goto("/" + "x" * 2000), "at most 2000 characters"),
    (Goto("//[::"), "is no address"),
    (Goto("http://"), "names no host"),
    (Dialog("yes"), "accept is true or false"),  # type: ignore[arg-type]
    (Dialog(True, 5), "text is a text"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("action", "reason"), GRANTED_REFUSED, ids=lambda v: None if isinstance(v, str) else type(v).__name__
)
def test_refused_though_granted(action: Action, reason: str) -> None:
    with pytest.raises(ActionRefused, match=reason):
        check(action, (1280, 720), (Goto, Dialog))


def test_a_reason_that_quotes_is_cut() -> None:
    for action in (Key("a" * 100_000), Click(10**4000, 1)):
        with pytest.raises(ActionRefused) as refused:
            check(action, (1280, 720), ())
        assert len(str(refused.value)) <= MAX_REASON + 3


@pytest.mark.parametrize(("action", "reason"), REFUSED, ids=lambda v: None if isinstance(v, str) else type(v).__name__)
def test_refused(action: Action, reason: str) -> None:
    with pytest.raises(ActionRefused) as refused:
        check(action, (1280, 720), ())
    assert reason in str(refused.value)
