"""The reset deletes the rows, but the database goes on counting from where it was."""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing

from pantry_product import SCHEMA, items
from sound import add_buy, pantry

from uigym.harness import Running

COUNTING = SCHEMA.replace("INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY AUTOINCREMENT").replace(
    "TABLE", "TABLE IF NOT EXISTS"
)


def rewrite(path: str, seed: int) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").fetchone():
            database.executescript("DROP TABLE items; DROP TABLE wanted; DROP TABLE log;" + COUNTING)
        for table in ("items", "wanted", "log"):
            database.execute(f"DELETE FROM {table}")
        database.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)", items(seed))
        database.execute("INSERT INTO wanted VALUES (1, 'Salt', 1, '')")


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    await asyncio.to_thread(rewrite, f"{product.workdir}/pantry.db", seed)


bad = add_buy(pantry(reset=reset))
