"""Which episodes to run: tasks and seeds, from the harness or from Parquet."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

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


def endless(tasks: Sequence[Task], split: Split, seed: int) -> Iterator[tuple[str, int]]:
    """(task, seed) pairs without end: every task once in random order, with a new seed each, again and again."""
    rng = random.Random(f"order:{seed}")
    index = 0
    while True:
        for task in rng.sample(list(tasks), len(tasks)):
            yield task.name, split.seed(index)
            index += 1


def from_parquet(paths: Sequence[Path], harness: Harness) -> list[tuple[str, int]]:
    """(task, seed) pairs of Parquet files written by `uigym export tasks`.

    Raises:
        ConfigError: A file is missing, is not Parquet, lacks a column, or is of another harness.
    """
    try:
        import pyarrow.parquet as parquet
    except ImportError as exc:
        raise MissingExtra("Parquet needs pyarrow, which", "train") from exc
    pairs = []
    for path in paths:
        if not path.is_file():
            raise ConfigError(f"no task file {path}. Write it with: uigym export tasks {harness.name}")
        try:
            table = parquet.read_table(path, columns=["task", "seed"]).to_pylist()
        except (OSError, ValueError, KeyError) as exc:
            raise ConfigError(f"{path} is no task file of `uigym export tasks`: {exc}") from exc
        for row in table:
            name, _, task = str(row["task"]).rpartition("/")
            if name not in ("", harness.name):
                raise ConfigError(f"{path} holds tasks of {name}, expected tasks of {harness.name}")
            pairs.append((harness.find_task(task).name, int(row["seed"])))
    return pairs
