"""Fills the help desk with data: the same seed gives the same rows, always."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..kit.looks import whole
from ..kit.people import CITIES, People, host
from ..kit.store import Rows, fill
from . import words
from .looks import PARTS
from .schema import CHANNELS, PLANS, SCHEMA, UNFINISHED

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
HISTORY = timedelta(days=75)


def write(db_path: Path | str, seed: int, appearance: Mapping[str, str]) -> None:
    """Replace all data by the seed's, in one transaction; parts of the appearance left out take their default.

    Raises:
        ValueError: The appearance has a part or a value that the help desk does not know.
    """
    looks = whole(PARTS, appearance)
    settings = {**looks, "now": _clock(seed).isoformat(" "), "me": "1"}
    fill(Path(db_path), SCHEMA, _records(seed, looks["content"]), settings)


def _clock(seed: int) -> datetime:
    """The seed's moment: everything that happens in an episode happens then."""
    rng = random.Random(f"desk:clock:{seed}")
    return datetime(2026, 1, 5, 9) + timedelta(days=rng.randrange(300), minutes=rng.randrange(480))


@lru_cache(maxsize=128)
def _records(seed: int, content: str) -> Mapping[str, Rows]:
    rng = random.Random(f"desk:{seed}:{content}")
    now, people = _clock(seed), People(rng, content)
    agents = _agents(people)
    customers = _customers(people, now)
    tickets, tags = _tickets(people, now, customers, agents)
    return {
        "agents": agents,
        "customers": customers,
        "tickets": tickets,
        "ticket_tags": tags,
        "ticket_ccs": _ccs(people, tickets, agents),
        "comments": _comments(people, now, tickets, customers, agents),
        "attachments": _attachments(rng, tickets, customers),
        "macros": _numbered(sorted(rng.sample(words.MACROS, 6))),
        "views": _views(rng),
        "events": (),
    }


def _agents(people: People) -> Rows:
    names = people.rng.sample(words.AGENT_NAMES, 8)
    return [
        (i, name, people.mailbox(name, "helpdesk.example"), words.TEAMS[(i - 1) % len(words.TEAMS)])
        for i, name in enumerate(names, 1)
    ]


def _customers(people: People, now: datetime) -> Rows:
    names = people.names(people.rng.randint(56, 64))
    companies = people.companies(24)
    first = people.rng.randrange(100, 900)
    return [_customer(people, first + i, name, people.rng.choice(companies), now) for i, name in enumerate(names)]


def _customer(people: People, id: int, name: str, company: str, now: datetime) -> tuple[Any, ...]:
    rng = people.rng
    phone = f"+{rng.choice((1, 31, 33, 44, 45, 49))} {rng.randint(201, 989)} 555 {rng.randint(0, 9999):04d}"
    since = _stamp(now - timedelta(days=rng.randint(90, 1200), minutes=rng.randrange(1440)))
    notes = people.text(rng.choice(words.CUSTOMER_NOTES)) if rng.random() < 0.3 else ""
    mailbox = people.mailbox(name, host(company))
    return (id, name, mailbox, phone, company, rng.choice(PLANS), rng.choice(CITIES), since, notes)


