"""What people change in tickets and customers; every change leaves a line in the table `events`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from ..kit.numbers import number
from ..kit.store import Record, record
from ..kit.web import Missing, Refused
from . import fields, queries
from .log import log, moment
from .schema import PRIORITIES, STATUSES

MAX_FILE_BYTES = 50_000
FILE_TYPES = (".txt", ".csv", ".md", ".log")


def set_status(db: sqlite3.Connection, ids: Iterable[int], status: str) -> None:
    """Give tickets a status."""
    fields.known("status", status, STATUSES)
    _set(db, ids, "status", status, ("set the status to {x}", status.capitalize()))


def set_priority(db: sqlite3.Connection, ids: Iterable[int], priority: str) -> None:
    """Give tickets a priority."""
    fields.known("priority", priority, PRIORITIES)
    _set(db, ids, "priority", priority, ("set the priority to {x}", priority.capitalize()))


def assign(db: sqlite3.Connection, ids: Iterable[int], agent: str) -> None:
    """Give tickets to the agent of that id, or to nobody ("none")."""
    if agent == "none":
        _set(db, ids, "assignee_id", None, ("took the assignee away", ""))
        return
    found = queries.agent(db, agent)
    if found is None:
        raise Refused("There is no agent {x}.", x=agent)
    _set(db, ids, "assignee_id", found["id"], ("assigned it to {x}", found["name"]))


def rename(db: sqlite3.Connection, id: int, subject: str) -> None:
    """Give a ticket another subject."""
    _set(db, [id], "subject", fields.line("The subject", subject), ("changed the subject", ""))


def set_due(db: sqlite3.Connection, id: int, day: str) -> None:
    """Give a ticket a due date (YYYY-MM-DD), today or later, or none (an empty text)."""
    if not day:
        _set(db, [id], "due_on", None, ("took the due date away", ""))
        return
    try:
        due = date.fromisoformat(day).isoformat()
    except ValueError:
        raise Refused("{x} is no date.", x=day) from None
    if due < moment(db)[0][:10] and due != unmerged(db, id)["due_on"]:
        raise Refused("The due date cannot lie before today.")
    _set(db, [id], "due_on", due, ("set the due date to {x}", due))


def add_tag(db: sqlite3.Connection, id: int, text: str) -> None:
    """Put a tag on a ticket that does not have it."""
    tag = fields.tag(text)
    unmerged(db, id)
    if db.execute("SELECT 1 FROM ticket_tags WHERE ticket_id = ? AND tag = ?", [id, tag]).fetchone():
        raise Refused("The ticket has the tag {x} already.", x=tag)
    db.execute("INSERT INTO ticket_tags (ticket_id, tag) VALUES (?, ?)", [id, tag])
    log(db, "ticket", id, "added the tag {x}", tag)


def tag_all(db: sqlite3.Connection, ids: Iterable[int], text: str) -> None:
    """Put a tag on those of the tickets that do not have it yet."""
    tag = fields.tag(text)
    for id in ids:
        unmerged(db, id)
        if not db.execute("SELECT 1 FROM ticket_tags WHERE ticket_id = ? AND tag = ?", [id, tag]).fetchone():
            add_tag(db, id, tag)


def remove_tag(db: sqlite3.Connection, id: int, tag: str) -> None:
    """Take a tag from a ticket; nothing happens if it has it no more."""
    unmerged(db, id)
    if db.execute("DELETE FROM ticket_tags WHERE ticket_id = ? AND tag = ?", [id, tag]).rowcount:
        log(db, "ticket", id, "removed the tag {x}", tag)


def add_cc(db: sqlite3.Connection, id: int, text: str) -> None:
    """Send copies of a ticket's messages to one more address."""
    email = fields.email(text)
    unmerged(db, id)
    if db.execute("SELECT 1 FROM ticket_ccs WHERE ticket_id = ? AND email = ?", [id, email]).fetchone():
        raise Refused("{x} gets copies already.", x=email)
    db.execute("INSERT INTO ticket_ccs (ticket_id, email) VALUES (?, ?)", [id, email])
    log(db, "ticket", id, "added {x} as CC", email)


def remove_cc(db: sqlite3.Connection, id: int, email: str) -> None:
    """Send no more copies to an address."""
    unmerged(db, id)
    if db.execute("DELETE FROM ticket_ccs WHERE ticket_id = ? AND email = ?", [id, email]).rowcount:
        log(db, "ticket", id, "removed {x} from CC", email)


def comment(db: sqlite3.Connection, id: int, kind: str, text: str) -> None:
    """Add a reply that the customer sees, or a note that only agents see."""
    fields.known("kind", kind, ("reply", "note"))
    unmerged(db, id)
    body = fields.text("The reply" if kind == "reply" else "The note", text)
    now, me = moment(db)
    sql = "INSERT INTO comments (ticket_id, author, kind, body, created_at) VALUES (?, ?, ?, ?, ?)"
    db.execute(sql, [id, me, kind, body, now])
    log(db, "ticket", id, "replied" if kind == "reply" else "left a note")


