"""Rules: what happens by itself with mails of some sender or subject, and with those that are there already."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from ..kit.numbers import number
from ..kit.store import Record, record, records
from ..kit.web import Missing, Refused
from . import changes, queries
from .schema import SYSTEM_FOLDERS

BLANK = {
    "from_contains": "",
    "subject_contains": "",
    "label_id": "",
    "move_to": "",
    "mark_read": "",
    "star": "",
    "forward_to": "",
}
"""The form of a new rule."""


def save(db: sqlite3.Connection, id: int | None, form: Mapping[str, str]) -> int:
    """Add or change a rule; returns its number.

    Raises:
        Refused: It has no condition or does nothing, or names what does not exist.
    """
    asked = {key: " ".join(form.get(key, "").split())[:200] for key in ("from_contains", "subject_contains")}
    if not any(asked.values()):
        raise Refused("Say what the sender or the subject contains.")
    label, folder = form.get("label_id", ""), form.get("move_to", "")
    forward = form.get("forward_to", "").strip().lower()
    if label and record(db, "SELECT 1 FROM labels WHERE id = ?", [number(label)]) is None:
        raise Refused("Choose a label.")
    if folder and folder not in (*SYSTEM_FOLDERS, *(row["name"] for row in queries.folders(db))):
        raise Refused("Choose a folder.")
    if forward and not changes.ADDRESS.fullmatch(forward):
        raise Refused("This is no e-mail address.")
    marks = [int(form.get(key) == "1") for key in ("mark_read", "star")]
    if not (label or folder or forward or any(marks)):
        raise Refused("Choose at least one thing to do.")
    values: list[Any] = [*asked.values(), number(label) or None, folder, *marks, forward]
    if id is not None:
        _rule(db, id)
        sql = "UPDATE rules SET from_contains = ?, subject_contains = ?, label_id = ?, move_to = ?, mark_read = ?, star = ?, forward_to = ? WHERE id = ?"
        db.execute(sql, [*values, id])
    else:
        sql = "INSERT INTO rules (from_contains, subject_contains, label_id, move_to, mark_read, star, forward_to) VALUES (?, ?, ?, ?, ?, ?, ?)"
        id = db.execute(sql, values).lastrowid
        assert id is not None  # an INSERT has one
    changes.log(db, f"saved the rule {id}")
    return id


def remove(db: sqlite3.Connection, id: int) -> None:
    """Delete a rule."""
    _rule(db, id)
    db.execute("DELETE FROM rules WHERE id = ?", [id])
    changes.log(db, f"deleted the rule {id}")


def matching(db: sqlite3.Connection, rule: Record) -> list[int]:
    """The conversations outside spam and trash with a mail that the rule is about."""
    return [
        row["id"]
        for row in records(db, _MATCHING, [rule["from_contains"], rule["from_contains"], rule["subject_contains"]])
    ]


_MATCHING = (
    "SELECT DISTINCT t.id FROM threads t JOIN messages m ON m.thread_id = t.id WHERE m.status = 'received'"
    " AND t.folder NOT IN ('spam', 'trash') AND (instr(lower(m.sender), lower(?)) > 0 OR instr(lower(m.sender_name), lower(?)) > 0)"
    " AND instr(lower(m.subject), lower(?)) > 0 ORDER BY t.id"
)


def run(db: sqlite3.Connection, id: int) -> int:
    """Do what a rule says with the mails that are there; nothing is forwarded. Returns how many conversations fit."""
    rule = _rule(db, id)
    ids = matching(db, rule)
    if not ids:
        return 0
    if rule["label_id"]:
        changes.act(db, ids, "label", str(rule["label_id"]))
    if rule["move_to"]:
        changes.act(db, ids, "move", rule["move_to"])
    for column, name in (("mark_read", "read"), ("star", "star")):
        if rule[column]:
            changes.act(db, ids, name, "")
    return len(ids)


def _rule(db: sqlite3.Connection, id: int) -> Record:
    found = record(db, "SELECT * FROM rules WHERE id = ?", [id])
    if found is None:
        raise Missing("This record does not exist, or has been deleted.")
    return found
