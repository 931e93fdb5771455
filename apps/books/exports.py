"""Lists as CSV files: a head, then one line for each row; amounts as 1234.50, dates as 2026-03-05."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.responses import Response

from ..kit.store import records
from . import queries, reports
from .amounts import plain

Column = tuple[str, str]
INVOICES: tuple[Column, ...] = (
    ("number", "number"), ("customer", "customer"), ("email", "email"), ("reference", "reference"), ("issued_on", "issued"),
    ("due_on", "due"), ("standing", "status"), ("currency", "currency"), ("net", "net"), ("tax", "tax"), ("total", "total"), ("open", "open"),
)  # fmt: skip
EXPENSES: tuple[Column, ...] = (
    ("id", "id"), ("spent_on", "date"), ("supplier", "supplier"), ("category", "category"), ("reference", "reference"),
    ("description", "description"), ("amount", "amount"), ("tax", "tax"), ("status", "status"),
)  # fmt: skip
CONTACTS: dict[str, tuple[Column, ...]] = {
    "customers": tuple((name, name) for name in ("id", "name", "company", "email", "phone", "street", "city")),
    "suppliers": tuple((name, name) for name in ("id", "name", "email", "phone", "city", "category")),
    "products": tuple((name, name) for name in ("sku", "name", "unit", "price", "tax")),
    "bank_lines": (("booked_on", "date"), ("text", "text"), ("amount", "amount"), ("matched", "matched"), ("matched_id", "matched_id")),
}  # fmt: skip
_MONEY = {
    "net",
    "total",
    "open",
    "amount",
    "price",
    "income",
    "expenses",
    "profit",
    "charged",
    "paid",
    "owed",
    *reports.AGES,
}


def written(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], money: frozenset[str] = frozenset()) -> str:
    """The text of a CSV file.

    Args:
        rows: What it holds.
        columns: (key in a row, title) each.
        money: Keys that hold cents, beside those that always do.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([title for _, title in columns])
    for row in rows:
        writer.writerow([plain(row[key]) if key in _MONEY | money else _safe(row[key]) for key, _ in columns])
    return out.getvalue()


def invoices(db: sqlite3.Connection, chosen: queries.Filter) -> str:
    """The invoices that fit a filter."""
    sql, values = queries.invoices_sql(db, chosen)
    return written(records(db, sql, values), INVOICES, frozenset({"tax"}))


def expenses(db: sqlite3.Connection, chosen: queries.Filter) -> str:
    """The expenses that fit a filter."""
    sql, values = queries.expenses_sql(chosen)
    return written(records(db, sql, values), EXPENSES, frozenset({"tax"}))


def table(db: sqlite3.Connection, name: str) -> str:
    """Customers, suppliers, products or bank lines, all of them."""
    return written(records(db, f"SELECT * FROM {name} ORDER BY id"), CONTACTS[name])


def report(rows: Sequence[Mapping[str, Any]]) -> str:
    """A report as it is shown."""
    names = [name for name in (rows[0] if rows else {}) if name != "id"]
    return written(rows, [(name, name) for name in names], frozenset({"total"}))


def download(name: str, text: str) -> Response:
    """A CSV file as an answer."""
    return Response(text, media_type="text/csv", headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _safe(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets a quote before it."""
    return (
        f"'{value}" if isinstance(value, str) and value[:1] in ("=", "@", "+") and not value[1:2].isdigit() else value
    )
