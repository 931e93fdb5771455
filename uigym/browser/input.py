"""Actions -> real mouse and keyboard events. What a policy got wrong is refused before anything is sent."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from uigym.browser.keys import CHARACTERS, MODIFIER_STROKES, MODIFIERS, NAMED, Stroke, parse_chord
from uigym.browser.tab import Tab
from uigym.errors import ActionRefused
from uigym.types import (
    GRANTED,
    Action,
    Click,
    Drag,
    HoldKey,
    Invalid,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    Type,
    Wait,
)

MAX_WAIT_S = 5.0
"""Longer waits and holds are cut to this."""
MAX_TEXT = 4_000
MAX_SCROLL_PX = 10_000
MAX_PATH = 200
_BUTTONS = {"left": 1, "right": 2, "middle": 4}
_REPEAT_DELAY_S, _REPEAT_S = 0.5, 0.033  # what a keyboard does while a key is held


# --- checks ------------------------------------------------------------------------------------------------


def check(action: Action, viewport: tuple[int, int], grants: tuple[type, ...]) -> None:
    """Refuse what cannot be done.

    Raises:
        ActionRefused: The reason, as the policy should read it.
    """
    if isinstance(action, Invalid):
        raise ActionRefused(action.reason)
    if isinstance(action, GRANTED) and type(action) not in grants:
        raise ActionRefused(f"{_name(action)} is not granted here; use the mouse and the keyboard")
    for x, y in _points(action):
        _check_point(action, x, y, viewport)
    match action:
        case Click(count=count) if count not in (1, 2, 3) or isinstance(count, bool):
            raise ActionRefused(f"a click's count is 1, 2 or 3, not {count!r}")
        case Drag(path=path) if not 2 <= len(path) <= MAX_PATH:
            raise ActionRefused(f"a drag's path has 2 to {MAX_PATH} points, not {len(path)}")
        case Scroll(dx=dx, dy=dy):
            _check_number(action, "dx", dx, -MAX_SCROLL_PX, MAX_SCROLL_PX)
            _check_number(action, "dy", dy, -MAX_SCROLL_PX, MAX_SCROLL_PX)
        case Type(text=text):
            _check_text(text)
        case Key(chord=chord):
            parse_chord(chord)
        case HoldKey(chord=chord, seconds=seconds):
            parse_chord(chord)
            _check_number(action, "seconds", seconds, 0, math.inf)
        case Wait(seconds=seconds):
            _check_number(action, "seconds", seconds, 0, math.inf)
    _check_button(action)


def duration_s(action: Action) -> float:
    """How long the action itself takes, beside what the page makes of it."""
    if isinstance(action, Wait | HoldKey):
        return min(action.seconds, MAX_WAIT_S)
    return len(action.text) * 0.005 if isinstance(action, Type) else 0.0


def _name(action: object) -> str:
    return type(action).__name__.lower()


def _points(action: Action) -> tuple[tuple[Any, Any], ...]:
    if isinstance(action, Click | Move | MouseDown | MouseUp | Scroll):
        return ((action.x, action.y),)
    if not isinstance(action, Drag):
        return ()
    if any(not isinstance(point, tuple | list) or len(point) != 2 for point in action.path):
        raise ActionRefused(f"a drag's path is a list of (x, y) points, not {action.path!r}")
    return action.path


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond any float
        return False


def _check_point(action: Action, x: object, y: object, viewport: tuple[int, int]) -> None:
    width, height = viewport
    if not (_is_number(x) and _is_number(y)):
        raise ActionRefused(f"{_name(action)} at ({x!r}, {y!r}): x and y must be finite numbers of px")
    if not (0 <= x < width and 0 <= y < height):  # type: ignore[operator]
        raise ActionRefused(f"{_name(action)} at ({x:g}, {y:g}) px is outside the {width} x {height} px viewport")


def _check_number(action: Action, field: str, value: object, low: float, high: float) -> None:
    if not _is_number(value):
        raise ActionRefused(f"{_name(action)}: {field} must be a finite number, not {value!r}")
    if not low <= value <= high:  # type: ignore[operator]
        limits = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        raise ActionRefused(f"{_name(action)}: {field} must be {limits}, not {value:g}")


def _check_button(action: Action) -> None:
    button = getattr(action, "button", "left")
    if button not in _BUTTONS:
        raise ActionRefused(f"{_name(action)}: the button is left, middle or right, not {button!r}")
    modifiers = getattr(action, "modifiers", ())
    if not isinstance(modifiers, tuple | list) or any(modifier not in MODIFIERS for modifier in modifiers):
        raise ActionRefused(f"{_name(action)}: modifiers are some of {', '.join(MODIFIERS)}, not {modifiers!r}")


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise ActionRefused(f"type: text must be a text, not {text!r}")
    if len(text) > MAX_TEXT:
        raise ActionRefused(f"type: at most {MAX_TEXT} characters at once, not {len(text)}")
    for character in text:
        if (
            0xD800 <= ord(character) <= 0xDFFF
            or (ord(character) < 32 and character not in "\n\r\t")
            or character == "\x7f"
        ):
            raise ActionRefused(
                f"type: U+{ord(character):04X} is no character that can be typed; use a key action for keys such as Backspace"
            )


# --- mouse and keyboard ------------------------------------------------------------------------------------


class Input:
    """The mouse and keyboard of one session."""

    def __init__(self) -> None:
        self.pointer: tuple[float, float] | None = None
        """CSS px; None before the first movement."""
        self._held = 0  # bits of the buttons that are down

    async def perform(self, action: Action, tab: Tab) -> None:
        """Do a checked action; returns when the page has handled its last event."""
        match action:
            case Click():
                await self._click(action, tab)
            case Move() | MouseDown() | MouseUp() | Drag():
                await self._mouse(action, tab)
            case Scroll(x=x, y=y, dx=dx, dy=dy):
                await _send(tab, [self._move(x, y), _mouse("mouseWheel", x, y, deltaX=dx, deltaY=dy)])
            case Type(text=text):
                await self._type(text, tab)
            case Key(chord=chord):
                await self._chord(chord, tab, 0.0)
            case HoldKey(chord=chord, seconds=seconds):
                await self._chord(chord, tab, min(seconds, MAX_WAIT_S))
            case Wait(seconds=seconds):
                await asyncio.sleep(min(seconds, MAX_WAIT_S))

    def _move(self, x: float, y: float, modifiers: int = 0) -> _Event:
        self.pointer = (x, y)
        return _mouse("mouseMoved", x, y, buttons=self._held, modifiers=modifiers)

    async def _click(self, click: Click, tab: Tab) -> None:
        bits = sum(MODIFIERS[name] for name in set(click.modifiers))
        events = [*_modifier_events("rawKeyDown", click.modifiers), self._move(click.x, click.y, bits)]
        for count in range(1, click.count + 1):
            shared = {"button": click.button, "clickCount": count, "modifiers": bits}
            down = self._held | _BUTTONS[click.button]
            events.append(_mouse("mousePressed", click.x, click.y, buttons=down, **shared))
            events.append(_mouse("mouseReleased", click.x, click.y, buttons=self._held, **shared))
        await _send(tab, [*events, *_modifier_events("keyUp", click.modifiers)])

    async def _mouse(self, action: Move | MouseDown | MouseUp | Drag, tab: Tab) -> None:
        """Through Playwright's mouse, which also carries a native drag and drop."""
        mouse = tab.page.mouse
        if isinstance(action, Drag):
            await self._drag(action, tab)
            return
        self.pointer = (action.x, action.y)
        if isinstance(action, Move) and not self._held:
            await _send(tab, [self._move(action.x, action.y)])
            return
        await mouse.move(action.x, action.y)
        if isinstance(action, MouseDown):
            self._held |= _BUTTONS[action.button]
            await mouse.down(button=action.button)
        elif isinstance(action, MouseUp):
            self._held &= ~_BUTTONS[action.button]
            await mouse.up(button=action.button)

    async def _drag(self, drag: Drag, tab: Tab) -> None:
        mouse, keyboard = tab.page.mouse, tab.page.keyboard
        for modifier in drag.modifiers:
            await keyboard.down(modifier)
        try:
            await mouse.move(*drag.path[0])
            await mouse.down(button=drag.button)
            for x, y in drag.path[1:]:
                await mouse.move(x, y, steps=4)  # a hand passes over what lies between
            await mouse.up(button=drag.button)
        finally:
            for modifier in drag.modifiers:
                await keyboard.up(modifier)
        self.pointer = drag.path[-1]

    async def _type(self, text: str, tab: Tab) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        for has_key, run in groupby(text, lambda character: character in CHARACTERS or character in "\n\t"):
            if has_key:
                await _send(tab, list(_typing(run)))
            else:
                await tab.channel.send("Input.insertText", {"text": "".join(run)})

    async def _chord(self, spelling: str, tab: Tab, seconds: float) -> None:
        chord = parse_chord(spelling)
        bits = sum(MODIFIERS[name] for name in chord.modifiers)
        events = list(_modifier_events("rawKeyDown", chord.modifiers))
        if chord.stroke:
            events.append(_key(chord.stroke, bits))
        await _send(tab, events)
        if seconds and chord.stroke:
            await _repeat(tab, _key(chord.stroke, bits, autoRepeat=True), seconds)
        elif seconds:
            await asyncio.sleep(seconds)
        up = [_key(chord.stroke, bits, up=True)] if chord.stroke else []
        await _send(tab, [*up, *_modifier_events("keyUp", chord.modifiers)])


