"""Demonstrations that a policy gives, usually the oracle: episodes that it plays, of which the successes are kept.

What was left out is counted by why, so that a harness whose oracle often fails is noticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from uigym.errors import ConfigError
from uigym.harness import Harness, Task
from uigym.policy import EpisodePolicy, Policy
from uigym.policy.scripted import OraclePolicy
from uigym.record.demo import Demo, write_demo
from uigym.rollout import Request, rollout
from uigym.store import RunStore
from uigym.types import Episode


@dataclass(slots=True)
class Recording:
    """What came of a recording."""

    kept: int = 0
    """Successful episodes, now in the store."""
    steps: int = 0
    """Actions in them."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Episodes that are no demonstration, by why."""


def solvable(tasks: Iterable[Task]) -> tuple[list[Task], list[Task]]:
    """Tasks with an oracle, and tasks without."""
    chosen = list(tasks)
    return [t for t in chosen if t.solve is not None], [t for t in chosen if t.solve is None]


def requests(tasks: Iterable[Task], seeds: Sequence[int]) -> list[Request]:
    """Every task with every seed, seed by seed."""
    chosen = list(tasks)
    return [Request(task.name, seed) for seed in seeds for task in chosen]


async def demonstrate(
    harness: Harness,
    wanted: Sequence[Request],
    store: RunStore,
    *,
    policy: Policy | EpisodePolicy | None = None,
    slots: int = 4,
    on_episode: Callable[[Episode], None] | None = None,
) -> Recording:
    """Play the requests and keep the successes in the store; episodes that are already there are not played again.

    Args:
        harness: The product and its tasks.
        wanted: What to play.
        store: Where the demonstrations go.
        policy: Who plays; None is the oracle.
        slots: Episodes at once.
        on_episode: Called with every episode that is over, kept or not.

    Raises:
        ConfigError: Nothing is wanted.
        ProductError, BrowserError: The machinery cannot be started, or fails too often.
        StoreError: The folder cannot be written.
    """
    if not wanted:
        raise ConfigError(f"nothing to record: no task of {harness.name} that is meant has an oracle")
    there = store.demonstrations()
    recording = Recording(left_out=Counter())
    todo = [request for request in wanted if request.id(harness.name) not in there]
    if skipped := len(wanted) - len(todo):
        recording.left_out["already recorded"] = skipped
    if not todo:
        return recording
    async with aclosing(rollout(harness, policy or OraclePolicy(), todo, slots=slots)) as running:
        async for finished in running:
            if keep(recording, finished.episode, finished.images, store):
                by = finished.episode.policy
                write_demo(store, finished.episode.id, Demo(by, "policy", *harness.viewport, finished.episode.scale))
            if on_episode:
                on_episode(finished.episode)
    return recording


def keep(recording: Recording, episode: Episode, images: Mapping[str, bytes], store: RunStore) -> bool:
    """Write an episode if it is a demonstration; else count why it is not. Says whether it is one."""
    if episode.verdict is None or not episode.verdict.success:
        recording.left_out[why_not(episode)] += 1
        return False
    store.write(episode, images)
    recording.kept += 1
    recording.steps += len(episode.steps)
    return True


def why_not(episode: Episode) -> str:
    """Why an episode demonstrates nothing, without what differs from seed to seed."""
    if episode.failure is not None:
        return f"{episode.task}: lost to the {episode.failure.cause}"
    return f"{episode.task}: not solved, stopped by {episode.stop}"
