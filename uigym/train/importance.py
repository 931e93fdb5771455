"""Ratios of probabilities: of tokens, and of the rows that they are in.

Shape letters: T reply tokens, in any order.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from torch import Tensor

Kind: TypeAlias = Literal["none", "token", "sequence", "geometric"]
"""Whose ratio: nobody's (always 1), each token's, the product over its row, the geometric mean over its row."""


def log_ratios(kind: Kind, difference_T: Tensor, row_T: Tensor) -> Tensor:
    """The logarithm of each token's ratio.

    The product grows with the length of a row: a difference of 0.01 nats a token is a ratio of 2.7 after 100 tokens.
    The geometric mean does not.

    Args:
        kind: Whose ratio.
        difference_T: Log-probabilities under one policy less those under the other, nats.
        row_T: Which row each token is in, any integers; all tokens of a row must be there.

    Returns:
        [T], nats; the same for all tokens of a row but with "token". Differentiable.
    """
    if kind == "none":
        return torch.zeros_like(difference_T)
    if kind == "token":
        return difference_T
    sum_T = row_sums(difference_T, row_T)
    return sum_T if kind == "sequence" else sum_T / row_lengths(row_T)


def row_sums(value_T: Tensor, row_T: Tensor) -> Tensor:
    """Each token's row's sum of a value. Differentiable."""
    rows, index_T = row_T.unique(return_inverse=True)
    return value_T.new_zeros(len(rows)).index_add(0, index_T, value_T)[index_T]


def row_lengths(row_T: Tensor) -> Tensor:
    """How many tokens each token's row has, int64."""
    return row_sums(torch.ones_like(row_T), row_T)
