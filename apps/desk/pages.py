"""What the pages show, and the words of their menus."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ..kit.language import Language
from ..kit.pages import Pages, ordered
from ..kit.store import Record, settings
from ..kit.web import Refused, found
from . import queries, shelf
from .schema import DUES, PRIORITIES, STATUSES

NAV = {
    "home": ("Overview", "/", "home"),
    "tickets": ("Tickets", "/tickets", "inbox"),
    "customers": ("Customers", "/customers", "people"),
    "macros": ("Macros", "/macros", "copy"),
    "agents": ("Agents", "/agents", "headset"),
}
COLUMNS = {
    "number": "No.",
    "subject": "Subject",
    "customer": "Customer",
    "assignee": "Assignee",
    "priority": "Priority",
    "status": "Status",
    "due": "Due",
    "created": "Created",
}
DUE_NAMES = {"overdue": "Overdue", "today": "Due today", "week": "Within 7 days", "none": "No due date"}


def draw(db: sqlite3.Connection, name: str, error: Refused | None = None, **told: Any) -> str:
    """A page's HTML, in the appearance that the settings hold."""
    chosen = settings(db)
    t = _PAGES.language(chosen)
    shell = {
        "nav": ordered(NAV, chosen["nav"]),
        "columns": ordered(COLUMNS, chosen["columns"]),
        "me": queries.agent(db, chosen["me"]),
        "views": queries.views(db),
        "view": None,
        "error": error.said(t) if error else "",
        "STATUSES": _choices(t, STATUSES),
        "PRIORITIES": _choices(t, PRIORITIES),
        "DUES": {due: t(DUE_NAMES[due]) for due in DUES},
    }
    return _PAGES.draw(name, chosen, **{**shell, **told})


def ticket_list(db: sqlite3.Connection, query: Mapping[str, str]) -> dict[str, Any]:
    """What the list of tickets shows."""
    chosen = queries.TicketFilter.read(query)
    t = _PAGES.language(settings(db))
    saved = [view for view in queries.views(db) if view["filter"].words == chosen.words]
    return {
        "page": queries.tickets(db, chosen),
        "filter": chosen,
        "q": chosen.q,
        "view": saved[0] if saved else None,
        "menus": {
            "status": _choices(t, STATUSES),
            "priority": _choices(t, PRIORITIES),
            "assignee": _people(db, t),
            "tag": {tag: tag for tag in queries.tags(db)},
            "due": {due: t(DUE_NAMES[due]) for due in DUES},
        },
    }


def ticket(db: sqlite3.Connection, id: int, query: Mapping[str, str], form: Mapping[str, str]) -> dict[str, Any]:
    """What the page of a ticket shows.

    Args:
        db: The desk's data.
        id: The ticket's number.
        query: May name a macro to write the next message with.
        form: What was sent and refused.
    """
    shown = found(queries.ticket(db, id))
    macro = queries.macro(db, query.get("macro") or form.get("macro") or 0)
    filled = {"body": shelf.filled(macro, shown["customer"])} if macro else {}
    return {
        "ticket": shown,
        "people": _people(db, _PAGES.language(settings(db))),
        "macros": queries.macros(db),
        "macro": macro,
        "form": {**filled, **form},
    }


def merging(db: sqlite3.Connection, id: int, form: Mapping[str, str]) -> dict[str, Any]:
    """What the page for merging a ticket into another shows."""
    shown = found(queries.ticket(db, id))
    others = [row for row in queries.tickets_of(db, shown["customer_id"]) if row["id"] != id and not row["merged_into"]]
    return {"ticket": shown, "others": others, "form": form}


def new_ticket(db: sqlite3.Connection, form: Mapping[str, str]) -> dict[str, Any]:
    """What the form for a new ticket shows."""
    return {"form": form, "customers": queries.customer_names(db)}


def macro_form(db: sqlite3.Connection, id: int | None, form: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What the form of a macro shows: the macro, or what was sent and refused."""
    stored: Record = found(queries.macro(db, id)) if id else {"status": "", "priority": ""}
    return {"id": id, "form": {**stored, **(form or {})}}


def _people(db: sqlite3.Connection, t: Language) -> dict[str, str]:
    return {"none": t("Unassigned"), **{str(agent["id"]): agent["name"] for agent in queries.agents(db)}}


def _choices(t: Language, values: Sequence[str]) -> dict[str, str]:
    return {value: t(value.capitalize()) for value in values}


def _size(content: str) -> str:
    """How large a file is: 312 B."""
    count = len(content.encode())
    return f"{count} B" if count < 1000 else f"{count / 1000:.1f} kB"


_PAGES = Pages(Path(__file__).parent, filters={"size": _size, "moment": datetime.fromisoformat})
