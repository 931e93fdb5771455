"""Advantages of groups, and which groups and members count."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.train.advantage import group_advantages, informative, rewards
from uigym.types import Cause, Episode, Failure, Stop, Verdict

REWARDS = st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=10)


def reference(found: list[float | None], normalise: bool) -> list[float]:
    valid = [r for r in found if r is not None]
    if len(valid) < 2 or max(valid) - min(valid) <= 1e-6:
        return [0.0] * len(found)
    mean = sum(valid) / len(valid)
    spread = max(math.sqrt(sum((r - mean) ** 2 for r in valid) / len(valid)), 1e-3) if normalise else 1.0
    return [0.0 if r is None else (r - mean) / spread for r in found]


@given(REWARDS, st.booleans())
def test_advantages_are_the_formula(found: list[float | None], normalise: bool) -> None:
    got = group_advantages(found, normalise=normalise)
    assert got.dtype == np.float64 and got.tolist() == pytest.approx(reference(found, normalise), abs=1e-9)


@given(REWARDS)
def test_advantages_sum_to_zero_and_spare_the_lost(found: list[float | None]) -> None:
    got = group_advantages(found)
    assert abs(got.sum()) < 1e-9
    assert all(a == 0 for a, r in zip(got, found, strict=True) if r is None)


@given(REWARDS, st.integers(0, 10))
def test_a_member_without_a_reward_does_not_vote(found: list[float | None], at: int) -> None:
    at = min(at, len(found))
    with_lost = [*found[:at], None, *found[at:]]
    assert np.delete(group_advantages(with_lost), at).tolist() == group_advantages(found).tolist()


@pytest.mark.parametrize(
    "found",
    [[1.0] * 8, [0.0] * 8, [0.3, 0.3 + 1e-9], [1.0], [None, 1.0, None], [None, None], []],
    ids=["all right", "all wrong", "all but equal", "alone", "one valid", "none valid", "nobody"],
)
def test_a_group_that_agrees_teaches_nothing(found: list[float | None]) -> None:
    assert not group_advantages(found).any() and not group_advantages(found, normalise=True).any()


def test_seven_against_one() -> None:
    assert group_advantages([0.4] * 7 + [0.35]).tolist() == pytest.approx([0.00625] * 7 + [-0.04375])
    normalised = group_advantages([0.4] * 7 + [0.35], normalise=True)
    assert normalised.tolist() == pytest.approx([7**-0.5] * 7 + [-(7**0.5)])


def test_rounding_is_not_blown_up_by_normalising() -> None:
    assert np.abs(group_advantages([0.5, 0.5 + 2e-6], normalise=True)).max() < 2e-3


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1])
def test_what_is_no_reward_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=r"rewards must be in \[0, 1\]"):
        group_advantages([1.0, bad, None])


def episode(score: float | None) -> Episode:
    start = Episode("id", "kiosk", "order", 1, {}, "Order.", (), Stop.ERROR, failure=Failure(Cause.BROWSER, "gone"))
    if score is None:
        return start
    return Episode("id", "kiosk", "order", 1, {}, "Order.", (), Stop.DONE, verdict=Verdict(score, score == 1.0))


@pytest.mark.parametrize(
    ("scores", "teaches"),
    [([1.0, 0.0], True), ([1.0, 0.0, None], True), ([1.0, None], False), ([1.0, 1.0], False), ([None], False)],
)
def test_which_groups_teach(scores: list[float | None], teaches: bool) -> None:
    group = [episode(score) for score in scores]
    assert informative(group) is teaches and rewards(group) == scores
