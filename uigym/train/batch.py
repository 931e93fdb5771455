"""Rows to micro-batches: steps that saw the same picture share it.

Shape letters: T reply tokens of a micro-batch, one after another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from uigym.models.forward import SharedPrefix
from uigym.policy.hf import pixels
from uigym.train.rows import Row

MAX_SEGMENTS = 12
"""Steps that share one picture in a row of a batch; more make another row."""


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What goes through the model at once."""

    images: tuple[str, ...]
    """Hashes of the pictures, one a row of the batch."""
    members: tuple[tuple[int, ...], ...]
    """For each picture, indices of the rows that share it."""

    @property
    def order(self) -> list[int]:
        """Indices of the rows in the order in which their tokens lie in T."""
        return [index for members in self.members for index in members]


def plan(rows: Sequence[Row], *, prefix_tokens: int, budget_tokens: int = 12_000) -> Iterator[MicroBatch]:
    """Group rows by picture, and pictures into micro-batches of at most so many tokens, padding counted.

    Every row is in exactly one micro-batch.
    """
    shared: dict[str, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        shared[row.image].append(index)
    packs = [
        (image, tuple(found[at : at + MAX_SEGMENTS]))
        for image, found in shared.items()
        for at in range(0, len(found), MAX_SEGMENTS)
    ]
    packs.sort(key=lambda pack: sum(rows[i].length for i in pack[1]))
    batch: list[tuple[str, tuple[int, ...]]] = []
    for pack in packs:
        length = prefix_tokens + sum(rows[i].length for i in pack[1])
        if batch and length * (len(batch) + 1) > budget_tokens:
            yield MicroBatch(*zip(*batch, strict=True))  # type: ignore[arg-type]
            batch = []
        batch.append(pack)
    if batch:
        yield MicroBatch(*zip(*batch, strict=True))  # type: ignore[arg-type]


class Pictures:
    """Decoded pictures of a batch of episodes, by hash."""

    def __init__(self, pngs: Mapping[str, bytes], width: int, height: int):
        self._pngs, self._size = pngs, (width, height)
        self._decoded: dict[str, Any] = {}

    def stack(self, hashes: Sequence[str]) -> np.ndarray:
        """uint8 [len(hashes), height, width, 3]."""
        for key in hashes:
            if key not in self._decoded:
                self._decoded[key] = pixels(self._pngs[key], *self._size)
        return np.stack([self._decoded[key] for key in hashes])


def reply_logits(
    shared: SharedPrefix, pictures: Pictures, rows: Sequence[Row], batch: MicroBatch, banned: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Logits at the positions that predict reply tokens, and those tokens.

    Returns:
        float32 [T, vocabulary], int64 [T]; rows in the order of `batch.order`. Logits exist at no other position.
    """
    features = shared.features(shared.pixels(pictures.stack(batch.images)))
    hidden, spans = shared.hidden(
        features, [[rows[i].prompt + rows[i].reply for i in members] for members in batch.members]
    )
    at_row, at_token, target = [], [], []
    for index, b, start in zip(batch.order, spans.row.tolist(), spans.start.tolist(), strict=True):
        first = start + len(rows[index].prompt) - 1
        at_row += [b] * len(rows[index].reply)
        at_token += range(first, first + len(rows[index].reply))
        target += rows[index].reply
    device = hidden.device
    picked = hidden[torch.tensor(at_row, device=device), torch.tensor(at_token, device=device)]
    return shared.logits(picked, banned), torch.tensor(target, device=device)


def spread(values: Sequence[float], rows: Sequence[Row], batch: MicroBatch) -> Tensor:
    """A value a row -> float32 [T], repeated over the row's reply tokens."""
    return torch.tensor([values[i] for i in batch.order for _ in rows[i].reply])
