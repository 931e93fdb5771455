"""Reports, in dollars: profit and loss by month, aged receivables, tax."""

from __future__ import annotations

import sqlite3
from datetime import date

from ..kit.store import Record, record, records
from .queries import today

AGES = ("not due", "1-30", "31-60", "61-90", "over 90")
"""Days overdue, as columns of the aged receivables."""
_INCOME = "FROM invoices WHERE status IN ('sent', 'paid') AND currency = 'USD'"
_COSTS = "FROM expenses WHERE status = 'approved'"


def months(first: str, last: str) -> list[str]:
    """The months from first to last, both included: "2026-03"."""
    at, end = (int(each[:4]) * 12 + int(each[5:7]) - 1 for each in (first, last))
    return [f"{n // 12}-{n % 12 + 1:02d}" for n in range(at, end + 1)][:36]


def recent(db: sqlite3.Connection, count: int = 12) -> list[str]:
    """The last months, this one included."""
    now = date.fromisoformat(today(db))
    n = now.year * 12 + now.month - 1
    return [f"{m // 12}-{m % 12 + 1:02d}" for m in range(n - count + 1, n + 1)]


def profit(db: sqlite3.Connection, wanted: list[str]) -> list[Record]:
    """Income (net, by issue date), expenses (approved, net) and profit of each month."""
    income = _by_month(db, f"SELECT substr(issued_on, 1, 7) AS month, sum(net) AS value {_INCOME} GROUP BY 1")
    costs = _by_month(db, f"SELECT substr(spent_on, 1, 7) AS month, sum(amount - tax) AS value {_COSTS} GROUP BY 1")
    found = [(month, income.get(month, 0), costs.get(month, 0)) for month in wanted]
    return [{"month": month, "income": a, "expenses": b, "profit": a - b} for month, a, b in found]


def tax(db: sqlite3.Connection, wanted: list[str]) -> list[Record]:
    """Tax on invoices, tax within expenses, and what is owed, of each month."""
    charged = _by_month(db, f"SELECT substr(issued_on, 1, 7) AS month, sum(tax) AS value {_INCOME} GROUP BY 1")
    paid = _by_month(db, f"SELECT substr(spent_on, 1, 7) AS month, sum(tax) AS value {_COSTS} GROUP BY 1")
    found = [(month, charged.get(month, 0), paid.get(month, 0)) for month in wanted]
    return [{"month": month, "charged": a, "paid": b, "owed": a - b} for month, a, b in found]


def categories(db: sqlite3.Connection, wanted: list[str]) -> list[Record]:
    """What was spent by category in these months, the most first."""
    sql = f"SELECT category, sum(amount - tax) AS value {_COSTS} AND substr(spent_on, 1, 7) BETWEEN ? AND ? GROUP BY 1"
    return records(db, f"{sql} ORDER BY value DESC, category", [wanted[0], wanted[-1]])


def aged(db: sqlite3.Connection) -> list[Record]:
    """What each customer owes, by how long it is overdue; the most first."""
    sql = f"""SELECT c.id, c.name AS customer, i.total - i.paid AS open,
                     julianday(?) - julianday(i.due_on) AS days
              FROM (SELECT * {_INCOME}) i JOIN customers c ON c.id = i.customer_id WHERE i.status = 'sent'"""
    rows: dict[int, Record] = {}
    for each in records(db, sql, [today(db)]):
        one = rows.setdefault(each["id"], {"id": each["id"], "customer": each["customer"], **dict.fromkeys(AGES, 0), "total": 0})  # fmt: skip
        one[_age(each["days"])] += each["open"]
        one["total"] += each["open"]
    return sorted(rows.values(), key=lambda one: (-one["total"], one["customer"]))


def overview(db: sqlite3.Connection) -> Record:
    """The numbers of the home page."""
    now = today(db)
    sql = f"""SELECT coalesce(sum(total - paid), 0) AS open,
                     coalesce(sum(CASE WHEN due_on < ? THEN total - paid END), 0) AS overdue {_INCOME} AND status = 'sent'"""
    month = profit(db, [now[:7]])[0]
    waiting = db.execute("SELECT count(*) FROM expenses WHERE status = 'submitted'").fetchone()[0]
    unmatched = db.execute("SELECT count(*) FROM bank_lines WHERE matched = ''").fetchone()[0]
    return {**(record(db, sql, [now]) or {}), "month": month, "waiting": waiting, "unmatched": unmatched}


def _by_month(db: sqlite3.Connection, sql: str) -> dict[str, int]:
    return {each["month"]: each["value"] for each in records(db, sql)}


def _age(days: float) -> str:
    return AGES[0] if days <= 0 else AGES[min(4, 1 + (int(days) - 1) // 30)]
