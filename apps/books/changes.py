"""What all changes share, and the changes of customers, suppliers and prices. Every change adds a line to `events`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any

from ..kit.numbers import number
from ..kit.store import Record
from ..kit.web import Missing, Refused
from . import queries
from .amounts import cents
from .schema import CATEGORIES, TAXES

Form = Mapping[str, str]
MAX_LINE = 200
MAX_TEXT = 2_000


def log(db: sqlite3.Connection, subject: str, id: int, what: str) -> None:
    """Add a line to the history of a record."""
    sql = "INSERT INTO events (at, subject, subject_id, what) VALUES (?, ?, ?, ?)"
    db.execute(sql, [queries.settings(db)["now"], subject, id, what])


def row(db: sqlite3.Connection, table: str, id: int) -> Record:
    """The row with this id.

    Raises:
        Missing: There is none.
    """
    found = queries.one(db, table, id)
    if found is None:
        raise Missing("This record does not exist, or has been deleted.")
    return found


def insert(db: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> int:
    """Add a row and return its id."""
    columns, marks = ", ".join(values), ", ".join("?" * len(values))
    added = db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(values.values())).lastrowid
    assert added is not None  # an INSERT has one
    return added


def update(db: sqlite3.Connection, table: str, id: int, values: Mapping[str, Any]) -> bool:
    """Give a row other values; returns whether that makes a difference."""
    old = row(db, table, id)
    if all(old[name] == value for name, value in values.items()):
        return False
    columns = ", ".join(f"{name} = ?" for name in values)
    db.execute(f"UPDATE {table} SET {columns} WHERE id = ?", [*values.values(), id])
    return True


def line(form: Form, name: str, what: str, *, empty: bool = False) -> str:
    """One line of text from a form.

    Raises:
        Refused: It is empty (unless it may be) or too long.
    """
    text = " ".join(form.get(name, "").split())
    if not text and not empty:
        raise Refused(f"{what}: This field is empty.")
    if len(text) > MAX_LINE:
        raise Refused(f"{what}: This is too long.")
    return text


def text(form: Form, name: str) -> str:
    """Lines of text from a form.

    Raises:
        Refused: They are too long.
    """
    body = form.get(name, "").replace("\r\n", "\n").strip()
    if len(body) > MAX_TEXT:
        raise Refused("The text is too long.")
    return body


def known(form: Form, name: str, values: tuple[Any, ...], what: str) -> Any:
    """One of some values, as a form names it.

    Raises:
        Refused: It is none of them.
    """
    for value in values:
        if form.get(name, "") == str(value):
            return value
    raise Refused(f"{what}: Choose a value.")


def reference(db: sqlite3.Connection, form: Form, name: str, table: str, what: str) -> int:
    """The id of a record that a form names.

    Raises:
        Refused: There is no such record.
    """
    value = number(form.get(name, ""))
    if queries.one(db, table, value) is None:
        raise Refused(f"{what}: Choose a value.")
    return value


def save_customer(db: sqlite3.Connection, id: int | None, form: Form) -> int:
    """Add a customer (no id) or change one; returns the id."""
    values = {"name": line(form, "name", "Name"), "company": line(form, "company", "Company", empty=True)}
    values |= _contact(form)
    values |= {
        "street": line(form, "street", "Street", empty=True),
        "city": line(form, "city", "City", empty=True),
    }
    return _save(db, "customer", id, values)


def save_supplier(db: sqlite3.Connection, id: int | None, form: Form) -> int:
    """Add a supplier (no id) or change one; returns the id."""
    values = {"name": line(form, "name", "Name"), **_contact(form)}
    values |= {
        "city": line(form, "city", "City", empty=True),
        "category": known(form, "category", CATEGORIES, "Category"),
    }
    return _save(db, "supplier", id, values)


def save_product(db: sqlite3.Connection, id: int | None, form: Form) -> int:
    """Add a product to the price list (no id) or change one; returns the id."""
    values: dict[str, Any] = {"sku": line(form, "sku", "SKU").upper(), "name": line(form, "name", "Name"), "unit": line(form, "unit", "Unit")}  # fmt: skip
    values |= {"price": cents(form.get("price", ""), "Price"), "tax": known(form, "tax", TAXES, "Tax")}
    if db.execute("SELECT 1 FROM products WHERE sku = ? AND id IS NOT ?", [values["sku"], id]).fetchone():
        raise Refused("Another product has this SKU.")
    return _save(db, "product", id, values)


def _contact(form: Form) -> dict[str, str]:
    email, phone = line(form, "email", "Email"), line(form, "phone", "Phone", empty=True)
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", email):
        raise Refused("This is no e-mail address.")
    if phone and not re.fullmatch(r"[+\d][\d\s()./-]{3,29}", phone, re.ASCII):
        raise Refused("This is no phone number.")
    return {"email": email, "phone": phone}


def _save(db: sqlite3.Connection, kind: str, id: int | None, values: Mapping[str, Any]) -> int:
    if id is None:
        id = insert(db, f"{kind}s", values)
        log(db, kind, id, "Created")
    elif update(db, f"{kind}s", id, values):
        log(db, kind, id, "Changed")
    return id
