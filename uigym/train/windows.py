"""Windows: stretches of an episode as one context of the model, with the ids exactly as they were sampled.

A policy that keeps several screenshots in its context says one `Turn` a step; the turns up to the next fresh one make
one `Window`, which is what training sees. Nothing is ever tokenised again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Picture:
    """A screenshot as the model is shown it."""

    hash: str
    """sha256 of the PNG, hex."""
    width: int
    """px, as the model's processor gets it: a multiple of its grid."""
    height: int
    tokens: int
    """Placeholder ids that stand for it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One step's tokens: `Decision.sample` of a policy with windows.

    Raises:
        ValueError: There is no prompt or no reply, or the log-probabilities are not those of the reply.
    """

    fresh: bool
    """Whether a window begins here; the prompt is then all that the model saw, else what it saw after its last reply."""
    prompt: tuple[int, ...]
    pictures: tuple[Picture, ...]
    """Those that the prompt shows, in the order of their placeholders."""
    reply: tuple[int, ...]
    """Ids that were sampled, the end of the turn included where it was sampled."""
    logprobs: tuple[float, ...]
    """Of the reply's ids as they were sampled: at the sampling temperature, banned ids without probability; nats."""
    version: int = 0
    """Of the weights that the reply began with: how many updates they had seen."""

    def __post_init__(self) -> None:
        if not self.prompt or not self.reply:
            raise ValueError(f"a turn needs a prompt and a reply, not {len(self.prompt)} and {len(self.reply)} tokens")
        if len(self.logprobs) != len(self.reply):
            raise ValueError(f"{len(self.reply)} reply tokens with {len(self.logprobs)} log-probabilities")
        if not all(math.isfinite(x) and x <= 1e-3 for x in self.logprobs):
            raise ValueError(f"log-probabilities must be finite and at most 0, not {self.logprobs}")


@dataclass(frozen=True, slots=True)
class Window:
    """A context with all replies that were sampled in it: one row of a batch."""

    ids: tuple[int, ...]
    replies: tuple[tuple[int, int], ...]
    """[start, end) of each reply in `ids`."""
    logprobs: tuple[float, ...]
    """Of all reply tokens, one reply after the other."""
    pictures: tuple[Picture, ...]
    """In the order of their placeholders."""
    versions: tuple[int, ...]
    """One a reply."""
    first: int = 0
    """The episode's step that the first reply belongs to."""

    @property
    def positions(self) -> list[int]:
        """Indices of all reply tokens in `ids`."""
        return [at for start, end in self.replies for at in range(start, end)]


def windows(turns: Sequence[Turn]) -> list[Window]:
    """The windows of an episode; every sampled token is in exactly one.

    Raises:
        ValueError: The first turn is not fresh.
    """
    if turns and not turns[0].fresh:
        raise ValueError("an episode's first turn must be fresh: the window that it goes on is not there")
    starts = [at for at, turn in enumerate(turns) if turn.fresh]
    ends = [*starts[1:], len(turns)]
    return [_joined(turns[start:end], start) for start, end in zip(starts, ends, strict=True)]


def _joined(turns: Sequence[Turn], first: int) -> Window:
    ids: list[int] = []
    replies: list[tuple[int, int]] = []
    for turn in turns:
        ids += turn.prompt
        replies.append((len(ids), len(ids) + len(turn.reply)))
        ids += turn.reply
    logprobs = tuple(value for turn in turns for value in turn.logprobs)
    pictures = tuple(picture for turn in turns for picture in turn.pictures)
    return Window(tuple(ids), tuple(replies), logprobs, pictures, tuple(turn.version for turn in turns), first)
