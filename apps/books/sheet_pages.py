"""The pages of sheets. Cells and widths are saved as they change, by requests of the page's script."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from ..kit.store import connect, records
from ..kit.web import MAX_BODY_BYTES, Missing, Refused, form, found, redirect
from . import exports, queries, sheets
from .formula import LETTERS
from .pages import page, words


def add(app: FastAPI) -> None:
    """Add them to the app."""
    _add_pages(app)
    _add_changes(app)


def _add_pages(app: FastAPI) -> None:
    @app.get("/sheets")
    async def first() -> Response:
        with connect(app.state.db) as db:
            return RedirectResponse(f"/sheets/{records(db, 'SELECT min(id) AS id FROM sheets')[0]['id']}", 303)

    @app.get("/sheets/{id:int}")
    async def one(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            sheet = found(queries.one(db, "sheets", id))
            told: dict[str, Any] = {
                "sheet": sheet,
                "sheets": records(db, "SELECT * FROM sheets ORDER BY id"),
                "letters": LETTERS,
            }
            return page(request, db, "sheet.html", "sheets", **told, **sheets.grid(db, id))

    @app.get("/sheets/{id:int}.csv")
    async def export(id: int) -> Response:
        with connect(app.state.db) as db:
            sheet = found(queries.one(db, "sheets", id))
            lines = [[cell["shown"] for cell in line] for line in sheets.grid(db, id)["lines"]]
        while lines and not any(lines[-1]):
            lines.pop()
        rows = [dict(zip(LETTERS, line, strict=True)) for line in lines]
        text = exports.written(rows, [(letter, letter) for letter in LETTERS])
        name = "".join(c if c.isascii() and c.isalnum() else "-" for c in sheet["name"].lower())
        return exports.download(f"{name}.csv", text.partition("\r\n")[2])


def _add_changes(app: FastAPI) -> None:
    @app.post("/sheets")
    async def create(request: Request) -> Response:
        fields = dict(await form(request))
        try:
            with connect(app.state.db) as db:
                return redirect(f"/sheets/{sheets.add(db, fields)}", "Sheet created")
        except Refused as refusal:
            return redirect("/sheets", str(refusal))

    @app.post("/sheets/{id:int}/name")
    async def rename(request: Request, id: int) -> Response:
        fields = dict(await form(request))
        try:
            with connect(app.state.db) as db:
                sheets.rename(db, id, fields)
        except Refused as refusal:
            return redirect(f"/sheets/{id}", str(refusal))
        return redirect(f"/sheets/{id}", "Sheet saved")

    @app.post("/sheets/{id:int}/cells")
    async def cells(request: Request, id: int) -> Response:
        sent = await _json(request)
        try:
            with connect(app.state.db) as db:
                sheets.change(db, id, sent.get("cells", {}))
                for letter, width in sheets.mapping(sent.get("widths", {})).items():
                    sheets.resize(db, id, letter, width)
                return JSONResponse({"shown": sheets.values(sheets.cells(db, id))})
        except Missing as missing:
            return JSONResponse({"error": str(missing)}, 404)
        except Refused as refusal:
            with connect(app.state.db) as db:
                return JSONResponse({"error": refusal.said(words(db))}, 422)


async def _json(request: Request) -> dict[str, Any]:
    body = await request.body()
    try:
        sent = json.loads(body) if len(body) <= MAX_BODY_BYTES else None
    except (ValueError, RecursionError):
        sent = None
    return sent if isinstance(sent, dict) else {"cells": None}
