"""What time goes to: how many are in which phase, added up over time."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by phase since a beginning; the difference of two of them is what lies between."""

    wall: float = 0.0
    """Seconds that went by."""
    total: Mapping[str, float] = field(default_factory=dict)
    """Of each phase, for each who was in it: with two in it a second counts twice."""
    some: Mapping[str, float] = field(default_factory=dict)
    """Of each phase, while at least one was in it."""

    def since(self, earlier: Spent) -> Spent:
        """What was added after `earlier`."""
        return Spent(
            self.wall - earlier.wall,
            {phase: value - earlier.total.get(phase, 0.0) for phase, value in self.total.items()},
            {phase: value - earlier.some.get(phase, 0.0) for phase, value in self.some.items()},
        )

    def share(self, *phases: str, of: int = 1) -> float:
        """Part of the time of `of` workers that went to the phases, in [0, 1]; 0 where no time went by.

        Example:
            >>> Spent(10.0, {"act": 6.0, "wait": 2.0}).share("act", of=2)
            0.3
        """
        return sum(self.total.get(phase, 0.0) for phase in phases) / (self.wall * of) if self.wall > 0 else 0.0


class Busy:
    """Counts who is in which phase. All calls come from one event loop.

    Args:
        clock: Seconds from somewhere on, never falling.

    Example:
        >>> now = [0.0]
        >>> busy = Busy(lambda: now[0])
        >>> with busy.phase("act"), busy.phase("act"):
        ...     now[0] = 3.0
        >>> now[0] = 4.0
        >>> busy.spent().total["act"], busy.spent().some["act"], busy.spent().share("act", of=2)
        (6.0, 3.0, 0.75)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._begun = self._at = clock()
        self._now: Counter[str] = Counter()
        self._held: Counter[str] = Counter()
        self._total: defaultdict[str, float] = defaultdict(float)
        self._some: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """One more is in the phase meanwhile."""
        self._add()
        self._now[name] += 1
        try:
            yield
        finally:
            self._add()
            self._now[name] -= 1

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Those in the phase stand still meanwhile: their time counts for nothing."""
        self._add()
        self._held[name] += 1
        try:
            yield
        finally:
            self._add()
            self._held[name] -= 1

    def spent(self) -> Spent:
        """Up to now, those who are still in a phase included."""
        self._add()
        return Spent(self._at - self._begun, dict(self._total), dict(self._some))

    def _add(self) -> None:
        now = self._clock()
        passed, self._at = now - self._at, now
        for phase, count in self._now.items():
            if count and not self._held[phase]:
                self._total[phase] += passed * count
                self._some[phase] += passed
