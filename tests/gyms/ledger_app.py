"""A bank's ledger on PostgreSQL: 20 accounts, 120,000 entries, 50 MB; pages drawn on the server, forms that post."""

from __future__ import annotations

import html
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl

import psycopg
from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from psycopg.rows import dict_row

ENTRIES = 120_000
CATEGORIES = ("Office", "Payroll", "Rent", "Sales", "Tax", "Travel")
MONTHS = ("January", "February", "March", "April", "May", "June")
OWNERS = (
    "Alder & Sons", "Birch Bakery", "Cedar Clinic", "Dogwood Design", "Elm Energy", "Fir Foods", "Gorse Garden",
    "Hazel Homes", "Ivy Insurance", "Juniper Joinery", "Larch Law", "Maple Media", "Nettle News", "Oak Optics",
    "Pine Printing", "Rowan Rail", "Spruce Sports", "Teasel Tea", "Willow Wool", "Yew Yachts",
)  # fmt: skip
TODAY = date(2026, 6, 30)
"""The bank's day: it has no clock."""
SCHEMA = """
CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE accounts (id int PRIMARY KEY, code text UNIQUE NOT NULL, owner text NOT NULL, balance numeric(12, 2) NOT NULL,
  credit numeric(12, 2) NOT NULL, status text NOT NULL);
CREATE TABLE entries (id serial PRIMARY KEY, account int NOT NULL REFERENCES accounts, day date NOT NULL,
  amount numeric(12, 2) NOT NULL, category text NOT NULL, memo text NOT NULL);
CREATE TABLE transfers (id serial PRIMARY KEY, source int NOT NULL REFERENCES accounts, target int NOT NULL REFERENCES accounts,
  amount numeric(12, 2) NOT NULL, reference text NOT NULL, day date NOT NULL);
"""
STYLE = """body { font: 15px 'DejaVu Sans', sans-serif; margin: 0; background: #f4f5f7; color: #1d2733 }
body.dark { background: #1d2430; color: #e8edf4 } nav { background: #24405f; padding: 12px 24px } nav a { color: #fff; margin-right: 24px }
main { padding: 12px 24px; max-width: 860px } td, th { text-align: left; padding: 3px 18px 3px 0 } td.n { text-align: right }
label { display: block; margin: 10px 0 2px } input, select, button { font: inherit; padding: 5px 8px } a { color: #1c5fa8 } .dark a { color: #8fc1ff }
p.note { background: #d9efdc; color: #164d22; padding: 8px 12px } p.problem { background: #f7dcd9; color: #7c1d13; padding: 8px 12px }"""


