"""The pages of bank lines: the list, matching, and importing a CSV file in three steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from ..kit.numbers import number
from ..kit.store import connect, paged
from ..kit.uploads import posted
from ..kit.web import Refused, form, found, redirect
from . import bank, exports, queries
from .pages import page


def add(app: FastAPI) -> None:
    """Add them to the app."""
    _add_list(app)
    _add_matching(app)
    _add_import(app)


def _add_list(app: FastAPI) -> None:
    @app.get("/bank")
    async def listed(request: Request) -> Response:
        with connect(app.state.db) as db:
            chosen = queries.Filter.read("/bank", request.query_params)
            where, values = chosen.where({}, ("b.text",), "b.booked_on")
            where += {"matched": " AND b.matched <> ''", "unmatched": " AND b.matched = ''"}.get(chosen.status, "")
            sql = f"""SELECT b.*, i.number, e.description FROM bank_lines b
                      LEFT JOIN invoices i ON b.matched = 'invoice' AND i.id = b.matched_id
                      LEFT JOIN expenses e ON b.matched = 'expense' AND e.id = b.matched_id
                      WHERE {where} ORDER BY b.booked_on DESC, b.id DESC"""
            shown = paged(db, sql, values, chosen.page, queries.size(db))
            return page(request, db, "bank.html", "bank", page=shown, filter=chosen, q=chosen.q)

    @app.get("/bank.csv")
    async def export() -> Response:
        with connect(app.state.db) as db:
            return exports.download("bank.csv", exports.table(db, "bank_lines"))


def _add_matching(app: FastAPI) -> None:
    @app.get("/bank/{id:int}")
    async def line(request: Request, id: int) -> Response:
        return _line(request, app, id)

    @app.post("/bank/{id:int}/match")
    async def match(request: Request, id: int) -> Response:
        kind, _, other = dict(await form(request)).get("to", "").partition("-")
        try:
            with connect(app.state.db) as db:
                bank.match(db, id, kind, number(other))
        except Refused as refusal:
            return _line(request, app, id, str(refusal))
        return redirect("/bank", "Line matched")

    @app.post("/bank/{id:int}/undo")
    async def undo(request: Request, id: int) -> Response:
        try:
            with connect(app.state.db) as db:
                bank.undo(db, id)
        except Refused as refusal:
            return _line(request, app, id, str(refusal))
        return redirect(f"/bank/{id}", "Match undone")

    @app.get("/bank/{id:int}/{rest:path}")
    async def refused(id: int, rest: str) -> Response:
        return RedirectResponse(f"/bank/{id}", 303)


def _line(request: Request, app: FastAPI, id: int, error: str = "") -> Response:
    with connect(app.state.db) as db:
        line = found(queries.one(db, "bank_lines", id))
        q = request.query_params.get("q", "").strip()
        told: dict[str, Any] = {"line": line, "q": q, "error": error, "events": queries.events(db, "bank", id)}
        if line["matched"]:
            told["other"] = queries.one(db, f"{line['matched']}s", line["matched_id"])
        else:
            told["candidates"] = bank.candidates(db, line, q)
        return page(request, db, "bank_line.html", "bank", **told, code=422 if error else 200)


def _add_import(app: FastAPI) -> None:
    @app.get("/bank/import")
    async def choose(request: Request) -> Response:
        with connect(app.state.db) as db:
            return page(request, db, "bank_import.html", "bank", step="file")

    @app.post("/bank/import")
    async def step(request: Request) -> Response:
        """A file leads to the mapping, a mapping to the preview, a confirmed preview to the list."""
        sent = await posted(request)
        fields = dict(sent.fields)
        content = sent.files["file"][1].decode(errors="replace") if "file" in sent.files else fields.get("content", "")
        with connect(app.state.db) as db:
            try:
                rows = bank.table(content)
            except Refused as refusal:
                return page(request, db, "bank_import.html", "bank", step="file", error=str(refusal), code=422)
            return _mapped(request, db, rows, {**fields, "content": content})


def _mapped(request: Request, db: sqlite3.Connection, rows: list[list[str]], fields: Mapping[str, Any]) -> Response:
    told: dict[str, Any] = {"head": {str(i): name for i, name in enumerate(rows[0])}, "sample": rows[1:4], "form": {**_UNMAPPED, **fields},
            "dates": {each: each for each in bank.DATES}, "marks": bank.MARKS}  # fmt: skip
    step = fields.get("step", "")
    if step not in ("preview", "import"):
        return page(request, db, "bank_import.html", "bank", step="mapping", **told)
    try:
        lines = bank.read(rows, fields)
    except Refused as refusal:
        return page(request, db, "bank_import.html", "bank", step="mapping", **told, error=str(refusal), code=422)
    if step == "import" and any(not each.error for each in lines):
        bank.add(db, lines)
        return redirect("/bank", "Lines imported")
    good = sum(not each.error for each in lines)
    return page(request, db, "bank_import.html", "bank", step="preview", **told, lines=lines, good=good)


_UNMAPPED = {"date": "", "text": "", "amount": "", "dates": "", "mark": ""}
