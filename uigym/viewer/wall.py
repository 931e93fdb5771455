"""The wall: every browser that runs just now in the runs that are shown, and a person's hand in one of them.

The page asks twice a second while it is looked at; while nobody asks, nothing is done anywhere. What it shows is what
the policies saw last, as the running process has it in memory. Only a run that was started with --allow-takeover takes
anything from here.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from PIL import Image

from uigym.live.ask import Gone, Line
from uigym.live.place import places
from uigym.report.film import caption
from uigym.types import StepRecord, action_from_json
from uigym.viewer.catalog import Run
from uigym.viewer.shared import FOREVER, NOW, Missing, Viewer

WIDTH_PX = 480
_KEPT = 64
_MAX_BODY = 40_000
_AT_ONCE = 2
_DOES = ("take", "act", "look", "let_go")


def add_to(app: FastAPI, viewer: Viewer) -> None:
    """Add the page and what it asks."""
    wall = Wall(viewer)
    viewer.render.pages.globals["live"] = True

    @app.get("/live")
    async def page() -> HTMLResponse:
        return viewer.html("wall.html.jinja", title="Live")

    @app.get("/live/state")
    async def state() -> JSONResponse:
        return JSONResponse(await wall.state(), headers=NOW)

    @app.get("/live/picture/{run}/{process}/{slot}/{image}")
    async def picture(run: str, process: str, slot: int, image: str, small: bool = False) -> Response:
        found = await wall.picture(await wall.line(run, process), slot, image, small=small)
        if not found:
            return Response(status_code=404, headers=NOW)
        return Response(found, 200, FOREVER, "image/webp" if small else "image/png")

    @app.post("/live/do/{run}/{process}/{slot}")
    async def do(run: str, process: str, slot: int, request: Request) -> JSONResponse:
        try:
            await wall.do(await wall.line(run, process), slot, await _told(request))
        except (ValueError, Gone) as exc:
            return JSONResponse({"error": str(exc)[:500]}, 400, NOW)
        return JSONResponse({}, headers=NOW)


class Wall:
    """Connections to running processes, and their small pictures."""

    def __init__(self, viewer: Viewer):
        self._viewer = viewer
        self._lines: dict[tuple[str, str], Line] = {}
        self._small: OrderedDict[str, bytes] = OrderedDict()
        self._decoding = asyncio.Semaphore(_AT_ONCE)

    async def state(self) -> dict[str, Any]:
        """What every running process says."""
        runs = await asyncio.to_thread(self._viewer.catalog.runs)
        await asyncio.to_thread(self._find, runs)
        said = await asyncio.gather(*(self._say(*key, line) for key, line in list(self._lines.items())))
        return {"processes": [one for one in said if one is not None]}

    async def line(self, run: str, process: str) -> Line:
        """The connection to a process.

        Raises:
            Missing: It does not run.
        """
        if (run, process) not in self._lines:
            await asyncio.to_thread(self._find, [self._viewer.run(run)])
        if (run, process) not in self._lines:
            raise Missing(f"Nothing of that name runs in {run!r:.200} just now.")
        return self._lines[run, process]

    async def picture(self, line: Line, slot: int, image: str, *, small: bool) -> bytes:
        """What a slot shows, PNG, or a small one, WebP; empty if it shows something else by now."""
        if small and image in self._small:
            self._small.move_to_end(image)
            return self._small[image]
        try:
            _, png = await line.ask({"ask": "picture", "slot": slot, "image": image})
        except (ValueError, Gone):
            return b""
        if not small or not png:
            return png
        async with self._decoding:
            self._small[image] = await asyncio.to_thread(shrunk, png)
        while len(self._small) > _KEPT:
            self._small.popitem(last=False)
        return self._small[image]

    async def do(self, line: Line, slot: int, told: Mapping[str, Any]) -> None:
        """What a person wants in a slot.

        Raises:
            ValueError: It cannot be done; why.
            Gone: The process has ended.
        """
        if told.get("do") not in _DOES:
            raise ValueError(f"expected one of {', '.join(_DOES)}, not {told.get('do')!r:.40}")
        await line.ask({"ask": told["do"], "slot": slot, "action": told.get("action")})

    def _find(self, runs: list[Run]) -> None:
        for run in runs:
            for place in places(run.folder):
                if (run.name, place.name) not in self._lines:
                    self._lines[run.name, place.name] = Line(place)

    async def _say(self, run: str, process: str, line: Line) -> dict[str, Any] | None:
        try:
            head, _ = await line.ask({"ask": "slots"})
        except (ValueError, Gone):
            self._lines.pop((run, process), None)
            return None
        slots = [_readable(slot) for slot in head["slots"]]
        return {
            "run": run,
            "process": process,
            "takeover": head["takeover"],
            "harness": head["harness"],
            "slots": slots,
        }


def _readable(slot: dict[str, Any]) -> dict[str, Any]:
    """With the last action in words."""
    action = slot.pop("action", None)
    try:
        slot["action"] = caption(StepRecord("", action_from_json(action))) if action else ""
    except ValueError:
        slot["action"] = ""
    return slot


def shrunk(png: bytes) -> bytes:
    """WebP of a PNG for a tile; empty if it is no picture."""
    out = io.BytesIO()
    try:
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            small = image.convert("RGB")
            small.thumbnail((WIDTH_PX, 4 * WIDTH_PX), Image.Resampling.BILINEAR, reducing_gap=2.0)
            small.save(out, "WEBP", quality=80, method=1)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return b""
    return out.getvalue()


async def _told(request: Request) -> dict[str, Any]:
    """The body of a request.

    Raises:
        ValueError: It is no JSON object, or too long.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BODY:
            raise ValueError("too long")
    try:
        told = json.loads(body)
    except RecursionError as exc:
        raise ValueError("no JSON that anybody means") from exc
    if not isinstance(told, dict):
        raise ValueError("expected a JSON object")
    return told
