"""Who turns ids and pictures into further ids: a model in this process, or a server."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from uigym.errors import ConfigError
from uigym.train.windows import Picture


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is sampled. For training nothing but the temperature may differ from the plain distribution.

    Raises:
        ConfigError: A number cannot be used.
    """

    temperature: float = 1.0
    """0 takes the likeliest id."""
    max_tokens: int = 256
    top_p: float = 1.0
    """Evaluation only: the trainer would compute other probabilities."""
    top_k: int = 0
    """0 is off. Evaluation only."""
    seed: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0) or self.max_tokens < 1:
            raise ConfigError(
                f"temperature must be 0 or more and max_tokens 1 or more, not {self.temperature} and {self.max_tokens}"
            )
        if not 0 < self.top_p <= 1 or self.top_k < 0:
            raise ConfigError(
                f"top_p must be above 0 and at most 1, top_k 0 or more, not {self.top_p} and {self.top_k}"
            )

    def check_trainable(self) -> None:
        """Refuse what would make the sampler's log-probabilities others than the trainer's.

        Raises:
            ConfigError: The likeliest id alone is taken, ids are cut off, or every episode would be the same.
        """
        wrong = {"temperature": self.temperature <= 0, "top_p": self.top_p != 1, "top_k": self.top_k != 0}
        wrong["seed"] = self.seed is not None
        if named := [f"{name}={getattr(self, name)}" for name, is_wrong in wrong.items() if is_wrong]:
            raise ConfigError(
                f"{', '.join(named)} cannot be trained with: the trainer computes the plain distribution at a "
                "temperature above 0. Use temperature > 0, top_p=1, top_k=0 and no seed; all of them are for evaluation"
            )


PLAIN = Sampling()
"""At temperature 1, from the whole distribution."""


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

    async def start(self) -> None:
        """Be ready to be asked; without it, the first request waits for that.

        Raises:
            PolicyError: What it needs does not come up.
        """

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
