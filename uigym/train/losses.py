"""Policy losses, as pure functions of tensors.

A token's ratio is taken in two parts. From the weights that the update began with (`old_T`) to those that are trained
(`new_T`): the part that the clip holds. From the sampler (`sampled_T`) to the weights that the update began with: a
weight without gradient that is capped, and beyond a bound drops the token. Where the sampler has the same weights and
the same arithmetic the second part is 1.

Shape letters: T reply tokens, in any order.

Sources: PPO's clip (Schulman et al., 2017); GRPO (Shao et al., 2024); Dr. GRPO (Liu et al., 2025); DAPO (Yu et al.,
2025); GSPO (Zheng et al., 2025); CISPO (MiniMax-M1, 2025); dual clip (Ye et al., 2020); decoupled ratio (Hilton et
al., 2022); truncated importance sampling (Ionides, 2008; Yao et al., 2025).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import torch
from torch import Tensor

from uigym.errors import ConfigError, did_you_mean
from uigym.train.importance import Kind, log_ratios, row_lengths

Normaliser: TypeAlias = Literal["constant", "tokens", "rows"]
FAR = 20.0
"""Nats: logarithms beyond are cut off before the exponential, where only a number to watch or a penalty is made of it."""


@dataclass(frozen=True, slots=True)
class LossSettings:
    """What a policy loss is. The defaults are this project's GRPO; `LossSettings.of(name)` is another loss's.

    Raises:
        ConfigError: There is no such loss, or a value is out of its range.
    """

    name: str = "grpo"
    """One of `LOSSES`."""
    clip_low: float = 0.2
    """How far the ratio may fall below 1 before the clip holds it."""
    clip_high: float = 0.28
    """How far it may rise above 1."""
    dual_clip: float | None = 3.0
    """Bound on the ratio where the advantage is negative, in multiples, more than 1 + `clip_high`; None is no bound."""
    kl: float = 0.0
    """Weight of the distance from a reference policy."""
    importance: Kind = "token"
    """How the difference between sampler and trainer is corrected."""
    cap: float = 2.0
    """Most that a token counts by that correction."""
    drop: float = 5.0
    """A ratio beyond this, or below its inverse, drops the token: that is no longer noise. In (1, 1e9]."""
    normaliser: Normaliser = "constant"
    """What the sum over tokens is divided by: see `divisor`."""
    k: float = 500.0
    """Reply tokens of a typical trajectory, for the constant: ten turns of fifty tokens."""

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise ConfigError(f"no loss {self.name!r}. {did_you_mean(self.name, LOSSES)}")
        for ok, what in (
            (0 < self.clip_low <= 1, f"clip_low must be in (0, 1], not {self.clip_low}"),
            (0 < self.clip_high < math.inf, f"clip_high must be above 0, not {self.clip_high}"),
            (
                self.dual_clip is None or self.dual_clip > 1 + self.clip_high,
                f"dual_clip must be more than 1 + clip_high = {1 + self.clip_high:g}, or nothing, not {self.dual_clip}",
            ),
            (0 <= self.kl < math.inf, f"kl must be 0 or more, not {self.kl}"),
            (self.cap >= 1, f"cap must be at least 1, not {self.cap}"),
            (1 < self.drop <= 1e9, f"drop must be in (1, 1e9], not {self.drop}"),
            (0 < self.k < math.inf, f"k must be above 0, not {self.k}"),
        ):
            if not ok:
                raise ConfigError(what)

    @classmethod
    def of(cls, name: str, **given: Any) -> Self:
        """A loss with what its authors set, and changes of one's own.

        Example:
            >>> LossSettings.of("dapo", kl=0.01).normaliser
            'tokens'
        """
        own = LOSSES[name].own if name in LOSSES else {}
        return cls(**{"name": name, **own, **given})


class Tokens(NamedTuple):
    """What is known of reply tokens before the trained weights are asked."""

    old_T: Tensor | None
    """Log-probabilities under the weights that the update began with; None where those are the weights that are trained now."""
    sampled_T: Tensor
    """Log-probabilities that the sampler recorded."""
    advantage_T: Tensor
    """Of each token's episode, or step."""
    row_T: Tensor
    """int64: which row each token is in. What is computed by rows needs all tokens of a row in one call."""
    reference_T: Tensor | None = None
    """Log-probabilities under the reference policy; needed where `kl` is not 0."""


