"""The tiny model's own action language.

    <click><x13><y07>              a click in column 13 of 40, row 7 of 32 of the picture
    <double><x13><y07>             a double click
    <scroll><x13><y07><down>       the wheel over a point, by half a picture
    <drag><x1><y1><x2><y2>         press, move, release
    <type>no ice                   text, as it is, to the end of the turn
    <key>Enter                     a key or chord
    <wait>  <done>  <answer>12.50

Each name in angle brackets is one token. Columns and rows divide the picture evenly, whatever its size, and mean
the middle of their cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from uigym.types import Action, Answer, Click, Done, Drag, Invalid, Key, Scroll, Type, Wait

COLUMNS = 40
ROWS = 32
VERBS = ("click", "double", "scroll", "drag", "type", "key", "wait", "done", "answer")
DIRECTIONS = ("up", "down", "left", "right")
ACTION_TOKENS = tuple(
    f"<{name}>" for name in (*VERBS, *DIRECTIONS, *(f"x{i}" for i in range(COLUMNS)), *(f"y{i}" for i in range(ROWS)))
)
_POINT = r"<x(\d{1,2})><y(\d{1,2})>"
_TEXTS: dict[str, Callable[[str], Action]] = {"type": Type, "key": Key, "answer": Answer}
_PATTERN = re.compile(
    rf"<(?:(?P<click>click|double)>{_POINT}|scroll>{_POINT}<(?P<way>up|down|left|right)>|drag>{_POINT}{_POINT}"
    r"|(?P<text>type|key|answer)>(?P<value>.*)|(?P<bare>wait|done)>)",
    re.DOTALL | re.ASCII,
)


def cell(x: float, y: float, width: int, height: int) -> tuple[int, int]:
    """Column and row of a point given in CSS px of a width x height viewport."""
    return _bin(x / width, COLUMNS), _bin(y / height, ROWS)


def point(column: int, row: int, width: int, height: int) -> tuple[float, float]:
    """The middle of a cell, in CSS px."""
    return (column + 0.5) * width / COLUMNS, (row + 0.5) * height / ROWS


def encode(action: Action, width: int, height: int) -> str:
    """The text of an action on a viewport of width x height CSS px; "" if the language has no word for it."""

    def at(x: float, y: float) -> str:
        column, row = cell(x, y, width, height)
        return f"<x{column}><y{row}>"

    match action:
        case Click(x, y, "left", 1 | 2 as count, ()):
            return ("<click>" if count == 1 else "<double>") + at(x, y)
        case Scroll(x, y, dx, dy, ()) if dx or dy:
            return "<scroll>" + at(x, y) + _way(dx, dy)
        case Drag(path, "left", ()) if len(path) >= 2:
            return "<drag>" + at(*path[0]) + at(*path[-1])
        case Type(text):
            return f"<type>{text}"
        case Key(chord):
            return f"<key>{chord}"
        case Answer(text):
            return f"<answer>{text}"
        case Wait():
            return "<wait>"
        case Done():
            return "<done>"
    return ""


def decode(text: str, width: int, height: int) -> Action:
    """The action that a text means on a viewport of width x height CSS px, or `Invalid` with what was expected."""
    found = _PATTERN.fullmatch(text)
    if found is None:
        return Invalid(
            text, f"no action in {text[:80]!r}: expected <click><xN><yN>, <type>text, <answer>text, <done> or alike"
        )
    numbers = [int(n) for n in found.groups() if n is not None and n.isdigit()] if not found["text"] else []
    if any(x >= COLUMNS for x in numbers[::2]) or any(y >= ROWS for y in numbers[1::2]):
        return Invalid(text, f"a point of {text[:80]!r} is outside the {COLUMNS} x {ROWS} cells of the picture")
    points = [point(x, y, width, height) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    if found["click"]:
        return Click(*points[0], count=1 if found["click"] == "click" else 2)
    if found["way"]:
        dx, dy = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[found["way"]]
        return Scroll(*points[0], dx=dx * width / 2, dy=dy * height / 2)
    if found["text"]:
        return _TEXTS[found["text"]](found["value"])
    if found["bare"]:
        return Wait() if found["bare"] == "wait" else Done()
    return Drag(tuple(points))


def _bin(fraction: float, bins: int) -> int:
    return min(bins - 1, max(0, math.floor(fraction * bins)))


def _way(dx: float, dy: float) -> str:
    if abs(dy) >= abs(dx):
        return "<down>" if dy > 0 else "<up>"
    return "<right>" if dx > 0 else "<left>"
