"""Formats of one JSON line a demonstration, whose replies are what a family's codec says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from uigym.exchange.demonstration import Demonstration
from uigym.exchange.ending import closing
from uigym.exchange.formats import Lines, Options, Pictures, Wording, Write

Record = Callable[[Demonstration, list[Any], Pictures], dict[str, Any]]
"""A demonstration's line, from it and what is said at each step."""


def lines(codec: str, record: Record) -> Callable[[Path, Options, Wording], AbstractContextManager[Write]]:
    """A format's `writing`."""

    @contextmanager
    def writing(out: Path, options: Options, wording: Wording) -> Iterator[Write]:
        """Writes `out`/SPLIT.jsonl and `out`/images."""
        pictures = Pictures(out)
        with Lines(out) as file:

            def write(demonstration: Demonstration) -> None:
                said = [closing(taken) or wording.say(codec, taken) for taken in demonstration.steps()]
                file.write(f"{demonstration.split}.jsonl", record(demonstration, said, pictures))

            yield write

    return writing
