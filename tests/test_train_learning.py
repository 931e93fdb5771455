"""How an update learns: its parts and passes, what each is divided by, and what is said of all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from uigym.train.config import Algorithm
from uigym.train.learning import Learning, joined, loss_settings
from uigym.train.lesson import Lesson
from uigym.train.rates import Schedule
from uigym.train.windows import Window


class Notes:
    """A trainer that notes what it is given; its log-probabilities are -1."""

    def __init__(self) -> None:
        self.steps: list[tuple[list[Window], float]] = []
        self.known: list[tuple[Any, ...]] = []

    def score(self, windows: Sequence[Window], pngs: Mapping[str, bytes]) -> list[list[float]]:
        return [[-1.0] * len(window.logprobs) for window in windows]

    def train(
        self,
        windows: Sequence[Window],
        advantages: Sequence[Sequence[float]],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
        old: Sequence[Sequence[float]] | None = None,
        reference: Sequence[Sequence[float]] | None = None,
        rate: float | None = None,
    ) -> dict[str, float]:
        self.steps.append((list(windows), denominator))
        self.known.append((old, reference, rate))
        return {"loss": 1.0, "replies": sum(len(window.logprobs) for window in windows)}


def window(tokens: int) -> Window:
    return Window(tuple(range(tokens + 1)), ((1, tokens + 1),), (-1.0,) * tokens, (), (0,))


def lesson(tokens: Sequence[int], advantages: Sequence[float]) -> Lesson:
    return Lesson([window(n) for n in tokens], [[a] for a in advantages], {}, len(tokens))


@pytest.mark.parametrize(("name", "whole"), [("dr_grpo", 2000.0), ("dapo", 16.0), ("gspo", 4.0)])
def test_rows_without_an_advantage_are_part_of_the_mean(name: str, whole: float) -> None:
    algorithm, trainer = Algorithm(name=name), Notes()
    Learning(trainer, loss_settings(algorithm), algorithm)(lesson([2, 4, 4, 6], [0.5, 0.0, 0.0, -0.5]))
    ((windows, denominator),) = trainer.steps
    assert len(windows) == 4 and denominator == whole
    assert trainer.known == [(None, None, None)]


def test_every_pass_sees_every_row_once() -> None:
    algorithm, trainer = Algorithm(name="dapo", minibatches=2, passes=3), Notes()
    Learning(trainer, loss_settings(algorithm), algorithm, Notes(), rate=iter([0.25]).__next__)(
        lesson([2, 3, 4, 5], [1, -1, 1, -1])
    )
    assert len(trainer.steps) == 6
    for first, second in zip(trainer.steps[::2], trainer.steps[1::2], strict=True):
        assert sorted(len(w.logprobs) for part in (first, second) for w in part[0]) == [2, 3, 4, 5]
        assert first[1] + second[1] == 14  # each part by its own tokens
    assert [known[2] for known in trainer.known] == [0.25] * 6
    assert all(len(known[0]) == len(known[1]) == 2 for known in trainer.known)


def test_what_the_steps_say_is_said_of_the_update() -> None:
    first = {"loss": 1.0, "grad_norm": 3.0, "replies": 30, "gap/mean": 0.02, "gap/max": 0.1, "entropy": 1.0}
    second = {"loss": 3.0, "grad_norm": 1.0, "replies": 10, "gap/mean": 0.06, "gap/max": 0.5, "entropy": 2.0}
    told = joined([first, second])
    expected = {"loss": 2.0, "grad_norm": 2.0, "replies": 20, "gap/mean": 0.03, "gap/max": 0.5, "entropy": 1.25}
    assert told.keys() == expected.keys()
    assert all(math.isclose(told[name], value) for name, value in expected.items())


# --- the learning rate ---


def rates(schedule: Schedule, total: int) -> list[float]:
    return [schedule.at(done, total) for done in range(total + 1)]


def test_without_a_decay_the_rate_stays() -> None:
    assert rates(Schedule(2.0), 3) == [2.0] * 4
    assert rates(Schedule(2.0, warmup=4), 6) == [0.5, 1.0, 1.5, 2.0, 2.0, 2.0, 2.0]


def test_it_falls_to_its_floor_at_the_end() -> None:
    assert rates(Schedule(1.0, decay="linear", floor=0.0), 4) == [1.0, 0.75, 0.5, 0.25, 0.0]
    assert rates(Schedule(1.0, warmup=1, decay="linear", floor=0.4), 4) == pytest.approx([1.0, 1.0, 0.8, 0.6, 0.4])
    cosine = rates(Schedule(1.0, decay="cosine", floor=0.2), 4)
    assert cosine == pytest.approx([0.2 + 0.8 * (1 + math.cos(math.pi * n / 4)) / 2 for n in range(5)])
    assert cosine[2] == pytest.approx(0.6)


def test_it_falls_by_time_where_that_ends_sooner() -> None:
    schedule = Schedule(1.0, decay="linear", floor=0.0)
    assert schedule.at(1, 100, gone=0.5) == 0.5 and schedule.at(60, 100, gone=0.5) == pytest.approx(0.4)
    assert schedule.at(200, 100, gone=3.0) == 0.0  # a run that is gone on with beyond its end


@pytest.mark.parametrize("total", [0, 1, 2])
def test_a_run_that_is_shorter_than_its_warm_up(total: int) -> None:
    assert rates(Schedule(1.0, warmup=3, decay="cosine"), total) == pytest.approx(
        [(n + 1) / 3 for n in range(total + 1)]
    )
