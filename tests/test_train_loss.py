"""The policy loss against a reference in numpy, and where its gradient must be zero."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from uigym.train.loss import PolicyLoss, policy_loss

LOW, HIGH, DUAL, MOST = 0.2, 0.28, 3.0, 5.0


def reference(logprobs: list[float], sampled: list[float], advantages: list[float], denominator: float) -> float:
    """Token by token, as the formula reads."""
    total = 0.0
    for new, old, advantage in zip(logprobs, sampled, advantages, strict=True):
        ratio = np.exp(np.float64(new) - old)
        if not 1 / MOST <= ratio <= MOST:
            continue
        gain = min(ratio * advantage, min(max(ratio, 1 - LOW), 1 + HIGH) * advantage)
        if advantage < 0:
            gain = max(gain, DUAL * advantage)
        total += gain
    return -total / denominator


def loss_of(logprobs: list[float], sampled: list[float], advantages: list[float]) -> tuple[PolicyLoss, torch.Tensor]:
    """The loss, and its gradient with respect to the log-probabilities."""
    new = torch.tensor(logprobs, dtype=torch.float64, requires_grad=True)
    old, advantage = (torch.tensor(x, dtype=torch.float64) for x in (sampled, advantages))
    out = policy_loss(new, old, advantage, denominator=10.0, clip=(LOW, HIGH), dual_clip=DUAL, max_ratio=MOST)
    return out, torch.autograd.grad(out.loss, new)[0]


TOKEN = st.tuples(st.floats(-20, 0), st.floats(-200, 0), st.floats(-1, 1))


@given(st.lists(TOKEN, min_size=1, max_size=12))
def test_the_loss_is_the_formula(tokens: list[tuple[float, float, float]]) -> None:
    logprobs, sampled, advantages = (list(column) for column in zip(*tokens, strict=True))
    out, gradient = loss_of(logprobs, sampled, advantages)
    assert out.loss.item() == pytest.approx(reference(logprobs, sampled, advantages, 10.0), abs=1e-9)
    assert gradient.isfinite().all()


def test_on_policy_the_gradient_is_the_advantage() -> None:
    advantages = [0.5, -0.5, 0.25, 0.0]
    _, gradient = loss_of([-1.0] * 4, [-1.0] * 4, advantages)
    assert gradient.tolist() == pytest.approx([-a / 10 for a in advantages])


@pytest.mark.parametrize(
    ("ratio", "advantage", "moves"),
    [
        (1.2, 1.0, True),
        (1.3, 1.0, False),
        (0.7, 1.0, True),
        (0.85, -1.0, True),
        (0.75, -1.0, False),
        (1.4, -1.0, True),
        (2.9, -1.0, True),
        (3.1, -1.0, False),
        (5.1, -1.0, False),
        (5.1, 1.0, False),
        (0.19, 1.0, False),
        (1.0, 0.0, False),
    ],
)
def test_where_a_token_is_pushed(ratio: float, advantage: float, moves: bool) -> None:
    """Not further up once it is up, not further down once it is down; back, always."""
    _, gradient = loss_of([float(np.log(ratio)) - 2.0], [-2.0], [advantage])
    assert (gradient.item() != 0) is moves
    if moves:
        assert np.sign(gradient.item()) == -np.sign(advantage)


def test_an_absurd_ratio_is_dropped_and_hurts_nobody() -> None:
    out, gradient = loss_of([-1.0, -1.0, -800.0], [-1000.0, -1.0, -1.0], [1.0, 1.0, -1.0])
    assert gradient.tolist() == pytest.approx([0.0, -0.1, 0.0])
    assert out.loss.item() == pytest.approx(-0.1) and out.dropped.item() == pytest.approx(2 / 3)


def test_shares_of_clipped_and_dropped_tokens() -> None:
    ratios, advantages = [1.0, 1.5, 0.5, 10.0], [1.0, 1.0, -1.0, 1.0]
    out, _ = loss_of([float(np.log(r)) - 3 for r in ratios], [-3.0] * 4, advantages)
    assert out.clipped.item() == pytest.approx(0.5) and out.dropped.item() == pytest.approx(0.25)


def test_kl_is_zero_on_policy_and_positive_elsewhere() -> None:
    assert loss_of([-1.0, -2.0], [-1.0, -2.0], [1.0, 1.0])[0].kl.item() == 0
    expected = np.mean([np.exp(d) - 1 - d for d in (0.3, -0.4)])
    assert loss_of([-1.0, -2.0], [-1.3, -1.6], [1.0, 1.0])[0].kl.item() == pytest.approx(expected)


def test_the_denominator_does_not_depend_on_length() -> None:
    """Twice the tokens, twice the loss: a long episode is not made lighter."""
    once, _ = loss_of([-1.0], [-1.0], [1.0])
    twice, _ = loss_of([-1.0] * 2, [-1.0] * 2, [1.0] * 2)
    assert twice.loss.item() == pytest.approx(2 * once.loss.item())
