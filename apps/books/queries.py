"""What the pages read from the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from ..kit import store
from ..kit.store import Page, Record, like, page_number, paged, record, records
from .looks import PAGE_SIZE

_STANDING = "CASE WHEN i.status = 'sent' AND i.due_on < ? THEN 'overdue' ELSE i.status END"
_OPEN = "CASE WHEN i.status IN ('draft', 'void') THEN 0 ELSE i.total - i.paid END"
"""What is due of an invoice: nothing of what is not sent yet or counts no more."""
_ORDERS = {
    "number": "i.id", "customer": "c.name", "reference": "i.reference", "issued": "i.issued_on", "due": "i.due_on",
    "status": "standing", "total": "i.total", "open": "open",
}  # fmt: skip
_EXPENSE_ORDERS = {
    "date": "e.spent_on", "supplier": "s.name", "category": "e.category", "reference": "e.reference",
    "description": "e.description", "amount": "e.amount", "status": "e.status",
}  # fmt: skip
_FIELDS = ("q", "status", "customer", "supplier", "category", "start", "end")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows a list shows, in which order; an empty string filters nothing."""

    path: str
    q: str = ""
    status: str = ""
    customer: str = ""
    supplier: str = ""
    category: str = ""
    start: str = ""
    """First day."""
    end: str = ""
    """Last day."""
    sort: str = ""
    dir: str = "desc"
    page: int = 1

    @classmethod
    def read(cls, path: str, query: Mapping[str, str]) -> Filter:
        """The filter of a query string; what makes no sense is left out."""
        known = {name: query[name].strip() for name in _FIELDS if name in query}
        way = "asc" if query.get("dir") == "asc" else "desc"
        return cls(path, **known, sort=query.get("sort", ""), dir=way, page=page_number(query))

    def url(self, **changes: Any) -> str:
        """Address of the list with some of the filter changed; any change goes back to the first page."""
        new = replace(self, **{"page": 1, **changes})
        plain = Filter(self.path)
        names = (*_FIELDS, "sort", "dir", "page")
        query = {name: getattr(new, name) for name in names if getattr(new, name) != getattr(plain, name)}
        return new.path + (f"?{urlencode(query)}" if query else "")

    @property
    def narrowed(self) -> bool:
        """Whether anything is filtered."""
        return any(getattr(self, name) for name in _FIELDS)

    def where(self, columns: Mapping[str, str], searched: tuple[str, ...], day: str) -> tuple[str, list[Any]]:
        """The WHERE clause, and its values.

        Args:
            columns: Column by name of a field that must be equal.
            searched: Columns that `q` is looked for in.
            day: Column of the date.
        """
        terms, values = ["1"], []
        if self.q:
            terms.append("(" + " OR ".join(f"{column} LIKE ? ESCAPE '\\'" for column in searched) + ")")
            values += [like(self.q)] * len(searched)
        tests = [(f"{column} = ?", getattr(self, name)) for name, column in columns.items()]
        tests += [(f"{day} >= ?", self.start), (f"{day} <= ?", self.end)]
        terms += [test for test, value in tests if value]
        values += [value for _, value in tests if value]
        return " AND ".join(terms), values


def settings(db: sqlite3.Connection) -> dict[str, str]:
    """Appearance, clock (`now`), and the company's name."""
    return store.settings(db)


def today(db: sqlite3.Connection) -> str:
    """The day that the books take for today."""
    return settings(db)["now"][:10]


def size(db: sqlite3.Connection) -> int:
    """Rows of a list's page."""
    return PAGE_SIZE[settings(db)["density"]]


def invoices_sql(db: sqlite3.Connection, chosen: Filter) -> tuple[str, list[Any]]:
    """The query of the invoices that fit a filter, and its values."""
    inner = f"""SELECT i.*, c.name AS customer, c.email, {_OPEN} AS open, {_STANDING} AS standing
                FROM invoices i JOIN customers c ON c.id = i.customer_id"""
    searched = ("i.number", "i.reference", "i.customer")
    where, values = chosen.where({"status": "i.standing", "customer": "i.customer_id"}, searched, "i.issued_on")
    order = _ORDERS.get(chosen.sort, "i.id").replace("c.name", "i.customer")
    sql = f"SELECT * FROM ({inner}) i WHERE {where} ORDER BY {order} {chosen.dir.upper()}, i.id DESC"
    return sql, [today(db), *values]


def invoices(db: sqlite3.Connection, chosen: Filter) -> tuple[Page, list[Record]]:
    """A page of the invoices that fit a filter, and the sums of all that fit.

    Returns:
        The page; for each currency, dollars first, `total` and `open` of what is not void, and how many are `void`.
    """
    sql, values = invoices_sql(db, chosen)
    each = f"""SELECT currency, sum(total * (standing <> 'void')) AS total, sum(open) AS open, sum(standing = 'void') AS void
               FROM ({sql}) GROUP BY currency ORDER BY currency <> 'USD', currency"""
    nothing: Record = {"currency": "USD", "total": 0, "open": 0, "void": 0}
    return paged(db, sql, values, chosen.page, size(db)), records(db, each, values) or [nothing]


