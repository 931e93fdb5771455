"""The reset puts the items back, but not the shopping list."""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing

from pantry_product import items
from sound import add_buy, pantry

from uigym.harness import Running


def rewrite(path: str, seed: int) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript("DELETE FROM items; DELETE FROM log;")
        database.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)", items(seed))


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    await asyncio.to_thread(rewrite, f"{product.workdir}/pantry.db", seed)


bad = add_buy(pantry(reset=reset))
