"""`python -m apps.kiosk`: the terminal on its own, for a person to try."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import uvicorn

from . import looks, seed
from .app import create_app


def main() -> None:
    """Write the seed's data to a temporary folder and serve it until Ctrl+C."""
    parser = argparse.ArgumentParser(prog="kiosk", description="An ordering terminal for a small touch screen.")
    parser.add_argument("--port", type=int, default=8320)
    parser.add_argument("--seed", type=int, default=0, help="which day's data to start with")
    for part, value in looks.DEFAULTS.items():
        parser.add_argument(f"--{part}", default=value, choices=list(looks.KNOWN[part]), metavar="NAME")
    options = vars(parser.parse_args())
    port, number = options.pop("port"), options.pop("seed")
    with tempfile.TemporaryDirectory(prefix="kiosk-") as folder:
        seed.write(Path(folder) / "kiosk.db", number, options)
        sys.stdout.write(f"http://127.0.0.1:{port}/  (made for a window of 320 x 256 px)\n")
        sys.stdout.flush()
        uvicorn.run(create_app(Path(folder)), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
