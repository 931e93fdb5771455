"""The product serves its work folder, and so its database, as static files."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from pantry_product import create_app
from sound import add_move, pantry


def careless(workdir: Path) -> FastAPI:
    app = create_app(workdir)
    app.mount("/static", StaticFiles(directory=workdir))
    return app


bad = add_move(pantry(asgi=careless))
