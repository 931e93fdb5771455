"""Fills the books with data: the same seed gives the same rows, always."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..kit.looks import whole
from ..kit.people import CITIES, COMPANIES, People, host
from ..kit.store import Rows, fill
from . import words
from .amounts import sums
from .looks import PARTS
from .pdf import receipt_pdf
from .schema import RECURRING, SCHEMA, TAXES
from .seed_sheets import sheets

HISTORY = 300
"""Days."""


def write(db_path: Path | str, seed: int, appearance: Mapping[str, str]) -> None:
    """Replace all data by the seed's, in one transaction; parts of the appearance left out take their default.

    Raises:
        ValueError: The appearance has a part or a value that the books do not know.
    """
    look = whole(PARTS, appearance)
    settings = {**look, "now": clock(seed).isoformat(" "), "company": "Fairlane Studio"}
    fill(Path(db_path), SCHEMA, _records(seed, look["content"]), settings)


def clock(seed: int) -> datetime:
    """The seed's moment: everything that happens in an episode happens then."""
    rng = random.Random(f"books:clock:{seed}")
    return datetime(2026, 10, 1, 9) + timedelta(days=rng.randrange(80), minutes=rng.randrange(480))


@lru_cache(maxsize=64)
def _records(seed: int, content: str) -> Mapping[str, Rows]:
    return _Maker(seed, content).tables()


