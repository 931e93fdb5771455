"""What an episode changed in the product's data, row by row, with what nobody asked for marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Literal

from uigym.state import Changed, State, differences, shown

MOST = 300
"""Rows that are shown."""
_MOST_VALUE = 2000


@dataclass(frozen=True, slots=True)
class Value:
    """One column of a changed row."""

    column: str
    before: str | None
    """As JSON; None where there was none."""
    after: str | None
    aside: bool
    """Whether its change is among those that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row."""

    kind: Literal["added", "removed", "changed"]
    key: str
    """What names it, as "id=4"."""
    values: Sequence[Value]
    aside: bool
    """Whether nobody asked for it."""


@dataclass(frozen=True, slots=True)
class Table:
    """The changes of one table."""

    name: str
    changes: Sequence[Change]
    rows: int
    """In the table, at the end."""


@dataclass(frozen=True, slots=True)
class Changes:
    """All of them."""

    tables: Sequence[Table]
    more: bool
    """Whether there are more than are shown."""
    same: Sequence[tuple[str, int]]
    """(name, rows) of the tables that stayed as they were."""
    before: str
    """Digest of the state."""
    after: str


def changes(before: State, after: State, effects: Sequence[str]) -> Changes:
    """Compare two states.

    Args:
        before: When the episode began.
        after: When it ended.
        effects: What nobody asked for, as the verdict lists it.
    """
    found = list(islice(differences(before, after), MOST + 1))
    tables = [
        Table(name, [change(each, effects) for each in group], len(after.tables.get(name, ())))
        for name, group in groupby(found[:MOST], key=lambda each: each.table)
    ]
    touched = {table.name for table in tables}
    names = sorted({*before.tables, *after.tables} - touched)
    more = len(found) > MOST
    same = [] if more else [(name, len(after.tables.get(name, ()))) for name in names]
    return Changes(tables, more, same, before.digest(), after.digest())


def change(found: Changed, effects: Sequence[str]) -> Change:
    """One changed row, told."""
    old, new = found.before or {}, found.after or {}
    key = " ".join(f"{column}={shown((found.after or old).get(column))}" for column in found.key)
    effect = _effect(found, key, effects)
    kind: Literal["added", "removed", "changed"] = (
        "added" if found.before is None else "removed" if found.after is None else "changed"
    )
    columns = [c for c in {**old, **new} if kind != "changed" or old.get(c, _NONE) != new.get(c, _NONE)]
    values = [
        _value(column, old, new, kind == "changed", effect)
        for column in columns
        if kind == "changed" or column not in found.key
    ]
    return Change(kind, key, values, bool(effect))


def _effect(found: Changed, key: str, effects: Sequence[str]) -> str:
    """The side effect that speaks of a row; empty if none does."""
    whole = str(found)
    named = f"{found.table} {key}:"
    return next((each for each in effects if each == whole or (key and each.startswith(named))), "")


def _value(column: str, old: Any, new: Any, moved: bool, effect: str) -> Value:
    before = _shown(old[column]) if column in old else None
    after = _shown(new[column]) if column in new else None
    aside = bool(effect) and (not moved or f"{column} {shown(old.get(column))} -> " in effect)
    return Value(column, before, after, aside)


def _shown(value: Any) -> str:
    text = shown(value)
    return text if len(text) <= _MOST_VALUE else f"{text[:_MOST_VALUE]}…"


_NONE = object()
