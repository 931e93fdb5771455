"""What the pages read from the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from .looks import PAGE_SIZE
from .schema import PRIORITIES, STATUSES

Record = dict[str, Any]

_TICKETS = """
FROM tickets t JOIN customers c ON c.id = t.customer_id LEFT JOIN agents a ON a.id = t.assignee_id
"""
_ORDERS = {
    "number": "t.id",
    "subject": "t.subject COLLATE NOCASE",
    "customer": "c.name",
    "assignee": "a.name",
    "created": "t.created_at",
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
    sort: str = "created"
    dir: str = "desc"
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> TicketFilter:
        """The filter of a query string; what makes no sense is left out."""
        known = {name: query[name].strip() for name in ("q", "status", "priority", "assignee", "tag") if name in query}
        sort = query.get("sort", "")
        return cls(
            **known,
            sort=sort if sort in _ORDERS else "created",
            dir="asc" if query.get("dir") == "asc" else "desc",
            page=_page(query),
        )

    def url(self, **changes: Any) -> str:
        """Address of the list with some of the filter changed; any change goes back to the first page."""
        new = replace(self, **{"page": 1, **changes})
        plain = TicketFilter()
        query = {name: getattr(new, name) for name in self.__slots__ if getattr(new, name) != getattr(plain, name)}
        return "/tickets" + (f"?{urlencode(query)}" if query else "")

    @property
    def narrowed(self) -> bool:
        """Whether anything is filtered."""
        return any((self.q, self.status, self.priority, self.assignee, self.tag))

    def _where(self) -> tuple[str, list[Any]]:
        terms: list[str] = []
        values: list[Any] = []
        if self.q:
            terms.append("(t.subject LIKE ? ESCAPE '\\' OR c.name LIKE ? ESCAPE '\\' OR t.id = ?)")
            values += [_like(self.q), _like(self.q), self.q.lstrip("#")]
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
        return (f" WHERE {' AND '.join(terms)}" if terms else ""), values


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list."""

    rows: list[Record]
    number: int
    """From 1."""
    pages: int
    first: int
    """Position of the first row in the whole list, from 1; 0 if there is none."""
    total: int


def tickets(db: sqlite3.Connection, chosen: TicketFilter, density: str) -> Page:
    """The tickets that fit a filter."""
    where, values = chosen._where()
    total = db.execute(f"SELECT count(*) {_TICKETS}{where}", values).fetchone()[0]
    order = f"{_ORDERS[chosen.sort]} {chosen.dir.upper()}, t.id DESC"
    sql = f"SELECT t.*, c.name AS customer, a.name AS assignee {_TICKETS}{where} ORDER BY {order} LIMIT ? OFFSET ?"
    return _paged(db, sql, values, total, chosen.page, PAGE_SIZE[density])


def customers(db: sqlite3.Connection, query: Mapping[str, str], density: str) -> Page:
    """The customers whose name, company or e-mail address holds the query's `q`, by name."""
    text = _like(query.get("q", "").strip())
    where = "WHERE c.name LIKE ?1 ESCAPE '\\' OR c.company LIKE ?1 ESCAPE '\\' OR c.email LIKE ?1 ESCAPE '\\'"
    total = db.execute(f"SELECT count(*) FROM customers c {where}", [text]).fetchone()[0]
    sql = f"""SELECT c.*, (SELECT count(*) FROM tickets t WHERE t.customer_id = c.id) AS tickets
              FROM customers c {where} ORDER BY c.name LIMIT ?2 OFFSET ?3"""
    return _paged(db, sql, [text], total, _page(query), PAGE_SIZE[density])


def customer(db: sqlite3.Connection, id: int) -> Record | None:
    """A customer, with all tickets, the newest first; None if there is no such customer."""
    row = db.execute("SELECT * FROM customers WHERE id = ?", [id]).fetchone()
    if row is None:
        return None
    sql = f"SELECT t.*, a.name AS assignee {_TICKETS} WHERE c.id = ? ORDER BY t.id DESC"
    return {**dict(row), "tickets": _records(db, sql, [id]), "events": _events(db, "customer", id)}


