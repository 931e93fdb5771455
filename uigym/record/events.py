"""What a person does, event by event, as the recorder's page tells it and as `events.jsonl` keeps it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from uigym.types import Button, Modifier

Kind: TypeAlias = Literal[
    "move", "down", "up", "wheel", "keydown", "keyup", "text", "compose", "paste",
    "dialog", "upload", "back", "goto", "tab",
]  # fmt: skip
POINTER = ("move", "down", "up", "wheel")
MODIFIERS = ("Alt", "Control", "Meta", "Shift")
MAX_TEXT = 4_000
"""Characters of one event; what is longer comes in several."""
_MAX_NAME = 200
_MAX_FILES = 50
_MAX_WHEEL = 10_000.0


@dataclass(frozen=True, slots=True)
class Raw:
    """One event. Which fields say something depends on the kind."""

    kind: Kind
    at: float
    """Seconds since the demonstration began."""
    x: float = 0.0
    """CSS px of the product's viewport."""
    y: float = 0.0
    button: Button = "left"
    modifiers: tuple[Modifier, ...] = ()
    """Held meanwhile."""
    dx: float = 0.0
    """Of the wheel, CSS px."""
    dy: float = 0.0
    key: str = ""
    """DOM's KeyboardEvent.key."""
    repeat: bool = False
    text: str = ""
    """Typed, composed or pasted; a prompt's answer; an address."""
    accept: bool = False
    """Of a dialog's answer."""
    files: tuple[str, ...] = ()
    """Names of what is uploaded."""
    index: int = 0
    """Of a tab."""
    withheld: bool = False
    """Its key or text went into a password field, and is not kept."""

    def to_json(self) -> dict[str, Any]:
        """The fields that say something; none of what is withheld."""
        told = {"kind": self.kind, "at": round(self.at, 3)}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name not in told and value != field.default:
                told[field.name] = value
        for spoken in ("key", "text") if self.withheld else ():
            told.pop(spoken, None)
        if self.kind in POINTER:
            told |= {"x": self.x, "y": self.y}
        return told


def raw_from_json(told: Any, at: float) -> Raw:
    """An event that the page tells.

    Args:
        told: What came; anything at all.
        at: Seconds since the demonstration began.

    Raises:
        ValueError: It is no event.
    """
    if not isinstance(told, Mapping) or told.get("kind") not in get_args(Kind):
        raise ValueError(f"expected an event whose kind is one of {', '.join(get_args(Kind))}, not {told!r:.100}")
    modifiers = _names(told, "modifiers")
    button = told.get("button", "left")
    if button not in get_args(Button) or any(one not in MODIFIERS for one in modifiers):
        raise ValueError(f"no button and modifiers such as {button!r:.40} and {modifiers!r:.100}")
    return Raw(
        kind=told["kind"],
        at=at,
        x=_number(told, "x", 0.0, 100_000.0),
        y=_number(told, "y", 0.0, 100_000.0),
        button=button,
        modifiers=cast("tuple[Modifier, ...]", modifiers),
        dx=_number(told, "dx", -_MAX_WHEEL, _MAX_WHEEL),
        dy=_number(told, "dy", -_MAX_WHEEL, _MAX_WHEEL),
        key=_text(told, "key", 40),
        repeat=told.get("repeat") is True,
        text=_text(told, "text", MAX_TEXT),
        accept=told.get("accept") is True,
        files=_names(told, "files"),
        index=int(_number(told, "index", 0.0, 1_000.0)),
    )


def _number(told: Mapping[str, Any], name: str, low: float, high: float) -> float:
    value = told.get(name, 0.0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{name} must be a number, not {value!r:.100}")
    return round(min(max(float(value), low), high), 2)


def _text(told: Mapping[str, Any], name: str, most: int) -> str:
    value = told.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"{name} must be a text of at most {most} characters, not {value!r:.100}")
    return value


def _names(told: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = told.get(name, ())
    if (
        not isinstance(value, list | tuple)
        or len(value) > _MAX_FILES
        or any(not isinstance(one, str) or len(one) > _MAX_NAME for one in value)
    ):
        raise ValueError(f"{name} must be a list of names, not {value!r:.100}")
    return tuple(value)
