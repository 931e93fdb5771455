"""Whom to ask whether a page has settled: the page itself, its frames of other processes, its workers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
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


_VALUE = {"returnByValue": True, "userGesture": True}
_AWAITED = {"returnByValue": True, "awaitPromise": True}


def _calm(reply: dict[str, Any] | None) -> Calm | None:
    # No script of ours runs in a frame whose sandbox forbids them, nor is there anything to wait for.
    return None if reply is None else Calm(reply["result"].get("value", Calm.CALM))


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
        self._evaluating: set[tuple[int, asyncio.Future[dict[str, Any]]]] = set()
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
            asking = f"function () {{ return this({ms}, {first}) }}"
            told = {"functionDeclaration": asking, "objectId": self.asker, **_AWAITED}
            return _calm(await self.channel.send("Runtime.callFunctionOn", told))
        worlds = list(self.worlds.values())
        expression = f"settle({ms}, {frames}, {first})"
        if len(worlds) == 1:
            return _calm(await self.evaluate(expression, worlds[0], _AWAITED))
        asked = (self.evaluate(expression, world, _AWAITED) for world in worlds)
        return together([_calm(reply) for reply in await asyncio.gather(*asked)])

    async def evaluate(self, expression: str, world: int, options: Mapping[str, Any] = _VALUE) -> dict[str, Any] | None:
        """Run our own script; the protocol's answer, None if the document went away."""
        sent = self.channel.send("Runtime.evaluate", {"expression": expression, "contextId": world, **options})
        waiting = world, sent
        self._evaluating.add(waiting)
        try:
            return await sent
        except WireGone:
            raise
        except WireError:
            return None  # another document comes
        finally:
            self._evaluating.discard(waiting)

    def leave(self, world: int | None = None) -> None:
        """A document (None: all of them) is gone; not every question to it gets an answer from Chromium."""
        self.worlds = {frame: other for frame, other in self.worlds.items() if world not in (None, other)}
        self.release(world)

    def release(self, world: int | None = None) -> None:
        """Whoever waits for an answer of a document (None: of any) waits in vain."""
        for asked, sent in self._evaluating:
            if world in (None, asked) and not sent.done():
                sent.set_exception(WireError("the document went away"))

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
        except WireError:
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
        self.leave()
        if self._asking:
            self._asking.cancel()
