"""What all codecs share: the picture that a model saw, its points, and how a reply that cannot be read is told.

A model's coordinates are pixels of the picture that it was shown, or a grid laid over it; an action's are CSS px of
the viewport. The conversion is here and in the codecs, and nowhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from uigym.types import Action, Click, Drag, Invalid, Modifier, MouseDown, MouseUp, Move, Observation, Scroll

NOTCH_PX = 100.0
"""Of scrolling by one notch of the wheel."""
_SHOWN = 500
_MODIFIERS: dict[str, Modifier] = {
    "ctrl": "Control", "control": "Control", "cmd": "Control", "command": "Control", "controlormeta": "Control", "shift": "Shift", "alt": "Alt",
    "option": "Alt", "meta": "Meta", "super": "Meta", "win": "Meta", "windows": "Meta",
}  # fmt: skip


CLICKS: dict[str, dict[str, Any]] = {
    "left_click": {}, "right_click": {"button": "right"}, "middle_click": {"button": "middle"}, "double_click": {"count": 2},
    "triple_click": {"count": 3},
}  # fmt: skip
"""Names that several families give to clicks, and what `Click` then has beside the point."""


class Unreadable(ValueError):
    """A reply means no action; the text says what was expected."""


@dataclass(frozen=True, slots=True)
class Screen:
    """A viewport, and the picture of it that a model was shown."""

    width: int
    """Of the viewport, CSS px."""
    height: int
    """Of the viewport, CSS px."""
    seen: tuple[int, int] | None = None
    """Width and height of the picture, px; None is the viewport's own size."""
    pointer: tuple[float, float] | None = None
    """Where the mouse is, CSS px; None before the first movement."""

    @classmethod
    def of(cls, observation: Observation, seen: tuple[int, int] | None = None) -> Screen:
        """The screen of an observation.

        Args:
            observation: What the policy was given.
            seen: Size of the picture, px, where the model is shown another one than the observation's.
        """
        own = round(observation.width * observation.scale), round(observation.height * observation.scale)
        return cls(observation.width, observation.height, seen or own, observation.pointer)

    @property
    def picture(self) -> tuple[int, int]:
        """Width and height of the picture, px."""
        return self.seen or (self.width, self.height)

    def place(self, x: object, y: object, space: tuple[float, float]) -> tuple[float, float]:
        """A point of a model's space as CSS px.

        Args:
            x, y: From 0 to the space's width and height, both ends included.
            space: (1000, 1000), (1, 1) or the picture's size.

        Raises:
            Unreadable: It is no point, or lies outside.
        """
        wide, high = space
        right, down = number(x, "x"), number(y, "y")
        if not (0 <= right <= wide and 0 <= down <= high):
            raise Unreadable(f"the point ({right:g}, {down:g}) is outside of 0 to {wide:g} and 0 to {high:g}")
        # The far edge itself is the first pixel outside the viewport.
        return min(right * self.width / wide, self.width - 1.0), min(down * self.height / high, self.height - 1.0)

    def said(self, x: float, y: float, space: tuple[float, float]) -> tuple[int, int]:
        """The inverse of `place`, in whole units of the space."""
        return round(x * space[0] / self.width), round(y * space[1] / self.height)

    def at(self) -> tuple[float, float]:
        """Where the pointer is; the middle before its first movement."""
        return self.pointer or (self.width / 2, self.height / 2)


def moved(screen: Screen, action: Action) -> Screen:
    """The screen after an action that leaves the pointer somewhere: what the next action of the same reply begins with."""
    match action:
        case Click(x, y) | Move(x, y) | MouseDown(x, y) | MouseUp(x, y) | Scroll(x, y):
            return replace(screen, pointer=(x, y))
        case Drag(path):
            return replace(screen, pointer=path[-1])
    return screen


