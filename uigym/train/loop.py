"""The loop of training over a stream: take the groups of an update, learn, give the sampler its weights, go on.

Only the exchange of weights stops the sampler, and what it was sampling goes on afterwards. Where trainer and sampler
share a device it stops for learning too.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from uigym.busy import Spent
from uigym.errors import PolicyError
from uigym.policy.sampler import Sampler, Weights
from uigym.store import checkpoints
from uigym.train.drafts import writing
from uigym.train.groups import STATE, Group, turns
from uigym.train.lesson import Credit, Lesson, by_reward, lesson
from uigym.train.stream import Stream
from uigym.train.windows import Window

_log = logging.getLogger(__name__)
STREAM = "stream"
"""Folder of a checkpoint that holds the stream's state."""


class Trains(Weights, Protocol):
    """Weights that learn. One call at a time, from any thread; nothing changes between two of them."""

    def train(
        self,
        windows: Sequence[Window],
        advantages: Sequence[Sequence[float]],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
    ) -> Mapping[str, float]:
        """One update; returns numbers by name, such as loss, entropy, grad_norm.

        Args:
            windows: Rows, as they were sampled.
            advantages: For each window one for each of its replies.
            pngs: The windows' pictures by hash.
            denominator: What the sum over tokens is divided by.
        """

    def checkpoint(self, folder: Path, progress: dict[str, Any] | None = None) -> None:
        """Write what `resume` goes on from exactly, complete under its name or not at all, with JSON values beside."""

    def resume(self, folder: Path) -> dict[str, Any]:
        """Go on from a checkpoint; returns the values beside it."""


Learn = Callable[[Lesson], Mapping[str, float]]
"""Teaches a trainer what a lesson says; called in a thread."""


def one_step(trainer: Trains, lesson: Lesson, *, k: float = 500.0) -> Mapping[str, float]:
    """One update on all rows, a sum over tokens that is divided by `k` times the trajectories."""
    denominator = max(1.0, k * lesson.trajectories)
    return trainer.train(lesson.windows, lesson.advantages, lesson.pngs, denominator=denominator)


@dataclass(frozen=True, slots=True)
class Update:
    """What one update saw and did."""

    number: int
    """From 1: the version of the weights that it made."""
    groups: tuple[Group, ...]
    """All that it was given; some may have taught nothing."""
    tokens: int
    """Reply tokens that were learnt from."""
    said: Mapping[str, float]
    """By the trainer; empty where nothing taught anything."""
    tally: Mapping[str, int]
    """See `Stream.tally`."""
    seconds: Mapping[str, float]
    """rollout: waited for groups; learn; sync: exchange of weights; pause: the sampler stood still."""
    spent: Spent
    """Since the update before: by slots ("acting", "deciding") and by the trainer ("learning")."""
    slots: int

    @property
    def staleness(self) -> list[int]:
        """Of each reply: updates between the weights that it began with and those that learnt from it."""
        members = (member for group in self.groups for member in group.members)
        return [self.number - 1 - turn.version for member in members for turn in turns(member)]

    @property
    def numbers(self) -> dict[str, float]:
        """Flat, by the names of docs/training.md; what the episodes themselves say is not among them."""
        old, wall = self.staleness or [0], max(self.spent.wall, 1e-9)
        steps = sum(len(member.episode.steps) for group in self.groups for member in group.members)
        return {
            **self.said,
            "groups/kept": sum(group.informative for group in self.groups),
            **{name: self.tally.get(name, 0) for name in ("groups/zero_variance", "groups/refilled", "groups/dropped")},
            **{name: count for name, count in self.tally.items() if not name.startswith("groups/")},
            "staleness/mean": fmean(old),
            "staleness/max": max(old),
            "util/env": self.spent.share("acting", "deciding", of=self.slots),
            "util/env_acting": self.spent.share("acting", of=self.slots),
            "util/sampler": self.spent.some.get("deciding", 0.0) / wall,
            "util/trainer": self.spent.some.get("learning", 0.0) / wall,
            "tokens/s": self.tokens / wall,
            "steps/s": steps / wall,
            **{f"time/{name}": seconds for name, seconds in self.seconds.items()},
        }


