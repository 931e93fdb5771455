"""What the pages read from the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from ..kit.store import Page, Record, like, page_number, paged, record, records, settings
from .looks import PAGE_SIZE
from .schema import PRIORITIES, STATUSES, UNFINISHED

_TODAY = "(SELECT date(value) FROM settings WHERE key = 'now')"
_UNFINISHED = f"t.status IN {UNFINISHED}"
_DUES = {
    "overdue": f"{_UNFINISHED} AND t.due_on < {_TODAY}",
    "today": f"{_UNFINISHED} AND t.due_on = {_TODAY}",
    "week": f"{_UNFINISHED} AND t.due_on BETWEEN {_TODAY} AND date({_TODAY}, '+7 days')",
    "none": "t.due_on IS NULL",
}
_COLUMNS = f"""t.*, c.name AS customer, a.name AS assignee,
  CASE WHEN {_DUES["overdue"]} THEN 'overdue' WHEN {_DUES["today"]} THEN 'today' ELSE '' END AS due"""
_TICKETS = "FROM tickets t JOIN customers c ON c.id = t.customer_id LEFT JOIN agents a ON a.id = t.assignee_id"
_WORDS = ("q", "status", "priority", "assignee", "tag", "due")
_ORDERS = {
    "number": "t.id",
    "subject": "t.subject COLLATE NOCASE",
    "customer": "c.name",
    "assignee": "a.name",
    "created": "t.created_at",
    "due": "coalesce(t.due_on, '9999')",
    "status": "CASE t.status " + " ".join(f"WHEN '{s}' THEN {i}" for i, s in enumerate(STATUSES)) + " END",
    "priority": "CASE t.priority " + " ".join(f"WHEN '{p}' THEN {i}" for i, p in enumerate(PRIORITIES)) + " END",
}


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """Which tickets a list shows, in which order; an empty string filters nothing."""

    q: str = ""
    status: str = ""
    priority: str = ""
    assignee: str = ""
    """An agent's id, or "none" for tickets that nobody has."""
    tag: str = ""
    due: str = ""
    """One of `schema.DUES`."""
    sort: str = "created"
    dir: str = "desc"
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> TicketFilter:
        """The filter of a query string; what makes no sense is left out."""
        known = {name: query[name].strip() for name in _WORDS if name in query}
        sort = query.get("sort", "")
        return cls(
            **known,
            sort=sort if sort in _ORDERS else "created",
            dir="asc" if query.get("dir") == "asc" else "desc",
            page=page_number(query),
        )

    def url(self, **changes: Any) -> str:
        """Address of the list with some of the filter changed; any change goes back to the first page."""
        new = replace(self, **{"page": 1, **changes})
        plain = TicketFilter()
        query = {name: getattr(new, name) for name in self.__slots__ if getattr(new, name) != getattr(plain, name)}
        return "/tickets" + (f"?{urlencode(query)}" if query else "")

    @property
    def words(self) -> dict[str, str]:
        """What it filters by; order and page are left out."""
        return {name: getattr(self, name) for name in _WORDS}

    @property
    def narrowed(self) -> bool:
        """Whether anything is filtered."""
        return any(self.words.values())

    def where(self) -> tuple[str, list[Any]]:
        """The WHERE of a query about tickets, and its values."""
        terms: list[str] = []
        values: list[Any] = []
        if self.q:
            terms.append("(t.subject LIKE ? ESCAPE '\\' OR c.name LIKE ? ESCAPE '\\' OR t.id = ?)")
            values += [like(self.q), like(self.q), self.q.lstrip("#")]
        for column, value in (("t.status", self.status), ("t.priority", self.priority)):
            if value:
                terms.append(f"{column} = ?")
                values.append(value)
        if self.assignee == "none":
            terms.append("t.assignee_id IS NULL")
        elif self.assignee:
            terms.append("t.assignee_id = ?")
            values.append(self.assignee)
        if self.tag:
            terms.append("EXISTS (SELECT 1 FROM ticket_tags g WHERE g.ticket_id = t.id AND g.tag = ?)")
            values.append(self.tag)
        if self.due:
            terms.append(_DUES.get(self.due, "0"))
        return (f" WHERE {' AND '.join(terms)}" if terms else ""), values


def tickets(db: sqlite3.Connection, chosen: TicketFilter) -> Page:
    """The tickets that fit a filter."""
    where, values = chosen.where()
    order = f"{_ORDERS[chosen.sort]} {chosen.dir.upper()}, t.id DESC"
    sql = f"SELECT {_COLUMNS} {_TICKETS}{where} ORDER BY {order}"
    return paged(db, sql, values, chosen.page, PAGE_SIZE[settings(db)["density"]])


def customers(db: sqlite3.Connection, query: Mapping[str, str]) -> Page:
    """The customers whose name, company or e-mail address holds the query's `q`, by name."""
    sql = """SELECT c.*, (SELECT count(*) FROM tickets t WHERE t.customer_id = c.id) AS tickets FROM customers c
             WHERE c.name LIKE ? ESCAPE '\\' OR c.company LIKE ? ESCAPE '\\' OR c.email LIKE ? ESCAPE '\\' ORDER BY c.name"""
    text = like(query.get("q", "").strip())
    return paged(db, sql, [text] * 3, page_number(query), PAGE_SIZE[settings(db)["density"]])