_Event = tuple[str, dict[str, Any]]


async def _send(tab: Tab, events: list[_Event]) -> None:
    """All at once: they arrive in order, and the last answer comes after all have been handled."""
    await asyncio.gather(*[tab.channel.send(method, parameters) for method, parameters in events])


async def _repeat(tab: Tab, event: _Event, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    await asyncio.sleep(min(seconds, _REPEAT_DELAY_S))
    while loop.time() < end:
        await _send(tab, [event])
        await asyncio.sleep(_REPEAT_S)


def _mouse(kind: str, x: float, y: float, **fields: Any) -> _Event:
    return "Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **fields}


def _key(stroke: Stroke, modifiers: int, up: bool = False, **fields: Any) -> _Event:
    text = stroke.text if not modifiers & ~MODIFIERS["Shift"] else ""
    parameters = {
        "type": "keyUp" if up else "keyDown" if text else "rawKeyDown",
        "modifiers": modifiers,
        "key": stroke.key,
        "code": stroke.code,
        "windowsVirtualKeyCode": stroke.number,
        **fields,
    }
    if text and not up:
        parameters |= {"text": text, "unmodifiedText": text}
    return "Input.dispatchKeyEvent", parameters


def _modifier_events(kind: str, modifiers: tuple[str, ...]) -> Iterator[_Event]:
    """Each modifier pressed in turn, or released in the opposite order."""
    order = tuple(dict.fromkeys(modifiers))
    down = kind == "rawKeyDown"
    for index, name in enumerate(order if down else reversed(order)):
        held = order[: index + 1] if down else order[: len(order) - index - 1]
        stroke = MODIFIER_STROKES[name]
        bits = sum(MODIFIERS[other] for other in held)
        yield _key(stroke, bits, up=not down, location=1)


def _typing(characters: Iterator[str]) -> Iterator[_Event]:
    """Real key events, with Shift held over each run of characters that needs it."""
    strokes = (NAMED["Enter"] if c == "\n" else NAMED["Tab"] if c == "\t" else CHARACTERS[c] for c in characters)
    for shift, run in groupby(strokes, lambda stroke: stroke.shift):
        modifiers = ("Shift",) if shift else ()
        bits = MODIFIERS["Shift"] if shift else 0
        yield from _modifier_events("rawKeyDown", modifiers)
        for stroke in run:
            yield _key(stroke, bits)
            yield _key(stroke, bits, up=True)
        yield from _modifier_events("keyUp", modifiers)
