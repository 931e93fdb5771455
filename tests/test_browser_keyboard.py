"""A policy's keyboard is a person's: key by key, chords in every spelling, and what a browser does on its own keys."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from uigym.browser import Frame, Session
from uigym.browser.chrome import shortcut
from uigym.browser.keys import parse_chord
from uigym.errors import ActionRefused
from uigym.types import Back, Click, Dialog, HoldKey, Key, Type

Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
browser = pytest.mark.browser
on_loop = pytest.mark.asyncio(loop_scope="module")
TEXT, AREA = (60, 20), (60, 70)

FAMILIES = {
    name: keys.split() for name, keys in json.loads((Path(__file__).parent / "key_names.json").read_text()).items()
}
"""How model families and the tools that they know spell keys and chords: pyautogui's KEYBOARD_KEYS, X keysyms and so on."""
PLAIN = [*map(chr, range(32, 127)), "\n", "\r", "\t"]
FAMILIES["pyautogui"] += PLAIN


async def log(session: Session, *types: str) -> list[dict[str, Any]]:
    """Events since the last call, all of them trusted."""
    events = await session.page.evaluate("log.splice(0)")
    assert all(event["isTrusted"] for event in events)
    return [event for event in events if not types or event["type"] in types]


async def value(session: Session, name: str = "text") -> str:
    return await session.page.input_value(f"#{name}")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_key_of_every_family_is_known(family: str) -> None:
    refused = []
    for name in FAMILIES[family]:
        try:
            parse_chord(name)
        except ActionRefused:
            refused.append(name)
    assert not refused


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


@pytest.mark.parametrize(
    ("spelling", "key", "code", "location"),
    [
        ("KP_1", "1", "Numpad1", 3),
        ("num5", "5", "Numpad5", 3),
        ("KP_Add", "+", "NumpadAdd", 3),
        ("KP_Enter", "Enter", "NumpadEnter", 3),
        ("Return", "Enter", "Enter", 0),
        ("bracketleft", "[", "BracketLeft", 0),
        ("XF86Back", "BrowserBack", "BrowserBack", 0),
        ("volumeup", "AudioVolumeUp", "AudioVolumeUp", 0),
        ("ISO_Left_Tab", "Tab", "Tab", 0),
        ("F13", "F13", "F13", 0),
    ],
)
def test_where_a_key_is(spelling: str, key: str, code: str, location: int) -> None:
    stroke = parse_chord(spelling).stroke
    assert stroke is not None and (stroke.key, stroke.code, stroke.location) == (key, code, location)


