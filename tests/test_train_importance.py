"""Ratios between sampler and trainer: their forms, and what masks, temperatures and cut-off tails do to them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from uigym.train.importance import log_ratios, row_lengths, row_sums
from uigym.train.losses import LossSettings, Tokens, policy_loss

ROWS = st.lists(st.tuples(st.floats(-3, 3), st.integers(-4, 4)), min_size=1, max_size=20)


@given(ROWS)
def test_the_forms(tokens: list[tuple[float, int]]) -> None:
    """Each against a dictionary of rows."""
    rows: dict[int, list[float]] = {}
    for value, row in tokens:
        rows.setdefault(row, []).append(value)
    value_T, row_T = torch.tensor([v for v, _ in tokens], dtype=torch.float64), torch.tensor([r for _, r in tokens])
    expected = {
        "none": [0.0] * len(tokens),
        "token": [v for v, _ in tokens],
        "sequence": [math.fsum(rows[r]) for _, r in tokens],
        "geometric": [math.fsum(rows[r]) / len(rows[r]) for _, r in tokens],
    }
    for kind, numbers in expected.items():
        assert log_ratios(kind, value_T, row_T).tolist() == pytest.approx(numbers, abs=1e-9), kind  # type: ignore[arg-type]
    assert row_lengths(row_T).tolist() == [len(rows[r]) for _, r in tokens]


@pytest.mark.parametrize("length", [1, 10, 100, 1000])
def test_the_geometric_mean_knows_no_length_but_the_product_does(length: int) -> None:
    gap_T, row_T = torch.full((length,), 0.012, dtype=torch.float64), torch.zeros(length, dtype=torch.long)
    assert log_ratios("geometric", gap_T, row_T).exp().tolist() == pytest.approx([math.exp(0.012)] * length)
    assert log_ratios("sequence", gap_T, row_T)[0].item() == pytest.approx(0.012 * length)
    if length == 100:
        assert log_ratios("sequence", gap_T, row_T)[0].exp().item() == pytest.approx(3.32, abs=0.01)


def test_row_sums_have_a_gradient() -> None:
    value_T = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(
        (row_sums(value_T, torch.tensor([5, 2, 5])) * torch.tensor([1.0, 10, 100])).sum(), value_T
    )
    assert gradient.tolist() == [101.0, 10.0, 101.0]


def corrected(kind: str, gaps: list[float], rows: list[int]) -> tuple[list[float], dict[str, float]]:
    """By which factor each token's gradient is weighted; and the numbers."""
    sampled_T = torch.full((len(gaps),), -2.0, dtype=torch.float64)
    old_T = sampled_T + torch.tensor(gaps, dtype=torch.float64)
    new_T = old_T.clone().requires_grad_()
    tokens = Tokens(old_T, sampled_T, torch.ones_like(old_T), torch.tensor(rows))
    out = policy_loss(LossSettings(importance=kind), new_T, tokens, denominator=1.0)  # type: ignore[arg-type]
    (gradient,) = torch.autograd.grad(out.loss, new_T)
    return (-gradient).tolist(), {name: value.item() for name, value in out.numbers.items()}


def test_a_weight_is_capped_and_what_is_beyond_is_dropped() -> None:
    ratios = [1.0, 0.5, 1.9, 3.0, 5.1, 0.19]
    weights, numbers = corrected("token", [math.log(r) for r in ratios], [0] * 6)
    assert weights == pytest.approx([1.0, 0.5, 1.9, 2.0, 0.0, 0.0])
    assert numbers["ratio/capped"] == pytest.approx(1 / 6) and numbers["ratio/dropped"] == pytest.approx(2 / 6)
    assert numbers["ratio/max"] == pytest.approx(5.1) and numbers["ratio/mean"] == pytest.approx(np.mean(ratios))
    assert numbers["gap/max"] == pytest.approx(math.log(1 / 0.19))


def test_a_row_is_weighted_or_dropped_as_one() -> None:
    gaps, rows = [0.3, 0.3, 0.9, 0.9], [0, 0, 1, 1]
    assert corrected("sequence", gaps, rows)[0] == pytest.approx([math.exp(0.6)] * 2 + [0.0] * 2)
    assert corrected("geometric", gaps, rows)[0] == pytest.approx([math.exp(0.3)] * 2 + [2.0] * 2)
    assert corrected("none", gaps, rows)[0] == pytest.approx([1.0] * 4)


# --- where sampler and trainer do not mean the same distribution -----------------------------------------------


def told(sampler: torch.Tensor, trainer: torch.Tensor, count: int = 20000) -> dict[str, float]:
    """The numbers for tokens that were drawn from one distribution's logits and are scored by another's."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.multinomial(sampler.softmax(-1), count, replacement=True, generator=generator)
    old_T, sampled_T = trainer.log_softmax(-1)[ids], sampler.log_softmax(-1)[ids]
    tokens = Tokens(old_T, sampled_T, torch.ones(count), torch.arange(count))
    out = policy_loss(LossSettings(), old_T, tokens, denominator=count)
    return {name: value.item() for name, value in out.numbers.items()}


@pytest.fixture
def logits() -> torch.Tensor:
    return torch.randn(265, generator=torch.Generator().manual_seed(1))


def test_a_mask_in_the_sampler_alone_is_a_bias_of_the_ratio(logits: torch.Tensor) -> None:
    """Every token looks likelier to the sampler, by the probability of what it may not say; in both, nothing differs."""
    masked = logits.clone()
    masked[[3, 7, 9, 11]] = -math.inf
    allowed = 1 - logits.softmax(-1)[[3, 7, 9, 11]].sum().item()
    biased = told(masked, logits)
    assert 0.95 < allowed < 0.999
    assert biased["ratio/mean"] == pytest.approx(allowed, abs=1e-5) and biased["ratio/max"] == pytest.approx(
        allowed, abs=1e-5
    )
    assert biased["gap/mean"] == pytest.approx(-math.log(allowed), abs=1e-5)
    right = told(masked, masked)
    assert right["gap/max"] == 0 and right["ratio/mean"] == 1 and right["kl"] == 0


def test_another_temperature_in_the_trainer_is_a_gap(logits: torch.Tensor) -> None:
    assert told(logits / 0.7, logits / 0.7)["gap/max"] == 0
    wrong = told(logits / 0.7, logits)
    assert wrong["gap/mean"] > 0.1 and wrong["kl"] > 0.05


@pytest.mark.parametrize("mass", [0.5, 0.8, 0.95])
def test_a_tail_that_is_cut_off_makes_every_ratio_the_mass_that_is_kept(logits: torch.Tensor, mass: float) -> None:
    """So a sampler that trains may not cut off tails: not by top-p, top-k or min-p."""
    ordered, order = logits.softmax(-1).sort(descending=True)
    kept = order[: int((ordered.cumsum(0) < mass).sum()) + 1]
    cut = torch.full_like(logits, -math.inf)
    cut[kept] = logits[kept]
    numbers = told(cut, logits)
    held = logits.softmax(-1)[kept].sum().item()
    assert numbers["ratio/mean"] == pytest.approx(held, abs=1e-4) and numbers["ratio/max"] == pytest.approx(
        held, abs=1e-4
    )
    assert held < 1 - 1e-3
