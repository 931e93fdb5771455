"""Lines of bank statements: importing them, and saying which invoice or expense each belongs to."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..kit.store import Record, records
from ..kit.web import Refused
from . import invoices, queries
from .amounts import plain
from .changes import insert, log, row, update

DATES = {"YYYY-MM-DD": "%Y-%m-%d", "DD.MM.YYYY": "%d.%m.%Y", "DD/MM/YYYY": "%d/%m/%Y", "MM/DD/YYYY": "%m/%d/%Y"}
MARKS = {".": "1,234.50", ",": "1.234,50"}
MAX_LINES = 500


@dataclass(frozen=True, slots=True)
class Read:
    """One line of a file, read with a mapping."""

    number: int
    """In the file, from 1; the head is line 1."""
    booked_on: str
    text: str
    amount: int
    error: str
    """Why it cannot be imported; empty if it can."""


def table(content: str) -> list[list[str]]:
    """The rows of a CSV file, head included; commas, semicolons or tabs between.

    Raises:
        Refused: It is no CSV with a head and at least one line.
    """
    head = content.lstrip("\ufeff").partition("\n")[0]
    mark = max(",;\t", key=head.count)
    try:
        rows = [
            each for each in csv.reader(io.StringIO(content.lstrip("\ufeff")), delimiter=mark, strict=True) if any(each)
        ]
    except csv.Error:
        rows = []
    if len(rows) < 2 or len(rows[0]) < 2:
        raise Refused("This is no CSV file with a head and lines.")
    if len(rows) > MAX_LINES:
        raise Refused("The file has more than 500 lines.")
    return rows


def read(rows: list[list[str]], mapping: Mapping[str, str]) -> list[Read]:
    """The lines of a file.

    Args:
        rows: As `table` gives them.
        mapping: Numbers of the columns `date`, `text` and `amount`; `dates` and `mark`, keys of DATES and MARKS.

    Raises:
        Refused: The mapping leaves something out.
    """
    if mapping.get("dates") not in DATES or mapping.get("mark") not in MARKS:
        raise Refused("Say how dates and amounts are written.")
    places = [mapping.get(name, "") for name in ("date", "text", "amount")]
    if not {*places} <= {str(at) for at in range(len(rows[0]))} or len(set(places)) < 3:
        raise Refused("Choose a column of its own for date, text and amount.")
    at = [int(place) for place in places]
    return [_read(number, each, at, mapping) for number, each in enumerate(rows[1:], 2)]


def add(db: sqlite3.Connection, lines: list[Read]) -> int:
    """Import the lines that have no error; returns how many."""
    good = [each for each in lines if not each.error]
    for each in good:
        values = {"booked_on": each.booked_on, "text": each.text, "amount": each.amount, "matched": ""}
        log(db, "bank", insert(db, "bank_lines", values), "Imported")
    return len(good)


def match(db: sqlite3.Connection, id: int, kind: str, other: int) -> None:
    """Say that a line belongs to an invoice, which is paid by it, or to an expense."""
    line = row(db, "bank_lines", id)
    if line["matched"]:
        raise Refused("This line is matched already.")
    if kind == "invoice" and line["amount"] > 0:
        form = {"amount": plain(line["amount"]), "paid_on": line["booked_on"], "method": "bank transfer"}
        invoices.pay(db, other, form, bank_line=id)
    elif kind == "expense" and line["amount"] < 0:
        _check_expense(db, other, -line["amount"])
    else:
        raise Refused("Money that came in belongs to an invoice, money that went out to an expense.")
    update(db, "bank_lines", id, {"matched": kind, "matched_id": other})
    log(db, "bank", id, "Matched")


def _check_expense(db: sqlite3.Connection, id: int, amount: int) -> None:
    expense = row(db, "expenses", id)
    if expense["amount"] != amount:
        raise Refused("The amounts differ.")
    if expense["status"] == "rejected":
        raise Refused("This expense was rejected.")
    if db.execute("SELECT 1 FROM bank_lines WHERE matched = 'expense' AND matched_id = ?", [id]).fetchone():
        raise Refused("This expense is matched to another line.")


def undo(db: sqlite3.Connection, id: int) -> None:
    """Take a match back, with the payment that it made."""
    if not row(db, "bank_lines", id)["matched"]:
        raise Refused("This line is not matched.")
    invoices.unpay(db, id)
    update(db, "bank_lines", id, {"matched": "", "matched_id": None})
    log(db, "bank", id, "Match undone")


def candidates(db: sqlite3.Connection, line: Record, q: str) -> list[Record]:
    """What a line may belong to: the likeliest first, by amount, then by what its text names."""
    chosen = queries.Filter("", q=q)
    if line["amount"] > 0:
        sql, values = queries.invoices_sql(db, chosen)
        found = records(db, f"SELECT * FROM ({sql}) WHERE status = 'sent' AND open >= ?", [*values, line["amount"]])
        rows = [{"kind": "invoice", "id": r["id"], "title": r["number"], "who": r["customer"], "reference": r["reference"], "day": r["due_on"], "amount": r["open"]} for r in found]  # fmt: skip
    else:
        sql, values = queries.expenses_sql(chosen)
        taken = "SELECT matched_id FROM bank_lines WHERE matched = 'expense'"
        found = records(db, f"SELECT * FROM ({sql}) WHERE amount = ? AND status <> 'rejected' AND id NOT IN ({taken})", [*values, -line["amount"]])  # fmt: skip
        rows = [{"kind": "expense", "id": r["id"], "title": r["description"], "who": r["supplier"], "reference": r["reference"], "day": r["spent_on"], "amount": r["amount"]} for r in found]  # fmt: skip
    return sorted(rows, key=lambda r: _likeness(line, r))[:10]


def _likeness(line: Record, other: Mapping[str, Any]) -> tuple[bool, bool, int]:
    named = any(word and word in line["text"] for word in (other["title"], other["who"], other["reference"]))
    return other["amount"] != abs(line["amount"]), not named, -other["id"]


def _read(number: int, cells: list[str], at: list[int], mapping: Mapping[str, str]) -> Read:
    day, text, amount = (cells[place].strip() if place < len(cells) else "" for place in at)
    booked, cents = _day(day, DATES[mapping["dates"]]), _cents(amount, mapping["mark"])
    wrong = ((booked is None, "The date cannot be read."), (not text, "The text is empty."), (not cents, "The amount cannot be read."))  # fmt: skip
    error = next((why for fails, why in wrong if fails), "")
    return Read(number, booked or day, text[:200], cents or 0, error)


def _day(text: str, form: str) -> str | None:
    try:
        return datetime.strptime(text, form).date().isoformat()
    except ValueError:
        return None


def _cents(text: str, mark: str) -> int | None:
    """Cents; None if the text is no amount in this way of writing."""
    groups = "," if mark == "." else "."
    form = rf"-?(\d{{1,3}}({re.escape(groups)}\d{{3}})+|\d{{1,8}})({re.escape(mark)}\d{{1,2}})?"
    if not re.fullmatch(form, text, re.ASCII):
        return None
    whole, _, part = text.replace(groups, "").partition(mark)
    value = abs(int(whole)) * 100 + int(part.ljust(2, "0") or 0)
    return -value if text.startswith("-") else value
