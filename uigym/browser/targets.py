"""Whom to ask whether a page has settled: the page itself, its frames of other processes, its workers."""

from __future__ import annotations

import asyncio
from enum import IntEnum
from typing import Any

from uigym.browser.wire import Channel, WireError, WireGone


class Calm(IntEnum):
    """What settle.js answers."""

    WORKING = 0
    """Something is still going on, and the time is over."""
    CALM = 1
    """Nothing was going on."""
    CALMED = 2
    """It is over now."""
    LEFT = 3
    """It is over but for something that seems to have no end."""


def together(answers: list[Calm | None]) -> Calm | None:
    """The answer of several who were asked; None if one of them went away."""
    if None in answers:
        return None
    known = [answer for answer in answers if answer is not None]
    return Calm.WORKING if Calm.WORKING in known else max(known, default=Calm.CALM)


class Target:
    """A page, a frame of another process, or a worker."""

    def __init__(self, channel: Channel, frame: str = ""):
        """
        Args:
            channel: To it.
            frame: Its outermost frame; empty for a worker.
        """
        self.channel = channel
        self.frame = frame
        self.worlds: dict[str, int] = {}
        """Frame -> JavaScript context in which settle.js runs."""
        self.asker = ""
        """A worker's function that answers as settle.js does."""
        self._asking: asyncio.Task[Calm | None] | None = None
        self._stuck = False

    async def ask(self, left_s: float, frames: int, fresh: bool) -> Calm | None:
        """Wait until its work is over; None if it went away meanwhile.

        Args:
            left_s: Longest wait.
            frames: Drawn frames to let pass first.
            fresh: Whether this is the first question after an input.
        """
        ms, first = f"{left_s * 1000:.0f}", str(fresh).lower()
        if self.asker:
            return await self._answer(
                "Runtime.callFunctionOn",
                {"functionDeclaration": f"function () {{ return this({ms}, {first}) }}", "objectId": self.asker},
            )
        expression = f"settle({ms}, {frames}, {first})"
        worlds = list(self.worlds.values())
        if len(worlds) == 1:
            return await self._answer("Runtime.evaluate", {"expression": expression, "contextId": worlds[0]})
        return together(
            await asyncio.gather(
                *(self._answer("Runtime.evaluate", {"expression": expression, "contextId": world}) for world in worlds)
            )
        )

    async def _answer(self, method: str, parameters: dict[str, Any]) -> Calm | None:
        try:
            reply = await self.channel.send(method, {**parameters, "awaitPromise": True, "returnByValue": True})
        except WireGone:
            raise
        except WireError:
            return None  # the document went away; another one comes
        return Calm(reply["result"].get("value", Calm.CALM))  # no script runs in a frame whose sandbox forbids them

    async def value(self, expression: str, world: int) -> Any:
        """What our own script evaluates to; None if the document went away."""
        parameters = {"expression": expression, "contextId": world, "returnByValue": True, "userGesture": True}
        try:
            reply = await self.channel.send("Runtime.evaluate", parameters)
        except WireGone:
            raise
        except WireError:
            return None
        return reply["result"].get("value")

    # --- those that may hang or go without the page ---

    def begin(self, left_s: float, frames: int, fresh: bool) -> asyncio.Task[Calm | None]:
        """Ask without waiting. Who has not yet answered an earlier question is not asked again."""
        if self._asking is None or self._asking.done():
            self._stuck = False
            self._asking = asyncio.create_task(self._try(left_s, frames, fresh))
        return self._asking

    async def _try(self, left_s: float, frames: int, fresh: bool) -> Calm | None:
        try:
            return await self.ask(left_s, frames, fresh)
        except WireGone:
            return Calm.CALMED

    @property
    def stuck(self) -> bool:
        """Whether it hangs since an earlier question."""
        return self._stuck and self._asking is not None and not self._asking.done()

    def give_up(self) -> Calm:
        """Do not wait for it again before it answers. A worker may well sleep for ever; a frame that hangs is not calm."""
        self._stuck = True
        return Calm.WORKING if self.frame else Calm.CALM

    def crash(self) -> None:
        """Nothing will answer any more until another document comes."""
        self.worlds.clear()
        if self._asking:
            self._asking.cancel()
