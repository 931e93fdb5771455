"""The planner: one page, and JSON for everything that it shows and changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from ..kit.pages import Pages, ordered
from ..kit.store import connect, settings
from ..kit.web import Missing, new_app
from . import changes, moves, queries, seed
from .asked import (
    CardFields,
    CardMove,
    Chosen,
    Column,
    Day,
    Edited,
    Moment,
    Moved,
    Named,
    NewCard,
    Said,
    Shown,
    Ticked,
    Which,
    Written,
    Zone,
)
from .looks import COLOURS, FIRST_DAY, ZONES
from .recur import between, later
from .schema import WEEKDAYS

HERE = Path(__file__).parent
NAV = {
    "calendar": ("Calendar", "/calendar", "calendar"),
    "boards": ("Boards", "/boards", "board"),
    "find": ("Find a time", "/find", "people"),
    "people": ("People", "/people", "headset"),
    "settings": ("Settings", "/settings", "gear"),
}
ICONS = ("search", "plus", "down", "close", "pen", "check", "left", "right", "more", "trash", "calendar", "board", "people",
         "headset", "gear", "filter", "lock", "undo", "inbox", "tag")  # fmt: skip
LONGEST = timedelta(days=62)
"""Between the first and the last day of which events are asked for."""
PAGES = Pages(HERE)


def create_app(workdir: Path) -> FastAPI:
    """The app on the database `plan.db` in a folder; a new database is filled with the data of seed 0."""
    path = Path(workdir) / "plan.db"
    if not path.exists():
        seed.write(path, 0, {})
    app = new_app("Plan", HERE, path, lambda db, reason: shell(db, whole=False))
    for kind in (HTTPException, Missing, OverflowError, RequestValidationError, changes.Refused):
        app.add_exception_handler(kind, _refused)
    for add in (_add_pages, _add_reading, _add_calendar, _add_boards, _add_cards):
        add(app)
    return app


def shell(db: sqlite3.Connection, whole: bool = True) -> str:
    """The page in which everything is drawn, with what it needs at its start; without events if it is not whole."""
    session = queries.session(db)
    chosen = session["settings"]
    t = PAGES.language(chosen)
    boot = {
        **session,
        "week": _week(db, chosen["now"][:10], FIRST_DAY[t.code]) if whole else None,
        "texts": t.texts,
        "language": t.code,
        "months": t.months,
        "weekdays": t.weekdays,
        "first_day": FIRST_DAY[t.code],
        "nav": [[key, *entry] for key, entry in ordered(NAV, chosen["nav"]).items()],
        "zones": ZONES,
        "colours": COLOURS,
        "weekday_keys": WEEKDAYS,
    }
    return PAGES.draw("shell.html", chosen, boot=boot, icons=ICONS)


def _week(db: sqlite3.Connection, day: str, begins: int) -> dict[str, Any]:
    """What the calendar opens with, so that it is whole as soon as it is drawn."""
    first = later(day, -timedelta(days=(date.fromisoformat(day).weekday() - begins) % 7))
    events = queries.between_days(db, first, later(first, timedelta(days=6)))
    return {"first": first, "events": events, "shift": queries.shift(db, first)}


def _refused(request: Request, error: Exception) -> Response:
    """Why something was not done, in the user's language; the page itself where a person asked for one."""
    code, text, values = 404, str(error), {}
    if isinstance(error, changes.Refused):
        code, values = 409, error.values
    elif isinstance(error, RequestValidationError):
        code, text = 422, "Something in this form cannot be read. Look at the dates and numbers."
    elif not isinstance(error, Missing):
        code = error.status_code if isinstance(error, HTTPException) else 404
        text = "There is no such page."
    with connect(request.app.state.db) as db:
        if request.method == "GET" and not request.url.path.startswith("/api/"):
            return HTMLResponse(shell(db, whole=False), code)
        return JSONResponse({"error": PAGES.language(settings(db))(text, **values)}, code)


def _add_pages(app: FastAPI) -> None:
    @app.get("/")
    @app.get("/calendar")
    @app.get("/calendar/{view}")
    @app.get("/calendar/{view}/{day}")
    @app.get("/boards")
    @app.get("/boards/{id:int}")
    @app.get("/find")
    @app.get("/people")
    @app.get("/settings")
    async def page() -> Response:
        with connect(app.state.db) as db:
            return HTMLResponse(shell(db))


