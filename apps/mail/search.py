"""The words of a search: from:ana subject:"spring fair" label:finance has:attachment before:2026-05-01 -draft.

What stands without an operator is looked for in subjects, texts, and the names and addresses of senders. Conditions on
a mail must hold for one and the same mail of a conversation. Spam and trash are left out unless `in:` names them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..kit.store import like

_WORD = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"|(\S+))', re.IGNORECASE)
_LIKE = "ESCAPE '\\'"
_ON_MAIL = {
    "from": f"(m.sender_name LIKE ? {_LIKE} OR m.sender LIKE ? {_LIKE})",
    "to": f"(m.recipients LIKE ? {_LIKE} OR m.cc LIKE ? {_LIKE} OR m.bcc LIKE ? {_LIKE} OR EXISTS (SELECT 1 FROM contacts c"
    f" WHERE c.name LIKE ? {_LIKE} AND instr(m.recipients || ' ' || m.cc, c.email) > 0))",
    "subject": f"m.subject LIKE ? {_LIKE}",
    "": f"(m.subject LIKE ? {_LIKE} OR m.text LIKE ? {_LIKE} OR m.sender_name LIKE ? {_LIKE} OR m.sender LIKE ? {_LIKE})",
    "filename": f"EXISTS (SELECT 1 FROM attachments a WHERE a.message_id = m.id AND a.name LIKE ? {_LIKE})",
}
_HAS_FILE = "EXISTS (SELECT 1 FROM attachments a WHERE a.message_id = m.id)"
_LABELLED = (
    "EXISTS (SELECT 1 FROM thread_labels l JOIN labels n ON n.id = l.label_id"
    " WHERE l.thread_id = t.id AND lower(n.name) = lower(?))"
)
_UNREAD = "(t.unread = 1 AND t.id NOT IN (SELECT thread_id FROM seen))"
_IS = {"unread": _UNREAD, "read": f"NOT {_UNREAD}", "starred": "t.starred = 1"}
MOST, LONGEST = 40, 2000
"""Conditions and letters of a search that are read."""
FIELDS = ("from", "to", "subject", "words", "label", "in", "after", "before", "attachment")
"""Of the form that writes a search."""


@dataclass(frozen=True)
class Term:
    """One condition."""

    operator: str
    """Empty for words that may stand anywhere."""
    value: str
    denied: bool = False


def parse(q: str) -> list[Term]:
    """The conditions of a search, the first of them where there are many; what is no operator is taken as words."""
    terms: list[Term] = []
    for match in _WORD.finditer(q[:LONGEST]):
        minus, operator, quoted, bare = match.groups()
        name, value = (operator or "").lower(), quoted if quoted is not None else bare
        if name and name not in _ON_MAIL and name not in ("has", "label", "in", "is", "before", "after"):
            name, value = "", f"{operator}:{value}"
        if value:
            terms.append(Term(name, value, bool(minus)))
    return terms[:MOST]


def where(q: str) -> tuple[str, list[str]]:
    """A condition in SQL on a conversation `t`, and its values."""
    terms = parse(q)
    on_mail = ["m.thread_id = t.id", "m.status != 'draft'"]
    on_thread: list[str] = []
    mail_values: list[str] = []
    thread_values: list[str] = []
    for term in terms:
        sql, values, of_mail = _condition(term)
        chosen, kept = (on_mail, mail_values) if of_mail else (on_thread, thread_values)
        chosen.append(f"NOT {sql}" if term.denied else sql)
        kept += values
    if not any(term.operator == "in" for term in terms):
        on_thread.append("t.folder NOT IN ('spam', 'trash')")
    condition = f"EXISTS (SELECT 1 FROM messages m WHERE {' AND '.join(on_mail)})"
    return " AND ".join([condition, *on_thread]), [*mail_values, *thread_values]


def _condition(term: Term) -> tuple[str, list[str], bool]:
    """SQL, values, and whether it is about a mail, not its conversation."""
    value = term.value
    if term.operator in ("before", "after"):
        return f"substr(m.sent_at, 1, 10) {'<' if term.operator == 'before' else '>='} ?", [value], True
    if term.operator == "has":
        return (_HAS_FILE if value.lower() == "attachment" else "0"), [], True
    if term.operator == "label":
        return _LABELLED, [value], False
    if term.operator == "in":
        return ("(1 OR ? = '')" if value.lower() == "anywhere" else "lower(t.folder) = lower(?)"), [value], False
    if term.operator == "is":
        return _IS.get(value.lower(), "0"), [], False
    sql = _ON_MAIL[term.operator]
    return sql, [like(value)] * sql.count("?"), True


def written(form: Mapping[str, str]) -> str:
    """The search that a filled form asks for."""
    parts = []
    for name in FIELDS:
        value = " ".join(form.get(name, "").replace('"', " ").split())
        if not value:
            continue
        if name == "attachment":
            parts.append("has:attachment")
        elif name == "words":
            parts.append(value)
        else:
            parts.append(f'{name}:"{value}"' if " " in value else f"{name}:{value}")
    return " ".join(parts)


def filled(q: str) -> dict[str, str]:
    """The form's fields that a search fills; what the form cannot say stands among the words."""
    fields = dict.fromkeys(FIELDS, "")
    for term in parse(q):
        if not term.denied and term.operator in FIELDS and not fields[term.operator]:
            fields[term.operator] = term.value
        elif not term.denied and term.operator == "has":
            fields["attachment"] = "1"
        else:
            shown = f'"{term.value}"' if " " in term.value else term.value
            word = f"{'-' if term.denied else ''}{term.operator}{':' if term.operator else ''}{shown}"
            fields["words"] = f"{fields['words']} {word}".strip()
    return fields
