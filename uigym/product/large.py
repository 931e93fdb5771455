"""Large tables of a SQLite file: only what differs from a copy that was made when the product had just started."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uigym.state import Row, token

LARGE_ROWS = 5_000
"""A table with more rows is large, unless its probe says otherwise."""
BASE = "uigym.base"
"""The table of a state that says what the bases are: equal rows here, and what differs is all that differs."""


@dataclass(frozen=True, slots=True)
class Base:
    """What a product's large tables held when it had just started."""

    path: Path | None = None
    """A copy of the database, which nobody writes; None where no table is large."""
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By large table: those that are compared."""
    marks: tuple[Row, ...] = ()
    """By large table: how many rows, and the sha256 of them all."""

    def rows(self, table: str) -> int:
        """How many rows a large table held."""
        return next(int(mark["rows"]) for mark in self.marks if mark["table"] == table)


NO_BASE = Base()


def keep(database: sqlite3.Connection, copy: Path, large: Mapping[str, Sequence[str]]) -> Base:
    """Copy a database, for later comparison.

    Args:
        database: The open original, in a transaction.
        copy: The file to write.
        large: The columns to compare, by large table.
    """
    if not large:
        return NO_BASE
    with closing(sqlite3.connect(copy)) as kept:
        kept.execute("PRAGMA synchronous = OFF")  # it need not survive a power cut
        database.backup(kept)
    return Base(copy, large, tuple(_mark(database, table, columns) for table, columns in large.items()))


def _mark(database: sqlite3.Connection, table: str, columns: Sequence[str]) -> Row:
    seen, count = hashlib.sha256(), 0
    for values in database.execute(f"SELECT {listed(columns)} FROM {quoted(table)}"):
        seen.update(repr(values).encode())
        count += 1
    return {"table": table, "rows": count, "sha256": seen.hexdigest()}


def attach(database: sqlite3.Connection, base: Base) -> None:
    """Make the copy readable beside the original, as the schema `base`. Not within a transaction."""
    if base.path is not None:
        database.execute("ATTACH ? AS base", (f"{base.path.as_uri()}?mode=ro&immutable=1",))


def differing(
    database: sqlite3.Connection, base: Base, table: str, columns: Sequence[str], key: Sequence[str]
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The values of the rows that are not the same in the copy, now and there, each in the order of the key.

    Rows are matched by their place, which is the rowid, or the key where there is none: both are found without a search.
    What is gone is looked for only where the counts say that something is.
    """
    place, size = _place(database, table, key), len(columns)
    matched = " AND ".join(f"one.{quoted(column)} = other.{quoted(column)}" for column in place)
    unequal = " OR ".join(f"one.{quoted(column)} IS NOT other.{quoted(column)} COLLATE BINARY" for column in columns)
    main, copy = f"main.{quoted(table)}", f"base.{quoted(table)}"
    there = f"other.{quoted(place[0])} IS NOT NULL"
    found = database.execute(
        f"SELECT {there}, {listed(columns, 'one')}, {listed(columns, 'other')} FROM {main} AS one "
        f"LEFT JOIN {copy} AS other ON {matched} WHERE NOT ({there}) OR {unequal}"
    ).fetchall()
    now, was = [row[1 : size + 1] for row in found], [row[size + 1 :] for row in found if row[0]]
    (count,) = database.execute(f"SELECT count(*) FROM {main}").fetchone()
    if count - (len(now) - len(was)) < base.rows(table):
        gone = f"NOT EXISTS (SELECT 1 FROM {main} AS other WHERE {matched})"
        was += database.execute(f"SELECT {listed(columns, 'one')} FROM {copy} AS one WHERE {gone}").fetchall()
    order = [columns.index(column) for column in key if column in columns] or range(size)
    return _sorted(now, order), _sorted(was, order)


def _sorted(rows: list[tuple[Any, ...]], order: Sequence[int]) -> list[tuple[Any, ...]]:
    """As SQLite orders: NULL, numbers, texts, blobs."""
    kinds = {type(None): 0, int: 1, float: 1, str: 2, bytes: 3}
    return sorted(rows, key=lambda row: [(kinds[type(row[i])], row[i] if row[i] is not None else 0) for i in order])


def comparable(database: sqlite3.Connection, table: str, key: Sequence[str]) -> bool:
    """Whether the table is still defined as it was in the copy, and its rows have a place."""
    return bool(_place(database, table, key)) and _definition(database, "main", table) == _definition(
        database, "base", table
    )


def _definition(database: sqlite3.Connection, schema: str, table: str) -> str | None:
    found = database.execute(f"SELECT sql FROM {schema}.sqlite_master WHERE type = 'table' AND name = ?", (table,))
    return next((sql for (sql,) in found), None)


def _place(database: sqlite3.Connection, table: str, key: Sequence[str]) -> Sequence[str]:
    (keyed,) = database.execute("SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'", (table,)).fetchone()
    taken = {str(name).lower() for (name,) in database.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))}
    free = [name for name in ("rowid", "_rowid_", "oid") if name not in taken]
    return key if keyed or not free else free[:1]


def net(now: Iterable[Row], was: Iterable[Row]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Both without what they have in common, a row as often as it is there.

    Example:
        >>> net([{"id": 1}, {"id": 2}, {"id": 2}], [{"id": 2}, {"id": 3}])
        (({'id': 1}, {'id': 2}), ({'id': 3},))
    """
    now, was = tuple(now), tuple(was)
    both = Counter(token(row, ()) for row in now) & Counter(token(row, ()) for row in was)
    return _without(now, both), _without(was, both)


def _without(rows: tuple[Row, ...], less: Counter[str]) -> tuple[Row, ...]:
    left, kept = Counter(less), []
    for row in rows:
        name = token(row, ())
        if left[name]:
            left[name] -= 1
        else:
            kept.append(row)
    return tuple(kept)


def listed(columns: Sequence[str], table: str = "") -> str:
    """Columns as SQL names them, with commas."""
    return ", ".join(f"{table}.{quoted(column)}" if table else quoted(column) for column in columns)


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
