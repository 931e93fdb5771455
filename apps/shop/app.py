"""The shop: pages drawn on the server, changes by POST and redirect."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from fastapi import FastAPI

from ..kit.pages import Pages
from ..kit.store import settings
from ..kit.web import new_app
from . import office, seed, store
from .art import picture
from .catalogue import COLOURS
from .seed import variant_name
from .site import Face

HERE = Path(__file__).parent


def create_app(workdir: Path) -> FastAPI:
    """The app on the database `shop.db` in a folder; a new database is filled with the data of seed 0."""
    database = Path(workdir) / "shop.db"
    if not database.exists():
        seed.write(database, 0, {})
    pages = Pages(HERE, COLOURS=COLOURS, picture=picture, variant_name=variant_name)

    def missing(db: sqlite3.Connection, reason: str) -> str:
        return pages.draw("store/missing.html", settings(db), **store.shell(db), reason=reason)

    app = new_app("Larch", HERE, database, missing)
    store.add_pages(Face(app, pages, database, store.shell))
    office.add_pages(Face(app, pages, database, office.shell))
    return app
