"""Reading a product's state out of band."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from uigym.errors import ProductError, did_you_mean
from uigym.harness import Running
from uigym.product.command import fill
from uigym.types import Row, State

BUSY_S = 5.0
"""How long a locked database is waited for."""


class Sqlite:
    """A probe that reads all rows of a SQLite file in one transaction, in the order of the primary keys.

    Write-ahead logging works. Blobs are read as hexadecimal text. A file or a table that is missing or locked is a
    `ProductError`, never an empty state.
    """

    def __init__(self, path: str, tables: Sequence[str] | None = None, ignore: Sequence[str] = ()):
        """What to read.

        Args:
            path: The file; {workdir} is filled in, and a relative path starts there.
            tables: Names of the tables to read; None reads all but virtual ones, their shadows and SQLite's own.
            ignore: Tables, and columns as "table.column", to leave out: logs, times of the last visit.
        """
        self.path = path
        self.tables = tables
        self.ignore = tuple(ignore)

    async def __call__(self, product: Running) -> State:
        """The state at this moment.

        Raises:
            ProductError: The file or a table is missing, locked or no database.
        """
        return await asyncio.to_thread(self.read, located(self.path, product))

    def read(self, path: Path) -> State:
        """The state that a file holds."""
        with reading(path) as database:
            names = self._names(database, path)
            keys = {name: _key(database, name) for name in names}
            rows = {name: _rows(database, name, keys[name]) for name in names}
            rows = self._without_ignored(rows, path)
        return State(rows, keys)

    def _names(self, database: sqlite3.Connection, path: Path) -> list[str]:
        found = [name for (name,) in database.execute(_TABLES)]
        ignored = [name for name in self.ignore if "." not in name]
        for name in (*(self.tables or ()), *ignored):
            if name not in found:
                raise ProductError(f'{path.name} has no table "{name}". {did_you_mean(name, found)}')
        wanted = found if self.tables is None else sorted(self.tables)
        names = [name for name in wanted if name not in ignored]
        if not names:
            raise ProductError(f"{path} has no table to read: did the product create its tables?")
        return names

    def _without_ignored(self, rows: dict[str, tuple[Row, ...]], path: Path) -> dict[str, tuple[Row, ...]]:
        for entry in self.ignore:
            table, _, column = entry.partition(".")
            if not column or not rows.get(table):
                continue
            if column not in rows[table][0]:
                hint = did_you_mean(column, rows[table][0])
                raise ProductError(f'{path.name}: table "{table}" has no column "{column}" to ignore. {hint}')
            rows[table] = tuple({k: v for k, v in row.items() if k != column} for row in rows[table])
        return rows


_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"


def located(path: str, product: Running) -> Path:
    """The file that a harness's string means for one product."""
    return Path(product.workdir) / fill(path, {**product.values, "workdir": str(product.workdir)})


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection inside one transaction.

    Raises:
        ProductError: The file is missing or locked, or is no database.
    """
    if not path.is_file():
        raise ProductError(f"there is no database file {path}: does the product write it there?")
    try:
        uri = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None)) as database:
            database.text_factory = _text
            database.execute("BEGIN")
            yield database
    except sqlite3.Error as exc:
        raise ProductError(f"the database {path} cannot be read: {exc}") from exc


def _key(database: sqlite3.Connection, table: str) -> tuple[str, ...]:
    found = database.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,))
    return tuple(name for (name,) in found)


def _rows(database: sqlite3.Connection, table: str, key: Sequence[str]) -> tuple[Row, ...]:
    order = ", ".join(_quoted(column) for column in key) or "rowid"
    cursor = database.execute(f"SELECT * FROM {_quoted(table)} ORDER BY {order}")
    columns = [column[0] for column in cursor.description]
    return tuple(dict(zip(columns, map(_plain, values), strict=True)) for values in cursor)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")
