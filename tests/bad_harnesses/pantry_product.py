"""A pantry on FastAPI and SQLite: shelves of food, and a shopping list. The product of all harnesses in this folder."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse

NAMES = ("Rice", "Flour", "Beans")
BRANDS = ("Hill", "Lake")
SHELVES = ("cellar", "kitchen", "freezer")
SCHEMA = """
CREATE TABLE items (id INTEGER PRIMARY KEY, brand, name, shelf, quantity, price);
CREATE TABLE wanted (id INTEGER PRIMARY KEY, item, quantity, noted);
CREATE TABLE log (id INTEGER PRIMARY KEY, what);
"""
Rows = list[dict[str, Any]]


def write(path: Path, seed: int, schema: str = SCHEMA) -> None:
    """Replace all data by that of the seed."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("BEGIN IMMEDIATE")
        for table in ("items", "wanted", "log"):
            database.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in filter(str.strip, schema.split(";")):
            database.execute(statement)
        database.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)", items(seed))
        database.execute("INSERT INTO wanted VALUES (1, 'Salt', 1, '')")


def items(seed: int) -> list[tuple[int, str, str, str, int, str]]:
    """What the shelves hold."""
    rng = random.Random(seed)
    goods = [(brand, name) for name in NAMES for brand in BRANDS]
    return [
        (number, *each, rng.choice(SHELVES), rng.randint(1, 9), f"{rng.randint(100, 999) / 100:.2f}")
        for number, each in enumerate(goods, 1)
    ]


def nothing(items: Rows) -> str:
    """No more on the first page."""
    return ""


def create_app(
    workdir: Path,
    *,
    foot: Callable[[Rows], str] = nothing,
    new_id: Callable[[], int | None] = lambda: None,
    noted: Callable[[], str] = lambda: "",
    add: str = "Add",
) -> FastAPI:
    """The product over workdir/pantry.db.

    Args:
        workdir: Where its data are.
        foot: HTML at the end of the first page, from the items.
        new_id: The id of a new line of the shopping list; None is the next.
        noted: What the list says about when a line was written.
        add: What the button says.
    """
    path = workdir / "pantry.db"
    write(path, 0)
    app = FastAPI()
    app.state.last = ""

    def query(sql: str, *values: Any) -> Rows:
        with closing(sqlite3.connect(path)) as database, database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(sql, values)]

    def happened(what: str) -> RedirectResponse:
        app.state.last = what
        query("INSERT INTO log (what) VALUES (?)", what)
        return RedirectResponse("/", 303)

    @app.get("/")
    def home() -> HTMLResponse:
        goods = query("SELECT * FROM items ORDER BY id")
        return HTMLResponse(HEAD + first_page(goods, query("SELECT * FROM wanted ORDER BY id"), add) + foot(goods))

    @app.get("/items/{number}")
    def item(number: int) -> HTMLResponse:
        return HTMLResponse(HEAD + "".join(map(item_page, query("SELECT * FROM items WHERE id = ?", number))))

    @app.post("/wanted")
    async def want(request: Request) -> RedirectResponse:
        form = await posted(request)
        line = (new_id(), form["item"], int(form["count"]), noted())
        query("INSERT INTO wanted VALUES (?, ?, ?, ?)", *line)
        return happened(f"added {form['item']}: success")

    @app.post("/items/{number}/shelf")
    async def move(number: int, request: Request) -> RedirectResponse:
        shelf = (await posted(request))["shelf"]
        query("UPDATE items SET shelf = ? WHERE id = ?", shelf, number)
        return happened(f"moved {number} to {shelf}: success")

    @app.post("/items/{number}/gone")
    def throw_out(number: int) -> RedirectResponse:
        query("DELETE FROM items WHERE id = ?", number)
        return happened(f"threw out {number}: success")

    return app


async def posted(request: Request) -> dict[str, str]:
    """The fields of a form."""
    return dict(parse_qsl((await request.body()).decode()))


HEAD = """<!doctype html><meta charset=utf-8><title>Pantry</title><link rel=icon href=data:,><style>
body { font: 14px "Liberation Sans", sans-serif; margin: 8px } input, select, button { font: inherit }
a { display: block; padding: 3px 0 } input { width: 110px } input[type=number] { width: 50px } ul { margin: 4px 0 }
</style>"""


def first_page(goods: Rows, wanted: Rows, add: str) -> str:
    """Everything in the pantry, and what is wanted."""
    links = "".join(f"<a href=/items/{one['id']}>{escape(one['brand'])} {escape(one['name'])}</a>" for one in goods)
    lines = "".join(f"<li>{one['quantity']} {escape(one['item'])}</li>" for one in wanted)
    return f"""<form method=post action=/wanted><input name=item aria-label=Item required>
<input type=number name=count aria-label=Count min=1 required> <button>{add}</button></form>
<ul>{lines}</ul>{links}"""


def item_page(one: dict[str, Any]) -> str:
    """One item, where it is and what it costs."""
    shelves = "".join(f"<option{' selected' if one['shelf'] == shelf else ''}>{shelf}" for shelf in SHELVES)
    return f"""<a href=/>Pantry</a><h3>{escape(one["brand"])} {escape(one["name"])}</h3>
<p>{one["quantity"]} here, ${one["price"]} each</p>
<form method=post action=/items/{one["id"]}/shelf><select name=shelf aria-label=Shelf>{shelves}</select>
<button>Move</button></form><form method=post action=/items/{one["id"]}/gone><button>Throw out</button></form>"""
