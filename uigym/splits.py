"""Which seeds are trained on and which are measured on, and what looks they see."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from uigym.errors import HarnessError

SPLIT_SIZE = 1_000_000


class Split(StrEnum):
    """Disjoint sets of seeds: a million each, in this order from 0."""

    TRAIN = "train"
    VALIDATION = "validation"
    HELDOUT = "heldout"

    def seed(self, index: int) -> int:
        """The index-th seed of this split."""
        if not 0 <= index < SPLIT_SIZE:
            raise ValueError(f"a split has the seeds 0 to {SPLIT_SIZE - 1}, not {index}")
        return list(Split).index(self) * SPLIT_SIZE + index

    @classmethod
    def of(cls, seed: int) -> Split:
        """The split that a seed belongs to.

        Raises:
            ValueError: The seed is no whole number, negative, or beyond the last split.
        """
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise ValueError(f"a seed is a whole number, not {seed!r:.200}")
        if not 0 <= seed < SPLIT_SIZE * len(cls):
            raise ValueError(f"seeds go from 0 to {SPLIT_SIZE * len(cls) - 1}, not {seed}")
        return list(cls)[seed // SPLIT_SIZE]


@dataclass(frozen=True, slots=True)
class Looks:
    """The values that one part of the appearance may take."""

    train: tuple[str, ...]
    heldout: tuple[str, ...] = ()
    """Seen only by held-out seeds; empty means that those use the others."""

    def __post_init__(self) -> None:
        if not self.train:
            raise HarnessError("Looks() needs at least one value that seeds of the training split see")