def customer(db: sqlite3.Connection, id: int) -> Record | None:
    """A customer, with all tickets, the newest first; None if there is no such customer."""
    found = record(db, "SELECT * FROM customers WHERE id = ?", [id])
    if found is None:
        return None
    return {**found, "tickets": tickets_of(db, id), "events": _events(db, "customer", id)}


def tickets_of(db: sqlite3.Connection, customer: int) -> list[Record]:
    """All tickets of a customer, the newest first."""
    return records(db, f"SELECT {_COLUMNS} {_TICKETS} WHERE c.id = ? ORDER BY t.id DESC", [customer])


def ticket(db: sqlite3.Connection, id: int) -> Record | None:
    """A ticket, with its customer, assignee, tags, comments and all else; None if there is no such ticket."""
    sql = f"SELECT {_COLUMNS}, c.email, c.phone, c.company, c.plan {_TICKETS} WHERE t.id = ?"
    found = record(db, sql, [id])
    if found is None:
        return None
    return {
        **found,
        "tags": [row["tag"] for row in _of_ticket(db, "ticket_tags", id)],
        "ccs": [row["email"] for row in _of_ticket(db, "ticket_ccs", id)],
        "comments": sorted(_of_ticket(db, "comments", id), key=lambda row: str(row["created_at"])),
        "attachments": _of_ticket(db, "attachments", id),
        "merged": [row["id"] for row in records(db, "SELECT id FROM tickets WHERE merged_into = ? ORDER BY id", [id])],
        "events": _events(db, "ticket", id),
    }


def attachment(db: sqlite3.Connection, ticket: int, id: int) -> Record | None:
    """A file on a ticket; None if there is no such file."""
    return record(db, "SELECT * FROM attachments WHERE ticket_id = ? AND id = ?", [ticket, id])


def macros(db: sqlite3.Connection) -> list[Record]:
    """All macros by name."""
    return records(db, "SELECT * FROM macros ORDER BY name COLLATE NOCASE")


def macro(db: sqlite3.Connection, id: Any) -> Record | None:
    """A macro; None if there is no such macro."""
    return record(db, "SELECT * FROM macros WHERE id = ?", [id])


def views(db: sqlite3.Connection) -> list[Record]:
    """The saved views in the order in which they were saved, each with its `filter`."""
    return [{**row, "filter": TicketFilter.read(row)} for row in records(db, "SELECT * FROM views ORDER BY id")]


def agents(db: sqlite3.Connection) -> list[Record]:
    """The agents by name, with how many open and pending tickets each has."""
    sql = """SELECT a.*, count(t.id) FILTER (WHERE t.status = 'open') AS open,
                    count(t.id) FILTER (WHERE t.status = 'pending') AS pending
             FROM agents a LEFT JOIN tickets t ON t.assignee_id = a.id GROUP BY a.id ORDER BY a.name"""
    return records(db, sql)


def customer_names(db: sqlite3.Connection) -> list[Record]:
    """All customers by name, for choosing one."""
    return records(db, "SELECT id, name, company FROM customers ORDER BY name")


def tags(db: sqlite3.Connection) -> list[str]:
    """Every tag in use, by name."""
    return [row["tag"] for row in db.execute("SELECT DISTINCT tag FROM ticket_tags ORDER BY tag")]


def overview(db: sqlite3.Connection) -> Record:
    """The numbers of the home page, and the newest tickets that nobody has."""
    counts = record(
        db,
        f"""SELECT count(*) FILTER (WHERE status = 'open') AS open,
                   count(*) FILTER (WHERE status = 'open' AND priority = 'urgent') AS urgent,
                   count(*) FILTER (WHERE assignee_id IS NULL) AS unassigned,
                   count(*) FILTER (WHERE {_DUES["overdue"]}) AS overdue,
                   count(*) FILTER (WHERE status = 'pending') AS pending FROM tickets t""",
    )
    sql = f"""SELECT {_COLUMNS} {_TICKETS}
              WHERE t.status = 'open' AND t.assignee_id IS NULL ORDER BY t.id DESC LIMIT 8"""
    return {**(counts or {}), "newest": records(db, sql)}


def agent(db: sqlite3.Connection, id: Any) -> Record | None:
    """An agent; None if there is no such agent."""
    return record(db, "SELECT * FROM agents WHERE id = ?", [id])


def _of_ticket(db: sqlite3.Connection, table: str, id: int) -> list[Record]:
    return records(db, f"SELECT * FROM {table} WHERE ticket_id = ? ORDER BY id", [id])


def _events(db: sqlite3.Connection, subject: str, id: int) -> list[Record]:
    sql = "SELECT * FROM events WHERE subject = ? AND subject_id = ? ORDER BY id DESC LIMIT 4"
    return records(db, sql, [subject, id])
