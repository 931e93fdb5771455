"""`uigym train`: warm start and GRPO as a run file says, resumable."""

from __future__ import annotations

import asyncio
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
from uigym.policy.hf import TransformersPolicy
from uigym.policy.scripted import OraclePolicy
from uigym.rollout import Finished, Pool, Request
from uigym.train import checkpoint
from uigym.train.config import RunConfig
from uigym.train.data import Curriculum, Listed, choose_tasks, from_parquet, spread_over
from uigym.train.folder import open_log, write_record
from uigym.train.grpo import Update, reinforce
from uigym.train.imitate import demonstration_rows, imitate
from uigym.train.learner import Learner, Rates
from uigym.train.logs import Log
from uigym.train.playing import DEMONSTRATION_SEEDS, held_out, play

SILENT = 5
"""Updates without a group that teaches, after which a line says what to do."""


@dataclass(slots=True)
class Run:
    """A run under way: what it uses, and what it has learned so far."""

    config: RunConfig
    harness: Harness
    tasks: list[Task]
    policy: TransformersPolicy
    learner: Learner
    log: Log
    say: Callable[[str], None] = print
    curve: list[dict[str, Any]] = field(default_factory=list)
    rate: float = field(default=1.0, init=False)
    """Share of the learning rates that is in use now."""
    done: int = 0
    """Updates so far."""
    saved: int = -1
    """Updates that the newest checkpoint holds."""
    practice: Curriculum = field(init=False)
    """(task, seed) of one group after another."""

    def __post_init__(self) -> None:
        data, seed = self.config.data, self.config.seed
        if data.train_data:
            pairs = from_parquet(data.train_data, self.harness)
            self.practice = Listed(pairs, self.config.trainer.epochs, seed)
        else:
            self.practice = Curriculum(self.tasks, Split.TRAIN, seed)

    @classmethod
    def begin(cls, config: RunConfig, say: Callable[[str], None] = print) -> Run:
        """Load the harness and the model, open the log."""
        torch.set_num_threads(config.trainer.threads)
        torch.manual_seed(config.seed)
        harness = registry.load(config.harness)
        chosen = config.policy
        policy = TransformersPolicy(
            chosen.model.path, temperature=chosen.temperature, max_tokens=config.max_tokens, seed=config.seed
        )
        rates = Rates(config.trainer.matrix_lr, config.trainer.other_lr)
        learner = Learner(policy, *harness.viewport, rates=rates, picture_gradient=config.trainer.picture_gradient)
        tasks = choose_tasks(harness, config.data.tags, config.data.tasks)
        log = open_log(config, say)
        return cls(config, harness, tasks, policy, learner, log, say)

    def pool(self) -> Pool:
        """Environments for this run."""
        return Pool(self.harness, slots=self.config.inference.slots)

    # --- phases ---

    async def demonstrate(self, pool: Pool) -> list[Finished]:
        """Episodes in which the oracle succeeded, on seeds that reinforcement does not use."""
        count = self.config.trainer.warm_start.demonstrations
        first = DEMONSTRATION_SEEDS + 10_000 * (self.config.seed % 10)
        wanted = spread_over(self.tasks, Split.TRAIN, count, per_seed=PER_SEED, first=first)
        played = await play(pool, OraclePolicy(), wanted, self.say, every=100)
        shown = [f for f in played if f.episode.verdict and f.episode.verdict.success]
        self.say(f"{len(shown)} of {count} demonstrations succeeded")
        return shown

    async def imitate(self, shown: Sequence[Finished]) -> float:
        """Imitate demonstrations; returns the final loss, nats a token."""
        config = self.config.trainer.warm_start
        rows = [
            row for f in shown for row in demonstration_rows(f.episode, self.policy.prompts, *self.harness.viewport)
        ]
        pngs = {key: png for f in shown for key, png in f.images.items()}
        self.say(f"warm start: {len(rows)} steps of {len(shown)} demonstrations, {config.epochs:g} epochs")

        cancelled = threading.Event()

        def on_step(step: int, total: int, loss: float) -> None:
            if cancelled.is_set():
                raise InterruptedError("the warm start was cancelled")
            self.log.write({"phase": "warm_start", "step": step, "loss": round(loss, 4)})
            if step % 20 == 0 or step == total:
                self.say(f"warm start: step {step} of {total}, loss {loss:.3f}")

        try:
            return await asyncio.to_thread(
                imitate, self.learner, rows, pngs, config, seed=self.config.seed, on_step=on_step
            )
        finally:
            cancelled.set()

    async def test(
        self, pool: Pool, *, greedy: bool = False, episodes: int | None = None
    ) -> tuple[Evaluation, list[Finished]]:
        """Success on held-out seeds, with their looks, or on those of val_data."""
        count = episodes or self.config.data.val_episodes
        temperature, self.policy.temperature = self.policy.temperature, 0.0 if greedy else self.policy.temperature
        try:
            finished = await play(pool, self.policy, self.held_out(count), self.say)
        finally:
            self.policy.temperature = temperature
        return evaluate([f.episode for f in finished]), finished

    def held_out(self, count: int) -> list[Request]:
        """What the policy is tested on: never trained on, by seed or by look."""
        return held_out(self.config.data, self.harness, self.tasks, count)

    async def reinforce(self, pool: Pool) -> None:
        """GRPO until the updates, the seconds or the tasks are used up; checkpoints on the way."""
        trainer = self.config.trainer
        if self.done >= trainer.max_updates:
            return
        begun = time.monotonic()
        self._slow_down(0.0)
        updates = reinforce(
            pool,
            self.policy,
            self.learner,
            self.practice,
            trainer.algorithm,
            seed=self.config.seed,
            first=self.done + 1,
        )
        async with aclosing(updates) as running:  # type: ignore[type-var]
            async for update in running:
                self.done = update.number
                self._record(update, time.monotonic() - begun)
                self._slow_down(time.monotonic() - begun)
                late = trainer.max_seconds is not None and time.monotonic() - begun > trainer.max_seconds
                if late or update.number >= trainer.max_updates:
                    break
                if update.number % trainer.save_every == 0:
                    self.save()

    def _slow_down(self, wall_s: float) -> None:
        """Late steps, which meet fewer tasks that still teach, are mostly noise."""
        trainer = self.config.trainer
        by_time = wall_s / trainer.max_seconds if trainer.max_seconds else 0.0
        done = min(1.0, max(by_time, self.done / trainer.max_updates))
        self.rate = 1.0 - (1.0 - trainer.final_rate) * done
        self.learner.scale_rates(self.rate)

    def _record(self, update: Update, wall_s: float) -> None:
        row = {**update.to_json(), "wall_s": round(wall_s, 1), "rate": round(self.rate, 3)}
        self.curve.append(row)
        self.log.write({"phase": "grpo", **row})
        rate = update.steps / max(update.rollout_s, 1e-9)
        self.say(
            f"update {update.number}: reward {update.reward:.2f}, success {update.success:.0%}, {update.groups} groups taught, "
            f"{rate:.1f} steps/s, learned in {update.learn_s:.1f} s"
        )
        if len(self.curve) % SILENT == 0 and not any(row["groups"] for row in self.curve[-SILENT:]):
            fails = update.success < 0.5
            advice = "train longer on demonstrations, or begin with easier tasks" if fails else "take harder tasks"
            self.say(f"{SILENT} updates taught nothing: all groups {'fail' if fails else 'succeed'}; {advice}")

    # --- checkpoints ---

    def save(self) -> Path:
        """Write a checkpoint that a later call of `uigym train` goes on from; the older ones are removed."""
        folder = self.config.out / f"checkpoint-{self.done}"
        if self.saved == self.done:
            return folder  # nothing was learned since
        progress = {
            "update": self.done,
            "version": self.policy.version,
            "curve": self.curve,
            "practice": self.practice.state(),
        }
        checkpoint.save(folder, self.learner, progress)
        self.saved = self.done
        for old in self.config.out.glob("checkpoint-*"):
            if old != folder:
                checkpoint.remove(old)
        return folder

    def resume(self) -> bool:
        """Go on from the run's newest checkpoint; False if it has none."""
        found = checkpoint.latest(self.config.out)
        if found is None:
            return False
        progress = checkpoint.load(found, self.learner)
        with attribute(ConfigError, f"cannot resume from {found}"):
            self.done, self.curve = progress["update"], progress["curve"]
            self.practice.restore(progress["practice"])
            self.saved = self.done
        self.say(f"going on from {found} after {self.done} updates")
        return True


PER_SEED = 5
"""Tasks demonstrated on one seed: their first pictures are the same, which makes the warm start cheaper."""


def train(config: RunConfig, say: Callable[[str], None] = print) -> Path:
    """Run a run file from where it stands; returns the folder of the final checkpoint."""
    return run_sync(_train(config, say))


async def _train(config: RunConfig, say: Callable[[str], None]) -> Path:
    run = Run.begin(config, say)
    write_record(config)
    try:
        resumed = run.resume()
        async with run.pool() as pool:
            if not resumed and config.trainer.warm_start.demonstrations:
                await run.imitate(await run.demonstrate(pool))
                run.learner.set_rates(Rates(config.trainer.matrix_lr, config.trainer.other_lr))
                run.save()
            await run.reinforce(pool)
            folder = run.save()
            result, _ = await run.test(pool)
        run.log.write({"phase": "test", **result.to_json()})
        say(
            f"success on held-out seeds: {result.success_rate:.0%} ({result.low:.0%} to {result.high:.0%}); checkpoint: {folder}"
        )
        return folder
    finally:
        run.log.close()
