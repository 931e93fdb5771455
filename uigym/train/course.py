"""`uigym train` on the general path: any model family, windows of screenshots, rollouts as a stream; resumable."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from uigym import registry
from uigym.errors import ConfigError, attribute
from uigym.evaluate import Evaluation, evaluate
from uigym.harness import Harness, Split, Task
from uigym.loop import run_sync
from uigym.policy import manner
from uigym.policy.chat import ChatPolicy
from uigym.policy.scripted import OraclePolicy
from uigym.report.health import signs
from uigym.rollout import Pool
from uigym.train import metrics, parts
from uigym.train.config import RunConfig
from uigym.train.data import Curriculum, Listed, choose_tasks, from_parquet, spread_over
from uigym.train.engine import Apart, Engine
from uigym.train.folder import open_log, write_record
from uigym.train.learning import Credit, Learning
from uigym.train.logs import Log, few
from uigym.train.loop import Loop, Update, forget, newest
from uigym.train.playing import DEMONSTRATION_SEEDS, held_out, play
from uigym.train.rates import Schedule
from uigym.train.stream import Stream
from uigym.train.teaching import taught
from uigym.train.windows import Window

LOOK = 5
"""Updates after which a line says what is wrong, if something is."""
SHOWN = 4
"""Episodes of an update that are kept with their screenshots."""


@dataclass
class Course:
    """A run under way: what it uses, and how far it is."""

    config: RunConfig
    harness: Harness
    tasks: list[Task]
    engine: Engine | Apart
    policy: ChatPolicy
    log: Log
    say: Callable[[str], None] = print
    done: int = 0
    """Updates so far."""
    spent_s: float = 0.0
    """Seconds of reinforcement up to the latest update."""
    saved: Path | None = None
    """The newest checkpoint."""
    _rows: list[dict[str, float]] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set)

    @property
    def out(self) -> Path:
        """Folder of the results."""
        return self.config.out

    @property
    def manner(self) -> manner.Manner:
        """How the policy is asked."""
        chosen = self.config.policy
        codec = self.policy.family.codec
        return manner.Manner(codec, chosen.context, chosen.limit, chosen.temperature, self.config.max_tokens)

    def pool(self) -> Pool:
        """Environments for this run."""
        return Pool(self.harness, slots=self.config.inference.slots, browsers=self.config.inference.browsers)

    def practice(self) -> Curriculum:
        """(task, seed) of one group after another."""
        data, seed = self.config.data, self.config.seed
        if data.train_data:
            return Listed(from_parquet(data.train_data, self.harness), self.config.trainer.epochs, seed)
        return Curriculum(self.tasks, Split.TRAIN, seed)

    def loop(self, pool: Pool) -> Loop:
        """What plays and learns."""
        algorithm = self.config.trainer.algorithm
        stream = Stream(pool, self.policy, self.practice(), parts.flow(self.config))
        reference = parts.reference(self.config, self.out)
        learning = Learning(self.engine, self.engine.loss, algorithm, reference, self.config.seed, self.rate)
        return Loop(
            stream,
            self.policy.sampler,
            self.engine,
            learn=learning,
            credit=Credit(algorithm, self.config.seed),
            alternate=self.config.inference.vllm.sleep,
        )

    def rate(self) -> float:
        """Learning rate of the next update."""
        trainer = self.config.trainer
        schedule = Schedule(trainer.lr, trainer.warmup, trainer.decay, trainer.floor)
        gone = self.spent_s / trainer.max_seconds if trainer.max_seconds else 0.0
        return schedule.at(self.done, trainer.max_updates, gone)

    # --- phases ---

    async def warm_up(self, pool: Pool) -> None:
        """Imitate the oracle, on seeds that reinforcement does not use."""
        warm = self.config.trainer.warm_start
        first = DEMONSTRATION_SEEDS + 10_000 * (self.config.seed % 10)
        wanted = spread_over(self.tasks, Split.TRAIN, warm.demonstrations, first=first)
        played = await play(pool, OraclePolicy(), wanted, self.say, every=100)
        await self.policy.sampler.start()  # a server that measures free memory must not do so while something learns
        shown = [f for f in played if f.episode.verdict and f.episode.verdict.success]
        self.say(f"{len(shown)} of {warm.demonstrations} demonstrations succeeded")
        self.log.episodes(few(shown, SHOWN), update=0, split="train")
        rows = [window for f in shown for window in await taught(self.policy, f)]
        if not rows:
            raise ConfigError(
                "there is nothing to imitate: no demonstration succeeded by actions that the model can say"
            )
        pngs = {key: png for f in shown for key, png in f.images.items()}
        self.say(f"warm start: {len(rows)} windows of {len(shown)} demonstrations, {warm.epochs:g} epochs")
        cancelled = threading.Event()
        try:
            await asyncio.to_thread(self._imitate, rows, pngs, cancelled)
        finally:
            cancelled.set()

    def _imitate(self, rows: Sequence[Window], pngs: dict[str, bytes], cancelled: threading.Event) -> None:
        warm = self.config.trainer.warm_start
        total = max(1, round(len(rows) * warm.epochs / warm.batch_rows))
        rng = random.Random(f"warm:{self.config.seed}")
        order: list[Window] = []
        for step in range(1, total + 1):
            if cancelled.is_set():
                raise InterruptedError("the warm start was cancelled")
            if len(order) < warm.batch_rows:
                order += rng.sample(list(rows), len(rows))
            batch, order = order[: warm.batch_rows], order[warm.batch_rows :]
            falling = min(1.0, step / 10) * (1 - 0.9 * (step - 1) / total)
            told = self.engine.imitate(batch, pngs, rate=warm.lr * falling)
            numbers = {str(key): told[key] for key in ("loss", "grad_norm", "tokens")}
            self.log.write({"phase": "warm_start", "step": step, **metrics.rounded(numbers)})
            if step % 20 == 0 or step == total:
                self.say(f"warm start: step {step} of {total}, loss {told['loss']:.3f}")

    async def test(self, pool: Pool, policy: Any = None) -> Evaluation:
        """Success on held-out seeds, with their looks, or on those of val_data."""
        count = self.config.data.val_episodes
        requests = held_out(self.config.data, self.harness, self.tasks, count)
        finished = await play(pool, policy or self.policy, requests, self.say)
        result = evaluate([f.episode for f in finished])
        split = Split.of(requests[0].seed)
        self.log.episodes(few(finished, 2 * SHOWN), update=self.done, split=split)
        self.log.write({"phase": "test", "update": self.done, "split": str(split), **result.to_json()})
        self.say(
            f"after {self.done} updates: success on {split} seeds {result.success_rate:.0%} ({result.low:.0%} to {result.high:.0%})"
        )
        return result

    async def give_weights(self) -> None:
        """Let the sampler have the engine's weights, outside of the loop."""
        sampler = self.policy.sampler
        await sampler.pause()
        await sampler.update(self.engine, self.done)
        await sampler.resume()

    async def reinforce(self, pool: Pool, loop: Loop) -> None:
        """GRPO until the updates, the seconds or the tasks are used up; checkpoints and tests on the way."""
        trainer = self.config.trainer
        if self.done >= trainer.max_updates:
            return
        begun = time.monotonic() - self.spent_s
        async with aclosing(loop.updates()) as running:
            async for update in running:
                self.done = update.number
                self.spent_s = time.monotonic() - begun
                self._record(update, loop)
                late = trainer.max_seconds is not None and self.spent_s > trainer.max_seconds
                if late or self.done >= trainer.max_updates:
                    await self.save(loop)
                    break
                if self.done % trainer.save_every == 0:
                    await self.save(loop)
                if trainer.test_every and self.done % trainer.test_every == 0:
                    await self.test(pool)

    def _record(self, update: Update, loop: Loop) -> None:
        seen, loop.stream.seen = loop.stream.seen, []
        numbers = {**update.numbers, **metrics.of_episodes(seen)}
        row = {"update": update.number, "wall_s": round(self.spent_s, 1), **metrics.rounded(numbers)}
        members = [member for group in update.groups for member in group.members]
        self.log.episodes(few(members, SHOWN), update=update.number, split="train")
        self.log.write({"phase": "grpo", **row})
        self.say(
            f"update {update.number}: reward {numbers.get('reward/mean', 0):.2f}, success {numbers.get('success/all', 0):.0%}, "
            f"{numbers['groups/kept']:.0f} groups taught, {numbers['steps/s']:.1f} steps/s, learned in {numbers['time/learn']:.1f} s"
        )
        self._look(row)

    def _look(self, row: dict[str, float]) -> None:
        """Say once what is wrong with the latest updates."""
        self._rows = [*self._rows, row][-LOOK:]
        if len(self._rows) < LOOK:
            return
        bad = {sign.name: sign for sign in signs(self._rows) if not sign.good}
        for name in sorted(bad.keys() - self._warned):
            self.say(f"look: {bad[name].found}. {bad[name].advice}")
        self._warned = set(bad)

    # --- checkpoints ---

    async def save(self, loop: Loop) -> Path:
        """Write a checkpoint that a later call of `uigym train` goes on from; the older ones are removed."""
        folder = self.out / f"checkpoint-{self.done}"
        if self.saved != folder:
            await loop.keep(folder, {"updates": self.done, "spent_s": self.spent_s})
            manner.write(folder, self.manner)
            forget(self.out, folder)
            self.saved = folder
        return folder

    def resume(self, loop: Loop) -> bool:
        """Go on from the run's newest checkpoint; False if it has none."""
        found = newest(self.out)
        if found is None:
            return False
        progress = loop.restore(found)
        with attribute(ConfigError, f"cannot resume from {found}"):
            self.done, self.spent_s = int(progress["updates"]), float(progress["spent_s"])
        self.saved = found
        if isinstance(loop.learn, Learning):
            loop.learn.updates = self.done
        self.say(f"going on from {found} after {self.done} updates")
        return True


