"""Large tables of a SQLite file: what is read is only what differs, and it compares as if it were all."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import ProductError
from uigym.harness import Harness
from uigym.product import Product, Snapshot, Sqlite, Together
from uigym.product.large import net
from uigym.state import differences, state_from_json, state_to_json
from uigym.types import State


@dataclass(eq=False)
class Shop:
    """As much of a running product as a probe needs."""

    workdir: Path
    scratch: Path
    values: dict[str, str] = field(default_factory=dict)
    base_url: str = ""
    port: int = 0

    def do(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.workdir / "shop.db")) as database, database:
            for statement in statements:
                database.execute(statement)


TABLES = (
    "CREATE TABLE numbered (id INTEGER PRIMARY KEY, v TEXT COLLATE NOCASE)",
    "CREATE TABLE named (id TEXT PRIMARY KEY, v)",
    "CREATE TABLE placed (a INT, id TEXT, v, PRIMARY KEY (id, a)) WITHOUT ROWID",
    "CREATE TABLE bare (v, id)",
)
FILL = tuple(
    f"INSERT INTO {table} (id, v{more}) VALUES (1, 'a'{one}), (2, 'b'{one}), (3, 'a'{one}), (4, NULL{one})"
    for table, more, one in (("numbered", "", ""), ("named", "", ""), ("placed", ", a", ", 1"), ("bare", "", ""))
)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    (tmp_path / "work").mkdir()
    shop = Shop(tmp_path / "work", tmp_path)
    shop.do(*TABLES, *FILL)
    return shop


def seen(before: State, after: State) -> list[str]:
    return sorted(str(change) for change in differences(before, after))


def edits() -> Any:
    value, name = st.sampled_from(["a", "A", "b", None, 1, 1.5]), st.integers(1, 6)
    what = st.sampled_from(["insert", "update", "delete", "rename", "vacuum"])
    return st.lists(
        st.tuples(what, st.sampled_from(["numbered", "named", "placed", "bare"]), name, name, value), max_size=6
    )


def edit(database: sqlite3.Connection, steps: Sequence[Any]) -> None:
    for what, table, name, other, value in steps:
        if what == "insert" and table == "placed":
            database.execute("INSERT OR REPLACE INTO placed (id, a, v) VALUES (?, 1, ?)", (name, value))
        elif what == "insert":
            database.execute(f"INSERT OR REPLACE INTO {table} (id, v) VALUES (?, ?)", (name, value))
        elif what == "update":
            database.execute(f"UPDATE {table} SET v = ? WHERE id = ?", (value, name))
        elif what == "delete":
            database.execute(f"DELETE FROM {table} WHERE id = ?", (name,))
        elif what == "rename":
            database.execute(f"UPDATE OR REPLACE {table} SET id = ? WHERE id = ?", (other, name))
        else:
            database.execute("VACUUM")


@settings(deadline=None, max_examples=25)
@given(edits(), edits())
def test_what_differs_is_the_same_as_when_all_is_read(first: Any, second: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.db"
        few, all_ = Sqlite("", large_rows=3), Sqlite("")
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            for statement in (*TABLES, *FILL):
                database.execute(statement)
            base = few._keep(path, Path(folder) / "base.db")
            states = []
            for steps in ((), first, second):
                edit(database, steps)
                states.append((few.read(path, base), all_.read(path)))
    for before in states:
        for after in states:
            marked = [change for change in seen(before[0], after[0]) if not change.startswith("uigym.base")]
            assert marked == seen(before[1], after[1])
            assert not seen(before[0], after[0]) or before[0].digest() != after[0].digest()


async def test_only_what_differs_is_held(shop: Shop) -> None:
    probe = Sqlite("shop.db", large_rows=3)
    await probe.started(shop)  # type: ignore[arg-type]
    before = await probe(shop)
    assert before.tables["numbered"] == () and before.base["numbered"] == ()
    assert [(mark["table"], mark["rows"]) for mark in before.tables["uigym.base"]] == [
        ("bare", 4), ("named", 4), ("numbered", 4), ("placed", 4),
    ]  # fmt: skip
    shop.do(
        "UPDATE numbered SET v = 'A' WHERE id = 1", "DELETE FROM named WHERE id = 2", "INSERT INTO bare VALUES ('a', 9)"
    )
    after = await probe(shop)
    assert after.tables["numbered"] == ({"id": 1, "v": "A"},) and after.base["numbered"] == ({"id": 1, "v": "a"},)
    assert seen(before, after) == [
        'bare v="a" id=9: added', 'named id="2": removed with v="b"', 'numbered id=1: v "a" -> "A"',
    ]  # fmt: skip
    assert state_from_json(state_to_json(after)) == after


async def test_whole_tables_and_ignored_columns(shop: Shop) -> None:
    probe = Sqlite("shop.db", ignore=["named.v", "placed.a", "bare"], whole=["numbered"], large_rows=3)
    await probe.started(shop)  # type: ignore[arg-type]
    before = await probe(shop)
    assert len(before.tables["numbered"]) == 4 and set(before.base) == {"named", "placed"}
    shop.do("UPDATE named SET v = 'z'", "UPDATE placed SET a = 2", "DELETE FROM bare")
    assert seen(before, await probe(shop)) == []
    shop.do("DELETE FROM placed WHERE id = 4")
    assert seen(before, await probe(shop)) == ['placed id="4" v=null: removed']


async def test_a_table_that_is_made_anew_differs_as_a_whole(shop: Shop) -> None:
    probe = Sqlite("shop.db", large_rows=3)
    await probe.started(shop)  # type: ignore[arg-type]
    before = await probe(shop)
    shop.do(
        "ALTER TABLE named ADD COLUMN w INT DEFAULT 7",
        "DROP TABLE bare",
        "DROP TABLE placed",
        "CREATE TABLE fresh AS SELECT * FROM numbered",
    )
    after = await probe(shop)
    changes = seen(before, after)
    assert 'named id="1": w null -> 7' in changes and 'bare v="a" id=1: removed' in changes
    assert 'placed id="4" a=1: removed with v=null' in changes
    assert "fresh" in after.tables and "fresh" not in after.base


async def test_unequal_bases_are_told(shop: Shop) -> None:
    probe = Sqlite("shop.db", large_rows=3)
    await probe.started(shop)  # type: ignore[arg-type]
    before = await probe(shop)
    shop.do("UPDATE numbered SET v = 'c' WHERE id = 2")
    await probe.started(shop)  # type: ignore[arg-type]
    assert seen(before, await probe(shop))[0].startswith('uigym.base table="numbered": sha256')


async def test_two_files_with_large_tables(shop: Shop) -> None:
    shop.do(
        "ATTACH 'more.db' AS more".replace("more.db", str(shop.workdir / "more.db")),
        "CREATE TABLE more.others AS SELECT * FROM bare",
    )
    both = Together(Sqlite("shop.db", large_rows=3), Sqlite("more.db", large_rows=3))
    for probe in both.parts:
        await probe.started(shop)  # type: ignore[attr-defined]
    before = await both(shop)
    assert [mark["table"] for mark in before.tables["uigym.base"]] == ["bare", "named", "numbered", "placed", "others"]
    shop.do("DELETE FROM bare WHERE id = 1")
    assert seen(before, await both(shop)) == ['bare v="a" id=1: removed']
    assert "uigym.base" not in (await Together(Sqlite("shop.db"), Sqlite("more.db"))(shop)).tables


async def test_an_unknown_whole_table(shop: Shop) -> None:
    with pytest.raises(ProductError, match=r'no table "nmed"\. Did you mean "named"'):
        await Sqlite("shop.db", whole=["nmed"])(shop)


ROWS = st.lists(st.fixed_dictionaries({"v": st.integers(0, 2)}), max_size=6)


@given(ROWS, ROWS)
def test_net_is_what_multisets_say(now: Any, was: Any) -> None:
    gained, lost = net(now, was)
    for v in range(3):
        count = now.count({"v": v}) - was.count({"v": v})
        assert gained.count({"v": v}) == max(count, 0) and lost.count({"v": v}) == max(-count, 0)


def large_shop(workdir: Path) -> Any:
    """Factory of a product with 100,000 rows, which its requests change."""
    database = sqlite3.connect(workdir / "shop.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = wal")
    database.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, amount INT, note TEXT)")
    database.execute("BEGIN")
    database.executemany(
        "INSERT INTO entries (amount, note) VALUES (?, ?)", ((i % 97, f"entry {i}") for i in range(100_000))
    )
    database.execute("COMMIT")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            database.close()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    return app


async def test_a_product_with_100_000_rows() -> None:
    probe = Sqlite("shop.db")
    async with Product(Harness(name="shop", asgi=large_shop, state=probe, reset=Snapshot("shop.db"))) as product:
        first = await product.reset(0)
        with closing(sqlite3.connect(product.workdir / "shop.db")) as database, database:
            database.execute("UPDATE entries SET note = 'mine' WHERE id = 70000")
        after = await product.read_state()
        assert seen(first, after) == ['entries id=70000: note "entry 69999" -> "mine"']
        assert sum(len(rows) for rows in after.tables.values()) == 2
        again = await product.reset(1)
        assert list(differences(first, again)) == [] and again.digest() == first.digest()
        assert str(product.workdir / "shop.db") in probe.control(product)
        assert str(product.scratch / "snapshot.db") in product.harness.reset.control(product)  # type: ignore[attr-defined]
