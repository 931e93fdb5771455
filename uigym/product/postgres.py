"""Reading the state of a product that keeps its data in PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from uigym.errors import HarnessError, ProductError, did_you_mean
from uigym.harness import Running
from uigym.product.large import BASE, LARGE_ROWS, net
from uigym.product.postgres_capture import Base, Table, bases, changes, compact, install, read, remove, tables
from uigym.product.postgres_server import Connection, address, located, opened, run, shown
from uigym.types import Row, State

if TYPE_CHECKING:
    from uigym.product.product import Product

MAX_LOG = 20_000
"""Lines of the log of changes that are kept before they are added up."""


class Postgres:
    """A probe that reads the tables of a PostgreSQL schema in one transaction, in the order of their primary keys.

    Whole numbers, floating-point numbers, booleans, JSON and arrays are read as such; `numeric` as exact text such as
    "12.50"; times as ISO 8601, those with a zone in UTC; bytes in hexadecimal; all else as PostgreSQL writes it.

    Of a large table only those rows are read that differ from what it held when the product had just started, or from
    the template where the reset is a `PostgresTemplate`: triggers in a schema `uigym` write down what changes.
    """

    def __init__(
        self,
        dsn: str = "{dsn}",
        tables: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        *,
        schema: str = "public",
        whole: Sequence[str] = (),
        large_rows: int = LARGE_ROWS,
    ):
        """What to read.

        Args:
            dsn: The database, as an address or as "host=... dbname=..."; {dsn} and {database} are those that a
                `PostgresTemplate` prepares.
            tables: Names of the tables to read; None reads all of the schema.
            ignore: Tables, and columns as "table.column", to leave out: logs, times of the last visit.
            schema: Where the tables are.
            whole: Tables of which every row is read, however many they are.
            large_rows: A table with more rows than this is large.
        """
        self.dsn = dsn
        self.tables = tables
        self.ignore = tuple(ignore)
        self.schema = schema
        self.whole = tuple(whole)
        self.large_rows = large_rows
        self._installed: WeakKeyDictionary[Running, tuple[str, list[Table]]] = WeakKeyDictionary()

    def control(self, product: Running) -> tuple[str, ...]:
        """Places that must not be reachable from the page: the server."""
        return (address(located(self.dsn, product)),)

    async def prepare(self, product: Product) -> None:
        """Nothing is needed; but a product that was prepared is told when it has `ended`."""

    async def started(self, product: Product) -> None:
        """Have what changes in large tables written down from now on.

        Raises:
            ProductError: The database cannot be reached, or its user may not create triggers there.
        """
        dsn = located(self.dsn, product)
        if installed := await asyncio.to_thread(self._install, dsn):
            self._installed[product] = dsn, installed

    def _install(self, dsn: str) -> list[Table]:
        with opened(dsn) as database:
            known = bases(database)
            large = [
                table
                for table in self._tables(database, dsn, some=False)
                if table.name not in self.whole and table.oid not in known and self._is_large(database, table)
            ]
            if not large:
                return []
            for table in large:
                if not table.plain:
                    raise HarnessError(
                        f'the table "{table.name}" is large, and what changes in it cannot be written down, since it is '
                        f'partitioned or inherits. Read all of it with whole=("{table.name}",), or leave it out with ignore'
                    )
            _check_may_install(database, large[0])
            install(database, large, self._ignored)
            return large

    def _is_large(self, database: Connection, table: Table) -> bool:
        some = f"SELECT FROM {table.sql} LIMIT {self.large_rows + 1}"
        return bool(run(database, f"SELECT count(*) FROM ({some}) AS part")[0][0] > self.large_rows)

    async def ended(self, product: Product) -> None:
        """Take the triggers away again, where the database is still there."""
        dsn, installed = self._installed.pop(product, ("", []))
        if installed:
            with suppress(ProductError):  # it may have been dropped meanwhile, and the triggers with it
                await asyncio.to_thread(self._remove, dsn, installed)

    def _remove(self, dsn: str, installed: Sequence[Table]) -> None:
        with opened(dsn) as database:
            remove(database, installed)

    async def __call__(self, product: Running) -> State:
        """The state at this moment.

        Raises:
            ProductError: The database or a table is missing, locked or cannot be reached.
        """
        dsn = located(self.dsn, product)
        if product in self._installed:
            await asyncio.to_thread(self._compact, dsn)
        return await asyncio.to_thread(self.read, dsn)

    def _compact(self, dsn: str) -> None:
        with opened(dsn) as database:
            compact(database, MAX_LOG)

    def read(self, dsn: str) -> State:
        """The state that a database holds."""
        rows: dict[str, tuple[Row, ...]] = {}
        keys: dict[str, tuple[str, ...]] = {}
        was: dict[str, tuple[Row, ...]] = {}
        marks: list[Row] = []
        with opened(dsn) as database:
            run(database, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            found, known = self._tables(database, dsn), self._large(bases(database))
            _check_there(found, known)
            for table in found:
                ignored = self._ignored(table)
                keys[table.name] = () if {*table.key} & {*ignored} else table.key
                if base := known.get(table.oid):
                    _check_shape(table, base)
                    sides = [_rows(table, ignored, side) for side in changes(database, table)]
                    rows[table.name], was[table.name] = net(*sides)
                    marks.append({"table": table.name, "rows": base.rows, "sum": base.sum})
                else:
                    rows[table.name] = tuple(_rows(table, ignored, read(database, table)))
        if marks:
            rows[BASE], keys[BASE] = tuple(marks), ("table",)
        return State(rows, keys, was)

    def _large(self, known: dict[int, Base]) -> dict[int, Base]:
        """Those bases in comparison with which this probe reads."""
        left_out = {*self.whole, *self.ignore}
        return {
            oid: base
            for oid, base in known.items()
            if base.schema == self.schema
            and base.rows > self.large_rows
            and base.name not in left_out
            and (self.tables is None or base.name in self.tables)
        }

    def _tables(self, database: Connection, dsn: str, some: bool = True) -> list[Table]:
        found = {table.name: table for table in tables(database) if table.schema == self.schema}
        ignored = [entry for entry in self.ignore if "." not in entry]
        if found or some:
            for name in (*(self.tables or ()), *ignored, *self.whole):
                if name not in found:
                    where = f"the database {shown(dsn)}: schema {self.schema!r}"
                    raise ProductError(f'{where} has no table "{name}". {did_you_mean(name, found)}')
        wanted = sorted(found) if self.tables is None else sorted(self.tables)
        names = [name for name in wanted if name not in ignored and name in found]
        if not names and some:
            raise ProductError(
                f"the database {shown(dsn)} has no table to read in the schema {self.schema!r}: "
                "did the product create its tables, and is it the right schema?"
            )
        return [found[name] for name in names]

    def _ignored(self, table: Table) -> list[str]:
        """Columns of the table that are left out."""
        entries = [entry.partition(".") for entry in self.ignore]
        columns = [column for name, _, column in entries if name == table.name and column]
        for column in columns:
            if column not in table.types:
                raise ProductError(
                    f'table "{table.name}" has no column "{column}" to ignore. {did_you_mean(column, table.types)}'
                )
        return columns


def _check_may_install(database: Connection, table: Table) -> None:
    told = run(database, """
      SELECT current_user, has_database_privilege(current_database(), 'CREATE'), current_database(),
        has_table_privilege(%s::oid, 'TRIGGER') AND pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = %s
    """, table.oid, table.oid)  # fmt: skip
    user, may_create, name, owns = told[0]
    if not (may_create and owns):
        lacks = f'own the table "{table.name}"' if may_create else f'create a schema in "{name}"'
        raise ProductError(
            f'the table "{table.name}" is large, so triggers must write down what changes in it, but the user "{user}" may '
            f'not {lacks}. Give the dsn of a user who may, or read all rows with whole=("{table.name}",)'
        )


def _check_there(found: Sequence[Table], known: dict[int, Base]) -> None:
    there = {table.oid: table.name for table in found}
    for oid, base in known.items():
        if there.get(oid) != base.name:
            raise ProductError(
                f'the large table "{base.name}" was dropped, renamed or made anew since the product\'s start, so that what changed '
                f'in it is not known. Read all of it with whole=("{base.name}",)'
            )


def _check_shape(table: Table, base: Base) -> None:
    if table.shape != base.shape:
        raise ProductError(
            f'the large table "{table.name}" was altered since the product\'s start, or its triggers uigym_row and '
            f"uigym_all were, so that what changed in it is not known. Let the product alter it before it is ready, or "
            f'read all of it with whole=("{table.name}",)'
        )


def _rows(table: Table, ignored: Sequence[str], texts: Iterable[str]) -> Iterator[Row]:
    columns = [(column, kind.split(" generated")[0]) for column, kind in table.types.items() if column not in ignored]
    for text in texts:
        row = json.loads(text, parse_float=Decimal)
        yield {column: _plain(row[column], kind) for column, kind in columns}


def _plain(value: Any, kind: str) -> Any:
    if isinstance(value, Decimal | int) and kind == "numeric":
        return format(Decimal(value), "f")
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, str):
        return value.removeprefix("\\x") if kind == "bytea" else value
    if isinstance(value, list):
        return [_plain(one, kind.removesuffix("[]")) for one in value]
    return {name: _plain(one, "") for name, one in value.items()} if isinstance(value, dict) else value
