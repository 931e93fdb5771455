"""What is posted: each change, and where it leads."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from ..kit.numbers import number
from ..kit.store import connect, settings
from ..kit.web import Refused, form, redirect
from . import changes, letters, queries, rules
from .pages import PAGES, page, place_of


def _back(fields: dict[str, str], instead: str = "/mail/inbox") -> str:
    """The list that a form was sent from."""
    back = fields.get("back", "")
    return back if back.startswith("/mail/") and "\n" not in back else instead


def add_thread_changes(app: FastAPI) -> None:
    """What is done with conversations."""

    @app.post("/threads")
    async def act(request: Request) -> Response:
        given = await form(request)
        fields = dict(given)
        ids = [number(value) for name, value in given if name == "id"]
        name, _, value = fields.get("act", "").partition(":")
        if "toggle" in fields:  # the star of one row
            name, ids = (
                ("star" if fields["toggle"].startswith("+") else "unstar"),
                [number(fields["toggle"][1:])],
            )
        with connect(app.state.db) as db:
            try:
                said = changes.act(db, ids, name, value)
            except Refused as refusal:
                said = str(refusal)
        return redirect(_back(fields), said)

    @app.post("/empty/{folder}")
    async def empty(folder: str) -> Response:
        with connect(app.state.db) as db:
            changes.empty(db, folder)
        return redirect(f"/mail/{folder}", "Deleted for ever")

    @app.post("/subscriptions/{id:int}/stop")
    async def stop(request: Request, id: int) -> Response:
        fields = dict(await form(request))
        with connect(app.state.db) as db:
            changes.unsubscribe(db, id)
        return redirect(_back(fields), "Unsubscribed")


def add_letter_changes(app: FastAPI) -> None:
    """Drafts, their files, and what becomes of them."""

    @app.post("/drafts")
    async def begin(request: Request) -> Response:
        given = await form(request)
        kept = [number(value) for name, value in given if name == "keep"]
        with connect(app.state.db) as db:
            return JSONResponse({"id": letters.save(db, None, dict(given), kept)})

    @app.post("/drafts/{id:int}")
    async def save(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            return JSONResponse({"id": letters.save(db, id, dict(await form(request)))})

    @app.post("/drafts/{id:int}/files")
    async def attach(request: Request, id: int) -> Response:
        content = b""
        async for chunk in request.stream():
            content += chunk
            if len(content) > letters.MAX_FILE_BYTES:
                break
        error = ""
        with connect(app.state.db) as db:
            try:
                letters.attach(db, id, request.query_params.get("name", ""), content)
            except Refused as refusal:
                error = str(refusal)
        return _files(app, id, error)

    @app.post("/drafts/{id:int}/files/list")
    async def files(id: int) -> Response:
        return _files(app, id)

    @app.post("/drafts/{id:int}/files/{file:int}/remove")
    async def detach(id: int, file: int) -> Response:
        with connect(app.state.db) as db:
            letters.detach(db, id, file)
        return _files(app, id)

    @app.post("/send")
    async def send_new(request: Request) -> Response:
        return await _send(app, request, None)

    @app.post("/drafts/{id:int}/send")
    async def send(request: Request, id: int) -> Response:
        return await _send(app, request, id)

    @app.post("/drafts/{id:int}/discard")
    async def discard(id: int) -> Response:
        with connect(app.state.db) as db:
            letters.discard(db, id)
        return redirect("/drafts", "Draft discarded")

    @app.post("/outbox/{id:int}/undo")
    async def undo(id: int) -> Response:
        with connect(app.state.db) as db:
            letters.take_back(db, id)
        return redirect(f"/compose/{id}", "Sending undone: the mail is a draft again")

    @app.post("/outbox/{id:int}/send")
    async def send_now(id: int) -> Response:
        with connect(app.state.db) as db:
            letters.send_now(db, id)
        return redirect("/outbox", "Mail sent")


async def _send(app: FastAPI, request: Request, id: int | None) -> Response:
    """Save what the form says, if it says anything, and send it; where that is refused, the draft stays."""
    given = await form(request)
    if given or id is None:
        kept = [number(value) for name, value in given if name == "keep"]
        with connect(app.state.db) as db:
            id = letters.save(db, id, dict(given), kept)
    assert id is not None  # it was given or has been saved
    with connect(app.state.db) as db:
        try:
            mail = letters.send(db, id)
        except Refused as refusal:
            draft = queries.mail(db, id)
            assert draft is not None  # else it would be missing, not refused
            told = {"mail": draft, "other": letters.about(db, draft), "error": str(refusal)}
            return page(request, db, "compose.html", code=422, **told)
        if not mail["reply_to"]:
            return RedirectResponse(f"/mail/inbox?sent={id}", 303)
        thread = queries.thread(db, mail["thread_id"])
        place = place_of(db, thread["folder"]) if thread else "inbox"
    return RedirectResponse(f"/mail/{place}/{mail['thread_id']}?sent={id}", 303)


def _files(app: FastAPI, id: int, error: str = "") -> Response:
    """The list of a draft's files, to be put into its page."""
    with connect(app.state.db) as db:
        html = PAGES.draw("files.html", settings(db), files=queries.files(db, id), error=error)
    return HTMLResponse(html, 422 if error else 200)


