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
from uigym.browser import Browser, find_chromium
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
    """What one side did, a number per round or per act."""

    rates: list[float] = field(default_factory=list)
    """Steps per second over all slots, by round."""
    step_ms: list[float] = field(default_factory=list)
    reset_ms: list[float] = field(default_factory=list)
    own_cpu_ms: list[float] = field(default_factory=list)
    """Of this process (product, environment, client) per step, by round."""
    browser_cpu_ms: list[float] = field(default_factory=list)
    """Of Chromium and Playwright's driver per step, by round."""

    def summary(self) -> dict[str, Any]:
        """Medians and quantiles as JSON values."""
        return {
            "steps_per_s": _median(self.rates),
            "steps": len(self.step_ms),
            "step_ms": {"p50": _median(self.step_ms), "p90": _p90(self.step_ms)},
            "cpu_ms_per_step": {"own": _median(self.own_cpu_ms), "browser": _median(self.browser_cpu_ms)},
            "reset_ms": {"p50": _median(self.reset_ms), "p90": _p90(self.reset_ms)},
        }


class OurSide:
    """Environments of this harness, settling included."""

    def __init__(self, harness: Harness, slots: int, browsers: int):
        self._harness = harness
        self._browsers: list[Browser] = []
        self._envs: list[Env] = []
        self._slots, self._count = slots, browsers

    async def start(self) -> None:
        for _ in range(self._count):
            self._browsers.append(await Browser.launch())
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
        raise ConfigError(f"{harness.name} is a product that runs elsewhere ({harness.url}): random clicks would change it")
    count = browsers or -(-slots // SLOTS_PER_BROWSER)
    sides: dict[str, Side] = {"uigym": OurSide(harness, slots, count), "playwright": PlainSide(harness, slots)}
    tallies = {name: Tally() for name in sides}
    load = os.getloadavg()[0]
    try:
        for side in sides.values():
            await side.start()
        rounds = max(1, round(seconds / (2 * ROUND_S)))
        for number in range(rounds):
            for name, side in sides.items():
                await _round(side, tallies[name], harness, slots, number)
            progress((number + 1) / rounds)
    finally:
        await asyncio.gather(*(side.close() for side in sides.values()), return_exceptions=True)
    setting = {"harness": harness.name, "viewport": list(harness.viewport), "slots": slots, "browsers": count, "rounds": rounds}
    return {**setting, **_compared(tallies), **_machine(load)}


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
    took, after = time.perf_counter() - began, _cpu_ms()
    tally.step_ms += steps
    tally.rates.append(len(steps) / took)
    if before and after:
        tally.own_cpu_ms.append((after[0] - before[0]) / len(steps))
        tally.browser_cpu_ms.append((after[1] - before[1]) / len(steps))


def _compared(tallies: dict[str, Tally]) -> dict[str, Any]:
    ours, theirs = tallies["uigym"], tallies["playwright"]
    pairs = [a / b for a, b in zip(ours.rates, theirs.rates, strict=True)]
    cpu = [sum(costs) / len(costs) for costs in ((*ours.own_cpu_ms,), (*theirs.own_cpu_ms,)) if costs]
    return {
        "uigym": ours.summary(),
        "playwright": theirs.summary(),
        "ratio": {"steps_per_s": _median(pairs), "by_round": [round(pair, 3) for pair in pairs], "cpu": cpu},
    }


def _median(values: list[float]) -> float | None:
    return round(statistics.median(values), 3) if values else None


def _p90(values: list[float]) -> float | None:
    return round(sorted(values)[int(len(values) * 0.9)], 3) if values else None


# --- the machine -------------------------------------------------------------------------------------------


def _cpu_ms() -> tuple[float, float] | None:
    """CPU time of (this process, its descendants) so far, ms; None where /proc does not tell."""
    if not Path("/proc/self/stat").exists():
        return None
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


def _machine(load: float) -> dict[str, Any]:
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
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
            "chromium": find_chromium().name,
        },
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
