"""Runs an app by itself: python -m apps.NAME [--port 8000] [--seed 0] [--look language=de] [--workdir FOLDER]."""

from __future__ import annotations

import argparse
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn

Write = Callable[[Path, int, Mapping[str, str]], None]
"""(database file, seed, appearance): fill it."""


def main(name: str, about: str, create_app: Callable[[Path], Any], write: Write) -> None:
    """Serve an app with fresh data until interrupted.

    Args:
        name: The app's name; its database is NAME.db.
        about: One sentence for --help.
        create_app: Makes the app on a work folder.
        write: Fills its database.
    """
    parser = argparse.ArgumentParser(prog=name, description=about)
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (default: 8000)")
    parser.add_argument("--seed", type=int, default=0, help="which data (default: 0)")
    parser.add_argument("--look", action="append", default=[], metavar="PART=VALUE", help="such as language=de")
    parser.add_argument("--workdir", type=Path, help=f"where {name}.db goes (default: a temporary folder)")
    options = parser.parse_args()
    looks = dict(part.partition("=")[::2] for part in options.look)
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
        workdir = options.workdir or Path(folder)
        workdir.mkdir(parents=True, exist_ok=True)
        try:
            write(workdir / f"{name}.db", options.seed, looks)
        except ValueError as exc:
            sys.exit(f"--look: {exc}")
        _serve(create_app(workdir), options.port)


def _serve(app: Any, port: int) -> None:
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as exc:
        sys.exit(f"port {port} cannot be used: {exc.strerror}. Choose another with --port, or 0 for a free one.")
    with listener:
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
