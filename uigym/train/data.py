"""Which episodes to run: tasks and seeds, from the harness or from Parquet."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from uigym.errors import ConfigError, MissingExtra
from uigym.harness import Harness, Split, Task
from uigym.rollout import Request


def choose_tasks(harness: Harness, tags: Sequence[str] = (), names: Sequence[str] = ()) -> list[Task]:
    """Tasks of a harness that have all the tags and are among the names.

    Raises:
        HarnessError: A name is no task.
        ConfigError: No task is left.
    """
    chosen = [harness.find_task(name.removeprefix(f"{harness.name}/")) for name in names] or list(
        harness.tasks.values()
    )
    left = [task for task in chosen if set(tags) <= set(task.tags)]
    if not left:
        known = sorted({tag for task in harness.tasks.values() for tag in task.tags})
        raise ConfigError(f"no task of {harness.name} has the tags {list(tags)}. Tags: {', '.join(known)}.")
    return left


def spread_over(tasks: Sequence[Task], split: Split, count: int, *, per_seed: int = 1, first: int = 0) -> list[Request]:
    """Requests that go round the tasks, several tasks to a seed, seeds in order from the split's `first`."""
    return [Request(tasks[i % len(tasks)].name, split.seed(first + i // per_seed)) for i in range(count)]


class Curriculum:
    """(task, seed) pairs without end; a task is drawn the more often, the less is settled whether it succeeds.

    A group whose members all succeed, or all fail, teaches nothing. Every draw is a function of the seed, of how many
    were drawn before and of what was heard.

    Args:
        tasks: What to draw from.
        split: Whose seeds to use, each once.
        seed: Of the draws.
    """

    FLOOR = 0.15
    """Weight of a task that always succeeds or always fails, where one that succeeds half the time has 1 more."""
    MEMORY = 0.7
    """How much of what was known of a task is kept when a group of it is heard of."""

    def __init__(self, tasks: Sequence[Task], split: Split, seed: int):
        self._split, self._seed = split, seed
        self.drawn = 0
        self.success = {task.name: 0.5 for task in tasks}

    def __iter__(self) -> Curriculum:
        return self

    def __next__(self) -> tuple[str, int]:
        rng = random.Random(f"practice:{self._seed}:{self.drawn}")
        weights = [self.FLOOR + 4 * p * (1 - p) for p in self.success.values()]
        name = rng.choices(list(self.success), weights)[0]
        self.drawn += 1
        return name, self._split.seed(self.drawn - 1 + 100_000 * (self._seed % 8))

    def hear(self, task: str, success: float) -> None:
        """Take in the success rate of a group of a task."""
        self.success[task] = self.MEMORY * self.success[task] + (1 - self.MEMORY) * success

    def state(self) -> dict[str, Any]:
        """What a resume needs, as JSON."""
        return {"drawn": self.drawn, "success": self.success}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.drawn, self.success = int(state["drawn"]), dict(state["success"])


class Listed(Curriculum):
    """(task, seed) pairs of a list, in random order, for some epochs."""

    def __init__(self, pairs: Sequence[tuple[str, int]], epochs: int, seed: int):
        rng = random.Random(f"order:{seed}")
        self._pairs = [pair for _ in range(epochs) for pair in rng.sample(list(pairs), len(pairs))]
        self.drawn = 0
        self.success = {task: 0.5 for task, _ in pairs}

    def __next__(self) -> tuple[str, int]:
        if self.drawn == len(self._pairs):
            raise StopIteration
        self.drawn += 1
        return self._pairs[self.drawn - 1]


def from_parquet(paths: Sequence[Path], harness: Harness) -> list[tuple[str, int]]:
    """(task, seed) pairs of Parquet files written by `uigym export tasks`.

    Raises:
        ConfigError: A file is missing, is not Parquet, lacks a column, or is of another harness.
    """
    try:
        import pyarrow.parquet as parquet
    except ImportError as exc:
        raise MissingExtra("pyarrow, which reads Parquet,", "train") from exc
    pairs = []
    for path in paths:
        if not path.is_file():
            raise ConfigError(f"no task file {path}. Write it with: uigym export tasks {harness.name}")
        try:
            table = parquet.read_table(path, columns=["task", "seed"]).to_pylist()
            listed = [(str(row["task"]), int(row["seed"])) for row in table]
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise ConfigError(f"{path} is no task file of `uigym export tasks`: {exc}") from exc
        for ref, seed in listed:
            name, _, task = ref.rpartition("/")
            if name not in ("", harness.name):
                raise ConfigError(f"{path} holds tasks of {name}, expected tasks of {harness.name}")
            pairs.append((harness.find_task(task).name, seed))
    return pairs
