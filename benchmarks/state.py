"""What reading, comparing and resetting a product's data costs, with 120,000 rows and 50 MB of it.

    python tests/postgres.py python benchmarks/state.py --out benchmarks/results/state.json

The product is the ledger of tests/gyms, on PostgreSQL; the same rows are put into a SQLite file. Between two resets a
transfer is booked and an entry refiled, as an episode would do. For comparison, `whole` reads every row of the table, three times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from uigym.bench.machine import circumstances, load
from uigym.harness import Harness
from uigym.product import Postgres, PostgresTemplate, Product, Snapshot, Sqlite
from uigym.state import State, differences

sys.path.append(str(Path(__file__).parent.parent / "tests" / "gyms"))
from ledger_app import ENTRIES, create_app, entry, fill

EDITS = (
    "UPDATE entries SET category = 'Gifts' WHERE id = {}",
    "UPDATE accounts SET balance = balance - 5 WHERE id = 3",
    "INSERT INTO entries (account, day, amount, category, memo) VALUES (3, '2026-06-30', -5, 'Office', 'loan')",
)
TRANSFER = "INSERT INTO transfers (source, target, amount, reference, day) VALUES (3, 4, 5, 'loan', '2026-06-30')"


def sqlite_app(workdir: Path) -> Any:
    """An idle app beside a file with the ledger's rows."""
    with closing(sqlite3.connect(workdir / "ledger.db")) as db, db:
        db.execute("PRAGMA journal_mode = wal")
        db.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance REAL)")
        db.execute(
            "CREATE TABLE entries (id INTEGER PRIMARY KEY, account INT, day TEXT, amount REAL, category TEXT, memo TEXT)"
        )
        db.executemany("INSERT INTO accounts VALUES (?, 0)", ((i,) for i in range(1, 21)))
        rows = (tuple(map(_plain, entry(i))) for i in range(1, ENTRIES + 1))
        db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", rows)
        db.execute("CREATE INDEX by_account ON entries (account, category, day)")
        db.execute("CREATE INDEX by_memo ON entries (memo) WHERE id % 3 = 0")  # to 50 MB

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ok"})

    return app


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | str) else float(value) if hasattr(value, "is_nan") else str(value)


def edit_sqlite(product: Product, number: int) -> None:
    """What an episode changes."""
    with closing(sqlite3.connect(product.workdir / "ledger.db")) as db, db:
        for statement in EDITS:
            db.execute(statement.format(number))


def edit_postgres(product: Product, number: int) -> None:
    """What an episode changes."""
    with psycopg.connect(product.values["dsn"]) as db:
        for statement in (*EDITS, TRANSFER):
            db.execute(statement.format(number))


async def timed(function: Callable[[], Awaitable[Any]]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    await function()
    return 1000 * (time.perf_counter() - began)


async def measure(harness: Harness, edit: Callable[[Product, int], None], rounds: int) -> dict[str, Any]:
    """Medians over rounds of one episode's change, reading, comparing and resetting."""
    found: dict[str, list[float]] = {"read_ms": [], "read_and_compare_ms": [], "reset_ms": [], "reset_and_read_ms": []}
    async with Product(harness) as product:
        first = await product.reset(0)
        for number in range(1, rounds + 1):
            await asyncio.to_thread(edit, product, 1000 * number)

            async def compare(before: State = first) -> None:
                changes = list(differences(before, await product.read_state()))
                assert len(changes) in (3, 4), changes

            found["read_ms"].append(await timed(product.read_state))
            found["read_and_compare_ms"].append(await timed(compare))
            if "copy" in harness.name:  # an episode leaves time to make the next copy
                await asyncio.sleep(2)
            found["reset_ms"].append(await timed(lambda: harness.reset(product, 0, {})))
            assert (await product.read_state()).digest() == first.digest()
            await asyncio.to_thread(edit, product, 1000 * number)
            if "copy" in harness.name:
                await asyncio.sleep(2)
            found["reset_and_read_ms"].append(await timed(lambda: product.reset(0)))
        held, file = sum(len(rows) for rows in first.tables.values()), product.workdir / "ledger.db"
        size = {"sqlite_mb": round(file.stat().st_size / 1e6, 1)} if file.exists() else {}
    return {"rows_held": held, "rounds": rounds, **size, **{name: _spread(values) for name, values in found.items()}}


def _spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 1),
        "p90": round(ordered[int(0.9 * (len(ordered) - 1))], 1),
        "max": round(ordered[-1], 1),
    }


async def run(server: str, rounds: int) -> dict[str, Any]:
    """All of it."""
    sizes: dict[str, float] = {}

    def weigh(dsn: str) -> None:
        fill(dsn)
        with psycopg.connect(dsn) as db:
            (size,) = db.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
        sizes["postgres_mb"] = round(size / 1e6, 1)

    on_file, every = Snapshot("ledger.db"), ("entries",)
    cells = {
        "sqlite": (Harness(name="sqlite", asgi=sqlite_app, state=Sqlite("ledger.db"), reset=on_file), edit_sqlite),
        "sqlite, whole": (Harness(name="sqlite-whole", asgi=sqlite_app, state=Sqlite("ledger.db", whole=every), reset=on_file), edit_sqlite),
        "postgres, in place": (_ledger("in-place", server, weigh), edit_postgres),
        "postgres, by a copy": (_ledger("by-copy", server, weigh, in_place=False), edit_postgres),
        "postgres, whole": (_ledger("whole", server, weigh, whole=every), edit_postgres),
    }  # fmt: skip
    before, results = load(), {}
    for name, (harness, edit) in cells.items():
        results[name] = await measure(harness, edit, 3 if "whole" in name else rounds)
        print(
            f"{name:20}",
            {key: value["median"] for key, value in results[name].items() if key.endswith("ms")},
            flush=True,
        )
    with psycopg.connect(server) as db:
        version = str(db.info.server_version // 10_000)
    return {
        "entries": ENTRIES,
        "rounds": rounds,
        **sizes,
        "cells": results,
        "postgresql": version,
        "sqlite": sqlite3.sqlite_version,
        **circumstances(before, "none"),
    }


def _ledger(name: str, server: str, source: Any, in_place: bool = True, whole: tuple[str, ...] = ()) -> Harness:
    reset = PostgresTemplate(server, source, in_place=in_place)
    return Harness(name=name, asgi=create_app, ready="/healthz", state=Postgres(whole=whole), reset=reset)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    result = asyncio.run(run(os.environ["UIGYM_TEST_POSTGRES"], options.rounds))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")
