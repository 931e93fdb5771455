"""What the pages are filled with: of all runs, of one, of an episode. The server and the one-file export share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uigym.report.gallery import read_lines
from uigym.viewer import about, changes, verdicts
from uigym.viewer.catalog import Run
from uigym.viewer.filters import PER_PAGE, Filters, choices
from uigym.viewer.grid import Cell, cell, grids
from uigym.viewer.index import Entry, read_entry
from uigym.viewer.reading import Recorded, States
from uigym.viewer.scene import CHUNK, Row, film, rows, scene, troubles

MOST_REQUESTS = 500
"""Of an episode that are shown."""


@dataclass(frozen=True, slots=True)
class Brief:
    """A run's line in the list of runs."""

    run: Run
    cell: Cell | None
    """All of its episodes; None for a training run."""
    rate: float | None
    """Of a training run: success in the last update."""
    policies: Sequence[str]
    about: str
    many: str
    image: str
    """Hash of the newest episode's last picture."""
    at: float
    """When something was last written."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines of the list of steps; those that are read later have no rows yet."""

    begin: int
    size: int
    rows: Sequence[Row]


def brief(run: Run, entries: Sequence[Entry]) -> Brief:
    """Sum up a run of episodes."""
    newest = max(entries, key=lambda entry: entry.at, default=None)
    tasks = len({entry.task for entry in entries})
    lost = sum(entry.success is None for entry in entries)
    told = f"{tasks} task{'' if tasks == 1 else 's'}" + (f", {lost} lost" if lost else "")
    return Brief(
        run=run,
        cell=cell(entries),
        rate=None,
        policies=sorted({entry.policy for entry in entries} - {""})[:4],
        about=told,
        many=f"{len(entries):,} episode{'' if len(entries) == 1 else 's'}",
        image=newest.image if newest else "",
        at=newest.at if newest else _written(run),
    )


def brief_training(run: Run) -> Brief:
    """Sum up a training run."""
    last: Mapping[str, Any] = {}
    updates = 0
    for row in read_lines(run.folder / "metrics.jsonl"):
        if row.get("phase") == "grpo" and "update" in row:
            last, updates = row, max(updates, int(row["update"]))
    rate = last.get("success/all", last.get("success"))
    return Brief(
        run=run,
        cell=None,
        rate=float(rate) if isinstance(rate, int | float) else None,
        policies=(),
        about="success in its latest update" if rate is not None else "nothing learned yet",
        many=f"{updates:,} update{'' if updates == 1 else 's'}",
        image="",
        at=_written(run),
    )


def run_page(run: Run, entries: Sequence[Entry], filters: Filters) -> dict[str, Any]:
    """What the page of a run shows."""
    chosen = filters.chosen(entries)
    pages = max(1, -(-len(chosen) // PER_PAGE))
    page = min(filters.number, pages)
    return {
        "run": run,
        "title": run.title,
        "total": cell(entries),
        "tasks": len({entry.task for entry in entries}),
        "grids": grids({run.name: entries}),
        "named": False,
        "filters": filters,
        "kept": filters.change(page=""),
        "options": choices(entries),
        "chosen": len(chosen),
        "entries": chosen[(page - 1) * PER_PAGE : page * PER_PAGE],
        "page": page,
        "pages": pages,
    }


def step_part(run: Run, recorded: Recorded, number: int, states: States | None = None) -> dict[str, Any]:
    """What the part of the page about one step shows."""
    return {"run": run, "episode": recorded, "manifest": recorded.manifest, "scene": scene(recorded, number, states)}


def episode_page(run: Run, recorded: Recorded, number: int) -> dict[str, Any]:
    """What the page of an episode shows, but for its neighbours and what is beside it in other runs."""
    manifest = recorded.manifest
    report = verdicts.report(manifest)
    downloads, refusals, console = (_dicts(manifest.get(name)) for name in ("downloads", "refusals", "console"))
    return step_part(run, recorded, number) | {
        "title": f"{manifest.get('task') or recorded.id} {manifest.get('seed', '')}",
        "head": read_entry(recorded.folder / "episodes" / recorded.id),
        "report": report,
        "troubles": troubles(recorded),
        "film": film(recorded),
        "chunks": chunks(recorded, number),
        "timing": about.timing(recorded),
        "facts": about.facts(recorded, run.title),
        "commands": about.commands(recorded),
        "demo": recorded.demo,
        "downloads": downloads,
        "refusals": refusals,
        "console": console,
        "tabs": {
            "verdict": ("Verdict", None),
            "state": ("State", None),
            "timing": ("Timing", None),
            "console": ("Console", len(console) or None),
            "network": ("Network", len(refusals) or None),
            "tries": ("Other tries", None),
            "record": ("Record", None),
        },
    }


def chunks(recorded: Recorded, number: int, every: bool = False) -> list[Chunk]:
    """The list of steps in pieces, of which those around a step are read; or all."""
    total = len(recorded.steps)
    found = []
    for begin in range(0, total, CHUNK):
        near = every or begin - CHUNK // 2 <= number < begin + CHUNK + CHUNK // 2
        size = min(CHUNK, total - begin)
        found.append(Chunk(begin, size, rows(recorded, begin) if near else ()))
    return found


def state_part(recorded: Recorded, states: States) -> dict[str, Any]:
    """What the part about the product's data shows."""
    effects = verdicts.report(recorded.manifest).effects
    return {"states": states, "changes": changes.changes(states.before, states.after, effects)}


def network_part(recorded: Recorded, states: States) -> dict[str, Any]:
    """What the part about the network shows."""
    return {
        "manifest": recorded.manifest,
        "refusals": _dicts(recorded.manifest.get("refusals")),
        "network": states.network[:MOST_REQUESTS],
        "more": max(0, len(states.network) - MOST_REQUESTS),
    }


def tries(
    run: Run, recorded: Recorded, others: Mapping[str, tuple[str, Sequence[Entry]]], most: int = 24
) -> list[tuple[str, str, Entry]]:
    """Who else played the same task and seed: (run, its title, episode).

    Args:
        run: Of the episode.
        recorded: The episode.
        others: (title, episodes) of runs, by name.
        most: So many at most.
    """
    harness, task, seed = (recorded.manifest.get(name) for name in ("harness", "task", "seed"))
    wanted = (f"{harness}/{str(task).removeprefix(f'{harness}/')}", seed)
    found = [
        (name, title, entry)
        for name, (title, entries) in others.items()
        for entry in entries
        if (entry.task, entry.seed) == wanted and (name, entry.id) != (run.name, recorded.id) and not entry.damaged
    ]
    return found[:most]


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value or () if isinstance(each, dict)] if isinstance(value, list | tuple) else []


def _written(run: Run) -> float:
    return max(
        (
            path.stat().st_mtime
            for name in ("metrics.jsonl", "episodes", "run.json")
            if (path := run.folder / name).exists()
        ),
        default=0.0,
    )
