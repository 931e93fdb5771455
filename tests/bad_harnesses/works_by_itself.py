"""Looking at the first page eats rice: the data change while nobody acts."""

import sqlite3
from contextlib import closing
from pathlib import Path

from fastapi import FastAPI
from pantry_product import Rows, create_app
from sound import add_move, pantry


def hungry(workdir: Path) -> FastAPI:
    def foot(items: Rows) -> str:
        with closing(sqlite3.connect(workdir / "pantry.db")) as database, database:
            database.execute("UPDATE items SET quantity = quantity - 1 WHERE id = 1")
        return ""

    return create_app(workdir, foot=foot)


bad = add_move(pantry(asgi=hungry))
