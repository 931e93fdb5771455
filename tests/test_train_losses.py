"""The policy losses against references in numpy, and where their gradient must be zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from uigym.errors import ConfigError
from uigym.train.losses import (
    LOSSES,
    LossOut,
    LossSettings,
    Normaliser,
    Tokens,
    distance,
    divisor,
    joined,
    policy_loss,
)

LOW, HIGH, DUAL, MOST = 0.2, 0.28, 3.0, 5.0
KINDS = ("none", "token", "sequence", "geometric")
COLUMNS = tuple[list[float], list[float], list[float], list[float], list[float], list[int]]
"""new, old, sampled, reference, advantage, row; one value a token."""


def exp(x: float) -> float:
    return float(np.exp(min(x, 700.0)))


def reference(s: LossSettings, columns: COLUMNS) -> float:
    """The sum over tokens, token by token, as the formulas read."""
    new, old, sampled, fixed, advantage, row = (np.array(c, dtype=np.float64) for c in columns)
    total = 0.0
    for t in range(len(new)):
        own = row == row[t]
        ratio = exp((new - old)[own].mean() if s.name == "gspo" else new[t] - old[t])
        gap = old - sampled
        gaps = {"none": 0.0, "token": gap[t], "sequence": gap[own].sum(), "geometric": gap[own].mean()}
        weight = exp(gaps[s.importance])
        if not all(1 / s.drop <= r <= s.drop for r in (ratio, weight)):
            continue
        held = min(max(ratio, 1 - s.clip_low), 1 + s.clip_high)
        if s.name == "cispo":
            gain = held * advantage[t] * new[t]
        else:
            gain = min(ratio * advantage[t], held * advantage[t])
            if advantage[t] < 0 and s.dual_clip:
                gain = max(gain, s.dual_clip * advantage[t])
        apart = min(fixed[t] - new[t], 20.0)
        value = min(weight, s.cap) * (s.kl * ratio * (np.exp(apart) - 1 - apart) - gain)
        total += value / own.sum() if s.normaliser == "rows" else value
    return total


def tensors(columns: COLUMNS) -> tuple[torch.Tensor, Tokens]:
    new, old, sampled, fixed, advantage = (torch.tensor(c, dtype=torch.float64) for c in columns[:5])
    return new.requires_grad_(), Tokens(old, sampled, advantage, torch.tensor(columns[5]), fixed)


def with_gradient(settings: LossSettings, columns: COLUMNS, by: float = 1.0) -> tuple[LossOut, torch.Tensor]:
    new, tokens = tensors(columns)
    out = policy_loss(settings, new, tokens, denominator=by)
    return out, torch.autograd.grad(out.loss, new)[0]


NEAR = st.floats(-0.5, 0.5)
TOKEN = st.tuples(st.floats(-8, -0.6), NEAR, NEAR, NEAR, st.floats(-1, 1), st.integers(0, 3))
WILD = st.tuples(
    st.floats(-20, 0), st.floats(-200, 200), st.floats(-200, 200), st.floats(-200, 200), st.floats(-1, 1), st.integers(0, 3)
)  # fmt: skip


def columns_of(tokens: Sequence[tuple[float, float, float, float, float, int]]) -> COLUMNS:
    new, old, sampled, fixed, advantage, row = (list(c) for c in zip(*tokens, strict=True))
    at = [n + d for n, d in zip(new, old, strict=True)]
    return (
        new,
        at,
        [o + d for o, d in zip(at, sampled, strict=True)],
        [n + d for n, d in zip(new, fixed, strict=True)],
        advantage,
        row,
    )


BATCH = st.lists(TOKEN, min_size=1, max_size=12).map(columns_of)
ABSURD = st.lists(WILD, min_size=1, max_size=12).map(columns_of)
SETTINGS = st.builds(
    LossSettings.of,
    st.sampled_from(sorted(LOSSES)),
    clip_low=st.sampled_from((3e-4, 0.2, 1.0)),
    clip_high=st.sampled_from((4e-4, 0.28, 3.0)),
    importance=st.sampled_from(KINDS),
    normaliser=st.sampled_from(("constant", "tokens", "rows")),
    dual_clip=st.sampled_from((None, 4.5)),
    kl=st.sampled_from((0.0, 0.3)),
    cap=st.sampled_from((1.0, 1.2, 2.0)),
    drop=st.sampled_from((1.3, 5.0)),
)


@given(SETTINGS, st.one_of(BATCH, ABSURD))
def test_every_loss_is_its_formula_and_its_gradient_is_finite(settings: LossSettings, columns: COLUMNS) -> None:
    out, gradient = with_gradient(settings, columns, 10.0)
    assert out.loss.item() == pytest.approx(reference(settings, columns) / 10, rel=1e-9, abs=1e-9)
    assert gradient.isfinite().all() and all(v.isfinite() for v in out.numbers.values())


@given(SETTINGS.filter(lambda s: s.name not in ("cispo", "gspo")), BATCH)
def test_the_gradient_is_that_of_the_formula(settings: LossSettings, columns: COLUMNS) -> None:
    """By differences; those whose gradient is meant to be another one aside. On an edge there is none."""
    _, gradient = with_gradient(settings, columns)
    middle = reference(settings, columns)
    for t in range(len(columns[0])):
        sides = []
        for step in (-1e-6, 1e-6):
            moved = list(columns[0])
            moved[t] += step
            sides.append(reference(settings, (moved, *columns[1:])))
        left, right = (middle - sides[0]) / 1e-6, (sides[1] - middle) / 1e-6
        if abs(left - right) < 1e-4:
            assert gradient[t].item() == pytest.approx((left + right) / 2, abs=2e-4)


@given(SETTINGS, BATCH, st.randoms())
def test_neither_the_order_of_tokens_nor_the_names_of_rows_matter(
    settings: LossSettings, columns: COLUMNS, rng: Random
) -> None:
    order = list(range(len(columns[0])))
    rng.shuffle(order)
    other = tuple([c[i] for i in order] for c in columns)
    out, gradient = with_gradient(settings, columns)
    again, moved = with_gradient(settings, (*other[:5], [7 * row - 5 for row in other[5]]))  # type: ignore[arg-type]
    assert again.loss.item() == pytest.approx(out.loss.item(), abs=1e-9)
    assert moved.tolist() == pytest.approx([gradient[i].item() for i in order], abs=1e-9)


@given(SETTINGS, BATCH, st.integers(0, 3))
def test_parts_of_a_batch_add_up(settings: LossSettings, columns: COLUMNS, edge: int) -> None:
    """Split between rows: the losses add up, and the numbers are those of the whole."""
    parts = [[i for i, row in enumerate(columns[5]) if (row <= edge) is side] for side in (True, False)]
    outs = [with_gradient(settings, tuple([c[i] for i in part] for c in columns), 10.0)[0] for part in parts if part]  # type: ignore[arg-type]
    whole, _ = with_gradient(settings, columns, 10.0)
    told = joined([out.numbers for out in outs], [len(part) for part in parts if part])
    assert told == pytest.approx({name: v.item() for name, v in whole.numbers.items()}, abs=1e-9)
    assert sum(out.loss.item() for out in outs) == pytest.approx(whole.loss.item(), abs=1e-9)


@given(st.sampled_from(sorted(LOSSES)), BATCH)
def test_on_policy_every_loss_has_the_gradient_of_the_advantage(name: str, columns: COLUMNS) -> None:
    new, _, _, _, advantage, row = columns
    settings = LossSettings.of(name, normaliser="tokens")
    _, gradient = with_gradient(settings, (new, new, new, new, advantage, row), 10.0)
    assert gradient.tolist() == pytest.approx([-a / 10 for a in advantage], abs=1e-12)


def test_before_the_first_step_the_old_weights_are_the_new() -> None:
    columns: COLUMNS = ([-1.0, -2.0], [-1.0, -2.0], [-1.1, -1.5], [0.0, 0.0], [1.0, -1.0], [0, 0])
    new, tokens = tensors(columns)
    out = policy_loss(LossSettings(), new, tokens._replace(old_T=None), denominator=1.0)
    (gradient,) = torch.autograd.grad(out.loss, new)
    same, expected = with_gradient(LossSettings(), columns)
    assert torch.equal(out.loss, same.loss) and torch.equal(gradient, expected) and gradient.abs().min() > 0


def test_tokens_of_one_row_may_have_different_advantages_under_gspo() -> None:
    """The ratio is the row's, the credit is the token's."""
    new = [-1.0, -2.0, -3.0]
    _, gradient = with_gradient(LossSettings.of("gspo"), (new, new, new, new, [1.0, 0.0, -1.0], [0, 0, 0]))
    assert gradient.tolist() == pytest.approx([-1 / 3, 0, 1 / 3])


# --- the ratio to the sampler alone, under the clip ---------------------------------------------------------


def loss_of(logprobs: list[float], sampled: list[float], advantages: list[float]) -> tuple[LossOut, torch.Tensor]:
    """The loss, and its gradient with respect to the log-probabilities."""
    settings = LossSettings(clip_low=LOW, clip_high=HIGH, dual_clip=DUAL, drop=MOST, importance="none")
    return with_gradient(settings, (logprobs, sampled, sampled, sampled, advantages, [0] * len(logprobs)), 10.0)


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
    assert out.loss.item() == pytest.approx(-0.1) and out.numbers["ratio/dropped"].item() == pytest.approx(2 / 3)


def test_shares_of_clipped_and_dropped_tokens() -> None:
    ratios, advantages = [1.25, 1.5, 0.5, 4.0, 10.0], [1.0, 1.0, -1.0, -1.0, 1.0]
    numbers = loss_of([float(np.log(r)) - 3 for r in ratios], [-3.0] * 5, advantages)[0].numbers
    names = ("clip/low", "clip/high", "clip/dual", "ratio/dropped", "ratio/capped")
    assert [numbers[n].item() for n in names] == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.0])


def test_kl_is_zero_on_policy_and_positive_elsewhere() -> None:
    assert loss_of([-1.0, -2.0], [-1.0, -2.0], [1.0, 1.0])[0].numbers["kl"].item() == 0
    expected = np.mean([np.exp(d) - 1 - d for d in (0.3, -0.4)])
    assert loss_of([-1.0, -2.0], [-1.3, -1.6], [1.0, 1.0])[0].numbers["kl"].item() == pytest.approx(expected)


def test_the_denominator_does_not_depend_on_length() -> None:
    """Twice the tokens, twice the loss: a long episode is not made lighter."""
    once, _ = loss_of([-1.0], [-1.0], [1.0])
    twice, _ = loss_of([-1.0] * 2, [-1.0] * 2, [1.0] * 2)
    assert twice.loss.item() == pytest.approx(2 * once.loss.item())


# --- normalisers, penalties, settings -----------------------------------------------------------------------


def test_normalisers() -> None:
    """A row of one token and a row of three, all with advantage 1, at ratio 1."""
    columns: COLUMNS = ([-1.0] * 4, [-1.0] * 4, [-1.0] * 4, [-1.0] * 4, [1.0] * 4, [0, 1, 1, 1])
    expected: dict[Normaliser, list[float]] = {
        "constant": [-0.05] * 4,
        "tokens": [-0.25] * 4,
        "rows": [-1 / 2, -1 / 6, -1 / 6, -1 / 6],
    }
    for name, gradients in expected.items():
        settings = LossSettings(normaliser=name, k=10.0)
        by = divisor(settings, trajectories=2, rows=2, tokens=4)
        assert with_gradient(settings, columns, by)[1].tolist() == pytest.approx(gradients), name


@pytest.mark.parametrize(("normaliser", "by"), [("constant", 100.0), ("tokens", 90.0), ("rows", 6.0)])
def test_what_a_sum_is_divided_by(normaliser: Normaliser, by: float) -> None:
    assert divisor(LossSettings(normaliser=normaliser, k=50.0), trajectories=2, rows=6, tokens=90) == by


def test_a_batch_of_nothing_is_no_number_by_zero() -> None:
    assert divisor(LossSettings.of("dapo"), trajectories=0, rows=0, tokens=0) == 1
    out, gradient = with_gradient(LossSettings(), ([], [], [], [], [], []))
    assert out.loss.item() == 0 and gradient.shape == (0,) and all(v.item() == 0 for v in out.numbers.values())
    assert joined([], []) == {}


def test_the_penalty_pulls_to_the_reference() -> None:
    columns: COLUMNS = ([-1.0, -1.0], [-1.0, -1.0], [-1.0, -1.0], [-2.0, -0.5], [0.0, 0.0], [0, 0])
    out, gradient = with_gradient(LossSettings(kl=0.1), columns)
    # Of the mean of log p - log reference over what p samples: that difference itself.
    assert gradient.tolist() == pytest.approx([0.1, -0.05])
    assert out.loss.item() == pytest.approx(0.1 * 2 * out.numbers["kl/reference"].item())
    new, tokens = tensors(columns)
    with pytest.raises(ConfigError, match=r"kl=0\.1 but no log-probabilities of a reference"):
        policy_loss(LossSettings(kl=0.1), new, tokens._replace(reference_T=None), denominator=1.0)


@given(st.floats(-300, 300))
def test_a_distance_is_never_negative(difference: float) -> None:
    assert 0 <= distance(torch.tensor(difference, dtype=torch.float64)).item() < math.inf


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "grop"}, "no loss 'grop'. Did you mean \"grpo\""),
        ({"clip_low": 0.0}, r"clip_low must be in \(0, 1\], not 0"),
        ({"clip_high": -0.1}, "clip_high must be above 0"),
        ({"dual_clip": 1.2}, r"more than 1 \+ clip_high = 1.28"),
        ({"kl": -1.0}, "kl must be 0 or more"),
        ({"cap": 0.5}, "cap must be at least 1"),
        ({"drop": 1.0}, "drop must be in"),
        ({"drop": math.inf}, "drop must be in"),
        ({"k": 0.0}, "k must be above 0"),
        ({"cap": math.nan}, "cap must be at least 1"),
    ],
)
def test_settings_out_of_range(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LossSettings(**wrong)  # type: ignore[arg-type]


def test_settings_of_a_loss() -> None:
    assert LossSettings.of("grpo") == LossSettings()
    assert LossSettings.of("gspo", k=7).clip_high == 4e-4
    assert all(replace(LossSettings.of(name), kl=0.1).name == name for name in LOSSES)
    with pytest.raises(ConfigError, match="Available: cispo, dapo, dr_grpo, grpo, gspo"):
        LossSettings.of("ppo")
