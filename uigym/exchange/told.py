"""What a file of another format tells of a demonstration, and how such files are read without trusting them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uigym.errors import ConfigError, StoreError, attribute
from uigym.exchange.demonstration import png_size
from uigym.policy.codecs import Screen
from uigym.types import Action

MAX_BYTES = 256 * 1024 * 1024
"""Of one JSON value that is read."""


@dataclass(frozen=True, slots=True)
class ToldStep:
    """One step as a file tells it."""

    action: Action
    """In CSS px of `Told.screen`; `Invalid` where the file's words mean no action."""
    png: bytes | None = None
    """What was seen before it, if the file has it."""
    text: str = ""
    """The words that came with the action."""


@dataclass(frozen=True, slots=True)
class Told:
    """A demonstration as a file tells it."""

    id: str
    instruction: str
    screen: Screen
    """The viewport that the actions are for."""
    steps: tuple[ToldStep, ...]
    task: str = ""
    """Harness and task, "kiosk/order", if the file says it."""
    seed: int | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    """What else the file says."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """In order."""
        return tuple(step.action for step in self.steps)


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a .json file (one, or a list of them) or of the lines of a .jsonl file.

    Raises:
        StoreError: The file cannot be read, is too large, or is no such file.
    """
    with attribute(StoreError, f"cannot read {path}"):
        if path.suffix == ".json":
            found = json.loads(_bounded(path))
            yield from (_object(one, path) for one in (found if isinstance(found, list) else [found]))
            return
        with path.open("rb") as lines:
            while line := lines.readline(MAX_BYTES + 1):
                if len(line) > MAX_BYTES:
                    raise ValueError(f"a line is longer than {MAX_BYTES} bytes")
                if line.strip():
                    yield _object(json.loads(line), path)


def _bounded(path: Path) -> bytes:
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES} bytes")
    return path.read_bytes()


def _object(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected JSON objects, found {type(value).__name__}")
    return value


def files(path: Path, *patterns: str) -> list[Path]:
    """The file itself, or a folder's files that match one of the patterns, sorted.

    Raises:
        ConfigError: There is none.
    """
    if path.is_file():
        return [path]
    found = sorted({file for pattern in patterns for file in path.glob(pattern) if file.is_file()})
    if not found:
        raise ConfigError(f"{path} has no file such as {' or '.join(patterns)}")
    return found


def picture(folder: Path, name: object) -> bytes | None:
    """A PNG beside a file, by the path that the file says; None if it is not there.

    A path that leads out of the folder is not followed: the file may come from anybody.
    """
    if not isinstance(name, str) or "\0" in name:
        return None
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        return None
    return path.read_bytes()


def screen_of(about: Mapping[str, Any], png: bytes | None) -> Screen:
    """The viewport: as the file says it, else that of its first picture.

    Raises:
        ConfigError: It says none and has no picture.
    """
    seen = png_size(png) if png else None
    width, height = about.get("width"), about.get("height")
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return Screen(width, height, seen)
    if seen is None:
        raise ConfigError("the file says no viewport and has no picture, so that its coordinates mean nothing")
    return Screen(*seen, seen)
