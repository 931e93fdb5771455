"""The secret of the control paths stands on every page, for the product's own scripts."""

import secrets
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.responses import HTMLResponse
from pantry_product import create_app, write
from sound import add_move, pantry

from uigym.product import HttpReset


def resettable(workdir: Path, secret: str) -> FastAPI:
    app = create_app(workdir)

    @app.post("/test/reset")
    def reset(wanted: dict[str, Any], x_uigym_secret: Annotated[str, Header()] = "") -> None:
        if not secrets.compare_digest(x_uigym_secret, secret):
            raise HTTPException(404)
        write(workdir / "pantry.db", wanted["seed"])

    @app.middleware("http")
    async def told(request: Request, go_on: Any) -> Any:
        answer = await go_on(request)
        if "text/html" not in answer.headers.get("content-type", ""):
            return answer
        page = b"".join([part async for part in answer.body_iterator])
        return HTMLResponse(page + f"<meta name=secret content='{secret}'>".encode(), answer.status_code)

    return app


bad = add_move(pantry(asgi=resettable, reset=HttpReset("/test/reset")))
