"""What people do with sheets."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any

from ..kit.store import Record, records
from ..kit.web import Refused
from .changes import Form, insert, line, log, row, update
from .formula import LETTERS, MAX_LENGTH, canonical, cell_name, evaluate, is_cell, shown
from .schema import FORMATS, ROWS, WIDTH

NARROWEST, WIDEST = 30, 400
_NO_LINE = re.compile("[\x00-\x08\x0a-\x1f\u2028\u2029\ud800-\udfff]")


def cells(db: sqlite3.Connection, id: int) -> dict[str, Record]:
    """The cells of a sheet that hold anything, by name."""
    return {each["cell"]: each for each in records(db, "SELECT * FROM cells WHERE sheet_id = ?", [id])}


def values(found: Mapping[str, Record]) -> dict[str, str]:
    """What cells show."""
    worked = evaluate({name: each["raw"] for name, each in found.items()})
    return {name: shown(value, found[name]["format"]) for name, value in worked.items()}


def grid(db: sqlite3.Connection, id: int) -> dict[str, Any]:
    """A sheet as its page draws it."""
    found = cells(db, id)
    texts = values(found)
    nothing = {"raw": "", "bold": 0, "format": ""}
    lines = [
        [{"cell": name, "shown": texts.get(name, ""), **found.get(name, nothing)} for name in _names(r)]
        for r in range(ROWS)
    ]
    stored = {each["col"]: each["width"] for each in records(db, "SELECT * FROM widths WHERE sheet_id = ?", [id])}
    return {"lines": lines, "widths": {letter: stored.get(letter, WIDTH) for letter in LETTERS}}


def change(db: sqlite3.Connection, id: int, changes: object) -> None:
    """Change cells, by name: each to the given `raw`, `bold` and `format`; what is not given stays.

    Raises:
        Refused: A cell or a value is none that a sheet can have.
    """
    row(db, "sheets", id)
    old = cells(db, id)
    moved = False
    for name, new in mapping(changes).items():
        if not is_cell(name):
            raise Refused("There is no such cell.")
        before = old.get(name, {"raw": "", "bold": 0, "format": ""})
        after = _cell({**before, "bold": bool(before["bold"]), **mapping(new)})
        if any(before[key] != value for key, value in after.items()):
            _store(db, id, name, after)
            moved = True
    if moved:
        log(db, "sheet", id, "Cells changed")


def mapping(sent: object) -> Mapping[str, Any]:
    """What was sent, if it has names.

    Raises:
        Refused: It has none.
    """
    if not isinstance(sent, dict):
        raise Refused("What was sent is no change of a sheet.")
    return sent


def _cell(new: Mapping[str, Any]) -> Record:
    raw, bold, form = new["raw"], new["bold"], new["format"]
    if not isinstance(raw, str) or _NO_LINE.search(raw):
        raise Refused("The content of a cell is one line of text.")
    raw = canonical(raw)
    if len(raw) > MAX_LENGTH:
        raise Refused("The content of a cell is too long.")
    if not isinstance(bold, bool):
        raise Refused("Bold is yes or no.")
    if form not in FORMATS:
        raise Refused("There is no such format.")
    return {"raw": raw, "bold": int(bold), "format": form}


def resize(db: sqlite3.Connection, id: int, column: str, width: Any) -> None:
    """Give a column a width in CSS px."""
    row(db, "sheets", id)
    number = isinstance(width, int | float) and not isinstance(width, bool)
    if column not in LETTERS or len(column) != 1 or not number or not NARROWEST <= width <= WIDEST:
        raise Refused("There is no such column, or the width is too small or too large.")
    db.execute("INSERT OR REPLACE INTO widths VALUES (?, ?, ?)", [id, column, int(width)])
    log(db, "sheet", id, "Column resized")


def add(db: sqlite3.Connection, form: Form) -> int:
    """Add an empty sheet; returns its id."""
    id = insert(db, "sheets", {"name": _name(db, form)})
    log(db, "sheet", id, "Created")
    return id


def rename(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Give a sheet another name."""
    old = row(db, "sheets", id)["name"]
    if " ".join(form.get("name", "").split()) != old and update(db, "sheets", id, {"name": _name(db, form)}):
        log(db, "sheet", id, "Changed")


def _names(row: int) -> list[str]:
    return [cell_name(column, row) for column in range(len(LETTERS))]


def _name(db: sqlite3.Connection, form: Form) -> str:
    name = line(form, "name", "Name")[:40]
    if db.execute("SELECT 1 FROM sheets WHERE name = ?", [name]).fetchone():
        raise Refused("Another sheet has this name.")
    return name


def _store(db: sqlite3.Connection, id: int, name: str, after: Mapping[str, Any]) -> None:
    if any(after.values()):
        db.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?)", [id, name, *after.values()])
    else:
        db.execute("DELETE FROM cells WHERE sheet_id = ? AND cell = ?", [id, name])
