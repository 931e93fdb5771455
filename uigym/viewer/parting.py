"""Where two episodes begin to differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from uigym.viewer.reading import Recorded


@dataclass(frozen=True, slots=True)
class Parted:
    """Numbers of steps, from 0; None where they never differ."""

    action: int | None
    picture: int | None
    begin: bool
    """Whether they are of the same task and seed, and yet the first picture is another."""


def parted(one: Recorded, other: Recorded) -> Parted:
    """Compare actions and pictures, step by step."""
    pictures = [[step.get("image") for step in each.steps] + [each.last_image] for each in (one, other)]
    picture = _first(*pictures)
    same = all(one.manifest.get(name) == other.manifest.get(name) for name in ("harness", "task", "seed"))
    actions = [[step.get("action") for step in each.steps] for each in (one, other)]
    return Parted(_first(*actions), picture, same and picture == 0)


def _first(one: Sequence[Any], other: Sequence[Any]) -> int | None:
    return next((at for at, (a, b) in enumerate(zip_longest(one, other)) if a != b), None)