def number(value: object, name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number, also from text.

    Raises:
        Unreadable: It is none, or not from `low` to `high`.
    """
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        found = float(value)
    except (ValueError, OverflowError):
        raise Unreadable(f"{name} must be a number, not {_brief(value)}") from None
    if not (math.isfinite(found) and low <= found <= high):
        limits = "finite" if low == -math.inf and high == math.inf else f"from {low:g} to {high:g}"
        raise Unreadable(f"{name} must be {limits}, not {found:g}")
    return found


def text(value: object, name: str) -> str:
    """A text.

    Raises:
        Unreadable: It is none.
    """
    if not isinstance(value, str):
        raise Unreadable(f"{name} must be text, not {_brief(value)}")
    return value


def pair(value: object, name: str) -> tuple[object, object]:
    """Two things: [x, y].

    Raises:
        Unreadable: It is not.
    """
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Unreadable(f"{name} must be [x, y], not {_brief(value)}")
    return value[0], value[1]


def fields(value: object, name: str) -> Mapping[str, Any]:
    """A JSON object.

    Raises:
        Unreadable: It is none.
    """
    if not isinstance(value, Mapping):
        raise Unreadable(f"{name} must be an object, not {_brief(value)}")
    return value


def need(args: Mapping[str, Any], name: str, whose: str) -> Any:
    """A field that must be there.

    Raises:
        Unreadable: It is not.
    """
    if name not in args:
        raise Unreadable(f"{whose} needs {name}; given: {', '.join(map(str, args)) or 'nothing'}")
    return args[name]


def held(value: object) -> tuple[Modifier, ...]:
    """Modifiers from "ctrl+shift", a list of such, or nothing.

    Raises:
        Unreadable: One is no modifier.
    """
    parts = value if isinstance(value, list | tuple) else text(value or "", "modifiers").replace("+", " ").split()
    found: dict[Modifier, None] = {}
    for part in parts:
        name = _MODIFIERS.get(re.sub(r"(_[lr]|[_-]?(left|right))$", "", text(part, "a modifier").strip().lower()))
        if name is None:
            raise Unreadable(f"{part!r} is no modifier; expected some of {', '.join(_MODIFIERS)}")
        found[name] = None
    return tuple(found)


def read(said: object, reader: Callable[[], Iterable[Action]]) -> tuple[Action, ...]:
    """The actions that a reader finds; one `Invalid` if it finds none, or cannot read what was said."""
    try:
        found = tuple(reader())
        return found or (Invalid(_brief(said), "no action was said"),)
    except Unreadable as exc:
        return (Invalid(_brief(said), str(exc)),)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError) as exc:
        return (Invalid(_brief(said), f"it cannot be read: {type(exc).__name__}: {exc}"[:_SHOWN]),)


def unknown(name: object, known: Iterable[str]) -> Unreadable:
    """What to raise for an action that a family does not have, or that a browser cannot do."""
    return Unreadable(f"no action {_brief(name)}; expected one of {', '.join(known)}")


def wheel(direction: object, pixels: float) -> tuple[float, float]:
    """(dx, dy) of scrolling in a direction.

    Raises:
        Unreadable: It is none.
    """
    ways = {"up": (0.0, -pixels), "down": (0.0, pixels), "left": (-pixels, 0.0), "right": (pixels, 0.0)}
    if direction not in ways:
        raise Unreadable(f"a direction is up, down, left or right, not {_brief(direction)}")
    return ways[str(direction)]


def direction(dx: float, dy: float) -> str:
    """The inverse of `wheel`, for scrolling along one axis."""
    if dy:
        return "down" if dy > 0 else "up"
    return "right" if dx > 0 else "left"


def click_name(button: str, count: int) -> str:
    """The name in `CLICKS` of a click; several clicks are of the left button."""
    return {2: "double_click", 3: "triple_click"}.get(count, f"{button}_click")


def _brief(value: object) -> str:
    try:
        shown = value if isinstance(value, str) else repr(value)
    except (RecursionError, ValueError):
        shown = f"a {type(value).__name__}"
    return shown[:_SHOWN]
