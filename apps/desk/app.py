"""The help desk: pages drawn on the server, changes by POST and redirect."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from ..kit import web
from ..kit.numbers import number
from ..kit.store import connect
from ..kit.uploads import posted
from . import changes, pages, queries, seed, shelf

TicketChange = Callable[[sqlite3.Connection, int, dict[str, str]], None]


def create_app(workdir: Path) -> FastAPI:
    """The app on the database `desk.db` in a folder; a new database is filled with the data of seed 0."""
    path = Path(workdir) / "desk.db"
    if not path.exists():
        seed.write(path, 0, {})
    app = web.new_app("Desk", Path(__file__).parent, path, lambda db, reason: _missing(db, reason))
    _add_pages(app)
    _add_ticket_changes(app)
    _add_files(app)
    _add_merging(app)
    _add_ticket_pages(app)
    _add_bulk(app)
    _add_customers(app)
    _add_macros(app)
    _add_views(app)
    return app


def _missing(db: sqlite3.Connection, reason: str) -> str:
    return pages.draw(db, "missing.html", reason=reason)


def _add_pages(app: FastAPI) -> None:
    @app.get("/")
    async def home(request: Request) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "home.html", place="home", **queries.overview(db))

    @app.get("/tickets")
    async def tickets(request: Request) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "tickets.html", place="tickets", **pages.ticket_list(db, request.query_params))

    @app.get("/agents")
    async def agents(request: Request) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "agents.html", place="agents", agents=queries.agents(db))


def _add_ticket_changes(app: FastAPI) -> None:
    def on_ticket(path: str, change: TicketChange, said: str) -> None:
        @app.post(f"/tickets/{{id:int}}/{path}")
        async def post(request: Request, id: int) -> Response:
            form = dict(await web.form(request))
            return _changed(request, id, lambda db: change(db, id, form), said, form)

    on_ticket("status", lambda db, id, form: changes.set_status(db, [id], form.get("status", "")), "Status saved")
    on_ticket(
        "priority", lambda db, id, form: changes.set_priority(db, [id], form.get("priority", "")), "Priority saved"
    )
    on_ticket("assignee", lambda db, id, form: changes.assign(db, [id], form.get("assignee", "")), "Assignee saved")
    on_ticket("subject", lambda db, id, form: changes.rename(db, id, form.get("subject", "")), "Subject saved")
    on_ticket("due", lambda db, id, form: changes.set_due(db, id, form.get("due", "").strip()), "Due date saved")
    on_ticket("tags", lambda db, id, form: changes.add_tag(db, id, form.get("tag", "")), "Tag added")
    on_ticket("tags/remove", lambda db, id, form: changes.remove_tag(db, id, form.get("tag", "")), "Tag removed")
    on_ticket("ccs", lambda db, id, form: changes.add_cc(db, id, form.get("email", "")), "CC added")
    on_ticket("ccs/remove", lambda db, id, form: changes.remove_cc(db, id, form.get("email", "")), "CC removed")
    on_ticket("comments", shelf.answer, "Message added")
    on_ticket("files/remove", lambda db, id, form: changes.detach(db, id, form.get("file", "")), "File removed")


def _add_files(app: FastAPI) -> None:
    @app.post("/tickets/{id:int}/files")
    async def attach(request: Request, id: int) -> Response:
        file = (await posted(request)).files.get("file")
        return _changed(request, id, lambda db: changes.attach(db, id, file), "File attached", {})

    @app.get("/tickets/{id:int}/files/{file:int}")
    async def file(request: Request, id: int, file: int) -> Response:
        with connect(app.state.db) as db:
            told: dict[str, Any] = {
                "ticket": web.found(queries.ticket(db, id)),
                "file": web.found(queries.attachment(db, id, file)),
            }
            return _page(request, db, "file.html", place="tickets", **told)


def _add_merging(app: FastAPI) -> None:
    @app.get("/tickets/{id:int}/merge")
    async def merging(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "merge.html", place="tickets", **pages.merging(db, id, {}))

    @app.post("/tickets/{id:int}/merge")
    async def merge(request: Request, id: int) -> Response:
        form = dict(await web.form(request))
        try:
            with connect(app.state.db) as db:
                into = changes.merge(db, id, form.get("into", ""))
        except web.Refused as refusal:
            with connect(app.state.db) as db:
                told = pages.merging(db, id, form)
                return _page(request, db, "merge.html", 422, place="tickets", error=refusal, **told)
        return web.redirect(f"/tickets/{into}", "Tickets merged")


def _add_ticket_pages(app: FastAPI) -> None:
    @app.get("/tickets/{id:int}")
    async def ticket(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            told = pages.ticket(db, id, request.query_params, {})
            return _page(request, db, "ticket.html", place="tickets", **told)

    @app.get("/tickets/{id:int}/{rest:path}")
    async def refused_form(id: int, rest: str) -> Response:
        """Where a form that was refused stands in the address bar, and the page is asked for again."""
        return RedirectResponse(f"/tickets/{id}", 303)

    @app.get("/tickets/new")
    async def new_ticket(request: Request) -> Response:
        with connect(app.state.db) as db:
            form = {"priority": "normal", "customer": request.query_params.get("customer", "")}
            return _page(request, db, "new_ticket.html", place="tickets", **pages.new_ticket(db, form))

    @app.post("/tickets")
    async def create_ticket(request: Request) -> Response:
        form = dict(await web.form(request))
        try:
            with connect(app.state.db) as db:
                number = changes.open_ticket(db, form)
        except web.Refused as refusal:
            with connect(app.state.db) as db:
                told = pages.new_ticket(db, {"customer": "", "priority": "", **form})
                return _page(request, db, "new_ticket.html", 422, place="tickets", error=refusal, **told)
        return web.redirect(f"/tickets/{number}", "Ticket created")


def _add_bulk(app: FastAPI) -> None:
    @app.post("/tickets/bulk")
    async def bulk(request: Request) -> Response:
        form = await web.form(request)
        ids = [number(value) for name, value in form if name == "id"]
        fields = dict(form)
        try:
            with connect(app.state.db) as db:
                _change_many(db, ids, fields)
        except web.Refused as refusal:
            with connect(app.state.db) as db:
                told = pages.ticket_list(db, {})
                return _page(request, db, "tickets.html", 422, place="tickets", error=refusal, **told)
        return web.redirect(_back(fields), "Tickets saved")

    @app.get("/tickets/bulk")
    async def refused_bulk() -> Response:
        return RedirectResponse("/tickets", 303)


def _change_many(db: sqlite3.Connection, ids: list[int], fields: Mapping[str, str]) -> None:
    """Make one change to every chosen ticket."""
    if "status" in fields:
        changes.set_status(db, ids, fields["status"])
    elif "priority" in fields:
        changes.set_priority(db, ids, fields["priority"])
    elif "tag" in fields:
        changes.tag_all(db, ids, fields["tag"])
    else:
        changes.assign(db, ids, fields.get("assignee", ""))


def _add_customers(app: FastAPI) -> None:
    @app.get("/customers")
    async def customers(request: Request) -> Response:
        with connect(app.state.db) as db:
            told: dict[str, Any] = {
                "page": queries.customers(db, request.query_params),
                "named": request.query_params.get("q", ""),
            }
            return _page(request, db, "customers.html", place="customers", **told)

    @app.get("/customers/{id:int}")
    async def customer(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            told: dict[str, Any] = {"customer": web.found(queries.customer(db, id))}
            return _page(request, db, "customer.html", place="customers", **told)

    @app.get("/customers/{id:int}/edit")
    async def edit_customer(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            customer = web.found(queries.customer(db, id))
            told: dict[str, Any] = {"customer": customer, "form": customer}
            return _page(request, db, "edit_customer.html", place="customers", **told)

    @app.post("/customers/{id:int}")
    async def save_customer(request: Request, id: int) -> Response:
        form = dict(await web.form(request))
        try:
            with connect(app.state.db) as db:
                changes.edit_customer(db, id, form)
        except web.Refused as refusal:
            with connect(app.state.db) as db:
                told: dict[str, Any] = {"customer": web.found(queries.customer(db, id)), "form": form}
                return _page(request, db, "edit_customer.html", 422, place="customers", error=refusal, **told)
        return web.redirect(f"/customers/{id}", "Customer saved")


def _add_macros(app: FastAPI) -> None:
    @app.get("/macros")
    async def macros(request: Request) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "macros.html", place="macros", macros=queries.macros(db))

    @app.get("/macros/new")
    async def new_macro(request: Request) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "edit_macro.html", place="macros", **pages.macro_form(db, None))

    @app.get("/macros/{id:int}")
    async def edit_macro(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            return _page(request, db, "edit_macro.html", place="macros", **pages.macro_form(db, id))

    async def save(request: Request, id: int | None) -> Response:
        form = dict(await web.form(request))
        try:
            with connect(app.state.db) as db:
                shelf.save_macro(db, form, id)
        except web.Refused as refusal:
            with connect(app.state.db) as db:
                told = pages.macro_form(db, id, form)
                return _page(request, db, "edit_macro.html", 422, place="macros", error=refusal, **told)
        return web.redirect("/macros", "Macro saved")

    @app.post("/macros")
    async def add_macro(request: Request) -> Response:
        return await save(request, None)

    @app.post("/macros/{id:int}")
    async def save_macro(request: Request, id: int) -> Response:
        return await save(request, id)

    @app.post("/macros/{id:int}/delete")
    async def delete_macro(id: int) -> Response:
        with connect(app.state.db) as db:
            shelf.delete_macro(db, id)
        return web.redirect("/macros", "Macro deleted")


def _add_views(app: FastAPI) -> None:
    @app.post("/views")
    async def save_view(request: Request) -> Response:
        form = dict(await web.form(request))
        try:
            with connect(app.state.db) as db:
                chosen = shelf.save_view(db, form)
        except web.Refused as refusal:
            with connect(app.state.db) as db:
                told = pages.ticket_list(db, form)
                return _page(request, db, "tickets.html", 422, place="tickets", error=refusal, **told)
        return web.redirect(chosen.url(), "View saved")

    @app.get("/views")
    async def refused_view() -> Response:
        return RedirectResponse("/tickets", 303)

    @app.post("/views/{id:int}/delete")
    async def delete_view(id: int) -> Response:
        with connect(app.state.db) as db:
            shelf.delete_view(db, id)
        return web.redirect("/tickets", "View deleted")


def _changed(
    request: Request, id: int, change: Callable[[sqlite3.Connection], None], said: str, form: dict[str, str]
) -> Response:
    """Make a change to a ticket, and go back to its page; where it is refused, the page says why."""
    try:
        with connect(request.app.state.db) as db:
            change(db)
    except web.Refused as refusal:
        with connect(request.app.state.db) as db:
            told = pages.ticket(db, id, {}, form)
            return _page(request, db, "ticket.html", 422, place="tickets", error=refusal, **told)
    return web.redirect(f"/tickets/{id}", said)


def _page(request: Request, db: sqlite3.Connection, name: str, code: int = 200, **told: Any) -> Response:
    return web.shown(request, lambda said: pages.draw(db, name, said=said, **told), code)


def _back(fields: Mapping[str, str]) -> str:
    """The list that a form was sent from."""
    back = fields.get("back", "")
    return back if back.startswith("/tickets?") else "/tickets"
