"""The terminal's screens and what its buttons do. Each screen has a URL of its own; each tap is one request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse

from . import seed, store, view

Row = dict[str, Any]


@dataclass(frozen=True)
class Screen:
    """What a request is answered with."""

    url: str
    """Where this screen can be found again."""
    template: str
    context: Row = field(default_factory=dict)
    status: int = 200


# --- screens -----------------------------------------------------------------------------------------------


def menu(db: Connection, slug: str = "", page: int = 1, message: str = "") -> Screen:
    """The items of a category beside the ticket."""
    here = store.category(db, slug)
    items, more = view.paged(store.items(db, here["id"]), page, view.PAGE_ITEMS)
    context = {**_beside(db, here), "items": items, "more": more, "message": message}
    return Screen(f"/menu/{here['slug']}", "menu.html", context)


def tables(db: Connection, slug: str) -> Screen:
    """The tables to choose from, beside the ticket."""
    here = store.category(db, slug)
    context = {**_beside(db, here), "tables": store.tables(db), "message": ""}
    return Screen(f"/tables?menu={here['slug']}", "tables.html", context)


def options(db: Connection, key: int) -> Screen:
    """A sheet over the menu: size and extras of an item."""
    item = store.item(db, key)
    return Screen(f"/items/{key}", "options.html", {**menu(db, item["slug"]).context, "item": item})


def line(db: Connection, key: int, slug: str) -> Screen:
    """A sheet over the menu: a line of the ticket."""
    found = store.one(db, "SELECT * FROM ticket_lines WHERE id = ?", key)
    behind = menu(db, slug).context
    return Screen(f"/ticket/lines/{key}?menu={behind['here']['slug']}", "line.html", {**behind, "line": found})


def note(db: Connection, slug: str) -> Screen:
    """A sheet over the menu: the ticket's note."""
    behind = menu(db, slug).context
    return Screen(f"/ticket/note?menu={behind['here']['slug']}", "note.html", {**behind, "longest": store.MAX_NOTE})


def ticket(db: Connection, slug: str, page: int) -> Screen:
    """The whole ticket, where it is longer than its panel."""
    here = store.category(db, slug)
    found = store.ticket(db)
    lines, more = view.paged(found["lines"], page, view.PAGE_LINES)
    context = {"section": "menu", "here": here, "ticket": found, "lines": lines, "more": more}
    return Screen(f"/ticket?menu={here['slug']}", "ticket.html", context)


def orders(db: Connection, page: int) -> Screen:
    """The open orders."""
    found = store.open_orders(db)
    rows, more = view.paged(found, page, view.PAGE_ORDERS)
    return Screen("/orders", "orders.html", {"section": "orders", "orders": rows, "count": len(found), "more": more})


def order(db: Connection, key: int, page: int = 1, sheet: bool = False) -> Screen:
    """One order; with `sheet`, the question whether to cancel it."""
    found = store.order(db, key)
    lines, more = view.paged(found["lines"], page, view.PAGE_LINES)
    others = [row["id"] for row in store.open_orders(db) if row["id"] != key]
    context = {
        "section": "orders",
        "order": found,
        "lines": lines,
        "more": more,
        "next": next((number for number in others if number > key), others[0] if others else None),
        "is_open": found["status"] in ("sent", "ready"),
        "pieces": sum(each["quantity"] for each in found["lines"]),
    }
    if sheet and context["is_open"]:
        return Screen(f"/orders/{key}/cancel", "cancel.html", context)
    return Screen(f"/orders/{key}", "order.html", context)


def stock(db: Connection, slug: str, page: int = 1) -> Screen:
    """What is in stock and what is sold out."""
    here = store.category(db, slug)
    items, more = view.paged(store.items(db, here["id"]), page, view.PAGE_ITEMS)
    context = {
        "section": "stock",
        "here": here,
        "categories": store.every(db, "SELECT * FROM categories ORDER BY id"),
        "items": items,
        "more": more,
    }
    return Screen(f"/stock/{here['slug']}", "stock.html", context)


def _beside(db: Connection, here: Row) -> Row:
    found = store.ticket(db)
    lines, hidden = view.shown_lines(found, store.settings(db))
    return {
        "section": "menu",
        "here": here,
        "categories": store.every(db, "SELECT * FROM categories ORDER BY id"),
        "ticket": found,
        "lines": lines,
        "hidden": hidden,
    }


def _nowhere(request: Request) -> Screen:
    raise store.Missing(f"there is no page {request.url.path}")


# --- the app -----------------------------------------------------------------------------------------------

Form = dict[str, list[str]]
Show = Callable[[Connection, Request], Screen]
Act = Callable[[Connection, Request, Form], Screen]


def create_app(workdir: Path) -> FastAPI:
    """The terminal over workdir/kiosk.db, which is written from seed 0 if it is not there."""
    path = Path(workdir) / "kiosk.db"
    if not path.exists():
        seed.write(path, 0, {})
    app = FastAPI(title="Kiosk", openapi_url=None)
    app.add_api_route("/healthz", _healthz)
    for route, show in _GET.items():
        app.add_api_route(route, _handler(path, show), methods=["GET"], response_model=None)
    for route, act in _POST.items():
        app.add_api_route(route, _handler(path, act), methods=["POST"], response_model=None)
    return app


