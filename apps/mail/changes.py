"""What is done with conversations, labels, folders, contacts and settings; every change leaves a line in `events`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

from ..kit.numbers import number
from ..kit.store import record, records, settings
from ..kit.web import Missing, Refused
from . import queries
from .schema import COLOURS, SYSTEM_FOLDERS

MAX_LINE = 200
MAX_TEXT = 20_000
ADDRESS = re.compile(r"[^@\s,;<>\"]{1,80}@[^@\s,;<>\"]{1,120}\.[a-z]{2,20}", re.IGNORECASE)


def log(db: sqlite3.Connection, what: str, thread: int | None = None) -> None:
    """Write down what was done."""
    db.execute("INSERT INTO events (at, what, thread_id) VALUES (?, ?, ?)", [settings(db)["now"], what, thread])


def look(db: sqlite3.Connection, thread: int) -> None:
    """A conversation was opened: it is shown as read from now on."""
    db.execute("INSERT OR IGNORE INTO seen VALUES (?)", [thread])


def act(db: sqlite3.Connection, ids: Sequence[int], name: str, value: str) -> str:
    """Do one thing with conversations; returns what to say.

    Raises:
        Refused: None is chosen, or there is no such thing to do.
        Missing: A conversation or label does not exist.
    """
    if name not in _ACTS:
        raise Refused("There is nothing of that name to do.")
    if not ids:
        raise Refused("Select at least one conversation.")
    for id in ids:
        if record(db, "SELECT 1 FROM threads WHERE id = ?", [id]) is None:
            raise Missing("This record does not exist, or has been deleted.")
    said = _ACTS[name](db, ids, value)
    for id in ids:
        log(db, f"{name} {value}".strip(), id)
    return said


def _move(db: sqlite3.Connection, ids: Sequence[int], folder: str) -> str:
    known = (*SYSTEM_FOLDERS, *(row["name"] for row in queries.folders(db)))
    if folder not in known:
        raise Refused("Choose a folder.")
    _set(db, ids, "folder", folder)
    return "Moved"


def _to(folder: str, said: str) -> Callable[[sqlite3.Connection, Sequence[int], str], str]:
    def move(db: sqlite3.Connection, ids: Sequence[int], value: str) -> str:
        _set(db, ids, "folder", folder)
        return said

    return move


def _mark(column: str, value: int, said: str) -> Callable[[sqlite3.Connection, Sequence[int], str], str]:
    def mark(db: sqlite3.Connection, ids: Sequence[int], _: str) -> str:
        _set(db, ids, column, value)
        if column == "unread":
            db.execute(f"DELETE FROM seen WHERE thread_id IN ({_marks(ids)})", list(ids))
        return said

    return mark


def _label(db: sqlite3.Connection, ids: Sequence[int], value: str) -> str:
    _known_label(db, value)
    for id in ids:
        db.execute("INSERT OR IGNORE INTO thread_labels (thread_id, label_id) VALUES (?, ?)", [id, int(value)])
    return "Label added"


def _unlabel(db: sqlite3.Connection, ids: Sequence[int], value: str) -> str:
    _known_label(db, value)
    db.execute(f"DELETE FROM thread_labels WHERE label_id = ? AND thread_id IN ({_marks(ids)})", [int(value), *ids])
    return "Label removed"


def _delete(db: sqlite3.Connection, ids: Sequence[int], _: str) -> str:
    """Into the trash; what is there already is gone for ever."""
    gone = [
        row["id"]
        for row in records(db, f"SELECT id FROM threads WHERE folder = 'trash' AND id IN ({_marks(ids)})", ids)
    ]
    forget(db, gone)
    _set(db, [id for id in ids if id not in gone], "folder", "trash")
    return "Deleted for ever" if gone else "Moved to the trash"


def forget(db: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Delete conversations with all that belongs to them."""
    if not ids:
        return
    marks = _marks(ids)
    db.execute(
        f"DELETE FROM attachments WHERE message_id IN (SELECT id FROM messages WHERE thread_id IN ({marks}))", list(ids)
    )
    for table in ("messages", "thread_labels", "seen"):
        db.execute(f"DELETE FROM {table} WHERE thread_id IN ({marks})", list(ids))
    db.execute(f"DELETE FROM threads WHERE id IN ({marks})", list(ids))


