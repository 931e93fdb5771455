"""The page of a training run, written again and again while it goes on: `RUN/training.html`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from uigym.errors import ConfigError, StoreError, attribute
from uigym.report import film
from uigym.report.curves import Group, groups
from uigym.report.gallery import Gallery, read_lines
from uigym.report.health import Sign, signs
from uigym.report.lines import spark
from uigym.report.page import render_page
from uigym.types import StepRecord, action_from_json

NAME = "training.html"
EPISODES = 36
"""Shown on the page at most."""
_FORMER = {
    "reward": "reward/mean", "success": "success/all", "gap": "gap/mean", "rollout_s": "time/rollout",
    "learn_s": "time/learn", "groups": "groups/kept", "clipped": "clip/high",
}  # fmt: skip
"""What the numbers of the shared-picture path are called here."""


@dataclass(frozen=True, slots=True)
class Task:
    """How one task went on in training."""

    name: str
    first: float
    last: float
    picture: Markup


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that the page tells."""

    run: Mapping[str, Any]
    """What run.json holds: the run file, machine and versions."""
    warm: Sequence[Mapping[str, Any]]
    """Rows of the warm start."""
    updates: Sequence[Mapping[str, Any]]
    """Rows of the updates, flat."""
    tests: Sequence[Mapping[str, Any]]
    """Rows of tests on seeds that were not trained on."""
    episodes: Sequence[Mapping[str, Any]]


def write_training(folder: Path, *, running: bool = False) -> Path:
    """Write the page of a training run from the files in its folder, and give its path.

    Args:
        folder: Of the run: metrics.jsonl, run.json, episodes.jsonl.
        running: The page then loads itself again every half minute.

    Raises:
        StoreError: The page cannot be written.
    """
    path = folder / NAME
    html = render_training(read_story(folder), Gallery(folder), running=running)
    with attribute(StoreError, f"cannot write {path}"):
        draft = path.with_suffix(".tmp")
        draft.write_text(html, encoding="utf-8")
        draft.replace(path)
    return path


def is_training(folder: Path) -> bool:
    """Whether a folder is one of a training run, which has numbers of its updates, and no store of episodes."""
    return (folder / "metrics.jsonl").is_file() and not (folder / "episodes").is_dir()


def read_story(folder: Path) -> Story:
    """What the files of a run say; those that are not there say nothing.

    Raises:
        ConfigError: run.json cannot be read.
    """
    rows = list(read_lines(folder / "metrics.jsonl"))
    phases: dict[str, list[dict[str, Any]]] = {"warm_start": [], "grpo": [], "test": []}
    for row in rows:
        phases.setdefault(str(row.get("phase")), []).append(row)
    record = folder / "run.json"
    with attribute(ConfigError, f"cannot read {record}"):
        run = json.loads(record.read_text()) if record.is_file() else {}
    updates = {row["update"]: flat(row) for row in phases["grpo"] if "update" in row}  # a resumed run repeats some
    return Story(
        run=run,
        warm=phases["warm_start"],
        updates=[updates[n] for n in sorted(updates)],
        tests=phases["test"],
        episodes=list(Gallery(folder).records()),
    )


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of metrics under the names of the page: numbers only."""
    named = {_FORMER.get(key, key): value for key, value in row.items()}
    for cause, count in (row.get("failures") or {}).items():
        named[f"failures/{cause}"] = count
    return {key: value for key, value in named.items() if isinstance(value, int | float)}


def render_training(story: Story, gallery: Gallery, *, running: bool = False) -> str:
    """The page as text; it needs nothing beside itself."""
    shown = choose(story.episodes)
    return render_page(
        "training.html.jinja",
        "training.css",
        running=running,
        now=datetime.now().strftime("%H:%M:%S"),
        config=story.run.get("config") or {},
        run=story.run,
        updates=story.updates,
        last=story.updates[-1] if story.updates else {},
        tests=first_and_last(story.tests),
        totals=totals(story),
        signs=signs(story.updates),
        groups=groups(story.warm, story.updates, story.tests),
        tasks=tasks(story.updates),
        episodes=[(record, strip(record, gallery)) for record in shown],
        more=len(story.episodes) - len(shown),
    )


def first_and_last(tests: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first test and the last one of its split, or the only one."""
    found = [test for test in tests if "success_rate" in test]
    if not found:
        return []
    same = [test for test in found if all(test.get(key) == found[-1].get(key) for key in ("split", "way"))]
    return [same[0], same[-1]] if len(same) > 1 else [same[0]]


def totals(story: Story) -> dict[str, float]:
    """Of the whole run: updates, episodes, steps, seconds; nothing is there that was not counted."""
    rows = story.updates
    summed = {key: sum(row.get(key, 0.0) for row in rows) for key in ("episodes", "steps")}
    seconds = max((row.get("wall_s", 0.0) for row in rows), default=0.0)
    return {"updates": len(rows), **summed, "seconds": seconds}


def tasks(updates: Sequence[Mapping[str, Any]]) -> list[Task]:
    """Success by task in training, the worst last."""
    prefix = "success/task/"
    names = sorted({key for row in updates for key in row if key.startswith(prefix)})
    found = []
    for at, key in enumerate(names):
        points = [(int(row["update"]), float(row[key])) for row in updates if key in row]
        quarter = max(1, len(points) // 4)
        first, last = points[:quarter], points[-quarter:]
        first_mean, last_mean = (sum(v for _, v in part) / len(part) for part in (first, last))
        found.append(Task(key.removeprefix(prefix), first_mean, last_mean, spark(points, at % 6)))
    return sorted(found, key=lambda task: (-task.last, task.name))


def choose(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The newest episodes and some of the beginning, newest first."""
    if len(records) <= EPISODES:
        return list(reversed(records))
    early = EPISODES // 6
    return [*reversed(records[-(EPISODES - early) :]), *reversed(records[:early])]


def strip(record: Mapping[str, Any], gallery: Gallery) -> list[film.Frame]:
    """The kept pictures of an episode with what was done there."""
    found = []
    for number, kept in enumerate(record["frames"], 1):
        webp = gallery.picture(kept["picture"])
        if not webp:
            continue
        width, height, last = kept["width"], kept["height"], "action" not in kept
        action = None if last else action_from_json(kept["action"])
        found.append(
            film.Frame(
                0 if last else number,
                film.data_uri(webp, "webp"),
                width,
                height,
                film.marks(action, width, height) if action else Markup(""),
                film.caption(StepRecord("", action)) if action else f"end: {record['stop'].replace('_', ' ')}",
                kept.get("note", ""),
            )
        )
    return found


class Page:
    """The page of a run that goes on: written at most every so many seconds.

    Args:
        folder: Of the run.
        every_s: Seconds between two writings.
    """

    def __init__(self, folder: Path, every_s: float = 15.0):
        self.folder, self.every_s = folder, every_s
        self._written = float("-inf")

    def refresh(self) -> None:
        """Write it if it has become old.

        Raises:
            StoreError: The page cannot be written.
        """
        if time.monotonic() - self._written >= self.every_s:
            write_training(self.folder, running=True)
            self._written = time.monotonic()

    def end(self) -> Path:
        """Write it for the last time.

        Raises:
            StoreError: The page cannot be written.
        """
        return write_training(self.folder)


__all__ = ["Group", "Page", "Sign", "Story", "is_training", "read_story", "render_training", "write_training"]
