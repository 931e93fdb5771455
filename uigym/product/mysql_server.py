"""A MySQL or MariaDB server as a DSN names it: connections, and what its errors mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from uigym.errors import HarnessError, MissingExtra, ProductError, UIGymError, did_you_mean
from uigym.harness import Running
from uigym.product.command import fill

if TYPE_CHECKING:
    from pymysql.connections import Connection

LOCK_S = 5
"""How long a row or a table that the product holds locked is waited for, whole seconds."""
_CONNECT_S = 10
_EXAMPLE = "mysql://user:password@127.0.0.1:3306/{database}"
_SESSION = (
    f"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0, unique_checks = 0, "
    f"lock_wait_timeout = {LOCK_S}, innodb_lock_wait_timeout = {LOCK_S}, time_zone = '+00:00'"
)
_DENIED, _NO_RIGHTS, _NO_DATABASE, _NO_TABLE, _LOCKED, _DOWN = (1045,), (1044, 1142, 1227), (1049,), (1146,), (1205,), (2003, 2013)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Server:
    """Where a database is, and who may use it."""

    host: str
    port: int
    user: str
    password: str
    database: str

    @property
    def place(self) -> str:
        """Host and port, for messages."""
        return f"{self.host}:{self.port}"

    @contextmanager
    def open(self, database: str | None = None, autocommit: bool = True) -> Iterator[Connection[Any]]:
        """A connection that is closed at the end; "" opens none of the server's databases.

        Raises:
            ProductError: The server is down, refuses the user, has no such database, or a statement failed.
        """
        with explained(self), closing(self.connect(database, autocommit)) as connection:
            yield connection

    def connect(self, database: str | None = None, autocommit: bool = True) -> Connection[Any]:
        """A connection, to be closed by the caller."""
        try:
            import pymysql
        except ImportError as exc:
            raise MissingExtra("pymysql", "mysql") from exc
        with explained(self):
            return pymysql.connect(
                host=self.host,
                port=self.port,
                user=self.user,
                password=self.password,
                database=(self.database if database is None else database) or None,
                charset="utf8mb4",
                connect_timeout=_CONNECT_S,
                autocommit=autocommit,
                init_command=_SESSION,
            )


def check_dsn(dsn: str) -> str:
    """The DSN itself, if it can be one.

    Raises:
        HarnessError: It has another form than mysql://user:password@host:port/database.
    """
    try:
        parts = urlsplit(dsn) if isinstance(dsn, str) else None
        good = parts is not None and parts.scheme in ("mysql", "mariadb") and (parts.port or 0) >= 0
    except ValueError:  # a port that is no number
        parts, good = None, False
    if parts is None or not good or not parts.hostname or not parts.username or not parts.path.strip("/"):
        shown = re.sub(r":[^:@/]*@", ":...@", str(dsn))
        raise HarnessError(f"{shown!r} names no MySQL database; expected {_EXAMPLE}")
    return dsn


def located(dsn: str, product: Running) -> Server:
    """The server and database that a DSN means for one product.

    Raises:
        HarnessError: It names something in braces that nothing gives.
    """
    parts = urlsplit(fill(dsn, product.values))
    database = unquote(parts.path.strip("/"))
    if left := re.search(r"\{(\w+)\}", database):
        hint = did_you_mean(left[1], product.values)
        raise HarnessError(f"the DSN names {left[0]}, which nothing gives; reset=MysqlCopy(...) gives database. {hint}")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Server(parts.hostname or "", parts.port or 3306, user, password, database)


@contextmanager
def explained(server: Server) -> Iterator[None]:
    """Turns the client's errors into one message that says what to do; passwords are never shown."""
    try:
        yield
    except UIGymError:
        raise
    except Exception as exc:
        if not type(exc).__module__.startswith("pymysql") and not isinstance(exc, RuntimeError | OSError):
            raise
        code, text = (*exc.args, "")[:2] if exc.args and isinstance(exc.args[0], int) else (0, str(exc))
        raise ProductError(f"MySQL at {server.place}: {_meaning(server, code)}{text}") from exc


def _meaning(server: Server, code: int) -> str:
    how = "with the password that the DSN gives" if server.password else "without a password"
    told: Mapping[tuple[int, ...], str] = {
        _DENIED: f"user {server.user!r} is refused {how}; write it as {_EXAMPLE}: ",
        _NO_RIGHTS: f"user {server.user!r} may not do that; grant it, or use another user: ",
        _NO_DATABASE: f"there is no database {server.database!r}; does the product or MysqlCopy(...) make it? ",
        _NO_TABLE: f"database {server.database!r} does not have a table that was named: ",
        _LOCKED: f"a lock was held for {LOCK_S} s; does the product keep a transaction open? ",
        _DOWN: "nobody answers; is the server running, and is the port right? ",
    }
    return next((text for codes, text in told.items() if code in codes), "")


def quoted(name: str) -> str:
    """A name as SQL."""
    return "`" + name.replace("`", "``") + "`"
