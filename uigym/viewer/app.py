"""The pages as an application: it reads run folders and writes nothing.

Whoever adds pages of their own (the wall of running browsers) is given the application and what the pages share, and
extends `base.html.jinja`:

    def add_to(app: FastAPI, viewer: Viewer) -> None:
        viewer.render.pages.globals["live"] = True

        @app.get("/live")
        async def live() -> HTMLResponse:
            return viewer.html("wall.html.jinja", title="Live")
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import anyio.to_thread
from fastapi import FastAPI
from fastapi.responses import FileResponse, PlainTextResponse, Response

from uigym.viewer import routes_episode, routes_files, routes_runs
from uigym.viewer.catalog import Catalog
from uigym.viewer.render import STATIC
from uigym.viewer.shared import FOREVER, Missing, Viewer

THREADS = 6
"""Requests that are worked on at the same time."""


def create_app(catalog: Catalog) -> FastAPI:
    """The application, without its guard (`uigym.viewer.guard.Guard`, which `Server` puts before it).

    Args:
        catalog: The runs to show.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=_few_threads)
    viewer = app.state.viewer = Viewer(catalog)

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        path = STATIC / name
        if path.parent != STATIC or not path.is_file():
            return PlainTextResponse("not here\n", 404)
        return FileResponse(path, headers=FOREVER)

    @app.exception_handler(Missing)
    async def missing(request: object, error: Missing) -> Response:
        return viewer.html("missing.html.jinja", 404, title="Not here", why=str(error))

    @app.exception_handler(404)
    async def nowhere(request: object, error: object) -> Response:
        return viewer.html("missing.html.jinja", 404, title="Not here", why="No page has this address.")

    for routes in (routes_runs, routes_episode, routes_files):
        routes.add_to(app, viewer)
    return app


@contextlib.asynccontextmanager
async def _few_threads(app: FastAPI) -> AsyncIterator[None]:
    """Reading files needs no forty threads, each of which keeps memory of its own."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    limiter.total_tokens = THREADS
    yield
