"""Runs the help desk by itself: python -m apps.desk [--port 8000] [--seed 0] [--workdir FOLDER]."""

from __future__ import annotations

import argparse
import socket
import sys
import tempfile
from pathlib import Path

import uvicorn

from . import seed
from .app import create_app


def main() -> None:
    """Serve the desk with fresh data until interrupted."""
    parser = argparse.ArgumentParser(prog="desk", description="A help desk to practise on.")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (default: 8000)")
    parser.add_argument("--seed", type=int, default=0, help="which data (default: 0)")
    parser.add_argument("--workdir", type=Path, help="where desk.db goes (default: a temporary folder)")
    options = parser.parse_args()
    if options.workdir is None:
        with tempfile.TemporaryDirectory(prefix="desk-") as folder:
            _serve(Path(folder), options.port, options.seed)
    else:
        options.workdir.mkdir(parents=True, exist_ok=True)
        _serve(options.workdir, options.port, options.seed)


def _serve(workdir: Path, port: int, data_seed: int) -> None:
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as exc:
        sys.exit(f"port {port} cannot be used: {exc.strerror}. Choose another with --port, or 0 for a free one.")
    with listener:
        seed.write(workdir / "desk.db", data_seed, {})
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        server = uvicorn.Server(uvicorn.Config(create_app(workdir), log_level="warning"))
        server.run(sockets=[listener])


if __name__ == "__main__":
    main()