def ticket(db: sqlite3.Connection, id: int) -> Record | None:
    """A ticket, with its customer, assignee, tags, comments and history; None if there is no such ticket."""
    sql = f"""SELECT t.*, a.name AS assignee, c.name AS customer, c.email, c.phone, c.company, c.plan
              {_TICKETS} WHERE t.id = ?"""
    row = db.execute(sql, [id]).fetchone()
    if row is None:
        return None
    tags = _records(db, "SELECT tag FROM ticket_tags WHERE ticket_id = ? ORDER BY id", [id])
    comments = _records(db, "SELECT * FROM comments WHERE ticket_id = ? ORDER BY id", [id])
    return {
        **dict(row),
        "tags": [tag["tag"] for tag in tags],
        "comments": comments,
        "events": _events(db, "ticket", id),
    }


def agents(db: sqlite3.Connection) -> list[Record]:
    """The agents by name, with how many open and pending tickets each has."""
    sql = """SELECT a.*, count(t.id) FILTER (WHERE t.status = 'open') AS open,
                    count(t.id) FILTER (WHERE t.status = 'pending') AS pending
             FROM agents a LEFT JOIN tickets t ON t.assignee_id = a.id GROUP BY a.id ORDER BY a.name"""
    return _records(db, sql)


def customer_names(db: sqlite3.Connection) -> list[Record]:
    """All customers by name, for choosing one."""
    return _records(db, "SELECT id, name, company FROM customers ORDER BY name")


def tags(db: sqlite3.Connection) -> list[str]:
    """Every tag in use, by name."""
    return [row["tag"] for row in db.execute("SELECT DISTINCT tag FROM ticket_tags ORDER BY tag")]


def overview(db: sqlite3.Connection) -> Record:
    """The numbers of the home page, and the newest tickets that nobody has."""
    counts = db.execute(
        """SELECT count(*) FILTER (WHERE status = 'open') AS open,
                  count(*) FILTER (WHERE status = 'open' AND priority = 'urgent') AS urgent,
                  count(*) FILTER (WHERE assignee_id IS NULL) AS unassigned,
                  count(*) FILTER (WHERE status = 'pending') AS pending FROM tickets"""
    ).fetchone()
    sql = f"""SELECT t.*, c.name AS customer, a.name AS assignee {_TICKETS}
              WHERE t.status = 'open' AND t.assignee_id IS NULL ORDER BY t.id DESC LIMIT 8"""
    return {**dict(counts), "newest": _records(db, sql)}


def settings(db: sqlite3.Connection) -> dict[str, str]:
    """Appearance, clock (`now`), and the id of the agent at the desk (`me`)."""
    return {row["key"]: row["value"] for row in db.execute("SELECT key, value FROM settings")}


def agent(db: sqlite3.Connection, id: Any) -> Record | None:
    """An agent; None if there is no such agent."""
    row = db.execute("SELECT * FROM agents WHERE id = ?", [id]).fetchone()
    return None if row is None else dict(row)


def _events(db: sqlite3.Connection, subject: str, id: int) -> list[Record]:
    sql = "SELECT * FROM events WHERE subject = ? AND subject_id = ? ORDER BY id DESC LIMIT 4"
    return _records(db, sql, [subject, id])


def _records(db: sqlite3.Connection, sql: str, values: list[Any] | None = None) -> list[Record]:
    return [dict(row) for row in db.execute(sql, values or [])]


def _paged(db: sqlite3.Connection, sql: str, values: list[Any], total: int, wanted: int, size: int) -> Page:
    pages = max(1, -(-total // size))
    number = min(wanted, pages)
    skipped = (number - 1) * size
    rows = _records(db, sql, [*values, size, skipped])
    return Page(rows, number, pages, skipped + 1 if rows else 0, total)


def _page(query: Mapping[str, str]) -> int:
    text = query.get("page", "1")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 7 else 1


def _like(text: str) -> str:
    """A pattern that finds the text itself anywhere, its % and _ included."""
    return "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