@dataclass
class Loop:
    """Ties a stream, its sampler and a trainer together."""

    stream: Stream
    sampler: Sampler
    trainer: Trains
    learn: Learn | None = None
    """How the trainer is taught; None is `one_step`."""
    credit: Credit = by_reward
    alternate: bool = False
    """Trainer and sampler share a device: nothing is sampled while something is learnt."""
    patience_s: float = 300.0
    """How long a sampler that does not take its weights may need to come back."""
    _weights: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Held while the trainer's weights are read or changed."""

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Update after update, for as long as the caller asks for more and there is something to play.

        The stream is opened and closed here; between two updates `keep` may be called.

        Raises:
            UIGymError: Too much was lost, or the sampler does not come back.
        """
        self.stream.mend = self._mend
        async with self._weights, self._standing() as give:
            await give(self.stream.version)
        busy = self.stream.pool.busy
        async with self.stream:
            before, begun = busy.spent(), time.monotonic()
            while batch := await self.stream.batch():
                waited = time.monotonic() - begun
                learnt = lesson(batch, self.credit)
                said, seconds = await self._update(learnt)
                spent = busy.spent()
                tally, self.stream.tally = self.stream.tally, Counter()
                yield Update(
                    number=self.stream.version,
                    groups=tuple(batch),
                    tokens=learnt.tokens,
                    said=said,
                    tally=tally,
                    seconds={"rollout": waited, **seconds},
                    spent=spent.since(before),
                    slots=self.stream.pool.slots,
                )
                before, begun = spent, time.monotonic()

    # --- one update ---

    async def _update(self, learnt: Lesson) -> tuple[Mapping[str, float], dict[str, float]]:
        """Learn, exchange the weights, let the stream go on; returns what was said, and seconds."""
        begun = time.monotonic()
        async with self._weights:
            if self.alternate:
                async with self._standing() as give:
                    stopped = time.monotonic()
                    said = await self._learn(learnt)
                    at = time.monotonic()
                    await give(self.stream.version + 1)
            else:
                said = await self._learn(learnt)
                stopped = at = time.monotonic()
                async with self._standing() as give:
                    await give(self.stream.version + 1)
            self.stream.advance()
        end = time.monotonic()
        return said, {"learn": at - begun, "sync": end - at, "pause": end - stopped}

    async def _learn(self, learnt: Lesson) -> Mapping[str, float]:
        if not learnt.windows:
            return {}
        with self.stream.pool.busy.phase("learning"):
            return await asyncio.to_thread(self.learn or partial(one_step, self.trainer), learnt)

    @asynccontextmanager
    async def _standing(self) -> AsyncIterator[Callable[[int], Any]]:
        """The sampler stands still; what comes back is `give`, which exchanges its weights and lets it go on."""
        with self.stream.pool.hold():
            await self._patiently(self.sampler.pause)
            yield partial(self._patiently, self._exchange)

    async def _exchange(self, version: int) -> None:
        await self.sampler.pause()  # one that has begun anew does not know that it was told to
        await self.sampler.update(self.trainer, version)
        await self.sampler.resume()

    async def _patiently(self, call: Callable[..., Any], *given: int) -> None:
        """Again and again while the sampler's machinery fails, for as long as patience lasts."""
        end = time.monotonic() + self.patience_s
        while True:
            try:
                await call(*given)
                return
            except PolicyError as exc:
                if time.monotonic() > end:
                    raise
                _log.warning("the sampler does not answer, trying again: %s", exc)
                await asyncio.sleep(min(1.0, self.patience_s / 20))

    async def _mend(self, distrusted: bool) -> None:
        """Give a sampler that has lost its weights, as one that was started again has, the present ones."""
        if not distrusted and self.sampler.version == self.stream.version:
            return
        async with self._weights:
            if distrusted or self.sampler.version != self.stream.version:
                _log.warning("the sampler has weights of version %d, not %d", self.sampler.version, self.stream.version)
                async with self._standing() as give:
                    await give(self.stream.version)

    # --- checkpoints ---

    async def keep(self, folder: Path, progress: dict[str, Any] | None = None) -> Path:
        """Write a checkpoint from which `restore` goes on exactly; it counts only when it is complete.

        Args:
            folder: Named checkpoint-N.
            progress: JSON values of the caller's own.

        Raises:
            StoreError: It cannot be written.
        """
        async with self._weights:
            await asyncio.to_thread(self._write, folder, progress or {}, self.stream.keep())
        return folder

    def _write(self, folder: Path, progress: dict[str, Any], stream: Callable[[Path], None]) -> None:
        self.trainer.checkpoint(folder, progress)
        draft = folder / f".{STREAM}.draft"
        with writing(folder):
            stream(draft)
            draft.replace(folder / STREAM)

    def restore(self, folder: Path) -> dict[str, Any]:
        """Go on from a checkpoint, before `updates`; returns the caller's progress.

        Raises:
            StoreError: It is not complete, or of another kind of run.
        """
        progress = self.trainer.resume(folder)
        self.stream.restore(folder / STREAM)
        return progress


def newest(run: Path) -> Path | None:
    """The newest checkpoint of a run folder that a loop can go on from; None if there is none."""
    return next((folder for folder in reversed(checkpoints(run)) if (folder / STREAM / STATE).is_file()), None)


def forget(run: Path, kept: Path) -> None:
    """Delete the checkpoints of a run folder other than the one that is kept, their marks of completeness first."""
    for old in checkpoints(run):
        if old != kept:
            (old / STREAM / STATE).unlink(missing_ok=True)
            (old / "progress.json").unlink(missing_ok=True)
            shutil.rmtree(old, ignore_errors=True)