@pytest.mark.parametrize(
    ("chord", "hint"),
    [
        ("Entr", "did you mean Enter"),
        ("volumup", "did you mean AudioVolumeUp"),
        ("ctrl+pagedwn", "did you mean PageDown"),
        ("é", '"é" in the chord "é" is no key of this keyboard; a type action can type it'),
        ("ctrl+€", "a type action can type it"),
        ("fn", '"fn" in the chord "fn" is no key'),
        ("dead_acute", "is no key"),
        ("ctrl a", "is no key"),
        ("hello world", "is no key"),
        ("a+b", '"a" in "a+b" is no modifier'),
    ],
)
def test_an_unknown_key_is_refused_with_near_ones(chord: str, hint: str) -> None:
    with pytest.raises(ActionRefused) as refused:
        parse_chord(chord)
    assert hint in str(refused.value)


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

    async def test_the_number_pad_types(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*TEXT))
        await log(session)
        for key in ("KP_1", "num2", "KP_Add", "KP_Decimal"):
            await session.step(Key(key))
        assert await value(session) == "12+."
        assert {e["location"] for e in await log(session, "keydown")} == {3}

    @pytest.mark.parametrize("granted", [(), (Dialog,)])
    async def test_a_dialog_while_a_key_is_held(self, opened: Opener, granted: tuple[type, ...]) -> None:
        session, _ = await opened("/input.html", grants=granted)
        await session.page.evaluate("addEventListener('keydown', () => alert('stop'), {once: true})")
        frame = await session.step(HoldKey("shift+j", 0.1))
        assert [event.text for event in frame.events] == ["stop"]
        if granted:
            await session.step(Dialog(True))
        assert [e["held"] for e in await log(session, "keyup")][-1] == ""
        await session.step(Click(*TEXT))
        assert [e["held"] for e in await log(session, "click")] == [""]

    async def test_a_page_that_goes_away_while_one_types(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.page.evaluate("text.oninput = () => text.value === 'ab' && (location.href = '/editors.html')")
        await session.step(Click(*TEXT))
        await session.step(Type("abCDEFGH"))
        assert session.url.endswith("/editors.html")
        await session.step(Click(30, 105))
        await session.step(Type("12"))
        assert await value(session, "money") == "12"


SHORTCUTS = """
ctrl+t ctrl+n ctrl+w ctrl+q ctrl+l ctrl+p ctrl+f ctrl+s ctrl+o ctrl+u ctrl+d ctrl+h ctrl+j ctrl+plus ctrl+minus ctrl+0 ctrl+1 ctrl+Tab 
ctrl+shift+t ctrl+shift+n ctrl+shift+i ctrl+shift+Delete F1 F3 F6 F7 F10 F11 F12 alt+F4 alt+d alt+Home alt+Tab super+d Escape PrintScreen
"""


@browser
@on_loop
class TestShortcuts:
    async def test_a_browsers_own_keys_reach_the_page_and_do_nothing_else(self, opened: Opener) -> None:
        session, before = await opened("/input.html")
        await session.page.evaluate("window.stays = true")
        for chord in SHORTCUTS.split():
            frame = await session.step(Key(chord))
            parsed = parse_chord(chord)
            assert parsed.stroke is not None
            downs = [e["key"] for e in await log(session, "keydown")]
            assert downs[-1] == parsed.stroke.key and frame.events == () and frame.png == before.png, chord
        assert await session.page.evaluate("[stays, innerWidth, devicePixelRatio]") == [True, 320, 1]
        assert len(session.page.context.pages) == 1

    @pytest.mark.parametrize("chord", ["F5", "ctrl+r", "ctrl+shift+r", "ctrl+F5", "XF86Reload"])
    async def test_reload(self, opened: Opener, chord: str) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*TEXT))
        await session.step(Type("lost"))
        await session.page.evaluate("window.old = true")
        frame = await session.step(Key(chord))
        assert frame.settled and await session.page.evaluate("window.old") is None
        assert await value(session) == ""

    async def test_a_page_may_keep_the_keys_for_itself(self, opened: Opener) -> None:
        session, _ = await opened("/input.html", grants=(Back,))
        await session.page.evaluate(
            "window.old = true; addEventListener('keydown', (e) => { e.preventDefault(); e.stopImmediatePropagation() }, true)"
        )
        for chord in ("F5", "ctrl+r", "alt+Left"):
            await session.step(Key(chord))
        assert await session.page.evaluate("old")

    async def test_back_and_forward_where_going_back_is_granted(self, opened: Opener) -> None:
        session, _ = await opened("/form.html", grants=(Back,))
        await session.step(Key("Enter"))
        assert session.url.endswith("n=1")
        await session.step(Key("alt+Left"))
        assert session.url.endswith("/form.html")
        await session.step(Key("alt+Left"))  # nothing lies before it
        assert session.url.endswith("/form.html")
        await session.step(Key("XF86Forward"))
        assert session.url.endswith("n=1")

    async def test_without_the_grant_there_is_no_way_back(self, opened: Opener) -> None:
        session, _ = await opened("/form.html")
        await session.step(Key("Enter"))
        for chord in ("alt+Left", "XF86Back", "BackSpace"):
            await session.step(Key(chord))
        assert session.url.endswith("n=1")

    async def test_which_keys_these_are(self) -> None:
        assert [shortcut(c) for c in ("F5", "Ctrl-R", "alt+left", "alt+right")] == [
            "reload",
            "reload",
            "back",
            "forward",
        ]
        assert [shortcut(c) for c in ("r", "ctrl+alt+r", "Left", "shift", "ctrl+w")] == [""] * 5

    async def test_escape_leaves_fullscreen_before_a_page_hears_of_it(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.page.evaluate("pad.onclick = () => pad.requestFullscreen()")
        await session.step(Click(60, 150))
        await session.page.wait_for_function("document.fullscreenElement && pad.offsetWidth === 320")
        await log(session)
        await session.step(Key("Escape"))
        await session.page.wait_for_function("!document.fullscreenElement")
        assert await log(session, "keydown") == []
        await session.step(Key("Escape"))
        assert [e["key"] for e in await log(session, "keydown")] == ["Escape"]

    async def test_the_menu_key_asks_for_the_context_menu(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*TEXT))
        for chord in ("Menu", "shift+F10"):
            await session.step(Key(chord))
        assert [e["type"] for e in await log(session, "contextmenu")] == ["contextmenu"] * 2
