"""Reading SQLite files while somebody else writes them."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import ProductError
from uigym.product import Sqlite


@dataclass(eq=False)
class Shop:
    """As much of a running product as a probe needs."""

    workdir: Path
    values: ClassVar[dict[str, str]] = {}
    base_url: str = ""
    port: int = 0


def write(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    write(
        tmp_path / "shop.db",
        "CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT, price REAL, paid INT)",
        "CREATE TABLE lines (order_id INT, line INT, note TEXT, PRIMARY KEY (line, order_id)) WITHOUT ROWID",
        "CREATE TABLE log (text TEXT)",
        "CREATE VIEW open_orders AS SELECT * FROM orders",
        "CREATE VIRTUAL TABLE search USING fts5(item)",
        "INSERT INTO search VALUES ('tea')",
        "INSERT INTO orders VALUES (2, 'cake', 3.5, NULL), (1, 'tea', 2, 1)",
        "INSERT INTO lines VALUES (2, 1, 'b'), (1, 2, 'c'), (1, 1, 'a')",
        "INSERT INTO log VALUES ('z'), ('a')",
    )
    return Shop(tmp_path)


async def test_all_tables_in_key_order(shop: Shop) -> None:
    state = await Sqlite("{workdir}/shop.db")(shop)
    assert state.tables == {
        "orders": (
            {"id": 1, "item": "tea", "price": 2.0, "paid": 1},
            {"id": 2, "item": "cake", "price": 3.5, "paid": None},
        ),
        "lines": (
            {"order_id": 1, "line": 1, "note": "a"},
            {"order_id": 2, "line": 1, "note": "b"},
            {"order_id": 1, "line": 2, "note": "c"},
        ),
        "log": ({"text": "z"}, {"text": "a"}),
    }
    assert state.keys == {"orders": ("id",), "lines": ("line", "order_id"), "log": ()}


async def test_chosen_and_ignored_tables_and_columns(shop: Shop) -> None:
    state = await Sqlite("shop.db", tables=["orders", "log"], ignore=["log", "orders.price", "orders.paid"])(shop)
    assert state.tables == {"orders": ({"id": 1, "item": "tea"}, {"id": 2, "item": "cake"})}


async def test_names_that_sql_would_stumble_over(shop: Shop) -> None:
    write(shop.workdir / "shop.db", 'CREATE TABLE "order ""x"" %" ("select" TEXT PRIMARY KEY)')
    state = await Sqlite("shop.db", tables=['order "x" %'])(shop)
    assert state.keys == {'order "x" %': ("select",)}


async def test_path_with_the_characters_of_an_address(tmp_path: Path) -> None:
    folder = tmp_path / "50% ?mode=rw#a b"
    folder.mkdir()
    write(folder / "a?b#c.db", "CREATE TABLE t (id INT)")
    assert (await Sqlite("{workdir}/a?b#c.db")(Shop(folder))).tables == {"t": ()}


async def test_values_are_json_values(shop: Shop) -> None:
    write(
        shop.workdir / "shop.db",
        "CREATE TABLE odd (id INT, value)",
        "INSERT INTO odd VALUES (1, x'00ff'), (2, 9e999), (3, CAST(x'61ff' AS TEXT)), (4, 9223372036854775807)",
    )
    state = await Sqlite("shop.db", tables=["odd"])(shop)
    values = [row["value"] for row in state.tables["odd"]]
    assert values == ["00ff", "inf", "a\\xff", 9223372036854775807]
    assert json.loads(json.dumps(values, allow_nan=False)) == values


@pytest.mark.parametrize("mode", ["wal", "delete"])
async def test_what_is_committed_is_seen_and_nothing_else(shop: Shop, mode: str) -> None:
    with closing(sqlite3.connect(shop.workdir / "shop.db")) as writer:
        writer.execute(f"PRAGMA journal_mode = {mode}")
        writer.execute("INSERT INTO log VALUES ('committed')")
        writer.commit()
        writer.execute("INSERT INTO log VALUES ('not yet')")
        state = await Sqlite("shop.db")(shop)
    assert [row["text"] for row in state.tables["log"]] == ["z", "a", "committed"]


async def test_all_tables_are_of_one_moment(shop: Shop) -> None:
    """A writer moves one unit from table to table; every state has it exactly once."""
    path = shop.workdir / "moving.db"
    write(
        path,
        "PRAGMA journal_mode = wal",
        "CREATE TABLE a (n INT)",
        "CREATE TABLE b (n INT)",
        "INSERT INTO a VALUES (1)",
    )
    stop = threading.Event()

    def move() -> None:
        with closing(sqlite3.connect(path, timeout=5)) as database:
            for source, target in [("a", "b"), ("b", "a")] * 10_000:
                with database:
                    database.execute(f"INSERT INTO {target} SELECT * FROM {source}")
                    database.execute(f"DELETE FROM {source}")
                if stop.is_set():
                    return

    writer = threading.Thread(target=move)
    writer.start()
    try:
        for _ in range(50):
            tables = (await Sqlite("moving.db")(shop)).tables
            assert len(tables["a"]) + len(tables["b"]) == 1
    finally:
        stop.set()
        writer.join()


async def test_reading_leaves_the_file_as_it_was(shop: Shop) -> None:
    before = (shop.workdir / "shop.db").read_bytes()
    await Sqlite("shop.db")(shop)
    assert (shop.workdir / "shop.db").read_bytes() == before
    assert sorted(path.name for path in shop.workdir.iterdir()) == ["shop.db"]


async def test_missing_file_is_an_error_and_is_not_made(shop: Shop) -> None:
    with pytest.raises(ProductError, match=r"there is no database file .*shop2\.db"):
        await Sqlite("{workdir}/shop2.db")(shop)
    assert not (shop.workdir / "shop2.db").exists()


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (Sqlite("shop.db", tables=["order"]), 'no table "order". Did you mean "orders"'),
        (Sqlite("shop.db", ignore=["logs"]), 'no table "logs". Did you mean "log"'),
        (Sqlite("shop.db", ignore=["orders.prize"]), 'no column "prize" to ignore. Did you mean "price"'),
        (Sqlite("shop.db", tables=["log"], ignore=["log"]), "no table to read"),
    ],
)
async def test_unknown_names(shop: Shop, probe: Sqlite, message: str) -> None:
    with pytest.raises(ProductError, match=message):
        await probe(shop)


async def test_a_file_without_tables_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "new.db").touch()
    with pytest.raises(ProductError, match="did the product create its tables"):
        await Sqlite("new.db")(Shop(tmp_path))


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "page.db").write_text("<html>" * 1000)
    with pytest.raises(ProductError, match="file is not a database"):
        await Sqlite("page.db")(Shop(tmp_path))


async def test_a_locked_file_is_an_error(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.state.BUSY_S", 0.05)
    with closing(sqlite3.connect(shop.workdir / "shop.db", isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ProductError, match="database is locked"):
            await Sqlite("shop.db")(shop)
        writer.execute("ROLLBACK")
    assert (await Sqlite("shop.db")(shop)).tables


VALUES = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text("aé\n\"'\ufffd")


@settings(deadline=None, max_examples=30)
@given(st.lists(VALUES))
def test_what_is_written_is_read(values: list[object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.db"
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
            database.executemany("INSERT INTO t (value) VALUES (?)", [(value,) for value in values])
        found = [row["value"] for row in Sqlite("").read(path).tables["t"]]
    assert found == [str(v) if v in (float("inf"), float("-inf")) else v for v in values]
