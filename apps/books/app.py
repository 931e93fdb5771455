"""The books: pages drawn on the server, changes by POST and redirect."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response

from ..kit.store import connect
from ..kit.web import new_app
from . import bank_pages, contact_pages, expense_pages, invoice_pages, pages, report_pages, reports, seed, sheet_pages
from .queries import Filter, invoices

HERE = Path(__file__).parent


def create_app(workdir: Path) -> FastAPI:
    """The app on the database `books.db` in a folder; a new database is filled with the data of seed 0."""
    path = Path(workdir) / "books.db"
    if not path.exists():
        seed.write(path, 0, {})
    app = new_app("Books", HERE, path, pages.missing)
    for each in (invoice_pages, expense_pages, contact_pages, bank_pages, sheet_pages, report_pages):
        each.add(app)

    @app.get("/")
    async def home(request: Request) -> Response:
        with connect(path) as db:
            rows = reports.profit(db, reports.recent(db, 6))
            chart = report_pages.profit_chart(db, rows)
            late, _ = invoices(db, Filter("/invoices", status="overdue", sort="due", dir="asc"))
            told = {**reports.overview(db), "chart": chart, "late": late.rows[:6]}
            return pages.page(request, db, "home.html", "home", **told)

    return app
