"""Advantages of groups, and which groups and members count."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.train.advantage import (
    Credit,
    credits,
    disagree,
    group_advantages,
    informative,
    rewards,
    step_advantages,
)
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
    assert informative(group) is teaches and rewards(group) == scores and disagree(scores) is teaches


# --- the others as the baseline -----------------------------------------------------------------------------


@given(REWARDS, st.booleans())
def test_leave_one_out_is_the_formula(found: list[float | None], normalise: bool) -> None:
    got = group_advantages(found, leave_one_out=True, normalise=normalise)
    valid = [r for r in found if r is not None]
    if not disagree(found):
        assert not got.any()
        return
    spread = max(float(np.std(valid)), 1e-3) if normalise else 1.0
    for reward, advantage in zip(found, got, strict=True):
        if reward is None:
            assert advantage == 0
        else:
            assert advantage == pytest.approx((reward - (sum(valid) - reward) / (len(valid) - 1)) / spread, abs=1e-9)


def test_the_others_agreeing_blows_nothing_up() -> None:
    """Seven equal rewards have a standard deviation of rounding only; the member itself is in what is divided by."""
    found = [0.1 + 0.2] + [0.3] * 6 + [0.35]
    assert np.abs(group_advantages(found, leave_one_out=True, normalise=True)).max() < 4


# --- steps --------------------------------------------------------------------------------------------------

GROUP = st.lists(
    st.tuples(st.one_of(st.none(), st.floats(0, 1)), st.lists(st.sampled_from("abc"), max_size=5)), max_size=5
)
"""Members: reward, and the state in which each step began."""


def step_reference(group: list[tuple[float | None, list[str]]], credit: Credit) -> list[list[float]]:
    worth = {
        (m, t): reward * credit.discount ** (len(states) - 1 - t)
        for m, (reward, states) in enumerate(group)
        if reward is not None
        for t in range(len(states))
    }
    out = [[0.0] * len(states) for _, states in group]
    for (m, t), own in worth.items():
        same = [w for (n, u), w in worth.items() if group[n][1][u] == group[m][1][t]]
        if max(same) - min(same) > 1e-6:
            mean = sum(same) / len(same)
            spread = math.sqrt(sum((w - mean) ** 2 for w in same) / len(same))
            out[m][t] = (own - mean) / (max(spread, credit.floor) if credit.normalise else 1.0)
    return out


@given(GROUP, st.booleans(), st.sampled_from((0.9, 1.0)))
def test_step_advantages_are_the_formula(
    group: list[tuple[float | None, list[str]]], normalise: bool, discount: float
) -> None:
    credit = Credit(normalise=normalise, discount=discount, step_weight=0.5)
    found, states = [reward for reward, _ in group], [states for _, states in group]
    steps = step_reference(group, credit)
    for got, expected in zip(step_advantages(found, states, credit), steps, strict=True):
        assert got.tolist() == pytest.approx(expected, abs=1e-6)
    whole = group_advantages(found, normalise=normalise)
    for got, advantage, expected in zip(credits(found, states, credit), whole, steps, strict=True):
        assert got.tolist() == pytest.approx([advantage + 0.5 * e for e in expected], abs=1e-6)


@given(GROUP)
def test_a_lost_member_votes_in_no_state(group: list[tuple[float | None, list[str]]]) -> None:
    valid = [(reward, states) for reward, states in group if reward is not None]
    with_lost = step_advantages([r for r, _ in group], [s for _, s in group])
    without = iter(step_advantages([r for r, _ in valid], [s for _, s in valid]))
    for (reward, _), got in zip(group, with_lost, strict=True):
        assert not got.any() if reward is None else got.tolist() == next(without).tolist()


def test_a_step_that_led_to_success_is_told_from_one_that_did_not() -> None:
    """From the cart one member paid and one went back; their first steps are alike, and the detour's are nobody else's."""
    credit = Credit(step_weight=1.0, discount=1.0)
    paid, lost = credits([1.0, 0.0], [["home", "cart"], ["home", "cart", "help"]], credit)
    assert paid.tolist() == [1.0, 1.0] and lost.tolist() == [-1.0, -1.0, -0.5]


def test_sooner_is_worth_more() -> None:
    """Two that succeed, one by a detour through the same state: the group agrees, the steps do not."""
    straight, around = credits([1.0, 1.0], [["cart"], ["cart", "help"]], Credit(step_weight=1.0, discount=0.9))
    assert straight.tolist() == pytest.approx([0.05]) and around.tolist() == pytest.approx([-0.05, 0.0])


def test_states_of_every_member_are_needed() -> None:
    with pytest.raises(ValueError, match="2 rewards with the states of 1 members"):
        credits([1.0, 0.0], [["home"]])
