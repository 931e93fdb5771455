"""Tasks as Parquet: one row for each task and seed, one file for each split, for trainers that read data sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from uigym.errors import MissingExtra, StoreError
from uigym.harness import Harness, Instance, Split, Task
from uigym.product import Product

COLUMNS = ("task", "seed", "split", "instruction", "params", "max_steps", "tags")


async def export_tasks(
    harness: Harness,
    out: Path,
    *,
    seeds: Sequence[int],
    tasks: Sequence[Task] | None = None,
    on_seed: Callable[[int], None] | None = None,
) -> dict[str, int]:
    """Write `out`/SPLIT.parquet for each split that the seeds belong to, and give the number of rows by split.

    The product is started and reset for every seed, because parameters may be drawn from its data.

    Args:
        harness: The product and its tasks.
        out: Folder; made if it is not there.
        seeds: Each task is written with each of these.
        tasks: None is all of them.
        on_seed: Called with the number of seeds that are done.

    Raises:
        MissingExtra: pyarrow is not installed.
        HarnessError: A task's parameters cannot be drawn for a seed.
        ProductError: The product cannot be started or reset.
        StoreError: The folder cannot be written.
    """
    write = _writer()
    rows: dict[str, list[dict[str, Any]]] = {}
    async with Product(harness) as product:
        for done, seed in enumerate(seeds, 1):
            state = await product.reset(seed)
            chosen = tasks if tasks is not None else harness.tasks.values()
            rows.setdefault(Split.of(seed), []).extend(_row(task.instance(seed, state)) for task in chosen)
            if on_seed:
                on_seed(done)
    for split, found in rows.items():
        write(found, out / f"{split}.parquet")
    return {split: len(found) for split, found in rows.items()}


def _row(instance: Instance) -> dict[str, Any]:
    return {
        "task": instance.id,
        "seed": instance.seed,
        "split": str(Split.of(instance.seed)),
        "instruction": instance.instruction,
        "params": json.dumps(dict(instance.params), ensure_ascii=False, default=str),
        "max_steps": instance.task.max_steps,
        "tags": list(instance.task.tags),
    }


def _writer() -> Callable[[list[dict[str, Any]], Path], None]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow, which writes Parquet,", "train") from error
    text = pyarrow.string()
    types = (text, pyarrow.int64(), text, text, text, pyarrow.int64(), pyarrow.list_(text))
    schema = pyarrow.schema(list(zip(COLUMNS, types, strict=True)))

    def write(rows: list[dict[str, Any]], path: Path) -> None:
        draft = path.with_suffix(".tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), draft)
            draft.replace(path)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise StoreError(f"cannot write {path}: {error}") from error

    return write
