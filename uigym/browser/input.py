"""Actions -> real mouse and keyboard events. What a policy got wrong is refused before anything is sent."""

from __future__ import annotations

import asyncio
import math
from typing import Any
from urllib.parse import urlsplit

from uigym.browser.keyboard import press_chord, release_chord, type_text
from uigym.browser.keys import MODIFIERS, parse_chord
from uigym.browser.mouse import BUTTONS, Mouse, way
from uigym.browser.tab import Tab
from uigym.errors import ActionRefused
from uigym.types import (
    GRANTED,
    Action,
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
    Type,
    Wait,
)

MAX_WAIT_S = 5.0
"""Longer waits and holds are cut to this."""
MAX_TEXT = 4_000
MAX_URL = 2_000
MAX_SCROLL_PX = 10_000
MAX_PATH = 200
_KEY_S, _MOVEMENT_S = 0.005, 0.05  # allowed for each; a movement takes a frame


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
        case Goto(url=url):
            _check_url(url)
        case Dialog(accept=accept, text=text) if not (isinstance(accept, bool) and isinstance(text, str)):
            raise ActionRefused(f"dialog: accept is true or false and text is a text, not {accept!r} and {text!r}")
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


def _name(action: object) -> str:
    return type(action).__name__.lower()


def _points(action: Action) -> tuple[tuple[Any, Any], ...]:
    if isinstance(action, Click | Move | MouseDown | MouseUp | Scroll):
        return ((action.x, action.y),)
    if not isinstance(action, Drag):
        return ()
    is_path = isinstance(action.path, tuple | list)
    if not is_path or any(not isinstance(point, tuple | list) or len(point) != 2 for point in action.path):
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
    if button not in BUTTONS:
        raise ActionRefused(f"{_name(action)}: the button is left, middle or right, not {button!r}")
    modifiers = getattr(action, "modifiers", ())
    if not isinstance(modifiers, tuple | list) or any(modifier not in MODIFIERS for modifier in modifiers):
        raise ActionRefused(f"{_name(action)}: modifiers are some of {', '.join(MODIFIERS)}, not {modifiers!r}")


def _check_url(url: object) -> None:
    if not isinstance(url, str) or not url.strip() or len(url) > MAX_URL:
        raise ActionRefused(f"goto: an address is a text of at most {MAX_URL} characters, not {url!r}")
    try:
        parts = urlsplit(url)
    except ValueError as exc:
        raise ActionRefused(f"goto: {url!r} is no address: {exc}") from exc
    if "//" in url.partition("?")[0] and parts.scheme in ("", "http", "https") and not parts.hostname:
        raise ActionRefused(f"goto: {url!r} names no host")


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

    def __init__(self, typing_delay_s: float = 0.0) -> None:
        self.typing_delay_s = typing_delay_s
        """Pause after each typed character."""
        self.mouse = Mouse()

    def duration_s(self, action: Action) -> float:
        """How long the action itself takes, beside what the page makes of it."""
        match action:
            case Wait(seconds=seconds) | HoldKey(seconds=seconds):
                return min(seconds, MAX_WAIT_S)
            case Type(text=text):
                return len(text) * (_KEY_S + self.typing_delay_s)
            case Drag(path=path):
                return sum(1 for _ in way(path)) * _MOVEMENT_S
        return 0.0

    async def perform(self, action: Action, tab: Tab) -> None:
        """Do a checked action; returns when the page has handled its last event."""
        match action:
            case Click():
                await self.mouse.click(action, tab)
            case Move(x=x, y=y):
                await self.mouse.move((x, y), tab)
            case MouseDown():
                await self.mouse.press(action, tab)
            case MouseUp():
                await self.mouse.release(action, tab)
            case Drag():
                await self.mouse.drag(action, tab)
            case Scroll():
                await self.mouse.wheel(action, tab)
            case Type(text=text):
                await type_text(text, tab, self.typing_delay_s)
            case Key(chord=chord):
                await self._key(chord, tab)
            case HoldKey(chord=chord, seconds=seconds):
                await press_chord(chord, tab, min(seconds, MAX_WAIT_S))
            case Wait(seconds=seconds):
                await asyncio.sleep(min(seconds, MAX_WAIT_S))

    async def let_go(self, action: Action, tab: Tab) -> None:
        """Release an action's keys again: a dialog that opened on the way may have swallowed their release."""
        match action:
            case Type():
                await release_chord("Shift", tab)
            case Key(chord=chord) | HoldKey(chord=chord):
                await release_chord(chord, tab)

    async def _key(self, spelling: str, tab: Tab) -> None:
        if parse_chord(spelling) == parse_chord("Escape") and await self.mouse.carries(tab):
            await tab.send([("Input.cancelDragging", {})])  # the drag takes the key; the page gets none
        else:
            await press_chord(spelling, tab, 0.0)