def add_book_changes(app: FastAPI) -> None:
    """Contacts and their groups."""

    async def save(request: Request, id: int | None) -> Response:
        given = await form(request)
        fields = dict(given)
        chosen = [value for name, value in given if name == "group"]
        with connect(app.state.db) as db:
            try:
                changes.save_contact(db, id, fields, chosen)
            except Refused as refusal:
                contact = queries.contact(db, id) if id is not None else None
                blank = dict.fromkeys(("name", "email", "phone", "company", "notes"), "")
                shown = {**blank, **fields, "groups": [number(each) for each in chosen]}
                told = {"contact": contact, "form": shown, "groups": queries.groups(db), "error": str(refusal)}
                return page(request, db, "contact.html", code=422, place="contacts", **told)
        return redirect("/contacts", "Contact saved")

    @app.post("/contacts")
    async def add(request: Request) -> Response:
        return await save(request, None)

    @app.post("/contacts/{id:int}")
    async def edit(request: Request, id: int) -> Response:
        return await save(request, id)

    @app.post("/contacts/{id:int}/delete")
    async def remove(id: int) -> Response:
        with connect(app.state.db) as db:
            changes.remove_contact(db, id)
        return redirect("/contacts", "Contact deleted")

    @app.post("/groups")
    async def add_group(request: Request) -> Response:
        fields = dict(await form(request))
        return _told(app, "/contacts", "Group added", lambda db: changes.add_group(db, fields))


def _told(app: FastAPI, path: str, said: str, change: Callable[[sqlite3.Connection], object]) -> Response:
    """Make a change and go on; where it is refused, that is what is said."""
    try:
        with connect(app.state.db) as db:
            change(db)
    except Refused as refusal:
        return redirect(path, str(refusal))
    return redirect(path, said)


def add_setting_changes(app: FastAPI) -> None:
    """Rules, labels, folders and the owner's settings."""

    async def save_rule(request: Request, id: int | None) -> Response:
        fields = dict(await form(request))
        with connect(app.state.db) as db:
            try:
                number = rules.save(db, id, fields)
            except Refused as refusal:
                rule = {"id": id} if id is not None else None
                return page(
                    request,
                    db,
                    "rule.html",
                    422,
                    place="rules",
                    rule=rule,
                    form={**rules.BLANK, **fields},
                    error=str(refusal),
                )
            if fields.get("apply") == "1":
                rules.run(db, number)
                return redirect("/rules", "Rule saved and run")
        return redirect("/rules", "Rule saved")

    @app.post("/rules")
    async def add_rule(request: Request) -> Response:
        return await save_rule(request, None)

    @app.post("/rules/{id:int}")
    async def edit_rule(request: Request, id: int) -> Response:
        return await save_rule(request, id)

    @app.post("/rules/{id:int}/run")
    async def run_rule(id: int) -> Response:
        return _told(app, "/rules", "Rule run", lambda db: rules.run(db, id))

    @app.post("/rules/{id:int}/delete")
    async def delete_rule(id: int) -> Response:
        return _told(app, "/rules", "Rule deleted", lambda db: rules.remove(db, id))

    @app.post("/labels")
    async def add_label(request: Request) -> Response:
        fields = dict(await form(request))
        return _told(app, "/labels", "Label added", lambda db: changes.add_label(db, fields))

    @app.post("/labels/{id:int}/delete")
    async def delete_label(id: int) -> Response:
        return _told(app, "/labels", "Label deleted", lambda db: changes.remove_label(db, id))

    @app.post("/folders")
    async def add_folder(request: Request) -> Response:
        fields = dict(await form(request))
        return _told(app, "/labels", "Folder added", lambda db: changes.add_folder(db, fields))

    @app.post("/folders/{id:int}/delete")
    async def delete_folder(id: int) -> Response:
        return _told(app, "/labels", "Folder deleted", lambda db: changes.remove_folder(db, id))

    @app.post("/settings/signature")
    async def signature(request: Request) -> Response:
        fields = dict(await form(request))
        return _told(app, "/settings", "Signature saved", lambda db: changes.set_signature(db, fields))

    @app.post("/settings/density")
    async def density(request: Request) -> Response:
        fields = dict(await form(request))
        return _told(app, "/settings", "Density saved", lambda db: changes.set_density(db, fields.get("density", "")))

    @app.post("/settings/vacation")
    async def vacation(request: Request) -> Response:
        fields = dict(await form(request))
        with connect(app.state.db) as db:
            try:
                changes.set_vacation(db, fields)
            except Refused as refusal:
                told = {"form": {**queries.profile(db), **fields, "vacation": fields.get("vacation") == "1"}}
                return page(request, db, "settings.html", 422, place="settings", error=str(refusal), **told)
        return redirect("/settings", "Vacation answer saved")
