"""Restoring a live product's file, again and again."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from uigym.errors import ProductError
from uigym.harness import Harness, Looks
from uigym.product import InOrder, Product, Snapshot, Sqlite, Together


def shop(mode: str = "wal") -> Any:
    """Factory of a product that keeps one connection to its file open all the time, as pools do."""

    def create(workdir: Path) -> Any:
        database = sqlite3.connect(workdir / "shop.db", isolation_level=None)
        database.execute(f"PRAGMA journal_mode = {mode}")
        database.execute("CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT)")
        database.executemany("INSERT INTO items (name) VALUES (?)", [(f"item {i}",) for i in range(200)])

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                await receive()
                await send({"type": "lifespan.startup.complete"})
                await receive()
                database.close()
                await send({"type": "lifespan.shutdown.complete"})
                return
            if scope["path"] != "/":
                database.execute(scope["query_string"].decode().replace("%20", " "))
            await send({"type": "http.response.start", "status": 200, "headers": []})
            (count,) = database.execute("SELECT count(*) FROM items").fetchone()
            await send({"type": "http.response.body", "body": str(count).encode()})

        return app

    return create


def harness(reset: Any, mode: str = "wal", **fields: Any) -> Harness:
    return Harness(name="shop", asgi=shop(mode), state=Sqlite("shop.db"), reset=reset, **fields)


async def ask(product: Product, sql: str = "") -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", product.port)
    target = f"/do?{sql.replace(' ', '%20')}" if sql else "/"
    writer.write(f"GET {target} HTTP/1.0\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.rpartition(b"\r\n")[2])


@pytest.mark.parametrize("mode", ["wal", "delete", "memory"])
async def test_every_reset_gives_what_was_there_after_the_start(mode: str) -> None:
    async with Product(harness(Snapshot("{workdir}/shop.db"), mode)) as product:
        first = await product.read_state()
        for _ in range(3):
            assert await ask(product, "DELETE FROM items WHERE id > 10") == 10
            assert await ask(product, "INSERT INTO items (name) VALUES ('new')") == 11
            assert len((await product.read_state()).tables["items"]) == 11
            state = await product.reset(0)
            assert state == first and state.digest() == first.digest()
            assert await ask(product) == 200  # the product's own open connection sees it too


async def test_tables_that_were_created_and_dropped() -> None:
    async with Product(harness(Snapshot("shop.db"))) as product:
        first = await product.read_state()
        await ask(product, "CREATE TABLE more (id INTEGER)")
        await ask(product, "ALTER TABLE items RENAME COLUMN name TO title")
        assert await product.reset(0) == first
        assert await ask(product, "INSERT INTO items (name) VALUES ('x')") == 201


async def test_a_reset_takes_milliseconds() -> None:
    times = []
    async with Product(harness(Snapshot("shop.db"))) as product:
        for _ in range(20):
            await ask(product, "DELETE FROM items")
            begin = time.perf_counter()
            await product.reset(0)
            times.append(time.perf_counter() - begin)
    assert statistics.median(times) < 0.05


async def test_products_have_snapshots_of_their_own() -> None:
    both = harness(Snapshot("shop.db"))
    async with Product(both) as one, Product(both) as two:
        await ask(one, "DELETE FROM items")
        assert len((await one.reset(0)).tables["items"]) == 200
        assert await ask(two) == 200


async def rename(product: Product, seed: int, appearance: Mapping[str, str]) -> None:
    with closing(sqlite3.connect(product.workdir / "shop.db")) as database, database:
        database.execute("UPDATE items SET name = ? WHERE id = 1", (f"{appearance['theme']} {seed}",))


def rename_plainly(product: Product, seed: int, appearance: Mapping[str, str]) -> None:
    asyncio.run(rename(product, seed, appearance))


@pytest.mark.parametrize("seed", [rename, rename_plainly])
async def test_the_seed_works_on_restored_data(seed: Any) -> None:
    looks = {"theme": Looks(("light",), heldout=("dark",))}
    async with Product(harness(Snapshot("shop.db", seed), looks=looks)) as product:
        await ask(product, "DELETE FROM items")
        assert (await product.reset(4)).tables["items"][0]["name"] == "light 4"
        assert (await product.reset(2_000_005)).tables["items"][0]["name"] == "dark 2000005"


async def test_a_large_log_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.snapshot._LARGE_LOG_BYTES", 50_000)
    async with Product(harness(Snapshot("shop.db"))) as product:
        log = product.workdir / "shop.db-wal"
        before = log.stat().st_size
        for _ in range(20):
            await product.reset(0)
        assert log.stat().st_size < before + 50_000  # without it: 30 kB more each time


async def test_the_snapshot_is_outside_the_work_folder() -> None:
    async with Product(harness(Snapshot("shop.db"))) as product:
        copies = list(product.scratch.rglob("snapshot*"))
        assert copies and not any(copy.is_relative_to(product.workdir) for copy in copies)
    assert not product.scratch.exists()


async def test_a_missing_file_is_told_at_the_start() -> None:
    with pytest.raises(ProductError, match=r"after its start: there is no database file .*shap\.db"):
        await Product(harness(Snapshot("shap.db"))).start()


@pytest.mark.parametrize("lost", ["snapshot.db", "work/shop.db"])
async def test_a_lost_file_is_an_error_and_never_an_empty_database(lost: str) -> None:
    async with Product(harness(Snapshot("shop.db"))) as product:
        (product.scratch / lost).unlink()
        with pytest.raises(ProductError, match=r"cannot copy the database .*unable to open database file"):
            await product.reset(0)
        assert not (product.scratch / lost).exists()


async def test_a_product_that_holds_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.snapshot.BUSY_S", 0.1)
    async with Product(harness(Snapshot("shop.db"))) as product:
        await ask(product, "BEGIN IMMEDIATE")
        with pytest.raises(ProductError, match=r"stayed locked for 0\.1 s"):
            await product.reset(0)
        await ask(product, "ROLLBACK")
        await product.reset(0)


async def test_a_lock_that_is_let_go_is_waited_for() -> None:
    async with Product(harness(Snapshot("shop.db"))) as product:
        await ask(product, "BEGIN IMMEDIATE")
        reset = asyncio.create_task(product.reset(0))
        await asyncio.sleep(0.05)
        assert not reset.done()
        await ask(product, "ROLLBACK")
        assert len((await reset).tables["items"]) == 200


async def test_a_seed_that_fails_is_the_products_error() -> None:
    def seed(product: Any, seed: int, appearance: Any) -> None:
        raise sqlite3.OperationalError("no such table: menu")

    async with Product(harness(Snapshot("shop.db", seed))) as product:
        with pytest.raises(ProductError, match="cannot reset with seed 2: OperationalError: no such table: menu"):
            await product.reset(2)


async def test_two_files_of_one_product_have_copies_of_their_own() -> None:
    create = shop()

    def with_another(workdir: Path) -> Any:
        with closing(sqlite3.connect(workdir / "more.db")) as database:
            database.execute("CREATE TABLE more (id INTEGER)")
        return create(workdir)

    reset = InOrder(Snapshot("shop.db"), Snapshot("more.db"))
    both = Harness(name="shop", asgi=with_another, state=Together(Sqlite("shop.db"), Sqlite("more.db")), reset=reset)
    async with Product(both) as product:
        first = await product.read_state()
        assert await product.reset(0) == first and sorted(first.tables) == ["items", "more"]
