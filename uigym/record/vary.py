"""The same work in other looks and other words: a harness whose seeds keep their work."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from uigym.harness import Harness
from uigym.record.demo import Demo


def varied(harness: Harness, number: int) -> Harness:
    """The harness with every seed in another appearance of its split and told in another wording.

    Data and parameters stay as they are, unless the product's records are part of its appearance.

    Each part of the appearance, and the wording, goes on by `number` values from the seed's own, so that a part with
    n values looks the same again after n.

    Args:
        harness: Stays as it is.
        number: Which variation; 0 is the harness itself.
    """
    if number == harness.variation:
        return harness
    logs = tuple(log for log in harness.logs if log.partition(".")[0] not in harness.beside)  # they are taken in again
    beside = {name: varied(other, number) for name, other in harness.beside.items()}
    other = dataclasses.replace(harness, logs=logs, beside=beside, variation=number)
    for task in harness.tasks.values():
        other.tasks[task.name] = dataclasses.replace(task, harness=other)
    return other


def variation_of(demo: Demo | None) -> int:
    """In which variation a demonstration was recorded, by its notes."""
    number: Any = demo.notes.get("variation", 0) if demo is not None and isinstance(demo.notes, Mapping) else 0
    return number if type(number) is int and number > 0 else 0
