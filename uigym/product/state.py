"""Reading a product's state out of band."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from uigym.errors import ProductError, did_you_mean
from uigym.harness import Running
from uigym.product.command import fill
from uigym.product.large import (
    BASE,
    LARGE_ROWS,
    NO_BASE,
    Base,
    attach,
    comparable,
    differing,
    keep,
    listed,
    net,
    quoted,
)
from uigym.types import Row, State

if TYPE_CHECKING:
    from uigym.product.product import Product

BUSY_S = 5.0
"""How long a locked database is waited for."""


class Sqlite:
    """A probe that reads a SQLite file in one transaction, in the order of the primary keys.

    Write-ahead logging works. Blobs are read as hexadecimal text. A file or a table that is missing or locked is a
    `ProductError`, never an empty state.

    Of a table that is large when the product has just started, only those rows are read that differ from what it held
    then; see `uigym.types.State`.
    """

    def __init__(
        self,
        path: str,
        tables: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        *,
        whole: Sequence[str] = (),
        large_rows: int = LARGE_ROWS,
    ):
        """What to read.

        Args:
            path: The file; {workdir} is filled in, and a relative path starts there.
            tables: Names of the tables to read; None reads all but virtual ones, their shadows and SQLite's own.
            ignore: Tables, and columns as "table.column", to leave out: logs, times of the last visit.
            whole: Tables of which every row is read, however many they are.
            large_rows: A table with more rows than this is large.
        """
        self.path = path
        self.tables = tables
        self.ignore = tuple(ignore)
        self.whole = tuple(whole)
        self.large_rows = large_rows
        self._bases: WeakKeyDictionary[Running, Base] = WeakKeyDictionary()

    def control(self, product: Running) -> tuple[str, ...]:
        """Places that must not be reachable from the page: the file, its logs, and the copy of large tables."""
        path, copy = located(self.path, product), self._bases.get(product, NO_BASE).path
        logs = tuple(f"{path}{suffix}" for suffix in ("", "-wal", "-journal"))
        return logs if copy is None else (*logs, str(copy))

    async def started(self, product: Product) -> None:
        """Keep a copy of large tables, outside the product's work folder. A product calls it once it is ready."""
        path = located(self.path, product)
        if path.is_file():  # else the first reading tells of it
            copy = product.scratch / f"base-{id(self):x}.db"
            self._bases[product] = await asyncio.to_thread(self._keep, path, copy)

    def _keep(self, path: Path, copy: Path) -> Base:
        with reading(path) as database:
            try:
                names = self._names(database, path)
            except ProductError:  # the product may make its tables later
                return NO_BASE
            count = f"SELECT count(*) FROM (SELECT 1 FROM {{}} LIMIT {self.large_rows + 1})"
            large = {
                name: self._columns(database, name)
                for name in names
                if name not in self.whole
                and database.execute(count.format(quoted(name))).fetchone()[0] > self.large_rows
            }
            return keep(database, copy, large)

    async def __call__(self, product: Running) -> State:
        """The state at this moment.

        Raises:
            ProductError: The file or a table is missing, locked or no database.
        """
        base = self._bases.get(product, NO_BASE)
        return await asyncio.to_thread(self.read, located(self.path, product), base)

    def read(self, path: Path, base: Base = NO_BASE) -> State:
        """The state that a file holds, where it has large tables in comparison with what they held at first."""
        rows: dict[str, tuple[Row, ...]] = {}
        keys: dict[str, tuple[str, ...]] = {}
        was: dict[str, tuple[Row, ...]] = {}
        with reading(path, base) as database:
            for name in self._names(database, path):
                key, columns = _key(database, name), self._columns(database, name)
                keys[name] = key if set(key) <= {*columns} else ()
                if name in base.columns and comparable(database, name, key):
                    both = differing(database, base, name, columns, key)
                    rows[name], was[name] = net(*(_plain_rows(columns, side) for side in both))
                else:
                    rows[name] = _all(database, f"main.{quoted(name)}", columns, key)
            for name in base.columns.keys() - was.keys():  # defined anew or gone: it has nothing in common with itself
                rows.setdefault(name, ())
                was[name] = _all(database, f"base.{quoted(name)}", base.columns[name], base.columns[name])
        if base.marks:
            rows[BASE], keys[BASE] = base.marks, ("table",)
        return State(rows, keys, was)

    def _names(self, database: sqlite3.Connection, path: Path) -> list[str]:
        found = [name for (name,) in database.execute(_TABLES)]
        ignored = [name for name in self.ignore if "." not in name]
        for name in (*(self.tables or ()), *ignored, *self.whole):
            if name not in found:
                raise ProductError(f'{path.name} has no table "{name}". {did_you_mean(name, found)}')
        wanted = found if self.tables is None else sorted(self.tables)
        names = [name for name in wanted if name not in ignored]
        if not names:
            raise ProductError(f"{path} has no table to read: did the product create its tables?")
        return names

    def _columns(self, database: sqlite3.Connection, table: str) -> list[str]:
        """Those of the table that are to be read."""
        found = [column[0] for column in database.execute(f"SELECT * FROM {quoted(table)} LIMIT 0").description]
        ignored = [entry.partition(".")[2] for entry in self.ignore if entry.partition(".")[0] == table]
        for column in filter(None, ignored):
            if column not in found:
                hint = did_you_mean(column, found)
                raise ProductError(f'table "{table}" has no column "{column}" to ignore. {hint}')
        return [column for column in found if column not in ignored]


_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"


def located(path: str, product: Running) -> Path:
    """The file that a harness's string means for one product."""
    return Path(product.workdir) / fill(path, {**product.values, "workdir": str(product.workdir)})


@contextmanager
def reading(path: Path, base: Base = NO_BASE) -> Iterator[sqlite3.Connection]:
    """A read-only connection inside one transaction, with the base beside it.

    Raises:
        ProductError: The file is missing or locked, or is no database.
    """
    if not path.is_file():
        raise ProductError(f"there is no database file {path}: does the product write it there?")
    try:
        uri = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None)) as database:
            database.text_factory = _text
            attach(database, base)
            database.execute("BEGIN")
            yield database
    except sqlite3.Error as exc:
        raise ProductError(f"the database {path} cannot be read: {exc}") from exc


def _key(database: sqlite3.Connection, table: str) -> tuple[str, ...]:
    found = database.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,))
    return tuple(name for (name,) in found)


def _all(database: sqlite3.Connection, table: str, columns: Sequence[str], key: Sequence[str]) -> tuple[Row, ...]:
    found = database.execute(f"SELECT {listed(columns)} FROM {table} ORDER BY {listed(key) or 'rowid'}")
    return _plain_rows(columns, found)


def _plain_rows(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> tuple[Row, ...]:
    return tuple(dict(zip(columns, map(_plain, values), strict=True)) for values in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")