def _tickets(people: People, now: datetime, customers: Rows, agents: Rows) -> tuple[Rows, Rows]:
    """Tickets in the order of their creation, no two in the same minute, and their tags."""
    rng = people.rng
    count = rng.randint(150, 200)
    minutes = sorted(rng.sample(range(30, int(HISTORY.total_seconds()) // 60), count), reverse=True)
    owners = _owners(rng, customers, count)
    first = rng.randrange(1000, 9000)
    numbers = _numbers(rng)
    topics = rng.sample(words.TOPICS, 9) if people.content == "alike" else words.TOPICS
    tickets, tags = [], []
    for i, (age, owner) in enumerate(zip(minutes, owners, strict=True)):
        subject, text, fitting = _topic(people, topics, numbers)
        status = _status(rng, age / minutes[0])
        assignee = None if status == "open" and rng.random() < 0.25 else rng.choice(agents)[0]
        priority = rng.choices(("low", "normal", "high", "urgent"), (2, 4, 3, 2))[0]
        created = now - timedelta(minutes=age)
        state = (status, priority, rng.choice(CHANNELS), _stamp(created), _due(rng, status, created, now), None)
        tickets.append((first + i, subject, people.text(text), owner, assignee, *state))
        chosen = rng.sample(fitting, rng.randint(1, len(fitting))) if rng.random() < 0.85 else []
        if rng.random() < 0.2:
            chosen.append(rng.choice([tag for tag in words.TAGS if tag not in chosen]))
        tags += [(first + i, tag) for tag in chosen]
    return tickets, _numbered(tags)


def _owners(rng: random.Random, customers: Rows, count: int) -> list[int]:
    """Whose ticket each is: some customers write often, nobody more than twelve times, so that a page holds them."""
    places = [row[0] for row in customers for _ in range(rng.choice((4, 4, 5, 6, 8, 12)))]
    return rng.sample(places, count)


def _numbers(rng: random.Random) -> list[int]:
    """Numbers for subjects, half of them with the last two digits of another exchanged: easy to mistake."""
    bases = [rng.randrange(10, 99) * 100 + rng.choice((12, 27, 38, 46, 53, 69, 81, 94)) for _ in range(20)]
    return bases + [n // 100 * 100 + n % 10 * 10 + n // 10 % 10 for n in bases]


def _topic(people: People, topics: Any, numbers: list[int]) -> tuple[str, str, tuple[str, ...]]:
    rng = people.rng
    subject, text, tags = rng.choice(topics)
    fill_in = {"n": rng.choice(numbers), "m": rng.randint(5, 95), "day": rng.choice(DAYS)}
    end = rng.choice(words.LONG_ENDS) if people.content == "long" and rng.random() < 0.5 else ""
    return subject.format(**fill_in) + end, text.format(**fill_in), tags


def _status(rng: random.Random, age: float) -> str:
    """Old tickets are mostly closed, young ones mostly open; age is 0 (now) to 1."""
    return rng.choices(("open", "pending", "solved", "closed"), (1.3 - age, 0.6, 0.5, 0.2 + age))[0]


def _due(rng: random.Random, status: str, created: datetime, now: datetime) -> str | None:
    """When a ticket must be done: some unfinished ones are late, none earlier than it was created."""
    if rng.random() < 0.3:
        return None
    days = rng.randint(-9, 24)
    due = now + timedelta(days=days) if status in UNFINISHED else created + timedelta(days=2 + abs(days))
    return max(created, due).date().isoformat()


def _ccs(people: People, tickets: Rows, agents: Rows) -> Rows:
    chosen = people.rng.sample(tickets, 14)
    return _numbered([(row[0], people.rng.choice(agents)[2]) for row in sorted(chosen)])


def _comments(people: People, now: datetime, tickets: Rows, customers: Rows, agents: Rows) -> Rows:
    rng = people.rng
    customer_names = {row[0]: row[1] for row in customers}
    agent_names = {row[0]: row[1] for row in agents}
    comments = []
    for id, _, _, customer, assignee, *_, created, _, _ in tickets:
        answerer = agent_names.get(assignee) or rng.choice(agents)[1]
        moment = datetime.fromisoformat(created)
        for turn in range(rng.choice((0, 1, 1, 2, 3, 4))):
            moment += (now - moment) * rng.uniform(0.02, 0.35)
            kind = rng.choice(("reply", "note")) if turn % 2 == 0 else "customer"
            author = customer_names[customer] if kind == "customer" else answerer
            text = rng.choice(_LINES[kind])
            comments.append((id, author, kind, people.text(text, 0.1) if kind == "customer" else text, _stamp(moment)))
    return _numbered(comments)


def _attachments(rng: random.Random, tickets: Rows, customers: Rows) -> Rows:
    """Text files, each of another name, on some tickets."""
    names = {row[0]: row[1] for row in customers}
    files = []
    for n, row in zip(rng.sample(range(10, 99), 16), sorted(rng.sample(tickets, 16)), strict=True):
        says = {"n": n, "m": rng.randint(2, 40), "code": rng.randint(1000, 9999), "day": rng.choice(DAYS)}
        version = {"major": rng.randint(2, 9), "minor": rng.randint(0, 12), "name": names[row[3]]}
        text = words.FILE_TEXT.format(**says, **version)
        files.append((row[0], rng.choice(words.FILE_NAMES).format(n=n), text, row[8]))
    return _numbered(files)


def _views(rng: random.Random) -> Rows:
    columns = ("q", "status", "priority", "assignee", "tag", "due")
    return _numbered([(name, *(by.get(column, "") for column in columns)) for name, by in rng.sample(words.VIEWS, 3)])


def _numbered(rows: list[tuple[Any, ...]]) -> Rows:
    return [(i, *row) for i, row in enumerate(rows, 1)]


_LINES = {"customer": words.CUSTOMER_LINES, "reply": words.REPLY_LINES, "note": words.NOTE_LINES}


def _stamp(moment: datetime) -> str:
    return moment.replace(second=0, microsecond=0).isoformat(" ")
