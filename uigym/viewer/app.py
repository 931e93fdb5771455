"""The pages as an application: it reads run folders and writes nothing.

Whoever adds pages of their own (the wall of running browsers) takes `app.state.viewer` and extends `base.html.jinja`:

    def add_to(app: FastAPI, viewer: Viewer) -> None:
        viewer.render.pages.globals["live"] = True
        @app.get("/live")
        async def live() -> HTMLResponse: return viewer.html("wall.html.jinja", title="Live")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, Response

from uigym.viewer.catalog import Catalog
from uigym.viewer.render import STATIC, Links, Renderer

FOREVER = {"cache-control": "private, max-age=31536000, immutable"}
NOW = {"cache-control": "no-store"}


@dataclass(slots=True)
class Viewer:
    """What the pages share."""

    catalog: Catalog
    render: Renderer

    def html(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page; `title` must be among the values."""
        return HTMLResponse(self.render.page(template, **values), status, NOW)


def create_app(catalog: Catalog) -> FastAPI:
    """The application, without its guard (`uigym.viewer.guard.Guard`, which `Server` puts before it).

    Args:
        catalog: The runs to show.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    viewer = app.state.viewer = Viewer(catalog, Renderer(Links()))

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        path = STATIC / name
        if path.parent != STATIC or not path.is_file():
            return PlainTextResponse("not here\n", 404)
        return FileResponse(path, headers=FOREVER)

    @app.get("/")
    async def home() -> HTMLResponse:
        return viewer.html("home.html.jinja", title="Runs", runs=catalog.runs())

    return app
