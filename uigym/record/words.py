"""An act as the recorder's page lists it: what was done, with what, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uigym.record.reduce import Act
from uigym.types import (
    Answer,
    Back,
    Click,
    Dialog,
    Done,
    Drag,
    Goto,
    HoldKey,
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

_MOST = 120
_COUNTS = {1: "Click", 2: "Double click", 3: "Triple click"}
_HIDDEN = "\u2022" * 8


def words(act: Act) -> dict[str, str]:
    """What a line of the list says: `kind`, `what`, `where`.

    Example:
        >>> words(Act(Click(4, 5), 0, 1, 0.0, 0.1))
        {'kind': 'Click', 'what': '', 'where': '4, 5'}
    """
    action: Any = act.action
    kind, what = _SAID[type(action)](action)
    what = _HIDDEN if act.withheld else what
    return {"kind": kind, "what": what if len(what) <= _MOST else f"{what[:_MOST]}\u2026", "where": _where(action)}


def _where(action: Any) -> str:
    match action:
        case Drag(path=path):
            return f"{_point(path[0])} \u2192 {_point(path[-1])}"
        case Click() | Move() | MouseDown() | MouseUp() | Scroll():
            return _point((action.x, action.y))
    return ""


def _point(point: tuple[float, float]) -> str:
    return f"{point[0]:.0f}, {point[1]:.0f}"


def _click(action: Click) -> tuple[str, str]:
    kind = _COUNTS[action.count]
    kind = kind if action.button == "left" else f"{action.button.capitalize()} {kind.lower()}"
    return kind, "+".join(action.modifiers)


def _scroll(action: Scroll) -> tuple[str, str]:
    turns = ((action.dy, "down", "up"), (action.dx, "right", "left"))
    ways = [f"{more if by > 0 else less} {abs(by):.0f}" for by, more, less in turns if by]
    return "Scroll", " ".join([*ways, *action.modifiers])


def _dialog(action: Dialog) -> tuple[str, str]:
    return ("Accept" if action.accept else "Dismiss"), action.text


def _upload(action: Upload) -> tuple[str, str]:
    names = (action.file,) if isinstance(action.file, str) else action.file
    return "Upload", ", ".join(names) or "nothing"


_SAID: dict[type, Callable[[Any], tuple[str, str]]] = {
    Click: _click,
    Move: lambda action: ("Move", ""),
    Drag: lambda action: ("Drag", "+".join(action.modifiers)),
    MouseDown: lambda action: ("Press", action.button),
    MouseUp: lambda action: ("Release", action.button),
    Scroll: _scroll,
    Type: lambda action: ("Type", action.text),
    Key: lambda action: ("Key", action.chord),
    HoldKey: lambda action: ("Hold", f"{action.chord} {action.seconds:g} s"),
    Wait: lambda action: ("Wait", f"{action.seconds:g} s"),
    Answer: lambda action: ("Answer", action.text),
    Done: lambda action: ("Done", ""),
    Goto: lambda action: ("Go to", action.url),
    Back: lambda action: ("Back", ""),
    SwitchTab: lambda action: ("Tab", str(action.index)),
    Upload: _upload,
    Dialog: _dialog,
}
