"""The mouse of one session: where the pointer is, and which buttons are down."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from uigym.browser.keyboard import modifier_bits, modifiers_down, modifiers_up
from uigym.browser.tab import Command, Tab
from uigym.errors import ActionRefused
from uigym.types import Action, Click, Drag, MouseDown, MouseUp, Scroll

BUTTONS = {"left": 1, "right": 2, "middle": 4}
"""Button -> its bit in DOM's MouseEvent.buttons."""
_FAR_PX = 16.0
_BETWEEN = 4  # movements from one point of a drag to the next that is far from it

Point = tuple[float, float]


class Mouse:
    """A page sees what it would see of a hand: movements, buttons with the pressure of a mouse, drag and drop."""

    def __init__(self) -> None:
        self.pointer: Point | None = None
        """CSS px; None before the first movement."""
        self.held = 0
        """Bits of the buttons that are down."""

    def check(self, action: Action) -> None:
        """Refuse to press what is pressed, and to release what is not.

        Raises:
            ActionRefused: The reason, as the policy should read it.
        """
        if not isinstance(action, Click | Drag | MouseDown | MouseUp):
            return
        down = bool(self.held & BUTTONS[action.button])
        if isinstance(action, MouseUp) and not down:
            raise ActionRefused(
                f"mouseup: the {action.button} button is not down; press it with a mousedown action first"
            )
        if not isinstance(action, MouseUp) and down:
            name = type(action).__name__.lower()
            raise ActionRefused(f"{name}: the {action.button} button is down; release it with a mouseup action first")

    async def click(self, click: Click, tab: Tab) -> None:
        """Press and release once or more at a point."""
        bits = modifier_bits(click.modifiers)
        events = [*modifiers_down(click.modifiers), self._moved((click.x, click.y), bits)]
        for count in range(1, click.count + 1):
            events += [self._pressed(click.button, bits, count), self._released(click.button, bits, count)]
        try:
            await tab.send(events)
        finally:
            if click.modifiers:  # apart, since a dialog that opens on the way swallows what follows it at once
                await tab.send(list(modifiers_up(click.modifiers)))

    async def move(self, point: Point, tab: Tab, bits: int = 0) -> None:
        """Move the pointer. With the left button down on something `draggable`, Chromium makes a drag and drop of it."""
        await tab.send([self._moved(point, bits)])

    async def press(self, down: MouseDown, tab: Tab, count: int = 1, bits: int = 0) -> None:
        """Press a button at a point and keep it pressed; the `count`-th time, with modifiers that are down."""
        await tab.send([self._moved((down.x, down.y), bits), self._pressed(down.button, bits, count)])

    async def release(self, up: MouseUp, tab: Tab, count: int = 1, bits: int = 0) -> None:
        """Release a button at a point."""
        if self.pointer != (up.x, up.y):
            await self.move((up.x, up.y), tab, bits)
        await self._let_go(up.button, tab, bits, count)

    async def drag(self, drag: Drag, tab: Tab) -> None:
        """Press at the first point, move through the others, release at the last; one by one, so that no point is lost."""
        bits = modifier_bits(drag.modifiers)
        begin = [self._moved(drag.path[0], bits), self._pressed(drag.button, bits)]
        await tab.send([*modifiers_down(drag.modifiers), *begin])
        try:
            for point in way(drag.path):
                await self.move(point, tab, bits)
        finally:
            await self._let_go(drag.button, tab, bits)
            await tab.send(list(modifiers_up(drag.modifiers)))

    async def carries(self, tab: Tab) -> bool:
        """Whether a drag and drop is under way."""
        return bool(self.held & BUTTONS["left"]) and any(await tab.settler.run("carried()"))

    async def wheel(self, scroll: Scroll, tab: Tab) -> None:
        """Turn the wheel over a point. With Shift it turns sideways, as in every browser on a PC."""
        dx, dy = scroll.dx, scroll.dy
        if "Shift" in scroll.modifiers and not dx:
            dx, dy = dy, 0.0
        bits = modifier_bits(scroll.modifiers)
        turn = [self._moved((scroll.x, scroll.y), bits), self._event("mouseWheel", bits, deltaX=dx, deltaY=dy)]
        await tab.send([*modifiers_down(scroll.modifiers), *turn, *modifiers_up(scroll.modifiers)])

    async def _let_go(self, button: str, tab: Tab, bits: int = 0, count: int = 1) -> None:
        assert self.pointer is not None
        if await self.carries(tab):  # the last movement only entered what is under the pointer; now it is over it
            await self.move(self.pointer, tab, bits)
        await tab.send([self._released(button, bits, count)])

    def _moved(self, point: Point, bits: int = 0) -> Command:
        self.pointer = point
        # Chromium selects text and begins drags only if a movement names the left button.
        held = next((name for name, bit in BUTTONS.items() if self.held & bit), "none")
        return self._event("mouseMoved", bits, button=held)

    def _pressed(self, button: str, bits: int = 0, count: int = 1) -> Command:
        self.held |= BUTTONS[button]
        return self._event("mousePressed", bits, button=button, clickCount=count)

    def _released(self, button: str, bits: int = 0, count: int = 1) -> Command:
        self.held &= ~BUTTONS[button]
        return self._event("mouseReleased", bits, button=button, clickCount=count)

    def _event(self, kind: str, bits: int, **fields: Any) -> Command:
        assert self.pointer is not None
        x, y = self.pointer
        force = 0.5 if self.held else 0.0
        where = {"type": kind, "x": x, "y": y, "buttons": self.held, "modifiers": bits, "force": force}
        return "Input.dispatchMouseEvent", where | fields


def way(path: tuple[Point, ...]) -> Iterator[Point]:
    """The points after the first, with what a hand passes between those that are far from each other."""
    for (x, y), (to_x, to_y) in pairwise(path):
        near = len(path) > 2 and math.dist((x, y), (to_x, to_y)) < _FAR_PX
        count = 1 if near else _BETWEEN
        yield from ((x + (to_x - x) * i / count, y + (to_y - y) * i / count) for i in range(1, count))
        yield to_x, to_y
