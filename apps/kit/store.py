"""An app's database: one SQLite file, whose data can always be made again from a seed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Rows = Sequence[tuple[Any, ...]]
SETTINGS = "CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
"""Appearance, the moment that the app takes for now (`now`), and whatever else a seed decides."""


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose work is committed at the end, or undone if the block raises; rows read by column name.

    Durability is given up for speed: the data can be made again from its seed.
    """
    connection = sqlite3.connect(path, timeout=10, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()  # rolls back what was not committed


def fill(path: Path, schema: str, tables: Mapping[str, Rows], settings: Mapping[str, str]) -> None:
    """Replace all data, in one transaction; counters of ids begin anew.

    Args:
        path: The database file; made if it is not there.
        schema: CREATE statements, each IF NOT EXISTS; the table of settings need not be among them.
        tables: Rows by table, whole, in the order of their columns; every table of the schema stands here.
        settings: The rows of the table `settings`.
    """
    with connect(path) as db:
        for statement in (SETTINGS + schema).split(";"):
            db.execute(statement)
        for table, rows in {"settings": tuple(settings.items()), **tables}.items():
            db.execute(f"DELETE FROM {table}")
            if rows:
                db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def lead_to(path: Path, others: Iterable[str]) -> None:
    """Let the sidebar lead to products that run beside the app: "desk", "books"."""
    with connect(path) as db:
        db.execute("INSERT OR REPLACE INTO settings VALUES ('others', ?)", [",".join(others)])


def records(db: sqlite3.Connection, sql: str, values: Iterable[Any] = ()) -> list[Record]:
    """The rows of a query."""
    return [dict(row) for row in db.execute(sql, tuple(values))]


def record(db: sqlite3.Connection, sql: str, values: Iterable[Any] = ()) -> Record | None:
    """The first row of a query; None if it has none."""
    row = db.execute(sql, tuple(values)).fetchone()
    return None if row is None else dict(row)


def settings(db: sqlite3.Connection) -> dict[str, str]:
    """The table of settings."""
    return {row["key"]: row["value"] for row in db.execute("SELECT key, value FROM settings")}


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list."""

    rows: list[Record]
    number: int
    """From 1."""
    pages: int
    first: int
    """Position of the first row in the whole list, from 1; 0 if there is none."""
    total: int


def paged(db: sqlite3.Connection, sql: str, values: Iterable[Any], wanted: int, size: int) -> Page:
    """A page of a query's rows, of `size` rows; a number beyond the last page gives the last."""
    values = tuple(values)
    total = db.execute(f"SELECT count(*) FROM ({sql})", values).fetchone()[0]
    pages = max(1, -(-total // size))
    number = min(max(1, wanted), pages)
    skipped = (number - 1) * size
    rows = records(db, f"{sql} LIMIT ? OFFSET ?", (*values, size, skipped))
    return Page(rows, number, pages, skipped + 1 if rows else 0, total)


def page_number(query: Mapping[str, str]) -> int:
    """The page that a query string asks for; 1 if it says nothing sensible."""
    text = query.get("page", "1")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 7 else 1


def like(text: str) -> str:
    """A pattern for LIKE ? ESCAPE '\\' that finds the text itself anywhere, its % and _ included.

    SQLite refuses a very long pattern: of a text, the first 2,000 letters are looked for.
    """
    return "%" + text[:2000].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
