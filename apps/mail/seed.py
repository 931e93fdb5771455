"""Fills the mail client with data: the same seed and content give the same rows, always."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..kit import store
from ..kit.looks import whole
from ..kit.people import host
from . import conversations, words
from .clean import from_text
from .conversations import Letter, Story, Thread
from .files import type_of
from .looks import PARTS
from .schema import SCHEMA

Row = tuple[Any, ...]
Extra = tuple[str, str, str, str, Sequence[tuple[str, bytes]]]
"""A mail to put on top of the inbox: sender's name, address, subject, text, files as (name, content)."""


def write(db_path: Path | str, seed: int, appearance: Mapping[str, str], extra: Sequence[Extra] = ()) -> None:
    """Replace all data by the seed's, in one transaction; parts of the appearance left out take their default.

    Args:
        db_path: The database file.
        seed: Which data.
        appearance: How it looks, and which content.
        extra: More mails, each a conversation of its own; the first is the newest.

    Raises:
        ValueError: The appearance has a part or a value that the mail client does not know.
    """
    settings = {**whole(PARTS, appearance), "now": _stamp(clock(seed))}
    tables = dict(_records(seed, settings["content"]))
    if extra:
        tables |= _with_extra(tables, clock(seed), extra)
    store.fill(Path(db_path), SCHEMA, tables, settings)


def clock(seed: int) -> datetime:
    """The seed's moment: everything that happens in an episode happens then."""
    rng = random.Random(f"mail:clock:{seed}")
    return datetime(2026, 2, 2, 15) + timedelta(days=rng.randrange(280), minutes=rng.randrange(240))


@lru_cache(maxsize=64)
def _records(seed: int, content: str) -> dict[str, tuple[Row, ...]]:
    story = Story(random.Random(f"mail:{seed}:{content}"), content, clock(seed))
    threads = conversations.all_threads(story)
    threads.sort(key=lambda thread: (thread.letters[0].at, thread.subject))
    tables: dict[str, list[Row]] = {name: [] for name in ("threads", "thread_labels", "messages", "attachments")}
    for number, thread in enumerate(threads, 101):
        _put(tables, number, thread)
    for letter in conversations.drafts(story):
        _put_letter(tables, None, letter)
    rows = {name: tuple(each) for name, each in tables.items()}
    return {**_owner(story), **rows, **_people(story), "rules": _rules(story), "seen": (), "events": ()}


def _owner(story: Story) -> dict[str, tuple[Row, ...]]:
    me = story.me
    signature = f"{me.name}\n{story.company}"
    return {
        "profile": ((1, me.name, me.email, signature, 0, "", "", "", ""),),
        "folders": tuple(enumerate(words.FOLDERS, 1)),
        "labels": tuple((i, *label) for i, label in enumerate(words.LABELS, 1)),
        "subscriptions": tuple(
            (i, name, f"news@{domain}", 1) for i, (name, domain, _) in enumerate(words.NEWSLETTERS, 1)
        ),
    }


def _people(story: Story) -> dict[str, tuple[Row, ...]]:
    groups = ("Board", "Suppliers", "Fair visitors")
    members = [(group, id) for group in range(1, 4) for id in sorted(story.rng.sample(range(1, 40), 4))]
    return {
        "contacts": tuple((i, p.name, p.email, p.phone, p.company, "") for i, p in enumerate(story.contacts, 1)),
        "contact_groups": tuple(enumerate(groups, 1)),
        "group_members": tuple((i, *pair) for i, pair in enumerate(members, 1)),
    }


def _rules(story: Story) -> tuple[Row, ...]:
    return (
        (1, words.NEWSLETTERS[0][1], "", 6, "", 1, 0, ""),
        (2, "", "reminder", None, "", 0, 1, ""),
        (3, host(story.company), "minutes", 5, "archive", 0, 0, ""),
    )


def _put(tables: dict[str, list[Row]], number: int, thread: Thread) -> None:
    tables["threads"].append((number, thread.subject, thread.folder, int(thread.starred), int(thread.unread)))
    for label in sorted(thread.labels):
        tables["thread_labels"].append((len(tables["thread_labels"]) + 1, number, label))
    previous = None
    for letter in thread.letters:
        letter.subject = thread.subject if letter.sender == thread.letters[0].sender else f"Re: {thread.subject}"
        previous = _put_letter(tables, number, letter, previous)


def _put_letter(tables: dict[str, list[Row]], thread: int | None, letter: Letter, reply_to: int | None = None) -> int:
    number = len(tables["messages"]) + 1001
    sender, to, cc = letter.sender, ", ".join(letter.to), ", ".join(letter.cc)
    text = letter.text.strip()
    tables["messages"].append(
        (number, thread, letter.status, sender.name, sender.email, to, cc, "", letter.subject, from_text(text), text, reply_to,
         None, "", _stamp(letter.at))
    )  # fmt: skip
    for name, content in letter.files:
        tables["attachments"].append(_attachment(len(tables["attachments"]) + 1, number, name, content))
    return number


def _attachment(id: int, message: int, name: str, content: bytes) -> Row:
    return (id, message, name, type_of(name), len(content), sha256(content).hexdigest(), content)


def _with_extra(
    tables: Mapping[str, tuple[Row, ...]], now: datetime, extra: Sequence[Extra]
) -> dict[str, tuple[Row, ...]]:
    """The tables that more mails change."""
    threads, messages, files = [list(tables[name]) for name in ("threads", "messages", "attachments")]
    me = tables["profile"][0][2]
    for age, (name, address, subject, text, attached) in reversed(list(enumerate(extra))):
        thread, message = threads[-1][0] + 1, messages[-1][0] + 1
        threads.append((thread, subject, "inbox", 0, 1))
        at = _stamp(now - timedelta(minutes=age))
        messages.append(
            (message, thread, "received", name, address, me, "", "", subject, from_text(text), text, None, None, "", at)
        )
        files += [_attachment(len(files) + 1 + i, message, *file) for i, file in enumerate(attached)]
    return {"threads": tuple(threads), "messages": tuple(messages), "attachments": tuple(files)}


def _stamp(moment: datetime) -> str:
    return moment.replace(second=0, microsecond=0).isoformat(" ")
