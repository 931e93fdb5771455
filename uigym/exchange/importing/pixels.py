"""Recordings in formats that have pixels already: their actions are done as they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from uigym.errors import ConfigError, attribute
from uigym.exchange.importing.asked import Act, Asked, Cannot, Do, Recording
from uigym.exchange.importing.files import brief
from uigym.exchange.told import Told
from uigym.record.withhold import WITHHELD
from uigym.types import Action, Answer, Invalid, Type

_LONGEST = 2_000
"""Of what a file says of itself, characters."""


def reader(read: Callable[[Path], Iterator[Told]]) -> Callable[[Path], Iterator[Recording]]:
    """What the files ask for that a reader of `uigym.exchange.FORMATS` reads."""

    def recordings(path: Path) -> Iterator[Recording]:
        with attribute(ConfigError, f"{path} is no recording of this format"):
            yield from map(_recording, read(path))

    return recordings


def _recording(told: Told) -> Recording:
    size = told.screen.width, told.screen.height
    steps = [
        Asked(number, _words(step.action), _act(step.action, size), text=step.text)
        for number, step in enumerate(told.steps, 1)
    ]
    said = {"id": told.id, "instruction": told.instruction, "by": told.about.get("by")}
    about = {name: str(value)[:_LONGEST] for name, value in said.items() if value}
    return Recording(tuple(steps), size, task=told.task, seed=told.seed, about=about)


def _act(action: Action, size: tuple[int, int]) -> Act:
    if action == Type(WITHHELD):
        return Cannot("its text was withheld when it was recorded: record the demonstration again")
    return Cannot(action.reason) if isinstance(action, Invalid) else Do(action, size)


def _words(action: Action) -> str:
    """The action in a few words; not what was typed, which may be a password."""
    name = type(action).__name__.lower()
    if isinstance(action, Type | Answer | Invalid):
        return name
    return brief(f"{name} {', '.join(f'{value}' for value in dataclasses.astuple(action))}")


def scaled(action: Action, by: float) -> Action:
    """The action in a viewport that is so many times as large."""
    fields: dict[str, Any] = {}
    for name in ("x", "y", "dx", "dy"):
        if hasattr(action, name):
            fields[name] = getattr(action, name) * by
    if hasattr(action, "path"):
        fields["path"] = tuple((x * by, y * by) for x, y in action.path)
    return dataclasses.replace(action, **fields) if fields else action
