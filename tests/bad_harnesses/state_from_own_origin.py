"""The state is served to everybody, from the address of the page itself: nobody asks for the secret."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from pantry_product import create_app
from sound import add_move, pantry

from uigym.product import Http


def telling(workdir: Path, secret: str) -> FastAPI:
    app = create_app(workdir)

    @app.get("/test/state")
    def state() -> dict[str, Any]:
        with closing(sqlite3.connect(workdir / "pantry.db")) as database:
            database.row_factory = sqlite3.Row
            tables = ("items", "wanted", "log")
            return {table: [dict(row) for row in database.execute(f"SELECT * FROM {table}")] for table in tables}

    return app


bad = add_move(pantry(asgi=telling, state=Http("/test/state")))
