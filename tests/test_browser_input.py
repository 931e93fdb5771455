"""A policy's mouse and keyboard are a person's, as far as the page can tell."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from uigym.browser import Frame, Session
from uigym.browser.input import check
from uigym.browser.keys import parse_chord
from uigym.errors import ActionRefused
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
    MouseDown,
    MouseUp,
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
class TestMouse:
    async def test_click(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        assert session.pointer is None
        await session.step(Click(*PAD))
        assert session.pointer == PAD
        events = await log(session)
        assert [e["type"] for e in events] == ["mousemove", "mousedown", "mouseup", "click"]
        assert [e["buttons"] for e in events] == [0, 1, 0, 0]
        assert {(e["x"], e["y"]) for e in events} == {PAD}

    async def test_double_and_triple_click(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*PAD, count=2))
        assert [(e["type"], e["detail"]) for e in await log(session, "click", "dblclick")] == [
            ("click", 1),
            ("click", 2),
            ("dblclick", 2),
        ]
        await session.step(Click(*TEXT))
        await session.step(Type("one two three"))
        await session.step(Click(20, 20, count=2))
        await session.step(Type("1"))
        assert await value(session) == "1 two three"
        await session.step(Click(20, 20, count=3))
        await session.step(Type("all"))
        assert await value(session) == "all"

    async def test_buttons(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*PAD, button="right"))
        assert [(e["type"], e["button"]) for e in await log(session, "mousedown", "contextmenu", "click")] == [
            ("mousedown", 2),
            ("contextmenu", 2),
        ]
        await session.step(Click(*PAD, button="middle"))
        assert [(e["type"], e["button"]) for e in await log(session, "mousedown", "auxclick")] == [
            ("mousedown", 1),
            ("auxclick", 1),
        ]

    async def test_modifiers_are_held_and_released(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*PAD, modifiers=("Control", "Shift")))
        events = await log(session, "keydown", "click", "keyup")
        assert [(e["type"], e["key"], e["held"]) for e in events] == [
            ("keydown", "Control", "Control"),
            ("keydown", "Shift", "Control+Shift"),
            ("click", None, "Control+Shift"),
            ("keyup", "Shift", "Control"),
            ("keyup", "Control", ""),
        ]
        await session.step(Click(*PAD))
        assert [e["held"] for e in await log(session, "click")] == [""]

    async def test_down_move_up(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(MouseDown(20, 120))
        await session.step(Move(90, 180))
        await session.step(MouseUp(100, 190))
        events = [(e["type"], e["buttons"], e["x"]) for e in await log(session)]
        assert events == [
            ("mousemove", 0, 20),
            ("mousedown", 1, 20),
            ("mousemove", 1, 90),
            ("mousemove", 1, 100),
            ("mouseup", 0, 100),
            ("click", 0, 100),
        ]
        assert session.pointer == (100, 190)

    async def test_drag(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Drag(((20, 120), (60, 160), (110, 200)), modifiers=("Alt",)))
        events = await log(session, "mousedown", "mousemove", "mouseup")
        assert events[1]["type"] == "mousedown" and events[-1]["type"] == "mouseup"
        assert {e["held"] for e in events} == {"Alt"} and len(events) == 11
        await session.step(Click(*PAD))
        assert {e["held"] for e in await log(session, "click")} == {""}

    async def test_native_drag_and_drop(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        frame = await session.step(Drag(((170, 130), (200, 140), (260, 150))))
        assert frame.settled
        assert await session.page.inner_text("#drop") == "cargo"

    async def test_scroll(self, opened: Opener) -> None:
        session, before = await opened("/input.html")
        after = await session.step(Scroll(250, 40, dx=30, dy=120))
        scrolled = await session.page.evaluate("(({scrollLeft, scrollTop}) => [scrollLeft, scrollTop])(tall)")
        assert scrolled == [30, 120] and after.png != before.png
        await session.step(Scroll(250, 40, dy=-500))
        assert await session.page.evaluate("tall.scrollTop") == 0


@browser
@on_loop
class TestKeyboard:
    async def test_typing_is_key_by_key(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*TEXT))
        await log(session)
        await session.step(Type("aB!"))
        events = await log(session)
        assert [e["key"] for e in events if e["type"] == "keydown"] == ["a", "Shift", "B", "!"]
        assert [e["code"] for e in events if e["type"] == "keypress"] == ["KeyA", "KeyB", "Digit1"]
        assert [e["data"] for e in events if e["type"] == "input"] == ["a", "B", "!"]
        assert [e["held"] for e in events if e["type"] == "keypress"] == ["", "Shift", "Shift"]
        assert events[-1]["key"] == "Shift" and events[-1]["type"] == "keyup" and events[-1]["held"] == ""

    @pytest.mark.parametrize(
        "text", ["Grüße, naïve 東京 😀👩‍👩‍👧 ½", "a€b\tc", "~`|\\\"'{}[]<>?", "🏳️‍🌈x", "Ω" * 50, "שלום", "e\u0301"]
    )
    async def test_typing_any_text(self, opened: Opener, text: str) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*AREA))
        await session.step(Type(text.replace("\t", "")))
        assert await value(session, "area") == text.replace("\t", "")

    async def test_newline_and_tab_are_keys(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*AREA))
        await session.step(Type("one\r\ntwo\nthree"))
        assert await value(session, "area") == "one\ntwo\nthree"
        await session.step(Click(*TEXT))
        await session.step(Type("first\tsecond"))
        assert await value(session) == "first"
        assert (await value(session, "area")).endswith("second")

    async def test_long_text(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*AREA))
        text = "The quick brown fox; " * 40
        await session.step(Type(text))
        assert await value(session, "area") == text

    async def test_chords_edit(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*TEXT))
        await session.step(Type("hello world"))
        for chord in (
            "ctrl+a",
            "Control+C",
            "End",
            "space",
            "ctrl+v",
            "Control+Shift+ArrowLeft",
            "BackSpace",
            "Home",
            "Delete",
            "KP_Enter",
        ):
            await session.step(Key(chord))
        assert await value(session) == "ello world hello "
        events = await log(session, "keydown")
        assert events[-1]["key"] == "Enter"
        for chord in ("cmd+a", "x"):
            await session.step(Key(chord))
        assert await value(session) == "x"
        await session.step(Key("shift+A"))
        await session.step(Key("B"))
        await session.step(Key("+"))
        assert await value(session) == "xAB+"
        assert {e["held"] for e in await log(session, "keyup") if e["key"] in ("Control", "Shift")} == {""}

    async def test_holding_a_key_repeats_it(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*TEXT))
        await log(session)
        await session.step(HoldKey("j", 0.7))
        downs = await log(session, "keydown")
        assert not downs[0]["repeat"] and all(e["repeat"] for e in downs[1:]) and 2 <= len(downs) <= 9
        assert await value(session) == "j" * len(downs)
        await session.step(HoldKey("Shift", 0.1))
        assert [(e["type"], e["held"]) for e in await log(session, "keydown", "keyup")] == [
            ("keydown", "Shift"),
            ("keyup", ""),
        ]

    async def test_tab_moves_the_focus_and_enter_submits(self, opened: Opener) -> None:
        session, _ = await opened("/form.html")
        await session.step(Key("Tab"))
        await session.step(Key("shift+Tab"))
        await session.step(Key("Return"))
        assert session.url.endswith("n=1")


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


@pytest.mark.parametrize(("action", "reason"), REFUSED, ids=lambda v: None if isinstance(v, str) else type(v).__name__)
def test_refused(action: Action, reason: str) -> None:
    with pytest.raises(ActionRefused) as refused:
        check(action, (1280, 720), ())
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("spelling", "modifiers", "key"),
    [
        ("Enter", (), "Enter"),
        ("return", (), "Enter"),
        ("ctrl+a", ("Control",), "a"),
        ("Control+A", ("Control",), "a"),
        ("CTRL + A", ("Control",), "a"),
        ("ctrl+shift+t", ("Control", "Shift"), "T"),
        ("shift+1", ("Shift",), "!"),
        ("Page_Down", (), "PageDown"),
        ("Prior", (), "PageUp"),
        ("Up", (), "ArrowUp"),
        ("alt+Left", ("Alt",), "ArrowLeft"),
        ("cmd+c", ("Control",), "c"),
        ("super+l", ("Meta",), "l"),
        ("ctrl++", ("Control", "Shift"), "+"),
        ("+", ("Shift",), "+"),
        ("A", ("Shift",), "A"),
        (" ", (), " "),
        ("space", (), " "),
        ("F5", (), "F5"),
        ("esc", (), "Escape"),
        ("Control_L", ("Control",), None),
    ],
)
def test_spellings(spelling: str, modifiers: tuple[str, ...], key: str | None) -> None:
    chord = parse_chord(spelling)
    assert chord.modifiers == modifiers
    assert (chord.stroke.key if chord.stroke else None) == key