def attach(db: sqlite3.Connection, id: int, file: tuple[str, bytes] | None) -> None:
    """Put a text file, by its name and content, on a ticket."""
    unmerged(db, id)
    if file is None:
        raise Refused("Choose a file.")
    name, content = fields.line("The name", file[0]), file[1]
    if not name.lower().endswith(FILE_TYPES):
        raise Refused("Only text files can be attached: {x}.", x=", ".join(FILE_TYPES))
    if len(content) > MAX_FILE_BYTES:
        raise Refused("The file has {n} bytes; at most {most} are allowed.", n=len(content), most=MAX_FILE_BYTES)
    sql = "INSERT INTO attachments (ticket_id, name, content, created_at) VALUES (?, ?, ?, ?)"
    db.execute(sql, [id, name, content.decode(errors="replace"), moment(db)[0]])
    log(db, "ticket", id, "attached {x}", name)


def detach(db: sqlite3.Connection, id: int, file: str) -> None:
    """Take a file from a ticket."""
    unmerged(db, id)
    found = record(db, "SELECT name FROM attachments WHERE ticket_id = ? AND id = ?", [id, file])
    if found is None:
        raise Missing("This record does not exist, or has been deleted.")
    db.execute("DELETE FROM attachments WHERE id = ?", [file])
    log(db, "ticket", id, "removed {x}", found["name"])


def merge(db: sqlite3.Connection, id: int, text: str) -> int:
    """Merge a ticket into another one of its customer; that one gets its messages and files. Returns its number.

    Raises:
        Refused: There is no such ticket, it is the same, merged itself, or of another customer.
    """
    ticket = unmerged(db, id)
    number = text.strip().lstrip("#")
    kept = record(db, "SELECT * FROM tickets WHERE id = ?", [number]) if re.fullmatch(r"[0-9]{1,9}", number) else None
    if kept is None:
        raise Refused("There is no ticket {x}.", x=text.strip() or "?")
    into = int(kept["id"])
    if into == id:
        raise Refused("A ticket cannot be merged into itself.")
    if kept["merged_into"]:
        raise Refused("#{x} has been merged itself.", x=into)
    if kept["customer_id"] != ticket["customer_id"]:
        raise Refused("Only tickets of the same customer can be merged; #{x} is of another one.", x=into)
    author = db.execute("SELECT name FROM customers WHERE id = ?", [ticket["customer_id"]]).fetchone()["name"]
    sql = "INSERT INTO comments (ticket_id, author, kind, body, created_at) VALUES (?, ?, 'customer', ?, ?)"
    db.execute("UPDATE comments SET ticket_id = ? WHERE ticket_id = ?", [into, id])
    db.execute(sql, [into, author, ticket["description"], ticket["created_at"]])
    db.execute("UPDATE attachments SET ticket_id = ? WHERE ticket_id = ?", [into, id])
    db.execute("UPDATE tickets SET status = 'closed', merged_into = ? WHERE id = ?", [into, id])
    log(db, "ticket", id, "merged it into #{x}", str(into))
    log(db, "ticket", into, "merged #{x} into it", str(id))
    return into


def open_ticket(db: sqlite3.Connection, form: Mapping[str, str]) -> int:
    """Add a ticket and return its number.

    Raises:
        Refused: A field is empty, too long, or names nothing that exists.
    """
    customer = number(form.get("customer", ""))
    if not db.execute("SELECT 1 FROM customers WHERE id = ?", [customer]).fetchone():
        raise Refused("Choose a customer.")
    subject = fields.line("The subject", form.get("subject", ""))
    fields.known("priority", form.get("priority", ""), PRIORITIES)
    text = fields.text("The description", form.get("description", ""))
    added = db.execute(
        "INSERT INTO tickets (subject, description, customer_id, status, priority, channel, created_at)"
        " VALUES (?, ?, ?, 'open', ?, 'Phone', ?)",
        [subject, text, customer, form["priority"], moment(db)[0]],
    ).lastrowid
    assert added is not None  # an INSERT has one
    log(db, "ticket", added, "opened the ticket")
    if form.get("due"):
        set_due(db, added, form["due"])
    return added


def edit_customer(db: sqlite3.Connection, id: int, form: Mapping[str, str]) -> None:
    """Change a customer's e-mail address, phone number, company and notes; notes that are not sent stay.

    Raises:
        Missing: There is no such customer.
        Refused: A field is empty, too long or malformed.
    """
    old = record(db, "SELECT * FROM customers WHERE id = ?", [id])
    if old is None:
        raise Missing("This record does not exist, or has been deleted.")
    notes = form.get("notes", old["notes"]).strip()
    new = {
        "email": fields.email(form.get("email", "")),
        "phone": fields.phone(form.get("phone", "")),
        "company": fields.line("Company", form.get("company", "")),
        "notes": fields.text("The note", notes) if notes else "",
    }
    for name, value in new.items():
        if value != old[name]:
            db.execute(f"UPDATE customers SET {name} = ? WHERE id = ?", [value, id])
            log(db, "customer", id, "changed: {x}", name.capitalize())


def unmerged(db: sqlite3.Connection, id: int) -> Record:
    """A ticket that can be changed.

    Raises:
        Missing: There is no such ticket.
        Refused: It was merged into another one.
    """
    found = record(db, "SELECT * FROM tickets WHERE id = ?", [id])
    if found is None:
        raise Missing("This record does not exist, or has been deleted.")
    if found["merged_into"]:
        raise Refused("#{x} was merged into #{into} and cannot be changed.", x=id, into=found["merged_into"])
    return found


def _set(db: sqlite3.Connection, ids: Iterable[int], column: str, value: Any, said: tuple[str, str]) -> None:
    for id in ids:
        if unmerged(db, id)[column] != value:
            db.execute(f"UPDATE tickets SET {column} = ? WHERE id = ?", [value, id])
            log(db, "ticket", id, *said)
