"""Rows: what a policy saw and said in one step, exactly as it was sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One step's tokens. Never re-tokenised: training sees the ids that the sampler used.

    Raises:
        ValueError: Prompt or reply is empty, or a log-probability is missing or is no log-probability.
    """

    image: str
    """sha256 of the PNG that the prompt begins with, hex."""
    prompt: tuple[int, ...]
    """Ids that follow the picture, up to where the reply begins."""
    reply: tuple[int, ...]
    """Ids that the policy sampled, the end token included where it was sampled."""
    logprobs: tuple[float, ...]
    """Of the reply's ids under the sampling policy, at its temperature; natural logarithms."""
    version: int = 0
    """How many updates the sampling weights had seen."""

    def __post_init__(self) -> None:
        if not self.reply or not self.prompt:
            raise ValueError(f"a row needs a prompt and a reply, not {len(self.prompt)} and {len(self.reply)} tokens")
        if len(self.logprobs) != len(self.reply):
            raise ValueError(f"{len(self.reply)} reply tokens with {len(self.logprobs)} log-probabilities")
        if not all(math.isfinite(x) and x <= 1e-4 for x in self.logprobs):
            raise ValueError(f"log-probabilities must be finite and at most 0, not {self.logprobs}")

    @property
    def length(self) -> int:
        """Tokens of prompt and reply, without the picture."""
        return len(self.prompt) + len(self.reply)
