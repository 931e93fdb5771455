"""The pages of invoices."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from ..kit.store import connect, records
from ..kit.web import Refused, form, found, redirect
from . import exports, invoices, queries
from .amounts import plain
from .pages import page
from .pdf import invoice_pdf

Form = dict[str, str]
TERMS = timedelta(days=30)


def add(app: FastAPI) -> None:
    """Add them to the app."""
    _add_reading(app)
    _add_editing(app)
    _add_acts(app)


def _add_reading(app: FastAPI) -> None:
    @app.get("/invoices")
    async def listed(request: Request) -> Response:
        with connect(app.state.db) as db:
            chosen = queries.Filter.read("/invoices", request.query_params)
            shown, sums = queries.invoices(db, chosen)
            told: dict[str, Any] = {
                "page": shown,
                "sums": sums,
                "filter": chosen,
                "q": chosen.q,
                "customers": queries.names(db, "customers"),
            }
            return page(request, db, "invoices.html", "invoices", **told)

    @app.get("/invoices.csv")
    async def export(request: Request) -> Response:
        with connect(app.state.db) as db:
            chosen = queries.Filter.read("/invoices", request.query_params)
            return exports.download("invoices.csv", exports.invoices(db, chosen))

    @app.get("/invoices/{id:int}")
    async def one(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            return _invoice(request, db, id)

    @app.get("/invoices/{id:int}/pdf")
    async def pdf(id: int) -> Response:
        with connect(app.state.db) as db:
            invoice = found(queries.invoice(db, id))
            content = invoice_pdf(invoice, queries.settings(db)["company"])
        name = f'attachment; filename="{invoice["number"]}.pdf"'
        return Response(content, media_type="application/pdf", headers={"Content-Disposition": name})


def _add_editing(app: FastAPI) -> None:
    @app.get("/invoices/new")
    async def new(request: Request) -> Response:
        with connect(app.state.db) as db:
            now = date.fromisoformat(queries.today(db))
            given = {"customer": request.query_params.get("customer", ""), "issued_on": now, "due_on": now + TERMS}
            return _form(request, db, None, given, [_NO_LINE])

    @app.post("/invoices")
    async def create(request: Request) -> Response:
        return await _saved(request, None)

    @app.get("/invoices/{id:int}/edit")
    async def edit(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            invoice = found(queries.invoice(db, id))
            lines = [
                {**each, "price": plain(each["price"]), "quantity": f"{each['quantity']:g}"}
                for each in invoice["lines"]
            ]
            return _form(request, db, invoice, {**invoice, "customer": invoice["customer_id"]}, lines)

    @app.post("/invoices/{id:int}/edit")
    async def save(request: Request, id: int) -> Response:
        return await _saved(request, id)

    async def _saved(request: Request, id: int | None) -> Response:
        fields = await form(request)
        typed = invoices.lines_of(fields)
        with connect(app.state.db) as db:
            try:
                saved = invoices.save(db, id, dict(fields), typed)
            except Refused as refusal:
                old = None if id is None else queries.invoice(db, id)
                return _form(request, db, old, dict(fields), typed or [_NO_LINE], str(refusal))
        return redirect(f"/invoices/{saved}", "Invoice saved")


def _add_acts(app: FastAPI) -> None:
    def act(path: str, change: Callable[[sqlite3.Connection, int, Form], int | None], said: str) -> None:
        @app.post(f"/invoices/{{id:int}}/{path}")
        async def post(request: Request, id: int) -> Response:
            fields = dict(await form(request))
            try:
                with connect(app.state.db) as db:
                    other = change(db, id, fields)
            except Refused as refusal:
                with connect(app.state.db) as db:
                    return _invoice(request, db, id, str(refusal))
            return redirect(f"/invoices/{other or id}", said)

        @app.get(f"/invoices/{{id:int}}/{path}")
        async def refused(id: int) -> Response:
            """Where a form that was refused stands in the address bar, and the page is asked for again."""
            return RedirectResponse(f"/invoices/{id}", 303)

    def pay(db: sqlite3.Connection, id: int, fields: Form) -> None:
        invoices.pay(db, id, fields)

    act("send", lambda db, id, fields: invoices.send(db, id), "Invoice sent")
    act("payments", pay, "Payment recorded")
    act("void", lambda db, id, fields: invoices.void(db, id), "Invoice voided")
    act("duplicate", invoices.duplicate, "Invoice duplicated")
    act("credit", lambda db, id, fields: invoices.credit(db, id), "Credit note created")


_BLANK = dict.fromkeys(("customer", "reference", "issued_on", "due_on", "notes"), "") | {
    "currency": "USD",
    "recurring": "never",
}
_NO_LINE = {"description": "", "quantity": "1", "price": "", "tax": 20}


def _form(
    request: Request, db: sqlite3.Connection, invoice: Mapping[str, Any] | None, values: Mapping[str, Any],
    lines: Sequence[Mapping[str, Any]], error: str = "",
) -> Response:  # fmt: skip
    told: dict[str, Any] = {
        "customers": queries.names(db, "customers"),
        "products": records(db, "SELECT * FROM products ORDER BY sku"),
    }
    shown = {"invoice": invoice, "form": {**_BLANK, **values}, "lines": lines, "error": error, "blank": _NO_LINE}
    return page(request, db, "invoice_form.html", "invoices", **told, **shown, code=422 if error else 200)


def _invoice(request: Request, db: sqlite3.Connection, id: int, error: str = "") -> Response:
    invoice = found(queries.invoice(db, id))
    now = date.fromisoformat(queries.today(db))
    told: dict[str, Any] = {"invoice": invoice, "error": error, "later": (now + TERMS).isoformat()}
    return page(request, db, "invoice.html", "invoices", **told, code=422 if error else 200)