class LossOut(NamedTuple):
    """The loss to minimise, and what to watch."""

    loss: Tensor
    """Scalar."""
    numbers: dict[str, Tensor]
    """Scalars without gradient, by metric name; parts of a batch are put together by `joined`.

    loss; kl, mean of (ratio - 1) - log ratio from the sampler, nats a token; kl/reference where there is one;
    clip/{low,high,dual}, shares of tokens that the clip holds where their advantage pushes outwards; ratio/{mean,max} of a token from
    sampler to trainer, before cap and drop; ratio/{capped,dropped}, shares of tokens; gap/{mean,max}, absolute difference of
    sampler and trainer, nats.
    """


Gain: TypeAlias = Callable[[LossSettings, Tensor, Tensor, Tensor], Tensor]
"""(settings, ratio_T, new_T, advantage_T) -> what is to grow, [T]."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A way to make a loss of ratios and advantages."""

    gain: Gain
    by_row: bool = False
    """The ratio is the geometric mean over the row, not the token's own."""
    own: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Settings that belong to it."""


def clipped(settings: LossSettings, ratio_T: Tensor, new_T: Tensor, advantage_T: Tensor) -> Tensor:
    """PPO's gain: nothing is to be had beyond the clip; and where the advantage is negative no more than the dual clip."""
    bounded_T = ratio_T.clamp(1 - settings.clip_low, 1 + settings.clip_high)
    gain_T = torch.minimum(ratio_T * advantage_T, bounded_T * advantage_T)
    if settings.dual_clip is None:
        return gain_T
    return torch.where(advantage_T < 0, torch.maximum(gain_T, settings.dual_clip * advantage_T), gain_T)


def weighted(settings: LossSettings, ratio_T: Tensor, new_T: Tensor, advantage_T: Tensor) -> Tensor:
    """CISPO's gain: the ratio is a clipped weight without gradient, so every token keeps its own."""
    return ratio_T.detach().clamp(1 - settings.clip_low, 1 + settings.clip_high) * advantage_T * new_T


LOSSES: dict[str, Loss] = {
    "grpo": Loss(clipped),
    "dr_grpo": Loss(clipped, own={"clip_high": 0.2, "normaliser": "constant"}),
    "dapo": Loss(clipped, own={"clip_high": 0.28, "normaliser": "tokens"}),
    "gspo": Loss(clipped, True, {"clip_low": 3e-4, "clip_high": 4e-4, "importance": "geometric", "normaliser": "rows"}),
    "cispo": Loss(weighted, own={"clip_low": 1.0, "clip_high": 3.0, "dual_clip": None, "normaliser": "tokens"}),
}
"""Policy losses by name. GRPO as it was published: `LossSettings.of("grpo", clip_high=0.2, dual_clip=None, normaliser="rows")`."""


def policy_loss(settings: LossSettings, new_T: Tensor, tokens: Tokens, *, denominator: float) -> LossOut:
    """The loss of reply tokens; losses of parts of a batch add up to that of the batch.

    Args:
        settings: Which loss.
        new_T: Log-probabilities under the weights that are trained, as sampled: at the sampling temperature, banned ids
            without probability.
        tokens: What else is known of the tokens.
        denominator: What the sum is divided by, that of the whole batch on all ranks: see `divisor`.

    Raises:
        ConfigError: The distance from a reference has a weight, but there is no reference.
    """
    if settings.kl and tokens.reference_T is None:
        raise ConfigError(
            f"the loss has kl={settings.kl} but no log-probabilities of a reference policy; give them, or set kl to 0"
        )
    old_T = new_T.detach() if tokens.old_T is None else tokens.old_T
    log_weight_T = log_ratios(settings.importance, (old_T - tokens.sampled_T).detach(), tokens.row_T)
    log_ratio_T = _log_ratios(settings, new_T, old_T, tokens.row_T)
    far = math.log(settings.drop)
    kept_T = (log_weight_T.abs() <= far) & (log_ratio_T.detach().abs() <= far)
    # Left out before exp, whose overflow times zero would be no number.
    ratio_T = torch.where(kept_T, log_ratio_T, 0.0).exp()
    weight_T = torch.where(kept_T, log_weight_T, 0.0).exp().clamp(max=settings.cap)
    value_T = -LOSSES[settings.name].gain(settings, ratio_T, new_T, tokens.advantage_T)
    if settings.kl and tokens.reference_T is not None:
        # By the ratio: else its gradient is another distance's (DeepSeek-V3.2, 2025).
        value_T = value_T + settings.kl * ratio_T * distance(tokens.reference_T - new_T)
    value_T = torch.where(kept_T, weight_T * value_T, 0.0)
    if settings.normaliser == "rows":
        value_T = value_T / row_lengths(tokens.row_T)
    loss = value_T.sum() / denominator
    with torch.no_grad():
        shares = _shares(settings, ratio_T, tokens.advantage_T) | {
            "ratio/capped": kept_T & (log_weight_T > math.log(settings.cap)),
            "ratio/dropped": ~kept_T,
        }
        numbers = _numbers(new_T, old_T, tokens)
        return LossOut(
            loss, {"loss": loss.detach(), **numbers, **{k: _mean(v.to(loss.dtype)) for k, v in shares.items()}}
        )


