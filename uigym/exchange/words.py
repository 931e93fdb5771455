"""An action in a model family's words, and how much of it they hold.

Every word is read back before it is written, so that nothing is lost unseen: what comes back is the same action,
nearly the same with a reason, or the action cannot be said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from uigym.browser.keys import parse_chord
from uigym.errors import ActionRefused
from uigym.policy.codecs import CODECS, Screen
from uigym.types import Action, Click, Drag, HoldKey, Invalid, Key, MouseDown, MouseUp, Move, Scroll, Wait

NEAR_PX = 1.0
"""A point that comes back within this distance along each axis is the same."""
ABOUT_PX = 32.0
"""One within this distance is nearly the same: some families speak of cells, or of a grid coarser than the screen."""
_AWAY = "a point is more than a pixel away"


class Unsayable(ValueError):
    """A format has no word for an action; the text names it without what differs from one to the next."""


@dataclass(frozen=True, slots=True)
class Said:
    """An action as a family says it."""

    words: Any
    """Text, or a JSON object, or a list of them."""
    nearly: str = ""
    """What a reader of the words does otherwise; empty if nothing."""


def say(codec: str, action: Action, screen: Screen) -> Said:
    """The family's words for an action.

    Raises:
        Unsayable: It has none.
    """
    for nearest in (action, _plain(action)):
        words = CODECS[codec].encode(nearest, screen)
        if words:
            return Said(words, difference(action, hear(codec, words, screen), codec))
    raise Unsayable(f"{codec} has no word for {_name(action)}")


def hear(codec: str, words: Any, screen: Screen) -> Action:
    """The one action that the words mean; `Invalid` if they mean none, or several."""
    heard = CODECS[codec].decode(words, screen)
    match heard:
        case (action,):
            return action
        case (Move(), (Drag() | MouseDown() | MouseUp()) as action):  # families that move there first
            return action
        case (Move(), MouseDown(x, y, button), *moves, MouseUp(button=released)) if button == released:
            if all(isinstance(move, Move) for move in moves):
                return Drag(((x, y), *((move.x, move.y) for move in moves if isinstance(move, Move))), button)
    return Invalid(str(words)[:500], f"{len(heard)} actions where one was expected")


def difference(meant: Action, heard: Action, codec: str) -> str:
    """What a reader of the words does otherwise than was meant; empty if nothing.

    Raises:
        Unsayable: It does something else altogether.
    """
    found = _difference(meant, heard) if type(heard) is type(meant) else None
    if found is None:
        raise Unsayable(f"{codec} has no word for {_name(meant)}")
    return found


def _difference(meant: Any, heard: Any) -> str | None:
    """`difference` of two actions of one kind; None where they are not even nearly the same."""
    match meant:
        case Click() | Move() | MouseDown() | MouseUp():
            return _away([_at(meant)], [_at(heard)]) if _same(meant, heard, "button", "count", "modifiers") else None
        case Drag():
            return _drag_difference(meant, heard) if _same(meant, heard, "button", "modifiers") else None
        case Scroll():
            return _scroll_difference(meant, heard) if _same(meant, heard, "modifiers") else None
        case Key():
            return "" if _same_chord(meant.chord, heard.chord) else None
        case HoldKey() if _same_chord(meant.chord, heard.chord):
            return "" if meant.seconds == heard.seconds else "a key is held for another time"
        case Wait():
            return "" if meant.seconds == heard.seconds else "a wait takes another time"
    return "" if meant == heard else None


def _same(one: Action, other: Action, *names: str) -> bool:
    """Whether the fields that there are of these are equal; the order of modifiers means nothing."""

    def value(action: Action, name: str) -> Any:
        found = getattr(action, name, None)
        return set(found) if name == "modifiers" and found is not None else found

    return all(value(one, name) == value(other, name) for name in names)


def _drag_difference(meant: Drag, heard: Drag) -> str | None:
    if len(meant.path) == len(heard.path):
        return _away(meant.path, heard.path)
    ends = _away((meant.path[0], meant.path[-1]), (heard.path[0], heard.path[-1]))
    return None if ends is None else "a drag goes straight from its first point to its last"


def _scroll_difference(meant: Scroll, heard: Scroll) -> str | None:
    away = _away([_at(meant)], [_at(heard)])
    if away is None or _away([(meant.dx, meant.dy)], [(heard.dx, heard.dy)]) == "":
        return away
    if meant.dx and meant.dy:
        return "scrolling along both axes goes along one"
    same_way = meant.dx * heard.dx + meant.dy * heard.dy > 0
    return "scrolling goes another distance" if same_way else None


def _at(action: Any) -> tuple[float, float]:
    return action.x, action.y


def _away(some: Sequence[tuple[float, float]], others: Sequence[tuple[float, float]]) -> str | None:
    """How far points are from others: empty if nowhere more than `NEAR_PX`, None if somewhere more than `ABOUT_PX`."""
    pairs = zip(some, others, strict=True)
    most = max(max(abs(a[0] - b[0]), abs(a[1] - b[1])) for a, b in pairs)
    return "" if most <= NEAR_PX else _AWAY if most <= ABOUT_PX else None


def _plain(action: Action) -> Action:
    """The nearest action that most families have a word for."""
    match action:
        case Drag(path):
            return replace(action, path=(path[0], path[-1]))
        case Scroll(_, _, dx, dy):
            return replace(action, dx=0.0) if abs(dy) >= abs(dx) else replace(action, dy=0.0)
    return action


def _same_chord(one: str, other: str) -> bool:
    """Whether two chords press the same keys, however they are spelt."""
    if one == other:
        return True
    try:
        first, second = parse_chord(one), parse_chord(other)
    except ActionRefused:
        return False
    return first.stroke == second.stroke and set(first.modifiers) == set(second.modifiers)


def _name(action: Action) -> str:
    """The action in words, with what decides whether a family can say it."""
    match action:
        case Click(_, _, button, count, modifiers):
            times = {1: "", 2: "double ", 3: "triple "}.get(count, f"{count}-fold ")
            return f"a {times}{button} click" + _held(modifiers)
        case Drag(_, button, modifiers):
            return f"a {button} drag" + _held(modifiers)
        case MouseDown(_, _, button) | MouseUp(_, _, button):
            return f"a {button} {type(action).__name__}"
        case Scroll(_, _, _, _, modifiers):
            return "scrolling" + _held(modifiers)
        case Key(chord):
            return f"the key {chord!r:.40}"
    return type(action).__name__


def _held(modifiers: tuple[str, ...]) -> str:
    return f" with {'+'.join(modifiers)}" if modifiers else ""
