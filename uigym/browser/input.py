"""Actions -> real mouse and keyboard events. What a policy got wrong is refused before anything is sent."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

from playwright.async_api import Keyboard, Page

from uigym.browser.keys import MODIFIERS, PLAIN, SHIFTED, parse_chord
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
_NAMED = {"\n": "Enter", "\t": "Tab"}
_BUTTONS = ("left", "middle", "right")
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
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


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
    """The mouse and keyboard of one session.

    Playwright's own dispatch real events in order, and take one message each for a whole click or a whole text.
    """

    def __init__(self) -> None:
        self.pointer: tuple[float, float] | None = None
        """CSS px; None before the first movement."""

    async def perform(self, action: Action, page: Page) -> None:
        """Do a checked action; returns when the page has handled its last event."""
        mouse, keyboard = page.mouse, page.keyboard
        match action:
            case Click(x=x, y=y, button=button, count=count, modifiers=modifiers):
                async with _held(keyboard, modifiers):
                    await mouse.click(x, y, button=button, click_count=count)
            case Move(x=x, y=y):
                await mouse.move(x, y)
            case MouseDown(x=x, y=y, button=button):
                await mouse.move(x, y)
                await mouse.down(button=button)
            case MouseUp(x=x, y=y, button=button):
                await mouse.move(x, y)
                await mouse.up(button=button)
            case Drag():
                await _drag(action, page)
            case Scroll(x=x, y=y, dx=dx, dy=dy):
                await mouse.move(x, y)
                await mouse.wheel(dx, dy)
            case Type(text=text):
                await _type(text, keyboard)
            case Key(chord=chord):
                await keyboard.press("+".join(parse_chord(chord)))
            case HoldKey(chord=chord, seconds=seconds):
                await _hold(chord, min(seconds, MAX_WAIT_S), keyboard)
            case Wait(seconds=seconds):
                await asyncio.sleep(min(seconds, MAX_WAIT_S))
        points = _points(action)
        self.pointer = points[-1] if points else self.pointer


@asynccontextmanager
async def _held(keyboard: Keyboard, keys: Iterable[str]) -> AsyncIterator[None]:
    """Keys pressed in turn, and released in the opposite order."""
    down: list[str] = []
    try:
        for key in dict.fromkeys(keys):
            await keyboard.down(key)
            down.append(key)
        yield
    finally:
        for key in reversed(down):
            await keyboard.up(key)


async def _drag(drag: Drag, page: Page) -> None:
    mouse = page.mouse
    async with _held(page.keyboard, drag.modifiers):
        await mouse.move(*drag.path[0])
        await mouse.down(button=drag.button)
        for x, y in drag.path[1:]:
            await mouse.move(x, y, steps=4)  # a hand passes over what lies between
        await mouse.up(button=drag.button)


async def _type(text: str, keyboard: Keyboard) -> None:
    """Real key events, with Shift held where a person holds it; inserted text where the keyboard has no key."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for kind, run in groupby(text, _kind):
        part = "".join(run)
        if kind == "named":
            for character in part:
                await keyboard.press(_NAMED[character])
        elif kind == "other":
            await keyboard.insert_text(part)
        else:
            async with _held(keyboard, ["Shift"] if kind == "shifted" else []):
                await keyboard.type(part)


def _kind(character: str) -> str:
    if character in _NAMED:
        return "named"
    if character in PLAIN:
        return "plain"
    return "shifted" if character in SHIFTED else "other"


async def _hold(chord: str, seconds: float, keyboard: Keyboard) -> None:
    """A held key repeats itself after a while, as a keyboard's does; a held modifier does not."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    *_, key = keys = parse_chord(chord)
    async with _held(keyboard, keys):
        await asyncio.sleep(min(seconds, _REPEAT_DELAY_S if key not in MODIFIERS else seconds))
        while (left := end - loop.time()) > 0:
            await keyboard.down(key)
            await asyncio.sleep(min(left, _REPEAT_S))
