"""Reading a real PostgreSQL while somebody else writes to it."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uigym.errors import HarnessError, ProductError
from uigym.product import Postgres
from uigym.product.postgres_server import with_database
from uigym.state import differences
from uigym.types import State

psycopg = pytest.importorskip("psycopg")
_numbers = itertools.count(1)


@dataclass(eq=False)
class Shop:
    """As much of a running product as a probe needs, on a database of its own."""

    dsn: str
    workdir: Path = Path()
    values: dict[str, str] = field(default_factory=dict)
    base_url: str = ""
    port: int = 0

    def __post_init__(self) -> None:
        self.values["dsn"] = self.dsn

    def do(self, *statements: str) -> None:
        with psycopg.connect(self.dsn) as database:
            for statement in statements:
                database.execute(statement)


@pytest.fixture
def shop(postgres: str) -> Iterator[Shop]:
    name = f"shop{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        shop = Shop(postgres.replace("/postgres", f"/{name}"))
        shop.do(
            "CREATE TABLE orders (id serial PRIMARY KEY, item text, price numeric(8, 2), paid bool)",
            "CREATE TABLE lines (order_id int, line int, note text, PRIMARY KEY (line, order_id))",
            "CREATE TABLE log (text text)",
            "CREATE VIEW open_orders AS SELECT * FROM orders",
            "INSERT INTO orders (item, price, paid) VALUES ('tea', 2, true), ('cake', 3.5, NULL)",
            "INSERT INTO lines VALUES (2, 1, 'b'), (1, 2, 'c'), (1, 1, 'a')",
            "INSERT INTO log VALUES ('z'), ('a')",
        )
        yield shop
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def seen(before: State, after: State) -> list[str]:
    return sorted(str(change) for change in differences(before, after))


async def test_all_tables_in_key_order(shop: Shop) -> None:
    state = await Postgres()(shop)
    assert state.tables == {
        "orders": (
            {"id": 1, "item": "tea", "price": "2.00", "paid": True},
            {"id": 2, "item": "cake", "price": "3.50", "paid": None},
        ),
        "lines": (
            {"order_id": 1, "line": 1, "note": "a"},
            {"order_id": 2, "line": 1, "note": "b"},
            {"order_id": 1, "line": 2, "note": "c"},
        ),
        "log": ({"text": "a"}, {"text": "z"}),
    }
    assert state.keys == {"orders": ("id",), "lines": ("line", "order_id"), "log": ()} and not state.base


async def test_chosen_and_ignored_tables_and_columns(shop: Shop) -> None:
    state = await Postgres(tables=["orders", "log"], ignore=["log", "orders.price", "orders.paid"])(shop)
    assert state.tables == {"orders": ({"id": 1, "item": "tea"}, {"id": 2, "item": "cake"})}


async def test_values_are_json_values_however_the_product_sets_its_session(shop: Shop) -> None:
    shop.do(
        "CREATE TYPE mood AS ENUM ('calm', 'wild')",
        "CREATE TABLE odd (a bytea, b timestamptz, c timestamp, d date, e float8, f numeric, g int[], h jsonb, i mood, "
        "j uuid, k interval, l text[], m float8, n bigint, o numeric, p int GENERATED ALWAYS AS (7) STORED)",
        "INSERT INTO odd VALUES ('\\x00ff', '2026-03-01 12:00+02', '2026-03-01 12:00', '2026-03-01', 0.1, 12.50, '{1,NULL}', "
        """'{"x": 1.50}', 'wild', '00000000-0000-0000-0000-00000000000a', '1 day 2 hours', '{"é\n"}', 'NaN', 9223372036854775807, """
        "'1e20')",
        "ALTER ROLE gym SET DateStyle = 'SQL, DMY'",
        "ALTER ROLE gym SET bytea_output = 'escape'",
    )
    state = await Postgres(tables=["odd"])(shop)
    shop.do("ALTER ROLE gym RESET ALL")
    assert state.tables["odd"] == (
        {"a": "00ff", "b": "2026-03-01T10:00:00+00:00", "c": "2026-03-01T12:00:00", "d": "2026-03-01", "e": 0.1, "f": "12.50",
         "g": [1, None], "h": {"x": 1.5}, "i": "wild", "j": "00000000-0000-0000-0000-00000000000a", "k": "P1DT2H", "l": ["é\n"],
         "m": "NaN", "n": 9223372036854775807, "o": "100000000000000000000", "p": 7},
    )  # fmt: skip
    assert json.loads(json.dumps(state.tables["odd"], allow_nan=False)) == list(state.tables["odd"])


async def test_what_is_committed_is_seen_and_nothing_else(shop: Shop) -> None:
    with psycopg.connect(shop.dsn) as writer:
        writer.execute("INSERT INTO log VALUES ('committed')")
        writer.commit()
        writer.execute("INSERT INTO log VALUES ('not yet')")
        state = await Postgres()(shop)
        writer.rollback()
    assert [row["text"] for row in state.tables["log"]] == ["a", "committed", "z"]


async def test_names_that_sql_would_stumble_over(shop: Shop) -> None:
    shop.do(
        'CREATE SCHEMA "My %s"', 'CREATE TABLE "My %s"."order ""x"" %" ("select %s" text PRIMARY KEY, "a\'b\\" int)'
    )
    shop.do('INSERT INTO "My %s"."order ""x"" %" SELECT i, i FROM generate_series(1, 5) AS i'.replace("%", "%"))
    probe = Postgres(schema="My %s", large_rows=3)
    await probe.started(shop)  # type: ignore[arg-type]
    before = await probe(shop)
    shop.do('DELETE FROM "My %s"."order ""x"" %" WHERE "a\'b\\" = 2')
    assert seen(before, await probe(shop)) == ['order "x" % select %s="2": removed with a\'b\\=2']


# --- large tables ---------------------------------------------------------------------------------------------


async def test_only_what_differs_is_held(shop: Shop) -> None:
    shop.do(
        "CREATE TABLE big AS SELECT i, 'n' || i AS v FROM generate_series(1, 1000) AS i",
        "ALTER TABLE big ADD PRIMARY KEY (i)",
    )
    probe = Postgres(large_rows=100)
    await probe.started(shop)  # type: ignore[arg-type]
    before = await probe(shop)
    assert before.tables["big"] == () and before.tables["uigym.base"][0]["rows"] == 1000
    shop.do(
        "UPDATE big SET v = 'x' WHERE i = 7",
        "INSERT INTO big VALUES (1001, 'y')",
        "DELETE FROM big WHERE i = 9",
        "UPDATE big SET v = v",
    )
    after = await probe(shop)
    assert after.tables["big"] == ({"i": 7, "v": "x"}, {"i": 1001, "v": "y"})
    assert after.base["big"] == ({"i": 7, "v": "n7"}, {"i": 9, "v": "n9"})
    assert seen(before, after) == [
        'big i=1001: added with v="y"',
        'big i=7: v "n7" -> "x"',
        'big i=9: removed with v="n9"',
    ]
    shop.do("UPDATE big SET v = 'n7' WHERE i = 7", "DELETE FROM big WHERE i = 1001", "INSERT INTO big VALUES (9, 'n9')")
    assert (await probe(shop)).digest() == before.digest()
    shop.do("TRUNCATE big")
    assert len(seen(before, await probe(shop))) == 1000
    await probe.ended(shop)  # type: ignore[arg-type]
    shop.do("CREATE SCHEMA uigym")  # nothing of it was left


STEPS = st.lists(
    st.tuples(st.sampled_from(["insert", "update", "delete", "rename", "truncate", "undone"]),
              st.sampled_from(["keyed", "bare"]), st.integers(1, 6), st.sampled_from(["a", "b", None])),
    max_size=6,
)  # fmt: skip


def statement(what: str, table: str, key: int, value: str | None) -> str:
    shown = "NULL" if value is None else f"'{value}'"
    conflict = " ON CONFLICT (id) DO UPDATE SET v = excluded.v" if table == "keyed" else ""
    insert = f"INSERT INTO {table} VALUES ({key}, {shown}){conflict}"
    return {
        "insert": insert,
        "update": f"UPDATE {table} SET v = {shown} WHERE id = {key}",
        "delete": f"DELETE FROM {table} WHERE id = {key}",
        "rename": f"UPDATE {table} SET id = id + 10 WHERE id = {key} AND NOT EXISTS (SELECT FROM {table} WHERE id = {key + 10})",
        "truncate": f"TRUNCATE {table}",
        "undone": f"BEGIN; {insert}; ROLLBACK",
    }[what]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, STEPS)
def test_what_differs_is_the_same_as_when_all_is_read(shop: Shop, first: Any, second: Any) -> None:
    fill = "SELECT i, 'a' FROM generate_series(1, 5) AS i"
    shop.do("DROP TABLE IF EXISTS keyed, bare", "DROP SCHEMA IF EXISTS uigym CASCADE", "CREATE TABLE keyed (id int PRIMARY KEY, v text)", "CREATE TABLE bare (id int, v text)",
            f"INSERT INTO keyed {fill}", f"INSERT INTO bare {fill}")  # fmt: skip
    few, all_ = Postgres(tables=["keyed", "bare"], large_rows=3), Postgres(tables=["keyed", "bare"])
    few._install(shop.dsn)
    states = []
    for steps in ((), first, second):
        with psycopg.connect(shop.dsn, autocommit=True) as database:
            for step in steps:
                database.execute(statement(*step))
        few._compact(shop.dsn)
        states.append((few.read(shop.dsn), all_.read(shop.dsn)))
        assert set(states[-1][0].base) == {"keyed", "bare"}
    for before in states:
        for after in states:
            assert seen(before[0], after[0]) == seen(before[1], after[1])


async def test_a_log_that_grows_is_added_up(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.postgres.MAX_LOG", 10)
    shop.do("INSERT INTO log SELECT i::text FROM generate_series(1, 50) AS i")
    probe = Postgres(large_rows=10)
    await probe.started(shop)  # type: ignore[arg-type]
    before = await probe(shop)
    shop.do(
        "DELETE FROM log",
        "INSERT INTO log VALUES ('a'), ('z')",
        "INSERT INTO log SELECT i::text FROM generate_series(1, 49) AS i",
    )
    assert seen(before, await probe(shop)) == ['log text="50": removed']
    with psycopg.connect(shop.dsn) as database:
        assert database.execute("SELECT count(*) FROM uigym.log").fetchone() == (1,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ALTER TABLE log ADD COLUMN more int", 'the large table "log" was altered'),
        ("ALTER TABLE log DISABLE TRIGGER ALL", 'the large table "log" was altered'),
        ("DROP TABLE log", 'the large table "log" was dropped'),
        ("ALTER TABLE log RENAME TO logs", 'the large table "log" was dropped'),
    ],
)
async def test_what_is_defined_anew_is_noticed(shop: Shop, change: str, message: str) -> None:
    shop.do("INSERT INTO log SELECT i::text FROM generate_series(1, 50) AS i")
    probe = Postgres(large_rows=10)
    await probe.started(shop)  # type: ignore[arg-type]
    shop.do(change)
    with pytest.raises(ProductError, match=message):
        await probe(shop)


async def test_a_partitioned_table_is_read_whole_or_not_at_all(shop: Shop) -> None:
    shop.do("CREATE TABLE parts (i int PRIMARY KEY) PARTITION BY RANGE (i)", "CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (999)",
            "INSERT INTO parts SELECT * FROM generate_series(1, 20)")  # fmt: skip
    with pytest.raises(HarnessError, match=r'"parts" is large.*whole=\("parts",\)'):
        await Postgres(large_rows=10).started(shop)  # type: ignore[arg-type]
    assert len((await Postgres(large_rows=10, whole=["parts"])(shop)).tables["parts"]) == 20


async def test_a_user_who_may_not_write_down_changes(shop: Shop) -> None:
    shop.do("DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN END $$", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
            "INSERT INTO log SELECT i::text FROM generate_series(1, 50) AS i")  # fmt: skip
    reading = Shop(shop.dsn.replace("gym@", "reader@"))
    assert len((await Postgres()(reading)).tables["log"]) == 52
    with pytest.raises(ProductError, match=r'the user "reader" may not create a schema .*whole=\("log",\)'):
        await Postgres(large_rows=10).started(reading)  # type: ignore[arg-type]


# --- what cannot be read --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (Postgres(tables=["order"]), r'no table "order"\. Did you mean "orders"'),
        (Postgres(ignore=["logs"]), r'no table "logs"\. Did you mean "log"'),
        (Postgres(whole=["lines2"]), r'no table "lines2"\. Did you mean "lines"'),
        (Postgres(ignore=["orders.prize"]), r'no column "prize" to ignore\. Did you mean "price"'),
        (Postgres(tables=["log"], ignore=["log"]), "no table to read"),
        (Postgres(schema="shop"), "no table to read in the schema 'shop'"),
    ],
)
async def test_unknown_names(shop: Shop, probe: Postgres, message: str) -> None:
    with pytest.raises(ProductError, match=message):
        await probe(shop)


def test_databases_that_cannot_be_reached(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.postgres_server.ANSWER_S", 2)
    with socket.socket() as unused, socket.create_server(("127.0.0.1", 0)) as silent:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        for dsn, message in (
            (postgres.replace("/postgres", "/shap"), "there is no database 'shap' on that server"),
            (postgres.replace("gym@", "guest@"), "there is no user 'guest' on that server"),
            (f"postgresql://gym:secret@127.0.0.1:{port}/shop", f"'shop' at 127.0.0.1:{port}: nobody listens there"),
            (
                f"host=127.0.0.1 port={silent.getsockname()[1]} dbname=shop user=gym",
                "it did not answer within",
            ),
        ):
            with pytest.raises(ProductError, match=message) as told:
                Postgres().read(dsn)
            assert "secret" not in str(told.value)
    for dsn in ("postgresql://gym:secret@127.0.0.1:none/x", "nonsense", "postgresql://gym@h/x?sslmod=1"):
        with pytest.raises((HarnessError, ProductError)) as wrong:
            Postgres().read(dsn)
        assert "secret" not in str(wrong.value) and isinstance(wrong.value, HarnessError)


WORD = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=8
)


@given(WORD, WORD, WORD, st.sampled_from(["127.0.0.1", "/var/run/pg sql", "db.example"]), st.booleans())
def test_another_database_on_the_same_server(user: str, password: str, name: str, host: str, more: bool) -> None:
    told = {
        "user": user,
        "password": password,
        "host": host,
        "port": "5433",
        **({"application_name": "a b&c"} if more else {}),
    }
    dsn = psycopg.conninfo.make_conninfo(**told, dbname="x")
    address = with_database(dsn, name)
    assert address.startswith("postgresql://")
    assert psycopg.conninfo.conninfo_to_dict(address) == {**told, "dbname": name}
    assert with_database("postgresql:///x", "y") == "postgresql:///y"


async def test_what_nothing_prepares_is_told(tmp_path: Path) -> None:
    nothing = Shop("")
    nothing.values.clear()
    with pytest.raises(HarnessError, match=r"names \{database\}, which nothing prepares"):
        await Postgres("postgresql://gym@127.0.0.1/{database}")(nothing)


def test_a_server_that_wants_a_password(postgres: str, tmp_path: Path) -> None:
    from postgres import running

    with running(password="s3cret") as dsn:
        for given, message in (
            (dsn.replace(":s3cret", ""), "it wants a password for 'gym'"),
            (dsn.replace("s3cret", "guess"), "the password of 'gym' is wrong"),
        ):
            with pytest.raises(ProductError, match=message):
                Postgres().read(given)
        with pytest.raises(ProductError, match="no table to read"):
            Postgres().read(dsn)


async def test_a_locked_table_is_an_error(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.postgres_server.ANSWER_S", 1)
    with psycopg.connect(shop.dsn) as writer:
        writer.execute("LOCK TABLE log")
        with pytest.raises(ProductError, match="stayed locked for 1 s"):
            await Postgres()(shop)
        writer.rollback()


def test_places_that_the_page_must_not_reach(shop: Shop) -> None:
    (place,) = Postgres().control(shop)
    assert place.startswith("tcp://127.0.0.1:")
    shop.values["dsn"] = "host=/run/pg port=5433 dbname=x"
    assert Postgres().control(shop) == ("/run/pg/.s.PGSQL.5433",)
