"""The help desk: pages drawn on the server, changes by POST and redirect."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from . import changes, pages, queries, seed
from .schema import connect

HERE = Path(__file__).parent
ASSETS = {"desk.css": "text/css", "desk.js": "text/javascript"}
MAX_BODY_BYTES = 100_000


def create_app(workdir: Path) -> FastAPI:
    """The app on the database `desk.db` in a folder; a new database is filled with the data of seed 0."""
    path = Path(workdir) / "desk.db"
    if not path.exists():
        seed.write(path, 0, {})
    app = FastAPI(title="Desk", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.db = path
    app.add_exception_handler(HTTPException, _not_found)
    app.add_exception_handler(changes.Missing, _not_found)
    app.add_exception_handler(OverflowError, _not_found)  # a number that no record can have
    _add_files(app)
    _add_pages(app)
    _add_ticket_changes(app)
    _add_form_pages(app)
    return app


def _add_files(app: FastAPI) -> None:
    assets = {name: (HERE / "static" / name).read_text() for name in ASSETS}

    @app.get("/static/{name}")
    async def asset(name: str) -> Response:
        if name not in assets:
            raise HTTPException(404)
        return Response(assets[name], media_type=ASSETS[name], headers={"Cache-Control": "max-age=3600"})

    @app.get("/healthz")
    async def healthz() -> PlainTextResponse:
        return PlainTextResponse("ok")

    @app.get("/favicon.ico")
    async def favicon() -> Response:
        return Response(status_code=204)


def _add_pages(app: FastAPI) -> None:
    @app.get("/")
    async def home(request: Request) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "home.html", "home", **queries.overview(db))

    @app.get("/tickets")
    async def tickets(request: Request) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "tickets.html", "tickets", **pages.ticket_list(db, request.query_params))

    @app.get("/tickets/{id:int}")
    async def ticket(request: Request, id: int) -> Response:
        return _ticket_page(request, app.state.db, id)

    @app.get("/tickets/{id:int}/{rest:path}")
    async def refused_form(id: int, rest: str) -> Response:
        """Where a form that was refused stands in the address bar, and the page is asked for again."""
        return RedirectResponse(f"/tickets/{id}", 303)

    @app.get("/customers")
    async def customers(request: Request) -> Response:
        with connect(app.state.db) as db:
            found = queries.customers(db, request.query_params, queries.settings(db)["density"])
            q = request.query_params.get("q", "").strip()
            return _page(request, db, "customers.html", "customers", page=found, q=q)

    @app.get("/customers/{id:int}")
    async def customer(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "customer.html", "customers", customer=_found(queries.customer(db, id)))

    @app.get("/agents")
    async def agents(request: Request) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "agents.html", "agents", agents=queries.agents(db))


def _add_ticket_changes(app: FastAPI) -> None:
    def on_ticket(path: str, change: Callable[[sqlite3.Connection, int, dict[str, str]], None], said: str) -> None:
        @app.post(f"/tickets/{{id:int}}/{path}")
        async def post(request: Request, id: int) -> Response:
            form = dict(await _form(request))
            try:
                with connect(app.state.db) as db:
                    change(db, id, form)
            except changes.Refused as refusal:
                return _ticket_page(request, app.state.db, id, error=str(refusal), form=form)
            return _redirect(f"/tickets/{id}", said)

    on_ticket("status", lambda db, id, form: changes.set_status(db, [id], form.get("status", "")), "Status saved")
    on_ticket(
        "priority", lambda db, id, form: changes.set_priority(db, [id], form.get("priority", "")), "Priority saved"
    )
    on_ticket("assignee", lambda db, id, form: changes.assign(db, [id], form.get("assignee", "")), "Assignee saved")
    on_ticket("subject", lambda db, id, form: changes.rename(db, id, form.get("subject", "")), "Subject saved")
    on_ticket("tags", lambda db, id, form: changes.add_tag(db, id, form.get("tag", "")), "Tag added")
    on_ticket("tags/remove", lambda db, id, form: changes.remove_tag(db, id, form.get("tag", "")), "Tag removed")
    on_ticket(
        "comments",
        lambda db, id, form: changes.comment(db, id, form.get("kind", ""), form.get("body", "")),
        "Message added",
    )

    @app.post("/tickets/bulk")
    async def bulk(request: Request) -> Response:
        form = await _form(request)
        fields = dict(form)
        back = fields.get("back", "")
        with connect(app.state.db) as db:
            changed = pages.change_many(db, form)
        return _redirect(back if back.startswith("/tickets?") else "/tickets", changed)


def _add_form_pages(app: FastAPI) -> None:
    @app.get("/tickets/new")
    async def new_ticket(request: Request) -> Response:
        with connect(app.state.db) as db:
            form = {"priority": "normal", "customer": request.query_params.get("customer", "")}
            return _page(request, db, "new_ticket.html", "tickets", **pages.new_ticket(db, form))

    @app.post("/tickets")
    async def create_ticket(request: Request) -> Response:
        form = dict(await _form(request))
        with connect(app.state.db) as db:
            try:
                number = changes.open_ticket(db, form)
            except changes.Refused as refusal:
                told = pages.new_ticket(db, form)
                return _page(request, db, "new_ticket.html", "tickets", **told, error=str(refusal), code=422)
        return _redirect(f"/tickets/{number}", f"Ticket #{number} created")

    @app.get("/customers/{id:int}/edit")
    async def edit_customer(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            customer = _found(queries.customer(db, id))
            return _page(request, db, "edit_customer.html", "customers", customer=customer, form=customer)

    @app.post("/customers/{id:int}")
    async def save_customer(request: Request, id: int) -> Response:
        form = dict(await _form(request))
        with connect(app.state.db) as db:
            try:
                changes.edit_customer(db, id, form)
            except changes.Refused as refusal:
                told = {"customer": _found(queries.customer(db, id)), "form": form, "error": str(refusal)}
                return _page(request, db, "edit_customer.html", "customers", **told, code=422)
        return _redirect(f"/customers/{id}", "Customer saved")


def _ticket_page(
    request: Request, path: Path, id: int, error: str = "", form: dict[str, str] | None = None
) -> Response:
    with connect(path) as db:
        shown = _found(queries.ticket(db, id))
        told = {"ticket": shown, "agents": queries.agents(db), "form": form or {}, "error": error}
        code = 422 if error else 200
        return _page(request, db, "ticket.html", "tickets", **told, code=code)


def _page(request: Request, db: sqlite3.Connection, name: str, place: str, code: int = 200, **told: Any) -> Response:
    """A drawn page; what was said at the end of the last change is shown once and forgotten."""
    said = unquote(request.cookies.get("said", ""))
    response = HTMLResponse(pages.draw(db, name, place=place, said=said, **told), code)
    if said:
        response.delete_cookie("said")
    return response


def _redirect(path: str, said: str) -> Response:
    response = RedirectResponse(path, 303)
    response.set_cookie("said", quote(said), max_age=60, httponly=True, samesite="lax")
    return response


def _found(record: queries.Record | None) -> queries.Record:
    if record is None:
        raise changes.Missing("This record does not exist, or has been deleted.")
    return record


async def _form(request: Request) -> list[tuple[str, str]]:
    """The fields of a posted form, in order."""
    body = await request.body()
    if len(body) > MAX_BODY_BYTES:
        raise HTTPException(413, f"The form has {len(body)} bytes; at most {MAX_BODY_BYTES} are allowed.")
    return parse_qsl(body.decode(errors="replace"), keep_blank_values=True)


async def _not_found(request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 404
    reason = str(error) if isinstance(error, changes.Missing) or code == 413 else "There is no such page."
    with connect(request.app.state.db) as db:
        return _page(request, db, "missing.html", "", reason=reason, code=code)