def _add_reading(app: FastAPI) -> None:
    def read(path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return app.get(f"/api/{path}")

    @read("session")
    async def session() -> Any:
        with connect(app.state.db) as db:
            return queries.session(db)

    @read("events")
    async def events(first: Day, last: Day) -> Any:
        if between(first, last) > LONGEST:
            raise HTTPException(404)
        with connect(app.state.db) as db:
            return {"events": queries.between_days(db, first, last), "shift": queries.shift(db, first)}

    @read("events/{id:int}")
    async def event(id: int, day: Day | None = None) -> Any:
        with connect(app.state.db) as db:
            return queries.event(db, id, day or "")

    @read("search")
    async def search(q: str) -> Any:
        with connect(app.state.db) as db:
            return queries.search(db, q)

    @read("conflicts")
    async def conflicts(starts: Moment, ends: Moment, zone: Zone, but: int = 0) -> Any:
        changes.not_too_long(starts, ends)
        with connect(app.state.db) as db:
            return queries.conflicts(db, starts, ends, zone, but)

    @read("free")
    async def free(
        day: Day, minutes: Annotated[int, Query(ge=15, le=480)], person: Annotated[list[int], Query()]
    ) -> Any:
        with connect(app.state.db) as db:
            return queries.free(db, person, day, minutes)

    @read("boards/{id:int}")
    async def board(id: int, archived: bool = False) -> Any:
        with connect(app.state.db) as db:
            return queries.board(db, id, archived)

    @read("cards/{id:int}")
    async def card(id: int) -> Any:
        with connect(app.state.db) as db:
            return queries.card(db, id)


def _add_calendar(app: FastAPI) -> None:
    @app.post("/api/events", status_code=201)
    async def create(asked: Written) -> Any:
        with connect(app.state.db) as db:
            return {"id": changes.create(db, asked)}

    @app.put("/api/events/{id:int}")
    async def edit(id: int, asked: Edited) -> Any:
        with connect(app.state.db) as db:
            changes.edit(db, id, asked)
        return {}

    @app.post("/api/events/{id:int}/move")
    async def move(id: int, asked: Moved) -> Any:
        with connect(app.state.db) as db:
            changes.move(db, id, asked)
        return {}

    @app.post("/api/events/{id:int}/delete")
    async def delete(id: int, asked: Which) -> Any:
        with connect(app.state.db) as db:
            changes.delete(db, id, asked)
        return {}

    @app.put("/api/calendars/{id:int}")
    async def show(id: int, asked: Shown) -> Any:
        with connect(app.state.db) as db:
            changes.show_calendar(db, id, asked.visible)
            return queries.session(db)

    @app.put("/api/settings")
    async def choose(asked: Chosen) -> Any:
        with connect(app.state.db) as db:
            changes.choose(db, asked)
            return queries.session(db)


def _add_boards(app: FastAPI) -> None:
    @app.post("/api/boards", status_code=201)
    async def new_board(asked: Named) -> Any:
        with connect(app.state.db) as db:
            return {"id": moves.new_board(db, asked.name)}

    @app.post("/api/boards/{id:int}/columns", status_code=201)
    async def new_column(id: int, asked: Named) -> Any:
        with connect(app.state.db) as db:
            return {"id": moves.new_column(db, id, asked.name)}

    @app.put("/api/columns/{id:int}")
    async def edit_column(id: int, asked: Column) -> Any:
        with connect(app.state.db) as db:
            moves.edit_column(db, id, asked)
        return {}

    @app.post("/api/columns/{id:int}/archive")
    async def archive_column(id: int) -> Any:
        with connect(app.state.db) as db:
            moves.archive_column(db, id)
        return {}

    @app.post("/api/columns/{id:int}/cards", status_code=201)
    async def new_card(id: int, asked: NewCard) -> Any:
        with connect(app.state.db) as db:
            return {"id": moves.new_card(db, id, asked)}


def _add_cards(app: FastAPI) -> None:
    def on_card(method: str, path: str, change: Callable[[sqlite3.Connection, int, Any], Any], body: type[Any]) -> None:
        async def act(id: int, asked: Any) -> Any:
            with connect(app.state.db) as db:
                change(db, id, asked)
                return queries.card(db, id)

        act.__annotations__["asked"] = body
        app.add_api_route(f"/api/cards/{{id:int}}{path}", act, methods=[method])

    on_card("PUT", "", moves.edit_card, CardFields)
    on_card("POST", "/move", moves.move_card, CardMove)
    on_card("PUT", "/archived", lambda db, id, asked: moves.archive(db, id, asked.on), Ticked)
    on_card("POST", "/items", lambda db, id, asked: moves.new_item(db, id, asked.text), Said)
    on_card("POST", "/comments", lambda db, id, asked: moves.comment(db, id, asked.text), Said)

    @app.put("/api/cards/{id:int}/labels/{label:int}")
    async def label(id: int, label: int, asked: Ticked) -> Any:
        with connect(app.state.db) as db:
            moves.set_label(db, id, label, asked.on)
            return queries.card(db, id)

    @app.put("/api/items/{id:int}")
    async def tick(id: int, asked: Ticked) -> Any:
        with connect(app.state.db) as db:
            moves.tick(db, id, asked.on)
        return {}

    @app.delete("/api/items/{id:int}")
    async def drop(id: int) -> Any:
        with connect(app.state.db) as db:
            moves.drop_item(db, id)
        return {}
