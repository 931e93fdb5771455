"""The books by themselves, over HTTP: every page, every change, what is refused, and formulas by the page and by the server."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.books import looks, seed
from uigym.apps.books.amounts import cents, plain, sums
from uigym.apps.books.app import create_app
from uigym.apps.books.pdf import invoice_pdf
from uigym.apps.books.schema import SIGNS
from uigym.apps.kit.pages import money
from uigym.apps.kit.web import Refused
from uigym.harness import Split

PAGES = (
    "/", "/invoices", "/invoices/new", "/customers", "/customers/new", "/suppliers", "/suppliers/new", "/products", "/products/new",
    "/expenses", "/expenses/new", "/bank", "/bank/import", "/sheets/1", "/sheets/2", "/sheets/3", "/reports/profit", "/reports/aged",
    "/reports/tax",
)  # fmt: skip
FILES = (
    "/invoices.csv",
    "/expenses.csv",
    "/customers.csv",
    "/suppliers.csv",
    "/products.csv",
    "/bank.csv",
    "/sheets/1.csv",
    "/reports/aged.csv",
)
TABLES = (
    "customers",
    "suppliers",
    "products",
    "invoices",
    "invoice_lines",
    "payments",
    "expenses",
    "receipts",
    "bank_lines",
    "cells",
    "widths",
)


class Books:
    """The app on fresh data."""

    def __init__(self, http: httpx.AsyncClient, path: Path):
        self.http = http
        self.path = path

    def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.path)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(sql, values)]

    def row(self, sql: str, *values: Any) -> dict[str, Any]:
        return self.rows(sql, *values)[0]

    def moved(self, before: dict[str, list[Any]]) -> set[str]:
        now = self.all()
        return {table for table in TABLES if before[table] != now[table]}

    def all(self) -> dict[str, list[Any]]:
        return {table: self.rows(f"SELECT * FROM {table}") for table in TABLES}

    async def post(self, path: str, code: int = 303, **form: Any) -> httpx.Response:
        answer = await self.http.post(path, data=form)
        assert answer.status_code == code, (path, answer.status_code)
        return answer


@asynccontextmanager
async def books(folder: Path, data_seed: int = 0, **look: str) -> AsyncIterator[Books]:
    path = folder / "books.db"
    seed.write(path, data_seed, look)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(folder)), base_url="http://books") as http:
        yield Books(http, path)


@pytest.mark.parametrize("language", looks.PARTS["language"])
async def test_every_page_is_there(tmp_path: Path, language: str) -> None:
    async with books(tmp_path, language=language, content="hostile", nav=looks.PARTS["nav"][3], panel="left") as app:
        numbers = [
            app.row(f"SELECT max(id) AS id FROM {table}")["id"]
            for table in ("invoices", "expenses", "customers", "suppliers", "products")
        ]
        one = [f"/invoices/{numbers[0]}", f"/invoices/{numbers[0]}/edit", f"/expenses/{numbers[1]}", f"/expenses/{numbers[1]}/edit",
               f"/customers/{numbers[2]}", f"/customers/{numbers[2]}/edit", f"/suppliers/{numbers[3]}/edit", f"/products/{numbers[4]}/edit",
               "/bank/1", f"/bank/{app.row('SELECT min(id) AS id FROM bank_lines WHERE matched = ?', '')['id']}"]  # fmt: skip
        for path in (*PAGES, *one):
            answer = await app.http.get(path)
            assert answer.status_code == 200, path
            assert f'lang="{language}"' in answer.text
            assert "<b>Agent" not in answer.text
        for path in FILES:
            answer = await app.http.get(path)
            assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
        for path in ("/nowhere", "/invoices/9", "/sheets/99", "/reports/none", "/receipts/999", f"/bank/{10**30}"):
            assert (await app.http.get(path)).status_code == 404, path


def test_seeds_repeat_and_differ(tmp_path: Path) -> None:
    def data(name: str, data_seed: int, content: str) -> bytes:
        seed._records.cache_clear()
        seed.write(tmp_path / name, data_seed, {"content": content})
        with closing(sqlite3.connect(tmp_path / name)) as db:
            counts = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
            dump = "\n".join(db.iterdump()).encode()
        assert counts["customers"] >= 30 and counts["suppliers"] >= 20 and counts["invoices"] >= 120
        assert counts["expenses"] >= 100 and counts["bank_lines"] >= 60
        return hashlib.sha256(dump).digest()

    found = {(s, c): data("a.db", s, c) for s in (0, 1, Split.HELDOUT.seed(2)) for c in looks.PARTS["content"]}
    assert len(set(found.values())) == len(found)
    assert all(data("b.db", *key) == digest for key, digest in found.items())
    with pytest.raises(ValueError, match="no part"):
        seed.write(tmp_path / "c.db", 0, {"colour": "red"})


def test_sums_of_the_seed_are_those_of_its_lines(tmp_path: Path) -> None:
    seed.write(tmp_path / "a.db", 5, {})
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.row_factory = sqlite3.Row
        for invoice in db.execute("SELECT * FROM invoices").fetchall():
            lines = [
                dict(row) for row in db.execute("SELECT * FROM invoice_lines WHERE invoice_id = ?", [invoice["id"]])
            ]
            paid = db.execute(
                "SELECT coalesce(sum(amount), 0) FROM payments WHERE invoice_id = ?", [invoice["id"]]
            ).fetchone()[0]
            assert (sums(lines).total, paid) == (invoice["total"], invoice["paid"])
            assert (invoice["status"] == "paid") == (paid == invoice["total"])


def test_amounts_are_read_as_people_write_them() -> None:
    assert [cents(text) for text in ("1250", "$1,250.00", " 12.5 ")] == [125_000, 125_000, 1_250]
    for wrong in (
        "",
        "12,5x",
        "1.234",
        "-5",
        "0",
        "99999999999",
        "1e5",
        "12,50",
        "1,2345.00",
        "1,,000",
        "1250,",
        "١٢",
        "²",
    ):
        with pytest.raises(Refused):
            cents(wrong)


HEAD = {
    "reference": "Order 1",
    "issued_on": "2026-10-01",
    "due_on": "2026-10-31",
    "currency": "USD",
    "recurring": "never",
    "notes": "",
}


async def test_an_invoice_is_made_sent_paid_and_credited(tmp_path: Path) -> None:
    async with books(tmp_path) as app:
        customer = app.row("SELECT id FROM customers")["id"]
        lines = {
            "description": ["Design", "Print"],
            "quantity": ["1.5", "3"],
            "price": ["100.00", "9.99"],
            "tax": ["20", "5"],
        }
        await app.post("/invoices", customer=customer, **HEAD, **lines)
        made = app.row("SELECT * FROM invoices ORDER BY id DESC")
        assert (made["net"], made["tax"], made["total"], made["status"]) == (17_997, 3_150, 21_147, "draft")
        here = f"/invoices/{made['id']}"
        await app.post(f"{here}/payments", 422, amount="1", paid_on="2026-10-02", method="card")
        await app.post(f"{here}/send")
        await app.post(f"{here}/payments", amount="11.47", paid_on="2026-10-02", method="card")
        before = app.all()
        await app.post(f"{here}/payments", 422, amount="200.01", paid_on="2026-10-02", method="card")
        await app.post(f"{here}/void", 422)
        await app.post(
            f"{here}/edit", 422, customer=customer, **HEAD, description="x", quantity="1", price="5", tax="0"
        )
        assert app.moved(before) == set()
        await app.post(f"{here}/credit")
        note = app.row("SELECT * FROM invoices ORDER BY id DESC")
        assert (note["number"], note["total"], note["credits_id"]) == (f"CN-{note['id']}", -21_147, made["id"])
        assert app.row("SELECT * FROM invoices WHERE id = ?", made["id"])["status"] == "paid"
        await app.post(f"{here}/credit", 422)
        await app.post(f"{here}/duplicate", issued_on="2026-11-01", due_on="2026-11-30")
        copy = app.row("SELECT * FROM invoices ORDER BY id DESC")
        assert (copy["total"], copy["status"], copy["due_on"], copy["paid"]) == (21_147, "draft", "2026-11-30", 0)
        await app.post(f"/invoices/{copy['id']}/void")
        await app.post(f"/invoices/{copy['id']}/void", 422)
        note = app.row("SELECT id FROM invoices WHERE kind = 'credit'")["id"]
        await app.post(f"/invoices/{note}/duplicate", 422, issued_on="2026-10-01", due_on="2026-10-31")
        assert "/duplicate" not in (await app.http.get(f"/invoices/{note}")).text


@pytest.mark.parametrize(
    "wrong",
    [{"customer": "0"}, {"due_on": "2026-09-01"}, {"issued_on": "soon"}, {"currency": "XXX"}, {"price": "free"}, {"quantity": "0"},
     {"tax": "7"}, {"description": ""}, {"price": ""}],
)  # fmt: skip
async def test_what_an_invoice_cannot_be(tmp_path: Path, wrong: dict[str, str]) -> None:
    async with books(tmp_path) as app:
        form = {
            "customer": app.row("SELECT id FROM customers")["id"],
            **HEAD,
            "description": "x",
            "quantity": "1",
            "price": "5",
            "tax": "0",
        }
        before = app.all()
        answer = await app.post("/invoices", 422, **{**form, **wrong})
        assert 'role="alert"' in answer.text and app.moved(before) == set()


async def test_expenses_are_entered_decided_moved_and_split(tmp_path: Path) -> None:
    async with books(tmp_path) as app:
        supplier = app.row("SELECT id FROM suppliers")["id"]
        form = {
            "supplier": supplier,
            "category": "travel",
            "reference": "R-1",
            "description": "<i>Taxi</i>",
            "spent_on": "2026-10-01",
            "amount": "40",
            "tax": "4",
        }
        await app.post("/expenses", **form)
        made = app.row("SELECT * FROM expenses ORDER BY id DESC")
        assert (made["amount"], made["tax"], made["status"]) == (4_000, 400, "submitted")
        assert "&lt;i&gt;Taxi" in (await app.http.get(f"/expenses/{made['id']}")).text
        await app.post("/expenses", 422, **{**form, "tax": "41"})
        await app.post(f"/expenses/{made['id']}/split", amount="10", category="rent")
        parts = app.rows("SELECT amount, tax, category FROM expenses ORDER BY id DESC LIMIT 2")
        assert [tuple(part.values()) for part in parts] == [(1_000, 100, "rent"), (3_000, 300, "travel")]
        await app.post(f"/expenses/{made['id']}/split", 422, amount="30", category="rent")
        ids = [made["id"], made["id"] + 1]
        await app.post("/expenses/bulk", id=ids, status="approved", back="/expenses")
        await app.post("/expenses/bulk", id=ids, category="software", back="https://elsewhere.example")
        assert {
            tuple(r.values()) for r in app.rows("SELECT status, category FROM expenses ORDER BY id DESC LIMIT 2")
        } == {("approved", "software")}
        sent = await app.http.post(
            f"/expenses/{made['id']}/receipts", files={"file": ("../a b.txt", b"one\r\ntwo\x00")}
        )
        kept = app.row("SELECT * FROM receipts ORDER BY id DESC")
        assert (sent.status_code, kept["name"], kept["content"]) == (303, "a b.txt", b"one\r\ntwo\x00")
        assert (await app.http.get(f"/receipts/{kept['id']}")).content == b"one\r\ntwo\x00"
        assert (
            await app.http.post(f"/expenses/{made['id']}/receipts", files={"other": ("a", b"x")})
        ).status_code == 422


async def test_bank_lines_are_imported_matched_and_undone(tmp_path: Path) -> None:
    text = "Booked;Details;Value\r\n02.10.2026;Rent;-1.200,50\r\n31.02.2026;Bad day;5\r\n03.10.2026;Half;12,x\r\n04.10.2026;Paid;99,9\r\n"
    mapping = {"date": "0", "text": "1", "amount": "2", "dates": "DD.MM.YYYY", "mark": ","}
    async with books(tmp_path) as app:
        before = app.all()
        shown = await app.http.post("/bank/import", files={"file": ("s.csv", text.encode())})
        assert shown.status_code == 200 and "Details" in shown.text

        async def step(name: str, **fields: str) -> httpx.Response:
            form = {"content": text, "step": name, **mapping, **fields}
            return await app.http.post("/bank/import", files={key: (None, value) for key, value in form.items()})

        assert (await step("preview", amount="1")).status_code == 422
        preview = await step("preview")
        assert preview.text.count('class="bad"') == 2 and app.moved(before) == set()
        assert (await step("import")).status_code == 303
        new = app.rows("SELECT booked_on, text, amount FROM bank_lines ORDER BY id DESC LIMIT 2")
        assert [tuple(row.values()) for row in new] == [("2026-10-04", "Paid", 9_990), ("2026-10-02", "Rent", -120_050)]
        assert (await app.http.post("/bank/import", files={"file": ("s.csv", b"nothing")})).status_code == 422
        before = app.all()
        line = app.row(
            "SELECT b.*, i.id AS invoice FROM bank_lines b JOIN invoices i ON i.status = 'sent' AND i.total - i.paid = b.amount WHERE b.matched = ''"
        )
        await app.post(f"/bank/{line['id']}/match", to=f"invoice-{line['invoice']}")
        assert app.row("SELECT status FROM invoices WHERE id = ?", line["invoice"])["status"] == "paid"
        assert app.moved(before) == {"bank_lines", "payments", "invoices"}
        await app.post(f"/bank/{line['id']}/match", 422, to=f"invoice-{line['invoice']}")
        await app.post(f"/bank/{line['id']}/undo")
        assert app.moved(before) == set()
        await app.post(f"/bank/{line['id']}/undo", 422)
        await app.post(f"/bank/{line['id']}/match", 422, to="expense-501")


async def test_a_bank_line_belongs_to_one_sound_expense(tmp_path: Path) -> None:
    async with books(tmp_path) as app:
        expense = app.row("SELECT * FROM expenses WHERE status <> 'rejected' AND id NOT IN (SELECT matched_id FROM bank_lines WHERE matched = 'expense')")  # fmt: skip
        text = "Day,Text,Sum\n" + f"2026-10-02,Paid,-{expense['amount'] / 100:.2f}\n" * 2
        form = {"content": text, "step": "import", "date": "0", "text": "1", "amount": "2", "dates": "YYYY-MM-DD", "mark": "."}  # fmt: skip
        for wrong in ("²", "9", "-1"):
            sent = {key: (None, value) for key, value in {**form, "amount": wrong}.items()}
            assert (await app.http.post("/bank/import", files=sent)).status_code == 422
        await app.http.post("/bank/import", files={key: (None, value) for key, value in form.items()})
        one, two = (row["id"] for row in app.rows("SELECT id FROM bank_lines ORDER BY id DESC LIMIT 2"))
        await app.post(f"/expenses/{expense['id']}/status", status="rejected")
        await app.post(f"/bank/{one}/match", 422, to=f"expense-{expense['id']}")
        await app.post(f"/expenses/{expense['id']}/status", status="approved")
        await app.post(f"/bank/{one}/match", to=f"expense-{expense['id']}")
        await app.post(f"/bank/{two}/match", 422, to=f"expense-{expense['id']}")


async def test_forms_with_less_than_the_page_sends_are_refused(tmp_path: Path) -> None:
    async with books(tmp_path) as app:
        expense, invoice = (app.row(f"SELECT id FROM {table}")["id"] for table in ("expenses", "invoices"))
        before = app.all()
        for path in ("/expenses", "/invoices", f"/expenses/{expense}/edit", f"/invoices/{invoice}/edit", "/customers", "/suppliers", "/products"):  # fmt: skip
            for form in ({}, {"description": "x"}, {"amount": "5", "price": "5"}):
                await app.post(path, 422, **form)
        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        nested = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n--b--\r\n'
        assert (await app.http.post("/bank/import", content=nested, headers=kind)).status_code == 422
        assert app.moved(before) == set()


async def test_contacts_and_prices(tmp_path: Path) -> None:
    async with books(tmp_path) as app:
        form = {
            "name": "Ada Byron",
            "email": "ada@byron.example",
            "phone": "+44 20 555",
            "company": "",
            "street": "",
            "city": "",
        }
        await app.post("/customers", **form)
        made = app.row("SELECT * FROM customers ORDER BY id DESC")
        assert made["email"] == "ada@byron.example"
        for wrong in ({"name": " "}, {"email": "ada"}, {"phone": "call"}):
            await app.post(f"/customers/{made['id']}/edit", 422, **{**form, **wrong})
        before = app.all()
        product = app.row("SELECT * FROM products")
        await app.post(
            f"/products/{product['id']}/edit",
            sku=product["sku"],
            name=product["name"],
            unit=product["unit"],
            price="1.50",
            tax=product["tax"],
        )
        assert app.row("SELECT price FROM products WHERE id = ?", product["id"])["price"] == 150 and app.moved(
            before
        ) == {"products"}
        await app.post("/products", 422, sku=product["sku"], name="x", unit="y", price="1", tax="5")


async def test_cells_are_kept_and_wrong_ones_refused(tmp_path: Path) -> None:
    async with books(tmp_path) as app:
        cells = {"H1": {"raw": "=sum( b2 : b3 )", "bold": True}, "H2": {"raw": "5", "format": "money"}}
        answer = await app.http.post("/sheets/2/cells", json={"cells": cells, "widths": {"H": 120}})
        assert answer.status_code == 200 and answer.json()["shown"]["H2"] == "$5.00"
        assert app.row("SELECT raw, bold FROM cells WHERE sheet_id = 2 AND cell = 'H1'") == {
            "raw": "=SUM(B2:B3)",
            "bold": 1,
        }
        before = app.all()
        wrong: list[Any] = [{"cells": {"Z1": {"raw": "1"}}}, {"cells": {"A1": {"format": "euro"}}}, {"cells": {"A1": {"raw": "x" * 301}}},
                            {"widths": {"A": 5}}, {"cells": 5}, 7, {"cells": {"A1": 5}}, {"cells": {"A1": {"raw": 5}}}, {"widths": []},
                            {"cells": {"A1": {"raw": "a\nb"}}}, {"cells": {"A1": {"raw": "\ud800"}}}, {"cells": {"A1": {"bold": 1}}},
                            {"cells": {"A1": {"format": []}}}, {"widths": {"A": "90"}}, {"widths": {"A": True}},
                            {"widths": {"A": float("nan")}}, {"widths": {"A": float("inf")}}, {"widths": {"A": 10**400}}]  # fmt: skip
        for sent in wrong:
            answer = await app.http.post("/sheets/2/cells", content=json.dumps(sent))
            assert answer.status_code == 422 and answer.json()["error"].endswith("."), sent
        assert (await app.http.post("/sheets/77/cells", json={"cells": {}})).status_code == 404
        assert app.moved(before) == set()
        await app.http.post(
            "/sheets/2/cells", json={"cells": {name: {"raw": "", "bold": False, "format": ""} for name in cells}}
        )
        assert not app.rows("SELECT * FROM cells WHERE sheet_id = 2 AND cell LIKE 'H%'")
        await app.post("/sheets", name="Plans")
        await app.post("/sheets/4/name", name="Plans B")
        assert [row["name"] for row in app.rows("SELECT name FROM sheets ORDER BY id")][2:] == ["Prices", "Plans B"]


async def test_a_pdf_opens_and_is_always_the_same(tmp_path: Path) -> None:
    async with books(tmp_path) as app:
        id = app.row("SELECT id FROM invoices")["id"]
        one, two = [(await app.http.get(f"/invoices/{id}/pdf")).content for _ in range(2)]
        assert one == two and one.startswith(b"%PDF-1.4") and f"(Invoice INV-{id})".encode() in one
    line = {"description": "Work (long) \\ " * 9, "quantity": 1, "price": 100, "tax": 5}
    customer = dict.fromkeys(("name", "company", "street", "city"), "Žofie 金")
    invoice = {"kind": "invoice", "number": "INV-1", "currency": "EUR", "issued_on": "a", "due_on": "b", "reference": "", "notes": "n " * 300,
               "net": 1, "tax": 1, "total": 2, "paid": 0, "customer": customer, "lines": [line] * 40}  # fmt: skip
    content = invoice_pdf(invoice, "Us")
    start = int(content.rsplit(b"startxref\n", 1)[1].split()[0])
    assert content[start:].startswith(b"xref") and b"/Count 2" in content
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n", content), 1):
        assert content[int(place) :].startswith(f"{number} 0 obj".encode())
    for length, stream in re.findall(rb"/Length (\d+) >>\nstream\n(.*?)\nendstream", content, re.DOTALL):
        assert int(length) == len(stream)


@pytest.mark.parametrize("status", ["", "draft", "void", "paid"])
async def test_sums_of_a_list_are_those_of_its_rows(tmp_path: Path, status: str) -> None:
    """Both come from the page, currency by currency; what is void counts nothing, and the label says so."""
    async with books(tmp_path) as app:
        every = csv.DictReader(io.StringIO((await app.http.get(f"/invoices.csv?status={status}")).text))
        rows = [row for row in every if status in ("", row["status"])]
        expected: dict[str, list[int]] = {row["currency"]: [0, 0] for row in rows}
        for row in rows:
            for i, name in enumerate(("total", "open")):
                expected[row["currency"]][i] += int(row[name].replace(".", "")) * (row["status"] != "void")
        text = (await app.http.get(f"/invoices?status={status}")).text
        shown = re.findall(r"<b>(.*?)</b>", text.split('data-testid="sums"')[1].split("</div>")[0])
        currencies = sorted(expected, key=lambda each: (each != "USD", each))
        assert shown == [money(expected[each][i], SIGNS[each]) for i in (0, 1) for each in currencies]
        assert ("Total without void" in text) == any(row["status"] == "void" for row in rows)


async def test_nothing_is_due_of_drafts_and_void_invoices(tmp_path: Path) -> None:
    async with books(tmp_path) as app:
        listed = csv.DictReader(io.StringIO((await app.http.get("/invoices.csv")).text))
        due = {row["number"]: row["open"] for row in listed}
        for row in app.rows("SELECT * FROM invoices"):
            expected = 0 if row["status"] in ("draft", "void") else row["total"] - row["paid"]
            assert due[row["number"]] == plain(expected)
        for status in ("draft", "void"):
            one = app.row("SELECT id, currency FROM invoices WHERE status = ?", status)
            page = (await app.http.get(f"/invoices/{one['id']}")).text
            assert f'data-testid="open">{money(0, SIGNS[one["currency"]])}<' in page


async def test_a_status_is_no_command(tmp_path: Path) -> None:
    for language, word in (("de", "Storniert"), ("ar", "ملغاة")):
        async with books(tmp_path, language=language) as app:
            assert f">{word}</span>" in (await app.http.get("/invoices?status=void")).text
