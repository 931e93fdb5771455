"""The shop's own log, and what every change needs to know: the moment, and who acts."""

from __future__ import annotations

import sqlite3

from ..kit.store import settings


def now(db: sqlite3.Connection) -> str:
    """The shop's moment, "2026-10-13 10:00:00"."""
    return settings(db)["now"]


def me(db: sqlite3.Connection) -> int:
    """The customer in the store."""
    return int(settings(db)["me"])


def log(db: sqlite3.Connection, actor: str, subject: str, id: int, what: str) -> None:
    """A line about a change.

    Args:
        db: The database.
        actor: "customer", or "staff".
        subject: What was changed: "order", "product" and the like.
        id: Which of them.
        what: What was done to it, in English; pages translate it.
    """
    name = settings(db)["staff"] if actor == "staff" else "Customer"
    sql = "INSERT INTO events (at, actor, subject, subject_id, what) VALUES (?, ?, ?, ?, ?)"
    db.execute(sql, [now(db), name, subject, id, what])
