"""Which windows go through the model together, and where: the same plan on every rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Batch: TypeAlias = list[int]
"""Indices of windows that go through the model at once."""


def plan(lengths: Sequence[int], ranks: int, budget: int, *, packed: bool = False) -> list[list[Batch]]:
    """Micro-batches in rounds: in each round every rank has one, so that no rank waits for one that has nothing to do.

    Windows of similar length go together, the longest first. Where there are fewer windows than places the last
    batches are empty: their ranks take part in the round with a window that does not count.

    Args:
        lengths: Tokens of each window.
        ranks: How many processes.
        budget: Most tokens of a micro-batch, padding counted; a window that is longer goes alone.
        packed: Whether windows share a sequence, so that there is no padding.

    Returns:
        [round][rank] -> batch; every index is in exactly one.

    Example:
        >>> plan([5, 9, 4, 4], ranks=2, budget=10)
        [[[1], [0]], [[2], [3]]]
    """
    batches = _batches(sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)), lengths, budget, packed)
    while len(batches) % ranks and (widest := max(batches, key=len)) and len(widest) > 1:
        at, half = batches.index(widest), (len(widest) + 1) // 2
        batches[at : at + 1] = [widest[:half], widest[half:]]
    batches += [[] for _ in range(-len(batches) % ranks)]
    return [batches[at : at + ranks] for at in range(0, len(batches), ranks)]


def _batches(order: Sequence[int], lengths: Sequence[int], budget: int, packed: bool) -> list[Batch]:
    """Windows in order, longest first, as many at once as the budget holds."""
    batches: list[Batch] = []
    for index in order:
        last = batches[-1] if batches else []
        size = (
            sum(lengths[i] for i in last) + lengths[index]
            if packed
            else lengths[(last or [index])[0]] * (len(last) + 1)
        )
        if last and size <= budget:
            last.append(index)
        else:
            batches.append([index])
    return batches
