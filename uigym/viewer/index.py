"""The episodes of a run as a list needs them: a few words each, read from the manifests alone.

Pictures, steps and states are never touched, so a run of gigabytes is listed as quickly as a small one. What was
read once is read again only if its file has changed.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from uigym.viewer.reading import content, counts, read_record

MOST_WORDS = 240
"""Characters of an instruction or a reason that are kept for the list."""
_REST_S = 0.7
"""For so long the folder is taken to be as it was."""

Proven = Literal["", "counts", "fails", "unproven"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One episode of a list."""

    id: str
    harness: str
    task: str
    """With the harness's name before it."""
    seed: int
    policy: str
    instruction: str
    success: bool | None
    """None if it has no verdict."""
    score: float | None
    stop: str
    cause: str
    """Whose failure it was that there is no verdict; else empty."""
    reason: str
    """Why it is no success."""
    effects: int
    """Changes that nobody asked for."""
    steps: int
    wall_s: float
    attempt: int
    image: str
    """Hash of its last picture."""
    at: float
    """When it was written, seconds since 1970."""
    proven: Proven = ""
    """Of a demonstration: whether it counts; empty for other episodes."""
    by: str = ""
    """Of a demonstration: who gave it."""
    damaged: str = ""
    """What cannot be read of it."""

    @property
    def outcome(self) -> str:
        """success, partial, failed, lost or damaged."""
        if self.damaged:
            return "damaged"
        if self.success is None:
            return "lost"
        return "success" if self.success else "partial" if self.score else "failed"


class Index:
    """The episodes of one run folder.

    Args:
        folder: Of the run; it need not be whole.
    """

    def __init__(self, folder: Path):
        self._episodes = folder / "episodes"
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, ...], Entry]] = {}
        self._sorted: list[Entry] = []
        self._looked = float("-inf")
        self.version = 0
        """Changes whenever an episode is new or another one."""

    @property
    def ready(self) -> bool:
        """Whether it was read before, so that `entries` is quick."""
        return self.version > 0

    def entries(self) -> list[Entry]:
        """All complete episodes, by id."""
        with self._lock:
            if time.monotonic() - self._looked > _REST_S:
                self._refresh()
                self._looked = time.monotonic()
            return self._sorted

    def find(self, episode_id: str) -> Entry | None:
        """The episode of that id."""
        self.entries()
        found = self._known.get(episode_id)
        return found[1] if found else None

    def _refresh(self) -> None:
        found = {}
        for name, folder in self._folders():
            stamp = tuple(_changed(f"{folder}/{file}") for file in ("episode.json", "demo.json"))
            if stamp[1]:  # proven are the files beside it
                stamp += tuple(_changed(f"{folder}/{file}") for file in ("steps.jsonl", "states.json"))
            if not stamp[0]:
                continue
            old = self._known.get(name)
            found[name] = old if old and old[0] == stamp else (stamp, read_entry(Path(folder), stamp[0]))
        if found != self._known or not self.version:
            self._known = found
            self._sorted = [found[name][1] for name in sorted(found)]
            self.version += 1

    def _folders(self) -> list[tuple[str, str]]:
        try:
            with os.scandir(self._episodes) as inside:
                return [(each.name, each.path) for each in inside]
        except OSError:
            return []


def read_entry(folder: Path, changed_ns: int = 0) -> Entry:
    """The entry of an episode's folder; one that is damaged says so."""
    try:
        told = json.loads(content(folder / "episode.json"))
        entry = _entry(folder.name, told, changed_ns / 1e9)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
        return Entry(
            folder.name, "", "", 0, "", "", None, None, "", "", why, 0, 0, 0.0, 0, "", changed_ns / 1e9, damaged=why
        )
    return _with_demo(entry, folder) if (folder / "demo.json").is_file() else entry


def _entry(name: str, told: Mapping[str, Any], at: float) -> Entry:
    verdict, failure = told.get("verdict") or {}, told.get("failure") or {}
    harness, task = str(told["harness"]), str(told["task"])
    return Entry(
        id=name,
        harness=sys.intern(harness),
        task=sys.intern(f"{harness}/{task.removeprefix(f'{harness}/')}"),
        seed=int(told["seed"]),
        policy=sys.intern(str(told.get("policy") or "")),
        instruction=str(told["instruction"])[:MOST_WORDS],
        success=bool(verdict["success"]) if verdict else None,
        score=float(verdict["score"]) if verdict else None,
        stop=sys.intern(str(told["stop"])),
        cause=sys.intern(str(failure.get("cause", ""))),
        reason=str(failure.get("message") or verdict.get("reason") or "")[:MOST_WORDS],
        effects=len(verdict.get("side_effects") or ()),
        steps=int(told["num_steps"]),
        wall_s=float(told.get("wall_s") or 0.0),
        attempt=int(told.get("attempt") or 0),
        image=str(told.get("final_image") or ""),
        at=at,
    )


def _with_demo(entry: Entry, folder: Path) -> Entry:
    problems: list[str] = []
    told = read_record(folder, problems)
    if problems and not told["proofs"]:
        return replace(entry, proven="unproven")
    proven: Mapping[bool | None, Proven] = {True: "counts", False: "fails", None: "unproven"}
    return replace(entry, by=str(told.get("by") or ""), proven=proven[counts(told)])


def _changed(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
