"""What people change in the help desk; every change leaves a line in the table `events`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from . import queries
from .schema import PRIORITIES, STATUSES

MAX_LINE = 200
MAX_TEXT = 5_000


class Refused(ValueError):
    """What was asked for cannot be done; the text says why, to the person at the desk."""


class Missing(LookupError):
    """There is no such record."""


def set_status(db: sqlite3.Connection, ids: Iterable[int], status: str) -> None:
    """Give tickets a status."""
    _known("status", status, STATUSES)
    _set(db, ids, "status", status, f"set the status to {status.capitalize()}")


def set_priority(db: sqlite3.Connection, ids: Iterable[int], priority: str) -> None:
    """Give tickets a priority."""
    _known("priority", priority, PRIORITIES)
    _set(db, ids, "priority", priority, f"set the priority to {priority.capitalize()}")


def assign(db: sqlite3.Connection, ids: Iterable[int], agent: str) -> None:
    """Give tickets to the agent of that id, or to nobody ("none")."""
    if agent == "none":
        _set(db, ids, "assignee_id", None, "took the assignee away")
        return
    found = queries.agent(db, agent)
    if found is None:
        raise Refused(f"There is no agent {agent}.")
    _set(db, ids, "assignee_id", found["id"], f"assigned it to {found['name']}")


def rename(db: sqlite3.Connection, id: int, subject: str) -> None:
    """Give a ticket another subject."""
    line = _line("The subject", subject)
    _set(db, [id], "subject", line, "changed the subject")


def add_tag(db: sqlite3.Connection, id: int, text: str) -> None:
    """Put a tag on a ticket; tags are lower case, with - between words."""
    tag = re.sub(r"[\s-]+", "-", text.strip().lstrip("#").lower())
    if not re.fullmatch(r"[\w-]{1,30}", tag):
        raise Refused("A tag has 1 to 30 letters, digits and hyphens.")
    _ticket(db, id)
    if db.execute("SELECT 1 FROM ticket_tags WHERE ticket_id = ? AND tag = ?", [id, tag]).fetchone():
        raise Refused(f"The ticket has the tag {tag} already.")
    db.execute("INSERT INTO ticket_tags (ticket_id, tag) VALUES (?, ?)", [id, tag])
    _log(db, "ticket", id, f"added the tag {tag}")


def remove_tag(db: sqlite3.Connection, id: int, tag: str) -> None:
    """Take a tag from a ticket; nothing happens if it has it no more."""
    if db.execute("DELETE FROM ticket_tags WHERE ticket_id = ? AND tag = ?", [id, tag]).rowcount:
        _log(db, "ticket", id, f"removed the tag {tag}")


def comment(db: sqlite3.Connection, id: int, kind: str, text: str) -> None:
    """Add a reply that the customer sees, or a note that only agents see."""
    _known("kind", kind, ("reply", "note"))
    _ticket(db, id)
    body = _text("The reply" if kind == "reply" else "The note", text)
    now, me = _moment(db)
    sql = "INSERT INTO comments (ticket_id, author, kind, body, created_at) VALUES (?, ?, ?, ?, ?)"
    db.execute(sql, [id, me, kind, body, now])
    _log(db, "ticket", id, "replied" if kind == "reply" else "left a note")


def open_ticket(db: sqlite3.Connection, form: Mapping[str, str]) -> int:
    """Add a ticket and return its number.

    Raises:
        Refused: A field is empty, too long, or names nothing that exists.
    """
    customer = form.get("customer", "")
    if not db.execute("SELECT 1 FROM customers WHERE id = ?", [customer]).fetchone():
        raise Refused("Choose a customer.")
    subject = _line("The subject", form.get("subject", ""))
    _known("priority", form.get("priority", ""), PRIORITIES)
    text = _text("The description", form.get("description", ""))
    now, _ = _moment(db)
    added = db.execute(
        "INSERT INTO tickets (subject, description, customer_id, status, priority, channel, created_at)"
        " VALUES (?, ?, ?, 'open', ?, 'Phone', ?)",
        [subject, text, int(customer), form["priority"], now],
    ).lastrowid
    assert added is not None  # an INSERT has one
    _log(db, "ticket", added, "opened the ticket")
    return added


def edit_customer(db: sqlite3.Connection, id: int, form: Mapping[str, str]) -> None:
    """Change a customer's e-mail address, phone number and company.

    Raises:
        Missing: There is no such customer.
        Refused: A field is empty, too long or malformed.
    """
    old = db.execute("SELECT * FROM customers WHERE id = ?", [id]).fetchone()
    if old is None:
        raise Missing(f"There is no customer {id}.")
    new = {name: _line(name.capitalize(), form.get(name, "")) for name in ("email", "phone", "company")}
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", new["email"]):
        raise Refused(f"{new['email']} is no e-mail address.")
    if not re.fullmatch(r"[+\d][\d\s()./-]{3,29}", new["phone"]):
        raise Refused(f"{new['phone']} is no phone number.")
    for name, value in new.items():
        if value != old[name]:
            db.execute(f"UPDATE customers SET {name} = ? WHERE id = ?", [value, id])
            _log(db, "customer", id, f"changed the {name}")


def _set(db: sqlite3.Connection, ids: Iterable[int], column: str, value: Any, what: str) -> None:
    for id in ids:
        old = _ticket(db, id)
        if old[column] != value:
            db.execute(f"UPDATE tickets SET {column} = ? WHERE id = ?", [value, id])
            _log(db, "ticket", id, what)


def _ticket(db: sqlite3.Connection, id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM tickets WHERE id = ?", [id]).fetchone()
    if row is None:
        raise Missing(f"There is no ticket {id}.")
    return row


def _log(db: sqlite3.Connection, subject: str, id: int, what: str) -> None:
    now, me = _moment(db)
    sql = "INSERT INTO events (at, actor, subject, subject_id, what) VALUES (?, ?, ?, ?, ?)"
    db.execute(sql, [now, me, subject, id, what])


def _moment(db: sqlite3.Connection) -> tuple[str, str]:
    """The desk's clock and the name of the agent at it."""
    settings = queries.settings(db)
    me = queries.agent(db, settings["me"])
    return settings["now"], me["name"] if me else "Unknown"


def _known(what: str, value: str, values: tuple[str, ...]) -> None:
    if value not in values:
        raise Refused(f"Choose a {what}: {', '.join(values)}.")


def _line(what: str, text: str) -> str:
    line = " ".join(text.split())
    if not line:
        raise Refused(f"{what} is empty.")
    if len(line) > MAX_LINE:
        raise Refused(f"{what} has {len(line)} characters; at most {MAX_LINE} are allowed.")
    return line


def _text(what: str, text: str) -> str:
    body = text.replace("\r\n", "\n").strip()
    if not body:
        raise Refused(f"{what} is empty.")
    if len(body) > MAX_TEXT:
        raise Refused(f"{what} has {len(body)} characters; at most {MAX_TEXT} are allowed.")
    return body
