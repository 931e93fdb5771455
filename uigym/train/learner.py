"""The weights that learn: a supervised step and a policy-gradient step on the policy's own model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from uigym.models.optim import make_optimizers
from uigym.models.tiny.build import save
from uigym.policy.hf import TransformersPolicy, picture_size
from uigym.train.batch import plan, reply_logits, spread
from uigym.train.losses import LossSettings, Tokens, joined, policy_loss
from uigym.train.rows import Row


@dataclass(frozen=True, slots=True)
class Rates:
    """Learning rates."""

    matrix: float
    """Of Muon, for hidden matrices: the size of an update relative to an orthogonal matrix."""
    other: float
    """Of AdamW, for embeddings, heads, norms and biases."""


class Learner:
    """Trains the model of a policy in place.

    Args:
        policy: The policy; it must not sample while a step is being taken.
        width, height: Of the viewport, CSS px.
        rates: Learning rates.
        picture_gradient: Train through the picture tokens and the vision tower too. Without it the picture tokens are
            computed with the current weights, but gradients stop there: a step costs a fraction.
    """

    def __init__(
        self, policy: TransformersPolicy, width: int, height: int, *, rates: Rates, picture_gradient: bool = False
    ):
        self.policy = policy
        self.cache = policy.cache(*picture_size(width, height))
        self.picture_gradient = picture_gradient
        self.set_rates(rates)

    def set_rates(self, rates: Rates) -> None:
        """Begin a phase of training: new optimisers at these rates."""
        for parameter in self.policy.model.model.visual.parameters():
            parameter.requires_grad_(self.picture_gradient)
        self.optimizers = make_optimizers(
            self.policy.model, matrix_lr=rates.matrix, other_lr=rates.other, weight_decay=0.0
        )
        self._bases = [[group["lr"] for group in o.param_groups] for o in self.optimizers]

    def scale_rates(self, factor: float) -> None:
        """Set the learning rates to `factor` times those of the phase."""
        for optimizer, bases in zip(self.optimizers, self._bases, strict=True):
            for group, base in zip(optimizer.param_groups, bases, strict=True):
                group["lr"] = base * factor

    def save(self, folder: Path) -> None:
        """Write a checkpoint folder that transformers loads."""
        save(self.policy.model, self.policy.tokenizer, folder)

    def imitate(self, rows: Sequence[Row], pngs: Mapping[str, bytes]) -> float:
        """One supervised step on rows; returns the mean negative log-likelihood of a reply token, nats."""
        count = sum(len(row.reply) for row in rows)
        total = 0.0
        for indices in plan(rows):
            logits, target_T = self._logits([rows[i] for i in indices], pngs)
            loss = F.cross_entropy(logits, target_T, reduction="sum") / count
            loss.backward()
            total += loss.item()
        self._step()
        return total

    def reinforce(
        self,
        rows: Sequence[Row],
        advantages: Sequence[float],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
        clip: tuple[float, float],
    ) -> dict[str, float]:
        """One policy-gradient step on rows.

        Args:
            rows: As they were sampled.
            advantages: One a row: that of its episode.
            pngs: The rows' pictures by hash.
            denominator: What the sum over tokens is divided by.
            clip: How far the ratio may fall below and rise above 1 before its gradient stops.

        Returns:
            Means over the tokens of different rows: loss, kl, clipped, dropped, entropy (nats); gap, the largest difference between the
            trainer's and the sampler's log-probabilities; gradient, the norm before clipping.
        """
        rows, advantages = merged(rows, advantages)
        settings = LossSettings(clip_low=clip[0], clip_high=clip[1], importance="none")
        parts: list[dict[str, torch.Tensor]] = []
        counts: list[int] = []
        for indices in plan(rows):
            batch = [rows[i] for i in indices]
            logits, target_T = self._logits(batch, pngs)
            every = (logits / (self.policy.temperature or 1.0)).log_softmax(-1)
            logprob_T = every.gather(1, target_T[:, None])[:, 0]
            tokens = known(batch, [advantages[i] for i in indices], every.device)
            out = policy_loss(settings, logprob_T, tokens, denominator=denominator)
            out.loss.backward()
            with torch.no_grad():
                entropy = -torch.where(every.isinf(), 0.0, every.exp() * every).sum(-1).mean()
                gap = (logprob_T - tokens.sampled_T).abs().max()
            parts.append({**out.numbers, "entropy": entropy, "gap/max": gap})
            counts.append(len(target_T))
        told = joined(parts, counts)
        return {
            **{name: told[name] for name in ("loss", "kl", "entropy")},
            "clipped": told["clip/low"] + told["clip/high"],
            "dropped": told["ratio/dropped"],
            "gap": told["gap/max"],
            "gradient": self._step(),
        }

    def optimizer_state(self) -> list[dict[str, Any]]:
        """State of the optimisers, for an exact resume."""
        return [optimizer.state_dict() for optimizer in self.optimizers]

    def _logits(self, rows: Sequence[Row], pngs: Mapping[str, bytes]) -> tuple[torch.Tensor, torch.Tensor]:
        return reply_logits(self.cache, pngs, rows, self.policy.prompts.banned, picture_gradient=self.picture_gradient)

    def _step(self) -> float:
        trained = [p for p in self.policy.model.parameters() if p.requires_grad]
        norm = nn.utils.clip_grad_norm_(trained, 1.0).item()
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.policy.weights_changed(vision=self.picture_gradient)
        return norm


def known(rows: Sequence[Row], advantages: Sequence[float], device: torch.device) -> Tokens:
    """What is known of the reply tokens of a batch; the clip holds the ratio to the sampler itself."""
    sampled_T = torch.tensor([x for row in rows for x in row.logprobs], device=device)
    row_T = torch.arange(len(rows)).repeat_interleave(torch.tensor([len(row.reply) for row in rows])).to(device)
    return Tokens(sampled_T, sampled_T, spread(advantages, rows).to(device), row_T)


def merged(rows: Sequence[Row], advantages: Sequence[float]) -> tuple[list[Row], list[float]]:
    """The same gradient from fewer rows: those that are alike, picture, prompt and reply, add up their advantages.

    Members of a group often begin alike. Advantages of one sign only are added, since the clip treats the signs
    differently; within one sign the loss is proportional to the advantage.
    """
    found: dict[tuple[Any, ...], tuple[Row, float]] = {}
    for row, advantage in zip(rows, advantages, strict=True):
        key = (row.image, row.prompt, row.reply, row.version, advantage > 0)
        first, total = found.get(key, (row, 0.0))
        found[key] = (first, total + advantage)
    return [row for row, _ in found.values()], [total for _, total in found.values()]
