"""UI-TARS 1.5: Thought: ... Action: click(point='<point>512 300</point>').

Coordinates are px of the picture as its processor resized it. Older forms of a point, start_box='(512,300)' and boxes
[x1, y1, x2, y2], whose middle counts, are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from uigym.policy.codecs.calls import Call, parse
from uigym.policy.codecs.granted import ARGUMENTS, python, read_call
from uigym.policy.codecs.qwen import smart_resize
from uigym.policy.codecs.screen import NOTCH_PX, Screen, Unreadable, direction, read, text, unknown, wheel
from uigym.policy.codecs.spelling import lower
from uigym.types import Action, Answer, Click, Done, Drag, Key, Scroll, Type, Wait

ACTIONS = ("click", "left_double", "right_single", "drag", "hotkey", "type", "scroll", "wait", "finished", "call_user")
MAX_PIXELS = 16384 * 28 * 28
"""Budget of its processor."""
WAIT_S = 5.0
SCROLL_NOTCHES = 5
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ACTION = re.compile(r"Action\s*:\s*", re.IGNORECASE)
_CONTENT = re.compile(r"^(type|finished)\(content=(['\"])(.*)\2\)$", re.DOTALL)


def space(screen: Screen) -> tuple[int, int]:
    """Width and height of the resized picture, px."""
    return smart_resize(*screen.picture, min_pixels=100 * 28 * 28, max_pixels=MAX_PIXELS)


def decode(said: object, screen: Screen) -> tuple[Action, ...]:
    """The action after the last "Action:"; of a reply without one, all of it."""

    def actions() -> Iterator[Action]:
        reply = _ACTION.split(text(said, "the reply"))[-1].strip()
        content = _CONTENT.match(reply)
        if content is not None:  # its quotes are often not escaped
            yield _speak(content[1], _unescaped(content[3]))
            return
        for call in parse(reply):
            yield _action(call, screen)

    return read(said, actions)


def _action(call: Call, screen: Screen) -> Action:
    def at(*names: str) -> tuple[float, float]:
        value = next((call.named[name] for name in names if name in call.named), None)
        if value is None:
            raise Unreadable(f"{call.name} needs {names[0]}='<point>x y</point>'")
        return _place(value, screen)

    start, end = ("point", "start_point", "start_box"), ("end_point", "end_box")
    match call.name:
        case "click":
            return Click(*at(*start))
        case "left_double":
            return Click(*at(*start), count=2)
        case "right_single":
            return Click(*at(*start), button="right")
        case "drag":
            return Drag((at(*start), at(*end)))
        case "scroll":
            dx, dy = wheel(call.named.get("direction"), SCROLL_NOTCHES * NOTCH_PX)
            return Scroll(*(at(*start) if set(start) & set(call.named) else screen.at()), dx=dx, dy=dy)
        case "hotkey":
            keys = text(call.named.get("key", call.named.get("hotkey")), "key").split()
            if not keys:
                raise Unreadable("hotkey needs key='ctrl c'")
            return Key("+".join(keys))
        case "wait":
            return Wait(WAIT_S)
        case "type" | "finished":
            return _speak(call.name, text(call.named.get("content", ""), "content"))
        case "call_user":
            return Done()
    if call.name in ARGUMENTS:
        return read_call(call.name, call.bind(*ARGUMENTS[call.name]))
    raise unknown(call.name, ACTIONS)


def _speak(name: str, content: str) -> Action:
    if name == "type":
        return Type(content)
    return Answer(content) if content else Done()


def _place(value: object, screen: Screen) -> tuple[float, float]:
    found = [
        float(n) for n in _NUMBER.findall(" ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
    ]
    if len(found) == 4:
        found = [(found[0] + found[2]) / 2, (found[1] + found[3]) / 2]
    if len(found) != 2:
        raise Unreadable(f"a point is '<point>x y</point>', not {value!r}")
    return screen.place(found[0], found[1], space(screen))


def _unescaped(content: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), content, flags=re.DOTALL)


def encode(action: Action, screen: Screen) -> str:
    """The action's call; "" for what UI-TARS has no word for."""

    def at(x: float, y: float) -> str:
        right, down = screen.said(x, y, space(screen))
        return f"'<point>{right} {down}</point>'"

    match action:
        case Click(x, y, "left", 1 | 2 as count, ()):
            return f"{'click' if count == 1 else 'left_double'}(point={at(x, y)})"
        case Click(x, y, "right", 1, ()):
            return f"right_single(point={at(x, y)})"
        case Drag(path, "left", ()) if len(path) == 2:
            return f"drag(start_point={at(*path[0])}, end_point={at(*path[1])})"
        case Scroll(x, y, dx, dy, ()) if bool(dx) != bool(dy):
            way = direction(dx, dy)
            return f"scroll(point={at(x, y)}, direction='{way}')"
        case Type(said):
            return f"type(content='{_escaped(said)}')"
        case Key(chord):
            return f"hotkey(key='{_escaped(' '.join(lower(chord)))}')"
        case Wait():
            return "wait()"
        case Answer(said):
            return f"finished(content='{_escaped(said)}')"
        case Done():
            return "finished(content='')"
    return python(action)


def _escaped(content: str) -> str:
    return content.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
