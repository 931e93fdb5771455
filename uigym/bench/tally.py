"""What one side did, and what it cost."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from uigym.bench.processes import cpu_ms


@dataclass
class Tally:
    """A number per act or per round."""

    step_ms: list[float] = field(default_factory=list)
    reset_ms: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """By round, over all slots."""
    seconds: list[float] = field(default_factory=list)
    """By round."""
    own_cpu_ms: list[float] = field(default_factory=list)
    """By round; of this process: client, environment, bundled product."""
    browser_cpu_ms: list[float] = field(default_factory=list)
    """By round; of Chromium and, where there is one, Playwright's driver."""

    @property
    def steps_per_s(self) -> float:
        """Over all slots and rounds."""
        return sum(self.steps) / sum(self.seconds)

    @property
    def cpu_ms(self) -> float:
        """Per step; 0 where the system does not tell."""
        return (sum(self.own_cpu_ms) + sum(self.browser_cpu_ms)) / sum(self.steps)

    @property
    def cpu_ms_by_round(self) -> list[float]:
        """Per step."""
        rounds = zip(self.own_cpu_ms, self.browser_cpu_ms, self.steps, strict=True)
        return [(own + browser) / count for own, browser, count in rounds]

    def add_round(self, step_ms: list[float], seconds: float, own_cpu_ms: float, browser_cpu_ms: float) -> None:
        """Count the steps of a round."""
        self.step_ms += step_ms
        self.steps.append(len(step_ms))
        self.seconds.append(seconds)
        self.own_cpu_ms.append(own_cpu_ms)
        self.browser_cpu_ms.append(browser_cpu_ms)

    def summary(self) -> dict[str, Any]:
        """JSON values."""
        count = sum(self.steps)
        return {
            "steps": count,
            "steps_per_s": round(self.steps_per_s, 2),
            "steps_per_s_by_round": [round(n / t, 2) for n, t in zip(self.steps, self.seconds, strict=True)],
            "step_ms": quantiles(self.step_ms),
            "reset_ms": quantiles(self.reset_ms),
            "cpu_ms_per_step": {
                "own": round(sum(self.own_cpu_ms) / count, 2),
                "browser": round(sum(self.browser_cpu_ms) / count, 2),
                "total": round(self.cpu_ms, 2),
            },
        }


def quantiles(values: list[float]) -> dict[str, float]:
    """Median and 90 %; empty where nothing was measured."""
    if not values:
        return {}
    return {
        "p50": round(statistics.median(values), 2),
        "p90": round(sorted(values)[int(len(values) * 0.9)], 2),
    }


async def timed(act: Awaitable[object]) -> float:
    """How long it takes, ms."""
    began = time.perf_counter()
    await act
    return (time.perf_counter() - began) * 1000


async def measured(tally: Tally, pids: Iterable[int], drive: Callable[[list[float]], Awaitable[object]]) -> None:
    """Add a round: `drive` appends the time of each step, and these processes and our own did the work."""
    browser, own = set(pids) - {os.getpid()}, time.process_time()
    browser_ms, began, steps = cpu_ms(browser), time.perf_counter(), list[float]()
    await drive(steps)
    seconds = time.perf_counter() - began
    tally.add_round(steps, seconds, (time.process_time() - own) * 1000, cpu_ms(browser) - browser_ms)
