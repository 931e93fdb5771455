"""All that `uigym bench env` measures: pages by size by side, slots, resets, memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uigym.bench.browsergym import BrowserGymSide
from uigym.bench.cells import measure_cell
from uigym.bench.machine import circumstances, load
from uigym.bench.memory import measure_slots
from uigym.bench.pages import PAGES, PageServer
from uigym.bench.resets import measure_resets
from uigym.bench.sides import OurSide, Side, Size, playwright_side, raw_side
from uigym.bench.sweep import measure_sweep
from uigym.errors import ConfigError, did_you_mean
from uigym.harness import Harness

VIEWPORTS: tuple[Size, ...] = ((320, 240), (1024, 768), (1280, 720))
SLOTS = (1, 2, 4, 8, 16)
AGAINST = ("frames", "raw", "playwright", "browsergym")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure."""

    pages: tuple[str, ...] = tuple(PAGES)
    viewports: tuple[Size, ...] = VIEWPORTS
    against: tuple[str, ...] = ()
    rounds: int = 6
    """Turns of each side in each cell."""
    sweep: bool = False
    """Also steps per second by slots."""
    browsergym_python: Path | None = None

    def __post_init__(self) -> None:
        for kind, given, known in (("page", self.pages, PAGES), ("side", self.against, AGAINST)):
            for name in given:
                if name not in known:
                    raise ConfigError(f'there is no {kind} "{name}". {did_you_mean(name, known)}')
        if self.rounds < 1 or not self.pages or not self.viewports:
            raise ConfigError(f"nothing to measure: {self.rounds} rounds, {self.pages}, {self.viewports}")

    def others(self, viewport: Size) -> dict[str, Side]:
        """The sides to compare with, one slot each.

        Raises:
            ConfigError: BrowserGym is wanted, and where it is was not said.
        """
        sides: dict[str, Side] = {}
        if "frames" in self.against:
            sides["uigym frames"] = OurSide(1, viewport, capture="frames")
        if "raw" in self.against:
            sides["raw"] = raw_side(1, viewport)
        if "playwright" in self.against:
            sides["playwright"] = playwright_side(1, viewport)
        if "browsergym" in self.against:
            sides["browsergym"] = BrowserGymSide(self.browsergym_python, viewport, stripped=False)
            sides["browsergym stripped"] = BrowserGymSide(self.browsergym_python, viewport, stripped=True)
        return sides


async def bench_pages(
    plan: Plan, harness: Harness, progress: Callable[[float], None] = lambda share: None
) -> dict[str, Any]:
    """Measure everything in the plan, and resets of a harness.

    Args:
        plan: Pages, sizes, sides.
        harness: Whose resets are measured.
        progress: Called with the share that is done, 0 to 1.

    Returns:
        JSON values: `cells` (page by size), `memory`, `resets` (by route), `sweep`, the machine and the versions.

    Raises:
        ConfigError: BrowserGym is wanted and not there.
        BrowserError, ProductError: Something did not start, or broke.
    """
    load_before, server = load(), PageServer()
    parts = len(plan.viewports) * len(plan.pages) * (2 + plan.sweep) + 1
    result: dict[str, Any] = {"rounds": plan.rounds, "cells": [], "memory": [], "sweep": []}
    done = 0

    def note(part: str, entry: dict[str, Any]) -> None:
        nonlocal done
        done += 1
        result[part].append(entry)
        progress(done / parts)

    chromium = ""
    await server.start()
    try:
        for viewport in plan.viewports:
            size = {"viewport": list(viewport)}
            async with _sides(plan, viewport) as (ours, others):
                chromium = ours.chromium
                for page in plan.pages:
                    cell = await measure_cell(f"{server.url}/{page}", ours, others, plan.rounds)
                    note("cells", {"page": page, **size, **cell})
            for page in plan.pages:
                url = f"{server.url}/{page}"
                note("memory", {"page": page, **size, **await measure_slots(url, viewport)})
                if plan.sweep:
                    counts = await measure_sweep(url, viewport, SLOTS, -(-plan.rounds // 2))
                    note("sweep", {"page": page, **size, "counts": counts})
    finally:
        await server.close()
    result["resets"] = {"harness": harness.name, **await measure_resets(harness, plan.rounds)}
    progress(1.0)
    return {**result, **circumstances(load_before, chromium)}


@asynccontextmanager
async def _sides(plan: Plan, viewport: Size) -> AsyncIterator[tuple[OurSide, dict[str, Side]]]:
    ours, others = OurSide(1, viewport), plan.others(viewport)
    started: list[Side] = []
    try:
        for side in (ours, *others.values()):
            started.append(side)
            await side.start()
        yield ours, others
    finally:
        await asyncio.gather(*(side.close() for side in started), return_exceptions=True)