class _Maker:
    """Makes one seed's records, one table after the other."""

    def __init__(self, seed: int, content: str):
        self.rng = random.Random(f"books:{seed}:{content}")
        self.people = People(self.rng, content)
        self.today = clock(seed).date()
        self.invoices: list[dict[str, Any]] = []
        self.lines: list[tuple[Any, ...]] = []
        self.payments: list[dict[str, Any]] = []
        self.bank: list[dict[str, Any]] = []

    def tables(self) -> Mapping[str, Rows]:
        """All tables, whole."""
        companies = self.people.companies(len(COMPANIES))
        customers, suppliers = self._customers(companies[24:]), self._suppliers(companies[:24])
        products = self._products()
        self._invoices(customers, products)
        expenses = self._expenses(suppliers)
        self._bank(customers, suppliers, expenses)
        names, cells = sheets(self.rng, self.today.year)
        return {
            "customers": customers,
            "suppliers": suppliers,
            "products": products,
            "invoices": [tuple(row.values()) for row in self.invoices],
            "invoice_lines": [(i, *line) for i, line in enumerate(self.lines, 1)],
            "payments": [(i, *row.values()) for i, row in enumerate(self.payments, 1)],
            "expenses": expenses,
            "receipts": self._receipts(expenses),
            "bank_lines": [tuple(row.values()) for row in self.bank],
            "sheets": names,
            "cells": cells,
            "widths": [(id, "A", 150) for id, _ in names],
            "events": [],
        }

    def _phone(self) -> str:
        code = self.rng.choice((1, 31, 33, 44, 45, 49))
        return f"+{code} {self.rng.randint(201, 989)} 555 {self.rng.randint(0, 9999):04d}"

    def _customers(self, companies: list[str]) -> Rows:
        first = self.rng.randrange(100, 900)
        rows = []
        for i, name in enumerate(self.people.names(self.rng.randint(34, 40))):
            company = self.rng.choice(companies)
            mail = self.people.mailbox(name, host(company))
            rows.append((first + i, name, company, mail, self._phone(), self.people.street(), self.rng.choice(CITIES)))
        return rows

    def _suppliers(self, companies: list[str]) -> Rows:
        kinds = list(words.SPENDINGS)
        return [
            (200 + i, name, f"accounts@{host(name)}", self._phone(), self.rng.choice(CITIES), kinds[i % len(kinds)])
            for i, name in enumerate(companies)
        ]

    def _products(self) -> Rows:
        return [
            (i, sku, name, unit, price + 100 * self.rng.randint(-8, 12), self.rng.choice(TAXES[1:]))
            for i, (sku, name, unit, price) in enumerate(words.PRODUCTS, 1)
        ]

    # --- invoices ------------------------------------------------------------------------------------------------

    def _invoices(self, customers: Rows, products: Rows) -> None:
        count = self.rng.randint(130, 150)
        ages = sorted((self.rng.randint(0, HISTORY) for _ in range(count)), reverse=True)
        first = self.rng.randrange(1001, 4000)
        order = self.rng.randrange(10_000, 40_000)
        for i, age in enumerate(ages):
            issued = self.today - timedelta(days=age)
            due = issued + timedelta(days=self.rng.choice((14, 30, 30, 45)))
            order += self.rng.randint(1, 40)
            reference = self.rng.choice((f"Order {order}", f"Order {order}", f"PO-{order % 7000 + 1000}", ""))
            status, share = self._standing(age, due)
            sums_ = self._add_lines(first + i, products)
            recurring = RECURRING[self.rng.choice((0, 0, 0, 0, 0, 1, 2, 3))]
            notes = self.people.text(self.rng.choice(words.NOTES), 0.15).strip()
            customer = self.rng.choice(customers)[0]
            paid = sums_.total if share == 1 else int(sums_.total * share) // 100 * 100
            self.invoices.append(
                {"id": first + i, "number": f"INV-{first + i}", "kind": "invoice", "customer_id": customer, "reference": reference,
                 "issued_on": issued.isoformat(), "due_on": due.isoformat(), "currency": "USD", "status": status,
                 "recurring": recurring, "notes": notes, "net": sums_.net, "tax": sums_.tax, "total": sums_.total,
                 "paid": paid, "credits_id": None}
            )  # fmt: skip
            if paid:
                self._pay(first + i, issued, age, paid)

    def _standing(self, age: int, due: date) -> tuple[str, float]:
        """Status, and the share of the total that is paid."""
        if age < 25:
            status = self.rng.choices(("draft", "sent", "paid"), (4, 5, 2))[0]
        elif due >= self.today:
            status = self.rng.choices(("sent", "paid", "void"), (6, 4, 1))[0]
        else:
            status = self.rng.choices(("sent", "paid", "void"), (4, 14, 1))[0]
        if status == "sent" and self.rng.random() < 0.2:
            return status, self.rng.choice((0.25, 0.4, 0.5))
        return status, float(status == "paid")

    def _add_lines(self, id: int, products: Rows) -> Any:
        lines = []
        for product in self.rng.sample(products, self.rng.choice((1, 2, 2, 3, 3, 4))):
            quantity = self.rng.choice((1, 1, 2, 3, 4, 5, 1.5, 2.5, 10) if product[3] == "hour" else (1, 1, 2, 3, 4))
            lines.append({"description": product[2], "quantity": quantity, "price": product[4], "tax": product[5]})
        if self.rng.random() < 0.2:
            extra = {
                "description": self.rng.choice(words.EXTRAS),
                "quantity": 1,
                "price": 100 * self.rng.randint(15, 90),
            }
            lines.append({**extra, "tax": self.rng.choice(TAXES)})
        self.lines += [(id, *line.values()) for line in lines]
        return sums(lines)

    def _pay(self, id: int, issued: date, age: int, amount: int) -> None:
        paid_on = issued + timedelta(days=self.rng.randint(0, min(age, 40)))
        method = self.rng.choice(("bank transfer", "bank transfer", "bank transfer", "card", "cash", "cheque"))
        row = {"invoice_id": id, "paid_on": paid_on.isoformat(), "amount": amount, "method": method}
        self.payments.append({**row, "bank_line_id": None})

    # --- expenses and the bank ------------------------------------------------------------------------------------

    def _expenses(self, suppliers: Rows) -> Rows:
        rows = []
        ages = sorted((self.rng.randint(0, HISTORY) for _ in range(self.rng.randint(110, 130))), reverse=True)
        for i, age in enumerate(ages):
            supplier = self.rng.choice(suppliers)
            category = supplier[5] if self.rng.random() < 0.85 else self.rng.choice(list(words.SPENDINGS))
            amount = self.rng.randint(900, 9_000) * self.rng.choice((1, 2, 3, 8, 20))
            tax = round(amount * self.rng.choice((0, 5, 10, 20)) / 120)
            status = self.rng.choices(("submitted", "approved", "rejected"), (12, 4, 1) if age < 45 else (1, 30, 2))[0]
            reference = self.rng.choice((f"R-{self.rng.randint(10_000, 99_999)}", f"{self.today.year}/{700 + i}", ""))
            text = self.people.text(self.rng.choice(words.SPENDINGS[category]), 0.15)
            day = (self.today - timedelta(days=age)).isoformat()
            rows.append((501 + i, supplier[0], category, reference, text, day, amount, tax, status))
        return rows

    def _receipts(self, expenses: Rows) -> Rows:
        rows: list[tuple[Any, ...]] = []
        for expense in expenses:
            if self.rng.random() < 0.2:
                content = receipt_pdf(f"Receipt {expense[0]}", expense[5], expense[6])
                name, digest = f"receipt-{expense[0]}.pdf", hashlib.sha256(content).hexdigest()
                rows.append((len(rows) + 1, expense[0], name, len(content), digest, content))
        return rows

    def _bank(self, customers: Rows, suppliers: Rows, expenses: Rows) -> None:
        buyers, sellers = ({row[0]: row[1] for row in table} for table in (customers, suppliers))
        found: list[dict[str, Any]] = []
        paid = [(i, row) for i, row in enumerate(self.payments) if row["method"] == "bank transfer"]
        for i, payment in paid[-30:]:
            invoice = next(row for row in self.invoices if row["id"] == payment["invoice_id"])
            text = f"{buyers[invoice['customer_id']]} {invoice['number']}"
            line = _line(payment["paid_on"], text, payment["amount"], "invoice", invoice["id"])
            found.append({**line, "payment": i})
        open_ = [row for row in self.invoices if row["status"] == "sent"]
        for invoice in self.rng.sample(open_, min(14, len(open_))):
            text = (
                f"{buyers[invoice['customer_id']]} {self.rng.choice((invoice['number'], invoice['reference']))}".strip()
            )
            found.append(_line(self._recent(), text, invoice["total"] - invoice["paid"]))
        recent = [row for row in expenses if row[8] == "approved"][-36:]
        for i, row in enumerate(recent):
            matched = ("expense", row[0]) if i % 3 else ("", None)
            found.append(_line(row[5], f"{sellers[row[1]]} {row[3]}".strip(), -row[6], *matched))
        found += [_line(self._recent(), text, amount) for text, amount in self.rng.sample(words.OTHER_BANK_LINES, 6)]
        for id, line in enumerate(sorted(found, key=lambda row: row["booked_on"]), 1):
            if "payment" in line:
                self.payments[line.pop("payment")]["bank_line_id"] = id
            self.bank.append({"id": id, **line})

    def _recent(self) -> str:
        return (self.today - timedelta(days=self.rng.randint(0, 25))).isoformat()


def _line(booked_on: str, text: str, amount: int, matched: str = "", matched_id: int | None = None) -> dict[str, Any]:
    return {"booked_on": booked_on, "text": text, "amount": amount, "matched": matched, "matched_id": matched_id}
