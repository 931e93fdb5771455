"""Task by policy: what a run comes to, cell by cell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from uigym.evaluate import wilson
from uigym.viewer.filters import flaky
from uigym.viewer.index import Entry


@dataclass(frozen=True, slots=True)
class Cell:
    """Some episodes, summed up. Lost ones are counted, and count for nothing."""

    episodes: int
    valid: int
    """Those with a verdict."""
    successes: int
    low: float
    """Lower end of the 95 % interval of the success rate."""
    high: float
    score: float
    """Mean reward of the valid ones."""
    steps: float
    """Mean actions of the valid ones."""
    wall_s: float
    """Mean seconds of all."""
    causes: Mapping[str, int]
    """Lost episodes by whose failure it was."""
    flaky: int
    """Seeds that were solved once and not another time."""
    retried: int
    """Episodes whose first try was lost to the machinery."""
    effects: int
    """Episodes with changes that nobody asked for."""
    proven: Mapping[str, int]
    """Demonstrations by whether they count."""

    @property
    def rate(self) -> float:
        """Successes among the valid; 0 where there are none."""
        return self.successes / self.valid if self.valid else 0.0

    @property
    def heat(self) -> int:
        """The rate in tenths; -1 where nothing is known."""
        return round(self.rate * 10) if self.valid else -1


Column = tuple[str, str]
"""(run, policy)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One task."""

    task: str
    cells: Sequence[Cell | None]
    """One for each column; None where it was not played."""


@dataclass(frozen=True, slots=True)
class Grid:
    """All cells."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    totals: Sequence[Cell]
    """One for each column."""


def cell(entries: Sequence[Entry]) -> Cell:
    """Sum up episodes."""
    valid = [entry for entry in entries if entry.success is not None]
    successes = sum(bool(entry.success) for entry in valid)
    low, high = wilson(successes, len(valid))
    return Cell(
        episodes=len(entries),
        valid=len(valid),
        successes=successes,
        low=low,
        high=high,
        score=_mean([entry.score or 0.0 for entry in valid]),
        steps=_mean([entry.steps for entry in valid]),
        wall_s=_mean([entry.wall_s for entry in entries]),
        causes=dict(Counter(entry.cause or "damaged" for entry in entries if entry.success is None).most_common()),
        flaky=len(flaky(entries)),
        retried=sum(entry.attempt > 0 for entry in entries),
        effects=sum(entry.effects > 0 for entry in entries),
        proven=Counter(entry.proven for entry in entries if entry.proven),
    )


def grids(runs: Mapping[str, Iterable[Entry]]) -> list[tuple[str, Grid]]:
    """(harness, its cells), by name.

    Args:
        runs: Episodes by the name of their run.
    """
    harnesses: dict[str, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for run, entries in runs.items():
        for entry in entries:
            if not entry.damaged:
                harnesses[entry.harness][run].append(entry)
    return [(harness, grid(harnesses[harness])) for harness in sorted(harnesses)]


def grid(runs: Mapping[str, Iterable[Entry]]) -> Grid:
    """The cells of some runs.

    Args:
        runs: Their episodes by name.
    """
    found: dict[str, dict[Column, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    columns: dict[Column, list[Entry]] = defaultdict(list)
    for run, entries in runs.items():
        for entry in entries:
            found[entry.task][run, entry.policy].append(entry)
            columns[run, entry.policy].append(entry)
    names = list(columns)
    rows = [
        Row(task, [cell(cells[column]) if column in cells else None for column in names])
        for task, cells in sorted(found.items())
    ]
    return Grid(names, rows, [cell(entries) for entries in columns.values()])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
