"""An office that takes files and gives files: uploads, an export, a link that lies about what it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from uigym.harness import Harness, Running
from uigym.params import one_of
from uigym.types import Dialog, State, Upload
from uigym.verifiers.download import downloaded
from uigym.verifiers.state import added
from uigym.verify import Verifier, all_of

PAGE = """<!doctype html><meta charset=utf-8><body style="font: 14px sans-serif">
<p><label style="border: 1px solid; padding: 4px">Take <input id=take type=file multiple style="opacity: 0; width: 1px"></label>
<button id=pick onclick="take.click()">Pick</button>
<p><a id=export href="/export" target=_blank>Export</a> <a id=old href="/old" download>Old export</a>
<p><button id=clear onclick="confirm('Remove all?') && fetch('/reset', {method: 'POST'})">Clear</button><p id=note>
<script>take.onchange = async () => { for (const file of take.files) await fetch("/take?name=" + file.name, {method: "POST", body: file});
note.textContent = take.files.length + " taken" }</script>"""


def create_app(workdir: Path) -> FastAPI:
    """The product; its data live as long as it runs."""
    app, taken = FastAPI(), list[dict[str, Any]]()

    @app.get("/")
    def page() -> HTMLResponse:
        return HTMLResponse(PAGE)

    @app.post("/take")
    async def take(request: Request, name: str) -> None:
        taken.append({"id": len(taken) + 1, "name": name, "text": (await request.body()).decode()})

    @app.get("/export")
    def export() -> Response:
        return _csv("name,text\n" + "".join(f"{row['name']},{row['text']}\n" for row in taken))

    @app.get("/old")
    def old() -> Response:
        return _csv("name,text\n")

    @app.get("/state")
    def state() -> list[dict[str, Any]]:
        return taken

    @app.post("/reset")
    def reset() -> None:
        taken.clear()

    return app


def _csv(text: str) -> Response:
    return Response(text, media_type="text/csv", headers={"Content-Disposition": 'attachment; filename="files.csv"'})


async def state(product: Running) -> State:
    async with httpx.AsyncClient(trust_env=False) as client:
        rows = (await client.get(f"{product.base_url}/state")).json()
    return State({"files": tuple(rows)})


async def reset(product: Running, seed: int, looks: Any) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.post(f"{product.base_url}/reset")


office = Harness(
    name="office",
    asgi=create_app,
    state=state,
    reset=reset,
    viewport=(320, 240),
    grants=(Upload, Dialog),
    files={"rules.txt": "be kind"},
)


def letters(name: str) -> dict[str, str | bytes]:
    return {f"{name}.txt": f"from {name}", "noise.txt": b"noise"}


@office.task("Take {name}'s letter and export the files.", max_steps=12, files=letters)
def take(name: str = one_of("ada", "ben")) -> Verifier:
    row = {"name": f"{name}.txt", "text": f"from {name}"}
    return all_of(added("files", **row), downloaded("files.csv", rows=[row]))


@take.oracle
async def _(page: Any, name: str) -> None:
    await page.locator("#take").set_input_files(f"{name}.txt")
    await page.get_by_text("1 taken").wait_for()
    await page.locator("#export").click()
