"""The product's own data at one moment, and what differs between two moments."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from uigym.errors import HarnessError

Row: TypeAlias = dict[str, Any]
"""One row: column -> JSON value."""


@dataclass(frozen=True, slots=True)
class State:
    """The product's own data, read out of band at one moment.

    Of a large table only the rows are held that differ from the table's *base*: what it held when the product had
    just been prepared. Two such states are still compared exactly, since each says what its rows were in the base.
    """

    tables: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    """Rows by table, in the order of their primary key; values are JSON values."""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Primary key columns by table, () for a table without one; for a table not named here: `id`, else the first."""
    base: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    """By large table: what the base holds under the keys in which the table now differs from it."""

    def beside(self, other: State) -> State:
        """This state and another one together.

        Raises:
            HarnessError: A table of the same name is in both.
        """
        if not other.tables:
            return self
        if both := sorted(self.tables.keys() & other.tables.keys()):
            raise HarnessError(f"the table {both[0]!r} is read twice; give the product beside another name")
        return State({**self.tables, **other.tables}, {**self.keys, **other.keys}, {**self.base, **other.base})

    def under(self, name: str) -> State:
        """This state with its tables called "name.table"."""
        return State(*({f"{name}.{table}": held for table, held in each.items()} for each in self._parts()))

    def _parts(self) -> tuple[Mapping[str, Any], ...]:
        return self.tables, self.keys, self.base

    def digest(self) -> str:
        """sha256 over all rows, hex: equal states have equal digests."""
        held = {"tables": self.tables, "base": self.base} if self.base else self.tables
        return hashlib.sha256(json.dumps(held, sort_keys=True, default=str).encode()).hexdigest()

    def key(self, table: str, rows: Sequence[Row] = ()) -> tuple[str, ...]:
        """The columns that name a row of a table; () if nothing does, and rows are compared whole."""
        told = self.keys.get(table)
        if told is None and rows:
            told = ("id",) if "id" in rows[0] else tuple(rows[0])[:1]
        return tuple(told or ())


@dataclass(frozen=True, slots=True)
class Changed:
    """A row that is not the same in two states."""

    table: str
    key: tuple[str, ...]
    """The columns that name it; () where it is named by all."""
    before: Row | None
    """None if it is new."""
    after: Row | None
    """None if it is gone."""

    def __str__(self) -> str:
        row = self.before if self.before is not None else self.after or {}
        named = {column: row[column] for column in self.key} if self.key else row
        label = f"{self.table} {_columns(named)}"
        if self.before is None or self.after is None:
            rest = {column: value for column, value in row.items() if column not in self.key} if self.key else {}
            what = "added" if self.before is None else "removed"
            return f"{label}: {what}" + (f" with {_columns(rest)}" if rest else "")
        missing = object()
        old, new = self.before, self.after
        moved = [c for c in {**old, **new} if old.get(c, missing) != new.get(c, missing)]
        return f"{label}: " + ", ".join(f"{c} {shown(old.get(c))} -> {shown(new.get(c))}" for c in moved)


def pair(before: State, after: State, table: str) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """A table's rows in both states; of a large one only those that are of interest to either.

    A row that only one of the two holds, since in the other it is as in the base, is told for both.
    """
    old, new = tuple(before.tables.get(table, ())), tuple(after.tables.get(table, ()))
    if table not in before.base and table not in after.base:
        return old, new
    was, now = tuple(before.base.get(table, ())), tuple(after.base.get(table, ()))
    key = before.key(table) or after.key(table)
    return _filled(old, was, now, key), _filled(new, now, was, key)


def differences(before: State, after: State) -> Iterator[Changed]:
    """Every row that is not the same in both states, table by table: what is gone, what is altered, what is new."""
    for table in sorted({*before.tables, *after.tables}):
        old, new = pair(before, after, table)
        if old == new:
            continue
        rows = (*old, *new)
        key = before.key(table, rows) if table in before.keys or table not in after.keys else after.key(table, rows)
        if any(column not in row for row in rows for column in key):
            key = ()
        if any(len({token(row, key) for row in side}) < len(side) for side in (old, new)):
            key = ()
        first, last = by_token(old, key), by_token(new, key)
        for name in {**first, **last}:
            if first.get(name) != last.get(name):
                yield Changed(table, key, first.get(name), last.get(name))


def token(row: Row, key: Sequence[str]) -> str:
    """What names a row: its key as text, or all of it where there is no key."""
    return json.dumps([row.get(column) for column in key] if key else row, sort_keys=True, default=str)


def by_token(rows: Sequence[Row], key: Sequence[str]) -> dict[str, Row]:
    """Rows by what names them; equal rows without a key are counted."""
    found: dict[str, Row] = {}
    for row in rows:
        name, repeat = token(row, key), 0
        while name in found:
            repeat += 1
            name = f"{token(row, key)} #{repeat}"
        found[name] = row
    return found


def shown(value: Any) -> str:
    """A value as messages show it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def state_to_json(state: State) -> dict[str, Any]:
    """The state as a JSON object: rows by table, the keys that are known, and what the base of large tables says."""
    tables = {table: list(rows) for table, rows in state.tables.items()}
    record: dict[str, Any] = {"tables": tables, "keys": {table: list(key) for table, key in state.keys.items()}}
    if state.base:
        record["base"] = {table: list(rows) for table, rows in state.base.items()}
    return record


def state_from_json(record: Mapping[str, Any]) -> State:
    """The inverse of `state_to_json`."""
    tables = {table: tuple(rows) for table, rows in record["tables"].items()}
    keys = {table: tuple(key) for table, key in record.get("keys", {}).items()}
    return State(tables, keys, {table: tuple(rows) for table, rows in record.get("base", {}).items()})


def _filled(
    rows: tuple[Row, ...], own_base: tuple[Row, ...], other_base: tuple[Row, ...], key: Sequence[str]
) -> tuple[Row, ...]:
    """The rows, and those of the other's base that are there too, as this side's base does not say otherwise."""
    known = Counter(token(row, key) for row in own_base)
    more = []
    for row in other_base:
        name = token(row, key)
        if known[name]:
            known[name] -= 1
        else:
            more.append(row)
    return (*rows, *more)


def _columns(columns: Mapping[str, Any], most: int = 200) -> str:
    text = " ".join(f"{column}={shown(value)}" for column, value in columns.items())
    return text if len(text) <= most else text[:most] + "…"
