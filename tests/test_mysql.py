"""State and resets on a real MariaDB."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mariadb import PASSWORD, USER, MariaDB, mariadb, missing

from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness
from uigym.product import Mysql, MysqlCopy, Product
from uigym.state import differences
from uigym.types import State

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

TABLES = (
    "CREATE TABLE people (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL UNIQUE, born DATE, "
    "pay DECIMAL(10,2), weight DOUBLE, picture BLOB, seen DATETIME, upper_name VARCHAR(50) AS (UPPER(name)))",
    "CREATE TABLE notes (code VARCHAR(20), part SMALLINT, person INT, text TEXT, PRIMARY KEY (code, part), "
    "FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE)",
    "CREATE TABLE log (line TEXT)",
    "INSERT INTO people (name, born, pay, weight, picture, seen) VALUES "
    "('Ann', '1990-01-02', 12.50, 0.1, 0x00ff, '2024-05-06 07:08:09'), ('Bob', NULL, NULL, NULL, NULL, NULL), "
    "('Cid', NULL, 3, 1e300, '', NULL)",
    "INSERT INTO notes VALUES ('a', 1, 1, 'x'), ('a', 2, 1, NULL), ('b', 1, 2, '')",
    "INSERT INTO log VALUES ('one'), ('one'), (NULL)",
)


@pytest.fixture(scope="module")
def server() -> Iterator[MariaDB]:
    with mariadb() as running:
        yield running


def shop(server: MariaDB, statements: tuple[str, ...] = TABLES) -> Any:
    """Factory of a product that keeps one connection to its database and runs what it is sent."""
    import pymysql

    def create(workdir: Path, database: str) -> Any:
        login = {"host": "127.0.0.1", "port": server.port, "user": USER, "password": PASSWORD}
        connection = pymysql.connect(**login, database=database, autocommit=True)  # type: ignore[call-overload]
        for statement in statements:
            connection.cursor().execute(statement)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                await receive()
                await send({"type": "lifespan.startup.complete"})
                await receive()
                connection.close()
                await send({"type": "lifespan.shutdown.complete"})
                return
            from urllib.parse import unquote

            count = 0
            with connection.cursor() as cursor:
                for statement in filter(None, unquote(scope["query_string"].decode()).split(";")):
                    count = cursor.execute(statement)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": str(count).encode()})

        return app

    return create


def harness(server: MariaDB, statements: tuple[str, ...] = TABLES, **fields: Any) -> Harness:
    dsn = server.dsn()
    given = {"state": Mysql(dsn), "reset": MysqlCopy(dsn), "asgi": shop(server, statements), **fields}
    return Harness(**{"name": "shop", "ready_timeout_s": 30.0, **given})


async def ask(product: Product, *statements: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", product.port)
    writer.write(f"GET /?{quote(';'.join(statements))} HTTP/1.0\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.rpartition(b"\r\n")[2])


async def test_rows_are_json_in_the_order_of_the_key(server: MariaDB) -> None:
    async with Product(harness(server)) as product:
        state = await product.read_state()
    assert state.tables["people"][0] == {
        "id": 1, "name": "Ann", "born": "1990-01-02", "pay": "12.50", "weight": 0.1, "picture": "00ff",
        "seen": "2024-05-06 07:08:09", "upper_name": "ANN",
    }  # fmt: skip
    assert [row["part"] for row in state.tables["notes"]] == [1, 2, 1]
    assert state.keys == {"people": ("id",), "notes": ("code", "part"), "log": ()}


CHANGES = {
    "a row": ["UPDATE people SET pay = 12.51 WHERE id = 1"],
    "letters in another case": ["UPDATE people SET name = 'ANN' WHERE id = 1"],
    "a key in another case": ["UPDATE notes SET code = 'A' WHERE part = 2"],
    "a space at the end": ["UPDATE notes SET text = 'x ' WHERE part = 1 AND code = 'a'"],
    "nothing for an empty text": ["UPDATE notes SET text = NULL WHERE code = 'b'"],
    "the last digit": ["UPDATE people SET weight = 0.1 + 2.8e-17 WHERE id = 1"],
    "an added and a deleted row": ["INSERT INTO people (name) VALUES ('Dan')", "DELETE FROM people WHERE name = 'Dan'"],
    "unique values that swap": ["UPDATE people SET name = 'x' WHERE id = 1", "UPDATE people SET name = 'Ann' WHERE id = 2", "UPDATE people SET name = 'Bob' WHERE id = 1"],
    "a key that moves": ["UPDATE people SET id = -300 WHERE id = 3"],
    "a cascade": ["DELETE FROM people WHERE id = 1"],
    "a repeated row": ["INSERT INTO log VALUES ('one')"],
    "one of two repeated rows": ["DELETE FROM log WHERE line = 'one' LIMIT 1"],
    "everything": ["DELETE FROM notes", "DELETE FROM people", "TRUNCATE log"],
    "a table more and one less": ["CREATE TABLE extra (id INT)", "DROP TABLE notes"],
    "a column more": ["ALTER TABLE people ADD COLUMN age INT", "ALTER TABLE log MODIFY line VARCHAR(99)"],
}  # fmt: skip


async def test_every_change_is_seen_and_given_back(server: MariaDB) -> None:
    async with Product(harness(server)) as product:
        first = await product.reset(0)
        for name, statements in CHANGES.items():
            await ask(product, *statements)
            changed = await product.read_state()
            if name != "an added and a deleted row":
                assert changed.digest() != first.digest(), name
            again = await product.reset(0)
            assert list(map(str, differences(first, again))) == [] and again.digest() == first.digest(), name
        await ask(product, "INSERT INTO people (name) VALUES ('Eve')")  # the next number is the first one's again
        assert (await product.read_state()).tables["people"][-1]["id"] == 4


LARGE = (
    "CREATE TABLE entries (id INT AUTO_INCREMENT PRIMARY KEY, title VARCHAR(100), amount DECIMAL(10,2))",
    "CREATE TABLE words (word VARCHAR(30) PRIMARY KEY, score INT)",
    "INSERT INTO entries (title, amount) SELECT CONCAT('entry ', seq), seq / 7 FROM seq_1_to_3000",
    "INSERT INTO words SELECT CONCAT('w', seq), seq FROM seq_1_to_1200",
    "CREATE TABLE small (id INT PRIMARY KEY)",
)
STEPS = (
    "UPDATE entries SET amount = 1 WHERE id = 777",
    "DELETE FROM entries WHERE id IN (1, 255, 256, 257, 3000)",
    "INSERT INTO entries (id, title) VALUES (-5, 'below'), (0, 'zero'), (90000, 'far')",
    "UPDATE words SET word = 'W5' WHERE word = 'w5'",
    "DELETE FROM words WHERE score = 6",
    "INSERT INTO small VALUES (1)",
)


@pytest.mark.parametrize("reset", ["copy", "other"])
async def test_of_large_tables_only_what_differs_is_read(server: MariaDB, reset: str) -> None:
    """And it is the same as what whole tables differ by."""

    async def nothing(product: Any, seed: int, appearance: Any) -> None: ...

    database = "mine" if reset == "other" else "{database}"
    copy = MysqlCopy(server.dsn())
    if reset == "other":
        server.run("CREATE OR REPLACE DATABASE mine")
    probe, plain = Mysql(server.dsn(database), large_rows=1_000), Mysql(server.dsn(database), large_rows=10**9)
    create = shop(server, ("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", *LARGE))
    asgi = create if reset == "copy" else lambda workdir: create(workdir, "mine")
    async with Product(harness(server, reset=copy if reset == "copy" else nothing, state=probe, asgi=asgi)) as product:
        before, whole_before = await product.read_state(), await plain(product)
        assert before.tables == {"entries": (), "words": (), "small": ()}
        states: list[tuple[State, State]] = [(before, whole_before)]
        for statement in STEPS:
            await ask(product, statement)
            states.append((await product.read_state(), await plain(product)))
        for old, whole_old in (states[0], states[3]):
            for new, whole_new in states[1:]:
                told = sorted(map(str, differences(old, new)))
                assert told == sorted(map(str, differences(whole_old, whole_new)))
        assert len(states[-1][0].tables["entries"]) == 4 and len(states[-1][0].base["entries"]) == 6
        if reset == "copy":
            assert (await product.reset(0)).digest() == before.digest()
    assert not [name for name in server.databases() if name.startswith("uigym_")]


async def test_products_have_databases_of_their_own_that_go_with_them(server: MariaDB) -> None:
    both = harness(server)
    async with Product(both) as one, Product(both) as two:
        assert one.values["database"] != two.values["database"]
        await ask(one, "DELETE FROM people")
        assert len((await two.read_state()).tables["people"]) == 3
        assert len([name for name in server.databases() if name.startswith("uigym_")]) == 4
        assert both.state.control(one) == (f"tcp://127.0.0.1:{server.port}",)  # type: ignore[attr-defined]
    assert not [name for name in server.databases() if name.startswith("uigym_")]


async def test_what_dead_processes_left_is_dropped_and_nothing_else(server: MariaDB) -> None:
    left, other = "uigym_slot_0123456789abcdef", "uigym_shop"
    server.run(f"CREATE DATABASE {left}", f"CREATE DATABASE {other}")
    async with Product(harness(server)):
        assert left not in server.databases() and other in server.databases()
    server.run(f"DROP DATABASE {other}")


async def test_a_template_fills_a_new_database(server: MariaDB) -> None:
    server.run("CREATE OR REPLACE DATABASE demo")
    server.run(*TABLES, database="demo")
    reset = MysqlCopy(server.dsn(), template="demo")
    async with Product(harness(server, (), reset=reset)) as product:
        first = await product.reset(0)
        assert len(first.tables["people"]) == 3
        await ask(product, "DELETE FROM people WHERE id = 1")
        assert len((await product.read_state()).tables["notes"]) == 1  # the foreign keys came along
        assert (await product.reset(0)).digest() == first.digest()


async def test_what_triggers_add_is_gone_after_the_reset(server: MariaDB) -> None:
    audit = ("CREATE TABLE audit (id INT AUTO_INCREMENT PRIMARY KEY, what TEXT)",)
    trigger = ("CREATE TRIGGER tell AFTER INSERT ON people FOR EACH ROW INSERT INTO audit (what) VALUES (NEW.name)",)
    async with Product(harness(server, (*TABLES, *audit, *trigger))) as product:
        first = await product.reset(0)
        await ask(product, "DELETE FROM people WHERE id = 3")
        assert (await product.reset(0)).digest() == first.digest() and first.tables["audit"] == ()


async def test_a_trigger_that_alters_what_is_restored_is_told(server: MariaDB) -> None:
    stamp = ("CREATE TRIGGER stamp BEFORE INSERT ON log FOR EACH ROW SET NEW.line = UUID()",)
    async with Product(harness(server, (*TABLES, *stamp))) as product:
        await product.reset(0)
        await ask(product, "INSERT INTO log VALUES ('x')")
        with pytest.raises(ProductError, match="triggers change table 'log' whenever it is restored"):
            await product.reset(0)


async def test_the_seed_works_on_restored_data(server: MariaDB) -> None:
    def name(product: Product, seed: int, appearance: Mapping[str, str]) -> None:
        server.run(f"UPDATE people SET name = 'seed {seed}' WHERE id = 1", database=product.values["database"])

    async with Product(harness(server, reset=MysqlCopy(server.dsn(), seed=name))) as product:
        for seed in (3, 4):
            assert (await product.reset(seed)).tables["people"][0]["name"] == f"seed {seed}"


# --- what can go wrong ------------------------------------------------------------------------------------------------


async def read(dsn: str, **options: Any) -> State:
    from types import SimpleNamespace

    class Running(SimpleNamespace):
        __hash__ = object.__hash__

    return await Mysql(dsn, **options)(Running(values={}, workdir=Path(), base_url="", port=0))


async def test_each_thing_that_is_wrong_has_one_message(server: MariaDB) -> None:
    server.run("CREATE OR REPLACE DATABASE fine", "CREATE TABLE fine.people (id INT PRIMARY KEY, name TEXT)")
    server.run("CREATE OR REPLACE DATABASE bare", "CREATE USER IF NOT EXISTS 'guest'@'127.0.0.1' IDENTIFIED BY 'g'")
    port = server.port
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = unused.getsockname()[1]
        for dsn, options, told in [
            (f"mysql://gym@127.0.0.1:{port}/fine", {}, "user 'gym' is refused without a password; write it as mysql://user:password@"),
            (f"mysql://gym:wrong@127.0.0.1:{port}/fine", {}, "user 'gym' is refused with the password that the DSN gives"),
            (f"mysql://guest:g@127.0.0.1:{port}/fine", {}, "user 'guest' may not do that; grant it"),
            (server.dsn("nowhere"), {}, "there is no database 'nowhere'; does the product or MysqlCopy"),
            (server.dsn("bare"), {}, "database 'bare' at .* has no table to read: did the product create its tables"),
            (f"mysql://gym:g@127.0.0.1:{closed}/fine", {}, "nobody answers; is the server running, and is the port right"),
            (server.dsn("fine"), {"tables": ["peple"]}, 'database .fine. has no table "peple". Did you mean "people"'),
            (server.dsn("fine"), {"ignore": ["log"]}, 'has no table "log"'),
            (server.dsn("fine"), {"ignore": ["people.nam"]}, 'table "people" has no column "nam" to ignore. Did you mean "name"'),
        ]:  # fmt: skip
            with pytest.raises(ProductError, match=told) as caught:
                await read(dsn, **options)  # type: ignore[arg-type]
            assert PASSWORD not in str(caught.value) and "wrong" not in str(caught.value)
    with pytest.raises(HarnessError, match=r"the DSN names \{database\}, which nothing gives; reset=MysqlCopy"):
        await read(server.dsn())


@pytest.mark.parametrize(
    "dsn", ["", "shop", "postgres://u:p@h/d", "mysql://h/d", "mysql://u:hidden@h", "mysql://u:p@h:x/d", 3]
)
def test_what_is_no_dsn(dsn: Any) -> None:
    for kind in (Mysql, MysqlCopy):
        with pytest.raises(HarnessError, match="names no MySQL database; expected mysql://user:password@") as caught:
            kind(dsn)
        assert "hidden" not in str(caught.value)


async def test_one_database_is_not_shared_by_two_products(server: MariaDB) -> None:
    server.run("CREATE OR REPLACE DATABASE mine")
    both = harness(server, TABLES, state=Mysql(server.dsn("mine")), reset=MysqlCopy(server.dsn("mine")))
    async with Product(both) as product:
        first = await product.reset(0)
        with pytest.raises(HarnessError, match=r"two products would share the database 'mine'; write \{database\}"):
            await Product(both).start()
        await ask(product, "DELETE FROM people")
        assert (await product.reset(0)).digest() == first.digest()
        await ask(product, "DELETE FROM people")
    assert "mine" in server.databases()  # and it has its rows again
    assert server.run("SELECT COUNT(*) FROM mine.people") == ((3,),)


async def test_a_product_without_tables_and_a_reset_without_a_product(server: MariaDB) -> None:
    with pytest.raises(ProductError, match="has no table: did the product create its tables"):
        await Product(harness(server, ())).start()
    with pytest.raises(HarnessError, match=r"must end with /.database."):
        MysqlCopy(server.dsn("mine"), template="demo")
    assert not [name for name in server.databases() if name.startswith("uigym_")]


async def test_a_table_that_the_product_keeps_locked_is_told(server: MariaDB, monkeypatch: pytest.MonkeyPatch) -> None:
    from uigym.product import mysql_server

    monkeypatch.setattr(mysql_server, "_SESSION", mysql_server._SESSION.replace("timeout = 5", "timeout = 1"))
    async with Product(harness(server)) as product:
        await ask(product, "UPDATE people SET name = 'x' WHERE id = 1", "SET autocommit = 0", "UPDATE people SET name = 'y' WHERE id = 1")  # fmt: skip
        with pytest.raises(ProductError, match=r"a lock was held for .* does the product keep a transaction open"):
            await product.reset(0)
        await ask(product, "COMMIT", "SET autocommit = 1")
        await product.reset(0)


def test_a_connection_is_closed_whatever_happens(server: MariaDB) -> None:
    with closing(socket.socket()):
        assert server.run("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'gym'")[0][0] <= 2
