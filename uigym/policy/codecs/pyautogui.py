"""pyautogui calls as text, read and never run: pyautogui.click(x=0.52, y=0.97).

Coordinates are shares of the picture from 0 to 1 (AgentNet, OpenCUA); `decode_px` and `encode_px` take px of the
picture, as pyautogui itself does. Several lines are several actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from uigym.policy.codecs.calls import Call, parse
from uigym.policy.codecs.granted import ARGUMENTS, python, read_call
from uigym.policy.codecs.screen import NOTCH_PX, Screen, Unreadable, held, moved, number, read, text, unknown
from uigym.policy.codecs.spelling import lower
from uigym.types import Action, Answer, Click, Done, Drag, HoldKey, Key, MouseDown, MouseUp, Move, Scroll, Type, Wait

SHARES = (1.0, 1.0)
_CLICKS: dict[str, dict[str, Any]] = {
    "click": {}, "leftClick": {}, "rightClick": {"button": "right"}, "middleClick": {"button": "middle"}, "doubleClick": {"count": 2},
    "tripleClick": {"count": 3},
}  # fmt: skip
ACTIONS = (
    *_CLICKS, "moveTo", "dragTo", "mouseDown", "mouseUp", "scroll", "hscroll", "write", "typewrite", "press", "hotkey", "sleep", "wait", "terminate",
    "answer", "keyDown", "keyUp",
)  # fmt: skip
_POINT = ("x", "y")
_MAX = 100


def decode(said: object, screen: Screen, space: tuple[float, float] = SHARES) -> tuple[Action, ...]:
    """The actions of a text of calls."""

    def actions() -> Iterator[Action]:
        now, pressed = screen, list[str]()
        for call in parse(text(said, "the reply")):
            if call.name in ("pyautogui.keyDown", "pyautogui.keyUp"):
                _press(call, pressed)
                continue
            for action in _actions(call, now, space):
                now = moved(now, action)
                yield _with(action, pressed) if pressed else action

    return read(said, actions)


def decode_px(said: object, screen: Screen) -> tuple[Action, ...]:
    """`decode` with px of the picture."""
    return decode(said, screen, screen.picture)


def _press(call: Call, pressed: list[str]) -> None:
    """Keep what keyDown presses until keyUp."""
    key = text(call.bind("key").get("key"), "key")
    if call.name.endswith("keyDown"):
        pressed.append(key)
    elif key in pressed:
        pressed.remove(key)
    else:
        raise Unreadable(f"keyUp: {key!r:.40} is not pressed")


def _with(action: Action, pressed: list[str]) -> Action:
    """The action while keys are held."""
    match action:
        case Move():
            return action
        case Click() | Drag() | Scroll():
            return replace(action, modifiers=held(pressed))
        case Key(chord):
            return Key("+".join([*pressed, chord]))
        case Wait(seconds):
            return HoldKey("+".join(pressed), seconds)
    raise Unreadable(f"a {type(action).__name__} while keys are held is not offered")


def _actions(call: Call, screen: Screen, space: tuple[float, float]) -> Iterator[Action]:
    owner, _, name = call.name.rpartition(".")
    if not owner and name in ARGUMENTS:
        yield read_call(name, call.bind(*ARGUMENTS[name]))
        return
    if owner not in ("", "pyautogui", "computer", "time"):
        raise unknown(call.name, ACTIONS)

    def at(args: dict[str, Any]) -> tuple[float, float]:
        if args.get("x") is None and args.get("y") is None:
            return screen.at()
        return screen.place(args.get("x"), args.get("y"), space)

    if name in _CLICKS:
        args = call.bind(*_POINT, "clicks", "interval", "button", "duration")
        fixed = _CLICKS[name]
        count = int(number(args.get("clicks", fixed.get("count", 1)), "clicks", 1, 3))
        yield Click(*at(args), button=_button(args.get("button", fixed.get("button", "left"))), count=count)
        return
    match name:
        case "moveTo":
            yield Move(*at(call.bind(*_POINT, "duration")))
        case "dragTo":
            args = call.bind(*_POINT, "duration", "button")
            yield Drag((screen.at(), at(args)), button=_button(args.get("button", "left")))
        case "mouseDown" | "mouseUp":
            args = call.bind(*_POINT, "button")
            yield (MouseDown if name == "mouseDown" else MouseUp)(*at(args), button=_button(args.get("button", "left")))
        case "scroll" | "hscroll":
            args = call.bind("clicks", *_POINT)
            pixels = number(args.get("clicks"), "clicks", -1000, 1000) * NOTCH_PX
            yield Scroll(*at(args), dy=-pixels) if name == "scroll" else Scroll(*at(args), dx=pixels)
        case _:
            yield from _by_keyboard(name, call)


def _by_keyboard(name: str, call: Call) -> Iterator[Action]:
    match name:
        case "write" | "typewrite":
            args = call.bind("message", "interval")
            said = args.get("message")
            yield Type(
                "".join(text(part, "message") for part in said) if isinstance(said, list) else text(said, "message")
            )
        case "press":
            args = call.bind("keys", "presses", "interval")
            keys = args.get("keys")
            for _ in range(int(number(args.get("presses", 1), "presses", 1, _MAX))):
                yield from (Key(text(key, "a key")) for key in (keys if isinstance(keys, list) else [keys]))
        case "hotkey":
            keys = call.positional[0] if len(call.positional) == 1 else call.positional
            parts = keys if isinstance(keys, list | tuple) else [keys]
            if not parts:
                raise Unreadable("hotkey needs at least one key")
            yield Key("+".join(text(key, "a key") for key in parts))
        case "hold":
            args = call.bind("key", "seconds")
            yield HoldKey(text(args.get("key"), "key"), number(args.get("seconds", 1), "seconds", 0, 300))
        case "sleep" | "wait":
            yield Wait(number(call.bind("seconds").get("seconds", 1), "seconds", 0, 300))
        case "terminate":
            status = call.bind("status", "answer").get("status", "success")
            if status not in ("success", "failure", "fail"):
                raise Unreadable(f"terminate: status must be success or failure, not {status!r}")
            yield Done()
        case "answer":
            yield Answer(text(call.bind("text").get("text"), "text"))
        case _:
            raise unknown(call.name, ACTIONS)


def _button(value: object) -> Any:
    names = {"left": "left", "right": "right", "middle": "middle", "primary": "left", "secondary": "right"}
    if value not in names:
        raise Unreadable(f"button must be left, middle or right, not {value!r}")
    return names[str(value)]


def encode(action: Action, screen: Screen, space: tuple[float, float] = SHARES) -> str:
    """The call that means an action; "" for what pyautogui has no word for."""

    def at(x: float, y: float) -> str:
        if space == SHARES:
            return f"x={x / screen.width:.4f}, y={y / screen.height:.4f}"
        right, down = screen.said(x, y, space)
        return f"x={right}, y={down}"

    match action:
        case Click(modifiers=pressed) | Drag(modifiers=pressed) | Scroll(modifiers=pressed) if pressed:
            inner = encode(replace(action, modifiers=()), screen, space)
            return _while([lower(name)[0] for name in pressed], inner) if inner else ""
        case Click(x, y, button, count, ()) if count == 1 or button == "left":
            name = {2: "doubleClick", 3: "tripleClick"}.get(count, {"left": "click"}.get(button, f"{button}Click"))
            return f"pyautogui.{name}({at(x, y)})"
        case Move(x, y):
            return f"pyautogui.moveTo({at(x, y)})"
        case Drag(path, button, ()) if len(path) == 2:
            return f"pyautogui.moveTo({at(*path[0])})\npyautogui.dragTo({at(*path[1])}, button={button!r})"
        case Drag(path, button, ()):
            first, *others = (f"pyautogui.moveTo({at(*point)})" for point in path)
            down, up = (f"pyautogui.{name}(button={button!r})" for name in ("mouseDown", "mouseUp"))
            return "\n".join([first, down, *others, up])
        case MouseDown(x, y, button):
            return f"pyautogui.mouseDown({at(x, y)}, button={button!r})"
        case MouseUp(x, y, button):
            return f"pyautogui.mouseUp({at(x, y)}, button={button!r})"
        case Scroll(x, y, 0.0, dy, ()):
            return f"pyautogui.scroll({-dy / NOTCH_PX:g}, {at(x, y)})"
        case Scroll(x, y, dx, 0.0, ()):
            return f"pyautogui.hscroll({dx / NOTCH_PX:g}, {at(x, y)})"
        case Type(said):
            return f"pyautogui.write({said!r})"
        case Key(chord):
            keys = lower(chord)
            return f"pyautogui.{'hotkey' if len(keys) > 1 else 'press'}({', '.join(map(repr, keys))})"
        case HoldKey(chord, seconds):
            return _while(lower(chord), f"time.sleep({seconds!r})")
        case Wait(seconds):
            return f"computer.wait(seconds={seconds!r})"
        case Answer(said):
            return f"answer({said!r})"
        case Done():
            return "computer.terminate(status='success')"
    return python(action)


def _while(keys: list[str], call: str) -> str:
    """The call while keys are held."""
    down = [f"pyautogui.keyDown({key!r})" for key in keys]
    up = [f"pyautogui.keyUp({key!r})" for key in reversed(keys)]
    return "\n".join([*down, call, *up])


def encode_px(action: Action, screen: Screen) -> str:
    """`encode` with px of the picture."""
    return encode(action, screen, screen.picture)
