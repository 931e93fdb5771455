"""The pages of expenses."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from ..kit.numbers import number
from ..kit.store import connect, record
from ..kit.uploads import posted
from ..kit.web import Missing, Refused, form, found, redirect
from . import expenses, exports, queries
from .amounts import plain
from .pages import page

Form = dict[str, str]
TYPES = {".pdf": "application/pdf", ".png": "image/png", ".jpg": "image/jpeg", ".txt": "text/plain"}


def add(app: FastAPI) -> None:
    """Add them to the app."""
    _add_reading(app)
    _add_editing(app)
    _add_acts(app)
    _add_receipts(app)


def _add_reading(app: FastAPI) -> None:
    @app.get("/expenses")
    async def listed(request: Request) -> Response:
        with connect(app.state.db) as db:
            chosen = queries.Filter.read("/expenses", request.query_params)
            shown, total = queries.expenses(db, chosen)
            told: dict[str, Any] = {
                "page": shown,
                "total": total,
                "filter": chosen,
                "q": chosen.q,
                "suppliers": queries.names(db, "suppliers"),
            }
            return page(request, db, "expenses.html", "expenses", **told)

    @app.get("/expenses.csv")
    async def export(request: Request) -> Response:
        with connect(app.state.db) as db:
            chosen = queries.Filter.read("/expenses", request.query_params)
            return exports.download("expenses.csv", exports.expenses(db, chosen))

    @app.get("/expenses/{id:int}")
    async def one(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            return _expense(request, db, id)


def _add_editing(app: FastAPI) -> None:
    @app.get("/expenses/new")
    async def new(request: Request) -> Response:
        with connect(app.state.db) as db:
            given = {"supplier": request.query_params.get("supplier", ""), "spent_on": queries.today(db)}
            return _form(request, db, None, given)

    @app.post("/expenses")
    async def create(request: Request) -> Response:
        return await _saved(request, None)

    @app.get("/expenses/{id:int}/edit")
    async def edit(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            expense = found(queries.expense(db, id))
            money = {"amount": plain(expense["amount"]), "tax": plain(expense["tax"])}
            return _form(request, db, id, {**expense, **money, "supplier": expense["supplier_id"]})

    @app.post("/expenses/{id:int}/edit")
    async def save(request: Request, id: int) -> Response:
        return await _saved(request, id)

    async def _saved(request: Request, id: int | None) -> Response:
        fields = dict(await form(request))
        with connect(app.state.db) as db:
            try:
                saved = expenses.save(db, id, fields)
            except Refused as refusal:
                return _form(request, db, id, fields, str(refusal))
        return redirect(f"/expenses/{saved}", "Expense saved")


def _add_acts(app: FastAPI) -> None:
    def act(path: str, change: Callable[[sqlite3.Connection, int, Form], Any], said: str) -> None:
        @app.post(f"/expenses/{{id:int}}/{path}")
        async def post(request: Request, id: int) -> Response:
            fields = dict(await form(request))
            try:
                with connect(app.state.db) as db:
                    change(db, id, fields)
            except Refused as refusal:
                with connect(app.state.db) as db:
                    return _expense(request, db, id, str(refusal))
            return redirect(f"/expenses/{id}", said)

        @app.get(f"/expenses/{{id:int}}/{path}")
        async def refused(id: int) -> Response:
            return RedirectResponse(f"/expenses/{id}", 303)

    act("status", lambda db, id, fields: expenses.decide(db, [id], fields.get("status", "")), "Status saved")
    act("split", expenses.split, "Expense split")
    act("receipts/remove", lambda db, id, fields: expenses.remove_receipt(db, id, fields.get("receipt", "")), "Receipt removed")  # fmt: skip

    @app.post("/expenses/bulk")
    async def bulk(request: Request) -> Response:
        fields = await form(request)
        ids = [number(value) for name, value in fields if name == "id"]
        one = dict(fields)
        with connect(app.state.db) as db:
            try:
                if "category" in one:
                    expenses.recategorise(db, ids, one["category"])
                else:
                    expenses.decide(db, ids, one.get("status", ""))
                said = "Expenses saved"
            except Refused as refusal:
                said = str(refusal)
        back = one.get("back", "")
        return redirect(back if back.startswith("/expenses?") else "/expenses", said)


def _add_receipts(app: FastAPI) -> None:
    @app.post("/expenses/{id:int}/receipts")
    async def upload(request: Request, id: int) -> Response:
        name, content = (await posted(request)).files.get("file", ("", b""))
        try:
            with connect(app.state.db) as db:
                expenses.add_receipt(db, id, name, content)
        except Refused as refusal:
            with connect(app.state.db) as db:
                return _expense(request, db, id, str(refusal))
        return redirect(f"/expenses/{id}", "Receipt added")

    @app.get("/expenses/{id:int}/receipts")
    async def back(id: int) -> Response:
        return RedirectResponse(f"/expenses/{id}", 303)

    @app.get("/receipts/{id:int}")
    async def receipt(id: int) -> Response:
        with connect(app.state.db) as db:
            row = record(db, "SELECT * FROM receipts WHERE id = ?", [id])
        if row is None:
            raise Missing("This record does not exist, or has been deleted.")
        kind = TYPES.get("." + row["name"].rpartition(".")[2].lower(), "application/octet-stream")
        name = row["name"].replace('"', "").encode("ascii", "replace").decode()
        return Response(
            row["content"], media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )


_BLANK = dict.fromkeys(("supplier", "category", "reference", "description", "spent_on", "amount", "tax"), "")


def _form(
    request: Request, db: sqlite3.Connection, id: int | None, values: Mapping[str, Any], error: str = ""
) -> Response:
    told: dict[str, Any] = {
        "suppliers": queries.names(db, "suppliers"),
        "id": id,
        "form": {**_BLANK, **values},
        "error": error,
    }
    return page(request, db, "expense_form.html", "expenses", **told, code=422 if error else 200)


def _expense(request: Request, db: sqlite3.Connection, id: int, error: str = "") -> Response:
    expense = found(queries.expense(db, id))
    return page(request, db, "expense.html", "expenses", expense=expense, error=error, code=422 if error else 200)
