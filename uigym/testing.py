"""Is a harness sound? The conformance suite that its author runs before any training.

Resets must be equal, doing nothing and doing anything must fail, the oracle must pass, and a verdict must come out
the same when it is run again on the stored episode.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

from uigym.errors import HarnessError, UIGymError
from uigym.harness import Harness, Task
from uigym.policy import EpisodePolicy, Policy, policy_name
from uigym.policy.scripted import NoOpPolicy, OraclePolicy, RandomPolicy
from uigym.rollout import Pool, Request
from uigym.store import episode_from_json, episode_to_json
from uigym.types import Episode
from uigym.verify import judge

Progress = Callable[[int, int, str], None]
"""(episodes done, episodes in all, what was last done)."""
_Played: TypeAlias = dict[str, dict[tuple[str, int], Episode]]
"""Episodes by policy, then by task and seed."""
_Luck: TypeAlias = dict[tuple[str, int], int]
"""Random plays that succeeded, of those tasks and seeds where the first one did."""

_RANDOM_STEPS = 12
"""Acts of the policy that does anything; enough to hit what is easily hit."""
_TRIES = 9
"""Random plays of a task and seed of which the first succeeded: on a small screen one may be luck."""
_LUCK = 1 / 3
"""Share of random plays that may succeed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of one task and seed."""

    check: str
    """reset, seeds, noop, random, oracle, expected_steps or verdict."""
    task: str
    """Empty for a check of the whole harness."""
    seed: int | None
    """None for a check over several seeds."""
    ok: bool
    detail: str = ""
    """What was wrong and what to do; for what is right, a number worth knowing."""


@dataclass(frozen=True, slots=True)
class Report:
    """What `check_harness` found."""

    harness: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return bool(self.findings) and not self.failed

    @property
    def failed(self) -> tuple[Finding, ...]:
        """What is wrong."""
        return tuple(finding for finding in self.findings if not finding.ok)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {"harness": self.harness, "ok": self.ok, "findings": [dataclasses.asdict(f) for f in self.findings]}


async def check_harness(
    harness: Harness,
    tasks: Iterable[str] | None = None,
    *,
    seeds: Sequence[int] = (0, 1),
    slots: int = 4,
    progress: Progress | None = None,
) -> Report:
    """Play every task with a policy that does nothing, one that does anything, and the oracle; look at what comes.

    Args:
        harness: The harness to check.
        tasks: Names of the tasks; None checks all.
        seeds: Each task is played with each of these.
        slots: Episodes at once.
        progress: Called after every episode.

    Raises:
        HarnessError: There is no such task, or the harness has none.
        ProductError, BrowserError: The product or the browser cannot be started at all.
    """
    chosen = [harness.find_task(name) for name in tasks] if tasks is not None else list(harness.tasks.values())
    if not chosen or not seeds:
        raise HarnessError(f"{harness.name}: nothing to check ({len(chosen)} tasks, {len(seeds)} seeds)")
    every = [Request(task.name, seed) for task in chosen for seed in seeds]
    solvable = [request for request in every if harness.tasks[request.task].solve is not None]
    count = _Count(2 * len(every) + len(solvable), progress)
    async with Pool(harness, slots=slots, max_failure_rate=1.0) as pool:
        played = {
            "noop": await _play(pool, NoOpPolicy(), every, count),
            "random": await _play(pool, RandomPolicy(steps=_RANDOM_STEPS), every, count),
            "oracle": await _play(pool, OraclePolicy(), solvable, count),
        }
        luck = await _try_again(pool, [r for r in every if _succeeded(played["random"][r.task, r.seed])], count)
    return Report(harness.name, tuple(_findings(chosen, seeds, played, luck)))


async def _try_again(pool: Pool, lucky: Sequence[Request], count: _Count) -> _Luck:
    """How many of all tries succeed where the first random play did, with other random actions each time."""
    successes = {(request.task, request.seed): 1 for request in lucky}
    count.total += (_TRIES - 1) * len(lucky)
    for number in range(1, _TRIES if lucky else 0):
        again = await _play(pool, RandomPolicy(number, steps=_RANDOM_STEPS), lucky, count)
        for place, episode in again.items():
            successes[place] += _succeeded(episode)
    return successes


def _succeeded(episode: Episode) -> bool:
    return episode.verdict is not None and episode.verdict.success


class _Count:
    """Tells the caller how far it is."""

    def __init__(self, total: int, progress: Progress | None):
        self.total, self.done, self.progress = total, 0, progress

    def __call__(self, label: str) -> None:
        self.done += 1
        if self.progress:
            self.progress(self.done, self.total, label)


async def _play(
    pool: Pool, policy: Policy | EpisodePolicy, requests: Iterable[Request], count: _Count
) -> dict[tuple[str, int], Episode]:
    """The policy's episode for each task and seed."""
    episodes = {}
    async with aclosing(pool.run(policy, requests)) as running:
        async for finished in running:
            episode = finished.episode
            episodes[episode.task, episode.seed] = episode
            count(f"{policy_name(policy)}: {episode.task}, seed {episode.seed}")
    return episodes


