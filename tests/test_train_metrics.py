"""The numbers of an update."""

from __future__ import annotations

from uigym.harness import Split
from uigym.train.metrics import of_episodes, quantile, rounded
from uigym.types import Cause, Click, Episode, Failure, StepRecord, Stop, Verdict


def episode(task: str, seed: int, score: float | None, refused: int = 0) -> Episode:
    steps = tuple(StepRecord("", Click(1, 1), error="no" if n < refused else None) for n in range(2))
    how = (
        {"stop": Stop.ERROR, "failure": Failure(Cause.BROWSER, "gone")}
        if score is None
        else {"stop": Stop.DONE, "verdict": Verdict(score, score == 1.0)}
    )
    return Episode(f"{task}-{seed}", "kiosk", task, seed, {}, "", steps, **how)


def test_lost_episodes_are_counted_and_nothing_else() -> None:
    heldout = Split.HELDOUT.seed(0)
    told = of_episodes(
        [episode("a", 0, 1.0), episode("a", 1, 0.5, 2), episode("b", heldout, 1.0), episode("b", 2, None)]
    )
    assert told["episodes"] == 3 and told["steps"] == 8 and told["failures/browser"] == 1
    assert told["reward/mean"] == 2.5 / 3 and told["episode/refused"] == 2 / 3 and told["episode/steps"] == 2
    assert told["success/all"] == 2 / 3 and told["success/task/a"] == 0.5 and told["success/task/b"] == 1
    assert told["success/split/train"] == 0.5 and told["success/split/heldout"] == 1
    assert abs(told["reward/p10"] - 0.6) < 1e-12 and told["reward/p90"] == 1.0


def test_without_a_verdict_there_is_no_reward() -> None:
    told = of_episodes([episode("a", 0, None)])
    assert told == {"episodes": 0, "steps": 2, "failures/browser": 1}
    assert of_episodes([]) == {"episodes": 0, "steps": 0}


def test_quantiles_and_rounding() -> None:
    assert [quantile([0.0, 1.0, 2.0, 3.0, 4.0], q) for q in (0, 0.1, 0.5, 1)] == [0, 0.4, 2, 4]
    assert rounded({"a": 0.123456789, "n": 3}) == {"a": 0.123457, "n": 3}