def invoice(db: sqlite3.Connection, id: int) -> Record | None:
    """An invoice, with its customer, lines, payments and history; None if there is none."""
    row = record(db, f"SELECT i.*, {_OPEN} AS open, {_STANDING} AS standing FROM invoices i WHERE i.id = ?", [today(db), id])  # fmt: skip
    if row is None:
        return None
    row["customer"] = record(db, "SELECT * FROM customers WHERE id = ?", [row["customer_id"]])
    row["lines"] = records(db, "SELECT * FROM invoice_lines WHERE invoice_id = ? ORDER BY id", [id])
    row["payments"] = records(db, "SELECT * FROM payments WHERE invoice_id = ? ORDER BY id", [id])
    row["credits"] = record(db, "SELECT id, number FROM invoices WHERE id = ?", [row["credits_id"]])
    row["events"] = events(db, "invoice", id)
    return row


def expenses_sql(chosen: Filter) -> tuple[str, list[Any]]:
    """The query of the expenses that fit a filter, and its values."""
    searched = ("e.description", "e.reference", "s.name")
    columns = {"status": "e.status", "supplier": "e.supplier_id", "category": "e.category"}
    where, values = chosen.where(columns, searched, "e.spent_on")
    order = f"{_EXPENSE_ORDERS.get(chosen.sort, 'e.spent_on')} {chosen.dir.upper()}, e.id DESC"
    sql = f"""SELECT e.*, s.name AS supplier, (SELECT count(*) FROM receipts r WHERE r.expense_id = e.id) AS receipts
              FROM expenses e JOIN suppliers s ON s.id = e.supplier_id WHERE {where} ORDER BY {order}"""
    return sql, values


def expenses(db: sqlite3.Connection, chosen: Filter) -> tuple[Page, int]:
    """A page of the expenses that fit a filter, and what all of them come to."""
    sql, values = expenses_sql(chosen)
    total = db.execute(f"SELECT coalesce(sum(amount), 0) FROM ({sql})", values).fetchone()[0]
    return paged(db, sql, values, chosen.page, size(db)), total


def expense(db: sqlite3.Connection, id: int) -> Record | None:
    """An expense, with its supplier, receipts and history; None if there is none."""
    row = record(db, "SELECT * FROM expenses WHERE id = ?", [id])
    if row is None:
        return None
    row["supplier"] = record(db, "SELECT * FROM suppliers WHERE id = ?", [row["supplier_id"]])
    row["receipts"] = records(db, "SELECT id, name, size FROM receipts WHERE expense_id = ? ORDER BY id", [id])
    row["events"] = events(db, "expense", id)
    return row


def customers(db: sqlite3.Connection, chosen: Filter) -> Page:
    """The customers that fit a filter, with what each owes."""
    where, values = chosen.where({}, ("c.name", "c.company", "c.email"), "''")
    sql = f"""SELECT c.*, count(i.id) AS invoices,
                     coalesce(sum(CASE WHEN i.status = 'sent' AND i.currency = 'USD' THEN i.total - i.paid END), 0) AS open
              FROM customers c LEFT JOIN invoices i ON i.customer_id = c.id WHERE {where} GROUP BY c.id ORDER BY c.name"""
    return paged(db, sql, values, chosen.page, size(db))


def suppliers(db: sqlite3.Connection, chosen: Filter) -> Page:
    """The suppliers that fit a filter."""
    where, values = chosen.where({}, ("s.name", "s.email"), "''")
    sql = f"""SELECT s.*, (SELECT count(*) FROM expenses e WHERE e.supplier_id = s.id) AS expenses
              FROM suppliers s WHERE {where} ORDER BY s.name"""
    return paged(db, sql, values, chosen.page, size(db))


def products(db: sqlite3.Connection, chosen: Filter) -> Page:
    """The price list, by SKU."""
    where, values = chosen.where({}, ("p.name", "p.sku"), "''")
    return paged(db, f"SELECT * FROM products p WHERE {where} ORDER BY p.sku", values, chosen.page, size(db))


def one(db: sqlite3.Connection, table: str, id: int) -> Record | None:
    """A row by its id; None if there is none."""
    return record(db, f"SELECT * FROM {table} WHERE id = ?", [id])


def names(db: sqlite3.Connection, table: str) -> dict[str, str]:
    """Customers or suppliers by name, for choosing one."""
    return {str(row["id"]): row["name"] for row in records(db, f"SELECT id, name FROM {table} ORDER BY name")}


def events(db: sqlite3.Connection, subject: str, id: int) -> list[Record]:
    """The last things that happened to a record."""
    sql = "SELECT * FROM events WHERE subject = ? AND subject_id = ? ORDER BY id DESC LIMIT 5"
    return records(db, sql, [subject, id])
