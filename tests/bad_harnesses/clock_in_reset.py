"""The reset writes the time into the data."""

import asyncio
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing

from pantry_product import write
from sound import add_move, pantry

from uigym.harness import Running


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    await asyncio.to_thread(write, product.workdir / "pantry.db", seed)
    with closing(sqlite3.connect(product.workdir / "pantry.db")) as database, database:
        database.execute("UPDATE wanted SET noted = ?", (str(time.time()),))


bad = add_move(pantry(reset=reset))
