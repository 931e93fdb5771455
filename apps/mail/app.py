"""The mail client: pages drawn on the server, changes by POST and redirect; a draft saves itself while it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from ..kit.store import connect, page_number
from ..kit.web import Missing, found, new_app
from . import changes, letters, queries, rules, search, seed
from .pages import HERE, draw, listed, page, preview
from .posts import add_book_changes, add_letter_changes, add_setting_changes, add_thread_changes


def create_app(workdir: Path) -> FastAPI:
    """The app on the database `mail.db` in a folder; a new database is filled with the data of seed 0."""
    path = Path(workdir) / "mail.db"
    if not path.exists():
        seed.write(path, 0, {})
    app = new_app("Mail", HERE, path, lambda db, reason: draw(db, "missing.html", reason=reason))
    _add_lists(app)
    _add_letters(app)
    _add_files(app)
    _add_book(app)
    _add_settings(app)
    add_thread_changes(app)
    add_letter_changes(app)
    add_book_changes(app)
    add_setting_changes(app)
    return app


def _add_lists(app: FastAPI) -> None:
    @app.get("/")
    async def home() -> Response:
        return RedirectResponse("/mail/inbox", 303)

    @app.get("/search")
    async def search_by_form(request: Request) -> Response:
        return RedirectResponse(f"/mail/search?{urlencode({'q': search.written(request.query_params)})}", 303)

    @app.get("/mail/{place}")
    async def conversations(request: Request, place: str) -> Response:
        query = request.query_params
        with connect(app.state.db) as db:
            _known(queries.place_title(db, place)[0])
            told = listed(db, place, query.get("q", "").strip(), page_number(query))
            return page(request, db, "mail.html", **told)

    @app.get("/mail/{place}/{id:int}")
    async def conversation(request: Request, place: str, id: int) -> Response:
        query = request.query_params
        with connect(app.state.db) as db:
            _known(queries.place_title(db, place)[0])
            thread = found(queries.thread(db, id))
            changes.look(db, id)
            told = listed(db, place, query.get("q", "").strip(), page_number(query), thread)
            return page(request, db, "mail.html", **told)


def _known(title: str) -> None:
    if not title:
        raise Missing("There is no such page.")


def _add_letters(app: FastAPI) -> None:
    @app.get("/drafts")
    async def drafts(request: Request) -> Response:
        with connect(app.state.db) as db:
            return page(request, db, "letters.html", place="drafts", mails=queries.mails(db, "draft"))

    @app.get("/outbox")
    async def outbox(request: Request) -> Response:
        with connect(app.state.db) as db:
            return page(request, db, "letters.html", place="outbox", mails=queries.mails(db, "outbox"))

    @app.get("/compose")
    async def compose(request: Request) -> Response:
        with connect(app.state.db) as db:
            mail = letters.prepared(db, request.query_params)
            return page(request, db, "compose.html", mail=mail, other=letters.about(db, mail))

    @app.get("/compose/{id:int}")
    async def compose_draft(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            mail = found(queries.mail(db, id))
            if mail["status"] != "draft":
                raise Missing("This mail is not there any more, or has been sent.")
            return page(request, db, "compose.html", mail=mail, other=letters.about(db, mail))

    @app.get("/send")
    async def nothing_to_send() -> Response:
        return RedirectResponse("/compose", 303)

    @app.get("/drafts/{id:int}/{rest:path}")
    async def refused_draft(id: int, rest: str) -> Response:
        """Where a mail that was refused stands in the address bar, and the page is asked for again."""
        return RedirectResponse(f"/compose/{id}", 303)

    @app.get("/suggest")
    async def suggest(request: Request) -> Response:
        with connect(app.state.db) as db:
            return JSONResponse(queries.suggestions(db, request.query_params.get("q", "")))


def _add_files(app: FastAPI) -> None:
    @app.get("/attachments/{id:int}")
    async def download(id: int) -> Response:
        with connect(app.state.db) as db:
            file = found(queries.file(db, id))
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file['name'])}"}
        return Response(file["content"], media_type="application/octet-stream", headers=headers)

    @app.get("/attachments/{id:int}/view")
    async def view(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            file = found(queries.file(db, id))
            back = request.query_params.get("back", "")
            back = back if back.startswith("/mail/") else "/mail/inbox"
            return page(request, db, "file.html", file=file, back=back, **preview(file))


def _add_book(app: FastAPI) -> None:
    @app.get("/contacts")
    async def contacts(request: Request) -> Response:
        query = request.query_params
        group, words = query.get("group", ""), query.get("find", "").strip()
        with connect(app.state.db) as db:
            rows = queries.contacts(db, words, group, page_number(query), 14)
            told: dict[str, Any] = {
                "page": rows,
                "groups": queries.groups(db),
                "group": group,
                "find": words,
                "place": "contacts",
            }
            return page(request, db, "contacts.html", **told)

    @app.get("/contacts/new")
    async def new_contact(request: Request) -> Response:
        query = request.query_params
        form = {key: query.get(key, "") for key in ("name", "email", "phone", "company", "notes")}
        with connect(app.state.db) as db:
            told: dict[str, Any] = {
                "contact": None,
                "form": {**form, "groups": []},
                "groups": queries.groups(db),
                "place": "contacts",
            }
            return page(request, db, "contact.html", **told)

    @app.get("/contacts/{id:int}")
    async def contact(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            person = found(queries.contact(db, id))
            told: dict[str, Any] = {
                "contact": person,
                "form": person,
                "groups": queries.groups(db),
                "place": "contacts",
            }
            return page(request, db, "contact.html", **told)


def _add_settings(app: FastAPI) -> None:
    @app.get("/rules")
    async def all_rules(request: Request) -> Response:
        with connect(app.state.db) as db:
            return page(request, db, "rules.html", place="rules", rules=queries.rules(db))

    @app.get("/rules/new")
    async def new_rule(request: Request) -> Response:
        with connect(app.state.db) as db:
            form = {**rules.BLANK, "from_contains": request.query_params.get("from", "")}
            return page(request, db, "rule.html", place="rules", rule=None, form=form)

    @app.get("/rules/{id:int}")
    async def rule(request: Request, id: int) -> Response:
        with connect(app.state.db) as db:
            row = found(next((row for row in queries.rules(db) if row["id"] == id), None))
            return page(request, db, "rule.html", place="rules", rule=row, form=row)

    @app.get("/settings")
    async def settings_page(request: Request) -> Response:
        with connect(app.state.db) as db:
            return page(request, db, "settings.html", place="settings", form=queries.profile(db))

    @app.get("/settings/{rest}")
    async def refused_settings(rest: str) -> Response:
        """Where settings that were refused stand in the address bar, and the page is asked for again."""
        return RedirectResponse("/settings", 303)

    @app.get("/labels")
    async def labels_page(request: Request) -> Response:
        with connect(app.state.db) as db:
            return page(request, db, "labels.html", place="labels")
