"""What the pages read: lists of conversations, a conversation with its mails, people, labels, counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from ..kit.store import Page, Record, like, paged, record, records
from . import search
from .schema import SYSTEM_FOLDERS

UNREAD = "(t.unread = 1 AND t.id NOT IN (SELECT thread_id FROM seen))"
_SHOWN = "EXISTS (SELECT 1 FROM messages m WHERE m.thread_id = t.id AND m.status IN ('received', 'sent', 'outbox'))"
_LAST = "(SELECT max(m.sent_at) FROM messages m WHERE m.thread_id = t.id AND m.status != 'draft')"
_SENT = "t.folder NOT IN ('spam', 'trash') AND EXISTS (SELECT 1 FROM messages m WHERE m.thread_id = t.id AND m.status = 'sent')"


def profile(db: sqlite3.Connection) -> Record:
    """The mailbox's owner: name, address, signature, answer while away."""
    found = record(db, "SELECT * FROM profile")
    assert found is not None  # every seed has one
    return found


def folders(db: sqlite3.Connection) -> list[Record]:
    """The owner's own folders."""
    return records(db, "SELECT * FROM folders ORDER BY name")


def labels(db: sqlite3.Connection) -> list[Record]:
    """All labels, with the number of conversations that have each."""
    counted = "(SELECT count(*) FROM thread_labels l WHERE l.label_id = labels.id)"
    return records(db, f"SELECT *, {counted} AS threads FROM labels ORDER BY name")


def unread_counts(db: sqlite3.Connection) -> dict[str, int]:
    """Unread conversations by folder, and the numbers of drafts and of mails in the outbox."""
    counts = {
        row["folder"]: row["n"]
        for row in records(db, f"SELECT folder, count(*) AS n FROM threads t WHERE {UNREAD} GROUP BY 1")
    }
    for status, name in (("draft", "drafts"), ("outbox", "outbox")):
        counts[name] = db.execute("SELECT count(*) FROM messages WHERE status = ?", [status]).fetchone()[0]
    return counts


def threads(db: sqlite3.Connection, place: str, q: str, number: int, size: int) -> Page:
    """A page of the conversations of a place, the newest first.

    Args:
        db: The database.
        place: A folder, "starred", "sent", "search", or "f3" and "l3" for own folders and labels.
        q: What is searched for, where the place is "search".
        number: Of the page, from 1.
        size: Conversations on a page.
    """
    condition, values = _place(db, place, q)
    sql = f"SELECT t.*, {UNREAD} AS is_unread, {_LAST} AS last_at FROM threads t WHERE {condition} AND {_SHOWN} ORDER BY last_at DESC, t.id DESC"
    page = paged(db, sql, values, number, size)
    _tell_more(db, page.rows)
    return page


def _place(db: sqlite3.Connection, place: str, q: str) -> tuple[str, list[Any]]:
    if place == "search":
        return search.where(q)
    if place == "starred":
        return "t.starred = 1 AND t.folder NOT IN ('spam', 'trash')", []
    if place == "sent":
        return _SENT, []
    if place in SYSTEM_FOLDERS:
        return "t.folder = ?", [place]
    if place.startswith("l"):
        on = "EXISTS (SELECT 1 FROM thread_labels l WHERE l.thread_id = t.id AND l.label_id = ?)"
        return f"{on} AND t.folder NOT IN ('spam', 'trash')", [int(place[1:])]
    return "t.folder = (SELECT name FROM folders WHERE id = ?)", [int(place[1:])]


def place_title(db: sqlite3.Connection, place: str) -> tuple[str, bool]:
    """What a place is called, and whether that is a text of the interface; ("", ...) if there is no such place."""
    if place in ("starred", "search", *SYSTEM_FOLDERS):
        return place.capitalize(), True
    if place[:1] in ("f", "l") and place[1:].isascii() and place[1:].isdigit() and len(place) < 9:
        table = "folders" if place[0] == "f" else "labels"
        found = record(db, f"SELECT name FROM {table} WHERE id = ?", [int(place[1:])])
        return (found["name"] if found else ""), False
    return "", False


def _tell_more(db: sqlite3.Connection, rows: list[Record]) -> None:
    """Add to conversations what a list shows of their mails: who, how many, the beginning of the last, files, labels."""
    ids = [row["id"] for row in rows]
    marks = ", ".join("?" * len(ids))
    mails: dict[int, list[Record]] = {id: [] for id in ids}
    sql = f"SELECT thread_id, sender_name, status, recipients, text, EXISTS (SELECT 1 FROM attachments a WHERE a.message_id = messages.id) AS clip FROM messages WHERE thread_id IN ({marks}) AND status != 'draft' ORDER BY sent_at, id"
    for mail in records(db, sql, ids):
        mails[mail["thread_id"]].append(mail)
    tags: dict[int, list[Record]] = {id: [] for id in ids}
    sql = f"SELECT l.thread_id, n.* FROM thread_labels l JOIN labels n ON n.id = l.label_id WHERE l.thread_id IN ({marks}) ORDER BY n.name"
    for tag in records(db, sql, ids):
        tags[tag["thread_id"]].append(tag)
    names = names_of(db)
    for row in rows:
        own = mails[row["id"]]
        others = list(dict.fromkeys(mail["sender_name"] for mail in own if mail["status"] == "received"))
        to = [names.get(address, address) for address in own[-1]["recipients"].split(", ")]
        row |= {
            "senders": others, "to": to, "count": len(own), "clip": any(mail["clip"] for mail in own),
            "mine": any(mail["status"] != "received" for mail in own), "labels": tags[row["id"]],
            "snippet": " ".join(own[-1]["text"].split())[:160], "waiting": own[-1]["status"] == "outbox",
        }  # fmt: skip


