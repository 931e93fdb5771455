"""Learning rates over a run: up at the beginning, down to its end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Decay: TypeAlias = Literal["none", "linear", "cosine"]
SHAPES: dict[str, Callable[[float], float]] = {
    "none": lambda x: 1.0,
    "linear": lambda x: 1.0 - x,
    "cosine": lambda x: (1.0 + math.cos(math.pi * x)) / 2,
}
"""From 1, where the decay begins (0), to 0 at the end of the run (1)."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The learning rate of each update."""

    rate: float
    """The highest one."""
    warmup: int = 0
    """Updates over which it rises from 0."""
    decay: Decay = "none"
    """How it falls after those."""
    floor: float = 0.1
    """Share of it that is left at the end, where it falls."""

    def at(self, done: int, total: int, gone: float = 0.0) -> float:
        """The rate of the next update.

        Args:
            done: Updates before it.
            total: Updates of the whole run.
            gone: Share of the run's time that is gone, where that is bounded: it ends by updates or by time, whichever is sooner.

        Example:
            >>> [Schedule(1.0, warmup=2, decay="linear", floor=0.5).at(n, 6) for n in range(6)]
            [0.5, 1.0, 1.0, 0.875, 0.75, 0.625]
        """
        if done < self.warmup:
            return self.rate * (done + 1) / self.warmup
        begun = min(1.0, self.warmup / max(total, 1))
        behind = max(done / max(total, 1), gone)
        fallen = (min(1.0, behind) - begun) / (1 - begun) if begun < 1 else 0.0
        return self.rate * (self.floor + (1 - self.floor) * SHAPES[self.decay](max(0.0, fallen)))
