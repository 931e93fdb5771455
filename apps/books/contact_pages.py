"""The pages of customers, suppliers and the price list."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from ..kit.store import Page, connect
from ..kit.web import Refused, form, found, redirect
from . import changes, exports, queries
from .amounts import plain
from .pages import page


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the three lists."""

    place: str
    read: Callable[[sqlite3.Connection, queries.Filter], Page]
    save: Callable[[sqlite3.Connection, int | None, changes.Form], int]
    blank: Mapping[str, Any]
    said: str


KINDS = (
    Kind("customers", queries.customers, changes.save_customer, dict.fromkeys(("name", "company", "email", "phone", "street", "city"), ""), "Customer saved"),
    Kind("suppliers", queries.suppliers, changes.save_supplier, dict.fromkeys(("name", "email", "phone", "city", "category"), ""), "Supplier saved"),
    Kind("products", queries.products, changes.save_product, {"sku": "", "name": "", "unit": "", "price": "", "tax": 20}, "Product saved"),
)  # fmt: skip


def add(app: FastAPI) -> None:
    """Add them to the app."""
    for kind in KINDS:
        _add_list(app, kind)
        _add_form(app, kind)

    @app.get("/customers/{id:int}")
    async def customer(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            chosen = queries.Filter("/invoices", customer=str(id))
            invoices, sums = queries.invoices(db, chosen)
            told: dict[str, Any] = {
                "customer": found(queries.one(db, "customers", id)),
                "page": invoices,
                "sums": sums,
                "filter": chosen,
            }
            return page(request, db, "customer.html", "customers", **told)


def _add_list(app: FastAPI, kind: Kind) -> None:
    @app.get(f"/{kind.place}")
    async def listed(request: Request) -> Response:
        with connect(app.state.db) as db:
            chosen = queries.Filter.read(f"/{kind.place}", request.query_params)
            told: dict[str, Any] = {"page": kind.read(db, chosen), "filter": chosen, "q": chosen.q}
            return page(request, db, f"{kind.place}.html", kind.place, **told)

    @app.get(f"/{kind.place}.csv")
    async def export() -> Response:
        with connect(app.state.db) as db:
            return exports.download(f"{kind.place}.csv", exports.table(db, kind.place))


def _add_form(app: FastAPI, kind: Kind) -> None:
    def shown(request: Request, id: int | None, values: Mapping[str, Any], error: str = "") -> Response:
        with connect(app.state.db) as db:
            told: dict[str, Any] = {"kind": kind.place, "id": id, "form": values, "error": error}
            return page(request, db, "contact_form.html", kind.place, **told, code=422 if error else 200)

    @app.get(f"/{kind.place}/new")
    async def new(request: Request) -> Response:
        return shown(request, None, kind.blank)

    @app.get(f"/{kind.place}/{{id:int}}/edit")
    async def edit(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            row = found(queries.one(db, kind.place, id))
        return shown(request, id, {**row, "price": plain(row["price"])} if "price" in row else row)

    @app.post(f"/{kind.place}")
    async def create(request: Request) -> Response:
        return await saved(request, None)

    @app.post(f"/{kind.place}/{{id:int}}/edit")
    async def save(request: Request, id: int) -> Response:
        return await saved(request, id)

    async def saved(request: Request, id: int | None) -> Response:
        fields = {**kind.blank, **dict(await form(request))}
        try:
            with connect(app.state.db) as db:
                new = kind.save(db, id, fields)
        except Refused as refusal:
            return shown(request, id, fields, str(refusal))
        return redirect(f"/customers/{new}" if kind.place == "customers" else f"/{kind.place}", kind.said)
