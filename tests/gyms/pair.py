"""Two products in one gym: a shop's counter, and the depot that sends its parcels."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from uigym.harness import Harness, Looks, Running
from uigym.params import computed, rows
from uigym.product.state import Sqlite
from uigym.types import Row
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of

TOWNS = ("Bath", "Derby", "Leeds", "York", "Ripon", "Truro", "Wells", "Ely")


def opened(workdir: Path) -> sqlite3.Connection:
    db = sqlite3.connect(workdir / "data.db", isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, town TEXT)")
    db.execute("CREATE TABLE IF NOT EXISTS parcels (id INTEGER PRIMARY KEY, number TEXT, town TEXT)")
    db.execute("CREATE TABLE IF NOT EXISTS look (colour TEXT)")
    return db


def page(db: sqlite3.Connection, body: str) -> HTMLResponse:
    colour = (db.execute("SELECT colour FROM look").fetchone() or ["white"])[0]
    return HTMLResponse(f"<body style='font:16px sans-serif;background:{colour}'>{body}")


def counter_app(workdir: Path) -> FastAPI:
    app, db = FastAPI(), opened(workdir)

    @app.get("/")
    async def home() -> HTMLResponse:
        listed = "".join(f"<li>No. {row['id']} for {row['town']}" for row in db.execute("SELECT * FROM orders"))
        others = workdir / "others.json"
        depot = json.loads(others.read_text())["depot"] if others.exists() else "/"
        return page(db, f"<h1>Orders</h1><ul>{listed}</ul><a href='{depot}'>To the depot</a>")

    return app


def depot_app(workdir: Path) -> FastAPI:
    app, db = FastAPI(), opened(workdir)

    @app.get("/")
    async def home() -> HTMLResponse:
        return page(
            db, "<h1>Depot</h1><form><input name=number><input name=town><button formaction=/book>Book</button>"
        )

    @app.get("/book")
    async def book(request: Request) -> RedirectResponse:
        asked = request.query_params
        db.execute("INSERT INTO parcels (number, town) VALUES (?, ?)", [asked["number"], asked["town"]])
        return RedirectResponse("/", 303)

    return app


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    with opened(product.workdir) as db:
        for table in ("orders", "parcels", "look"):
            db.execute(f"DELETE FROM {table}")
        db.execute("INSERT INTO look VALUES (?)", [appearance["colour"]])
        if product.workdir.joinpath("others.json").exists():
            towns = [TOWNS[(seed + i * (1 + seed % 3)) % len(TOWNS)] for i in range(3)]
            db.executemany(
                "INSERT INTO orders VALUES (?, ?)", [(100 + 7 * seed % 90 + i, t) for i, t in enumerate(towns)]
            )
    db.close()


async def meet(products: Mapping[str, Running]) -> None:
    addresses = {name: product.base_url for name, product in products.items()}
    products["counter"].workdir.joinpath("others.json").write_text(json.dumps(addresses))


def harness(name: str, app: Any, **more: Any) -> Harness:
    state = Sqlite("{workdir}/data.db")
    looks = {"colour": Looks(("white", "lightyellow", "lightblue"))}
    return Harness(name=name, asgi=app, state=state, reset=reset, looks=looks, viewport=(480, 320), **more)


depot = harness("depot", depot_app)
counter = harness("counter", counter_app, beside={"depot": depot}, meet=meet)


@counter.task("Book a parcel for order {order[id]} at the depot, to the town that the order is for.", max_steps=12)
def book_parcel(
    order: Row = rows("orders"), number: str = computed(lambda state, p: str(p["order"]["id"]))
) -> Verifier:
    parcel = added("depot.parcels", number=number, town=order["town"])
    return all_of(parcel, unchanged(except_=[parcel]))


@book_parcel.oracle
async def _(page: Any, order: Row, number: str) -> None:
    await page.get_by_role("link", name="To the depot").click()
    await page.locator("[name=number]").fill(number)
    await page.locator("[name=town]").fill(order["town"])
    await page.get_by_role("button", name="Book").click()
