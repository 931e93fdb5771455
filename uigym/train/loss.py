"""The policy loss, as a pure function of tensors.

Shape letters: T reply tokens of a batch, in one row.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor


class PolicyLoss(NamedTuple):
    """The loss to minimise, and what to watch."""

    loss: Tensor
    """Scalar."""
    kl: Tensor
    """Mean of (ratio - 1) - log ratio: distance from the sampling policy, nats a token."""
    clipped: Tensor
    """Share of tokens whose gradient the clip cuts off."""
    dropped: Tensor
    """Share of tokens left out because their ratio is beyond `max_ratio`."""


def policy_loss(
    logprob_T: Tensor,
    sampled_T: Tensor,
    advantage_T: Tensor,
    *,
    denominator: float,
    clip: tuple[float, float] = (0.2, 0.28),
    dual_clip: float = 3.0,
    max_ratio: float = 5.0,
) -> PolicyLoss:
    """Clipped policy-gradient loss of reply tokens.

    Args:
        logprob_T: Log-probabilities under the weights that are trained, at the sampling temperature.
        sampled_T: Log-probabilities that the sampler recorded.
        advantage_T: Advantage of each token's episode.
        denominator: Constant that the sum over tokens is divided by, the same whatever the episodes' lengths.
        clip: How far the ratio may fall below and rise above 1 before its gradient stops.
        dual_clip: Bound on the ratio where the advantage is negative, in multiples.
        max_ratio: Tokens whose ratio is beyond this (or below its inverse) are dropped: sampler and trainer disagree.

    Source: PPO's clip (Schulman et al., 2017), higher above (DAPO, Yu et al., 2025), dual clip (Ye et al., 2020).
    """
    log_ratio = logprob_T - sampled_T
    keep = log_ratio.detach().abs() <= math.log(max_ratio)
    # Left out before exp, whose overflow times zero would be no number.
    ratio = torch.where(keep, log_ratio, 0.0).exp()
    bounded = ratio.clamp(1 - clip[0], 1 + clip[1])
    gain = torch.minimum(ratio * advantage_T, bounded * advantage_T)
    gain = torch.where(advantage_T < 0, torch.maximum(gain, dual_clip * advantage_T), gain)
    loss = -(gain * keep).sum() / denominator
    with torch.no_grad():
        kl = (log_ratio.exp() - 1 - log_ratio).mean()
        clipped = ((ratio != bounded) & (ratio * advantage_T > bounded * advantage_T)).float().mean()
        return PolicyLoss(loss, kl, clipped, 1 - keep.float().mean())
