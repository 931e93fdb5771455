"""Rows to logits: micro-batches of steps, each with the picture that it saw.

Shape letters: T reply tokens of a micro-batch, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from uigym.policy.hf import PictureCache
from uigym.train.rows import Row


def plan(rows: Sequence[Row], *, budget_tokens: int = 3000) -> Iterator[list[int]]:
    """Indices of rows in micro-batches of at most so many text tokens, padding counted, shortest rows first.

    Every row is in exactly one micro-batch.
    """
    batch: list[int] = []
    for index in sorted(range(len(rows)), key=lambda i: rows[i].length):
        if batch and rows[index].length * (len(batch) + 1) > budget_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def reply_logits(
    cache: PictureCache,
    pngs: Mapping[str, bytes],
    rows: Sequence[Row],
    banned: Sequence[int],
    *,
    picture_gradient: bool = False,
) -> tuple[Tensor, Tensor]:
    """Logits at the positions that predict reply tokens, and those tokens; logits exist at no other position.

    Args:
        cache: Of the model that is trained.
        pngs: The rows' pictures by hash.
        rows: Of one micro-batch.
        banned: Ids that the sampler could not sample; they have no probability here either.
        picture_gradient: Let gradients flow through the picture tokens too: several times the cost.

    Returns:
        float32 [T, vocabulary], int64 [T], in the order of the rows.

    Raises:
        ValueError: A reply holds a banned id: no sampler of ours wrote it.
    """
    if wrong := set(banned).intersection(*[{token for row in rows for token in row.reply}]):
        raise ValueError(f"replies hold ids that can never be sampled: {sorted(wrong)}")
    needed = {row.image: pngs[row.image] for row in rows}
    if picture_gradient:
        picked = _with_pictures(cache, needed, rows)
    else:
        found = dict(zip(needed, cache.prefixes(needed), strict=True))
        hidden = cache.shared.text_hidden(
            torch.stack([found[row.image] for row in rows]), [row.prompt + row.reply for row in rows]
        )
        picked = torch.cat([h[-len(row.reply) - 1 : -1] for h, row in zip(hidden, rows, strict=True)])
    target = torch.tensor([token for row in rows for token in row.reply], device=picked.device)
    return cache.shared.logits(picked, banned), target


def _with_pictures(cache: PictureCache, pngs: Mapping[str, bytes], rows: Sequence[Row]) -> Tensor:
    """Hidden states before each reply token, rows with one picture sharing it; gradients reach the vision tower."""
    shared = cache.shared
    images = list(pngs)
    members = [[i for i, row in enumerate(rows) if row.image == image] for image in images]
    features = shared.features(shared.pixels(cache.pixels(pngs)))
    hidden, spans = shared.hidden(features, [[rows[i].prompt + rows[i].reply for i in group] for group in members])
    parts: dict[int, Tensor] = {}
    for i, b, start in zip(
        (i for group in members for i in group), spans.row.tolist(), spans.start.tolist(), strict=True
    ):
        first = start + len(rows[i].prompt) - 1
        parts[i] = hidden[b, first : first + len(rows[i].reply)]
    return torch.cat([parts[i] for i in range(len(rows))])


def spread(values: Sequence[float], rows: Sequence[Row]) -> Tensor:
    """A value a row -> float32 [T], repeated over the row's reply tokens."""
    return torch.tensor([value for value, row in zip(values, rows, strict=True) for _ in row.reply])
