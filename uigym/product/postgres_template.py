"""A reset that gives a product on PostgreSQL a database of its own, and puts it back between episodes."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from uigym.errors import ProductError
from uigym.harness import Running
from uigym.product.calls import finished
from uigym.product.command import fill
from uigym.product.postgres_capture import Table
from uigym.product.postgres_private import PostgresServer
from uigym.product.postgres_restore import begin, obstacle, put_back, untouched
from uigym.product.postgres_server import address, opened, parts, with_database
from uigym.product.postgres_stock import Stock, load
from uigym.product.together import flat

if TYPE_CHECKING:
    from uigym.product.product import Product

_log = logging.getLogger(__name__)
Source = str | Path | Callable[[str], Any]


@dataclass(eq=False)
class _Slot:
    """One product's database."""

    name: str
    stale: bool = False
    """It does not hold what the others are put back to."""
    in_place: bool = True
    """False where it is always replaced."""
    spare: Future[str] | None = None
    """A database that is made ahead of need to take its place."""


class PostgresTemplate:
    """A reset for products on PostgreSQL: every product gets a database of its own, in {database} and {dsn}.

    The first product's database, as it is right after the product's start, is what all are put back to. Where that can
    be done, changed rows are put back in place, in milliseconds, and the product keeps its connections. Else (tables
    were defined anew, a transaction was left open, the user is no superuser) a copy that was made ahead of need takes
    the database's place, and the product must connect again.
    """

    def __init__(
        self,
        server: str | PostgresServer,
        source: Source | None = None,
        *,
        seed: Callable[..., Any] | None = None,
        in_place: bool = True,
    ):
        """Where databases are made, and of what.

        Args:
            server: The dsn of any database on the server, such as `postgres`, for a user who may create databases;
                those that were made are dropped when the last product has ended, at the latest at the next start.
                `PostgresServer()` starts one.
            source: The dsn of a database on the same server that is copied, which nobody may use meanwhile; a file of
                SQL or of `pg_dump`, whose name may begin with "{site}/"; or a function, async or not, that gets the dsn of an empty database and fills it.
                None starts products on an empty one.
            seed: (product, seed, appearance) -> None, async or not: changes the restored data for the seed. None gives
                every seed the same data.
            in_place: False always replaces the database.
        """
        self._private = server if isinstance(server, PostgresServer) else None
        self.server = server if isinstance(server, str) else ""
        """Its dsn; empty until it is started."""
        self.source = source
        self.seed = seed
        self.in_place = in_place
        self._slots: WeakKeyDictionary[Running, _Slot] = WeakKeyDictionary()
        self._stock: Stock | None = None
        self._origin = ""
        """What products start on."""
        self._template = ""
        """What products are put back to."""
        self._lock = threading.Lock()
        self._ahead = ThreadPoolExecutor(2, "uigym-postgres")

    def control(self, product: Running) -> tuple[str, ...]:
        """Places that must not be reachable from the page: the server, and the file of the data."""
        if isinstance(self.source, str | Path) and not _is_dsn(self.source):
            return (address(self.server), str(Path(fill(str(self.source), product.values)).resolve()))
        return (address(self.server),)

    async def prepare(self, product: Product) -> dict[str, str]:
        """Make the product's database; the first call makes the template, too.

        Raises:
            ProductError: The server cannot be reached, its user may not create databases, or the source cannot be read.
        """
        slot = _Slot("")
        self._slots[product] = slot
        await asyncio.to_thread(self._prepare, slot, product)
        return {"database": slot.name, "dsn": with_database(self.server, slot.name)}

    def _prepare(self, slot: _Slot, product: Product) -> None:
        with self._lock:
            if self._stock is None:
                if self._private is not None:
                    self.server = self._private.begin()
                self._stock = Stock(self.server)
            if not self._origin:
                origin = self._stock.create(parts(str(self.source))["dbname"] if _is_dsn(self.source) else "")
                if self.source is not None and not _is_dsn(self.source):
                    file = None if callable(self.source) else fill(str(self.source), product.values)
                    load(with_database(self.server, origin), file or self.source)
                with opened(with_database(self.server, origin)) as database:
                    begin(database, _ignored(product))
                self._origin = origin
            slot.name = self._stock.create(self._origin)

    async def started(self, product: Product) -> None:
        """See what the product made of its database in starting. A product calls it once it is ready."""
        await asyncio.to_thread(self._started, self._slot(product), product)

    def _started(self, slot: _Slot, product: Product) -> None:
        with self._lock:
            assert self._stock is not None
            with opened(with_database(self.server, slot.name)) as database:
                as_given = untouched(database)
                if not as_given and not self._template:
                    begin(database, _ignored(product))
                why_not = obstacle(database)
            if self._template:
                slot.stale = not as_given or self._template != self._origin
            else:
                self._template = self._origin if as_given else self._stock.freeze(slot.name)
        if why_not or not self.in_place:
            slot.in_place = False
            slot.spare = self._make_ahead()
        if why_not and self.in_place:
            _log.info("the database of %s is replaced at each reset, since %s", product.harness.name, why_not)

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Put the database back, then let `seed` change it.

        Raises:
            ProductError: The server cannot be reached, or the product was not started.
        """
        await asyncio.to_thread(self._put_back, self._slot(product))
        if self.seed is not None:
            await finished(self.seed, product, seed, appearance)

    def _put_back(self, slot: _Slot) -> None:
        if slot.in_place and not slot.stale:
            try:
                with opened(with_database(self.server, slot.name)) as database:
                    if put_back(database):
                        return
                why = "something was defined anew in it, or very much was changed"
            except ProductError as exc:
                why = str(exc)
            _log.info("the database %s is replaced, since %s", slot.name, why)
        self._replace(slot)

    def _replace(self, slot: _Slot) -> None:
        assert self._stock is not None
        spare, slot.spare = slot.spare or self._make_ahead(), None
        self._ahead.submit(self._stock.drop, self._stock.swap(slot.name, spare.result()))
        if not (slot.stale and slot.in_place):  # whose database was replaced once needs that again
            slot.spare = self._make_ahead()
        slot.stale = False

    def _make_ahead(self) -> Future[str]:
        assert self._stock is not None
        return self._ahead.submit(self._stock.create, self._template)

    async def ended(self, product: Product) -> None:
        """Drop the product's database; with the last product, all."""
        slot = self._slots.pop(product, None)
        if slot is not None:
            await asyncio.to_thread(self._ended, slot)

    def _ended(self, slot: _Slot) -> None:
        with self._lock:
            stock, last = self._stock, not self._slots
            if last:
                self._stock, self._origin, self._template = None, "", ""
            try:
                if stock is not None:
                    self._forget(stock, slot, last)
            finally:
                if last and self._private is not None:
                    self._private.end()

    def _forget(self, stock: Stock, slot: _Slot, last: bool) -> None:
        try:
            if slot.spare is not None:
                stock.drop(slot.spare.result())
            stock.drop(slot.name)
        finally:
            if last:
                stock.close()

    def _slot(self, product: Running) -> _Slot:
        slot = self._slots.get(product)
        if slot is None:
            raise ProductError("no database was made for the product: it was not started")
        return slot


def _ignored(product: Product) -> Callable[[Table], list[str]]:
    """What the product's probe leaves out is not counted as a difference between two templates."""
    probes = flat(product.harness.state)
    entries = [entry.partition(".") for probe in probes for entry in getattr(probe, "ignore", ())]
    return lambda table: [column for name, _, column in entries if column and name == table.name]


def _is_dsn(source: object) -> bool:
    return isinstance(source, str) and (source.startswith(("postgres://", "postgresql://")) or "dbname=" in source)
