"""Which runs there are below the folders that were named."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

from uigym.errors import ConfigError

DEPTH = 4
"""How far below a named folder runs are looked for."""
_REST_S = 2.0
_SEPARATOR = "~"
"""Between the folders of a run's name, since a slash would end it in an address."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder."""

    name: str
    """What it is called in addresses: its folders below the one that was named, joined by "~"."""
    folder: Path
    kind: Literal["episodes", "training"]

    @property
    def title(self) -> str:
        """For people."""
        return self.name.replace(_SEPARATOR, " / ")


class Catalog:
    """The runs in some folders; a folder that is a run stands for itself.

    Args:
        folders: Runs, or folders that hold runs.

    Raises:
        ConfigError: A folder is not there.
    """

    def __init__(self, folders: Sequence[Path]):
        for folder in folders:
            if not folder.is_dir():
                raise ConfigError(f"{folder} is no folder; expected a run, or a folder that holds runs")
        self.folders = [folder.resolve() for folder in folders]
        self._seen: tuple[float, list[Run]] = (float("-inf"), [])

    def runs(self) -> list[Run]:
        """All that are there, by name; looked for at most every two seconds."""
        if time.monotonic() - self._seen[0] > _REST_S:
            self._seen = (time.monotonic(), self._look())
        return self._seen[1]

    def _look(self) -> list[Run]:
        found: dict[Path, Run] = {}
        for folder in self.folders:
            for at, kind in _below(folder, DEPTH):
                parts = at.relative_to(folder).parts or (at.name,)
                name = _SEPARATOR.join(parts if len(self.folders) == 1 or at == folder else (folder.name, *parts))
                found.setdefault(at, Run(_free(name, found.values()), at, kind))
        return sorted(found.values(), key=lambda run: run.name)

    def find(self, name: str) -> Run | None:
        """The run of that name; one that is new is looked for at once."""
        known = next((run for run in self.runs() if run.name == name), None)
        return known or next((run for run in self._look() if run.name == name), None)


def kind_of(folder: Path) -> Literal["episodes", "training"] | None:
    """What a folder holds: a run's episodes, a training run, or neither."""
    header = folder / "run.json"
    if (folder / "metrics.jsonl").is_file():
        return "training"
    if not header.is_file():
        return None
    try:
        told = json.loads(header.read_bytes())
    except (OSError, ValueError):
        return "episodes" if (folder / "episodes").is_dir() else None
    return "training" if isinstance(told, dict) and "config" in told else "episodes"


def _below(folder: Path, depth: int) -> Iterator[tuple[Path, Literal["episodes", "training"]]]:
    kind = kind_of(folder)
    if kind:
        yield folder, kind
    if kind == "episodes" or depth == 0:
        return
    try:
        inside = sorted(each.path for each in os.scandir(folder) if each.is_dir(follow_symlinks=False))
    except OSError:
        return
    for path in inside:
        if not Path(path).name.startswith((".", "checkpoint-")):
            yield from _below(Path(path), depth - 1)


def _free(name: str, taken: Iterable[Run]) -> str:
    """The name, or with a number if another run has it."""
    names = {run.name for run in taken}
    return next(each for n in count(1) if (each := name if n == 1 else f"{name}-{n}") not in names)
