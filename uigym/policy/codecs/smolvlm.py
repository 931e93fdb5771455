"""SmolVLM as an agent: <think>...</think>, then <code> with calls that are read and never run: click(x=0.5, y=0.3).

Coordinates are shares of the picture from 0 to 1. Several lines are several actions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from uigym.policy.codecs.calls import Call, parse
from uigym.policy.codecs.granted import ARGUMENTS, python, read_call
from uigym.policy.codecs.screen import (
    NOTCH_PX,
    Screen,
    Unreadable,
    direction,
    moved,
    number,
    pair,
    read,
    text,
    unknown,
    wheel,
)
from uigym.policy.codecs.spelling import lower
from uigym.types import Action, Answer, Back, Click, Done, Drag, Key, Move, Scroll, Type, Wait

ACTIONS = (
    "click", "double_click", "right_click", "move_mouse", "drag", "scroll", "type", "press", "wait", "navigate_back", "final_answer",
)  # fmt: skip
_SHARES = (1.0, 1.0)
_CLICKS: dict[str, tuple[Literal["left", "right"], int]] = {
    "click": ("left", 1),
    "double_click": ("left", 2),
    "right_click": ("right", 1),
}
_CODE = re.compile(r"<code>(.*)</code>", re.DOTALL)
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


def decode(said: object, screen: Screen) -> tuple[Action, ...]:
    """The actions between <code> and </code>; of a reply without them, all of what follows the thought."""

    def actions() -> Iterator[Action]:
        reply = _THOUGHT.sub("", text(said, "the reply"), count=1)
        code = _CODE.search(reply)
        now = screen
        for call in parse(code[1] if code else reply):
            action = _action(call, now)
            now = moved(now, action)
            yield action

    return read(said, actions)


def _action(call: Call, screen: Screen) -> Action:
    if call.name in _CLICKS or call.name == "move_mouse":
        args = call.bind("x", "y")
        if call.name == "move_mouse":
            return Move(*screen.place(args.get("x"), args.get("y"), _SHARES))
        return Click(*_point(args, screen), *_CLICKS[call.name])
    match call.name:
        case "drag":
            args = call.bind("from_coord", "to_coord")
            ends = (pair(args.get(name), name) for name in ("from_coord", "to_coord"))
            return Drag(tuple(screen.place(x, y, _SHARES) for x, y in ends))
        case "scroll":
            args = call.bind("direction", "amount", "x", "y")
            amount = number(args.get("amount", 1), "amount", 0, 1000)
            dx, dy = wheel(args.get("direction", "down"), amount * NOTCH_PX)
            return Scroll(*_point(args, screen), dx=dx, dy=dy)
        case "type":
            return Type(text(call.bind("text").get("text"), "text"))
        case "press":
            return _press(call.bind("keys").get("keys"))
        case "wait":
            return Wait(number(call.bind("seconds").get("seconds", 1), "seconds", 0, 300))
        case "navigate_back":
            return Back()
        case "final_answer":
            answer = call.bind("answer").get("answer", "")
            return Answer(str(answer)) if str(answer) else Done()
    if call.name in ARGUMENTS:
        return read_call(call.name, call.bind(*ARGUMENTS[call.name]))
    raise unknown(call.name, ACTIONS)


def _point(args: dict[str, object], screen: Screen) -> tuple[float, float]:
    if args.get("x") is None and args.get("y") is None:
        return screen.at()
    return screen.place(args.get("x"), args.get("y"), _SHARES)


def _press(keys: object) -> Key:
    parts = keys if isinstance(keys, list | tuple) else [keys]
    if not parts:
        raise Unreadable("press needs keys='enter' or keys=['ctrl', 'c']")
    return Key("+".join(text(key, "a key") for key in parts))


def encode(action: Action, screen: Screen) -> str:
    """The reply that means an action; "" for what SmolVLM has no word for."""
    call = _call(action, screen)
    return f"<code>\n{call}\n</code>" if call else ""


def _call(action: Action, screen: Screen) -> str:
    def at(x: float, y: float) -> tuple[str, str]:
        return f"{x / screen.width:.4f}", f"{y / screen.height:.4f}"

    match action:
        case Click(x, y, "left" | "right" as button, 1 | 2 as count, ()) if (button, count) in _CLICKS.values():
            name = next(name for name, kind in _CLICKS.items() if kind == (button, count))
            return "{}(x={}, y={})".format(name, *at(x, y))
        case Move(x, y):
            return "move_mouse(x={}, y={})".format(*at(x, y))
        case Drag(path, "left", ()) if len(path) == 2:
            return "drag(from_coord=[{}, {}], to_coord=[{}, {}])".format(*at(*path[0]), *at(*path[1]))
        case Scroll(x, y, dx, dy, ()) if bool(dx) != bool(dy):
            way, amount = direction(dx, dy), abs(dx or dy) / NOTCH_PX
            return "scroll(direction={!r}, amount={:g}, x={}, y={})".format(way, amount, *at(x, y))
        case Type(said):
            return f"type(text={said!r})"
        case Key(chord):
            keys = lower(chord)
            return f"press(keys={keys if len(keys) > 1 else keys[0]!r})"
        case Wait(seconds):
            return f"wait(seconds={seconds!r})"
        case Back():
            return "navigate_back()"
        case Answer(said):
            return f"final_answer({said!r})"
        case Done():
            return "final_answer()"
    return python(action)
