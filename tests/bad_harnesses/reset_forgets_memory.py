"""The first page shows what the product has kept in its memory since the last episode."""

from pathlib import Path

from fastapi import FastAPI
from pantry_product import Rows, create_app
from sound import add_move, pantry


def remembering(workdir: Path) -> FastAPI:
    def foot(items: Rows) -> str:
        return f"<p>{app.state.last}</p>"

    app = create_app(workdir, foot=foot)
    return app


bad = add_move(pantry(asgi=remembering))
