"""The boards of a seed: three of them, each with five columns and its cards."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from ..kit.people import People
from ..kit.store import Rows
from . import words

GAP = 1024.0
"""Between the positions of neighbours."""
SIZES = ((7, 6, 4, 4, 6), (8, 5, 3, 4, 7), (6, 7, 3, 5, 6))
"""Cards of each column; on one of the boards the third is as full as it may be."""
LIMIT = 4


def write(people: People, today: date, known: Rows) -> Mapping[str, Rows]:
    """The rows of all tables that boards are made of."""
    names = people.rng.sample(sorted(words.BOARDS), 3)
    boards = tuple(enumerate(names, 1))
    sizes = people.rng.sample(SIZES, 3)
    columns = tuple(
        (5 * (board - 1) + i, board, name, i * GAP, LIMIT if name == "In progress" else None)
        for board, _ in boards
        for i, name in enumerate(words.COLUMNS, 1)
    )
    rows: list[tuple[Any, ...]] = []
    for (board, name), size in zip(boards, sizes, strict=True):
        rows += _cards(people, today, known, (board, name), size, len(rows))
    return {
        "boards": boards,
        "columns": columns,
        "cards": tuple(rows),
        "labels": tuple((i, *label) for i, label in enumerate(words.LABELS, 1)),
        "card_labels": _labels(people, rows),
        "items": _items(people, rows),
        "comments": _comments(people, today, known, rows),
    }


def _cards(
    people: People, today: date, known: Rows, board: tuple[int, str], size: tuple[int, ...], before: int
) -> list[tuple[Any, ...]]:
    number, name = board
    titles = [title.format(part=part) for title in words.BOARDS[name] for part in words.PIECES[name]]
    chosen = iter(people.rng.sample(titles, sum(size)))
    team = people.rng.sample([row[0] for row in known], 6)
    rows: list[tuple[Any, ...]] = []
    for i, count in enumerate(size):
        for place in range(1, count + 1):
            who = people.rng.choice((None, *team, *team))
            due = (
                (today + timedelta(days=people.rng.randint(-6, 25))).isoformat() if people.rng.random() < 0.55 else None
            )
            about = people.text(people.rng.choice(words.ABOUT))
            column = 5 * (number - 1) + i + 1
            title = next(chosen)
            if people.content == "long" and people.rng.random() < 0.3:
                title += ", and write down for everybody who comes later what was decided and why"
            rows.append((before + len(rows) + 1, column, place * GAP, title, about, who, due, 0))
    return rows


def _labels(people: People, rows: list[tuple[Any, ...]]) -> Rows:
    ids = range(1, len(words.LABELS) + 1)
    return tuple(
        (card[0], label) for card in rows for label in sorted(people.rng.sample(ids, people.rng.choice((0, 1, 1, 2))))
    )


def _items(people: People, rows: list[tuple[Any, ...]]) -> Rows:
    found = []
    for card in rows:
        done = card[1] % 5 == 0
        for text in people.rng.sample(words.STEPS, people.rng.choice((0, 0, 3, 4, 5))):
            found.append((card[0], text, int(done or people.rng.random() < 0.3)))
    return tuple((i, *item) for i, item in enumerate(found, 1))


def _comments(people: People, today: date, known: Rows, rows: list[tuple[Any, ...]]) -> Rows:
    found = []
    for card in rows:
        for _ in range(people.rng.choice((0, 0, 1, 2))):
            day = today - timedelta(days=people.rng.randint(1, 20))
            at = f"{day} {people.rng.randint(8, 17):02d}:{people.rng.randint(0, 59):02d}"
            found.append((card[0], people.rng.choice(known)[0], people.text(people.rng.choice(words.SAID)), at))
    return tuple((i, *comment) for i, comment in enumerate(found, 1))
