"""Log-probabilities of replies, as they would be sampled: same ids, same temperature, same banned ids.

Shapes: T reply tokens of all rows, K places whose logits are computed, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from uigym.models.families.family import Family
from uigym.train.windows import Window

CHUNK = 512
"""Tokens whose log-probabilities over the vocabulary exist at a time, in float32."""


def log_probabilities(
    family: Family,
    model: nn.Module,
    rows: Sequence[Window],
    pngs: Mapping[str, bytes],
    *,
    temperature: float = 1.0,
    packed: bool = False,
) -> tuple[Tensor, Tensor]:
    """What the model gives to the reply tokens of rows, with gradients where they are on.

    Args:
        family: Of the model.
        model: As `family.load` gives it; it may be sharded or have adapters.
        rows: A batch.
        pngs: PNG bytes by hash.
        temperature: That the replies were sampled with.
        packed: Whether the rows share one sequence instead of being padded. Logits are computed for reply tokens only;
            of padded rows, for those of all rows in each.

    Returns:
        float32 [T] log-probabilities in nats, row by row, and float32 [T] entropies of the distributions, in nats and
        without a gradient.

    Raises:
        ValueError: A row cannot have been sampled, or the temperature is not above 0.
    """
    if temperature <= 0:
        raise ValueError(f"replies were sampled at a temperature above 0, not {temperature}")
    weight = next(model.parameters())
    inputs = (family.packed if packed else family.inputs)(rows, pngs, str(weight.device), weight.dtype)
    row, column = places(rows, packed=packed)
    keep, column = column.unique(return_inverse=True)
    out: Any = model(**inputs, use_cache=False, logits_to_keep=keep.to(weight.device))
    logits = out.logits[row.to(weight.device), column.to(weight.device)]
    ids = torch.tensor([r.ids[at] for r in rows for at in r.positions], device=logits.device)
    banned = torch.tensor(family.banned, dtype=torch.long, device=logits.device)
    return scored(logits, ids, banned, temperature)


def places(rows: Sequence[Window], *, packed: bool) -> tuple[Tensor, Tensor]:
    """Where reply tokens are predicted, one place before their own: int64 [T] rows, and int64 [T] columns of a batch."""
    lengths = [0, *(len(row.ids) for row in rows)]
    starts = torch.tensor(lengths).cumsum(0).tolist() if packed else [0] * len(lengths)
    row = [0 if packed else number for number, window in enumerate(rows) for _ in window.positions]
    column = [starts[number] + at - 1 for number, window in enumerate(rows) for at in window.positions]
    return torch.tensor(row, dtype=torch.long), torch.tensor(column, dtype=torch.long)


def scored(logits: Tensor, ids: Tensor, banned: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probabilities and entropies of ids [T] under logits [T, V], banned ids without probability.

    Computed in float32 by chunks that are computed again in the backward pass, since the distributions of a long row
    take more memory than the model.
    """
    parts = [
        checkpoint(_scored, logits[at : at + CHUNK], ids[at : at + CHUNK], banned, temperature, use_reentrant=False)
        for at in range(0, max(1, len(ids)), CHUNK)
    ]
    logprobs, entropies = zip(*parts, strict=True)
    return torch.cat(logprobs), torch.cat(entropies)


def _scored(logits: Tensor, ids: Tensor, banned: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    over = (logits.float() / temperature).index_fill(-1, banned, float("-inf")).log_softmax(-1)
    with torch.no_grad():
        entropies = torch.special.entr(over.exp()).sum(-1)
    return over.gather(-1, ids[:, None])[:, 0], entropies
