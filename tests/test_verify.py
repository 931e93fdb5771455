"""The algebra of verifiers: what the parts are worth together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import VerifierError
from uigym.types import Episode, Part, Stop, Verdict
from uigym.verify import Verifier, all_of, any_of, check, failed, judge, not_, ordered, passed, tried, weighted

EPISODE = Episode("e", "shop", "buy", 0, {}, "Buy.", (), Stop.DONE)


def fixed(verdict: Verdict) -> Verifier:
    return lambda episode: verdict


YES = fixed(passed("yes"))
NO = fixed(failed("no", "expected yes, found no"))
HALF = fixed(failed("half", "one of two", score=0.5))

PARTS = st.one_of(
    st.just(passed("yes")),
    st.floats(0, 1).map(lambda score: failed("part", "because", score=score, side_effects=["x"])),
)
MANY = st.lists(PARTS, min_size=1, max_size=6)


def run(verifier: Verifier) -> Verdict:
    return verifier(EPISODE)


@pytest.mark.parametrize(
    ("verifier", "success", "score"),
    [
        (all_of(YES), True, 1.0),
        (all_of(YES, YES), True, 1.0),
        (all_of(YES, NO), False, 0.0),
        (all_of(HALF, HALF), False, 0.25),
        (all_of(NO), False, 0.0),
        (any_of(NO, YES), True, 1.0),
        (any_of(NO, HALF), False, 0.5),
        (any_of(NO), False, 0.0),
        (not_(YES), False, 0.0),
        (not_(HALF), True, 1.0),
        (weighted((1, YES), (3, NO)), False, 0.25),
        (weighted((1, YES), (1, HALF)), False, 0.75),
        (weighted((0.1, YES), (0.2, YES), (0.7, YES)), True, 1.0),
        (ordered(YES, YES), True, 1.0),
        (ordered(NO, YES), False, 0.0),
        (ordered(YES, NO, YES), False, 1 / 3),
        (ordered(YES, YES, HALF), False, 2 / 3),
        (all_of(weighted((1, YES), (1, NO)), YES), False, 0.5),
        (all_of(weighted((1, YES), (1, YES)), NO), False, 0.0),
    ],
)
def test_table(verifier: Verifier, success: bool, score: float) -> None:
    verdict = run(verifier)
    assert verdict.success is success
    assert math.isclose(verdict.score, score)


@settings(deadline=None)
@given(MANY)
def test_success_is_that_of_the_parts(verdicts: Sequence[Verdict]) -> None:
    parts = [fixed(verdict) for verdict in verdicts]
    every, some = all(v.success for v in verdicts), any(v.success for v in verdicts)
    assert run(all_of(*parts)).success is run(ordered(*parts)).success is every
    assert run(weighted(*((1.0, part) for part in parts))).success is every
    assert run(any_of(*parts)).success is some
    assert run(not_(all_of(*parts))).success is not every


@settings(deadline=None)
@given(MANY)
def test_scores_stay_in_range_and_success_means_one(verdicts: Sequence[Verdict]) -> None:
    parts = [fixed(verdict) for verdict in verdicts]
    for combined in (all_of(*parts), any_of(*parts), ordered(*parts), weighted(*((0.1, part) for part in parts))):
        verdict = run(combined)
        assert 0.0 <= verdict.score <= 1.0
        assert not verdict.success or verdict.score == 1.0
        assert bool(verdict.reason) is not verdict.success


@settings(deadline=None)
@given(MANY)
def test_a_zero_part_leaves_nothing(verdicts: Sequence[Verdict]) -> None:
    assert run(all_of(*map(fixed, verdicts), NO)).score == 0.0


@settings(deadline=None)
@given(MANY)
def test_all_parts_and_side_effects_survive(verdicts: Sequence[Verdict]) -> None:
    verdict = run(all_of(*map(fixed, verdicts)))
    assert [part.name for part in verdict.parts] == [part.name for v in verdicts for part in v.parts]
    assert set(verdict.side_effects) == {effect for v in verdicts for effect in v.side_effects}
    assert len(set(verdict.side_effects)) == len(verdict.side_effects)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(1e-3, 1e3), PARTS), min_size=1, max_size=5), st.floats(1e-3, 1e3))
def test_only_the_ratio_of_weights_counts(parts: list[tuple[float, Verdict]], factor: float) -> None:
    one = run(weighted(*((weight, fixed(v)) for weight, v in parts)))
    other = run(weighted(*((weight * factor, fixed(v)) for weight, v in parts)))
    assert math.isclose(one.score, other.score, abs_tol=1e-9)
    assert math.isclose(sum(part.weight for part in one.parts), 1.0)


def test_weights_multiply_inside_each_other() -> None:
    verdict = run(weighted((1, weighted((1, YES), (1, NO))), (1, YES)))
    assert [part.weight for part in verdict.parts] == [0.25, 0.25, 0.5]


def test_every_reason_is_told() -> None:
    verdict = run(all_of(NO, HALF, YES))
    assert verdict.reason == "expected yes, found no; one of two"
    assert [part.reason for part in verdict.parts] == ["expected yes, found no", "one of two", ""]


def test_any_of_gives_the_best_part_as_it_is() -> None:
    assert run(any_of(HALF, YES)) == passed("yes")


def test_check() -> None:
    assert check("c", True, "why") == passed("c")
    assert check("c", False, "why") == Verdict(0.0, False, (Part("c", 0.0, "why"),), "why")


@pytest.mark.parametrize("combine", [all_of, any_of, ordered, weighted])
def test_nothing_to_verify_is_an_error(combine: Any) -> None:
    with pytest.raises(ValueError, match="needs at least one verifier"):
        combine()


def test_parts_must_be_verifiers() -> None:
    with pytest.raises(TypeError, match="expected verifiers, got True"):
        all_of(True)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="weights must be positive"):
        weighted((0.0, YES))


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_scores_out_of_range_are_refused(score: float) -> None:
    with pytest.raises(ValueError, match="score must be in"):
        Verdict(score, False)


def test_success_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="a success has score 1"):
        Verdict(0.9, True)


def raising(episode: Episode) -> Verdict:
    rows: dict[str, Verdict] = {}
    return rows["rows"]


@pytest.mark.parametrize(
    ("verifier", "message"),
    [
        (raising, "the verifier of shop/buy: KeyError: 'rows'"),
        (lambda episode: True, "the verifier of shop/buy returned True, expected a Verdict"),
        (all_of(YES, raising), "the verifier of shop/buy: KeyError"),
    ],
)
def test_faults_are_the_verifiers_and_never_a_score(verifier: Any, message: str) -> None:
    with pytest.raises(VerifierError, match=message):
        judge(verifier, EPISODE)


def test_judge_gives_the_same_verdict_again() -> None:
    verifier = all_of(HALF, weighted((1, YES), (2, NO)))
    assert judge(verifier, EPISODE) == judge(verifier, EPISODE)


# --- trying one out -----------------------------------------------------------------------------------------------


def test_a_verifier_can_be_tried_on_data_that_are_made_up() -> None:
    seen: list[Episode] = []

    def look(episode: Episode) -> Verdict:
        seen.append(episode)
        return passed("look")

    assert tried(look, before={"t": [{"a": 1}]}, keys={"t": ("a",)}, answer="12").success
    assert seen[0].before == seen[0].after and seen[0].before.keys == {"t": ("a",)}
    assert (seen[0].stop, seen[0].answer) == (Stop.ANSWERED, "12")
    tried(look, before={}, after={"t": []}, url="http://x/")
    assert (seen[1].stop, seen[1].url, dict(seen[1].after.tables)) == (Stop.DONE, "http://x/", {"t": ()})
    with pytest.raises(VerifierError, match="KeyError"):
        tried(raising, before={})


@pytest.mark.parametrize("combine", [weighted, ordered])
@pytest.mark.parametrize(
    "weights", [(math.inf, 1), (1, math.nan), (0, 1), (-1, 2), (1e308, 1e308), (math.inf, math.inf)]
)
def test_weights_are_positive_and_finite(combine: Any, weights: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=f"{combine.__name__}: weights must be positive and finite"):
        combine((weights[0], YES), (weights[1], NO))


def test_only_a_success_has_the_whole_score() -> None:
    almost = Verdict(1.0, False)
    for verify in (
        weighted((1, YES), (1e-30, NO)),
        ordered((1, YES), (1e-30, NO)),
        weighted(lambda episode: almost),
        all_of(YES, lambda episode: almost),
    ):
        verdict = run(verify)
        assert 0.99 < verdict.score < 1.0 and not verdict.success


def test_weights_may_be_left_out_and_order_may_have_weights() -> None:
    assert run(weighted(YES, (3, NO))).score == 0.25
    assert run(ordered((3, YES), NO)).score == 0.75
    assert run(ordered((3, NO), YES)).score == 0.0
    with pytest.raises(ValueError, match="ordered: weights must be positive"):
        ordered((-1, YES))
