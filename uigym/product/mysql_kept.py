"""What a MySQL database held at one moment, kept as a second database on the same server."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from uigym.errors import ProductError
from uigym.product.mysql_server import Server, explained, quoted

if TYPE_CHECKING:
    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

_OURS = re.compile(r"uigym_(slot|kept)_[0-9a-f]{16}")
_WHOLE = {"tinyint", "smallint", "mediumint", "int", "bigint"}
_INEXACT = {"float", "double"}
_BUCKET_KEYS = 256
"""Keys that one sum covers, where the key is a whole number."""
_BUCKETS = 1024
"""Sums of a table whose key is something else."""
_ROUNDS = 3
"""How often tables with triggers are restored: what a trigger adds is gone after the next round."""
_LONG_S = 31_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: str
    """Its type, such as "int"."""
    generated: bool
    """The server computes it; it cannot be written."""


@dataclass(frozen=True, slots=True)
class Table:
    """The shape of a table."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """Columns of the primary key; () if it has none."""

    @property
    def written(self) -> str:
        """The columns that can be written, as SQL."""
        return ", ".join(quoted(column.name) for column in self.columns if not column.generated)

    @property
    def order(self) -> str:
        """The end of a SELECT that gives the rows in the order of the key."""
        return f" ORDER BY {', '.join(map(quoted, self.key))}" if self.key else ""

    @property
    def bucket(self) -> str:
        """SQL of the number of the sum that a row belongs to."""
        if self._counts:
            return f"({quoted(self.key[0])} DIV {_BUCKET_KEYS})"
        parts = ", ".join(_exact(column) for column in self.columns if column.name in self.key)
        return f"(CRC32(CONCAT_WS('|', {parts})) & {_BUCKETS - 1})" if self.key else "0"

    @property
    def _counts(self) -> bool:
        kinds = {column.name: column.kind for column in self.columns}
        return len(self.key) == 1 and kinds[self.key[0]] in _WHOLE

    def within(self, buckets: Sequence[int]) -> str:
        """A condition for the rows of some sums."""
        if not self._counts:
            return f"{self.bucket} IN ({', '.join(map(str, buckets))})"
        key, spans = quoted(self.key[0]), []
        for bucket in buckets:  # DIV rounds towards zero: the one at 0 reaches to both sides
            low = bucket * _BUCKET_KEYS - (_BUCKET_KEYS - 1) * (bucket <= 0)
            high = bucket * _BUCKET_KEYS + (_BUCKET_KEYS - 1) * (bucket >= 0)
            spans.append(f"{key} BETWEEN {low} AND {high}")
        return "(" + " OR ".join(spans) + ")"

    def sums(self, cursor: Cursor, database: str) -> dict[int, tuple[Any, ...]]:
        """A digest of the rows of each bucket: equal rows give equal digests, in whatever order they lie."""
        row = ", ".join(_exact(column) for column in self.columns if not column.generated)
        cursor.execute(
            f"SELECT g, COUNT(*), BIT_XOR(CAST(CONV(LEFT(h, 16), 16, 10) AS UNSIGNED)), "
            f"SUM(CAST(CONV(RIGHT(h, 8), 16, 10) AS UNSIGNED)) "
            f"FROM (SELECT {self.bucket} g, MD5(CONCAT_WS('|', {row})) h FROM {quoted(database)}.{quoted(self.name)}) x "
            "GROUP BY g"
        )
        return {int(found[0]): tuple(found[1:]) for found in cursor.fetchall()}


def _exact(column: Column) -> str:
    """A value as text from which it can be told, and that is never NULL."""
    name = quoted(column.name)
    if column.kind in _INEXACT:
        name = f"({name} + 0E0)"
    return f"COALESCE(LENGTH({name}), 'n'), COALESCE(CAST({name} AS BINARY), '')"


def tables(cursor: Cursor, database: str) -> dict[str, Table]:
    """The tables of a database by name; views are none."""
    cursor.execute(
        "SELECT c.table_name, c.column_name, c.data_type, c.generation_expression "
        "FROM information_schema.columns c JOIN information_schema.tables t "
        "ON t.table_schema = c.table_schema AND t.table_name = c.table_name "
        "WHERE c.table_schema = %s AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position",
        (database,),
    )
    columns: dict[str, list[Column]] = {}
    for table, name, kind, expression in cursor.fetchall():
        columns.setdefault(table, []).append(Column(name, kind.lower(), bool(expression)))
    cursor.execute(
        "SELECT table_name, column_name FROM information_schema.statistics "
        "WHERE table_schema = %s AND index_name = 'PRIMARY' ORDER BY table_name, seq_in_index",
        (database,),
    )
    keys: dict[str, list[str]] = {}
    for table, name in cursor.fetchall():
        keys.setdefault(table, []).append(name)
    return {table: Table(table, tuple(found), tuple(keys.get(table, ()))) for table, found in columns.items()}


def definition(cursor: Cursor, database: str, table: str) -> tuple[str, str]:
    """(the statement that makes a table, its next AUTO_INCREMENT or "")."""
    cursor.execute(f"SHOW CREATE TABLE {quoted(database)}.{quoted(table)}")
    text = str(cursor.fetchone()[1])  # type: ignore[index]
    head, paren, tail = text.rpartition("\n)")
    number = re.search(r" AUTO_INCREMENT=(\d+)", tail)
    return head + paren + re.sub(r" AUTO_INCREMENT=\d+", "", tail), number[1] if number else ""


class Guarded:
    """Databases that belong to this process: a named lock on the server tells, and goes when the process does."""

    def __init__(self, server: Server):
        self.server = server
        self.names: list[str] = []
        self._guard = server.connect("")
        with explained(server), self._guard.cursor() as cursor:
            cursor.execute(f"SET SESSION wait_timeout = {_LONG_S}")

    def claim(self, name: str) -> bool:
        """Take the lock of a name; False if another has it."""
        with explained(self.server), self._guard.cursor() as cursor:
            cursor.execute("SELECT GET_LOCK(%s, 0)", (name,))
            return bool(cursor.fetchone()[0] == 1)

    def make(self, kind: str) -> str:
        """A new empty database; its name."""
        name = f"uigym_{kind}_{secrets.token_hex(8)}"
        self.claim(name)  # before it is there, so that nobody takes it for a leftover
        with explained(self.server), self._guard.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {quoted(name)} CHARACTER SET utf8mb4")
        self.names.append(name)
        return name

    def sweep(self) -> list[str]:
        """Drop the databases whose process has died; their names."""
        swept = []
        with explained(self.server), self._guard.cursor() as cursor:
            cursor.execute("SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'uigym%'")
            for (name,) in cursor.fetchall():
                if _OURS.fullmatch(name) and self.claim(name):
                    cursor.execute(f"DROP DATABASE IF EXISTS {quoted(name)}")
                    cursor.execute("SELECT RELEASE_LOCK(%s)", (name,))
                    swept.append(name)
        return swept

    def drop(self) -> None:
        """Drop them all and let go of their locks; a second call does nothing."""
        names, self.names = self.names, []
        try:
            if names:  # by a connection of its own: the guard's may be long gone
                with self.server.open("") as connection, connection.cursor() as cursor:
                    for name in names:
                        cursor.execute(f"DROP DATABASE IF EXISTS {quoted(name)}")
        finally:
            with suppress(Exception):
                self._guard.close()


class Kept:
    """A copy of a database's tables, and how the live ones differ from it."""

    def __init__(self, server: Server, guarded: Guarded, wanted: Sequence[str] | None = None):
        """Copy the tables of a database, all or those that are wanted."""
        self.server = server
        self.name = guarded.make("kept")
        self.tables: dict[str, Table] = {}
        self.sums: dict[str, Mapping[int, tuple[Any, ...]]] = {}
        self._made: dict[str, tuple[str, str]] = {}
        with server.open() as connection, connection.cursor() as cursor:
            found = tables(cursor, server.database)
            self.tables = {name: found[name] for name in (found if wanted is None else wanted)}
            for name, table in self.tables.items():
                copy_table(cursor, table, server.database, self.name)
                self._made[name] = definition(cursor, server.database, name)
                self.sums[name] = table.sums(cursor, self.name)
            cursor.execute("SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = %s", (server.database,))  # fmt: skip
            self._has_triggers = bool(cursor.fetchone()[0])

    def differing(self, cursor: Cursor, name: str) -> list[int]:
        """The buckets in which the live table is not as it was kept."""
        kept, now = self.sums[name], self.tables[name].sums(cursor, self.server.database)
        return sorted(bucket for bucket in {*kept, *now} if kept.get(bucket) != now.get(bucket))

    def restore(self) -> None:
        """Make the live tables what they were: rows, structure, and the next numbers.

        Raises:
            ProductError: The product holds locks, or its triggers change what is restored.
        """
        with self.server.open(autocommit=False) as connection, connection.cursor() as cursor:
            self._restore_structure(cursor)
            for _ in range(_ROUNDS):
                touched = [name for name in self.tables if self._restore_rows(cursor, name)]
                connection.commit()
                if not touched or not self._has_triggers:
                    break
            else:
                raise ProductError(f"the product's triggers change table {touched[0]!r} whenever it is restored")
            self._restore_numbers(cursor)

    def _restore_structure(self, cursor: Cursor) -> None:
        live = tables(cursor, self.server.database)
        for name in live.keys() - self.tables.keys():
            cursor.execute(f"DROP TABLE {quoted(name)}")
        for name, (statement, _) in self._made.items():
            if name in live and definition(cursor, self.server.database, name)[0] == statement:
                continue
            cursor.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
            cursor.execute(statement)

    def _restore_rows(self, cursor: Cursor, name: str) -> bool:
        table = self.tables[name]
        buckets = self.differing(cursor, name)
        if not buckets:
            return False
        live, kept = f"{quoted(self.server.database)}.{quoted(name)}", f"{quoted(self.name)}.{quoted(name)}"
        condition = table.within(buckets)
        cursor.execute(f"DELETE FROM {live} WHERE {condition}")
        cursor.execute(f"INSERT INTO {live} ({table.written}) SELECT {table.written} FROM {kept} WHERE {condition}")
        return True

    def _restore_numbers(self, cursor: Cursor) -> None:
        for name, (_, number) in self._made.items():
            if definition(cursor, self.server.database, name)[1] != number:
                cursor.execute(f"ALTER TABLE {quoted(name)} AUTO_INCREMENT = {number or 1}")


def copy_table(cursor: Cursor, table: Table, source: str, target: str) -> None:
    """Make a table of the same structure, without foreign keys, and fill it."""
    old, new = f"{quoted(source)}.{quoted(table.name)}", f"{quoted(target)}.{quoted(table.name)}"
    cursor.execute(f"CREATE TABLE {new} LIKE {old}")
    if table.written:
        cursor.execute(f"INSERT INTO {new} ({table.written}) SELECT {table.written} FROM {old}")


def clone(connection: Connection[Any], source: str, target: str) -> None:
    """Fill an empty database with the tables of another one, foreign keys and rows included."""
    with connection.cursor() as cursor:
        cursor.execute(f"USE {quoted(target)}")
        for name, table in tables(cursor, source).items():
            statement, number = definition(cursor, source, name)
            cursor.execute(statement)
            cursor.execute(
                f"INSERT INTO {quoted(name)} ({table.written}) "
                f"SELECT {table.written} FROM {quoted(source)}.{quoted(name)}"
            )
            if number:
                cursor.execute(f"ALTER TABLE {quoted(name)} AUTO_INCREMENT = {number}")
