"""What an action did, as the overlay draws it over the picture: points in CSS px, and a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uigym.types import (
    Action,
    Answer,
    Back,
    Click,
    Dialog,
    Done,
    Drag,
    Goto,
    HoldKey,
    Invalid,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    StepRecord,
    SwitchTab,
    Type,
    Upload,
    Wait,
)

MOST_WORDS = 160
"""Characters of a label."""
KINDS: dict[type, str] = {
    Click: "click", Move: "move", Drag: "drag", MouseDown: "down", MouseUp: "up", Scroll: "scroll", Type: "type",
    Key: "key", HoldKey: "key", Wait: "wait", Answer: "answer", Done: "done", Goto: "goto", Back: "back",
    SwitchTab: "tab", Upload: "upload", Dialog: "dialog", Invalid: "invalid",
}  # fmt: skip
"""The drawing of each action."""
_LOOK_BACK = 60
"""Steps in which the place that has the focus is looked for."""


def mark(steps: Sequence[StepRecord]) -> dict[str, Any]:
    """What the last of some steps draws: "kind", "points", and, if there is something to say, "label" and "keys".

    Args:
        steps: It and those before it: typed text is drawn where the pointer was last used.
    """
    step = steps[-1]
    kind = KINDS[type(step.action)]
    found: dict[str, Any] = {"kind": kind, "points": [list(point) for point in points(step.action)]}
    if not found["points"]:
        found["points"] = [list(point) for point in focus(steps[:-1])]
    if step.error is not None:
        found["refused"] = True
    return found | _words(step.action)


def points(action: Action) -> list[tuple[float, float]]:
    """Where an action used the pointer."""
    match action:
        case Click(x, y) | Move(x, y) | MouseDown(x, y) | MouseUp(x, y) | Scroll(x, y):
            return [(x, y)]
        case Drag(path):
            return list(path)
        case _:
            return []


def focus(steps: Sequence[StepRecord]) -> list[tuple[float, float]]:
    """Where a button was last pressed; nothing if it was not."""
    for step in reversed(steps[-_LOOK_BACK:]):
        if isinstance(step.action, Click | Drag | MouseDown | MouseUp) and step.error is None:
            return points(step.action)[-1:]
    return []


def _words(action: Action) -> dict[str, Any]:
    match action:
        case Click(_, _, button, count, modifiers):
            how = [
                *([button] if button != "left" else []),
                *([{2: "double", 3: "triple"}[count]] if count in (2, 3) else []),
            ]
            said: dict[str, Any] = {"label": " ".join([*how, "click"])} if how else {}
            return said | ({"keys": [*modifiers], "count": count} if modifiers else {"count": count})
        case Scroll(_, _, dx, dy, modifiers):
            return {"by": [dx, dy], "label": _by(dx, dy)} | ({"keys": [*modifiers]} if modifiers else {})
        case Drag(modifiers=modifiers) if modifiers:
            return {"keys": [*modifiers]}
        case Type(text):
            return {"label": _cut(text)}
        case Key(chord) | HoldKey(chord):
            return {"keys": keys(chord)}
        case _:
            return {}


def keys(chord: str) -> list[str]:
    """The keys of a chord.

    Example:
        >>> keys("Control+Shift+A"), keys("Control++"), keys("+")
        (['Control', 'Shift', 'A'], ['Control', '+'], ['+'])
    """
    if chord in ("", "+"):
        return [chord]
    head, plus = (chord[:-2], ["+"]) if chord.endswith("++") else (chord, [])
    return [each[:40] for each in head.split("+")][:6] + plus


def _by(dx: float, dy: float) -> str:
    said = [f"{abs(dy):.0f} px {'down' if dy > 0 else 'up'}"] if dy else []
    said += [f"{abs(dx):.0f} px {'right' if dx > 0 else 'left'}"] if dx else []
    return ", ".join(said)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_WORDS else f"{text[:MOST_WORDS]}…"
