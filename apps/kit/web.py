"""What every app does on the wire: its files, posted forms, and a word said once after a change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, unquote

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException

from .language import Language
from .store import connect

KIT = Path(__file__).parent / "static"
TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
OTHERS = "others.json"
"""In the work folder: addresses of the products that the sidebar leads to, by name. Their names are in the setting
`others`, with commas between them."""
MAX_BODY_BYTES = 100_000


class _Number(Convertor[int]):
    """A whole number in an address, short enough for every database and for int()."""

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("int", _Number())


class Refused(ValueError):
    """What was asked for cannot be done; the text says why, to the person at the screen.

    The text is English, with {names} for values, so that a page can say it in its own language (`said`).
    """

    def __init__(self, text: str, /, **values: object):
        super().__init__(text.format(**values) if values else text)
        self.text = text
        self.values = values

    def said(self, t: Language) -> str:
        """The reason in a language."""
        return t(self.text, **self.values)


class Missing(LookupError):
    """There is no such record; the text says so."""


def new_app(title: str, folder: Path, database: Path, missing: Callable[[Any, str], str]) -> FastAPI:
    """An app with its files under /static, /healthz, and a page for what is not there.

    The kit's style sheet and script are the beginning of the app's own, so that a page asks for one of each: app.css, app.js.

    Args:
        title: What the product is called.
        folder: The app's folder.
        database: Its SQLite file, kept as `app.state.db`.
        missing: (connection, reason) -> the HTML of that page.
    """
    app = FastAPI(title=title, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.db = database
    files = [path for static in (KIT, folder / "static") for path in static.iterdir() if path.suffix in TYPES]
    contents: dict[str, bytes] = {}
    for path in files:
        contents[path.name] = contents.get(path.name, b"") + path.read_bytes()

    @app.get("/static/{name}")
    async def file(name: str) -> Response:
        if name not in contents:
            raise HTTPException(404)
        kind = TYPES[Path(name).suffix]
        return Response(contents[name], media_type=kind, headers={"Cache-Control": "max-age=3600"})

    @app.get("/healthz")
    async def healthz() -> PlainTextResponse:
        return PlainTextResponse("ok")

    @app.get("/favicon.ico")
    async def favicon() -> Response:
        return Response(status_code=204)

    @app.get("/go/{name}")
    async def go(name: str) -> Response:
        """To another product of the same firm, wherever it runs: `meet` said where."""
        told = database.parent / OTHERS
        addresses = json.loads(told.read_text()) if told.exists() else {}
        if name not in addresses:
            raise HTTPException(404)
        return RedirectResponse(addresses[name], 307)

    async def not_found(request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 404
        reason = str(error) if isinstance(error, Missing) else "There is no such page."
        with connect(database) as db:
            return HTMLResponse(missing(db, reason), code)

    for kind_ in (HTTPException, Missing, OverflowError):  # the last: a number that no record can have
        app.add_exception_handler(kind_, not_found)
    return app


class Running(Protocol):
    """An app that is up."""

    @property
    def workdir(self) -> Path:
        """Its work folder."""

    @property
    def base_url(self) -> str:
        """http://127.0.0.1:PORT."""


def introduce(apps: Mapping[str, Running]) -> None:
    """Tell apps that run beside each other where the others are."""
    for name, app in apps.items():
        others = {other: each.base_url for other, each in apps.items() if other != name}
        (app.workdir / OTHERS).write_text(json.dumps(others))


async def form(request: Request) -> list[tuple[str, str]]:
    """The fields of a posted form, in order.

    Raises:
        HTTPException: It is larger than a person's form.
    """
    body = await request.body()
    if len(body) > MAX_BODY_BYTES:
        raise HTTPException(413, f"The form has {len(body)} bytes; at most {MAX_BODY_BYTES} are allowed.")
    return parse_qsl(body.decode(errors="replace"), keep_blank_values=True)


def shown(request: Request, draw: Callable[[str], str], code: int = 200) -> Response:
    """A drawn page; what was said at the end of the last change is shown once and forgotten.

    Args:
        request: What was asked for.
        draw: (what to say, or "") -> HTML.
        code: HTTP status.
    """
    said = unquote(request.cookies.get("said", ""))
    response = HTMLResponse(draw(said), code)
    if said:
        response.delete_cookie("said")
    return response


def redirect(path: str, said: str = "") -> Response:
    """On to another page after a change, with a word to say there, in English; the page translates it."""
    response = RedirectResponse(path, 303)
    if said:
        response.set_cookie("said", quote(said), max_age=60, httponly=True, samesite="lax")
    return response


def found(record: dict[str, Any] | None) -> dict[str, Any]:
    """The record.

    Raises:
        Missing: There is none.
    """
    if record is None:
        raise Missing("This record does not exist, or has been deleted.")
    return record
