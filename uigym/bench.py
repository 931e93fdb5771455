"""How fast environments are on this machine, beside plain Playwright in the same run."""

from __future__ import annotations

import asyncio
import datetime
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from uigym import __version__
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


@dataclass
class Tally:
    """What one side did, a number per act or per round."""

    step_ms: list[float] = field(default_factory=list)
    reset_ms: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """By round, over all slots."""
    seconds: list[float] = field(default_factory=list)
    """By round."""
    own_cpu_ms: float = 0.0
    """Of this process: product, environment, client."""
    browser_cpu_ms: float = 0.0
    """Of Chromium and Playwright's driver."""

    @property
    def steps_per_s(self) -> float:
        """Over all slots and rounds."""
        return sum(self.steps) / sum(self.seconds)

    @property
    def cpu_ms(self) -> float:
        """Per step; 0 where the system does not tell."""
        return (self.own_cpu_ms + self.browser_cpu_ms) / sum(self.steps)

    def summary(self) -> dict[str, Any]:
        """JSON values."""
        count = sum(self.steps)
        return {
            "steps": count,
            "steps_per_s": round(self.steps_per_s, 2),
            "steps_per_s_by_round": [round(n / t, 2) for n, t in zip(self.steps, self.seconds, strict=True)],
            "step_ms": _quantiles(self.step_ms),
            "reset_ms": _quantiles(self.reset_ms),
            "cpu_ms_per_step": {
                "own": round(self.own_cpu_ms / count, 2),
                "browser": round(self.browser_cpu_ms / count, 2),
                "total": round(self.cpu_ms, 2),
            },
        }


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
    load = os.getloadavg()[0]
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
    return {**setting, **_compared(*tallies), **_machine(load, ours.chromium)}


async def _round(side: Side, tally: Tally, harness: Harness, slots: int, number: int) -> None:
    for slot in range(slots):
        began = time.perf_counter()
        await side.reset(slot, number * slots + slot)
        tally.reset_ms.append((time.perf_counter() - began) * 1000)
    width, height = harness.viewport
    end = time.perf_counter() + ROUND_S
    steps: list[float] = []

    async def drive(slot: int) -> None:
        draw = random.Random(f"{number}:{slot}")
        while (began := time.perf_counter()) < end:
            await side.click(slot, draw.randrange(width), draw.randrange(height))
            steps.append((time.perf_counter() - began) * 1000)

    before, began = _cpu_ms(), time.perf_counter()
    await asyncio.gather(*(drive(slot) for slot in range(slots)))
    tally.seconds.append(time.perf_counter() - began)
    after = _cpu_ms()
    tally.steps.append(len(steps))
    tally.step_ms += steps
    tally.own_cpu_ms += after[0] - before[0]
    tally.browser_cpu_ms += after[1] - before[1]


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


def _quantiles(values: list[float]) -> dict[str, float]:
    return {
        "p50": round(statistics.median(values), 2),
        "p90": round(sorted(values)[int(len(values) * 0.9)], 2),
    }


# --- the machine -------------------------------------------------------------------------------------------


def _cpu_ms() -> tuple[float, float]:
    """CPU time of (this process, its descendants) so far, ms; zeros where /proc does not tell."""
    if not Path("/proc/self/stat").exists():
        return 0.0, 0.0
    tick_ms = 1000 / os.sysconf("SC_CLK_TCK")
    parents, times = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            times[int(entry.name)] = (int(fields[11]) + int(fields[12])) * tick_ms
    own = os.getpid()

    def descends(pid: int) -> bool:
        while pid in parents and pid != own:
            pid = parents[pid]
        return pid == own

    return times[own], sum(spent for pid, spent in times.items() if pid != own and descends(pid))


def _machine(load: float, chromium: str) -> dict[str, Any]:
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        processor = names[0] if names else processor
    return {
        "machine": {
            "processor": processor,
            "cores": os.cpu_count(),
            "system": platform.platform(),
            "load_before": round(load, 2),
            "load_after": round(os.getloadavg()[0], 2),
        },
        "versions": {
            "uigym": __version__,
            "python": platform.python_version(),
            "playwright": version("playwright"),
            "chromium": chromium,
        },
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
