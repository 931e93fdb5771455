"""What agents keep for later: macros, which answer a ticket and set some of it, and views, which are filters with a name."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from ..kit.store import Record
from ..kit.web import Missing, Refused
from . import changes, fields, queries
from .log import log
from .queries import TicketFilter
from .schema import PRIORITIES, STATUSES

MAX_VIEWS = 8


def save_macro(db: sqlite3.Connection, form: Mapping[str, str], id: int | None = None) -> None:
    """Change a macro; without an id, add one.

    Raises:
        Missing: There is no such macro.
        Refused: A field is empty, too long or unknown, or another macro has the name.
    """
    if id is not None and queries.macro(db, id) is None:
        raise Missing("This record does not exist, or has been deleted.")
    tag = form.get("tag", "").strip()
    row = {
        "name": fields.line("The name", form.get("name", "")),
        "body": fields.text("The text", form.get("body", "")),
        "status": fields.known("status", form.get("status", ""), ("", *STATUSES)),
        "priority": fields.known("priority", form.get("priority", ""), ("", *PRIORITIES)),
        "tag": fields.tag(tag) if tag else "",
    }
    if db.execute("SELECT 1 FROM macros WHERE name = ? AND id IS NOT ?", [row["name"], id]).fetchone():
        raise Refused("There is a macro of that name already.")
    if id is None:
        db.execute(f"INSERT INTO macros ({', '.join(row)}) VALUES (?, ?, ?, ?, ?)", list(row.values()))
    else:
        db.execute("UPDATE macros SET name=?, body=?, status=?, priority=?, tag=? WHERE id = ?", [*row.values(), id])
    log(db, "macro", id or 0, "changed the macro {x}" if id else "added the macro {x}", row["name"])


def delete_macro(db: sqlite3.Connection, id: int) -> None:
    """Remove a macro; what was answered with it stays."""
    found = queries.macro(db, id)
    if found is None:
        raise Missing("This record does not exist, or has been deleted.")
    db.execute("DELETE FROM macros WHERE id = ?", [id])
    log(db, "macro", id, "deleted the macro {x}", found["name"])


def filled(macro: Record, customer: str) -> str:
    """A macro's text for a customer: {customer} is the first name."""
    return str(macro["body"]).replace("{customer}", customer.split()[0])


def answer(db: sqlite3.Connection, id: int, form: Mapping[str, str]) -> None:
    """Add a message to a ticket, and do what the macro does that it was written with, if any."""
    changes.comment(db, id, form.get("kind", ""), form.get("body", ""))
    if not form.get("macro"):
        return
    macro = queries.macro(db, form["macro"])
    if macro is None:
        raise Refused("There is no such macro any more.")
    if macro["status"]:
        changes.set_status(db, [id], macro["status"])
    if macro["priority"]:
        changes.set_priority(db, [id], macro["priority"])
    if macro["tag"]:
        changes.tag_all(db, [id], macro["tag"])


def save_view(db: sqlite3.Connection, form: Mapping[str, str]) -> TicketFilter:
    """Keep a filter under a name; returns it.

    Raises:
        Refused: It filters nothing, the name is empty or taken, or there are too many.
    """
    chosen = TicketFilter.read(form)
    name = fields.line("The name", form.get("name", ""))
    if not chosen.narrowed:
        raise Refused("Filter the list first.")
    if db.execute("SELECT 1 FROM views WHERE name = ?", [name]).fetchone():
        raise Refused("There is a view of that name already.")
    if len(queries.views(db)) >= MAX_VIEWS:
        raise Refused("There is room for {n} views; delete one first.", n=MAX_VIEWS)
    row = {"name": name, **chosen.words}
    db.execute(f"INSERT INTO views ({', '.join(row)}) VALUES (?, ?, ?, ?, ?, ?, ?)", list(row.values()))
    log(db, "view", 0, "saved the view {x}", name)
    return chosen


def delete_view(db: sqlite3.Connection, id: int) -> None:
    """Remove a view."""
    if not db.execute("DELETE FROM views WHERE id = ?", [id]).rowcount:
        raise Missing("This record does not exist, or has been deleted.")
    log(db, "view", id, "deleted a view")
