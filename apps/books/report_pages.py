"""The pages of reports, with their charts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from markupsafe import Markup

from ..kit.store import Record, connect
from ..kit.web import Missing
from . import exports, reports
from .charts import bars
from .pages import page, words

TABS = {"profit": "Profit and loss", "aged": "Aged receivables", "tax": "Tax summary"}


def add(app: FastAPI) -> None:
    """Add them to the app."""

    @app.get("/reports/{name}.csv")
    async def export(request: Request, name: str) -> Response:
        with connect(app.state.db) as db:
            told = _report(db, name, request.query_params)
        return exports.download(f"{name}.csv", exports.report(told["rows"]))

    @app.get("/reports/{name}")
    async def report(request: Request, name: str) -> Response:
        with connect(app.state.db) as db:
            told = _report(db, name, request.query_params)
            return page(request, db, "reports.html", "reports", report=name, tabs=TABS, **told)


def profit_chart(db: sqlite3.Connection, rows: list[Record]) -> Markup:
    """Income and expenses as bars, profit as a line."""
    t = words(db)
    labels = [row["month"] for row in rows]
    series = {t(name.capitalize()): [row[name] for row in rows] for name in ("income", "expenses", "profit")}
    return bars(labels, series, line=t("Profit"))


def _report(db: sqlite3.Connection, name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """What a report shows: the months that it is about, its rows and its chart."""
    choice = reports.recent(db, 12)
    start, end = query.get("from", ""), query.get("to", "")
    start, end = (start if start in choice else choice[-6]), (end if end in choice else choice[-1])
    wanted = reports.months(min(start, end), max(start, end))
    told: dict[str, Any] = {
        "span": choice,
        "start": wanted[0],
        "end": wanted[-1],
        "chart": "",
        "costs": [],
    }
    if name == "profit":
        rows = reports.profit(db, wanted)
        return {**told, "rows": rows, "chart": profit_chart(db, rows), "costs": reports.categories(db, wanted)}
    if name == "tax":
        return {**told, "rows": reports.tax(db, wanted)}
    if name == "aged":
        rows = reports.aged(db)
        t = words(db)
        chart = bars(
            [t(each) for each in reports.AGES],
            {t("Amount due"): [sum(row[each] for row in rows) for each in reports.AGES]},
        )
        return {**told, "rows": rows, "chart": chart}
    raise Missing("There is no such page.")
