"""What the leading rank asks all ranks to do, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from uigym.train.losses import Tokens
from uigym.train.windows import Picture, Window

Advantage: TypeAlias = float | Sequence[float]
"""Of a window: that of its episode, or one for each of its replies."""


@dataclass(frozen=True, slots=True)
class Work:
    """Windows, and what is known of them.

    Raises:
        ValueError: Something is not given for every window, or not for every token of one.
    """

    windows: Sequence[Window]
    advantages: Sequence[Advantage] = ()
    old: Sequence[Sequence[float]] | None = None
    """Log-probabilities of each window's reply tokens under the weights that the update began with."""
    reference: Sequence[Sequence[float]] | None = None
    """The same under a reference policy."""
    denominator: float = 1.0
    rate: float | None = None
    """Learning rate of this update; None is that of the settings."""

    def __post_init__(self) -> None:
        if not self.windows:
            raise ValueError("there are no windows to learn from")
        if self.advantages and len(self.advantages) != len(self.windows):
            raise ValueError(f"{len(self.windows)} windows with {len(self.advantages)} advantages")
        for window, advantage in zip(self.windows, self.advantages, strict=False):
            if not isinstance(advantage, float | int) and len(advantage) != len(window.replies):
                raise ValueError(f"a window of {len(window.replies)} replies with {len(advantage)} advantages")
        for given in (self.old, self.reference):
            if given is not None and [len(x) for x in given] != [len(w.logprobs) for w in self.windows]:
                raise ValueError("log-probabilities are not given for every reply token")

    def tokens(self, indices: Sequence[int], device: torch.device) -> Tokens:
        """What the loss needs to know of the reply tokens of some windows, one window after the other."""
        windows = [self.windows[i] for i in indices]

        def line(values: Sequence[Sequence[float]] | None) -> Tensor | None:
            return None if values is None else torch.tensor([x for i in indices for x in values[i]], device=device)

        sampled = torch.tensor([x for window in windows for x in window.logprobs], device=device)
        advantage = torch.tensor([x for i in indices for x in self._spread(i)], device=device)
        rows = torch.tensor([i for i, w in enumerate(windows) for _ in w.logprobs], device=device)
        return Tokens(line(self.old), sampled, advantage, rows, line(self.reference))

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> Work:
        """What `to_json` made, perhaps after a way through JSON."""
        return Work(**{**value, "windows": [_window(window) for window in value["windows"]]})

    def _spread(self, index: int) -> list[float]:
        """The advantage of each reply token of a window."""
        window, advantage = self.windows[index], self.advantages[index]
        of_replies = [advantage] * len(window.replies) if isinstance(advantage, float | int) else advantage
        return [float(a) for a, (start, end) in zip(of_replies, window.replies, strict=True) for _ in range(start, end)]


def _window(value: dict[str, Any]) -> Window:
    return Window(
        ids=tuple(value["ids"]),
        replies=tuple((start, end) for start, end in value["replies"]),
        logprobs=tuple(value["logprobs"]),
        pictures=tuple(Picture(**picture) for picture in value["pictures"]),
        versions=tuple(value["versions"]),
        first=value["first"],
    )
