"""The command about what is there: list."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from uigym import registry
from uigym.cli.options import AsJson, find_tasks
from uigym.cli.terminal import out, print_json, report
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


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.command("list")(list_)
