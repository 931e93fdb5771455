"""Draws the pages, in the appearance that the settings hold."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from ..kit.language import Language
from ..kit.pages import Pages, money, ordered
from ..kit.web import shown
from . import queries, schema
from .amounts import amount, plain

NAV = {
    "home": ("Overview", "/", "home"),
    "invoices": ("Invoices", "/invoices", "file"),
    "customers": ("Customers", "/customers", "people"),
    "products": ("Products", "/products", "tag"),
    "expenses": ("Expenses", "/expenses", "cart"),
    "suppliers": ("Suppliers", "/suppliers", "box"),
    "bank": ("Bank", "/bank", "board"),
    "sheets": ("Sheets", "/sheets", "grid"),
    "reports": ("Reports", "/reports/profit", "chart"),
}
COLUMNS = {
    "number": "Number", "customer": "Customer", "reference": "Reference", "issued": "Issued", "due": "Due", "status": "Status",
    "total": "Total", "open": "Amount due",
}  # fmt: skip
CHIPS = {
    "draft": "grey", "sent": "blue", "overdue": "red", "paid": "green", "void": "grey", "submitted": "amber",
    "approved": "green", "rejected": "red",
}  # fmt: skip


def _words(values: tuple[str, ...]) -> dict[str, str]:
    return {value: value.capitalize() for value in values}


_PAGES = Pages(
    Path(__file__).parent,
    {"plain": plain, "amount": amount, "combined": lambda one, two: {**one, **two}},
    CHIPS=CHIPS,
    SIGNS=schema.SIGNS,
    CURRENCIES={each: each for each in schema.CURRENCIES},
    TAXES={each: f"{each}%" for each in schema.TAXES},
    METHODS=_words(schema.METHODS),
    RECURRING=_words(schema.RECURRING),
    CATEGORIES=_words(schema.CATEGORIES),
    STATUSES=_words(schema.STATUSES),
    EXPENSE_STATUSES=_words(schema.EXPENSE_STATUSES),
)


def draw(db: sqlite3.Connection, name: str, **told: Any) -> str:
    """A page's HTML."""
    settings = queries.settings(db)
    t = _PAGES.language(settings)
    shell = {"words": lambda choices: {value: t(text) for value, text in choices.items()},
        "nav": ordered(NAV, settings["nav"]), "columns": ordered(COLUMNS, settings["columns"]), "today": settings["now"][:10]}  # fmt: skip
    return _PAGES.draw(name, settings, **{**shell, **told})


def page(request: Request, db: sqlite3.Connection, name: str, place: str, code: int = 200, **told: Any) -> Response:
    """A page as an answer; what was said at the end of the last change is shown once."""
    return shown(request, lambda said: draw(db, name, place=place, said=said, **told), code)


def missing(db: sqlite3.Connection, reason: str) -> str:
    """The page for what is not there."""
    return draw(db, "missing.html", reason=reason)


def signed(cents: int, currency: str) -> str:
    """An amount with the sign of its currency."""
    return money(cents, schema.SIGNS[currency])


def words(db: sqlite3.Connection) -> Language:
    """The language of the settings."""
    return _PAGES.language(queries.settings(db))
