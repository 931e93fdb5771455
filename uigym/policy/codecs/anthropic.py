"""Anthropic's computer and browser tools: `computer_toolset_20260801`, `browser_toolset_20260801`, and the older ones.

A tool_use block: {"name": "left_click", "input": {"coordinate": [x, y]}}; of the older tools, whose name is
"computer", {"name": "computer", "input": {"action": "left_click", ...}}. Coordinates are px of the picture shown. Of
the browser tools only what a hand can do is read: targets by coordinate, not by reference into the page's source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from uigym.policy.codecs.granted import ARGUMENTS, call_of, read_call
from uigym.policy.codecs.screen import (
    CLICKS,
    NOTCH_PX,
    Screen,
    Unreadable,
    click_name,
    direction,
    fields,
    held,
    moved,
    need,
    number,
    pair,
    read,
    text,
    unknown,
    wheel,
)
from uigym.policy.codecs.spelling import xdotool
from uigym.types import (
    Action,
    Back,
    Click,
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
    Wait,
)

MEMBERS = (
    *CLICKS, "mouse_move", "hover", "left_click_drag", "left_mouse_down", "left_mouse_up", "scroll", "key", "hold_key", "type", "wait",
    "screenshot", "cursor_position", "navigate", "switch_tab",
)  # fmt: skip
MAX_REPEAT = 100


def decode(said: object, screen: Screen) -> tuple[Action, ...]:
    """The actions of a tool_use block, of a list of them, or of an input alone where that has an "action"."""

    def actions() -> Iterator[Action]:
        now = screen
        for block in said if isinstance(said, list | tuple) else [said]:
            for action in _actions(block, now):
                now = moved(now, action)
                yield action

    return read(said, actions)


def _actions(said: object, screen: Screen) -> Iterable[Action]:
    block = fields(said, "a tool_use block")
    args = fields(block.get("input", block), "input")
    name = args["action"] if "action" in args else need(block, "name", "a tool_use block")
    if name in CLICKS:
        modifiers = held(args.get("modifiers") or args.get("text"))
        return [Click(*_point(args, screen), modifiers=modifiers, **CLICKS[name])]
    return _other(text(name, "the name"), args, screen)


def _other(name: str, args: Mapping[str, Any], screen: Screen) -> Iterator[Action]:
    match name:
        case "mouse_move" | "hover":
            yield Move(*_point(args, screen))
        case "left_click_drag":
            start = args.get("from", args.get("start_coordinate"))
            begin = screen.at() if start is None else _where(start, screen)
            yield Drag((begin, _point(args, screen)), modifiers=held(args.get("text")))
        case "left_mouse_down":
            yield MouseDown(*_point(args, screen))
        case "left_mouse_up":
            yield MouseUp(*_point(args, screen))
        case "scroll":
            notches = number(args.get("scroll_amount", 3), "scroll_amount", 0, 1000)
            dx, dy = wheel(need(args, "scroll_direction", name), notches * NOTCH_PX)
            yield Scroll(*_point(args, screen), dx, dy, held(args.get("text")))
        case "key":
            chords = text(need(args, "text", name), "text").split() or [" "]
            for _ in range(int(number(args.get("repeat", 1), "repeat", 1, MAX_REPEAT))):
                yield from (Key(chord) for chord in chords)
        case "hold_key":
            yield HoldKey(
                text(need(args, "text", name), "text"), number(need(args, "duration", name), "duration", 0, 300)
            )
        case "type":
            yield Type(text(need(args, "text", name), "text"))
        case "wait":
            yield Wait(number(need(args, "duration", name), "duration", 0, 300))
        case "screenshot" | "cursor_position":
            yield Wait(0.0)  # the next picture comes by itself
        case "navigate":
            url = text(need(args, "url", name), "url")
            if url in ("forward", "reload"):
                raise Unreadable(f"navigate: {url} is not offered")
            yield Back() if url == "back" else Goto(url)
        case "switch_tab" if "tab_id" in args:
            yield SwitchTab(int(number(need(args, "tab_id", name), "tab_id", 0, 1000)))
        case _ if name in ARGUMENTS:
            yield read_call(name, args)
        case _:
            raise unknown(name, (*MEMBERS, *ARGUMENTS))


def _point(args: Mapping[str, Any], screen: Screen) -> tuple[float, float]:
    where = args.get("target", args.get("coordinate"))
    return screen.at() if where is None else _where(where, screen)


def _where(where: object, screen: Screen) -> tuple[float, float]:
    if isinstance(where, Mapping):
        if where.get("type") != "coordinate":
            raise Unreadable(
                f"a target is {{type: coordinate, x, y}}, not {where.get('type')!r}: the page's source is not offered"
            )
        return screen.place(need(where, "x", "a target"), need(where, "y", "a target"), screen.picture)
    return screen.place(*pair(where, "coordinate"), screen.picture)


def encode(action: Action, screen: Screen) -> dict[str, Any] | list[dict[str, Any]] | None:
    """The tool_use name and input of `computer_toolset_20260801`, or several; None for what it has no word for."""

    def at(x: float, y: float) -> list[int]:
        return list(screen.said(x, y, screen.picture))

    match action:
        case Click(x, y, button, count, modifiers):
            name = click_name(button, count)
            if count > 1 and button != "left":
                return None
            return _call(name, coordinate=at(x, y), text=_said(modifiers))
        case Move(x, y):
            return _call("mouse_move", coordinate=at(x, y))
        case Drag(path, "left", modifiers) if len(path) == 2:
            ends = {"start_coordinate": at(*path[0]), "coordinate": at(*path[1])}
            return _call("left_click_drag", **ends, text=_said(modifiers))
        case Drag(path, "left", ()):
            first, *others = (_call("mouse_move", coordinate=at(*point)) for point in path)
            return [first, _call("left_mouse_down"), *others, _call("left_mouse_up")]
        case MouseDown(x, y, "left"):
            return [_call("mouse_move", coordinate=at(x, y)), _call("left_mouse_down")]
        case MouseUp(x, y, "left"):
            return [_call("mouse_move", coordinate=at(x, y)), _call("left_mouse_up")]
        case Scroll(x, y, dx, dy, modifiers) if bool(dx) != bool(dy):
            way = direction(dx, dy)
            notches = max(1, round(abs(dx or dy) / NOTCH_PX))
            args = {"scroll_direction": way, "scroll_amount": notches, "text": _said(modifiers)}
            return _call("scroll", coordinate=at(x, y), **args)
        case Type(said):
            return _call("type", text=said)
        case Key(chord):
            return _call("key", text=xdotool(chord))
        case HoldKey(chord, seconds):
            return _call("hold_key", text=xdotool(chord), duration=seconds)
        case Wait(seconds):
            return _call("wait", duration=seconds)
    granted = call_of(action)
    return {"name": granted[0], "input": granted[1]} if granted else None


def _said(modifiers: tuple[str, ...]) -> str | None:
    return "+".join(modifiers).lower().replace("control", "ctrl") or None


def _call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "input": {key: value for key, value in args.items() if value is not None}}
