"""Gemini's computer use: function calls {"name": "click_at", "args": {"x": 500, "y": 300}} on a 1000 x 1000 grid.

Both vocabularies are read: that of the browser (click_at, type_text_at, ...) and that of the desktop (click, type, ...).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from uigym.policy.codecs.granted import ARGUMENTS, call_of, read_call
from uigym.policy.codecs.screen import (
    NOTCH_PX,
    Screen,
    Unreadable,
    click_name,
    direction,
    fields,
    need,
    number,
    read,
    text,
    unknown,
    wheel,
)
from uigym.types import Action, Back, Click, Drag, Goto, Key, MouseDown, MouseUp, Move, Scroll, Type, Wait

GRID = (1000.0, 1000.0)
_CLICKS: dict[str, dict[str, Any]] = {
    "click": {}, "click_at": {}, "double_click": {"count": 2}, "triple_click": {"count": 3}, "middle_click": {"button": "middle"},
    "right_click": {"button": "right"},
}  # fmt: skip
ACTIONS = (
    *_CLICKS, "move", "hover_at", "mouse_down", "mouse_up", "drag_and_drop", "type", "type_text_at", "press_key", "hotkey", "key_combination",
    "scroll", "scroll_at", "scroll_document", "wait", "wait_5_seconds", "navigate", "go_back", "take_screenshot", "open_web_browser",
)  # fmt: skip


def decode(said: object, screen: Screen) -> tuple[Action, ...]:
    """The actions of a function call, or of a list of them; one call may be several actions."""

    def actions() -> Iterator[Action]:
        for call in said if isinstance(said, list | tuple) else [said]:
            found = fields(call, "a function call")
            name = text(need(found, "name", "a function call"), "name")
            yield from _actions(name, fields(found.get("args") or found.get("arguments") or {}, "args"), screen)

    return read(said, actions)


def _actions(name: str, args: Mapping[str, Any], screen: Screen) -> Iterator[Action]:
    def at(x: str = "x", y: str = "y") -> tuple[float, float]:
        return screen.place(need(args, x, name), need(args, y, name), GRID)

    if name in _CLICKS:
        yield Click(*at(), **_CLICKS[name])
        return
    match name:
        case "move" | "hover_at":
            yield Move(*at())
        case "mouse_down":
            yield MouseDown(*(at() if "x" in args else screen.at()))
        case "mouse_up":
            yield MouseUp(*(at() if "x" in args else screen.at()))
        case "drag_and_drop":
            start = ("start_x", "start_y") if "start_x" in args else ("x", "y")
            end = ("end_x", "end_y") if "end_x" in args else ("destination_x", "destination_y")
            yield Drag((at(*start), at(*end)))
        case "scroll" | "scroll_at" | "scroll_document":
            yield _scroll(name, args, screen)
        case "navigate":
            yield Goto(text(need(args, "url", name), "url"))
        case "go_back":
            yield Back()
        case "wait" | "wait_5_seconds":
            yield Wait(
                5.0 if name != "wait" else number(args.get("seconds", args.get("duration", 1)), "seconds", 0, 300)
            )
        case _ if name in ARGUMENTS:
            yield read_call(name, args)
        case "take_screenshot" | "open_web_browser":
            yield Wait(0.0)  # the next picture comes by itself
        case _:
            yield from _by_keyboard(name, args, screen)


def _by_keyboard(name: str, args: Mapping[str, Any], screen: Screen) -> Iterator[Action]:
    match name:
        case "type" | "type_text_at":
            said = text(need(args, "text", name), "text")
            if name == "type_text_at":
                yield Click(*screen.place(need(args, "x", name), need(args, "y", name), GRID))
                if args.get("clear_before_typing", True):
                    yield Key("Control+A")
                    yield Key("Backspace")
            yield Type(said)
            if args.get("press_enter", name == "type_text_at"):
                yield Key("Enter")
        case "press_key":
            yield Key(text(need(args, "key", name), "key"))
        case "hotkey" | "key_combination":
            keys = need(args, "keys", name)
            parts = keys if isinstance(keys, list | tuple) else [keys]
            if not parts:
                raise Unreadable(f"{name}: keys must name at least one key")
            yield Key("+".join(text(key, "a key") for key in parts))
        case _:
            raise unknown(name, ACTIONS)


def _scroll(name: str, args: Mapping[str, Any], screen: Screen) -> Action:
    direction = need(args, "direction", name)
    if name == "scroll_document" or "x" not in args:
        where = screen.at()
    else:
        where = screen.place(args["x"], need(args, "y", name), GRID)
    side = screen.width if direction in ("left", "right") else screen.height
    pixels = number(args.get("magnitude", 800), "magnitude", 0, 1000) / GRID[1] * side
    if "amount" in args:
        pixels = number(args["amount"], "amount", 0, 1000) * NOTCH_PX
    dx, dy = wheel(direction, pixels)
    return Scroll(*where, dx=dx, dy=dy)


def encode(action: Action, screen: Screen) -> dict[str, Any] | None:
    """One function call; None for what Gemini has no word for."""

    def at(x: float, y: float, names: tuple[str, str] = ("x", "y")) -> dict[str, int]:
        return dict(zip(names, screen.said(x, y, GRID), strict=True))

    match action:
        case Click(x, y, button, count, ()) if count == 1 or button == "left":
            name = "click_at" if (button, count) == ("left", 1) else click_name(button, count)
            return {"name": name, "args": at(x, y)}
        case Move(x, y):
            return {"name": "hover_at", "args": at(x, y)}
        case Drag(path, "left", ()) if len(path) == 2:
            return {
                "name": "drag_and_drop",
                "args": {**at(*path[0]), **at(*path[1], ("destination_x", "destination_y"))},
            }
        case Scroll(x, y, dx, dy, ()) if bool(dx) != bool(dy):
            way = direction(dx, dy)
            side = screen.width if dx else screen.height
            magnitude = min(1000, round(abs(dx or dy) / side * GRID[1]))
            return {"name": "scroll_at", "args": {**at(x, y), "direction": way, "magnitude": magnitude}}
        case Type(said):
            return {"name": "type", "args": {"text": said, "press_enter": False}}
        case Key(chord):
            return {"name": "key_combination", "args": {"keys": chord}}
        case Wait(seconds):
            return {"name": "wait", "args": {"seconds": seconds}}
        case Goto(url):
            return {"name": "navigate", "args": {"url": url}}
        case Back():
            return {"name": "go_back", "args": {}}
    granted = call_of(action)
    return {"name": granted[0], "args": granted[1]} if granted else None
