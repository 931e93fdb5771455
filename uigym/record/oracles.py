"""Demonstrations by a policy, usually the oracle, at the speed of a rollout: over processes, in several looks, proven.

To play each one again would take as long as to record it, so by default some of each task are: if all of them end as
recorded, the others of the task count too, and their proofs say that they were not played themselves. If one does not,
all of the task are played. What doing nothing is worth is judged in every episode, before its first action.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import itertools
import math
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from uigym import registry
from uigym.env import Env
from uigym.errors import ConfigError
from uigym.harness import Harness
from uigym.policy import EpisodePolicy, Policy, policy_name
from uigym.policy.scripted import OraclePolicy
from uigym.record.crew import Deal, Tell, share
from uigym.record.demo import Demo, Proof, read_demo, write_demo
from uigym.record.played import Recording, why_not
from uigym.record.replay import Replay, Terms, replay
from uigym.record.vary import varied
from uigym.rollout import Finished, Pool, Request
from uigym.store import RunStore
from uigym.types import Action, Decision, History, Observation

Proving: TypeAlias = Literal["some", "all", "none"]
"""Which demonstrations are played again."""
SHARE, LEAST = 0.05, 2
"""Of the demonstrations of a task, how many are played again by "some", and how many at least."""
Player: TypeAlias = Callable[[], Policy | EpisodePolicy]
"""Makes the policy, in each process; with several processes it must be picklable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be recorded, and how."""

    tasks: tuple[str, ...]
    """Names."""
    seeds: tuple[int, ...]
    variations: int = 1
    """In how many looks and wordings each task and seed is shown; the first is the seed's own."""
    player: Player = OraclePolicy
    proving: Proving = "some"
    product_version: str = ""
    slots: int = 4
    """Episodes at once in each process."""
    workers: int = 1
    """Processes."""

    def requests(self, variation: int) -> list[Request]:
        """Every task with every seed, seed by seed."""
        return [Request(task, seed, member=variation) for seed in self.seeds for task in self.tasks]


@dataclass(slots=True)
class Proven:
    """What came of proving."""

    played: int = 0
    """Demonstrations that were played again."""
    counting: int = 0
    """Demonstrations that count, also those that were not played themselves."""
    seconds: float = 0.0
    """How long that took."""
    broken: dict[str, str] = field(default_factory=dict)
    """Those that do not count, or could not be played: by id, why."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A demonstration that was just recorded."""

    id: str
    task: str
    steps: int
    idle: bool | None
    """Whether doing nothing passes; None if that was not judged."""


def record_played(
    ref: str, order: Order, store: RunStore, hear: Callable[[str, bool], None]
) -> tuple[Recording, Proven]:
    """Record demonstrations and prove them; what is in the store already is not recorded again.

    Args:
        ref: Names the harness, as `uigym.registry.load` takes it.
        order: What is to be recorded.
        store: Where the demonstrations go.
        hear: Called with the task and whether it went well: for every episode, and for every replay.

    Raises:
        ConfigError: Nothing is wanted.
        ProductError, BrowserError: The machinery cannot be started, or fails too often.
        StoreError: The folder cannot be written.
    """
    store.claim()
    name, there = registry.load(ref).name, store.demonstrations()
    wanted = [order.requests(number) for number in range(order.variations)]
    batches = [[request for request in some if request.id(name) not in there] for some in wanted]
    if not any(wanted):
        raise ConfigError(f"nothing to record: no task of {name} that is meant has an oracle")
    old = [request for some in wanted for request in some if request.id(name) in there]
    recording, kept = Recording(), _unproven(store, name, old)
    if old:
        recording.left_out["already recorded"] = len(old)

    def note(told: Kept | tuple[str, str]) -> None:
        if isinstance(told, Kept):
            kept.append(told)
            recording.kept += 1
            recording.steps += told.steps
            hear(told.task, True)
        else:
            recording.left_out[told[1]] += 1
            hear(told[0], False)

    if any(batches):
        work = functools.partial(record_part, ref, store.directory, batches, order)
        share(work, len(batches), min(order.workers, sum(map(len, batches))), note)
    return recording, _prove(ref, order, store, kept, hear)


def _unproven(store: RunStore, harness: str, requests: Iterable[Request]) -> list[Kept]:
    """Those that an earlier recording has left without a proof, as when it was stopped."""
    found = []
    for request in requests:
        demo = read_demo(store, request.id(harness))
        if demo is None or demo.proof is None:
            found.append(Kept(request.id(harness), request.task, 0, None))
    return found


async def record_part(
    ref: str, directory: Path, batches: Sequence[Sequence[Request]], order: Order, deal: Deal, tell: Tell
) -> None:
    """What one process does of a recording: what it is dealt."""
    store, policy = RunStore(directory).under_claim(), _Judged(order.player())
    for variation, requests in enumerate(batches):
        dealt = deal.items(variation, requests)
        if (first := next(dealt, None)) is None:  # others have taken all
            continue
        harness = varied(registry.load(ref), variation)
        async with (
            Pool(harness, slots=1 if harness.alone else order.slots) as pool,
            aclosing(pool.run(policy, itertools.chain([first], dealt))) as running,
        ):
            async for finished in running:
                tell(await asyncio.to_thread(_keep, harness, finished, policy, store))


