"""Talking to a PostgreSQL server, and saying plainly why that is not possible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, urlencode

from uigym.errors import HarnessError, MissingExtra, ProductError
from uigym.harness import Running
from uigym.product.command import fill

if TYPE_CHECKING:
    import psycopg

Connection: TypeAlias = "psycopg.Connection[Any]"
ANSWER_S = 5
"""How long a server may take to answer, and how long a locked table is waited for; whole seconds."""
OLDEST = 14
"""The first version of PostgreSQL whose triggers can be replaced and whose sessions' end can be waited for."""
SETTINGS = {
    "search_path": "pg_catalog",
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "iso_8601",
    "extra_float_digits": "1",
    "bytea_output": "hex",
}
"""What decides how PostgreSQL writes values, so that equal values are always written alike."""

_ADDRESS = ("user", "password", "host", "port", "dbname")
_REASONS = (
    (r"no password supplied", "it wants a password for {user!r}: write postgresql://USER:PASSWORD@HOST/..., or set PGPASSWORD"),
    (r"password authentication failed", "the password of {user!r} is wrong"),
    (r'database "(.*)" does not exist', "there is no database {0!r} on that server"),
    (r'role "(.*)" does not exist', "there is no user {0!r} on that server"),
    (r"no pg_hba.conf entry", "the server does not let {user!r} in from here (its pg_hba.conf says who may connect)"),
    (r"Connection refused|No such file or directory", "nobody listens there: is PostgreSQL running, and is this its port?"),
    (r"received invalid response|expected authentication request|server closed the connection", "what listens there is no PostgreSQL"),
    (r"permission denied to create database", "the user {user!r} may not create databases: ALTER USER ... CREATEDB"),
    (r'source database "(.*)" is being accessed', "{0!r} cannot be copied while others use it: end their connections, or give a dump"),
    (r"timeout expired|timed out", f"it did not answer within {ANSWER_S} s"),
    (r"[Nn]ame or service not known|could not translate host name", "there is no such host"),
)  # fmt: skip


def located(dsn: str, product: Running) -> str:
    """The database that a harness's string means for one product.

    Raises:
        HarnessError: It names something in braces that nothing prepares.
    """
    filled = fill(dsn, product.values)
    if unknown := re.search(r"\{(\w+)\}", filled):
        raise HarnessError(
            f"the dsn {dsn!r} names {unknown[0]}, which nothing prepares: write the database's address, "
            "or let reset=PostgresTemplate(...) make one for each slot"
        )
    return filled


@contextmanager
def opened(dsn: str, *, autocommit: bool = False, **options: Any) -> Iterator[Connection]:
    """A connection, and a transaction that is committed at the end unless `autocommit`.

    Raises:
        ProductError: It cannot be had, or a statement failed; the text says which database and why.
        HarnessError: The dsn cannot be read.
        MissingExtra: psycopg is not installed.
    """
    driver = _driver()
    words = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
    given = {"connect_timeout": ANSWER_S, "options": f"{words} -c lock_timeout={ANSWER_S}s", **options}
    where = shown(dsn)
    try:
        with driver.connect(dsn, autocommit=autocommit, **given) as database:
            yield database
    except driver.Error as exc:
        raise ProductError(f"the database {where}: {_reason(dsn, exc)}") from exc


def run(database: Connection, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """The rows that a statement gives; () where it gives none."""
    cursor = database.execute(statement.encode(), values or None)
    return cursor.fetchall() if cursor.description else []


def check_version(database: Connection) -> None:
    """Copies and triggers need a server that is not too old.

    Raises:
        ProductError: It is.
    """
    found = database.info.server_version // 10_000
    if found < OLDEST:
        raise ProductError(
            f"the server is PostgreSQL {found}, expected {OLDEST} or newer: older ones can only be read whole"
        )


def with_database(dsn: str, name: str) -> str:
    """The same server and user, but another database; as an address, which every driver understands."""
    told = {**parts(dsn), "dbname": name}
    user, password, host, port, path = (quote(told.pop(key, ""), safe="") for key in _ADDRESS)
    owner = f"{user}:{password}@" if password else f"{user}@" if user else ""
    rest = f"?{urlencode(told, quote_via=quote)}" if told else ""
    return f"postgresql://{owner}{host}{':' if port else ''}{port}/{path}{rest}"


def shown(dsn: str) -> str:
    """The database as messages name it: without a password."""
    told = parts(dsn)
    name = told.get("dbname") or told.get("user") or ""
    return f"{name!r} at {told.get('host') or 'the local socket'}:{told.get('port') or 5432}"


def address(dsn: str) -> str:
    """Where the server listens: tcp://HOST:PORT."""
    told = parts(dsn)
    host = told.get("hostaddr") or told.get("host") or "127.0.0.1"
    return (
        f"{host}/.s.PGSQL.{told.get('port') or 5432}"
        if host.startswith("/")
        else f"tcp://{host}:{told.get('port') or 5432}"
    )


def parts(dsn: str) -> dict[str, str]:
    """What the dsn says, by libpq's names: host, port, dbname, user.

    Raises:
        HarnessError: It cannot be read.
    """
    driver = _driver()
    try:
        told = driver.conninfo.conninfo_to_dict(dsn)
        int(told.get("port") or 0)
    except (driver.Error, ValueError) as exc:
        what = re.sub(r":[^:@/]*@", ":***@", dsn)
        raise HarnessError(
            f"{what!r} is no address of a database: {exc}. Write postgresql://USER@HOST:PORT/NAME"
        ) from exc
    return {name: str(value) for name, value in told.items() if value is not None}


def _reason(dsn: str, exc: Exception) -> str:
    text = str(exc)
    for pattern, reason in _REASONS:
        if found := re.search(pattern, text):
            return reason.format(*found.groups(), user=parts(dsn).get("user", "the system's user"))
    if "lock timeout" in text:
        return f"a table stayed locked for {ANSWER_S} s: does the product keep a transaction open?"
    return " ".join(text.split())


def _driver() -> Any:
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError as exc:
        raise MissingExtra("psycopg", "postgres") from exc
    return psycopg


def names(columns: Sequence[str], of: str = "") -> str:
    """Columns as SQL names them, with commas."""
    return ", ".join(f"{of}.{quoted(column)}" if of else quoted(column) for column in columns)


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def quoted(name: str) -> str:
    """A name as SQL writes it. A percent sign stays, so statements with it take no values."""
    return '"' + name.replace('"', '""') + '"'
