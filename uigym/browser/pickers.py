"""Native pickers: the lists of selects and suggestions, calendars, times and colours.

Chromium draws them in windows that pictures may lack and that clicks do not reach. Each is closed as soon as it opens,
and another one, drawn over the page, takes its place; what is chosen there goes home through Chromium's own keys.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uigym.browser.input import Input
from uigym.browser.keys import parse_chord
from uigym.browser.overlay import Overlay
from uigym.browser.settle import WORLD
from uigym.browser.tab import Tab
from uigym.browser.tabs import Prepared
from uigym.browser.wire import WireError
from uigym.surroundings import Surroundings
from uigym.types import Action, Click, Drag, Event, HoldKey, Key, MouseDown, MouseUp, Move, Scroll, Type

_BINDING = "picker"
_TRIES = 10
_KEYS = {"ArrowDown": 40, "Enter": 13, "Escape": 27, "Space": 32}
_LIST_KEYS = ("ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", "Enter", "Escape")
"""What suggestions take of a keyboard that writes into their field."""
_NAMES = {"color": "colour picker", "datetime-local": "date and time picker"}


@dataclass
class _Open:
    """A picker that is drawn over a tab."""

    tab: Tab
    world: int
    """JavaScript context of our world in the control's frame."""
    spec: dict[str, Any]
    state: dict[str, Any]
    box: dict[str, float] | None = None

    def covers(self, x: float, y: float) -> bool:
        return bool(self.state["left"] <= x < self.state["right"] and self.state["top"] <= y < self.state["bottom"])


