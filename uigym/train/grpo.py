"""The GRPO loop: play groups, compare their members, take one step, again.

Rollouts go through the same environments as everything else. Episodes that the machinery lost have no reward: they
neither train nor vote. Groups whose members all got the same reward teach nothing and are left out.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from uigym.policy.hf import TransformersPolicy
from uigym.rollout import Finished, Pool, Request
from uigym.train.advantage import group_advantages, informative, rewards
from uigym.train.config import Algorithm
from uigym.train.data import Curriculum
from uigym.train.learner import Learner
from uigym.train.rows import Row

CLIP = (0.2, 0.28)
MINIBATCHES = 3
"""Of this path, where the run file does not say."""
STEPS_PER_EPISODE = 4
TOKENS_PER_STEP = 5
"""Typical counts: the sum over tokens is divided by their product times the number of episodes, a constant, so that
an episode's weight does not depend on its length."""


@dataclass(frozen=True, slots=True)
class Update:
    """What one update saw and did."""

    number: int
    """From 1."""
    episodes: int
    """With a verdict."""
    reward: float
    """Mean over those."""
    success: float
    """Share of successes among those."""
    groups: int
    """Groups that taught something."""
    steps: int
    """Environment steps."""
    failures: Mapping[str, int]
    """Episodes that the machinery lost, by cause."""
    rollout_s: float
    learn_s: float
    numbers: Mapping[str, float]
    """What `Learner.reinforce` says; empty where no group taught anything."""

    def to_json(self) -> dict[str, Any]:
        """As one flat object."""
        plain = {
            "update": self.number,
            "episodes": self.episodes,
            "reward": round(self.reward, 4),
            "success": round(self.success, 4),
        }
        times = {
            "groups": self.groups,
            "steps": self.steps,
            "rollout_s": round(self.rollout_s, 2),
            "learn_s": round(self.learn_s, 2),
        }
        return {**plain, **times, "failures": dict(self.failures), **{k: round(v, 5) for k, v in self.numbers.items()}}


async def reinforce(
    pool: Pool,
    policy: TransformersPolicy,
    learner: Learner,
    practice: Curriculum,
    config: Algorithm,
    *,
    seed: int = 0,
    first: int = 1,
) -> AsyncIterator[Update]:
    """Update after update, for as long as the caller asks for more and there are tasks.

    Args:
        pool: Where episodes are run.
        policy: Who plays.
        learner: Trains the policy's model.
        practice: (task, seed) of one group after another; hears how each group did.
        config: Group size, groups, clip.
        seed: Of the shuffled rewards of the control.
        first: Number of the first update.
    """
    number = first
    while batch := [pair for _, pair in zip(range(config.groups_per_step), practice, strict=False)]:
        begun = time.monotonic()
        groups = await play(pool, policy, batch, config.group_size, number)
        played = time.monotonic()
        rng = random.Random(f"update:{seed}:{number}")  # of its own, so that a resumed run draws the same
        numbers = await asyncio.to_thread(learn, learner, groups, config, rng)
        for group in groups:
            if found := [r.success for f in group if (r := f.episode.verdict)]:
                practice.hear(group[0].episode.task.rpartition("/")[2], sum(found) / len(found))
        yield _sum_up(number, groups, numbers, played - begun, time.monotonic() - played)
        number += 1


async def play(
    pool: Pool, policy: TransformersPolicy, batch: Sequence[tuple[str, int]], size: int, number: int
) -> list[list[Finished]]:
    """Run the groups of one update; each is `size` episodes of one task and seed."""
    wanted = [
        Request(task, seed, f"u{number}g{at}", member)
        for at, (task, seed) in enumerate(batch)
        for member in range(size)
    ]
    groups: dict[str, list[Finished]] = defaultdict(list)
    async with aclosing(pool.run(policy, wanted)) as running:
        async for finished in running:
            groups[finished.episode.group].append(finished)
    return list(groups.values())


def learn(
    learner: Learner, groups: Sequence[Sequence[Finished]], config: Algorithm, rng: random.Random
) -> dict[str, float]:
    """Policy-gradient steps on the groups that teach something; {} if none does."""
    rows: list[Row] = []
    advantages: list[float] = []
    pngs: dict[str, bytes] = {}
    for group in groups:
        found = rewards([finished.episode for finished in group])
        if config.shuffle_rewards:
            found = shuffled(found, rng)
        if not informative([f.episode for f in group]):
            continue
        for finished, advantage in zip(group, group_advantages(found, normalise=config.normalise), strict=True):
            if finished.episode.verdict is not None and advantage:
                own = [sample for sample in finished.samples if isinstance(sample, Row)]
                rows += own
                advantages += [float(advantage)] * len(own)
                pngs.update(finished.images)
    if not rows:
        return {}
    clip, minibatches = config.clip or CLIP, config.minibatches or MINIBATCHES
    denominator = len(groups) * config.group_size * STEPS_PER_EPISODE * TOKENS_PER_STEP / minibatches
    told: list[dict[str, float]] = []
    for _ in range(config.passes):
        for chosen in deal(rows, minibatches, rng):
            some = [rows[i] for i in chosen], [advantages[i] for i in chosen]
            told.append(learner.reinforce(*some, pngs, denominator=denominator, clip=clip))
    # The gap between sampler and trainer is only theirs before the first step has changed the weights.
    means = {name: sum(n[name] for n in told) / len(told) for name in told[0]}
    return {**means, "gap": told[0]["gap"]}


def deal(rows: Sequence[Row], count: int, rng: random.Random) -> list[list[int]]:
    """Indices of rows in at most `count` parts; rows with one picture stay together, which computes it once."""
    pictures: dict[str, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        pictures[row.image].append(index)
    order = rng.sample(list(pictures.values()), len(pictures))
    return [[index for own in order[part::count] for index in own] for part in range(min(count, len(order)))]


def shuffled(values: Sequence[float | None], rng: random.Random) -> list[float | None]:
    """The rewards in random order; episodes without one stay without."""
    given = [v for v in values if v is not None]
    rng.shuffle(given)
    rest = iter(given)
    return [None if v is None else next(rest) for v in values]


def _sum_up(
    number: int, groups: Sequence[Sequence[Finished]], numbers: Mapping[str, float], rollout_s: float, learn_s: float
) -> Update:
    episodes = [finished.episode for group in groups for finished in group]
    judged = [e.verdict for e in episodes if e.verdict is not None]
    return Update(
        number=number,
        episodes=len(judged),
        reward=sum(v.score for v in judged) / max(1, len(judged)),
        success=sum(v.success for v in judged) / max(1, len(judged)),
        groups=sum(informative([f.episode for f in group]) for group in groups),
        steps=sum(len(e.steps) for e in episodes),
        failures=Counter(str(e.failure.cause) for e in episodes if e.failure is not None),
        rollout_s=rollout_s,
        learn_s=learn_s,
        numbers=numbers,
    )
