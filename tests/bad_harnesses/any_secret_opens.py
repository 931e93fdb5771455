"""Whoever sends any secret at all may reset the product: it is not compared with this run's."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException
from pantry_product import create_app, write
from sound import add_move, pantry

from uigym.product import HttpReset


def resettable(workdir: Path, secret: str) -> FastAPI:
    app = create_app(workdir)

    @app.post("/test/reset")
    def reset(x_uigym_secret: Annotated[str, Header()] = "", wanted: dict[str, Any] | None = None) -> None:
        if not x_uigym_secret:
            raise HTTPException(404)
        write(workdir / "pantry.db", (wanted or {"seed": 0})["seed"])

    return app


bad = add_move(pantry(asgi=resettable, reset=HttpReset("/test/reset")))
