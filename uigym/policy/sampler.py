"""Who turns ids and pictures into further ids: a model in this process, or a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from uigym.train.windows import Picture


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is sampled. For training nothing but the temperature may differ from the plain distribution."""

    temperature: float = 1.0
    """0 takes the likeliest id."""
    max_tokens: int = 256
    top_p: float = 1.0
    """Evaluation only: the trainer would compute other probabilities."""
    top_k: int = 0
    """0 is off. Evaluation only."""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What was sampled."""

    ids: tuple[int, ...]
    """The end of the turn included where it was sampled."""
    logprobs: tuple[float, ...]
    """Natural logarithms at the sampling temperature, with banned ids left out."""
    version: int
    """Of the weights when it began."""
    last_version: int
    """Of the weights when it ended: another one where they were exchanged meanwhile."""


class Weights(Protocol):
    """Where new weights come from: a trainer."""

    def named(self) -> Iterable[tuple[str, Any]]:
        """(name as in the checkpoint, full tensor), one after the other."""

    def save(self, folder: Path) -> None:
        """Write them as a checkpoint folder that transformers and vLLM load."""


class Sampler(Protocol):
    """Serves any number of calls at once."""

    version: int
    """How many updates its weights have seen."""

    async def sample(
        self, ids: Sequence[int], pictures: Sequence[Picture], pngs: Mapping[str, bytes], sampling: Sampling
    ) -> Reply:
        """Go on from ids in which the pictures' placeholders stand.

        Raises:
            PolicyError: The machinery failed.
        """

    async def pause(self) -> None:
        """Hold everything that is being sampled where it is."""

    async def resume(self) -> None:
        """Go on."""

    async def update(self, weights: Weights, version: int) -> None:
        """Exchange the weights, while paused, and forget everything that was computed with the old ones.

        Raises:
            PolicyError: It did not work; the old version may be lost.
        """

    async def close(self) -> None:
        """End what was started for it."""
