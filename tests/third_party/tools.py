"""A list of tools: a product in which each new row has a random id and the time.

python tools.py 8000 FILE
"""

from __future__ import annotations

import http.server
import sqlite3
import sys
import time
import urllib.parse
import uuid

FIELDS = ("name", "place", "qty")
INPUTS = "".join(f"<input style='display: block; height: 40px' name={name}>" for name in FIELDS)
PAGE = f"<!doctype html><body style='margin: 0'><form method=post>{INPUTS}<button style='height: 40px'>Add</button>"


class Handler(http.server.BaseHTTPRequestHandler):
    """The one page that there is, and what its button does."""

    def do_GET(self) -> None:
        """The form."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def do_POST(self) -> None:
        """A new row."""
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        row = (str(uuid.uuid4()), *map(form.get, FIELDS), time.time())
        database.execute("INSERT INTO tools VALUES (?, ?, ?, ?, ?)", row)
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing."""


if __name__ == "__main__":
    database = sqlite3.connect(sys.argv[2], check_same_thread=False, isolation_level=None)
    database.execute("CREATE TABLE tools (id TEXT PRIMARY KEY, name TEXT, place TEXT, qty INTEGER, made_at REAL)")
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
