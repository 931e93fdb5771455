"""Optimisers: Muon for hidden matrices, AdamW for everything else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


class Muon(torch.optim.Optimizer):
    """Momentum whose update is made orthogonal by Newton-Schulz steps in float32.

    Float32, because processors without bfloat16 arithmetic emulate it slowly; matrices of one shape go together,
    because small matrices one by one cost more in launches than in arithmetic.

    Source: Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024.
    """

    def __init__(self, params: Iterable[nn.Parameter], lr: float = 0.01, momentum: float = 0.95, steps: int = 4):
        super().__init__(params, {"lr": lr, "momentum": momentum, "steps": steps})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update the parameters that have a gradient."""
        assert closure is None, "Muon takes no closure"
        for group in self.param_groups:
            shapes: dict[Any, list[nn.Parameter]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    shapes[parameter.shape].append(parameter)
            for parameters in shapes.values():
                self._update(parameters, group)

    def _update(self, parameters: list[nn.Parameter], group: dict[str, Any]) -> None:
        updates = []
        for p in parameters:
            velocity = self.state[p].setdefault("velocity", torch.zeros_like(p))
            velocity.lerp_(p.grad, 1 - group["momentum"])
            updates.append(p.grad.lerp(velocity, group["momentum"]))  # type: ignore[union-attr]
        high, wide = parameters[0].shape
        scale = -group["lr"] * max(1.0, high / wide) ** 0.5
        for p, direction in zip(parameters, orthogonal(torch.stack(updates), group["steps"]), strict=True):
            p.add_(direction, alpha=scale)


def orthogonal(matrices: Tensor, steps: int) -> Tensor:
    """The nearest semi-orthogonal matrices, roughly: singular values are pushed towards 1. Shape [n, a, b]."""
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.float().mT if tall else matrices.float()
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if tall else x


def make_optimizers(
    model: nn.Module, *, matrix_lr: float, other_lr: float, weight_decay: float = 0.01
) -> list[torch.optim.Optimizer]:
    """Muon for the hidden matrices of a model, AdamW for embeddings, heads, norms and biases."""
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    hidden = [p for n, p in named if p.dim() == 2 and "embed" not in n and "lm_head" not in n and "probe" not in n]
    taken = {id(p) for p in hidden}
    decayed = [p for _, p in named if id(p) not in taken and p.dim() > 1]
    plain = [p for _, p in named if id(p) not in taken and p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return [Muon(hidden, lr=matrix_lr), torch.optim.AdamW(groups, lr=other_lr, betas=(0.9, 0.98), fused=True)]
