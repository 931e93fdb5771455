"""One update of GRPO: which episodes teach, and what is said about it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.harness import Split
from uigym.policy.hf import TransformersPolicy
from uigym.rollout import Finished, Request
from uigym.train.config import Algorithm
from uigym.train.data import Listed
from uigym.train.grpo import STEPS_PER_EPISODE, TOKENS_PER_STEP, deal, learn, reinforce, shuffled
from uigym.train.learner import Learner, Rates
from uigym.train.rows import Row
from uigym.types import Cause, Done, Episode, Failure, Observation, StepRecord, Stop, Verdict

Tiny = Callable[..., TransformersPolicy]
Picture = Callable[..., bytes]
ONE_STEP = Algorithm(group_size=3, minibatches=1)


class Recording(Learner):
    """Notes what it is asked to learn, and changes nothing."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def reinforce(
        self,
        rows: Sequence[Row],
        advantages: Sequence[float],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
        clip: tuple[float, float],
    ) -> dict[str, float]:
        self.calls.append({"rows": list(rows), "advantages": list(advantages), "pngs": pngs, "clip": clip})
        self.calls[-1]["denominator"] = denominator
        return {"loss": float(len(rows)), "gap": float(len(self.calls))}

    @property
    def taught(self) -> dict[str, float]:
        """Advantage by picture; the pictures are named after the episodes."""
        return {row.image: a for c in self.calls for row, a in zip(c["rows"], c["advantages"], strict=True)}


def finished(name: str, score: float | None, steps: int = 2, group: str = "g", task: str = "order") -> Finished:
    """An episode whose pictures are called name0, name1, and so on."""
    images = [f"{name}{n}" for n in range(steps)]
    records = tuple(StepRecord(image, Done(), text="<done>") for image in images)
    common = (name, "kiosk", task, 1, {}, "Order.", records)
    if score is None:
        episode = Episode(*common, Stop.ERROR, failure=Failure(Cause.BROWSER, "gone"), group=group)
    else:
        episode = Episode(*common, Stop.DONE, verdict=Verdict(score, score == 1.0), group=group)
    samples = tuple(Row(image, (20, 21), (30, 2), (-0.5, -0.1)) for image in images)
    return Finished(episode, samples, {image: b"png of " + image.encode() for image in images})


def test_members_teach_by_their_advantage() -> None:
    learner = Recording()
    learn(learner, [[finished("a", 1.0, 1), finished("b", 0.0, 3)]], ONE_STEP, random.Random(0))
    assert learner.taught == {"a0": 0.5, "b0": -0.5, "b1": -0.5, "b2": -0.5}
    assert learner.calls[0]["pngs"] == {image: b"png of " + image.encode() for image in learner.taught}


def test_lost_episodes_neither_train_nor_vote() -> None:
    learner = Recording()
    learn(learner, [[finished("a", 1.0, 1), finished("lost", None), finished("b", 0.0, 1)]], ONE_STEP, random.Random(0))
    assert learner.taught == {"a0": 0.5, "b0": -0.5}


@pytest.mark.parametrize("scores", [[1.0, 1.0, 1.0], [0.0, 0.0], [1.0, None], [None, None]])
def test_groups_that_agree_are_left_out(scores: list[float | None]) -> None:
    dull = [finished(f"d{n}", score) for n, score in enumerate(scores)]
    learner = Recording()
    assert learn(learner, [dull], ONE_STEP, random.Random(0)) == {} and not learner.calls
    learn(learner, [dull, [finished("a", 1.0, 1), finished("b", 0.0, 1)]], ONE_STEP, random.Random(0))
    assert set(learner.taught) == {"a0", "b0"}


def test_a_member_at_the_mean_is_left_out() -> None:
    learner = Recording()
    group = [finished("a", 1.0, 1), finished("b", 0.5, 1), finished("c", 0.0, 1)]
    learn(learner, [group], ONE_STEP, random.Random(0))
    assert set(learner.taught) == {"a0", "c0"}


def test_steps_without_tokens_are_left_out() -> None:
    """Those of a scripted policy."""
    spoken, silent = finished("a", 1.0, 2), finished("b", 0.0, 1)
    group = [Finished(spoken.episode, (None, spoken.samples[1]), spoken.images), silent]
    learner = Recording()
    learn(learner, [group], ONE_STEP, random.Random(0))
    assert set(learner.taught) == {"a1", "b0"}


def test_rows_are_dealt_to_minibatches_once_each() -> None:
    learner = Recording()
    groups = [[finished(f"a{n}.", 1.0, 3), finished(f"b{n}.", 0.0, 2)] for n in range(4)]
    config = Algorithm(group_size=2, minibatches=3, clip=(0.1, 0.3))
    told = learn(learner, groups, config, random.Random(0))
    images = Counter(row.image for call in learner.calls for row in call["rows"])
    assert len(learner.calls) == 3 and len(images) == 20 and set(images.values()) == {1}
    assert told == {"loss": pytest.approx(20 / 3), "gap": 1.0}, "means, but the gap of the first"
    for call in learner.calls:
        assert call["clip"] == (0.1, 0.3)
        assert call["denominator"] == pytest.approx(4 * 2 * STEPS_PER_EPISODE * TOKENS_PER_STEP / 3)


