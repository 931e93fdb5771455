"""The databases that one process makes on a PostgreSQL server: filled, copied, swapped, dropped, none left behind."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import logging
import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from uigym.errors import HarnessError, ProductError
from uigym.product.postgres_server import Connection, check_version, literal, opened, parts, quoted, run, shown

_log = logging.getLogger(__name__)
PREFIX = "uigym_"
_MARK = "uigym "
_TOKEN_DIGITS = 12
_LEFT = f"""
SELECT d.datname FROM pg_database d
WHERE d.datname ~ '^{PREFIX}[0-9a-f]{{{_TOKEN_DIGITS}}}_' AND pg_get_userbyid(datdba) = current_user AND NOT EXISTS (
  SELECT FROM pg_stat_activity WHERE application_name = '{_MARK}' || substr(d.datname, {len(PREFIX) + 1}, {_TOKEN_DIGITS}))
"""
_PROGRAMS = Path("/usr/lib/postgresql")


class Stock:
    """Databases with a common mark. A connection that lives as long as they do says that somebody owns them."""

    def __init__(self, server: str):
        """Drops what owners have left that are no more.

        Raises:
            ProductError: The server cannot be reached.
        """
        self.server = server
        token = secrets.token_hex(_TOKEN_DIGITS // 2)
        self._names = (f"{PREFIX}{token}_{number}" for number in itertools.count(1))
        self._made: set[str] = set()
        self._lock = threading.Lock()
        self._mark = _MARK + token
        self._open = ExitStack()
        self._owner: Connection | None = None
        with opened(server, autocommit=True) as database:
            check_version(database)
            left = [name for (name,) in run(database, _LEFT)]
        for name in left:
            with suppress(ProductError):  # another process sweeps too
                self._drop(name)
        self._own()

    def create(self, template: str = "") -> str:
        """A new database, empty or a copy of another one that nobody uses; its name."""
        self._own()
        name = self._name()
        with opened(self.server, autocommit=True) as database:
            run(database, f"CREATE DATABASE {quoted(name)}" + (f" TEMPLATE {quoted(template)}" if template else ""))
        return name

    def freeze(self, name: str) -> str:
        """A copy of a database that is in use: who uses it must connect again."""
        with opened(self.server, autocommit=True) as database:
            _shut(database, name)
            try:
                return self.create(name)
            finally:
                run(database, f"ALTER DATABASE {quoted(name)} ALLOW_CONNECTIONS true")

    def swap(self, name: str, other: str) -> str:
        """Let another database have a name; the one that had it gets a new one, which is returned."""
        old = self._name()
        with opened(self.server, autocommit=True) as database:
            _shut(database, name)
            run(database, f"ALTER DATABASE {quoted(name)} RENAME TO {quoted(old)}")
            run(database, f"ALTER DATABASE {quoted(other)} RENAME TO {quoted(name)}")
        return old

    def drop(self, name: str) -> None:
        """Drop a database, whoever uses it; one that was dropped before is none."""
        with self._lock:
            if name not in self._made:
                return
            self._made.discard(name)
        self._drop(name)

    def close(self) -> None:
        """Drop all that were made."""
        try:
            for name in tuple(self._made):
                self.drop(name)
        finally:
            self._open.close()

    def _own(self) -> None:
        """Open the connection with the mark, or another one where it was lost: the server may have been restarted."""
        with self._lock:
            if self._owner is not None:
                try:
                    self._owner.execute("SELECT 1")
                except Exception:
                    _log.info("the connection to %s was lost, and is opened again", shown(self.server))
                else:
                    return
            with suppress(ProductError):
                self._open.close()
            self._owner = self._open.enter_context(opened(self.server, autocommit=True, application_name=self._mark))

    def _name(self) -> str:
        with self._lock:
            name = next(self._names)
            self._made.add(name)
        return name

    def _drop(self, name: str) -> None:
        with opened(self.server, autocommit=True) as database:
            run(database, f"DROP DATABASE IF EXISTS {quoted(name)} WITH (FORCE)")


def _shut(database: Connection, name: str) -> None:
    """End all connections to a database, and let nobody in again."""
    run(database, f"ALTER DATABASE {quoted(name)} ALLOW_CONNECTIONS false")
    run(database, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = {literal(name)}")


def load(dsn: str, source: str | Path | Callable[[str], Any]) -> None:
    """Fill an empty database from a file of SQL or of `pg_dump`, or by a function of its dsn.

    Raises:
        HarnessError: There is no such file, PostgreSQL's programs are not installed, or what the file says failed.
    """
    if callable(source):
        made = source(dsn)
        if inspect.isawaitable(made):
            asyncio.run(_awaited(made))
        return
    path = Path(source)
    if not path.exists():
        raise HarnessError(f"there is no file {path} to fill the database from")
    told = parts(dsn)
    environment = {**os.environ, "PGPASSWORD": told.pop("password", os.environ.get("PGPASSWORD", ""))}
    target = " ".join(f"{name}='{_escaped(value)}'" for name, value in told.items())
    if path.is_file() and not _is_dump(path):
        command = [_program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", target, "-f", str(path)]
    else:
        command = [_program("pg_restore"), "--no-owner", "--no-privileges", "--exit-on-error", "-d", target, str(path)]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise HarnessError(f"{path} cannot be loaded: {done.stderr.strip()[-500:]}")


def _is_dump(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(5) == b"PGDMP"


async def _awaited(made: Awaitable[Any]) -> None:
    await made


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


def _program(name: str) -> str:
    newest = sorted(_PROGRAMS.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = str(newest[-1]) if newest else shutil.which(name)
    if found is None:
        raise HarnessError(
            f"a database is filled from a file by {name}, which is not installed: apt install postgresql-client"
        )
    return found
