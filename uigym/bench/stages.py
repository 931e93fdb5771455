"""Where a step of uigym's own spends its time and its CPU: input, settling, capture, decoding."""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from PIL import Image

from uigym.bench.sides import CLICK, OurSide
from uigym.bench.tally import Tally
from uigym.browser.input import Input

STAGES = ("input", "settle", "capture", "decode")


class Stages:
    """Steps that stop after each of the stages, and whole ones that say where their time went.

    CPU time is the difference between two such steps. The frame that shows what a click did is drawn while one waits, so it counts
    to the stage that waits for it.
    """

    def __init__(self, side: OurSide):
        self._side = side
        self._input = Input()
        self.tallies = {stage: Tally() for stage in STAGES}
        """Of the steps that end with this stage."""
        self.spent: dict[str, list[float]] = {stage: [] for stage in STAGES}
        """ms of wall clock, from whole steps."""

    def steps(self) -> dict[str, Callable[[], Awaitable[object]]]:
        """What to do for a step that ends with this stage."""
        return {"input": self._act, "settle": self._settle, "capture": self._step, "decode": self._decode}

    def summary(self) -> dict[str, Any]:
        """JSON values: medians of wall clock, CPU ms of each stage alone."""
        ends = [self.tallies[stage].cpu_ms for stage in STAGES]
        alone = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
        return {
            stage: {"ms": round(statistics.median(self.spent[stage]), 2), "cpu_ms": round(cpu, 2)}
            for stage, cpu in zip(STAGES, alone, strict=True)
        }

    async def _act(self) -> None:
        tab = self._side.session(0).tab
        async with tab.camera.watched():
            await self._input.perform(CLICK, tab)

    async def _settle(self) -> None:
        await self._act()
        await self._side.session(0).tab.settler.settle()

    async def _step(self) -> bytes:
        frame = await self._side.session(0).step(CLICK)
        for stage, spent in zip(STAGES, frame.spent, strict=False):
            self.spent[stage].append(spent)
        return frame.png

    async def _decode(self) -> None:
        png = await self._step()
        began = time.perf_counter()
        Image.open(io.BytesIO(png)).convert("RGB").tobytes()
        self.spent["decode"].append((time.perf_counter() - began) * 1000)