def test_every_pass_deals_all_rows_in_another_order() -> None:
    learner = Recording()
    config = Algorithm(group_size=2, minibatches=2, passes=3)
    learn(learner, [[finished("a", 1.0, 9), finished("b", 0.0, 9)]], config, random.Random(0))
    dealt = [[row.image for row in call["rows"]] for call in learner.calls]
    assert len(dealt) == 6 and all(sorted(dealt[i] + dealt[i + 1]) == sorted(dealt[0] + dealt[1]) for i in (2, 4))
    assert len({tuple(part) for part in dealt}) == 6


def test_rows_with_one_picture_are_dealt_together() -> None:
    rows = [Row(f"{n % 5}", (1,), (2,), (-0.1,)) for n in range(20)]
    parts = deal(rows, 3, random.Random(0))
    assert sorted(i for part in parts for i in part) == list(range(20)) and len(parts) == 3
    assert sorted(len({rows[i].image for i in part}) for part in parts) == [1, 2, 2]
    assert len({rows[i].image for part in parts for i in part}) == 5 and len(deal(rows[:2], 9, random.Random(0))) == 2


def test_fewer_rows_than_minibatches() -> None:
    learner = Recording()
    learn(learner, [[finished("a", 1.0, 1), finished("b", 0.0, 1)]], Algorithm(minibatches=9), random.Random(0))
    assert [len(call["rows"]) for call in learner.calls] == [1, 1]


# --- the control ---------------------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.none(), st.floats(0, 1))), st.integers())
def test_shuffled_rewards_are_the_same_rewards(values: list[float | None], seed: int) -> None:
    got = shuffled(values, random.Random(seed))
    assert sorted(v for v in got if v is not None) == sorted(v for v in values if v is not None)
    assert [v is None for v in got] == [v is None for v in values]


def test_shuffled_rewards_say_nothing_about_the_episode() -> None:
    config, credit = Algorithm(minibatches=1, shuffle_rewards=True), Counter[str]()
    rng = random.Random(0)
    for _ in range(200):
        learner = Recording()
        learn(learner, [[finished("a", 1.0, 1), finished("b", 0.0, 1)]], config, rng)
        credit.update({image: round(2 * a) for image, a in learner.taught.items()})
    assert abs(credit["a0"]) < 60 and abs(credit["b0"]) < 60


# --- the loop ------------------------------------------------------------------------------------------------


class FakePool:
    """Ends each episode at once: the first member of a group succeeds, the last is lost."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def run(self, policy: Any, requests: Sequence[Request], store: Any = None) -> AsyncIterator[Finished]:
        self.asked += requests
        for r in reversed(requests):
            score = None if r.member == 2 else 1.0 - r.member
            yield finished(f"{r.task}{r.seed}.{r.member}.", score, group=r.group, task=r.task)


async def test_updates_go_on_until_the_tasks_are_used_up() -> None:
    pool, learner = FakePool(), Recording()
    practice = Listed([("order", 1), ("pay_order", 2), ("order", 3)], 1, 0)
    config = Algorithm(group_size=3, groups_per_step=2, minibatches=1)
    updates = [u async for u in reinforce(pool, None, learner, practice, config, first=5)]  # type: ignore[arg-type]
    assert [(u.number, u.episodes, u.steps, u.groups) for u in updates] == [(5, 4, 12, 2), (6, 2, 6, 1)]
    assert all(u.success == u.reward == 0.5 and u.failures["browser"] for u in updates)
    groups = {request.group: (request.task, request.seed) for request in pool.asked}
    assert len(groups) == 3 and len(pool.asked) == 9 and len(set(groups.values())) == 3
    assert len(learner.calls) == 2 and practice.success == {"order": 0.5, "pay_order": 0.5}
    row = updates[0].to_json()
    assert row["update"] == 5 and row["failures"] == {"browser": 2} and row["gap"] == 1.0 and row["learn_s"] >= 0


async def test_an_update_in_which_all_agree_learns_nothing_and_is_told() -> None:
    class Lucky(FakePool):
        async def run(self, policy: Any, requests: Sequence[Request], store: Any = None) -> AsyncIterator[Finished]:
            for r in requests:
                yield finished(f"{r.member}.", 1.0, group=r.group, task=r.task)

    practice, learner = Listed([("order", Split.TRAIN.seed(1))], 1, 0), Recording()
    updates = [u async for u in reinforce(Lucky(), None, learner, practice, ONE_STEP)]  # type: ignore[arg-type]
    assert [(u.success, u.groups, dict(u.numbers)) for u in updates] == [(1.0, 0, {})] and not learner.calls
    assert practice.success["order"] > 0.5


async def test_a_whole_update_with_the_model(tiny: Tiny, picture: Picture) -> None:
    """What was sampled goes through the real learner, in as many steps as there are minibatches."""
    policy = tiny(temperature=1.5)
    learner = Learner(policy, 64, 48, rates=Rates(1e-4, 1e-4))
    seen = [Observation(picture(n), 64, 48, "Open Tea.") for n in range(2)]
    group = []
    for name, score in (("a", 1.0), ("b", 0.0)):
        samples = tuple([(await policy.act(observation, ())).sample for observation in seen])
        group.append(Finished(finished(name, score).episode, samples, {o.image_hash: o.png for o in seen}))
    told = learn(learner, [group], Algorithm(group_size=2, minibatches=2), random.Random(0))
    assert told["gradient"] > 0 and told["gap"] <= 1e-4 and policy.version == 2
