"""Qwen's `computer_use` function, as text between <tool_call> tags or as an object.

<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [512, 300]}}</tool_call>

Qwen3-VL speaks in a grid of 0 to 1000 over the picture, Qwen2.5-VL in px of the picture as its processor resized it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from uigym.policy.codecs.granted import ARGUMENTS, call_of, read_call
from uigym.policy.codecs.screen import (
    CLICKS,
    Screen,
    Unreadable,
    click_name,
    fields,
    moved,
    need,
    number,
    pair,
    read,
    text,
    unknown,
)
from uigym.policy.codecs.spelling import lower
from uigym.types import Action, Answer, Click, Done, Drag, Key, Move, Scroll, Type, Wait

GRID = (1000.0, 1000.0)
ACTIONS = (
    "key", "type", "mouse_move", "left_click", "left_click_drag", "right_click", "middle_click", "double_click", "triple_click", "scroll", "hscroll",
    "wait", "terminate", "answer",
)  # fmt: skip
_OPEN = "<tool_call>"


def smart_resize(
    width: int, height: int, *, factor: int = 28, min_pixels: int = 56 * 56, max_pixels: int = 14 * 14 * 4 * 1280
) -> tuple[int, int]:
    """Width and height to which the Qwen2-VL processors resize a picture: multiples of `factor`, within their budget.

    Example:
        >>> smart_resize(1280, 720), smart_resize(1920, 1080)
        ((1288, 728), (1316, 728))
    """
    wide, high = (max(factor, round(side / factor) * factor) for side in (width, height))
    if wide * high > max_pixels:
        shrink = math.sqrt(width * height / max_pixels)
        wide, high = (max(factor, math.floor(side / shrink / factor) * factor) for side in (width, height))
    elif wide * high < min_pixels:
        grow = math.sqrt(min_pixels / (width * height))
        wide, high = (math.ceil(side * grow / factor) * factor for side in (width, height))
    return wide, high


def decode(said: object, screen: Screen, space: tuple[float, float] = GRID) -> tuple[Action, ...]:
    """The actions of a reply: every tool call in a text, or one call as an object.

    Args:
        said: What the model said.
        screen: The picture.
        space: Of the coordinates.
    """

    def actions() -> Iterator[Action]:
        now = screen
        for call in _calls(said):
            action = _action(call, now, space)
            now = moved(now, action)
            yield action

    return read(said, actions)


def decode_px(said: object, screen: Screen) -> tuple[Action, ...]:
    """`decode` for Qwen2.5-VL, whose coordinates are px of the resized picture."""
    return decode(said, screen, smart_resize(*screen.picture))


def _calls(said: object) -> Iterator[Mapping[str, Any]]:
    if not isinstance(said, str):
        yield fields(said, "a call")
        return
    reader, at = json.JSONDecoder(), said.find(_OPEN) + len(_OPEN) if _OPEN in said else 0
    while True:
        while at < len(said) and said[at].isspace():
            at += 1
        try:
            call, end = reader.raw_decode(said, at)
        except json.JSONDecodeError as exc:
            form = '<tool_call>{"name": "computer_use", "arguments": {...}}</tool_call>'
            raise Unreadable(f"expected {form}: {exc}") from None
        yield fields(call, "a call")
        following = said.find(_OPEN, end)
        if following < 0:
            return
        at = following + len(_OPEN)


def _action(call: Mapping[str, Any], screen: Screen, space: tuple[float, float]) -> Action:
    args = fields(call.get("arguments", call), "arguments")
    if "arguments" in call and call.get("name") in ARGUMENTS:
        return read_call(call["name"], args)
    if "arguments" in call and call.get("name") != "computer_use":
        raise unknown(call.get("name"), ["computer_use", *ARGUMENTS])
    name = need(args, "action", "computer_use")

    def at() -> tuple[float, float]:
        return screen.place(*pair(args["coordinate"], "coordinate"), space) if "coordinate" in args else screen.at()

    if name in CLICKS:
        return Click(*at(), **CLICKS[name])
    match name:
        case "mouse_move":
            need(args, "coordinate", name)
            return Move(*at())
        case "left_click_drag":
            need(args, "coordinate", name)
            return Drag((screen.at(), at()))
        case "scroll" | "hscroll":
            pixels = number(need(args, "pixels", name), "pixels")
            return Scroll(*at(), dy=-pixels) if name == "scroll" else Scroll(*at(), dx=pixels)
        case "key":
            keys = need(args, "keys", name)
            if not isinstance(keys, list) or not keys:
                raise Unreadable("key: keys must be a list of at least one key")
            return Key("+".join(text(key, "a key") for key in keys))
        case "type":
            return Type(text(need(args, "text", name), "text"))
        case "wait":
            return Wait(number(args.get("time", 1), "time", 0, 300))
        case "answer":
            return Answer(text(need(args, "text", name), "text"))
        case "terminate":
            if args.get("status") not in ("success", "failure"):
                raise Unreadable(f"terminate: status must be success or failure, not {args.get('status')!r}")
            return Done()
    raise unknown(name, ACTIONS)


def encode(action: Action, screen: Screen, space: tuple[float, float] = GRID) -> str:
    """The reply that means an action; "" for what Qwen has no word for."""

    def at(x: float, y: float) -> list[int]:
        return list(screen.said(x, y, space))

    match action:
        case Click(x, y, button, count, ()) if count == 1 or button == "left":
            return _said(click_name(button, count), coordinate=at(x, y))
        case Move(x, y):
            return _said("mouse_move", coordinate=at(x, y))
        case Drag(path, "left", ()) if len(path) == 2:  # from where the pointer is
            return (
                _said("mouse_move", coordinate=at(*path[0])) + "\n" + _said("left_click_drag", coordinate=at(*path[1]))
            )
        case Scroll(x, y, 0.0, dy, ()):
            return _said("scroll", coordinate=at(x, y), pixels=round(-dy))
        case Scroll(x, y, dx, 0.0, ()):
            return _said("hscroll", coordinate=at(x, y), pixels=round(dx))
        case Type(said):
            return _said("type", text=said)
        case Key(chord):
            return _said("key", keys=lower(chord))
        case Wait(seconds):
            return _said("wait", time=seconds)
        case Answer(said):
            return _said("answer", text=said)
        case Done():
            return _said("terminate", status="success")
    granted = call_of(action)
    return _called(*granted) if granted else ""


def encode_px(action: Action, screen: Screen) -> str:
    """`encode` for Qwen2.5-VL."""
    return encode(action, screen, smart_resize(*screen.picture))


def _said(action: str, **args: Any) -> str:
    return _called("computer_use", {"action": action, **args})


def _called(name: str, args: dict[str, Any]) -> str:
    call = {"name": name, "arguments": args}
    return f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"
