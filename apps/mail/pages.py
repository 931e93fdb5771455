"""What the pages show beside their records: the sidebar, the places, how dates and sizes are written."""

from __future__ import annotations

import csv
import io
import sqlite3
from itertools import islice
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from ..kit.language import Language
from ..kit.pages import Pages, ordered
from ..kit.store import Record, record, settings
from ..kit.web import shown
from . import queries, search
from .looks import PAGE_SIZE
from .schema import COLOURS, SYSTEM_FOLDERS

HERE = Path(__file__).parent
NAV = {
    "inbox": ("Inbox", "/mail/inbox", "inbox"),
    "starred": ("Starred", "/mail/starred", "star"),
    "drafts": ("Drafts", "/drafts", "pen"),
    "outbox": ("Outbox", "/outbox", "upload"),
    "sent": ("Sent", "/mail/sent", "send"),
    "archive": ("Archive", "/mail/archive", "box"),
    "spam": ("Spam", "/mail/spam", "spam"),
    "trash": ("Trash", "/mail/trash", "trash"),
}
SIDE_PAGE = {"comfortable": 9, "compact": 10}
"""Conversations on a page beside the reading pane."""
MAX_LINES_SHOWN = 200


def size(count: int) -> str:
    """The size of a file."""
    return (
        f"{count} B" if count < 1_000 else f"{count / 1_000:.1f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"
    )


def brief(t: Language, stamp: str, now: str) -> str:
    """When, as lists say it: the time if it was today, else the day."""
    return stamp[11:16] if stamp[:10] == now[:10] else t.day(stamp, year=stamp[:4] != now[:4])


PAGES = Pages(HERE, {"size": size}, brief=brief, COLOURS=COLOURS)


def draw(db: sqlite3.Connection, name: str, **told: Any) -> str:
    """A page's HTML, in the appearance that the settings hold."""
    looks = settings(db)
    q = told.get("q", "")
    shell = {
        "nav": ordered(NAV, looks["nav"]),
        "me": queries.profile(db),
        "counts": queries.unread_counts(db),
        "folders": queries.folders(db),
        "labels": queries.labels(db),
        "system": [folder for folder in SYSTEM_FOLDERS if folder != "sent"],
        "asked": search.filled(q),
        "waiting": None,
        "names": queries.names_of(db),
    }
    return PAGES.draw(name, looks, **{**shell, **told})


def page(request: Request, db: sqlite3.Connection, name: str, code: int = 200, **told: Any) -> Response:
    """A drawn page, with the word that was said at the end of the last change, and the mail that was just sent."""
    sent = request.query_params.get("sent", "")
    if sent.isascii() and sent.isdigit() and len(sent) < 10:
        told["waiting"] = record(db, "SELECT * FROM messages WHERE id = ? AND status = 'outbox'", [int(sent)])
    return shown(request, lambda said: draw(db, name, said=said, **told), code)


def listed(db: sqlite3.Connection, place: str, q: str, number: int, thread: Record | None = None) -> dict[str, Any]:
    """What a list of conversations shows, and the conversation that is open beside or in place of it."""
    looks = settings(db)
    title, is_text = queries.place_title(db, place)
    side = looks["pane"] == "side"
    rows = SIDE_PAGE if side else PAGE_SIZE
    columns = ["card"] if side else looks["columns"].split("-")
    return {
        "place": place,
        "title": title,
        "title_is_text": is_text,
        "q": q,
        "page": queries.threads(db, place, q, number, rows[looks["density"]]),
        "side": side,
        "columns": columns,
        "thread": thread,
        "known": set(queries.names_of(db)),
        "subscription": thread and queries.subscription(db, [mail["sender"] for mail in thread["mails"]]),
    }


def place_of(db: sqlite3.Connection, folder: str) -> str:
    """The place in addresses of a conversation's folder."""
    if folder in SYSTEM_FOLDERS:
        return folder
    found = record(db, "SELECT id FROM folders WHERE name = ?", [folder])
    return f"f{found['id']}" if found else "inbox"


def _rows(text: str) -> list[list[str]] | None:
    """The first rows of a table; None if it cannot be read."""
    try:
        return list(islice(csv.reader(io.StringIO(text, newline="")), MAX_LINES_SHOWN))
    except csv.Error:
        return None


def preview(file: Record) -> dict[str, Any]:
    """What a page can show of a file: a table of CSV, the lines of a text, or nothing."""
    if file["type"] not in ("text/csv", "text/plain", "text/markdown", "application/json"):
        return {"rows": None, "lines": None}
    text = file["content"].decode("utf-8", "replace")
    if file["type"] == "text/csv":
        return {"rows": _rows(text), "lines": None}
    return {"rows": None, "lines": text.splitlines()[:MAX_LINES_SHOWN]}
