"""Fills the planner with data: the same seed and content give the same rows, always."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..kit.looks import whole
from ..kit.people import People
from ..kit.store import Rows, fill
from . import cards, diary, words
from .looks import PARTS, ZONES
from .schema import SCHEMA

HOME = "Europe/Berlin"


def write(db_path: Path | str, seed: int, appearance: Mapping[str, str]) -> None:
    """Replace all data by the seed's, in one transaction; parts of the appearance left out take their default.

    Raises:
        ValueError: The appearance has a part or a value that the planner does not know.
    """
    look = whole(PARTS, appearance)
    content = look.pop("content")
    at = {"now": f"{today(seed)} {8 + seed % 3:02d}:{seed % 4 * 15:02d}", "me": "1", "zone": HOME, "second_zone": ""}
    fill(Path(db_path), SCHEMA, _records(seed, content), {**look, **at})


def today(seed: int) -> date:
    """The day on which everything of a seed happens: a Tuesday, Wednesday or Thursday of 2026."""
    rng = random.Random(f"plan:clock:{seed}")
    return date(2026, 1, 5) + timedelta(weeks=rng.randrange(4, 40), days=rng.randrange(1, 4))


@lru_cache(maxsize=64)
def _records(seed: int, content: str) -> Mapping[str, Rows]:
    people = People(random.Random(f"plan:{seed}"), content)
    known = _people(people)
    calendars = _calendars(people.rng, known)
    events = diary.write(people, today(seed), known, calendars)
    return {"people": known, "calendars": calendars, "events": events, "skips": (), "activity": (),
            **cards.write(people, today(seed), known)}  # fmt: skip


def _people(people: People) -> Rows:
    names = people.names(12)
    roles = ["Product manager", *people.rng.sample(words.ROLES, 11)]
    zones = [HOME, *(people.rng.choice((HOME, *ZONES)) for _ in range(11))]
    return tuple(
        (i, name, people.mailbox(name, "example.com"), roles[i - 1], zones[i - 1]) for i, name in enumerate(names, 1)
    )


def _calendars(rng: random.Random, known: Rows) -> tuple[tuple[Any, ...], ...]:
    team = rng.choice(("Product team", "Design team", "Platform team", "Marketing team"))
    return (
        (1, "Work", "blue", 1, 1, 1),
        (2, "Private", "green", 1, 1, 1),
        (3, team, "violet", 2, 1, 1),
        (4, known[2][1], "amber", 3, 0, 1),
    )
