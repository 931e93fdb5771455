"""Fills the help desk with data: the same seed gives the same rows, always."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import words
from .looks import appearance as whole_appearance
from .schema import CHANNELS, PLANS, SCHEMA, TABLES, connect

Rows = tuple[tuple[Any, ...], ...]
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
HISTORY = timedelta(days=75)


def write(db_path: Path | str, seed: int, appearance: Mapping[str, str]) -> None:
    """Replace all data by the seed's, in one transaction; parts of the appearance left out take their default.

    Raises:
        ValueError: The appearance has a part or a value that the help desk does not know.
    """
    settings = {**whole_appearance(appearance), "now": _clock(seed).isoformat(" "), "me": "1"}
    with connect(Path(db_path)) as db:
        for statement in SCHEMA.split(";"):
            db.execute(statement)
        for table in TABLES:
            db.execute(f"DELETE FROM {table}")
        for table, rows in (("settings", tuple(settings.items())), *_records(seed)):
            marks = ", ".join("?" * len(rows[0]))
            db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def _clock(seed: int) -> datetime:
    """The seed's moment: everything that happens in an episode happens then."""
    rng = random.Random(f"desk:clock:{seed}")
    return datetime(2026, 1, 5, 9) + timedelta(days=rng.randrange(300), minutes=rng.randrange(480))


@lru_cache(maxsize=128)
def _records(seed: int) -> tuple[tuple[str, Rows], ...]:
    rng = random.Random(f"desk:{seed}")
    now = _clock(seed)
    agents = _agents(rng)
    customers = _customers(rng, now)
    tickets, tags = _tickets(rng, now, customers, agents)
    comments = _comments(rng, now, tickets, customers, agents)
    return (
        ("agents", agents),
        ("customers", customers),
        ("tickets", tickets),
        ("ticket_tags", tags),
        ("comments", comments),
    )


def _agents(rng: random.Random) -> Rows:
    names = rng.sample(words.AGENT_NAMES, 8)
    return tuple(
        (i, name, _mailbox(name, "helpdesk.example"), words.TEAMS[(i - 1) % len(words.TEAMS)])
        for i, name in enumerate(names, 1)
    )


def _customers(rng: random.Random, now: datetime) -> Rows:
    names = _names(rng, rng.randint(56, 64))
    companies = rng.sample(words.COMPANIES, 24)
    first = rng.randrange(100, 900)
    return tuple(_customer(rng, first + i, name, rng.choice(companies), now) for i, name in enumerate(names))


def _names(rng: random.Random, count: int) -> list[str]:
    """Full names, no two alike, but many that share a first or a last name."""
    lasts = rng.sample(words.LAST_NAMES, 26)
    names: dict[str, None] = {}
    while len(names) < count:
        names[f"{rng.choice(words.FIRST_NAMES)} {rng.choice(lasts)}"] = None
    return list(names)


def _customer(rng: random.Random, id: int, name: str, company: str, now: datetime) -> tuple[Any, ...]:
    host = company.lower().replace(" & ", "-").replace(" ", "-") + ".example"
    phone = f"+{rng.choice((1, 31, 33, 44, 45, 49))} {rng.randint(201, 989)} 555 {rng.randint(0, 9999):04d}"
    since = now - timedelta(days=rng.randint(90, 1200), minutes=rng.randrange(1440))
    return (id, name, _mailbox(name, host), phone, company, rng.choice(PLANS), rng.choice(words.CITIES), _stamp(since))


def _mailbox(name: str, host: str) -> str:
    return f"{name.lower().replace(' ', '.')}@{host}"


def _tickets(rng: random.Random, now: datetime, customers: Rows, agents: Rows) -> tuple[Rows, Rows]:
    """Tickets in the order of their creation, no two in the same minute, and their tags."""
    count = rng.randint(150, 200)
    minutes = sorted(rng.sample(range(30, int(HISTORY.total_seconds()) // 60), count), reverse=True)
    owners = _owners(rng, customers, count)
    first = rng.randrange(1000, 9000)
    numbers = _numbers(rng)
    tickets, tags = [], []
    for i, (age, owner) in enumerate(zip(minutes, owners, strict=True)):
        subject, text, fitting = _topic(rng, numbers)
        status = _status(rng, age / minutes[0])
        assignee = None if status == "open" and rng.random() < 0.25 else rng.choice(agents)[0]
        priority = rng.choices(("low", "normal", "high", "urgent"), (2, 4, 3, 2))[0]
        created = _stamp(now - timedelta(minutes=age))
        tickets.append((first + i, subject, text, owner, assignee, status, priority, rng.choice(CHANNELS), created))
        chosen = rng.sample(fitting, rng.randint(1, len(fitting))) if rng.random() < 0.85 else []
        if rng.random() < 0.2:
            chosen.append(rng.choice([tag for tag in words.TAGS if tag not in chosen]))
        tags += [(first + i, tag) for tag in chosen]
    return tuple(tickets), tuple((i, *tag) for i, tag in enumerate(tags, 1))


def _owners(rng: random.Random, customers: Rows, count: int) -> list[int]:
    """Whose ticket each is: some customers write often, nobody more than twelve times, so that a page holds them."""
    places = [id for id, *_ in customers for _ in range(rng.choice((4, 4, 5, 6, 8, 12)))]
    return rng.sample(places, count)


def _numbers(rng: random.Random) -> list[int]:
    """Numbers for subjects, half of them with the last two digits of another exchanged: easy to mistake."""
    bases = [rng.randrange(10, 99) * 100 + rng.choice((12, 27, 38, 46, 53, 69, 81, 94)) for _ in range(20)]
    return bases + [n // 100 * 100 + n % 10 * 10 + n // 10 % 10 for n in bases]


def _topic(rng: random.Random, numbers: list[int]) -> tuple[str, str, tuple[str, ...]]:
    subject, text, tags = rng.choice(words.TOPICS)
    fill = {"n": rng.choice(numbers), "m": rng.randint(5, 95), "day": rng.choice(DAYS)}
    return subject.format(**fill), text.format(**fill), tags


def _status(rng: random.Random, age: float) -> str:
    """Old tickets are mostly closed, young ones mostly open; age is 0 (now) to 1."""
    return rng.choices(("open", "pending", "solved", "closed"), (1.3 - age, 0.6, 0.5, 0.2 + age))[0]


def _comments(rng: random.Random, now: datetime, tickets: Rows, customers: Rows, agents: Rows) -> Rows:
    customer_names = {row[0]: row[1] for row in customers}
    agent_names = {row[0]: row[1] for row in agents}
    comments = []
    for id, _, _, customer, assignee, *_, created in tickets:
        answerer = agent_names.get(assignee) or rng.choice(agents)[1]
        moment = datetime.fromisoformat(created)
        for turn in range(rng.choice((0, 1, 1, 2, 3, 4))):
            moment += (now - moment) * rng.uniform(0.02, 0.35)
            kind = rng.choice(("reply", "note")) if turn % 2 == 0 else "customer"
            author = customer_names[customer] if kind == "customer" else answerer
            comments.append((id, author, kind, rng.choice(_LINES[kind]), _stamp(moment)))
    return tuple((i, *comment) for i, comment in enumerate(comments, 1))


_LINES = {"customer": words.CUSTOMER_LINES, "reply": words.REPLY_LINES, "note": words.NOTE_LINES}


def _stamp(moment: datetime) -> str:
    return moment.replace(second=0, microsecond=0).isoformat(" ")