async def _healthz() -> PlainTextResponse:
    return PlainTextResponse("ok")


def _handler(path: Path, show: Callable[..., Screen]) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        form = parse_qs((await request.body()).decode(), keep_blank_values=True)
        with _database(path) as db:
            try:
                screen = show(db, request, form) if request.method == "POST" else show(db, request)
            except (LookupError, ValueError) as exc:
                screen = Screen(str(request.url.path), "missing.html", {"section": "", "why": str(exc)}, 404)
            return _answer(request, screen, store.settings(db))

    return handle


@contextmanager
def _database(path: Path) -> Iterator[Connection]:
    with closing(seed.connect(path)) as db, db:
        yield db


def _answer(request: Request, screen: Screen, settings: dict[str, str]) -> Response:
    if "x-fragment" in request.headers:
        inner = view.fragment(screen.template, screen.context, settings)
        return HTMLResponse(inner, screen.status, headers={"X-Url": screen.url})
    if request.method == "POST" and screen.status == 200:
        return RedirectResponse(screen.url, 303)
    return HTMLResponse(view.page(view.fragment(screen.template, screen.context, settings)), screen.status)


def _key(request: Request, name: str = "key") -> int:
    return int(request.path_params[name])


def _query(request: Request, name: str) -> str:
    return request.query_params.get(name, "")


def _page(request: Request) -> int:
    return int(_query(request, "page") or 1)


def _first(form: Form, name: str) -> str:
    return form.get(name, [""])[0]


# --- what the buttons do -----------------------------------------------------------------------------------


def _add(db: Connection, request: Request, form: Form) -> Screen:
    item = store.item(db, _key(request))
    if item["sold_out"]:
        return menu(db, item["slug"], message=f"{item['name']} is sold out")
    store.add(db, item["id"], _first(form, "size"), [int(key) for key in form.get("extra", [])])
    return menu(db, item["slug"])


def _choose_table(db: Connection, request: Request, form: Form) -> Screen:
    store.choose_table(db, int(_first(form, "table")))
    return menu(db, _first(form, "menu"))


def _change_line(db: Connection, request: Request, form: Form) -> Screen:
    steps = {"less": -1, "more": 1, "remove": -store.MAX_QUANTITY}
    stays = store.change_line(db, _key(request), steps[_first(form, "do")])
    slug = _first(form, "menu")
    return line(db, _key(request), slug) if stays else menu(db, slug)


def _write_note(db: Connection, request: Request, form: Form) -> Screen:
    store.write_note(db, _first(form, "note"))
    return menu(db, _first(form, "menu"))


def _send(db: Connection, request: Request, form: Form) -> Screen:
    number = store.send(db)
    message = f"Order {number} sent" if number else "Choose a table"
    return menu(db, _first(form, "menu"), message=message)


def _pay(db: Connection, request: Request, form: Form) -> Screen:
    by = _first(form, "by")
    if by not in ("cash", "card"):
        raise ValueError(f"no way to pay: {by!r}")
    store.close(db, _key(request), "paid", by)
    return order(db, _key(request))


def _cancel(db: Connection, request: Request, form: Form) -> Screen:
    store.close(db, _key(request), "cancelled")
    return order(db, _key(request))


def _take_off(db: Connection, request: Request, form: Form) -> Screen:
    store.take_off(db, _key(request), int(_first(form, "line")))
    return order(db, _key(request))


def _flip(db: Connection, request: Request, form: Form) -> Screen:
    key = int(_first(form, "item"))
    store.flip_stock(db, key)
    return stock(db, store.item(db, key)["slug"])


_GET: dict[str, Show] = {
    "/": lambda db, request: menu(db),
    "/menu/{slug}": lambda db, request: menu(db, request.path_params["slug"], _page(request)),
    "/items/{key}": lambda db, request: options(db, _key(request)),
    "/tables": lambda db, request: tables(db, _query(request, "menu")),
    "/ticket": lambda db, request: ticket(db, _query(request, "menu"), _page(request)),
    "/ticket/note": lambda db, request: note(db, _query(request, "menu")),
    "/ticket/lines/{key}": lambda db, request: line(db, _key(request), _query(request, "menu")),
    "/orders": lambda db, request: orders(db, _page(request)),
    "/orders/{key}": lambda db, request: order(db, _key(request), _page(request)),
    "/orders/{key}/cancel": lambda db, request: order(db, _key(request), sheet=True),
    "/stock": lambda db, request: stock(db, ""),
    "/stock/{slug}": lambda db, request: stock(db, request.path_params["slug"], _page(request)),
    "/{rest:path}": lambda db, request: _nowhere(request),
}
_POST: dict[str, Act] = {
    "/items/{key}": _add,
    "/tables": _choose_table,
    "/ticket/note": _write_note,
    "/ticket/lines/{key}": _change_line,
    "/ticket/send": _send,
    "/orders/{key}/pay": _pay,
    "/orders/{key}/cancel": _cancel,
    "/orders/{key}/take-off": _take_off,
    "/stock": _flip,
}