def empty(db: sqlite3.Connection, folder: str) -> None:
    """Delete for ever what is in the trash or in spam."""
    if folder not in ("trash", "spam"):
        raise Missing("Only the trash and spam can be emptied.")
    forget(db, [row["id"] for row in records(db, "SELECT id FROM threads WHERE folder = ?", [folder])])
    log(db, f"emptied {folder}")


_ACTS: dict[str, Callable[[sqlite3.Connection, Sequence[int], str], str]] = {
    "archive": _to("archive", "Archived"),
    "inbox": _to("inbox", "Moved to the inbox"),
    "spam": _to("spam", "Reported as spam"),
    "delete": _delete,
    "move": _move,
    "label": _label,
    "unlabel": _unlabel,
    "read": _mark("unread", 0, "Marked as read"),
    "unread": _mark("unread", 1, "Marked as unread"),
    "star": _mark("starred", 1, "Starred"),
    "unstar": _mark("starred", 0, "Star removed"),
}


def _set(db: sqlite3.Connection, ids: Sequence[int], column: str, value: str | int) -> None:
    if ids:
        db.execute(f"UPDATE threads SET {column} = ? WHERE id IN ({_marks(ids)})", [value, *ids])


def _marks(ids: Sequence[int]) -> str:
    return ", ".join("?" * len(ids))


def _known_label(db: sqlite3.Connection, value: str) -> None:
    if not number(value) or record(db, "SELECT 1 FROM labels WHERE id = ?", [value]) is None:
        raise Refused("Choose a label.")


# --- labels, folders, newsletters ---------------------------------------------------------------------------


def add_label(db: sqlite3.Connection, form: Mapping[str, str]) -> None:
    """A new label with a colour."""
    name, colour = line("The name", form.get("name", ""), 30), form.get("colour", "")
    if colour not in COLOURS:
        raise Refused("Choose a colour.")
    _new_name(db, "labels", name)
    db.execute("INSERT INTO labels (name, colour) VALUES (?, ?)", [name, colour])
    log(db, f"added the label {name}")


def add_folder(db: sqlite3.Connection, form: Mapping[str, str]) -> None:
    """A new folder."""
    name = line("The name", form.get("name", ""), 30)
    if name.lower() in (*SYSTEM_FOLDERS, "starred", "drafts", "outbox"):
        raise Refused("This name is taken.")
    _new_name(db, "folders", name)
    db.execute("INSERT INTO folders (name) VALUES (?)", [name])
    log(db, f"added the folder {name}")


def remove_label(db: sqlite3.Connection, id: int) -> None:
    """Delete a label; conversations lose it, and rules that give it give none."""
    db.execute("DELETE FROM thread_labels WHERE label_id = ?", [id])
    db.execute("UPDATE rules SET label_id = NULL WHERE label_id = ?", [id])
    db.execute("DELETE FROM labels WHERE id = ?", [id])
    log(db, f"deleted the label {id}")


def remove_folder(db: sqlite3.Connection, id: int) -> None:
    """Delete an empty folder."""
    found = record(db, "SELECT name FROM folders WHERE id = ?", [id])
    if found is None:
        raise Missing("This record does not exist, or has been deleted.")
    if record(db, "SELECT 1 FROM threads WHERE folder = ?", [found["name"]]):
        raise Refused("A folder can be deleted only when it is empty.")
    db.execute("DELETE FROM folders WHERE id = ?", [id])
    log(db, f"deleted the folder {found['name']}")


def unsubscribe(db: sqlite3.Connection, id: int) -> None:
    """Want a newsletter no more; the mails that have come stay."""
    db.execute("UPDATE subscriptions SET active = 0 WHERE id = ?", [id])
    log(db, f"unsubscribed from {id}")


def _new_name(db: sqlite3.Connection, table: str, name: str) -> None:
    if record(db, f"SELECT 1 FROM {table} WHERE lower(name) = lower(?)", [name]):
        raise Refused("This name is taken.")


# --- people -------------------------------------------------------------------------------------------------