def _findings(tasks: Sequence[Task], seeds: Sequence[int], played: _Played, luck: _Luck) -> Iterator[Finding]:
    every = [episode for episodes in played.values() for episode in episodes.values()]
    for seed in seeds:
        yield _reset(seed, [episode for episode in every if episode.seed == seed])
    for task in tasks:
        own = [episode for episode in every if episode.task == task.name]
        yield from _task(task, seeds, played, luck, own)


def _task(
    task: Task, seeds: Sequence[int], played: _Played, luck: _Luck, every: Sequence[Episode]
) -> Iterator[Finding]:
    if len(seeds) > 1:
        yield _seeds(task, every)
    for seed in seeds:
        yield _must_fail("noop", played["noop"][task.name, seed])
        yield _must_fail("random", played["random"][task.name, seed], luck.get((task.name, seed), 0))
        if task.solve is None:
            hint = f"nothing shows that it can be solved: write @{task.name}.oracle"
            yield Finding("oracle", task.name, seed, False, hint)
        else:
            yield from _oracle(task, played["oracle"][task.name, seed])
    for seed in seeds:
        yield _verdict(task, seed, [episode for episode in every if episode.seed == seed])


def _reset(seed: int, episodes: Sequence[Episode]) -> Finding:
    """All episodes of one seed, whatever the task and the slot, begin with the same data and the same picture."""
    begun = [episode for episode in episodes if episode.before.tables and episode.steps]
    if len(begun) < 2:
        return Finding("reset", "", seed, False, f"fewer than two resets worked{_lost(episodes)}")
    first = begun[0]
    for other in begun[1:]:
        tables = first.before.tables.keys() | other.before.tables.keys()
        differ = sorted(t for t in tables if first.before.tables.get(t) != other.before.tables.get(t))
        if differ:
            hint = "take times and ids from the seed, not from the clock or the process"
            return Finding("reset", "", seed, False, f"two resets gave different data in {', '.join(differ)}: {hint}")
        if first.steps[0].image != other.steps[0].image:
            hint = "look for times, random values or unfinished loading on the first page"
            return Finding("reset", "", seed, False, f"two resets gave different first pictures: {hint}")
    return Finding("reset", "", seed, True, f"{len(begun)} equal resets")


def _seeds(task: Task, episodes: Sequence[Episode]) -> Finding:
    begun = [episode for episode in episodes if episode.instruction]
    different = {json.dumps([e.params, e.before.digest(), e.appearance], sort_keys=True, default=str) for e in begun}
    if len(different) > 1:
        return Finding("seeds", task.name, None, True, f"{len(different)} different")
    why = "all seeds gave the same data, look and parameters: let the reset or a sampler depend on the seed"
    return Finding("seeds", task.name, None, False, why)


def _must_fail(name: str, episode: Episode, lucky: int = 0) -> Finding:
    verdict, place = episode.verdict, (name, episode.task, episode.seed)
    ask = "the verifier must ask for a change or an answer"
    if verdict is None:
        return Finding(*place, False, f"no verdict{_lost([episode])}")
    if verdict.success and name == "noop":
        return Finding(*place, False, f"doing nothing passed as a success: {ask}")
    if verdict.success:
        how_often = f"{lucky} of {_TRIES} random plays passed as a success"
        bad = lucky > _LUCK * _TRIES
        return Finding(*place, not bad, f"{how_often}: {ask} that is not hit by chance" if bad else how_often)
    return Finding(*place, True, f"score {verdict.score:g}")


def _oracle(task: Task, episode: Episode) -> Iterator[Finding]:
    verdict, place, steps = episode.verdict, (episode.task, episode.seed), len(episode.steps)
    if verdict is None:
        yield Finding("oracle", *place, False, f"no verdict{_lost([episode])}")
        return
    if not verdict.success:
        ended = f"stopped by {episode.stop} after {steps} steps"
        yield Finding("oracle", *place, False, f"the oracle failed, {ended}: {verdict.reason}")
        return
    yield Finding("oracle", *place, True, f"{steps} steps of at most {task.max_steps}")
    if task.expected_steps is not None:
        enough = steps <= task.expected_steps
        yield Finding("expected_steps", *place, enough, f"{steps} steps, expected at most {task.expected_steps}")


def _verdict(task: Task, seed: int, episodes: Sequence[Episode]) -> Finding:
    """The verdict of each stored episode, run again with parameters drawn again."""
    judged = [episode for episode in episodes if episode.verdict]
    for episode in judged:
        stored = episode_from_json(json.loads(json.dumps(episode_to_json(episode))))
        try:
            again = judge(task.instance(seed, stored.before).verifier, dataclasses.replace(stored, verdict=None))
        except UIGymError as exc:
            return Finding("verdict", task.name, seed, False, f"on the stored episode the verifier raised: {exc}")
        if stored != episode or again != episode.verdict:
            was = f"{episode.verdict}" if stored == episode else "the episode itself changed in storage"
            why = "a verifier must be a pure function of the episode"
            return Finding("verdict", task.name, seed, False, f"first {was}, then {again}: {why}")
    return Finding("verdict", task.name, seed, bool(judged), f"{len(judged)} verdicts the same again")


def _lost(episodes: Sequence[Episode]) -> str:
    """The first failure among the episodes, as the end of a sentence."""
    failures = [episode.failure for episode in episodes if episode.failure]
    return f"; lost to the {failures[0].cause}: {failures[0].message}" if failures else ""
