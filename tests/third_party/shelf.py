"""A list of books to read: a plain WSGI product of the standard library, with what makes drafts hard.

PORT=8000 python shelf.py --data FOLDER. It counts visits, stamps rows with the time and a random token, and exports files.
"""

from __future__ import annotations

import argparse
import html
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

SCHEMA = """CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, kind TEXT, due TEXT, read INTEGER, token TEXT, at REAL);
CREATE TABLE visits (id INTEGER PRIMARY KEY, at REAL);
INSERT INTO books VALUES (1, 'Dune', 'novel', '2030-01-01', 0, 'a', 1.5), (2, 'Emma', 'novel', '', 0, 'b', 1.5);"""
PAGE = """<!doctype html><title>Shelf</title><style>body {{ font: 16px sans-serif; margin: 12px }} form {{ margin: 8px 0 }}
input, select, button {{ font: inherit; height: 28px }} td {{ padding: 2px 8px }}</style><h1>Books</h1>
<form method=post action=/add><label>Title <input name=title></label> <label>Kind <select name=kind><option>novel<option>poems<option>plays
</select></label> <label>Due <input type=date name=due></label> <button>Add</button></form><table>{rows}</table>
<form method=post action=/export><button>Export</button></form>"""
ROW = """<tr><td>{title}<td>{kind}<td>{due}<td>{state}<td><form method=post action=/read><button name=id value={id}>Read</button></form>
<td><form method=post action=/drop><button name=id value={id}>Delete</button></form>"""


class Server(ThreadingMixIn, WSGIServer):
    """Several requests at once."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """No line per request."""

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def page(database: sqlite3.Connection) -> str:
    """The one page that there is."""
    books = database.execute("SELECT id, title, kind, due, read FROM books ORDER BY id").fetchall()
    rows = [
        ROW.format(id=number, title=html.escape(title), kind=kind, due=due, state="read" if read else "")
        for number, title, kind, due, read in books
    ]
    return PAGE.format(rows="".join(rows))


def act(database: sqlite3.Connection, folder: Path, path: str, form: dict[str, list[str]]) -> None:
    """What a button does."""
    first = {name: values[0] for name, values in form.items()}
    if path == "/add":
        row = (first.get("title", ""), first["kind"], first.get("due", ""), secrets.token_hex(4), time.time())
        database.execute("INSERT INTO books (title, kind, due, read, token, at) VALUES (?, ?, ?, 0, ?, ?)", row)
    elif path == "/read":
        database.execute("UPDATE books SET read = 1, at = ? WHERE id = ?", (time.time(), first["id"]))
    elif path == "/drop":
        database.execute("DELETE FROM books WHERE id = ?", (first["id"],))
    elif path == "/export":
        titles = [title for (title,) in database.execute("SELECT title FROM books ORDER BY id")]
        (folder / "books.txt").write_text("\n".join(titles))


def application(folder: Path) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """The WSGI app over a folder."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        with closing(sqlite3.connect(folder / "shelf.db")) as database, database:
            if environ["REQUEST_METHOD"] == "POST":
                form = parse_qs(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)).decode())
                act(database, folder, path, form)
                start_response("303 See Other", [("Location", "/")])
                return [b""]
            if path == "/":
                database.execute("INSERT INTO visits (at) VALUES (?)", (time.time(),))
            found = {"/": page(database), "/healthz": "ok"}.get(path)
        start_response("200 OK" if found else "404 Not Found", [("Content-Type", "text/html; charset=utf-8")])
        return [(found or "").encode()]

    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    with closing(sqlite3.connect(given.data / "shelf.db")) as made:
        made.executescript(SCHEMA)
    with make_server("127.0.0.1", int(os.environ["PORT"]), application(given.data), Server, Quiet) as server:
        server.serve_forever()
