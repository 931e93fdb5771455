"""Who did what when: every change leaves a line in the table `events`."""

from __future__ import annotations

import sqlite3

from ..kit.store import settings
from . import queries


def log(db: sqlite3.Connection, subject: str, id: int, what: str, detail: str = "") -> None:
    """Add a line.

    Args:
        db: The desk's data.
        subject: Table of the record, in the singular.
        id: The record's.
        what: What was done, in English, with {x} for the detail; the page says it in its own language.
        detail: The value that it was done with.
    """
    now, me = moment(db)
    sql = "INSERT INTO events (at, actor, subject, subject_id, what, detail) VALUES (?, ?, ?, ?, ?, ?)"
    db.execute(sql, [now, me, subject, id, what, detail])


def moment(db: sqlite3.Connection) -> tuple[str, str]:
    """The desk's clock and the name of the agent at it."""
    known = settings(db)
    me = queries.agent(db, known["me"])
    return known["now"], me["name"] if me else "Unknown"