def names_of(db: sqlite3.Connection) -> dict[str, str]:
    """Names by address: contacts, and the owner."""
    sql = "SELECT email, name FROM contacts UNION ALL SELECT email, name FROM profile"
    return {row["email"]: row["name"] for row in records(db, sql)}


def thread(db: sqlite3.Connection, id: int) -> Record | None:
    """A conversation with its labels and mails; drafts of answers are among them."""
    found = record(db, f"SELECT t.*, {UNREAD} AS is_unread FROM threads t WHERE id = ?", [id])
    if found is None:
        return None
    sql = "SELECT n.* FROM thread_labels l JOIN labels n ON n.id = l.label_id WHERE l.thread_id = ? ORDER BY n.name"
    mails = records(db, "SELECT * FROM messages WHERE thread_id = ? ORDER BY status = 'draft', sent_at, id", [id])
    return {**found, "labels": records(db, sql, [id]), "mails": with_people(db, mails)}


def mails(db: sqlite3.Connection, status: str) -> list[Record]:
    """All drafts, or all mails in the outbox, the newest first."""
    sql = "SELECT * FROM messages WHERE status = ? ORDER BY sent_at DESC, id DESC"
    return with_people(db, records(db, sql, [status]))


def mail(db: sqlite3.Connection, id: int) -> Record | None:
    """A mail with its files and the names of its people."""
    found = records(db, "SELECT * FROM messages WHERE id = ?", [id])
    return with_people(db, found)[0] if found else None


def with_people(db: sqlite3.Connection, mails: list[Record]) -> list[Record]:
    """Mails with their files, and their addresses as (name, address)."""
    names = names_of(db)
    for mail in mails:
        mail["files"] = files(db, mail["id"])
        for column in ("recipients", "cc", "bcc"):
            mail[f"{column}_shown"] = [(names.get(each, each), each) for each in addresses(mail[column])]
    return mails


def addresses(column: str) -> list[str]:
    """The addresses in a column."""
    return column.split(", ") if column else []


def files(db: sqlite3.Connection, message: int) -> list[Record]:
    """A mail's files, without their content."""
    return records(db, "SELECT id, name, type, size FROM attachments WHERE message_id = ? ORDER BY id", [message])


def file(db: sqlite3.Connection, id: int) -> Record | None:
    """A file with its content, and the conversation that it is in."""
    sql = "SELECT a.*, m.thread_id, m.status FROM attachments a JOIN messages m ON m.id = a.message_id WHERE a.id = ?"
    return record(db, sql, [id])


def contacts(db: sqlite3.Connection, q: str, group: str, number: int, size: int) -> Page:
    """A page of the address book, by name."""

    pattern = like(q)
    conditions, values = (
        ["(name LIKE ? ESCAPE '\\' OR email LIKE ? ESCAPE '\\' OR company LIKE ? ESCAPE '\\')"],
        [pattern] * 3,
    )
    if group.isascii() and group.isdigit():
        conditions.append("id IN (SELECT contact_id FROM group_members WHERE group_id = ?)")
        values.append(group)
    return paged(db, f"SELECT * FROM contacts WHERE {' AND '.join(conditions)} ORDER BY name, id", values, number, size)


def contact(db: sqlite3.Connection, id: int) -> Record | None:
    """A contact with the numbers of its groups."""
    found = record(db, "SELECT * FROM contacts WHERE id = ?", [id])
    if found is None:
        return None
    members = records(db, "SELECT group_id FROM group_members WHERE contact_id = ?", [id])
    return {**found, "groups": [row["group_id"] for row in members]}


def groups(db: sqlite3.Connection) -> list[Record]:
    """The groups of contacts and how many are in each."""
    counted = "(SELECT count(*) FROM group_members m WHERE m.group_id = contact_groups.id)"
    return records(db, f"SELECT *, {counted} AS members FROM contact_groups ORDER BY name")


def suggestions(db: sqlite3.Connection, q: str) -> list[Record]:
    """People and groups whose name or address begins, or has a word that begins, with what was typed."""
    wanted = q.strip().lower()
    if not wanted:
        return []
    found: list[Record] = []
    for group in groups(db):
        if _begins(group["name"], wanted):
            members = records(
                db,
                "SELECT email FROM contacts c JOIN group_members m ON m.contact_id = c.id WHERE m.group_id = ? ORDER BY c.name",
                [group["id"]],
            )
            found.append({"name": group["name"], "emails": [row["email"] for row in members]})
    known = records(db, "SELECT name, email FROM contacts ORDER BY name")
    seen = {row["email"] for row in known}
    others = records(
        db, "SELECT DISTINCT sender_name AS name, sender AS email FROM messages WHERE status = 'received' ORDER BY 1"
    )
    people = [*known, *(row for row in others if row["email"] not in seen)]
    found += [
        {"name": row["name"], "emails": [row["email"]]}
        for row in people
        if _begins(row["name"], wanted) or row["email"].startswith(wanted)
    ]
    return found[:6]


def _begins(name: str, wanted: str) -> bool:
    return name.lower().startswith(wanted) or f" {wanted}" in name.lower()


def rules(db: sqlite3.Connection) -> list[Record]:
    """All rules, with the names of their labels."""
    return records(
        db, "SELECT r.*, n.name AS label, n.colour FROM rules r LEFT JOIN labels n ON n.id = r.label_id ORDER BY r.id"
    )


def subscription(db: sqlite3.Connection, senders: Iterable[str]) -> Record | None:
    """The newsletter that one of the senders is, if it is still wanted."""
    for sender in senders:
        if found := record(db, "SELECT * FROM subscriptions WHERE sender = ? AND active = 1", [sender]):
            return found
    return None
