"""Success rates: what counts, what does not, and how sure one may be."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.evaluate import evaluate, wilson
from uigym.rollout import Finished
from uigym.types import Cause, Done, Episode, Failure, StepRecord, Stop, Verdict


def episode(
    score: float | None, task: str = "add", seed: int = 0, steps: int = 2, cause: Cause = Cause.BROWSER
) -> Episode:
    verdict = None if score is None else Verdict(score, score == 1.0)
    rest: dict[str, Any] = {"verdict": verdict, "failure": Failure(cause, "gone") if verdict is None else None}
    stop = Stop.ERROR if verdict is None else Stop.DONE
    return Episode("e", "pad", task, seed, {}, "", (StepRecord("", Done()),) * steps, stop, **rest)


def test_lost_episodes_leave_numerator_and_denominator() -> None:
    found = evaluate(
        [episode(1.0), episode(0.5, steps=4), episode(None), episode(None, cause=Cause.PRODUCT), episode(None)]
    )
    assert (found.episodes, found.valid, found.successes, found.success_rate) == (5, 2, 1, 0.5)
    assert (found.mean_score, found.mean_steps) == (0.75, 3.0)
    assert found.failures == {"browser": 2, "product": 1}
    assert found.stops == {"done": 2}
    assert 0 < found.low < 0.5 < found.high < 1


def test_table_by_task() -> None:
    found = evaluate([Finished(episode(1.0, "b")), episode(0.0, "a"), episode(None, "a"), episode(None, "c")])
    assert list(found.tasks) == ["pad/a", "pad/b", "pad/c"]
    assert [score.success_rate for score in found.tasks.values()] == [0.0, 1.0, 0.0]
    assert [score.valid for score in found.tasks.values()] == [1, 1, 0]
    assert (found.tasks["pad/c"].low, found.tasks["pad/c"].high) == (0.0, 1.0)


def test_nothing_is_known_from_nothing() -> None:
    found = evaluate([])
    assert (found.episodes, found.success_rate, found.low, found.high) == (0, 0.0, 0.0, 1.0)


def test_pass_at_k() -> None:
    tries = [episode(1.0, seed=1), episode(0.0, seed=1), episode(0.0, seed=1), episode(None, seed=1)]
    tries += [episode(0.0, seed=2)] * 3
    found = evaluate(tries, pass_at=(1, 2, 3))
    assert found.pass_at == pytest.approx({1: 1 / 6, 2: 1 / 3, 3: 0.5})
    with pytest.raises(ValueError, match="pass@4 needs 4 valid attempts at some task and seed; there are at most 3"):
        evaluate(tries, pass_at=(4,))
    with pytest.raises(ValueError, match="pass@0"):
        evaluate(tries, pass_at=(0,))


def test_json_holds_it_all() -> None:
    record = json.loads(json.dumps(evaluate([episode(1.0)] * 2, pass_at=(2,)).to_json()))
    assert record["tasks"]["pad/add"]["success_rate"] == 1.0
    assert record["pass_at"] == {"2": 1.0}


def test_wilson_by_hand() -> None:
    assert wilson(8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    assert wilson(0, 30) == pytest.approx((0.0, 0.1135135), abs=1e-6)
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="2 of 1"):
        wilson(2, 1)


@given(st.integers(1, 10_000), st.data())
def test_wilson_is_an_interval_about_the_rate(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    low, high = wilson(successes, trials)
    assert 0.0 <= low <= successes / trials <= high <= 1.0
    mirrored = wilson(trials - successes, trials)
    assert math.isclose(low, 1 - mirrored[1], abs_tol=1e-9) and math.isclose(high, 1 - mirrored[0], abs_tol=1e-9)
    wider = wilson(successes * 4, trials * 4)
    assert wider[1] - wider[0] <= high - low + 1e-12