def _keep(harness: Harness, finished: Finished, policy: _Judged, store: RunStore) -> Kept | tuple[str, str]:
    """Write an episode and its record if it is a demonstration; else say of which task it is, and why it is none."""
    episode, idle = finished.episode, policy.idle.pop(finished.episode.id, None)
    if episode.verdict is None or not episode.verdict.success:
        return episode.task, why_not(episode)
    notes = {"variation": harness.variation} if harness.variation else {}
    store.write(episode, finished.images)
    demo = Demo(episode.policy, "policy", *harness.viewport, scale=episode.scale, notes=notes)
    write_demo(store, episode.id, demo)
    return Kept(episode.id, episode.task, len(episode.steps), idle)


# --- proving -----------------------------------------------------------------------------------------------


def _prove(ref: str, order: Order, store: RunStore, kept: Sequence[Kept], hear: Callable[[str, bool], None]) -> Proven:
    """Play some again, and all of a task of which one does not end as recorded."""
    began, proven, by_task = time.monotonic(), Proven(), defaultdict[str, list[Kept]](list)
    if order.proving == "none":
        return proven
    for one in sorted(kept, key=lambda each: each.id):
        by_task[one.task].append(one)
    chosen = {one.id for some in by_task.values() for one in sample(some, order.proving)}
    terms = Terms(product_version=order.product_version, slots=order.slots, workers=order.workers)
    doubted = _play(ref, store, chosen, terms, proven, hear)
    rest = {task: [one for one in some if one.id not in chosen] for task, some in by_task.items()}
    again = {one.id for task, some in rest.items() if task in doubted for one in some}
    _play(ref, store, again, terms, proven, hear)
    for task, some in rest.items():
        played = len(by_task[task]) - len(some)
        for one in some if task not in doubted else ():
            _vouch(store, one, f"{played} of {len(by_task[task])}", order.product_version, proven)
    proven.seconds = time.monotonic() - began
    return proven


def sample(some: Sequence[Kept], proving: Proving) -> list[Kept]:
    """Which of a task's demonstrations are played again: evenly chosen, and all of which too little is known."""
    if proving == "all":
        return list(some)
    count = min(len(some), max(LEAST, math.ceil(SHARE * len(some))))
    chosen = {number * len(some) // count for number in range(count)}
    return [one for number, one in enumerate(some) if number in chosen or one.idle is None]


def _play(
    ref: str, store: RunStore, ids: Collection[str], terms: Terms, proven: Proven, hear: Callable[[str, bool], None]
) -> set[str]:
    """Play some again; gives the tasks of which one did not end as recorded."""
    doubted: set[str] = set()

    def note(one: Replay) -> None:
        proven.played += 1
        proven.counting += one.counts
        if not one.counts:
            proven.broken[one.item.id] = one.proof.reason if one.proof else one.lost
        if one.proof is None or not (one.proof.same_state and one.proof.passes):
            doubted.add(one.item.task)
        hear(one.item.task, one.counts)

    if ids:
        replay(ref, store, ids, terms, note)
    return doubted


def _vouch(store: RunStore, one: Kept, played: str, version: str, proven: Proven) -> None:
    """Write down that a demonstration counts by those of its task that were played again."""
    demo = read_demo(store, one.id)
    assert demo is not None and one.idle is not None
    reason = "doing nothing passes as well, so that it shows nothing" if one.idle else ""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    proof = Proof(True, True, not one.idle, reason=reason, product_version=version, at=at, played=False)
    notes = {**demo.notes, "played_again": f"{played} demonstrations of the task, not this one"}
    write_demo(store, one.id, dataclasses.replace(demo, notes=notes, proofs=(*demo.proofs, proof)))
    proven.counting += proof.counts
    if reason:
        proven.broken[one.id] = reason


class _Judged:
    """A policy; before its first action it is judged what doing nothing is worth."""

    def __init__(self, policy: Policy | EpisodePolicy):
        self.name = policy_name(policy)
        self.idle: dict[str, bool] = {}
        """Whether doing nothing passes, by the episode's id."""
        self._policy = policy

    def for_episode(self, env: Env) -> _Beginning:
        """The policy of the episode that `env` has just been reset to."""
        own = isinstance(self._policy, EpisodePolicy)
        inner: Policy = self._policy.for_episode(env) if isinstance(self._policy, EpisodePolicy) else self._policy
        return _Beginning(self, env, inner, own)


class _Beginning:
    def __init__(self, whole: _Judged, env: Env, inner: Policy, own: bool):
        self.name = whole.name
        self._whole, self._env, self._inner, self._own = whole, env, inner, own

    async def act(self, observation: Observation, history: History) -> Action | Decision:
        if not history and not observation.open.dialog:
            self._whole.idle[self._env.episode_id] = (await self._env.verdict_now()).success
        return await self._inner.act(observation, history)

    async def close(self) -> None:
        if self._own and (close := getattr(self._inner, "close", None)) is not None:
            await close()
