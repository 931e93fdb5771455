"""What people do with invoices."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ..kit.store import Record
from ..kit.web import Refused
from . import queries
from .amounts import cents, day, quantity, sums
from .changes import Form, insert, known, line, log, reference, row, text, update
from .schema import CURRENCIES, METHODS, RECURRING, TAXES

MAX_LINES = 40
LINE_FIELDS = ("description", "quantity", "price", "tax")


def lines_of(form: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """The lines of a posted form, as they were typed; lines that are wholly empty are left out."""
    columns = {name: [value for key, value in form if key == name] for name in LINE_FIELDS}
    rows = [dict(zip(LINE_FIELDS, values, strict=True)) for values in zip(*columns.values(), strict=False)]
    return [row for row in rows if row["description"].strip() or row["price"].strip()]


def save(db: sqlite3.Connection, id: int | None, form: Form, typed: Sequence[Form]) -> int:
    """Add a draft (no id) or change an invoice; returns the id.

    Raises:
        Refused: A field is empty or makes no sense, or the invoice is settled.
    """
    if id is not None and row(db, "invoices", id)["status"] not in ("draft", "sent"):
        raise Refused("Only drafts and open invoices can be changed.")
    values = _head(db, form)
    lines = [_line(each) for each in typed]
    if not 0 < len(lines) <= MAX_LINES:
        raise Refused("An invoice has 1 to 40 lines.")
    total = sums(lines)
    values |= {"net": total.net, "tax": total.tax, "total": total.total}
    if id is None:
        return _add(db, "INV", {**values, "kind": "invoice", "status": "draft", "paid": 0}, lines)
    if row(db, "invoices", id)["paid"] > total.total:
        raise Refused("More than that has been paid already.")
    moved = update(db, "invoices", id, values)
    old = db.execute(
        "SELECT description, quantity, price, tax FROM invoice_lines WHERE invoice_id = ? ORDER BY id", [id]
    )
    if [tuple(each) for each in old] != [tuple(each.values()) for each in lines]:
        _replace_lines(db, id, lines)
        moved = True
    if moved:
        log(db, "invoice", id, "Changed")
        _settle(db, id)
    return id


def send(db: sqlite3.Connection, id: int) -> None:
    """Send a draft."""
    if row(db, "invoices", id)["status"] != "draft":
        raise Refused("Only a draft can be sent.")
    update(db, "invoices", id, {"status": "sent"})
    log(db, "invoice", id, "Sent")


def pay(db: sqlite3.Connection, id: int, form: Form, bank_line: int | None = None) -> int:
    """Record a payment, which may be a part of what is open; returns its id."""
    invoice = row(db, "invoices", id)
    if invoice["status"] != "sent":
        raise Refused("Payments are recorded on invoices that were sent and are not settled.")
    amount = cents(form.get("amount", ""))
    if amount > invoice["total"] - invoice["paid"]:
        raise Refused("This is more than is due.")
    values = {"invoice_id": id, "paid_on": day(form.get("paid_on", ""), "Date"), "amount": amount}
    added = insert(db, "payments", {**values, "method": known(form, "method", METHODS, "Method"), "bank_line_id": bank_line})  # fmt: skip
    log(db, "invoice", id, "Payment recorded")
    _settle(db, id)
    return added


def unpay(db: sqlite3.Connection, bank_line: int) -> None:
    """Take back the payment that came with a line of the bank."""
    for payment in db.execute("SELECT id, invoice_id FROM payments WHERE bank_line_id = ?", [bank_line]).fetchall():
        db.execute("DELETE FROM payments WHERE id = ?", [payment["id"]])
        log(db, "invoice", payment["invoice_id"], "Payment taken back")
        _settle(db, payment["invoice_id"])


def void(db: sqlite3.Connection, id: int) -> None:
    """Make an invoice void that nobody has paid anything of."""
    invoice = row(db, "invoices", id)
    if invoice["status"] == "void":
        raise Refused("The invoice is void already.")
    if invoice["status"] == "paid" or invoice["paid"]:
        raise Refused("An invoice with payments cannot be voided.")
    update(db, "invoices", id, {"status": "void"})
    log(db, "invoice", id, "Voided")


def duplicate(db: sqlite3.Connection, id: int, form: Form) -> int:
    """Make a draft like this invoice, with other dates; returns its id."""
    old = row(db, "invoices", id)
    if old["kind"] != "invoice":
        raise Refused("A credit note cannot be duplicated.")
    kept = {name: old[name] for name in ("customer_id", "reference", "currency", "recurring", "notes", "net", "tax", "total")}  # fmt: skip
    return _add(db, "INV", {**kept, **_dates(form), "kind": "invoice", "status": "draft", "paid": 0}, _lines(db, id))


def credit(db: sqlite3.Connection, id: int) -> int:
    """Write a credit note over a whole invoice; what is open of it is settled. Returns the note's id."""
    old = row(db, "invoices", id)
    if old["kind"] != "invoice" or old["status"] not in ("sent", "paid"):
        raise Refused("Only an invoice that was sent can be credited.")
    if db.execute("SELECT 1 FROM invoices WHERE credits_id = ?", [id]).fetchone():
        raise Refused("This invoice has a credit note already.")
    today = queries.today(db)
    kept = {name: old[name] for name in ("customer_id", "reference", "currency")}
    negative = {"net": -old["net"], "tax": -old["tax"], "total": -old["total"], "paid": -old["total"]}
    dates = {"issued_on": today, "due_on": today, "recurring": "never", "notes": "", "credits_id": id}
    lines = [{**each, "price": -each["price"]} for each in _lines(db, id)]
    added = _add(db, "CN", {**kept, **dates, **negative, "kind": "credit", "status": "paid"}, lines)
    if old["total"] > old["paid"]:
        payment = {"invoice_id": id, "paid_on": today, "amount": old["total"] - old["paid"], "method": "credit note"}
        insert(db, "payments", payment)
        _settle(db, id)
    log(db, "invoice", id, "Credited")
    return added