def divisor(settings: LossSettings, *, trajectories: int, rows: int, tokens: int) -> float:
    """What the sum over a batch's tokens is divided by.

    "constant" is k times the trajectories: a long episode weighs as much a token as a short one, in this batch and the next.
    "tokens" is the mean over the batch's tokens. "rows" is the mean over rows of the mean over each one's tokens.

    Args:
        settings: Which loss.
        trajectories: Episodes that train: those with a verdict in groups that teach. Others are no part of the mean.
        rows: Of those trajectories.
        tokens: Reply tokens of those rows.

    Example:
        >>> divisor(LossSettings(k=50), trajectories=8, rows=24, tokens=900)
        400.0
    """
    counts = {"constant": settings.k * trajectories, "tokens": tokens, "rows": rows}
    return float(counts[settings.normaliser] or 1)


def distance(difference_T: Tensor) -> Tensor:
    """exp(x) - 1 - x, which is never negative; its mean estimates a KL divergence, nats.

    Args:
        difference_T: Log-probabilities under the other policy less those under the one that tokens are from.

    Source: Schulman, "Approximating KL divergence", 2020, the estimator k3.
    """
    near_T = difference_T.clamp(max=FAR)
    return near_T.expm1() - near_T


def joined(parts: Sequence[Mapping[str, float | Tensor]], tokens: Sequence[int]) -> dict[str, float]:
    """The numbers of a batch of those of its parts, each with its number of tokens: "loss" is a sum, ".../max" the most, the others means over tokens."""
    total = max(sum(tokens), 1)
    out: dict[str, float] = {}
    for name in parts[0] if parts else ():
        values = [float(part[name]) for part in parts]
        if name == "loss":
            out[name] = sum(values)
        elif name.endswith("/max"):
            out[name] = max(values)
        else:
            out[name] = sum(v * n for v, n in zip(values, tokens, strict=True)) / total
    return out


def _log_ratios(settings: LossSettings, new_T: Tensor, old_T: Tensor, row_T: Tensor) -> Tensor:
    if not LOSSES[settings.name].by_row:
        return new_T - old_T
    # The row's value with the token's own gradient, so that tokens of one row may have different advantages.
    return log_ratios("geometric", new_T.detach() - old_T, row_T) + (new_T - new_T.detach())


def _shares(settings: LossSettings, ratio_T: Tensor, advantage_T: Tensor) -> dict[str, Tensor]:
    worse = advantage_T < 0
    most = math.inf if settings.dual_clip is None else settings.dual_clip
    return {
        "clip/low": worse & (ratio_T < 1 - settings.clip_low),
        "clip/high": (advantage_T > 0) & (ratio_T > 1 + settings.clip_high),
        "clip/dual": worse & (ratio_T > most),
    }


def _numbers(new_T: Tensor, old_T: Tensor, tokens: Tokens) -> dict[str, Tensor]:
    gap_T = old_T - tokens.sampled_T
    ratio_T = gap_T.clamp(max=FAR).exp()
    out = {"kl": _mean(distance(new_T - tokens.sampled_T))}
    if tokens.reference_T is not None:
        out["kl/reference"] = _mean(distance(tokens.reference_T - new_T))
    return {
        **out,
        "ratio/mean": _mean(ratio_T),
        "ratio/max": _most(ratio_T),
        "gap/mean": _mean(gap_T.abs()),
        "gap/max": _most(gap_T.abs()),
    }


def _mean(value_T: Tensor) -> Tensor:
    return value_T.sum() / max(len(value_T), 1)


def _most(value_T: Tensor) -> Tensor:
    return value_T.max() if len(value_T) else value_T.new_zeros(())