def save_contact(db: sqlite3.Connection, id: int | None, form: Mapping[str, str], groups: Iterable[str]) -> int:
    """Add or change a contact, with its groups; returns its number.

    Raises:
        Refused: The name is empty, or the address is none, or is another contact's.
    """
    name = line("The name", form.get("name", ""))
    email = form.get("email", "").strip().lower()
    if not ADDRESS.fullmatch(email):
        raise Refused("This is no e-mail address.")
    if record(db, "SELECT 1 FROM contacts WHERE email = ? AND id IS NOT ?", [email, id]):
        raise Refused("Another contact has this address.")
    values = [name, email, *(" ".join(form.get(key, "").split())[:MAX_LINE] for key in ("phone", "company", "notes"))]
    if id is None:
        added = db.execute("INSERT INTO contacts (name, email, phone, company, notes) VALUES (?, ?, ?, ?, ?)", values)
        id = added.lastrowid
        assert id is not None  # an INSERT has one
    else:
        db.execute(
            "UPDATE contacts SET name = ?, email = ?, phone = ?, company = ?, notes = ? WHERE id = ?", [*values, id]
        )
    wanted = {number(group) for group in groups}
    for group in queries.groups(db):
        if group["id"] in wanted:
            db.execute("INSERT OR IGNORE INTO group_members (group_id, contact_id) VALUES (?, ?)", [group["id"], id])
        else:
            db.execute("DELETE FROM group_members WHERE group_id = ? AND contact_id = ?", [group["id"], id])
    log(db, f"saved the contact {name}")
    return id


def remove_contact(db: sqlite3.Connection, id: int) -> None:
    """Delete a contact."""
    db.execute("DELETE FROM group_members WHERE contact_id = ?", [id])
    db.execute("DELETE FROM contacts WHERE id = ?", [id])
    log(db, f"deleted the contact {id}")


def add_group(db: sqlite3.Connection, form: Mapping[str, str]) -> None:
    """A new group without members."""
    name = line("The name", form.get("name", ""), 40)
    _new_name(db, "contact_groups", name)
    db.execute("INSERT INTO contact_groups (name) VALUES (?)", [name])
    log(db, f"added the group {name}")


# --- settings -----------------------------------------------------------------------------------------------


def set_signature(db: sqlite3.Connection, form: Mapping[str, str]) -> None:
    """What stands under the owner's mails; empty for nothing."""
    text = form.get("signature", "").replace("\r\n", "\n").strip()[:1_000]
    db.execute("UPDATE profile SET signature = ?", [text])
    log(db, "changed the signature")


def set_vacation(db: sqlite3.Connection, form: Mapping[str, str]) -> None:
    """The answer that is sent by itself while the owner is away.

    Raises:
        Refused: It is on, and has no text, or its days are none or in the wrong order.
    """
    on = form.get("vacation") == "1"
    first, last = form.get("vacation_from", ""), form.get("vacation_until", "")
    subject = " ".join(form.get("vacation_subject", "").split())[:MAX_LINE]
    text = form.get("vacation_text", "").replace("\r\n", "\n").strip()[:MAX_TEXT]
    if on and not (_is_day(first) and _is_day(last)):
        raise Refused("Choose the first and the last day.")
    if on and last < first:
        raise Refused("The last day is before the first.")
    if on and not text:
        raise Refused("Write what the answer shall say.")
    sql = "UPDATE profile SET vacation = ?, vacation_from = ?, vacation_until = ?, vacation_subject = ?, vacation_text = ?"
    db.execute(sql, [int(on), first if _is_day(first) else "", last if _is_day(last) else "", subject, text])
    log(db, "changed the vacation answer")


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def set_density(db: sqlite3.Connection, value: str) -> None:
    """Comfortable or compact."""
    if value not in ("comfortable", "compact"):
        raise Refused("Choose a density.")
    db.execute("UPDATE settings SET value = ? WHERE key = 'density'", [value])


def line(what: str, text: str, most: int = MAX_LINE) -> str:
    """A text without breaks.

    Raises:
        Refused: It is empty or too long.
    """
    kept = " ".join(text.split())
    if not kept:
        raise Refused(f"{what} is empty.")
    if len(kept) > most:
        raise Refused(f"{what} is too long.")
    return kept
