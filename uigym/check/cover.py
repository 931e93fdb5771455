"""Which seeds show the oracle every appearance and every wording."""

from __future__ import annotations

from collections.abc import Sequence

from uigym.harness import Harness, Split, Task
from uigym.rollout import Request

_LOOK_AT = 300
"""Seeds of each split that are looked at."""


def covering(harness: Harness, tasks: Sequence[Task], seeds: Sequence[int], full: bool) -> list[Request]:
    """Further episodes for the oracle, so that every value of every part of the appearance is seen.

    Args:
        harness: Whose appearance.
        tasks: Those that are checked.
        seeds: Those that are played anyway.
        full: Every task in every appearance and wording, instead of every appearance in some task.
    """
    tasks = [task for task in tasks if task.solve is not None]
    if not tasks:
        return []
    missing = _values(harness)
    for seed in seeds:
        missing -= _shown(harness, seed)
    chosen: list[int] = []
    candidates = [split.seed(index) for split in (Split.TRAIN, Split.HELDOUT) for index in range(_LOOK_AT)]
    while missing:
        best = max(candidates, key=lambda seed: len(_shown(harness, seed) & missing))
        if not _shown(harness, best) & missing:
            break
        chosen.append(best)
        missing -= _shown(harness, best)
    if not full:
        return [Request(tasks[i % len(tasks)].name, seed) for i, seed in enumerate(chosen)]
    spoken = max(len(task.wordings) + len(task.heldout_wordings) for task in tasks)
    more = [seed for seed in candidates if seed not in (*chosen, *seeds)][: max(0, 2 * spoken - len(chosen))]
    return [Request(task.name, seed) for task in tasks for seed in (*chosen, *more)]


def _values(harness: Harness) -> set[tuple[str, str]]:
    return {(part, value) for part, looks in harness.looks.items() for value in (*looks.train, *looks.heldout)}


def _shown(harness: Harness, seed: int) -> set[tuple[str, str]]:
    return set(harness.appearance(seed).items())
