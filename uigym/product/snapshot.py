"""Putting a product's data back between episodes, inside the live product."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from uigym.errors import ProductError
from uigym.harness import Running
from uigym.product.calls import finished
from uigym.product.state import located

if TYPE_CHECKING:
    from uigym.product.product import Product

BUSY_S = 5.0
"""How long a database that the product holds locked is waited for."""
_RETRY_S = 0.002
_LARGE_LOG_BYTES = 4 * 1024 * 1024


class Snapshot:
    """A reset that restores a SQLite file to what it was right after the product's start.

    The product runs on: the rows are replaced through SQLite's own locking, in a few milliseconds.
    """

    def __init__(self, path: str, seed: Callable[..., Any] | None = None):
        """Which file, and what the seed means.

        Args:
            path: The file; {workdir} is filled in, and a relative path starts there.
            seed: (product, seed, appearance) -> None, async or not: changes the restored data for the seed. None
                gives every seed the same data.
        """
        self.path = path
        self.seed = seed
        self._copies: WeakKeyDictionary[Running, Path] = WeakKeyDictionary()

    def control(self, product: Product) -> tuple[str, ...]:
        """Places that must not be reachable from the page: the file, its logs and the copy of it."""
        path = located(self.path, product)
        copy = self._copies.get(product)
        return (*(f"{path}{suffix}" for suffix in ("", "-wal", "-journal")), *([str(copy)] if copy else []))

    async def started(self, product: Product) -> None:
        """Keep a copy of the file, outside the product's work folder. A product calls it once it is ready.

        Raises:
            ProductError: The file is missing, locked or no database.
        """
        source, copy = located(self.path, product), product.scratch / "snapshot.db"
        while copy.exists():  # another file's
            copy = copy.with_name(f"more-{copy.name}")
        if not source.is_file():
            raise ProductError(f"there is no database file {source}: does the product write it there?")
        copy.touch()
        await asyncio.to_thread(restore, source, copy)
        self._copies[product] = copy

    async def ended(self, product: Product) -> None:
        """Give a product that goes on running what it had before."""
        copy = self._copies.pop(product, None)
        if copy is not None and product.harness.url:
            await asyncio.to_thread(restore, copy, located(self.path, product))

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Restore the file, then let `seed` change it.

        Raises:
            ProductError: The product holds the database locked, or was not started.
        """
        copy = self._copies.get(product)
        if copy is None:
            raise ProductError(f"no copy of {self.path} was kept: the product was not started")
        await asyncio.to_thread(restore, copy, located(self.path, product))
        if self.seed is not None:
            await finished(self.seed, product, seed, appearance)


def restore(source: Path, target: Path) -> None:
    """Copy a database over another one that may be in use. Both files must be there.

    Raises:
        ProductError: The target is missing or stayed locked for `BUSY_S`, or one of the two is no database.
    """
    deadline = time.monotonic() + BUSY_S

    def give_up(status: int, remaining: int, total: int) -> None:
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and time.monotonic() > deadline:
            raise ProductError(f"{target} stayed locked for {BUSY_S:g} s: does the product keep a transaction open?")

    try:
        with closing(_opened(source, "ro")) as old, closing(_opened(target, "rw")) as new:
            new.execute("PRAGMA synchronous = OFF")  # a gym's data need not survive a power cut
            old.backup(new, progress=give_up, sleep=_RETRY_S)
            _reuse_log(new, target)
    except sqlite3.Error as exc:
        raise ProductError(f"cannot copy the database {source} to {target}: {exc}") from exc


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, timeout=0)  # never made where missing


def _reuse_log(database: sqlite3.Connection, path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size > _LARGE_LOG_BYTES:
        database.execute("PRAGMA wal_checkpoint(PASSIVE)")
