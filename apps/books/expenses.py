"""What people do with expenses."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable

from ..kit.web import Refused
from .amounts import cents, day
from .changes import Form, insert, known, line, log, reference, row, update
from .schema import CATEGORIES, EXPENSE_STATUSES

MAX_RECEIPT_BYTES = 500_000


def save(db: sqlite3.Connection, id: int | None, form: Form) -> int:
    """Add an expense (no id) or change one; returns the id.

    Raises:
        Refused: A field is empty or makes no sense.
    """
    values = {
        "supplier_id": reference(db, form, "supplier", "suppliers", "Supplier"),
        "category": known(form, "category", CATEGORIES, "Category"),
        "reference": line(form, "reference", "Reference", empty=True),
        "description": line(form, "description", "Description"),
        "spent_on": day(form.get("spent_on", ""), "Date"),
        "amount": cents(form.get("amount", "")),
        "tax": cents(form.get("tax", "") or "0", "Tax", least=0),
    }
    if values["tax"] > values["amount"]:
        raise Refused("The tax is more than the amount.")
    if id is None:
        id = insert(db, "expenses", {**values, "status": "submitted"})
        log(db, "expense", id, "Created")
    elif update(db, "expenses", id, values):
        log(db, "expense", id, "Changed")
    return id


def decide(db: sqlite3.Connection, ids: Iterable[int], status: str) -> None:
    """Approve or reject expenses, or submit them again."""
    if status not in EXPENSE_STATUSES:
        raise Refused("Status: Choose a value.")
    for id in ids:
        if update(db, "expenses", id, {"status": status}):
            log(db, "expense", id, status.capitalize())


def recategorise(db: sqlite3.Connection, ids: Iterable[int], category: str) -> None:
    """Give expenses another category."""
    if category not in CATEGORIES:
        raise Refused("Category: Choose a value.")
    for id in ids:
        if update(db, "expenses", id, {"category": category}):
            log(db, "expense", id, "Category changed")


def split(db: sqlite3.Connection, id: int, form: Form) -> int:
    """Move a part of an expense, and of its tax in proportion, to a new one of another category; returns its id."""
    old = row(db, "expenses", id)
    part = cents(form.get("amount", ""))
    category = known(form, "category", CATEGORIES, "Category")
    if part >= old["amount"]:
        raise Refused("The part must be less than the whole.")
    tax = (old["tax"] * part * 2 + old["amount"]) // (old["amount"] * 2)
    update(db, "expenses", id, {"amount": old["amount"] - part, "tax": old["tax"] - tax})
    kept = {name: old[name] for name in ("supplier_id", "reference", "description", "spent_on", "status")}
    added = insert(db, "expenses", {**kept, "category": category, "amount": part, "tax": tax})
    log(db, "expense", id, "Split")
    log(db, "expense", added, "Created")
    return added


def add_receipt(db: sqlite3.Connection, id: int, name: str, content: bytes) -> None:
    """Keep a file with an expense."""
    row(db, "expenses", id)
    if not name or not content:
        raise Refused("Choose a file.")
    if len(content) > MAX_RECEIPT_BYTES:
        raise Refused("The file is larger than 500 kB.")
    digest = hashlib.sha256(content).hexdigest()
    insert(db, "receipts", {"expense_id": id, "name": name[:120], "size": len(content), "sha256": digest, "content": content})  # fmt: skip
    log(db, "expense", id, "Receipt added")


def remove_receipt(db: sqlite3.Connection, id: int, receipt: str) -> None:
    """Throw a receipt away; nothing happens if it is there no more."""
    if db.execute("DELETE FROM receipts WHERE expense_id = ? AND id = ?", [id, receipt]).rowcount:
        log(db, "expense", id, "Receipt removed")
