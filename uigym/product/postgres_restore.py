"""Putting a PostgreSQL database back in place, from what was written down of its changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uigym.product.postgres_capture import Table, install, tables
from uigym.product.postgres_server import Connection, literal, names, run

LOCK_S = 1
"""How long the product's open transactions are waited for; after that its connections are ended."""

MAX_LOG = 20_000
"""Changes that are put back in place; of more a copy is sooner at hand."""

# Whatever is defined in a database; a row of a catalogue gets another xmin when it is altered. Of pg_class only what
# TRUNCATE and ANALYZE leave as it is.
_CATALOGUES = {
    "pg_attribute": "attrelid, attnum",
    "pg_attrdef": "oid",
    "pg_constraint": "oid",
    "pg_enum": "oid",
    "pg_index": "indexrelid",
    "pg_namespace": "oid",
    "pg_policy": "oid",
    "pg_proc": "oid",
    "pg_rewrite": "oid",
    "pg_sequence": "seqrelid",
    "pg_trigger": "oid",
    "pg_type": "oid",
}
_CLASS = (
    "SELECT concat_ws(' ', oid, relname, relnamespace, relkind, relowner, relacl, relrowsecurity) AS said FROM pg_class"
)
_SHAPE = "SELECT md5(string_agg(said, ',' ORDER BY said)) FROM ({}) AS all_of_it".format(
    " UNION ALL ".join(
        [f"{_CLASS} WHERE oid >= 16384"]
        + [
            f"SELECT concat_ws(' ', '{name}', {key}, xmin) FROM {name} WHERE {key.split(',')[0]} >= 16384"
            for name, key in _CATALOGUES.items()
        ]
    )
)
_OBSTACLES = """
SELECT 'its user is no superuser, who alone may pass by triggers and foreign keys'
  WHERE NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
UNION ALL SELECT 'it has materialized views' WHERE EXISTS (SELECT FROM pg_class WHERE relkind = 'm')
UNION ALL SELECT 'it has large objects' WHERE EXISTS (SELECT FROM pg_largeobject_metadata)
UNION ALL SELECT 'its sessions keep numbers of sequences (CACHE)' WHERE EXISTS (SELECT FROM pg_sequence WHERE seqcache > 1)
"""
_SEQUENCES = """
SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S' AND relpersistence <> 't' AND oid >= 16384 ORDER BY 1
"""


def begin(database: Connection, ignored: Callable[[Table], Sequence[str]]) -> None:
    """Take what the database holds now as what it is put back to; its changes are written down from here on."""
    run(database, "DROP SCHEMA IF EXISTS uigym CASCADE")
    found = tables(database)
    install(database, [table for table in found if table.plain], ignored)
    obstacles = [why for (why,) in run(database, _OBSTACLES)]
    obstacles += [f"its table {table.sql} is partitioned or inherits" for table in found if not table.plain]
    run(database, "CREATE TABLE uigym.sequences (name text, last bigint, called boolean)")
    for row in _positions(database):
        run(database, "INSERT INTO uigym.sequences VALUES (%s, %s, %s)", *row)
    run(database, "CREATE TABLE uigym.origin (shape text, obstacle text)")
    (shape,) = run(database, _SHAPE)[0]
    run(database, "INSERT INTO uigym.origin VALUES (%s, %s)", shape, "; ".join(obstacles))


def untouched(database: Connection) -> bool:
    """Whether the database is as it was when this began: definitions, rows and sequences."""
    return (
        _is_as_defined(database)
        and not run(database, "SELECT 1 FROM uigym.log GROUP BY source, held HAVING sum(sign) <> 0 LIMIT 1")
        and _positions(database) == run(database, "SELECT * FROM uigym.sequences ORDER BY 1")
    )


def obstacle(database: Connection) -> str:
    """Why the database cannot be put back in place; empty if it can."""
    (why,) = run(database, "SELECT obstacle FROM uigym.origin")[0]
    return str(why)


def put_back(database: Connection) -> bool:
    """Put every row and every sequence back; False where something was defined anew, or very much was changed.

    Runs in one transaction of its caller. It waits for no more than `LOCK_S` for transactions of the product.
    """
    run(database, f"SET LOCAL lock_timeout = '{LOCK_S}s'; SET LOCAL session_replication_role = replica")
    run(database, "LOCK TABLE uigym.log IN ACCESS EXCLUSIVE MODE")  # nobody is amid a change
    (lines,) = run(database, f"SELECT count(*) FROM (SELECT FROM uigym.log LIMIT {MAX_LOG + 1}) AS part")[0]
    if lines > MAX_LOG or not _is_as_defined(database):
        return False
    touched = {oid for (oid,) in run(database, "SELECT DISTINCT source FROM uigym.log")}
    for table in tables(database) if touched else ():
        if table.oid in touched:
            _put_back(database, table)
    run(database, "SELECT setval(name::regclass, last, called) FROM uigym.sequences")
    if touched:
        run(database, "TRUNCATE uigym.log")
    return True


def _put_back(database: Connection, table: Table) -> None:
    net = f"""SELECT held, held::{table.sql} AS r, sum(sign) AS n FROM uigym.log WHERE source = {table.oid}
      GROUP BY held HAVING sum(sign)"""
    if table.key:
        matched = " AND ".join(f"{names([column], 't')} = {names([column], '(r)')}" for column in table.key)
        run(database, f"DELETE FROM {table.sql} AS t USING ({net} > 0) AS net WHERE {matched}")
    else:
        run(database, f"""
          WITH net AS MATERIALIZED ({net} > 0),
            placed AS (SELECT ctid AS place, t::text AS held, row_number() OVER (PARTITION BY t::text) AS i FROM {table.sql} AS t)
          DELETE FROM {table.sql} WHERE ctid = ANY (ARRAY(SELECT place FROM placed JOIN net USING (held) WHERE i <= n))
        """)  # fmt: skip
    columns = [column for column, kind in table.types.items() if not kind.endswith(" generated")]
    run(database, f"""
      INSERT INTO {table.sql} ({names(columns)}) OVERRIDING SYSTEM VALUE
      SELECT {names(columns, '(r)')} FROM ({net} < 0) AS net, generate_series(1, -n)""")  # fmt: skip


def _is_as_defined(database: Connection) -> bool:
    return bool(run(database, _SHAPE)[0] == run(database, "SELECT shape FROM uigym.origin")[0])


def _positions(database: Connection) -> list[tuple[str, int, bool]]:
    """Where each sequence stands: its name, the last value, and whether that was given out."""
    found = [name for (name,) in run(database, _SEQUENCES)]
    parts = [f"SELECT {literal(name)}::text, last_value, is_called FROM {name}" for name in found]
    return [(name, last, called) for name, last, called in run(database, " UNION ALL ".join(parts))] if parts else []
