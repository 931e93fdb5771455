"""The list of runs, the grid over them, the page of one run, and what tells that something is new."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from uigym.viewer import show
from uigym.viewer.catalog import Run
from uigym.viewer.filters import Filters
from uigym.viewer.grid import grids
from uigym.viewer.shared import NOW, Viewer

_LOOK_S = 1.0
"""How often a run is looked at while a page of it is open."""


def add_to(app: FastAPI, viewer: Viewer) -> None:
    """Add the pages."""

    @app.get("/")
    def home() -> HTMLResponse:
        runs = viewer.catalog.runs()
        lines = [_brief(viewer, run) if _is_quick(viewer, run) else {"run": run} for run in runs]
        folders = [str(folder) for folder in viewer.catalog.folders]
        return viewer.html(
            "home.html.jinja", title="Runs", runs=lines, folders=folders, asked={}, known=version(viewer, "")
        )

    @app.get("/grid")
    def all_of_them() -> HTMLResponse:
        runs = [run for run in viewer.catalog.runs() if run.kind == "episodes"]
        found = {run.name: viewer.index(run).entries() for run in runs}
        return viewer.html("grid.html.jinja", grids=grids(found), named=True)

    @app.get("/runs/{name}")
    def one(name: str, request: Request) -> HTMLResponse:
        run = viewer.run(name)
        known = version(viewer, name)
        if run.kind == "training":
            from uigym.viewer.training import page

            return viewer.html("training.html.jinja", known=known, **page(run, dict(request.query_params)))
        entries = viewer.index(run).entries()
        return viewer.html(
            "run.html.jinja", known=known, **show.run_page(run, entries, Filters.of(request.query_params))
        )

    @app.get("/runs/{name}/brief")
    def line(name: str) -> HTMLResponse:
        return viewer.html("brief.html.jinja", brief=_brief(viewer, viewer.run(name)))

    @app.get("/events")
    async def events(run: str = "", known: str = "") -> StreamingResponse:
        return StreamingResponse(_changes(viewer, run, known), media_type="text/event-stream", headers=NOW)


def _is_quick(viewer: Viewer, run: Run) -> bool:
    return run.kind == "training" or viewer.index(run).ready


def _brief(viewer: Viewer, run: Run) -> show.Brief:
    return show.brief_training(run) if run.kind == "training" else show.brief(run, viewer.index(run).entries())


async def _changes(viewer: Viewer, name: str, known: str) -> AsyncIterator[str]:
    """One event whenever something is no longer as it is known, for as long as the page is open."""
    yield ": open\n\n"
    while True:
        now = await asyncio.to_thread(version, viewer, name)
        if now != known:
            yield f"data: {now}\n\n"
            known = now
        await asyncio.sleep(_LOOK_S)


def version(viewer: Viewer, name: str) -> str:
    """Changes when a run does; of all runs, when one is new."""
    if not name:
        return str(hash(tuple(run.name for run in viewer.catalog.runs())))
    run = viewer.catalog.find(name)
    if run is None:
        return "gone"
    if run.kind == "training":
        sizes = [
            path.stat().st_size if (path := run.folder / file).exists() else 0
            for file in ("metrics.jsonl", "episodes.jsonl")
        ]
        return f"{sizes}"
    index = viewer.index(run)
    index.entries()
    return str(index.version)
