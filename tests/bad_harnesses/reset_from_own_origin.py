"""Everybody may reset the product, at the address of the page itself: nobody asks for the secret."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from pantry_product import create_app, write
from sound import add_move, pantry

from uigym.product import HttpReset


def resettable(workdir: Path, secret: str) -> FastAPI:
    app = create_app(workdir)

    @app.post("/test/reset")
    def reset(wanted: dict[str, Any]) -> None:
        write(workdir / "pantry.db", wanted["seed"])

    return app


bad = add_move(pantry(asgi=resettable, reset=HttpReset("/test/reset")))
