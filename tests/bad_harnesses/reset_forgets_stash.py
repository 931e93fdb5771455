"""What the page stashes on its server, beside the database, is still there in the next episode."""

from pathlib import Path

from fastapi import FastAPI, Request
from pantry_product import Rows, create_app
from sound import add_price, pantry


def stashing(workdir: Path) -> FastAPI:
    stash = workdir / "seen.txt"

    def foot(items: Rows) -> str:
        return f"<p>Seen: {stash.read_text() if stash.exists() else 'nothing'}</p>"

    app = create_app(workdir, foot=foot)

    @app.middleware("http")
    async def note(request: Request, call):  # type: ignore[no-untyped-def]
        if request.url.path.startswith("/items/"):
            stash.write_text(request.url.path)
        return await call(request)

    return app


bad = add_price(pantry(asgi=stashing))
