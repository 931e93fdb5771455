"""A bicycle rental: a plain WSGI product of the standard library that knows nothing of gyms.

python bikes.py --port 8000 --db bikes.db
"""

from __future__ import annotations

import argparse
import html
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from socketserver import ThreadingMixIn
from typing import Any
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

NAMES = ("Blue Tandem", "Red Racer", "Green Cargo", "White Folder", "Black Cruiser", "Yellow Kid")
STYLE = """body { font: 15px sans-serif; margin: 0; background: #f4f6f2 } h1 { font-size: 16px; margin: 0; padding: 8px 12px;
background: #244a3b; color: #fff } li { display: flex; align-items: center; padding: 3px 12px; height: 28px } ul { margin: 4px 0;
padding: 0 } span { flex: 1 } button { font: 13px sans-serif; width: 76px; height: 24px; border: 1px solid #244a3b; background: #fff }"""


class Server(ThreadingMixIn, WSGIServer):
    """Several requests at once: browsers open connections that they may never use."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """No line per request."""

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def create(db: str) -> None:
    """The table and the bicycles, unless they are there."""
    with closing(sqlite3.connect(db)) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS bikes (id INTEGER PRIMARY KEY, name TEXT, rented INTEGER)")
        rows = [(number, name, number in (2, 5)) for number, name in enumerate(NAMES, 1)]
        database.executemany("INSERT OR IGNORE INTO bikes VALUES (?, ?, ?)", rows)


def page(db: str) -> str:
    """The one page that there is."""
    with closing(sqlite3.connect(db)) as database:
        bikes = database.execute("SELECT id, name, rented FROM bikes ORDER BY id").fetchall()
    lines = []
    for number, name, rented in bikes:
        path, word = ("/return", "Return") if rented else ("/rent", "Rent")
        button = f'<button name="id" value="{number}" aria-label="{word} {html.escape(name)}">{word}</button>'
        lines.append(f'<li><span>{html.escape(name)}</span><form method="post" action="{path}">{button}</form></li>')
    style = f"<style>{STYLE}</style>"
    return f"<!doctype html><title>Bikes</title>{style}<h1>Bicycle rental</h1><ul>{''.join(lines)}</ul>"


def application(db: str) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """The WSGI app over a database file."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "POST":
            form = parse_qs(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)).decode())
            with closing(sqlite3.connect(db)) as database, database:
                rented = int(environ["PATH_INFO"] == "/rent")
                database.execute("UPDATE bikes SET rented = ? WHERE id = ?", (rented, form["id"][0]))
            start_response("303 See Other", [("Location", "/")])
            return [b""]
        found = environ["PATH_INFO"] == "/"
        start_response("200 OK" if found else "404 Not Found", [("Content-Type", "text/html; charset=utf-8")])
        return [page(db).encode() if found else b""]

    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--db", required=True)
    given = parser.parse_args()
    create(given.db)
    with make_server("127.0.0.1", given.port, application(given.db), Server, Quiet) as server:
        server.serve_forever()
