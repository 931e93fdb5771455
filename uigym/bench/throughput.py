"""Steps per second of a harness's environments, beside plain Playwright in the same run."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable
from typing import Any, Protocol

from uigym.bench.machine import circumstances, load
from uigym.bench.processes import tree
from uigym.bench.tally import Tally, measured, timed
from uigym.browser import Browser
from uigym.browser.plain import PlainPlaywright
from uigym.env import Env
from uigym.errors import ConfigError
from uigym.harness import Harness
from uigym.product import Product
from uigym.slot import Limits
from uigym.types import Click

ROUND_S = 2.5
"""The two sides take turns of this length, so that whatever else the machine does meets both."""
SLOTS_PER_BROWSER = 4
_ENDLESS = Limits(max_steps=1_000_000_000, episode_s=1e9)


class Side(Protocol):
    """One of the two things that are compared."""

    async def start(self) -> None: ...
    async def reset(self, slot: int, seed: int) -> None: ...
    async def click(self, slot: int, x: float, y: float) -> None: ...
    async def close(self) -> None: ...


class OurSide:
    """Environments of this harness, settling included."""

    def __init__(self, harness: Harness, slots: int, browsers: int):
        self._harness = harness
        self._browsers: list[Browser] = []
        self._envs: list[Env] = []
        self._slots, self._count = slots, browsers
        self.chromium = ""
        """Version."""

    async def start(self) -> None:
        for _ in range(self._count):
            self._browsers.append(await Browser.launch())
        self.chromium = self._browsers[0].version
        for slot in range(self._slots):
            self._envs.append(Env(self._harness, self._browsers[slot % self._count], limits=_ENDLESS))
            await self._envs[-1].start()

    async def reset(self, slot: int, seed: int) -> None:
        await self._envs[slot].reset(next(iter(self._harness.tasks)), seed)

    async def click(self, slot: int, x: float, y: float) -> None:
        await self._envs[slot].step(Click(x, y))

    async def close(self) -> None:
        await asyncio.gather(*(env.close() for env in self._envs))
        await asyncio.gather(*(browser.close() for browser in self._browsers))


class PlainSide:
    """The same products under Playwright as it comes."""

    def __init__(self, harness: Harness, slots: int):
        self._harness = harness
        self._products = [Product(harness) for _ in range(slots)]
        self._browser = PlainPlaywright(slots, harness.viewport)

    async def start(self) -> None:
        await self._browser.start()
        for product in self._products:
            await product.start()

    async def reset(self, slot: int, seed: int) -> None:
        product = self._products[slot]
        await product.reset(seed)
        await self._browser.open(slot, product.base_url + self._harness.home)

    async def click(self, slot: int, x: float, y: float) -> None:
        await self._browser.click(slot, x, y)

    async def close(self) -> None:
        await self._browser.close()
        await asyncio.gather(*(product.stop() for product in self._products))


async def bench_env(
    harness: Harness,
    seconds: float = 30.0,
    slots: int = 4,
    browsers: int | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Measure steps, their latency and CPU time, and resets; the same for plain Playwright, in turns.

    A step is a click at a point drawn from a fixed seed, and the picture after it; both sides click the same points.

    Args:
        harness: The product.
        seconds: Of stepping, both sides together; starting and resetting come on top.
        slots: Environments at once.
        browsers: Chromium processes they share; None is one for every four slots.
        progress: Called with the share that is done, 0 to 1.

    Returns:
        JSON values: `uigym` and `playwright` with their medians, `ratio` between them, the machine and the versions.

    Raises:
        ConfigError: A number cannot be used.
        ProductError, BrowserError: Something did not start, or broke.
    """
    if seconds <= 0 or slots < 1 or (browsers is not None and browsers < 1):
        raise ConfigError(f"bench needs seconds > 0, slots >= 1 and browsers >= 1, not {seconds}, {slots}, {browsers}")
    if harness.url:
        raise ConfigError(
            f"{harness.name} is a product that runs elsewhere ({harness.url}): random clicks would change it"
        )
    count = browsers or -(-slots // SLOTS_PER_BROWSER)
    ours, theirs = OurSide(harness, slots, count), PlainSide(harness, slots)
    tallies = Tally(), Tally()
    load_before = load()
    rounds = max(1, round(seconds / (2 * ROUND_S)))
    try:
        await ours.start()
        await theirs.start()
        for number in range(rounds):
            turns: list[tuple[Side, Tally]] = [(ours, tallies[0]), (theirs, tallies[1])]
            for side, tally in turns if number % 2 else turns[::-1]:
                await _round(side, tally, harness, slots, number)
            progress((number + 1) / rounds)
    finally:
        await asyncio.gather(ours.close(), theirs.close(), return_exceptions=True)
    setting = {
        "harness": harness.name,
        "viewport": list(harness.viewport),
        "slots": slots,
        "browsers": count,
        "rounds": rounds,
    }
    return {**setting, **_compared(*tallies), **circumstances(load_before, ours.chromium)}


async def _round(side: Side, tally: Tally, harness: Harness, slots: int, number: int) -> None:
    for slot in range(slots):
        tally.reset_ms.append(await timed(side.reset(slot, number * slots + slot)))
    width, height = harness.viewport

    async def drive(slot: int, end: float, steps: list[float]) -> None:
        draw = random.Random(f"{number}:{slot}")
        while time.perf_counter() < end:
            steps.append(await timed(side.click(slot, draw.randrange(width), draw.randrange(height))))

    async def drive_all(steps: list[float]) -> None:
        end = time.perf_counter() + ROUND_S
        await asyncio.gather(*(drive(slot, end, steps) for slot in range(slots)))

    await measured(tally, tree(os.getpid()), drive_all)


def _compared(ours: Tally, theirs: Tally) -> dict[str, Any]:
    rounds = zip(ours.steps, ours.seconds, theirs.steps, theirs.seconds, strict=True)
    return {
        "uigym": ours.summary(),
        "playwright": theirs.summary(),
        "ratio": {
            "steps_per_s": round(ours.steps_per_s / theirs.steps_per_s, 3),
            "steps_per_s_by_round": [round((a / s) / (b / t), 3) for a, s, b, t in rounds],
            "steps_per_cpu_s": round(theirs.cpu_ms / ours.cpu_ms, 3) if ours.cpu_ms else None,
        },
    }
