"""OpenAI's `computer` (several actions a call) and `computer_use_preview` (one).

{"type": "computer_call", "actions": [{"type": "click", "x": 3, "y": 4, "button": "left"}]}, or "action" with one, or
an action alone. Coordinates are px of the picture shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from uigym.policy.codecs.granted import call_of, read_call
from uigym.policy.codecs.screen import Screen, Unreadable, fields, held, need, number, read, text, unknown
from uigym.policy.codecs.spelling import keys
from uigym.types import Action, Back, Click, Drag, Key, Move, Scroll, Type, Wait

ACTIONS = ("click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait")
WAIT_S = 2.0
"""Of `wait`, which says no time."""


def decode(said: object, screen: Screen) -> tuple[Action, ...]:
    """The actions of a computer_call, or of one action alone."""

    def actions() -> Iterator[Action]:
        call = fields(said, "a computer_call")
        found = call.get("actions", [call["action"]] if "action" in call else None)
        if found is None and call.get("type") == "computer_call":
            raise Unreadable("a computer_call has an action or a list of actions")
        if found is not None and not isinstance(found, list | tuple):
            raise Unreadable("actions must be a list")
        if call.get("type") == "function_call":
            yield _called(call)
            return
        actions = [_action(fields(one, "an action"), screen) for one in ([call] if found is None else found)]
        yield from _tripled(actions)

    return read(said, actions)


def _called(call: Mapping[str, Any]) -> Action:
    try:
        return read_call(text(call.get("name"), "the name"), fields(json.loads(call.get("arguments") or "{}"), "args"))
    except json.JSONDecodeError as exc:
        raise Unreadable(f"the arguments of a function_call are not JSON: {exc}") from None


def _tripled(actions: list[Action]) -> Iterator[Action]:
    """Three clicks of one call on one point are the triple click that OpenAI has no word for."""
    while actions:
        first = actions[0]
        triple = isinstance(first, Click) and first.count == 1 and actions[:3] == [first] * 3
        yield replace(first, count=3) if triple and isinstance(first, Click) else first
        actions = actions[3 if triple else 1 :]


def _action(args: Mapping[str, Any], screen: Screen) -> Action:
    kind = need(args, "type", "an action")
    match kind:
        case "click":
            return _click(args, screen)
        case "double_click":
            return Click(*_point(args, screen), count=2, modifiers=held(args.get("keys")))
        case "drag":
            path = need(args, "path", "drag")
            if not isinstance(path, list | tuple) or len(path) < 2:
                raise Unreadable("drag: path must be a list of at least two points {x, y}")
            points = tuple(_point(fields(point, "a point"), screen) for point in path)
            return Drag(points, modifiers=held(args.get("keys")))
        case "keypress":
            pressed = need(args, "keys", "keypress")
            if not isinstance(pressed, list | tuple) or not pressed:
                raise Unreadable("keypress: keys must be a list of at least one key")
            return Key("+".join(text(key, "a key") for key in pressed))
        case "move":
            return Move(*_point(args, screen))
        case "scroll":
            wide, high = screen.width / screen.picture[0], screen.height / screen.picture[1]
            dx, dy = (number(args.get(name, 0), name) for name in ("scroll_x", "scroll_y"))
            return Scroll(*_point(args, screen), dx * wide, dy * high, held(args.get("keys")))
        case "type":
            return Type(text(need(args, "text", "type"), "text"))
        case "wait":
            return Wait(WAIT_S)
        case "screenshot":
            return Wait(0.0)  # the next picture comes by itself
    raise unknown(kind, ACTIONS)


def _click(args: Mapping[str, Any], screen: Screen) -> Action:
    button = args.get("button", "left")
    if button == "back":
        return Back()
    buttons = {"left": "left", "right": "right", "wheel": "middle"}
    if button not in buttons:
        raise Unreadable(f"click: button must be left, right, wheel or back, not {button!r}")
    return Click(*_point(args, screen), button=buttons[button], modifiers=held(args.get("keys")))  # type: ignore[arg-type]


def _point(args: Mapping[str, Any], screen: Screen) -> tuple[float, float]:
    return screen.place(need(args, "x", "a point"), need(args, "y", "a point"), screen.picture)


def encode(action: Action, screen: Screen) -> dict[str, Any] | None:
    """One action of a call; None for what it has no word for."""

    def at(x: float, y: float) -> dict[str, int]:
        right, down = screen.said(x, y, screen.picture)
        return {"x": right, "y": down}

    match action:
        case Click(x, y, "left", 2, modifiers):
            return {"type": "double_click", **at(x, y), "keys": None, **_keys(modifiers)}  # it must be there
        case Click(x, y, button, 1, modifiers):
            return {"type": "click", **at(x, y), "button": {"middle": "wheel"}.get(button, button), **_keys(modifiers)}
        case Click(x, y, "left", 3, modifiers):
            return {"type": "computer_call", "actions": [_click_at(at(x, y), modifiers)] * 3}
        case Move(x, y):
            return {"type": "move", **at(x, y)}
        case Drag(path, "left", modifiers):
            return {"type": "drag", "path": [at(*point) for point in path], **_keys(modifiers)}
        case Scroll(x, y, dx, dy, modifiers):
            right, down = screen.said(dx, dy, screen.picture)
            return {"type": "scroll", **at(x, y), "scroll_x": right, "scroll_y": down, **_keys(modifiers)}
        case Type(said):
            return {"type": "type", "text": said}
        case Key(chord):
            return {"type": "keypress", "keys": keys(chord)}
        case Wait():
            return {"type": "wait"}
    granted = call_of(action)
    return {"type": "function_call", "name": granted[0], "arguments": json.dumps(granted[1])} if granted else None


def _click_at(point: dict[str, int], modifiers: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "click", **point, "button": "left", **_keys(modifiers)}


def _keys(modifiers: tuple[str, ...]) -> dict[str, list[str]]:
    return {"keys": [name.upper() for name in modifiers]} if modifiers else {}
