"""The weights that learn: one optimiser, a supervised step and a policy-gradient step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from uigym.models.forward import SharedPrefix
from uigym.models.optim import make_optimizers
from uigym.models.tiny.build import save
from uigym.policy.hf import load_model
from uigym.train.batch import Pictures, plan, reply_logits, spread
from uigym.train.loss import policy_loss
from uigym.train.rows import Row


@dataclass(frozen=True, slots=True)
class Rates:
    """Learning rates."""

    matrix: float = 1e-3
    """Of Muon, for hidden matrices; the size of the update relative to an orthogonal matrix."""
    other: float = 3e-4
    """Of AdamW, for embeddings, heads, norms and biases."""


class Learner:
    """A copy of a checkpoint that is trained; samplers get its weights by `weights`.

    Args:
        checkpoint: Folder, or "tiny".
        width, height: Of the pictures, px.
        rates: Learning rates.
        temperature: At which the policy is sampled: log-probabilities are taken at the same.
    """

    def __init__(
        self, checkpoint: str | Path, width: int, height: int, *, rates: Rates = Rates(), temperature: float = 1.0
    ):
        self.model, self.prompts, self.tokenizer = load_model(checkpoint)
        self.shared = SharedPrefix(self.model, height, width)
        self.temperature = temperature
        self.version = 0
        self.set_rates(rates)

    def set_rates(self, rates: Rates) -> None:
        """Begin a phase of training: new optimisers at these rates."""
        self.optimizers = make_optimizers(self.model, matrix_lr=rates.matrix, other_lr=rates.other, weight_decay=0.0)
        self._bases = [[group["lr"] for group in o.param_groups] for o in self.optimizers]

    def scale_rates(self, factor: float) -> None:
        """Set the learning rates to `factor` times those of the phase."""
        for optimizer, bases in zip(self.optimizers, self._bases, strict=True):
            for group, base in zip(optimizer.param_groups, bases, strict=True):
                group["lr"] = base * factor

    def weights(self) -> dict[str, Tensor]:
        """A copy of all weights by name."""
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()}

    def save(self, folder: Path) -> None:
        """Write a checkpoint folder that transformers loads."""
        save(self.model, self.tokenizer, folder)

    def imitate(self, rows: Sequence[Row], pictures: Pictures) -> float:
        """One supervised step on rows; returns the mean negative log-likelihood of a reply token, nats."""
        count = sum(len(row.reply) for row in rows)
        total = 0.0
        for batch in plan(rows, prefix_tokens=len(self.shared.prefix)):
            logits, target_T = reply_logits(self.shared, pictures, rows, batch, self.prompts.banned)
            loss = F.cross_entropy(logits, target_T, reduction="sum") / count
            loss.backward()
            total += float(loss)
        self._step()
        return total

    def reinforce(
        self,
        rows: Sequence[Row],
        advantages: Sequence[float],
        pictures: Pictures,
        *,
        denominator: float,
        clip: tuple[float, float],
    ) -> dict[str, float]:
        """One policy-gradient step on rows.

        Args:
            rows: As they were sampled.
            advantages: One a row: that of its episode.
            pictures: Of the rows.
            denominator: What the sum over tokens is divided by.
            clip: See `policy_loss`.

        Returns:
            Means over tokens: loss, kl, clipped, dropped, entropy (nats), gap (largest difference between trainer's
            and sampler's log-probabilities), gradient (norm before clipping).
        """
        sums: dict[str, float] = {"loss": 0.0, "kl": 0.0, "clipped": 0.0, "dropped": 0.0, "entropy": 0.0, "gap": 0.0}
        tokens = sum(len(row.reply) for row in rows)
        for batch in plan(rows, prefix_tokens=len(self.shared.prefix)):
            logits, target_T = reply_logits(self.shared, pictures, rows, batch, self.prompts.banned)
            every = (logits / self.temperature).log_softmax(-1)
            logprob_T = every.gather(1, target_T[:, None])[:, 0]
            sampled_T = torch.tensor([x for i in batch.order for x in rows[i].logprobs], device=every.device)
            advantage_T = spread(advantages, rows, batch).to(every.device)
            out = policy_loss(logprob_T, sampled_T, advantage_T, denominator=denominator, clip=clip)
            out.loss.backward()
            with torch.no_grad():
                share = len(target_T) / tokens
                entropy = -torch.where(every.isinf(), 0.0, every.exp() * every).sum(-1).mean()
                sums["loss"] += float(out.loss)
                sums["gap"] = max(sums["gap"], float((logprob_T - sampled_T).abs().max()))
                for name, value in (
                    ("kl", out.kl),
                    ("clipped", out.clipped),
                    ("dropped", out.dropped),
                    ("entropy", entropy),
                ):
                    sums[name] += float(value) * share
        sums["gradient"] = self._step()
        self.version += 1
        return sums

    def _step(self) -> float:
        norm = float(nn.utils.clip_grad_norm_(self.model.parameters(), 1.0))
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return norm

    def optimizer_state(self) -> list[dict[str, Any]]:
        """State of the optimisers, for an exact resume."""
        return [optimizer.state_dict() for optimizer in self.optimizers]
