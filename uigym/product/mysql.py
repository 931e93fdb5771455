"""State and resets of products on MySQL or MariaDB."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from uigym.errors import HarnessError, ProductError, did_you_mean
from uigym.harness import Running
from uigym.product.calls import finished
from uigym.product.mysql_kept import Guarded, Kept, Table, clone, tables
from uigym.product.mysql_server import Server, check_dsn, located, quoted
from uigym.state import token
from uigym.types import Row, State

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

    from uigym.product.product import Product

LARGE_ROWS = 5_000
_kept: WeakKeyDictionary[Running, dict[Server, Kept]] = WeakKeyDictionary()
"""Copies that resets have kept, which probes of the same database read along."""


class Mysql:
    """A probe that reads the tables of a database in one transaction, in the order of the primary keys.

    Numbers with a fixed point, dates and times are read as text, binary values as hexadecimal text. Of a large table
    with a primary key only the rows are read that differ from what it held when the product had started.

    Example:
        >>> Mysql("mysql://shop:secret@127.0.0.1:3306/{database}", ignore=["sessions"])  # doctest: +SKIP
    """

    def __init__(
        self,
        dsn: str,
        tables: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        *,
        large_rows: int = LARGE_ROWS,
        whole: Sequence[str] = (),
    ):
        """What to read.

        Args:
            dsn: mysql://user:password@host:port/database; {database} is what `MysqlCopy` made for this product.
            tables: Names of the tables to read; None reads all but views.
            ignore: Tables, and columns as "table.column", to leave out.
            large_rows: A table that starts with more rows than this is large. It needs the right to make a database.
            whole: Large tables to read whole all the same.

        Raises:
            HarnessError: The DSN has another form.
        """
        self.dsn = check_dsn(dsn)
        self.tables, self.ignore = tables, tuple(ignore)
        self.large_rows, self.whole = large_rows, tuple(whole)
        self._bases: WeakKeyDictionary[Running, Kept] = WeakKeyDictionary()
        self._large: WeakKeyDictionary[Running, tuple[str, ...]] = WeakKeyDictionary()
        self._own: WeakKeyDictionary[Running, Guarded] = WeakKeyDictionary()

    def control(self, product: Running) -> tuple[str, ...]:
        """The server: the page must not reach its port."""
        return (f"tcp://{located(self.dsn, product).place}",)

    async def started(self, product: Product) -> None:
        """Keep what large tables hold. A product calls it once it is ready."""
        await asyncio.to_thread(self._keep, located(self.dsn, product), product)

    async def ended(self, product: Product) -> None:
        """Drop what was kept."""
        if (own := self._own.pop(product, None)) is not None:
            await asyncio.to_thread(own.drop)

    async def __call__(self, product: Running) -> State:
        """The state at this moment.

        Raises:
            ProductError: The server is down or refuses, or a table is missing.
        """
        return await asyncio.to_thread(self._read, located(self.dsn, product), product)

    def _keep(self, server: Server, product: Running) -> None:
        with server.open() as connection, connection.cursor() as cursor:
            large = tuple(self._large_ones(cursor, server, self._wanted(cursor, server)))
        self._large[product] = large
        if not large:
            return
        base = _kept.get(product, {}).get(server)
        if base is None:
            guarded = self._own[product] = Guarded(server)
            guarded.sweep()
            base = Kept(server, guarded, large)
        self._bases[product] = base

    def _large_ones(self, cursor: Cursor, server: Server, wanted: Mapping[str, Table]) -> Iterable[str]:
        for name, table in wanted.items():
            if table.key and name not in self.whole:
                limit = self.large_rows + 1
                cursor.execute(f"SELECT COUNT(*) FROM (SELECT 1 FROM {quoted(name)} LIMIT {limit}) x")
                if cursor.fetchone()[0] == limit:  # type: ignore[index]
                    yield name

    def _read(self, server: Server, product: Running) -> State:
        found: dict[str, tuple[Row, ...]] = {}
        base: dict[str, tuple[Row, ...]] = {}
        with server.open() as connection, connection.cursor() as cursor:
            wanted = self._wanted(cursor, server)
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            for name, table in wanted.items():
                if name in self._large.get(product, ()):
                    found[name], base[name] = self._differing(cursor, self._bases[product], table)
                else:
                    found[name] = self._rows(cursor, server.database, table)
        return State(found, {name: table.key for name, table in wanted.items()}, base)

    def _differing(self, cursor: Cursor, kept: Kept, table: Table) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        if kept.tables[table.name] != table:
            raise ProductError(f"the columns of table {table.name!r} have changed since the start; add it to whole=")
        buckets = kept.differing(cursor, table.name)
        if not buckets:
            return (), ()
        live, old = (
            {token(row, table.key): row for row in self._rows(cursor, place, table, table.within(buckets))}
            for place in (kept.server.database, kept.name)
        )
        return _unlike(live, old), _unlike(old, live)

    def _rows(self, cursor: Cursor, database: str, table: Table, condition: str = "1") -> tuple[Row, ...]:
        columns = [c.name for c in table.columns if f"{table.name}.{c.name}" not in self.ignore]
        named = ", ".join(map(quoted, columns))
        cursor.execute(f"SELECT {named} FROM {quoted(database)}.{quoted(table.name)} WHERE {condition}{table.order}")
        return tuple(dict(zip(columns, map(_plain, values), strict=True)) for values in cursor.fetchall())

    def _wanted(self, cursor: Cursor, server: Server) -> dict[str, Table]:
        found, where = tables(cursor, server.database), f"database {server.database!r}"
        for name in (*(self.tables or ()), *self.whole, *(entry.partition(".")[0] for entry in self.ignore)):
            if name not in found:
                raise ProductError(f'{where} has no table "{name}". {did_you_mean(name, found)}')
        for table, _, column in (entry.partition(".") for entry in self.ignore):
            columns = [known.name for known in found[table].columns]
            if column and (column not in columns or column in found[table].key):
                raise ProductError(
                    f'table "{table}" has no column "{column}" to ignore. {did_you_mean(column, columns)}'
                )
        names = [name for name in sorted(found if self.tables is None else self.tables) if name not in self.ignore]
        if not names:
            raise ProductError(f"{where} at {server.place} has no table to read: did the product create its tables?")
        return {name: found[name] for name in names}


class MysqlCopy:
    """A reset that restores a database to what it held right after the product's start.

    Each product gets a database of its own, {database}, or {dsn} in full, which goes with it. What it held is kept as a second database
    on the server, and only what differs from that is written; connections of the product stay open.

    Example:
        >>> MysqlCopy("mysql://shop:secret@127.0.0.1:3306/{database}", template="shop_demo")  # doctest: +SKIP
    """

    def __init__(self, dsn: str, template: str = "", seed: Callable[..., Any] | None = None):
        """Which database, and what the seed means.

        Args:
            dsn: mysql://user:password@host:port/{database}. The user must be able to make and drop databases. A name
                in place of {database} is one that is there already, for a single product at a time.
            template: A database on the same server whose tables a new one starts with; "" where the product makes them.
            seed: (product, seed, appearance) -> None, async or not: changes the restored data for the seed.

        Raises:
            HarnessError: The DSN has another form.
        """
        self.dsn, self.template, self.seed = check_dsn(dsn), template, seed
        if template and "{database}" not in dsn:
            raise HarnessError(
                f"template={template!r} fills a database that is made; the DSN must end with /{{database}}"
            )
        self._guarded: WeakKeyDictionary[Running, Guarded] = WeakKeyDictionary()

    def control(self, product: Running) -> tuple[str, ...]:
        """The server: the page must not reach its port."""
        return (f"tcp://{located(self.dsn, product).place}",)

    async def prepare(self, product: Product) -> dict[str, str]:
        """Make the product's database, and drop those that dead processes have left."""
        return await asyncio.to_thread(self._prepare, product)

    async def started(self, product: Product) -> None:
        """Keep what the database holds. A product calls it once it is ready."""
        server = located(self.dsn, product)
        kept = await asyncio.to_thread(Kept, server, self._guarded[product])
        if not kept.tables:
            raise ProductError(f"database {server.database!r} has no table: did the product create its tables?")
        _kept.setdefault(product, {})[server] = kept

    async def ended(self, product: Product) -> None:
        """Drop both databases; one that was there before gets back what it had."""
        kept = _kept.pop(product, {}).values()
        guarded = self._guarded.pop(product, None)
        try:
            for own in kept if "{database}" not in self.dsn else ():
                await asyncio.to_thread(own.restore)
        finally:
            if guarded is not None:
                await asyncio.to_thread(guarded.drop)

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Restore the tables, then let `seed` change them.

        Raises:
            ProductError: The product holds locks, the server is down, or the product was not started.
        """
        kept = _kept.get(product, {}).get(located(self.dsn, product))
        if kept is None:
            raise ProductError("no copy of the database was kept: the product was not started")
        await asyncio.to_thread(kept.restore)
        if self.seed is not None:
            await finished(self.seed, product, seed, appearance)

    def _prepare(self, product: Running) -> dict[str, str]:
        given = "{database}" in self.dsn
        server = located(self.dsn.replace("{database}", "mysql") if given else self.dsn, product)
        guarded = self._guarded[product] = Guarded(server)
        guarded.sweep()
        if not given:
            if not guarded.claim(f"uigym {server.database}"[:64]):
                raise HarnessError(
                    f"two products would share the database {server.database!r}; write {{database}} for one each"
                )
            return {"database": server.database, "dsn": self.dsn}
        name = guarded.make("slot")
        if self.template:
            with server.open(self.template) as connection:
                clone(connection, self.template, name)
        return {"database": name, "dsn": self.dsn.replace("{database}", name)}


def _unlike(rows: Mapping[str, Row], others: Mapping[str, Row]) -> tuple[Row, ...]:
    return tuple(row for name, row in rows.items() if others.get(name) != row)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.timedelta | decimal.Decimal):
        return str(value)
    return value
