"""Pictures and files of runs, by their hashes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, PlainTextResponse, Response

from uigym.viewer.reading import file_path, image_path, kept_path
from uigym.viewer.shared import FOREVER, Viewer

_ALONE = {"content-security-policy": "sandbox; default-src 'none'", **FOREVER}


def add_to(app: FastAPI, viewer: Viewer) -> None:
    """Add the addresses."""

    @app.get("/runs/{name}/pictures/{image}.png")
    def picture(name: str, image: str) -> Response:
        return _file(lambda: image_path(viewer.run(name).folder, image), "image/png")

    @app.get("/runs/{name}/thumbs/{image}.webp")
    def small(name: str, image: str) -> Response:
        try:
            return Response(viewer.thumbs.of(image_path(viewer.run(name).folder, image)), 200, FOREVER, "image/webp")
        except (OSError, ValueError):
            return _nothing()

    @app.get("/runs/{name}/kept/{image}.webp")
    def kept(name: str, image: str) -> Response:
        return _file(lambda: kept_path(viewer.run(name).folder, image), "image/webp")

    @app.get("/runs/{name}/files/{sha256}/{title}")
    def file(name: str, sha256: str, title: str) -> Response:
        found = _file(lambda: file_path(viewer.run(name).folder, sha256), "application/octet-stream")
        if found.status_code == 200:
            found.headers["content-disposition"] = "attachment"
        return found


def _file(place: Callable[[], Path], kind: str) -> Response:
    try:
        path = place()
    except ValueError:
        return _nothing()
    return FileResponse(path, headers=_ALONE, media_type=kind) if path.is_file() else _nothing()


def _nothing() -> Response:
    return PlainTextResponse("not here\n", 404, {"cache-control": "no-store"})
