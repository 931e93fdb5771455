"""Putting a product's PostgreSQL database back, again and again, in place or by another one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness
from uigym.product import Postgres, PostgresTemplate, Product
from uigym.state import differences

psycopg = pytest.importorskip("psycopg")

DATA = """
CREATE TABLE items (id serial PRIMARY KEY, name text UNIQUE, price numeric(8, 2), twice numeric GENERATED ALWAYS AS (price * 2) STORED);
CREATE TABLE parts (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, item int REFERENCES items ON DELETE CASCADE, note json);
CREATE TABLE seen (what text, weight float8);
CREATE TABLE pairs (a int, b text, PRIMARY KEY (a, b));
CREATE FUNCTION grumble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES ('trigger', 0.1); RETURN NULL; END $$;
INSERT INTO items (name, price) SELECT 'item ' || i, i FROM generate_series(1, 200) AS i;
INSERT INTO parts (item, note) SELECT i, '{"b":1,  "a": 1.50}' FROM generate_series(1, 200) AS i;
INSERT INTO seen VALUES ('a', 1), ('a', 1), ('b', 'NaN'), (NULL, NULL);
INSERT INTO pairs VALUES (1, 'x'), (2, 'y');
CREATE TRIGGER grumble AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION grumble();
"""
EDITS = (
    "DELETE FROM items WHERE id > 10",
    "UPDATE items SET name = 'item 1 ' WHERE id = 1",
    "UPDATE items SET id = 500 WHERE id = 10 AND NOT EXISTS (SELECT FROM parts WHERE item = 10)",
    "INSERT INTO items (name, price) VALUES ('new', 1)",
    "UPDATE parts SET item = NULL WHERE id < 4",
    "INSERT INTO seen VALUES ('a', 1), ('c', 2)",
    "DELETE FROM seen WHERE what = 'b' OR what IS NULL",
    "UPDATE pairs SET a = 3 - a",
    "TRUNCATE seen",
    "TRUNCATE items CASCADE",
)


def fill(dsn: str) -> None:
    with psycopg.connect(dsn) as database:
        database.execute(DATA)


def shop(start: str = "") -> Any:
    """Factory of a product that keeps one connection, and opens another one where that is ended."""

    def create(workdir: Path, dsn: str) -> Any:
        connections = [psycopg.connect(dsn, autocommit=True)]
        if start:
            connections[0].execute(start)

        def do(sql: str) -> str:
            try:
                done = connections[0].execute(sql)
            except psycopg.OperationalError:
                connections[0].close()
                connections[0] = psycopg.connect(dsn, autocommit=True)
                done = connections[0].execute(sql)
            return str(done.fetchone()) if done.description else ""

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                await receive()
                await send({"type": "lifespan.startup.complete"})
                await receive()
                connections[0].close()
                await send({"type": "lifespan.shutdown.complete"})
                return
            body = b""
            if scope["path"] == "/do":
                body = do((await receive())["body"].decode()).encode()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body})

        return app

    return create


def harness(reset: Any, start: str = "", **fields: Any) -> Harness:
    return Harness(name="shop", asgi=shop(start), state=fields.pop("state", Postgres()), reset=reset, **fields)


async def do(product: Product, sql: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", product.port)
    body = sql.encode()
    writer.write(b"POST /do HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    assert b" 200 " in answer.split(b"\r\n")[0], answer
    return answer.rpartition(b"\r\n")[2].decode()


async def pid(product: Product) -> str:
    return await do(product, "SELECT pg_backend_pid()")


@pytest.fixture
def server(postgres: str) -> Iterator[str]:
    """The server, on which nothing is left afterwards."""
    yield postgres
    assert made(postgres) == []


def made(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as database:
        return [name for (name,) in database.execute("SELECT datname FROM pg_database WHERE datname LIKE 'uigym%'")]


@pytest.mark.parametrize("in_place", [True, False])
async def test_every_reset_gives_what_was_there_after_the_start(server: str, in_place: bool) -> None:
    reset = PostgresTemplate(server, fill, in_place=in_place)
    async with Product(harness(reset, state=Postgres(whole=["items"], large_rows=100))) as product:
        first = await product.reset(0)
        before = await pid(product)
        for edit in EDITS:
            await do(product, edit)
            changed = await product.read_state()
            assert list(differences(first, changed)) or "NOT EXISTS" in edit
            state = await product.reset(0)
            assert [str(change) for change in differences(first, state)] == [] and state.digest() == first.digest()
        assert await do(product, "INSERT INTO items (name) VALUES ('new') RETURNING id") == "(201,)"
        assert await do(product, "INSERT INTO parts (item) VALUES (1) RETURNING id") == "(201,)"
        assert await do(product, "SELECT note::text FROM parts WHERE id = 1") == """('{"b":1,  "a": 1.50}',)"""
        assert (await pid(product) == before) is in_place  # the product keeps its connection, or has got another one


async def test_what_cannot_be_put_back_in_place_is_replaced(server: str) -> None:
    async with Product(harness(PostgresTemplate(server, fill))) as product:
        first = await product.reset(0)
        for edit in (
            "ALTER TABLE items RENAME COLUMN name TO title",
            "CREATE TABLE more (id int)",
            "DROP TABLE parts",
            "CREATE OR REPLACE FUNCTION grumble() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "ALTER TABLE items DISABLE TRIGGER ALL",
            "CREATE INDEX fast ON seen (what)",
            "DROP SCHEMA uigym CASCADE",
        ):
            await do(product, edit)
            assert (await product.reset(0)).digest() == first.digest()
            await do(product, "DELETE FROM items WHERE id = 5")
            assert await do(product, "SELECT count(*) FROM seen") == "(5,)"  # its own trigger works again
        assert (await product.reset(0)).digest() == first.digest()


async def test_a_transaction_that_is_left_open(server: str) -> None:
    async with Product(harness(PostgresTemplate(server, fill))) as product:
        first = await product.reset(0)
        await do(product, "BEGIN; DELETE FROM items")
        assert (await product.reset(0)).digest() == first.digest()
        assert await do(product, "SELECT count(*) FROM items") == "(200,)"


@pytest.mark.parametrize("what", ["CREATE MATERIALIZED VIEW m AS SELECT * FROM items", "SELECT lo_create(7)", "CREATE SEQUENCE s CACHE 9",
                                  "CREATE TABLE p (i int) PARTITION BY LIST (i)"])  # fmt: skip
async def test_what_only_a_copy_can_restore(server: str, what: str) -> None:
    def filled(dsn: str) -> None:
        fill(dsn)
        with psycopg.connect(dsn) as database:
            database.execute(what)

    async with Product(harness(PostgresTemplate(server, filled))) as product:
        first = await product.reset(0)
        before = await pid(product)
        await do(product, "DELETE FROM items")
        assert (await product.reset(0)).digest() == first.digest()
        assert await pid(product) != before


async def test_very_many_changes_are_not_put_back_one_by_one(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.postgres_restore.MAX_LOG", 100)
    async with Product(harness(PostgresTemplate(server, fill))) as product:
        first = await product.reset(0)
        for edit, kept in (("UPDATE items SET price = 1 WHERE id <= 50", True), ("UPDATE items SET price = 1", False)):
            before = await pid(product)
            await do(product, edit)
            assert (await product.reset(0)).digest() == first.digest()
            assert (await pid(product) == before) is kept


async def test_products_that_make_their_tables_themselves(server: str) -> None:
    """What the first has made, all are put back to."""
    start = "CREATE TABLE born (at text); INSERT INTO born VALUES (clock_timestamp()::text)"
    both = harness(PostgresTemplate(server), start)
    async with Product(both) as one, Product(both) as two:
        states = [await one.reset(0), await two.reset(0)]
        assert states[0] == states[1] and len(states[0].tables["born"]) == 1
        await do(two, "DELETE FROM born")
        assert await two.reset(0) == await one.read_state() == states[0]


async def test_products_have_databases_of_their_own(server: str) -> None:
    both = harness(PostgresTemplate(server, fill))
    async with Product(both) as one, Product(both) as two:
        assert (await one.reset(0)).digest() == (await two.reset(0)).digest()
        await do(one, "DELETE FROM items")
        assert len((await two.read_state()).tables["items"]) == 200
        assert len(made(server)) == 3


async def test_the_seed_works_on_restored_data(server: str) -> None:
    async def rename(product: Product, seed: int, appearance: Mapping[str, str]) -> None:
        with psycopg.connect(product.values["dsn"]) as database:
            database.execute("UPDATE items SET name = %s WHERE id = 1", (f"seed {seed}",))

    async with Product(harness(PostgresTemplate(server, fill, seed=rename))) as product:
        for seed in (4, 5, 4):
            assert (await product.reset(seed)).tables["items"][0]["name"] == f"seed {seed}"


async def test_a_user_who_is_no_superuser(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as database:
        database.execute("CREATE ROLE maker LOGIN CREATEDB")
    async with Product(harness(PostgresTemplate(server.replace("gym@", "maker@"), fill))) as product:
        first = await product.reset(0)
        await do(product, "DELETE FROM items")
        assert (await product.reset(0)).digest() == first.digest()


# --- sources --------------------------------------------------------------------------------------------------


async def test_files_and_databases_to_start_from(server: str, tmp_path: Path) -> None:
    from uigym.product.postgres_private import programs

    (tmp_path / "data.sql").write_text(DATA + "COPY seen FROM stdin;\nx\t2\n\\.\n")
    with psycopg.connect(server, autocommit=True) as database:
        database.execute("CREATE DATABASE original")
    original = server.replace("/postgres", "/original")
    fill(original)
    bin_ = programs()
    assert bin_ is not None
    dump = [bin_ / "pg_dump", "-Fc", "-f", tmp_path / "data.dump", original]
    await asyncio.to_thread(subprocess.run, dump, check=True)

    async def slowly(dsn: str) -> None:
        await asyncio.to_thread(fill, dsn)

    for source, seen in ((tmp_path / "data.sql", 5), (str(tmp_path / "data.dump"), 4), (original, 4), (slowly, 4)):
        async with Product(harness(PostgresTemplate(server, source))) as product:
            await do(product, "DELETE FROM seen")
            assert len((await product.reset(0)).tables["seen"]) == seen
    with (
        psycopg.connect(original),
        pytest.raises(ProductError, match="'original' cannot be copied while others use it"),
    ):
        await Product(harness(PostgresTemplate(server, original))).start()
    with psycopg.connect(server, autocommit=True) as database:
        database.execute("DROP DATABASE original")


async def test_sources_that_cannot_be_used(server: str, tmp_path: Path) -> None:
    (tmp_path / "bad.sql").write_text("CREATE TABLE a (i int);\nCREATE TABL b;")
    (tmp_path / "cut.dump").write_bytes(b"PGDMP\x01")

    def broken(dsn: str) -> None:
        raise RuntimeError("no seeds today")

    for source, message in (
        (tmp_path / "bad.sql", r'bad\.sql cannot be loaded: .*:2: ERROR:  syntax error at or near "TABL"'),
        (tmp_path / "cut.dump", r"cut\.dump cannot be loaded: pg_restore: error"),
        (tmp_path / "lost.sql", r"there is no file .*lost\.sql"),
        (broken, "no seeds today"),
        (server.replace("/postgres", "/lost"), "there is no database 'lost' on that server"),
    ):
        with pytest.raises((HarnessError, ProductError), match=message):
            await Product(harness(PostgresTemplate(server, source))).start()
        assert made(server) == []


async def test_servers_that_cannot_be_used(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(server, autocommit=True) as database:
        database.execute("CREATE ROLE plain LOGIN")
    for dsn, message in (
        (server.replace("gym@", "plain@"), "the user 'plain' may not create databases"),
        ("postgresql://gym@127.0.0.1:1/postgres", "'postgres' at 127.0.0.1:1: nobody listens there"),
    ):
        with pytest.raises(ProductError, match=message):
            await Product(harness(PostgresTemplate(dsn, fill))).start()
    monkeypatch.setattr("uigym.product.postgres_server.OLDEST", 99)
    with pytest.raises(ProductError, match=r"the server is PostgreSQL \d+, expected 99 or newer"):
        await Product(harness(PostgresTemplate(server, fill))).start()


async def test_what_a_dead_owner_left_is_dropped(server: str) -> None:
    """And nothing that has an owner."""
    died = f"""
        import os
        from uigym.product.postgres_stock import Stock
        Stock({server!r}).create()
        os._exit(1)
    """
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", textwrap.dedent(died)])
    assert len(made(server)) == 1
    async with Product(harness(PostgresTemplate(server, fill))) as one:
        mine = made(server)
        assert len(mine) == 2
        async with Product(harness(PostgresTemplate(server, fill))):
            assert set(mine) < set(made(server))
        assert made(server) == mine
        with psycopg.connect(server, autocommit=True) as database:  # as a restart of the server would
            database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'uigym %'"
            )
        await do(one, "CREATE TABLE more (id int)")
        await one.reset(0)  # by a copy, which is marked again
        async with Product(harness(PostgresTemplate(server, fill))):
            assert set(mine) < set(made(server))
        assert one.harness.reset.control(one)[0].startswith("tcp://127.0.0.1:")  # type: ignore[attr-defined]