def train(config: RunConfig, say: Callable[[str], None] = print) -> Path:
    """Run a run file from where it stands; returns the folder of the final checkpoint.

    Under torchrun every rank calls this: the first one plays and leads, the others learn with it.

    Raises:
        UIGymError: A setting cannot be used, the folder holds another run, or too much was lost.
    """
    torch.set_num_threads(config.trainer.threads)
    torch.manual_seed(config.seed)
    family = parts.family(config)
    engine = parts.engine(config, family)
    try:
        if isinstance(engine, Engine) and not engine.ranks.leads:
            engine.follow()
            return config.out
        return run_sync(_train(config, engine, say))
    finally:
        engine.close()


async def _train(config: RunConfig, engine: Engine | Apart, say: Callable[[str], None]) -> Path:
    harness = registry.load(config.harness)
    tasks = choose_tasks(harness, config.data.tags, config.data.tasks)
    log = open_log(config, say)
    try:
        write_record(config)
        policy = parts.policy(config, engine, harness)
        try:
            course = Course(config, harness, tasks, engine, policy, log, say)
            return await _run(course)
        finally:
            await policy.close()
    finally:
        log.close()


async def _run(course: Course) -> Path:
    # A server takes a minute to come up: it does so beside the demonstrations.
    starting = asyncio.create_task(course.policy.sampler.start())
    starting.add_done_callback(lambda task: task.cancelled() or task.exception())  # who needs it is told
    try:
        return await _phases(course)
    finally:
        starting.cancel()


async def _phases(course: Course) -> Path:
    async with course.pool() as pool:
        loop = course.loop(pool)
        if not course.resume(loop):
            if course.config.trainer.warm_start.demonstrations:
                await course.warm_up(pool)
            if course.config.trainer.algorithm.kl:
                course.engine.save(course.out / parts.REFERENCE)
            await course.save(loop)
            await course.give_weights()
            await course.test(pool)
        await course.reinforce(pool, loop)
        await course.give_weights()
        await course.test(pool)
    assert course.saved is not None
    course.say(f"checkpoint: {course.saved}")
    return course.saved