def entry(number: int) -> tuple[int, int, date, Decimal, str, str]:
    """One of the entries that the bank begins with: all is in its number."""
    account, category = 1 + number * 7 % len(OWNERS), CATEGORIES[number * 13 // 8 % len(CATEGORIES)]
    day = date(2026, 1, 1) + timedelta(days=number * 31 % 181)
    amount = Decimal(number * 7907 % 50_000 - 20_000 or 5) / 100
    return number, account, day, amount, category, f"{category} paper {number:06}; " + "carried over as agreed. " * 11


def counted(account: int, category: str, month: str) -> int:
    """How many of these entries an account has in a category and a month of 2026."""
    number = 1 + MONTHS.index(month)
    return sum(
        1 for i in range(1, ENTRIES + 1)
        if 1 + i * 7 % len(OWNERS) == account and (told := entry(i))[4] == category and told[2].month == number
    )  # fmt: skip


def fill(dsn: str) -> None:
    """Make the bank in an empty database."""
    with psycopg.connect(dsn) as db:
        db.execute(SCHEMA)
        for i, owner in enumerate(OWNERS, 1):
            db.execute("INSERT INTO accounts VALUES (%s, %s, %s, 0, 500, 'open')", (i, f"{owner[0]}{i:02}", owner))
        with db.cursor().copy("COPY entries FROM STDIN") as copy:
            for number in range(1, ENTRIES + 1):
                copy.write_row(entry(number))
        db.execute("SELECT setval('entries_id_seq', %s)", (ENTRIES,))
        db.execute("CREATE INDEX ON entries (account, category, day)")
        db.execute("INSERT INTO settings VALUES ('theme', 'light')")


async def posted(request: Request) -> dict[str, str]:
    """The fields of a form."""
    return dict(parse_qsl((await request.body()).decode(), keep_blank_values=True))


Posted = Annotated[dict[str, str], Depends(posted)]


def create_app(workdir: Path, dsn: str) -> FastAPI:
    """The bank on a database."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.dsn = dsn
    _add_accounts(app, dsn)
    _add_entries(app, dsn)
    _add_transfers(app, dsn)

    @app.get("/healthz")
    def healthz() -> PlainTextResponse:
        return PlainTextResponse("ok")

    @app.get("/favicon.ico")
    def favicon() -> Response:
        return Response(status_code=204)

    return app


def _add_accounts(app: FastAPI, dsn: str) -> None:
    @app.get("/")
    def accounts(note: str = "") -> HTMLResponse:
        found = _rows(dsn, "SELECT * FROM accounts ORDER BY id")
        return _page(dsn, "Accounts", note, _table(("Code", "Owner", "Balance", "Credit limit", "Status"), (
            (_link(f"/accounts/{row['code']}", row["code"]), row["owner"], row["balance"], row["credit"], row["status"])
            for row in found)))  # fmt: skip

    @app.get("/accounts/{code}")
    def account(code: str, note: str = "") -> Response:
        row = _one(dsn, "SELECT * FROM accounts WHERE code = %s", code)
        if row is None:
            return _missing(dsn, f"account {code}")
        close = f"<a href='/accounts/{code}/close'>Close this account</a>" if row["status"] == "open" else ""
        return _page(
            dsn,
            f"{row['owner']} ({code})",
            note,
            f"""<p>Balance {row["balance"]}, {row["status"]}</p>
          <form method=post action=/accounts/{code}/credit><label for=credit>Credit limit</label>
          <input id=credit name=credit value="{row["credit"]}"> <button>Save limit</button></form><p>{close}</p>""",
        )

    @app.post("/accounts/{code}/credit")
    def credit(code: str, form: Posted) -> Response:
        amount = _amount(form.get("credit", ""))
        if amount is None or amount < 0:
            return _page(dsn, "Not saved", "", "<p class=problem>That is no amount of money</p>")
        _do(dsn, "UPDATE accounts SET credit = %s WHERE code = %s", amount, code)
        return _see(f"/accounts/{code}?note=Limit+saved")

    @app.get("/accounts/{code}/close")
    def ask(code: str) -> Response:
        row = _one(dsn, "SELECT * FROM accounts WHERE code = %s AND status = 'open'", code)
        if row is None:
            return _missing(dsn, f"open account {code}")
        return _page(
            dsn,
            f"Close {row['owner']}?",
            "",
            f"""<p>This account, {code}, will take no transfers any more.</p>
          <form method=post><button>Close account</button> <a href=/accounts/{code}>Keep it</a></form>""",
        )

    @app.post("/accounts/{code}/close")
    def close(code: str) -> Response:
        _do(dsn, "UPDATE accounts SET status = 'closed' WHERE code = %s", code)
        return _see(f"/accounts/{code}?note=Account+closed")


def _add_entries(app: FastAPI, dsn: str) -> None:
    @app.get("/entries")
    def entries(account: str = "", category: str = "", month: str = "", number: str = "") -> Response:
        if number:
            return _see(f"/entries/{int(number) if number.isascii() and number.isdigit() else 0}")
        where = "a.code = %s AND e.category = %s AND e.day >= make_date(2026, %s, 1) AND e.day < make_date(2026, %s, 1) + interval '1 month'"
        picked = month in MONTHS and MONTHS.index(month) + 1
        body = _search(dsn, account, category, month)
        if picked:
            found = _rows(dsn, f"SELECT e.* FROM entries e JOIN accounts a ON a.id = e.account WHERE {where} ORDER BY e.day DESC, e.id DESC",
                          account, category, picked, picked)  # fmt: skip
            head = ("Number", "Day", "Amount", "Memo")
            rows = (
                (_link(f"/entries/{row['id']}", row["id"]), row["day"], row["amount"], row["memo"][:30])
                for row in found[:12]
            )
            body += f"<h2>{len(found)} entries</h2>" + _table(head, rows)
        return _page(dsn, "Entries", "", body)

    @app.get("/entries/{number:int}")
    def one(number: int, note: str = "") -> Response:
        row = _one(
            dsn,
            "SELECT e.*, a.owner FROM entries e JOIN accounts a ON a.id = e.account WHERE e.id = %s",
            min(number, 2**31 - 1),
        )
        if row is None:
            return _missing(dsn, f"entry {number}")
        return _page(
            dsn,
            f"Entry {number}",
            note,
            f"""<p>{row["owner"]}, {row["day"]}, {row["amount"]}</p><p>{row["memo"]}</p>
          <form method=post><label for=category>Category</label>{_select("category", CATEGORIES, row["category"])}
          <button>Save category</button></form>""",
        )

    @app.post("/entries/{number:int}")
    def file(number: int, form: Posted) -> Response:
        if (category := form.get("category")) in CATEGORIES:
            _do(dsn, "UPDATE entries SET category = %s WHERE id = %s", category, number)
        return _see(f"/entries/{number}?note=Category+saved")


def _add_transfers(app: FastAPI, dsn: str) -> None:
    @app.get("/transfers")
    def transfers(note: str = "") -> Response:
        found = _rows(dsn, "SELECT t.*, s.owner AS giver, r.owner AS taker FROM transfers t JOIN accounts s ON s.id = source "
                           "JOIN accounts r ON r.id = target ORDER BY t.id DESC LIMIT 5")  # fmt: skip
        owners = [row["owner"] for row in _rows(dsn, "SELECT owner FROM accounts WHERE status = 'open' ORDER BY id")]
        rows = ((row["giver"], row["taker"], row["amount"], row["reference"]) for row in found)
        return _page(
            dsn,
            "Transfers",
            note,
            f"""<form method=post>
          <label for=source>From</label>{_select("source", owners)}<label for=target>To</label>{_select("target", owners)}
          <label for=amount>Amount</label><input id=amount name=amount autocomplete=off>
          <label for=reference>Reference</label><input id=reference name=reference autocomplete=off>
          <p><button>Transfer</button></p></form>{_table(("From", "To", "Amount", "Reference"), rows)}""",
        )

    @app.post("/transfers")
    def transfer(form: Posted) -> Response:
        moved, problem = _amount(form.get("amount", "")), ""
        with psycopg.connect(dsn, row_factory=dict_row) as db:
            taken = "SELECT * FROM accounts WHERE owner = %s AND status = 'open' FOR UPDATE"
            giver, taker = (db.execute(taken, (form.get(side),)).fetchone() for side in ("source", "target"))
            if giver is None or taker is None or giver == taker:
                problem = "Choose two open accounts"
            elif moved is None or moved <= 0:
                problem = "The amount is no amount of money"
            elif giver["balance"] + giver["credit"] < moved:
                problem = "The credit limit does not allow that"
            else:
                _book(db, giver["id"], taker["id"], moved, form.get("reference", "").strip())
        if problem:
            return _page(
                dsn, "Not transferred", "", f"<p class=problem>{problem}</p><p><a href=/transfers>Back</a></p>"
            )
        return _see("/transfers?note=Transferred")


def _book(db: Any, source: int, target: int, amount: Decimal, reference: str) -> None:
    db.execute("INSERT INTO transfers (source, target, amount, reference, day) VALUES (%s, %s, %s, %s, %s)",
               (source, target, amount, reference, TODAY))  # fmt: skip
    for account, sum_ in ((source, -amount), (target, amount)):
        db.execute("UPDATE accounts SET balance = balance + %s WHERE id = %s", (sum_, account))
        db.execute("INSERT INTO entries (account, day, amount, category, memo) VALUES (%s, %s, %s, 'Office', %s)",
                   (account, TODAY, sum_, reference))  # fmt: skip


# --- pages ----------------------------------------------------------------------------------------------------


def _page(dsn: str, title: str, note: str, body: str) -> HTMLResponse:
    theme = (_one(dsn, "SELECT value FROM settings WHERE name = 'theme'") or {"value": ""})["value"]
    told = f"<p class=note>{html.escape(note)}</p>" if note else ""
    return HTMLResponse(f"""<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>
      <body class={theme}><nav><a href=/>Accounts</a><a href=/entries>Entries</a><a href=/transfers>Transfers</a></nav>
      <main><h1>{title}</h1>{told}{body}</main>""")


def _search(dsn: str, account: str, category: str, month: str) -> str:
    codes = [row["code"] for row in _rows(dsn, "SELECT code FROM accounts ORDER BY id")]
    return f"""<form><label for=account>Account</label>{_select("account", codes, account)}
      <label for=category>Category</label>{_select("category", CATEGORIES, category)}
      <label for=month>Month</label>{_select("month", MONTHS, month)} <button>Search</button></form>
      <form><label for=number>Entry number</label><input id=number name=number autocomplete=off> <button>Open</button></form>"""


def _select(name: str, values: Any, chosen: str = "") -> str:
    options = "".join(f"<option{' selected' * (value == chosen)}>{html.escape(value)}</option>" for value in values)
    return f"<select id={name} name={name}>{options}</select>"


def _table(head: tuple[str, ...], rows: Iterator[tuple[Any, ...]] | Any) -> str:
    lines = "".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in rows)
    return "<table><tr>" + "".join(f"<th>{name}</th>" for name in head) + f"</tr>{lines}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"<td class=n>{value:,.2f}</td>"
    return f"<td>{value if str(value).startswith('<a ') else html.escape(str(value))}</td>"


def _link(to: str, text: Any) -> str:
    return f"<a href='{to}'>{text}</a>"


def _missing(dsn: str, what: str) -> Response:
    page = _page(dsn, "Not found", "", f"<p>There is no {html.escape(what)}.</p>")
    page.status_code = 404
    return page


def _see(url: str) -> RedirectResponse:
    return RedirectResponse(url, 303)


def _amount(text: str) -> Decimal | None:
    try:
        found = Decimal(text.strip().replace(",", ""))
    except InvalidOperation:
        return None
    return round(found, 2) if found.is_finite() and abs(found) < 10**9 else None


def _rows(dsn: str, query: str, *values: Any) -> list[dict[str, Any]]:
    with psycopg.connect(dsn, row_factory=dict_row) as db:
        return db.execute(query.encode(), values).fetchall()


def _one(dsn: str, query: str, *values: Any) -> dict[str, Any] | None:
    return next(iter(_rows(dsn, query, *values)), None)


def _do(dsn: str, query: str, *values: Any) -> None:
    with psycopg.connect(dsn) as db:
        db.execute(query.encode(), values)
