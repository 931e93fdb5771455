"""Writing down what changes in PostgreSQL tables, by triggers: to read it, and to put it back.

Every change of a row leaves the row's old text with the sign -1 and its new text with +1. What is left when a row's
signs are added up is what differs from the *base*: what the table held when this began.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from uigym.product.postgres_server import SETTINGS, Connection, check_version, literal, names, quoted, run

_SET = "\n".join(f"  SET {name} = '{value}'" for name, value in SETTINGS.items())
_NOTE = f"""
CREATE SCHEMA IF NOT EXISTS uigym;
CREATE TABLE IF NOT EXISTS uigym.log (source oid NOT NULL, sign bigint NOT NULL, held text NOT NULL);
CREATE TABLE IF NOT EXISTS uigym.base (source oid PRIMARY KEY, schema text NOT NULL, name text NOT NULL,
  rows bigint NOT NULL, sum text NOT NULL, shape text NOT NULL);
CREATE OR REPLACE FUNCTION uigym.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
{_SET}
AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    EXECUTE format('INSERT INTO uigym.log SELECT %s, -1, t::text FROM ONLY %I.%I AS t', TG_RELID, TG_TABLE_SCHEMA, TG_TABLE_NAME);
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN INSERT INTO uigym.log VALUES (TG_RELID, -1, OLD::text); END IF;
  IF TG_OP <> 'DELETE' THEN INSERT INTO uigym.log VALUES (TG_RELID, 1, NEW::text); END IF;
  RETURN NULL;
END $$;
"""
_TABLES = """
SELECT c.oid, n.nspname, c.relname,
  c.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhrelid, inhparent)),
  ARRAY(SELECT a.attname::text FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(num, place)
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY place),
  (SELECT json_object_agg(a.attname, format_type(a.atttypid, NULL) || CASE a.attgenerated WHEN '' THEN '' ELSE ' generated' END
    ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text,
  SHAPE
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
  AND n.nspname <> 'uigym' AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
ORDER BY n.nspname, c.relname
""".replace(
    "SHAPE",
    """md5(concat_ws(' ',
    (SELECT string_agg(concat_ws(' ', attnum, attname, atttypid, atttypmod, attisdropped), ',' ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0),
    (SELECT string_agg(concat_ws(' ', tgname, tgenabled), ',' ORDER BY tgname)
      FROM pg_trigger WHERE tgrelid = c.oid AND tgname LIKE 'uigym\\_%')))""",
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table, as the catalogue describes it."""

    oid: int
    schema: str
    name: str
    plain: bool
    """Neither partitioned nor part of an inheritance: its rows are its own."""
    key: tuple[str, ...]
    types: Mapping[str, str]
    """By column in their order, such as "numeric"; with " generated" where the database computes it."""
    shape: str
    """Changes when a column or one of our triggers does."""

    @property
    def sql(self) -> str:
        """Its name in SQL."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"


@dataclass(frozen=True, slots=True)
class Base:
    """What is known of a table when its changes began to be written down."""

    schema: str
    name: str
    rows: int
    sum: str
    """Of all rows' hashes: equal for equal rows in any order."""
    shape: str


def tables(database: Connection) -> list[Table]:
    """All tables but the system's and our own, by schema and name."""
    return [
        Table(oid, schema, name, plain, tuple(key), json.loads(types or "{}"), shape)
        for oid, schema, name, plain, key, types, shape in run(database, _TABLES)
    ]


def bases(database: Connection) -> dict[int, Base]:
    """The tables whose changes are written down, by oid."""
    if not run(database, "SELECT 1 FROM pg_tables WHERE schemaname = 'uigym' AND tablename = 'base'"):
        return {}
    return {oid: Base(*told) for oid, *told in run(database, "SELECT * FROM uigym.base")}


def install(database: Connection, wanted: Sequence[Table], ignored: Callable[[Table], Sequence[str]]) -> None:
    """Begin to write down what changes in these tables; what is ignored of their columns does not count for the sum."""
    check_version(database)
    run(database, _NOTE)
    for table in wanted:
        run(database, f"""
          CREATE OR REPLACE TRIGGER uigym_row AFTER INSERT OR UPDATE OR DELETE ON {table.sql}
            FOR EACH ROW EXECUTE FUNCTION uigym.note();
          CREATE OR REPLACE TRIGGER uigym_all BEFORE TRUNCATE ON {table.sql} EXECUTE FUNCTION uigym.note();
          ALTER TABLE {table.sql} ENABLE ALWAYS TRIGGER uigym_row, ENABLE ALWAYS TRIGGER uigym_all;
          DELETE FROM uigym.log WHERE source = {table.oid};
          DELETE FROM uigym.base WHERE source = {table.oid}""")  # fmt: skip
    oids = {table.oid for table in wanted}
    for table in tables(database):  # with the shape that they have now
        if table.oid in oids:
            less = "".join(f" - {literal(column)}" for column in ignored(table))
            held = f"(to_jsonb(t){less})::text" if less else "t::text"
            total = f"coalesce(sum(hashtextextended({held}, 0)::numeric), 0)::text"
            count, sum_ = run(database, f"SELECT count(*), {total} FROM {table.sql} AS t")[0]
            insert = "INSERT INTO uigym.base VALUES (%s, %s, %s, %s, %s, %s)"
            run(database, insert, table.oid, table.schema, table.name, count, sum_, table.shape)


def remove(database: Connection, installed: Sequence[Table]) -> None:
    """Write no more down of these tables, and forget what was; the schema goes with the last of them."""
    there = {table.oid for table in tables(database)}
    for table in installed:
        if table.oid in there:
            run(
                database,
                f"DROP TRIGGER IF EXISTS uigym_row ON {table.sql}; DROP TRIGGER IF EXISTS uigym_all ON {table.sql}",
            )
        run(database, "DELETE FROM uigym.base WHERE source = %s", table.oid)
    if not bases(database):
        run(database, "DROP SCHEMA IF EXISTS uigym CASCADE")


def read(database: Connection, table: Table) -> Iterator[str]:
    """All rows as JSON, in the order of the key."""
    order = names(table.key, "t") or 't::text COLLATE "C"'
    return (row for (row,) in run(database, f"SELECT to_jsonb(t)::text FROM {table.sql} AS t ORDER BY {order}"))


def changes(database: Connection, table: Table) -> tuple[list[str], list[str]]:
    """Rows that the base has not, and rows that only the base has, as JSON, in the order of the key."""
    order = names(table.key, "(r)") or "held"
    found = run(database, f"""
      SELECT sign, to_jsonb(r)::text FROM (
        SELECT sum(sign)::int AS sign, held, held::{table.sql} AS r FROM uigym.log WHERE source = {table.oid}
        GROUP BY held HAVING sum(sign) <> 0) AS net
      ORDER BY {order}""")  # fmt: skip
    sides = ([], [])  # type: tuple[list[str], list[str]]
    for sign, row in found:
        sides[sign < 0].extend([row] * abs(sign))
    return sides


def compact(database: Connection, most: int) -> None:
    """Replace the log by its sums where it has more lines: a product that rewrites its data would let it grow."""
    (lines,) = run(database, f"SELECT count(*) FROM (SELECT FROM uigym.log LIMIT {most + 1}) AS part")[0]
    if lines > most:
        run(database, """
          WITH gone AS (DELETE FROM uigym.log RETURNING *)
          INSERT INTO uigym.log SELECT source, sum(sign), held FROM gone GROUP BY source, held HAVING sum(sign) <> 0""")  # fmt: skip