class Pickers:
    """Those of one session; at most one is open."""

    def __init__(self, prepared: Prepared, surroundings: Surroundings, tell: Callable[[Event], None]):
        """
        Args:
            prepared: The session's context.
            surroundings: What the pickers are drawn in.
            tell: Takes what a person would be told.
        """
        self._prepared, self._surroundings = prepared, surroundings
        self._tell = tell
        self._overlay: Overlay | None = None
        self._open: _Open | None = None
        self._found: tuple[_Open, str] | None = None
        self._silenced: asyncio.Task[dict[str, Any] | None] | None = None
        self._pressed = False  # a button is down that was pressed on the picker

    @property
    def kind(self) -> str:
        """Of the picker that is open; empty if none is."""
        return str(self._open.spec["kind"]) if self._open else ""

    def watch(self, tab: Tab) -> None:
        """Learn of the pickers of a tab."""

        def found(event: dict[str, Any]) -> None:
            if event["name"] == _BINDING:
                opened = _Open(tab, event["executionContextId"], {}, {})
                self._found = opened, event["payload"]
                if event["payload"] in ("native", "again"):
                    self._silenced = asyncio.get_running_loop().create_task(self._silence(opened))
                    self._silenced.add_done_callback(lambda done: done.cancelled() or done.exception())

        tab.channel.on("Runtime.bindingCalled", found)
        tab.channel.tell("Runtime.addBinding", {"name": _BINDING, "executionContextName": WORLD})

    async def perform(self, action: Action, tab: Tab, hand: Input) -> None:
        """Do an action on the picker that it falls on, else on the page."""
        opened = self._open
        if opened is None or opened.tab is not tab or not self._takes(action, opened):
            if opened is not None and _leaves(action):
                await self._close(opened.state["show"])
            await hand.perform(action, tab)
            return
        assert self._overlay is not None
        async with self._overlay.tab.camera.watched():
            await hand.perform(action, self._overlay.tab)
        self._pressed = isinstance(action, MouseDown) or (self._pressed and isinstance(action, Move))
        opened.state = await self._overlay.state()
        if opened.state["done"]:
            await self._close(opened.state["value"])
            if opened.state["passed"]:
                await hand.perform(action, tab)
        elif opened.state["show"] is not None:
            await self._ask(opened, f"pickers.show({json.dumps(opened.state['show'])})")

    async def follow(self, tab: Tab) -> None:
        """Replace the native picker that has opened on a settled page, or redraw ours where its control has changed."""
        found, self._found = self._found, None
        if found is not None and found[1] == "hidden":
            found = await self._open_root(found[0])
        if found is not None and not (found[1] == "suggestions" and self._open is not None):
            await self._replace(*found)
        elif self._open is not None:
            await self._refresh(tab, self._open)

    async def over(self, png: bytes) -> bytes:
        """A picture of the page with the picker that is open."""
        if self._open is None or self._overlay is None:
            return png
        return await self._overlay.over(png)

    async def aim(self, index: int) -> dict[str, Any]:
        """Where an option of the open list is: its kind is point, scroll or absent."""
        if self._open is None or self._overlay is None:
            return {"kind": "absent"}
        return await self._overlay.aim(index)

    async def close(self) -> None:
        """End the overlay."""
        if self._silenced is not None:
            self._silenced.cancel()
        overlay, self._overlay, self._open = self._overlay, None, None
        if overlay is not None:
            await overlay.close()

    def _takes(self, action: Action, opened: _Open) -> bool:
        """Whether an action is the picker's."""
        match action:
            case Move() | MouseUp() if self._pressed:
                return True
            case Click(x=x, y=y) | Move(x=x, y=y) | MouseDown(x=x, y=y) | Scroll(x=x, y=y):
                return opened.covers(x, y)
            case Drag(path=path):
                return opened.covers(*path[0])
            case Key(chord=chord) | HoldKey(chord=chord) if opened.spec["kind"] == "suggestions":
                pressed = parse_chord(chord)
                return pressed.stroke is not None and pressed.stroke.key in _LIST_KEYS and not pressed.modifiers
            case Key() | HoldKey():
                return True
            case Type():
                return opened.spec["kind"] != "suggestions"
        return False

    # --- from the native picker to ours --------------------------------------------------------------------

    async def _replace(self, opened: _Open, what: str) -> None:
        """What was found is "native", "again" (by the click that closed ours) or "suggestions"."""
        closing, self._silenced = self._silenced, None
        spec = await (closing or self._ask(opened, "pickers.describe()"))
        if spec is None or what == "again":
            await self._forget()
            return
        self._tell(Event("picker", _title(spec), "opened"))
        await self._draw(opened, spec)

    async def _silence(self, opened: _Open) -> dict[str, Any] | None:
        """Close the native picker; what it offered."""
        spec = await self._ask(opened, "pickers.hush()")
        await self._escape(opened)
        await self._ask(opened, "pickers.heard()")
        return spec

    async def _escape(self, opened: _Open) -> None:
        for _ in range(_TRIES):
            await _press(opened.tab, "Escape")
            if await self._ask(opened, "pickers.gone()") is not False:
                break

    async def _draw(self, opened: _Open, spec: dict[str, Any]) -> None:
        box = await self._box(opened, spec["width"])
        if box is None:
            await self._forget()
            return
        if self._overlay is None:
            self._overlay = await Overlay.open(self._prepared, self._surroundings)
        opened.spec, opened.box = spec, box
        opened.state = await self._overlay.draw(spec, box)
        self._open = opened

    async def _refresh(self, tab: Tab, opened: _Open) -> None:
        """Follow a control that moved, changed or went away."""
        spec = await self._ask(opened, "pickers.describe()") if opened.tab is tab else None
        if spec is None:
            await self._close(None)
            return
        box = await self._box(opened, spec["width"])
        if box != opened.box or {**spec, "value": ""} != {**opened.spec, "value": ""}:
            await self._draw(opened, spec)

    async def _box(self, opened: _Open, width: float) -> dict[str, float] | None:
        """The control's, CSS px of the viewport, through frames, zoom and transforms; None if it has none."""
        channel = opened.tab.channel
        try:
            found = await channel.send(
                "Runtime.evaluate", {"expression": "pickers.control()", "contextId": opened.world}
            )
            model = await channel.send("DOM.getBoxModel", {"objectId": found["result"]["objectId"]})
        except (WireError, KeyError):
            return None
        quad = model["model"]["border"]
        left, right, top, bottom = min(quad[::2]), max(quad[::2]), min(quad[1::2]), max(quad[1::2])
        return {"left": left, "top": top, "right": right, "bottom": bottom, "scale": (right - left) / (width or 1)}

    async def _open_root(self, opened: _Open) -> tuple[_Open, str] | None:
        """Let our world see into the closed shadow root that has the focus, if there is one, and look again."""
        send, world = opened.tab.channel.send, opened.world
        try:
            host = (await send("Runtime.evaluate", {"expression": "pickers.host()", "contextId": world}))["result"]
            node = (await send("DOM.describeNode", {"objectId": host["objectId"], "depth": 0}))["node"]
            roots = [root for root in node.get("shadowRoots", ()) if root["shadowRootType"] == "closed"]
            places = ({"backendNodeId": root["backendNodeId"], "executionContextId": world} for root in roots)
            inside = [(await send("DOM.resolveNode", place))["object"]["objectId"] for place in places]
            look = {
                "functionDeclaration": "function(root = null) { pickers.open(this, root) }",
                "objectId": host["objectId"],
                "arguments": [{"objectId": root} for root in inside],
            }
            await send("Runtime.callFunctionOn", look)
        except (WireError, KeyError):
            return None  # the document has gone
        found, self._found = self._found, None
        return found if found is None or found[1] != "hidden" else await self._open_root(found[0])

    # --- from ours to the control --------------------------------------------------------------------------

    async def _close(self, value: str | int | None) -> None:
        """Take the picker away; a value is brought to the control first."""
        opened = self._open
        assert opened is not None
        if value is not None:
            await self._bring(opened, value)
        else:
            self._tell(Event("picker", "without a choice", "closed"))
        await self._ask(opened, "pickers.hide()")
        await self._forget()

    async def _bring(self, opened: _Open, value: str | int) -> None:
        keys = await self._ask(opened, f"pickers.bring({json.dumps(value)})")
        if keys is None:
            self._tell(Event("picker", "its control is no longer there", "closed"))
            return
        for number, key in enumerate(keys):
            if number:
                await self._ask(opened, "pickers.back()")
            await _press(opened.tab, key)
        if keys and not await self._has_come(opened, keys[-1]):
            await self._escape(opened)
        await self._ask(opened, "pickers.finish()")
        self._tell(Event("picker", _text(opened.spec, value), "chosen"))

    async def _has_come(self, opened: _Open, key: str) -> bool:
        """Wait for the choice's events; a native picker misses keys that come before it is drawn."""
        for _ in range(_TRIES if key == "Enter" else 1):
            if await self._ask(opened, "pickers.come()") is not False:
                return True
            if key == "Enter":
                await _press(opened.tab, key)
        return key != "Enter"

    async def _forget(self) -> None:
        self._open, self._pressed = None, False
        if self._overlay is not None:
            await self._overlay.clear()

    async def _ask(self, opened: _Open, expression: str) -> Any:
        """The value of an expression in our world; None if the document has gone."""
        parameters = {
            "expression": expression, "contextId": opened.world, "returnByValue": True, "awaitPromise": True, "userGesture": True
        }  # fmt: skip
        try:
            reply = await opened.tab.channel.send("Runtime.evaluate", parameters)
        except WireError:
            return None
        return reply["result"].get("value")


async def _press(tab: Tab, key: str) -> None:
    """A key that the page is not shown."""
    text = {"Enter": "\r", "Space": " "}.get(key, "")
    stroke = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
    down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
    events = ({**down, **stroke}, {"type": "keyUp", **stroke})
    await asyncio.gather(*(tab.channel.send("Input.dispatchKeyEvent", event) for event in events))


def _leaves(action: Action) -> bool:
    """Whether an action beside a picker closes it."""
    return isinstance(action, Click | MouseDown | Scroll | Drag)


def _title(spec: dict[str, Any]) -> str:
    """What opened, such as: list of 4 options for "Country"."""
    kind = spec["kind"]
    if kind in ("list", "suggestions"):
        count = sum("index" in item for item in spec["items"])
        kind = f"list of {count} {'option' if kind == 'list' else 'suggestion'}{'s' * (count != 1)}"
    else:
        kind = _NAMES.get(kind, f"{kind} picker")
    return f'{kind} for "{spec["name"]}"' if spec["name"] else kind


def _text(spec: dict[str, Any], value: str | int) -> str:
    """What a person reads of a choice."""
    return next((item["text"] for item in spec.get("items", ()) if item.get("index") == value), str(value))
