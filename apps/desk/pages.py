"""What the pages show, and how it is written: dates, initials, menus."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import changes, queries
from .looks import FONTS, THEMES
from .schema import PRIORITIES, STATUSES

NAV = {
    "home": ("Overview", "/", "home"),
    "tickets": ("Tickets", "/tickets", "inbox"),
    "customers": ("Customers", "/customers", "people"),
    "agents": ("Agents", "/agents", "headset"),
}
COLUMNS = {
    "number": "No.",
    "subject": "Subject",
    "customer": "Customer",
    "assignee": "Assignee",
    "priority": "Priority",
    "status": "Status",
    "created": "Created",
}


def draw(db: sqlite3.Connection, name: str, **told: Any) -> str:
    """A page's HTML, in the appearance that the settings hold."""
    settings = queries.settings(db)
    shell = {
        "palette": THEMES[settings["theme"]],
        "font": FONTS[settings["font"]],
        "settings": settings,
        "nav": {key: NAV[key] for key in settings["nav"].split("-")},
        "columns": {key: COLUMNS[key] for key in settings["columns"].split("-")},
        "me": queries.agent(db, settings["me"]),
        "error": "",
        "q": "",
    }
    return _TEMPLATES.get_template(name).render({**shell, **told})


def ticket_list(db: sqlite3.Connection, query: Mapping[str, str]) -> dict[str, Any]:
    """What the list of tickets shows."""
    chosen = queries.TicketFilter.read(query)
    page = queries.tickets(db, chosen, queries.settings(db)["density"])
    agents = queries.agents(db)
    return {
        "page": page,
        "filter": chosen,
        "q": chosen.q,
        "agents": agents,
        "menus": {
            "status": _choices(STATUSES),
            "priority": _choices(PRIORITIES),
            "assignee": {"none": "Unassigned", **{str(agent["id"]): agent["name"] for agent in agents}},
            "tag": {tag: tag for tag in queries.tags(db)},
        },
    }


def new_ticket(db: sqlite3.Connection, form: Mapping[str, str]) -> dict[str, Any]:
    """What the form for a new ticket shows."""
    return {"form": form, "customers": queries.customer_names(db)}


def change_many(db: sqlite3.Connection, form: Sequence[tuple[str, str]]) -> str:
    """Make one change to every chosen ticket; returns what to tell the person at the desk."""
    ids = [int(value) for name, value in form if name == "id" and value.isascii() and value.isdigit()]
    fields = dict(form)
    try:
        if "status" in fields:
            changes.set_status(db, ids, fields["status"])
        elif "priority" in fields:
            changes.set_priority(db, ids, fields["priority"])
        else:
            changes.assign(db, ids, fields.get("assignee", ""))
    except changes.Refused as refusal:
        return str(refusal)
    return f"{len(ids)} ticket{'' if len(ids) == 1 else 's'} saved"


def _choices(values: Sequence[str]) -> dict[str, str]:
    return {value: value.capitalize() for value in values}


def _when(stamp: str) -> str:
    moment = datetime.fromisoformat(stamp)
    return f"{moment.day} {moment:%b %Y, %H:%M}"


def _brief(stamp: str) -> str:
    moment = datetime.fromisoformat(stamp)
    return f"{moment.day} {moment:%b, %H:%M}"


def _day(stamp: str) -> str:
    moment = datetime.fromisoformat(stamp)
    return f"{moment.day} {moment:%b %Y}"


def _initials(name: str) -> str:
    words = name.split()
    return (words[0][:1] + words[-1][:1]).upper() if words else "?"


def _hue(name: str) -> int:
    """A colour of its own for each person, degrees."""
    return sum(ord(letter) * (i + 7) for i, letter in enumerate(name)) % 360


_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_TEMPLATES.filters |= {"when": _when, "brief": _brief, "day": _day, "initials": _initials, "hue": _hue}
_TEMPLATES.globals |= {"STATUSES": _choices(STATUSES), "PRIORITIES": _choices(PRIORITIES)}
