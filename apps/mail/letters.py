"""Writing mail: drafts, files, sending, and taking back what still lies in the outbox.

A mail that was sent waits in the outbox for some seconds of the mailbox's clock. That clock stands still, so the mail
stays there until somebody clicks "Send now" or takes it back; one that lies in the outbox needs nothing more to go out.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from hashlib import sha256

from ..kit.numbers import number
from ..kit.store import Record, record, records, settings
from ..kit.web import Missing, Refused
from . import queries
from .changes import ADDRESS, MAX_LINE, MAX_TEXT, forget, log
from .clean import clean, text_of
from .files import type_of

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 10
_NAMED = re.compile(r"^(?:.*<)?\s*([^<>\s]+)\s*>?$")


def save(db: sqlite3.Connection, id: int | None, form: Mapping[str, str], kept: Sequence[int] = ()) -> int:
    """Keep a mail as a draft, whatever it lacks; returns its number.

    Args:
        db: The database.
        id: Of the draft; None for a new one.
        form: to, cc, bcc, subject, body; for a new one also reply_to or forward_of.
        kept: Files of the mail that is forwarded, to go along with a new draft.

    Raises:
        Missing: There is no such draft; it may have been sent.
    """
    body = clean(form.get("body", "")[:MAX_TEXT])
    values = [
        *(", ".join(_split(form.get(key, ""))) for key in ("to", "cc", "bcc")),
        " ".join(form.get("subject", "").split())[:MAX_LINE], body, text_of(body),
    ]  # fmt: skip
    if id is not None:
        _draft(db, id)
        db.execute(
            "UPDATE messages SET recipients = ?, cc = ?, bcc = ?, subject = ?, body = ?, text = ? WHERE id = ?",
            [*values, id],
        )
        return id
    me, now = queries.profile(db), settings(db)["now"]
    answered, passed_on = (_other(db, form.get(key, "")) for key in ("reply_to", "forward_of"))
    thread = answered["thread_id"] if answered else None
    sql = (
        "INSERT INTO messages (recipients, cc, bcc, subject, body, text, thread_id, status, sender_name, sender, reply_to,"
        " forward_of, signature, sent_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'draft', ?, ?, ?, ?, '', ?)"
    )
    whose = [me["name"], me["email"], answered and answered["id"], passed_on and passed_on["id"], now]
    added = db.execute(sql, [*values, thread, *whose]).lastrowid
    assert added is not None  # an INSERT has one
    if passed_on:
        _copy_files(db, passed_on["id"], added, kept)
    log(db, "began a mail", thread)
    return added


def attach(db: sqlite3.Connection, id: int, name: str, content: bytes) -> None:
    """Put a file to a draft.

    Raises:
        Refused: It is too large, or there are too many.
    """
    _draft(db, id)
    if len(content) > MAX_FILE_BYTES:
        raise Refused("A file may have 2 MB at most.")
    if len(queries.files(db, id)) >= MAX_FILES:
        raise Refused("A mail may have ten files at most.")
    plain = re.sub(r"[\x00-\x1f/\\\"]", "_", name.strip())[:120] or "file"
    sql = "INSERT INTO attachments (message_id, name, type, size, sha256, content) VALUES (?, ?, ?, ?, ?, ?)"
    db.execute(sql, [id, plain, type_of(plain), len(content), sha256(content).hexdigest(), content])


def detach(db: sqlite3.Connection, id: int, file: int) -> None:
    """Take a file from a draft."""
    _draft(db, id)
    db.execute("DELETE FROM attachments WHERE id = ? AND message_id = ?", [file, id])


def discard(db: sqlite3.Connection, id: int) -> None:
    """Throw a draft away, and a conversation that would be empty without it."""
    mail = _draft(db, id)
    if mail["thread_id"] is not None and _alone(db, mail):
        forget(db, [mail["thread_id"]])
    db.execute("DELETE FROM attachments WHERE message_id = ?", [id])
    db.execute("DELETE FROM messages WHERE id = ?", [id])
    log(db, "discarded a draft")


def _alone(db: sqlite3.Connection, mail: Record) -> bool:
    """Whether a mail is the only one of its conversation."""
    return record(db, "SELECT 1 FROM messages WHERE thread_id = ? AND id != ?", [mail["thread_id"], mail["id"]]) is None


def send(db: sqlite3.Connection, id: int) -> Record:
    """Put a draft into the outbox, into its conversation or a new one; returns it.

    Raises:
        Refused: It has no recipient, or an address that is none.
    """
    mail = _draft(db, id)
    people = [each for column in ("recipients", "cc", "bcc") for each in queries.addresses(mail[column])]
    if not people:
        raise Refused("Add at least one recipient.")
    for each in people:
        if not ADDRESS.fullmatch(each):
            raise Refused("One of the recipients is no e-mail address.")
    thread, subject = mail["thread_id"], mail["subject"] or "(no subject)"
    if thread is None:
        sql = "INSERT INTO threads (subject, folder, starred, unread) VALUES (?, 'sent', 0, 0)"
        thread = db.execute(sql, [subject]).lastrowid
    elif _alone(db, mail):  # it was taken back
        db.execute("UPDATE threads SET subject = ? WHERE id = ?", [subject, thread])
    sql = "UPDATE messages SET status = 'outbox', thread_id = ?, signature = ?, sent_at = ? WHERE id = ?"
    db.execute(sql, [thread, queries.profile(db)["signature"], settings(db)["now"], id])
    log(db, "sent a mail", thread)
    return {**mail, "thread_id": thread}


def take_back(db: sqlite3.Connection, id: int) -> None:
    """Make a mail in the outbox a draft again; a conversation that consists of it alone is not shown until it is sent."""
    mail = _waiting(db, id)
    db.execute("UPDATE messages SET status = 'draft', signature = '' WHERE id = ?", [id])
    log(db, "took a mail back", mail["thread_id"])


def send_now(db: sqlite3.Connection, id: int) -> None:
    """Let a mail go out: it cannot be taken back any more."""
    mail = _waiting(db, id)
    db.execute("UPDATE messages SET status = 'sent' WHERE id = ?", [id])
    log(db, "let a mail go", mail["thread_id"])


def prepared(db: sqlite3.Connection, query: Mapping[str, str]) -> Record:
    """A mail that was not begun yet: a new one, an answer to one person or all, or one to pass on.

    Raises:
        Missing: There is no such mail to answer or pass on.
    """
    mail: Record = {"id": None, "recipients": query.get("to", ""), "cc": "", "bcc": "", "subject": "", "body": "", "files": [],
            "reply_to": None, "forward_of": None, "thread_id": None, "signature": ""}  # fmt: skip
    for key in ("reply_to", "forward_of"):
        if other := _other(db, query.get(key, "")):
            mail |= {key: other["id"], "thread_id": other["thread_id"]}
            mail["subject"] = _prefixed("Re" if key == "reply_to" else "Fwd", other["subject"])
            if key == "forward_of":
                mail["files"] = queries.files(db, other["id"])
            else:
                mail |= _answered(queries.profile(db)["email"], other, everybody=query.get("all") == "1")
    return mail


def about(db: sqlite3.Connection, mail: Record) -> Record | None:
    """The mail that this one answers or passes on."""
    id = mail["reply_to"] or mail["forward_of"]
    return queries.mail(db, id) if id else None


def _answered(me: str, other: Record, everybody: bool) -> dict[str, str]:
    """Who gets an answer."""
    to = queries.addresses(other["recipients"]) if other["sender"] == me else [other["sender"]]
    if not everybody:
        return {"recipients": ", ".join(to)}
    rest = [*queries.addresses(other["recipients"]), *queries.addresses(other["cc"])]
    cc = [each for each in dict.fromkeys(rest) if each != me and each not in to]
    return {"recipients": ", ".join(to), "cc": ", ".join(cc)}


def _prefixed(prefix: str, subject: str) -> str:
    return subject if subject.lower().startswith(f"{prefix.lower()}:") else f"{prefix}: {subject}"


def _split(text: str) -> list[str]:
    """The addresses in a field, each once; a name before one is left out."""
    found = []
    for part in re.split(r"[,;\n]", text):
        if part.strip():
            named = _NAMED.match(part.strip())
            found.append((named[1] if named else part.strip()).lower()[:MAX_LINE])
    return list(dict.fromkeys(found))[:50]


def _other(db: sqlite3.Connection, id: str) -> Record | None:
    if not id:
        return None
    found = record(db, "SELECT * FROM messages WHERE id = ? AND status != 'draft'", [number(id)])
    if found is None:
        raise Missing("This record does not exist, or has been deleted.")
    return found


def _copy_files(db: sqlite3.Connection, source: int, target: int, kept: Sequence[int]) -> None:
    for file in records(db, "SELECT * FROM attachments WHERE message_id = ? ORDER BY id", [source]):
        if file["id"] in kept:
            attach(db, target, file["name"], file["content"])


def _draft(db: sqlite3.Connection, id: int) -> Record:
    return _having(db, id, "draft")


def _waiting(db: sqlite3.Connection, id: int) -> Record:
    return _having(db, id, "outbox")


def _having(db: sqlite3.Connection, id: int, status: str) -> Record:
    found = record(db, "SELECT * FROM messages WHERE id = ? AND status = ?", [id, status])
    if found is None:
        raise Missing("This mail is not there any more, or has been sent.")
    return found
