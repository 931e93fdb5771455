"""The loop: what is learnt from, when the sampler stands still, and what a checkpoint holds."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from streams import Speaks, Tasks, simulated

from uigym.bench.simulated import Scene
from uigym.errors import PolicyError, StoreError
from uigym.policy.sampler import Reply, Weights
from uigym.rollout import Finished
from uigym.slot import Limits
from uigym.train.groups import Group
from uigym.train.lesson import lesson
from uigym.train.loop import Loop, Update, forget, newest
from uigym.train.stream import Flow, Stream
from uigym.train.windows import Picture, Turn, Window
from uigym.types import Decision, Done, Episode, History, Observation, StepRecord, Stop, Verdict


class Counts:
    """A trainer whose only weight is how often it was trained; notes what with."""

    def __init__(self, took_s: float = 0.0) -> None:
        self.weight, self.took_s = 0, took_s
        self.lessons: list[tuple[Sequence[Window], Sequence[Sequence[float]], float]] = []
        self.training = threading.Event()

    def train(
        self,
        windows: Sequence[Window],
        advantages: Sequence[Sequence[float]],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
    ) -> dict[str, float]:
        assert not self.training.is_set() and threading.current_thread() is not threading.main_thread()
        self.training.set()
        assert all(picture.hash in pngs for window in windows for picture in window.pictures)
        time.sleep(self.took_s)
        self.lessons.append((windows, advantages, denominator))
        self.weight += 1
        self.training.clear()
        return {"loss": 0.5}

    def named(self) -> Iterable[tuple[str, Any]]:
        assert not self.training.is_set()
        return [("weight", self.weight)]

    def save(self, folder: Path) -> None:
        raise AssertionError("nobody asks for files")

    def checkpoint(self, folder: Path, progress: dict[str, Any] | None = None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "progress.json").write_text(json.dumps({"weight": self.weight, **(progress or {})}))

    def resume(self, folder: Path) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((folder / "progress.json").read_text())
        self.weight = told["weight"]
        return told


class Serves:
    """A sampler that notes what it is told; its weights are a number."""

    def __init__(self) -> None:
        self.version = -1
        self.weight = -1
        self.told: list[str] = []
        self.ill = 0
        """Calls that will fail."""
        self.goes = asyncio.Event()

    async def sample(self, *_: Any) -> Reply:
        raise AssertionError("the policy of these tests does without")

    async def pause(self) -> None:
        self._tell("pause")
        self.goes.clear()

    async def resume(self) -> None:
        self._tell("resume")
        self.goes.set()

    async def update(self, weights: Weights, version: int) -> None:
        self._tell(f"update {version}")
        assert self.told[-2] == "pause"
        self.version, self.weight = version, dict(weights.named())["weight"]

    async def close(self) -> None:
        self._tell("close")

    def _tell(self, word: str) -> None:
        if self.ill:
            self.ill -= 1
            raise PolicyError("connection refused")
        self.told.append(word)


class Trial:
    """A loop over a simulated pool."""

    def __init__(self, pool: Any, tasks: Tasks | None = None, flow: Flow | None = None, **options: Any):
        self.sampler, self.trainer = Serves(), options.pop("trainer", Counts())
        flow = flow or Flow(group_size=2, groups=2, max_staleness=0)
        self.stream = Stream(pool, Speaks(lambda: self.sampler.version), tasks or Tasks(), flow)
        self.loop = Loop(self.stream, self.sampler, self.trainer, **options)

    async def updates(self, count: int = 10**9) -> list[Update]:
        found: list[Update] = []
        async with aclosing(self.loop.updates()) as running:
            async for update in running:
                found.append(update)
                if len(found) == count:
                    break
        return found


async def test_updates_go_on_until_everything_was_played() -> None:
    async with simulated() as pool:
        trial = Trial(pool, Tasks(5))
        found = await trial.updates()
    assert [(u.number, len(u.groups), u.said) for u in found] == [
        (n, g, {"loss": 0.5}) for n, g in ((1, 2), (2, 2), (3, 1))
    ]
    assert trial.trainer.weight == trial.sampler.weight == trial.sampler.version == 3
    told = [word for word in trial.sampler.told if word.startswith("update")]
    assert told == ["update 0", "update 1", "update 2", "update 3"] and trial.sampler.told[-1] == "resume"
    for windows, advantages, denominator in trial.trainer.lessons[:2]:
        assert len(windows) == 4 and denominator == 4 * 500
        assert [{*given} for given in advantages] == [{-0.5}, {0.5}] * 2
        assert all(len(w.replies) == len(given) for w, given in zip(windows, advantages, strict=True))


async def test_a_loop_that_was_left_goes_on_where_it_was() -> None:
    async with simulated() as pool:
        trial = Trial(pool, Tasks(8), Flow(group_size=2, groups=2, max_staleness=1))
        found = [*await trial.updates(1), *await trial.updates(2), *await trial.updates()]
    assert [update.number for update in found] == [1, 2, 3, 4]
    assert sorted(group.number for update in found for group in update.groups) == list(range(8))


async def test_what_an_update_says() -> None:
    async with simulated() as pool:
        found = await Trial(pool, Tasks(8), Flow(group_size=2, groups=2, max_staleness=1)).updates()
    for update in found:
        told = update.numbers
        assert told["groups/kept"] == 2 and told["groups/zero_variance"] == 0 and told["loss"] == 0.5
        assert 0 <= told["staleness/mean"] <= told["staleness/max"] <= 1
        assert 0 <= told["util/env_acting"] <= told["util/env"] <= 1.001 and 0 <= told["util/trainer"] <= 1
        assert told["tokens/s"] > 0 and told["steps/s"] > 0
        assert set(told) >= {"time/rollout", "time/learn", "time/sync", "time/pause", "util/sampler"}


async def test_playing_goes_on_while_something_is_learnt() -> None:
    async with simulated() as pool:
        flow = Flow(group_size=2, groups=2, max_staleness=2)
        trial = Trial(pool, flow=flow, trainer=Counts(took_s=0.1))
        found = await trial.updates(4)
    assert max(max(update.staleness) for update in found) in (1, 2)
    assert found[-1].seconds["rollout"] < 0.1


async def test_on_one_device_the_sampler_stands_still_for_learning() -> None:
    async with simulated() as pool:
        trial = Trial(pool, alternate=True, trainer=Counts(took_s=0.05))
        found = await trial.updates(2)
    assert all(update.seconds["pause"] >= update.seconds["learn"] for update in found)
    assert all(update.seconds["learn"] > 0.04 for update in found if update.said)  # where all agree nothing is learnt
    assert trial.sampler.told == ["pause", "pause", "update 0", "resume", *["pause", "pause", "update 1", "resume"], *["pause", "pause", "update 2", "resume"]]  # fmt: skip


async def test_standing_still_is_not_held_against_a_decision() -> None:
    class Waits(Speaks):
        async def act(self, observation: Observation, history: History) -> Decision:
            await trial.sampler.goes.wait()
            return await super().act(observation, history)

    async with simulated(limits=Limits(act_s=0.2, attempt_s=0.25), retries=0) as pool:
        flow = Flow(group_size=2, groups=2, max_staleness=1)
        trial = Trial(pool, flow=flow, alternate=True, trainer=Counts(took_s=0.5))
        trial.stream.policy = Waits(lambda: trial.sampler.version)
        found = await trial.updates(2)
    assert not any(name.startswith("failures") for update in found for name in update.tally)
    assert all(update.numbers["util/env"] < 0.9 for update in found)


async def test_where_all_agree_nothing_is_learnt_and_the_version_goes_on() -> None:
    async with simulated(lambda *_: Scene(score=1.0)) as pool:
        trial = Trial(pool, flow=Flow(group_size=2, groups=2, max_staleness=0, refills=0))
        found = await trial.updates(2)
    assert trial.trainer.weight == 0 and trial.sampler.version == 2
    assert found[0].said == {} and found[0].numbers["groups/zero_variance"] == 2


async def test_a_sampler_that_is_away_is_waited_for() -> None:
    async with simulated() as pool:
        trial = Trial(pool, patience_s=5)
        trial.sampler.ill = 3
        assert len(await trial.updates(1)) == 1
        gone = Trial(pool, patience_s=0.05)
        gone.sampler.ill = 10**9
        with pytest.raises(PolicyError, match="connection refused"):
            await gone.updates(1)


async def test_a_sampler_that_lost_its_weights_is_given_them_again() -> None:
    async with simulated() as pool:
        trial = Trial(pool)
        async with aclosing(trial.loop.updates()) as running:
            async for update in running:
                assert {turn.version for turn in _turns(update)} == {update.number - 1}
                if update.number == 2:
                    trial.sampler.version = trial.sampler.weight = 0
                if update.number == 4:
                    break
    assert trial.sampler.told.count("update 2") >= 2 and trial.sampler.weight == 4


def _turns(update: Update) -> list[Turn]:
    return [sample for group in update.groups for done in group.members for sample in done.samples]


# --- checkpoints ---


async def test_a_run_goes_on_from_its_newest_whole_checkpoint(tmp_path: Path) -> None:
    async with simulated() as pool:
        whole = await Trial(pool, Tasks(12)).updates()
        trial = Trial(pool, Tasks(12))
        async with aclosing(trial.loop.updates()) as running:
            async for update in running:
                folder = await trial.loop.keep(tmp_path / f"checkpoint-{update.number}", {"mine": update.number})
                if update.number == 3:
                    break
        (tmp_path / "checkpoint-4").mkdir()
        (tmp_path / "checkpoint-4" / "progress.json").write_text("{}")  # killed before the stream was written
        assert newest(tmp_path) == folder == tmp_path / "checkpoint-3"
        again = Trial(pool, Tasks(12))
        assert again.loop.restore(folder)["mine"] == 3
        rest = await again.updates()
    assert [u.number for u in rest] == [4, 5, 6] and again.trainer.weight == 6
    assert [[g.number for g in u.groups] for u in rest] == [[g.number for g in u.groups] for u in whole[3:]]
    forget(tmp_path, folder)
    assert newest(tmp_path) == folder and not (tmp_path / "checkpoint-4").exists()


def test_a_folder_without_checkpoints(tmp_path: Path) -> None:
    assert newest(tmp_path) is None


async def test_a_checkpoint_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    class Full(Counts):
        def checkpoint(self, folder: Path, progress: dict[str, Any] | None = None) -> None:
            super().checkpoint(folder, progress)
            (folder / ".stream.draft").write_text("in the way")

    async with simulated() as pool:
        with pytest.raises(StoreError, match="cannot write"):
            await Trial(pool, trainer=Full()).loop.keep(tmp_path / "checkpoint-1")
    assert newest(tmp_path) is None


# --- lessons ---


def spoken(fresh: Sequence[bool | None], score: float) -> Finished:
    """An episode whose steps begin a window, go on with one, or (None) have no tokens."""
    samples = [
        None if f is None else Turn(f, (5, 6), (Picture(f"p{n}", 64, 48, 1),), (n, 9), (-0.1, -0.2))
        for n, f in enumerate(fresh)
    ]
    images = {f"p{n}": b"png" for n in range(len(fresh))}
    records = tuple(StepRecord(image, Done()) for image in images)
    episode = Episode("e", "pad", "count", 1, {}, "", records, Stop.DONE, verdict=Verdict(score, score == 1))
    return Finished(episode, tuple(samples), images)


def group(*members: Finished) -> Group:
    return Group(0, "count", 1, 0, done=dict(enumerate(members)), size=len(members))


def test_every_reply_gets_its_steps_advantage_whatever_the_windows() -> None:
    def by_step(group: Group) -> list[list[float]]:
        return [[10.0 * m + s for s in range(len(done.samples))] for m, done in enumerate(group.members)]

    first, second = spoken([True, None, False, True], 1.0), spoken([True], 0.0)
    got = lesson([group(first, second)], by_step)
    assert [w.replies for w in got.windows] == [((2, 4), (6, 8)), ((2, 4),), ((2, 4),)]
    assert got.advantages == [[0.0, 2.0], [3.0], [10.0]] and got.trajectories == 2 and got.tokens == 8
    assert set(got.pngs) == {"p0", "p2", "p3"}


def test_what_teaches_nothing_is_left_out() -> None:
    same = group(spoken([True], 1.0), spoken([True], 1.0))
    alone = group(spoken([True], 1.0))
    middle = group(spoken([True], 1.0), spoken([True], 0.5), spoken([True], 0.0))
    got = lesson([same, alone, middle])
    assert list(got.advantages) == [[0.5], [0.0], [-0.5]] and got.trajectories == 3
    assert lesson([same]).windows == [] and lesson([]).trajectories == 0
