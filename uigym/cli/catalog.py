"""Commands about what is there: list, export."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from uigym import registry
from uigym.cli.options import AsJson, HarnessRef, Seeds, find_tasks, parse_seeds
from uigym.cli.terminal import out, print_json, progress, report
from uigym.errors import HarnessError
from uigym.harness import SPLIT_SIZE, Harness, Split, Task


def list_(
    harness: Annotated[
        str, typer.Argument(metavar="[HARNESS]", help="Show this one's tasks; without it, all harnesses.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show the harnesses, or the tasks of one.

    \b
      uigym list
      uigym list kiosk
      uigym list ./crm.py --json
    """
    if harness:
        found, tasks = find_tasks(harness)
        if as_json:
            print_json(describe(found))
        else:
            _print_tasks(found, list(tasks))
        return
    harnesses, broken = _load_all()
    if as_json:
        print_json([describe(found) for found in harnesses])
    else:
        _print_harnesses(harnesses)
    for error in broken:
        report(error)
    if broken:
        raise typer.Exit(1)


def describe(harness: Harness) -> dict[str, Any]:
    """A harness as JSON values."""
    return {
        "harness": harness.name,
        "viewport": list(harness.viewport),
        "looks": {part: {"train": look.train, "heldout": look.heldout} for part, look in harness.looks.items()},
        "appearances": {split.value: harness.appearances(split) for split in Split},
        "seeds": {split.value: [split.seed(0), split.seed(SPLIT_SIZE - 1)] for split in Split},
        "grants": [action.__name__ for action in harness.grants],
        "tasks": [
            {
                "task": task.id,
                "wordings": task.wordings,
                "heldout_wordings": task.heldout_wordings,
                "params": {name: sampler.label for name, sampler in task.samplers.items()},
                "max_steps": task.max_steps,
                "expected_steps": task.expected_steps,
                "tags": task.tags,
                "oracle": task.solve is not None,
            }
            for task in harness.tasks.values()
        ],
    }


def _load_all() -> tuple[list[Harness], list[HarnessError]]:
    """Every harness that loads, and why the others do not: one bad file must not hide the rest."""
    harnesses, broken = [], []
    for name in registry.names():
        try:
            harnesses.append(registry.load(name))
        except HarnessError as error:
            broken.append(error)
    return harnesses, broken


def _print_harnesses(harnesses: list[Harness]) -> None:
    table = Table(
        *("harness", "tasks", "wordings", "appearances", "screen", "an instruction"),
        box=None, header_style="dim", pad_edge=False,
    )  # fmt: skip
    for harness in harnesses:
        tasks = harness.tasks.values()
        example = next((task.wordings[0] for task in tasks), "")
        width, height = harness.viewport
        wordings = _in_splits(sum(len(t.wordings) for t in tasks), sum(len(t.heldout_wordings) for t in tasks))
        seen = harness.appearances(Split.TRAIN)
        looks = _in_splits(seen, harness.appearances(Split.HELDOUT) if _has_heldout(harness) else 0)
        name = f"[bold]{harness.name}[/]"
        table.add_row(name, str(len(tasks)), wordings, looks, f"{width}x{height}", escape(example))
    out().print(table)
    count = sum(len(harness.tasks) for harness in harnesses)
    splits = ", ".join(f"{split} {split.seed(0):,} to {split.seed(SPLIT_SIZE - 1):,}" for split in Split)
    out().print(
        f"\n{count} tasks, {SPLIT_SIZE:,} instances of each in every split. Seeds: {splits}. "
        "After a +: what only held-out seeds meet.",
        style="dim",
    )


def _in_splits(seen: int, heldout: int) -> str:
    return f"{seen:,} + {heldout:,}" if heldout else f"{seen:,}"


def _has_heldout(harness: Harness) -> bool:
    return any(set(look.heldout) - set(look.train) for look in harness.looks.values())


def _print_tasks(harness: Harness, tasks: list[Task]) -> None:
    table = Table("task", "steps", "tags", "instruction", box=None, header_style="dim", pad_edge=False)
    for task in tasks:
        steps = f"{task.expected_steps or '?'} of {task.max_steps}"
        oracle = "" if task.solve else " [yellow](no oracle)[/]"
        table.add_row(f"[bold]{task.id}[/]{oracle}", steps, ", ".join(task.tags), escape(task.wordings[0]))
    out().print(table)


exports = typer.Typer(help="Write what other trainers read.", no_args_is_help=True, rich_markup_mode=None)


@exports.callback()
def _exports() -> None:
    pass


@exports.command("tasks")
def export_tasks(
    harness: HarnessRef,
    folder: Annotated[Path | None, typer.Option("--out", help="Folder to write to; without it data/HARNESS.")] = None,
    seeds: Seeds = "0:100",
    splits: Annotated[list[Split], typer.Option("--split", help="May be given several times.")] = list(Split),  # noqa: B006  a default of typer
    as_json: AsJson = False,
) -> None:
    """Write tasks as Parquet.

    One file for each split, one row for each task and seed.

    \b
      uigym export tasks desk
      uigym export tasks ./crm.py --out data/crm --seeds 0:500 --split train

    The columns: task, seed, split, instruction, params (JSON), max_steps, tags.
    """
    from uigym.export import export_tasks as export

    found, tasks = find_tasks(harness)
    folder = folder or Path("data") / found.name
    chosen = [seed for split in splits for seed in parse_seeds(seeds, split)]
    with progress(f"tasks of {found.name}", len(chosen)) as shown:
        writing = export(found, folder, seeds=chosen, tasks=tasks, on_seed=lambda done: shown(done, ""))
        counts = asyncio.run(writing)
    if as_json:
        print_json({"out": str(folder), "rows": counts})
    else:
        for split, count in counts.items():
            out().print(f"{folder / split}.parquet  {count} rows", soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.command("list")(list_)
    app.add_typer(exports, name="export")