def _settle(db: sqlite3.Connection, id: int) -> None:
    """Bring what is paid, and whether all is, in line with the payments."""
    paid = db.execute("SELECT coalesce(sum(amount), 0) FROM payments WHERE invoice_id = ?", [id]).fetchone()[0]
    invoice = row(db, "invoices", id)
    status = invoice["status"]
    if status in ("sent", "paid"):
        status = "paid" if paid >= invoice["total"] else "sent"
    update(db, "invoices", id, {"paid": paid, "status": status})


def _head(db: sqlite3.Connection, form: Form) -> dict[str, Any]:
    return {
        "customer_id": reference(db, form, "customer", "customers", "Customer"),
        "reference": line(form, "reference", "Reference", empty=True),
        **_dates(form),
        "currency": known(form, "currency", CURRENCIES, "Currency"),
        "recurring": known(form, "recurring", RECURRING, "Repeats"),
        "notes": text(form, "notes"),
    }


def _dates(form: Form) -> dict[str, str]:
    issued, due = day(form.get("issued_on", ""), "Issue date"), day(form.get("due_on", ""), "Due date")
    if due < issued:
        raise Refused("The due date is before the issue date.")
    return {"issued_on": issued, "due_on": due}


def _line(form: Form) -> dict[str, Any]:
    return {
        "description": line(form, "description", "Description"),
        "quantity": quantity(form["quantity"]),
        "price": cents(form["price"], "Price"),
        "tax": known(form, "tax", TAXES, "Tax"),
    }


def _lines(db: sqlite3.Connection, id: int) -> list[Record]:
    sql = "SELECT description, quantity, price, tax FROM invoice_lines WHERE invoice_id = ? ORDER BY id"
    return [dict(each) for each in db.execute(sql, [id])]


def _add(db: sqlite3.Connection, prefix: str, values: dict[str, Any], lines: Sequence[Record]) -> int:
    id = db.execute("SELECT coalesce(max(id), 1000) + 1 FROM invoices").fetchone()[0]
    insert(db, "invoices", {"id": id, "number": f"{prefix}-{id}", **values})
    _replace_lines(db, id, lines)
    log(db, "invoice", id, "Created")
    return int(id)


def _replace_lines(db: sqlite3.Connection, id: int, lines: Sequence[Record]) -> None:
    db.execute("DELETE FROM invoice_lines WHERE invoice_id = ?", [id])
    for each in lines:
        insert(db, "invoice_lines", {"invoice_id": id, **each})
