"""A product that fails on demand, and its harness: buttons whose answers are errors, pages that are not there.

python moody.py --port 8000 --db FILE     serves it by itself
"""

from __future__ import annotations

import argparse
import sqlite3
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from uigym.harness import Harness
from uigym.product import Snapshot, Sqlite
from uigym.types import Verdict
from uigym.verifiers.answer import equals
from uigym.verify import Verifier, passed

PAGE = b"""<!doctype html><style>form { position: absolute; left: 10px } button { width: 100px; height: 20px }</style>
<form method=post action=/broken style="top: 10px"><button>broken</button></form>
<form method=post action=/drop style="top: 40px"><button>drop</button></form>
<form method=post action=/missing style="top: 70px"><button>missing</button></form>"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        if self.path == "/drop":
            self.close_connection = True
            return
        status = {"/broken": 500, "/missing": 404}.get(self.path, 200)
        self.send_response(status)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--db", required=True)
    options = parser.parse_args()
    with closing(sqlite3.connect(options.db)) as db, db:
        db.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)")
    ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


def make(name: str, home: str) -> Harness:
    """Its harness; episodes begin at `home`."""
    moody = Harness(
        name=name,
        start=f"{{python}} '{Path(__file__).resolve()}' --port {{port}} --db {{workdir}}/moody.db",
        state=Sqlite("{workdir}/moody.db"),
        reset=Snapshot("{workdir}/moody.db"),
        home=home,
        viewport=(200, 120),
    )

    @moody.task("Say yes.", max_steps=4)
    def say_yes() -> Verifier:
        return equals("yes")

    @moody.task("Do anything.", max_steps=4)
    def anything() -> Verifier:
        def verify(episode: Any) -> Verdict:
            return passed("anything")

        return verify

    return moody


moody, missing, broken = make("moody", "/"), make("missing", "/missing"), make("broken", "/broken")

if __name__ == "__main__":
    main()
