"""A product that breaks in every way: a notebook, and a button for each fault.

python frail_product.py PORT FOLDER     keeps its notes in FOLDER/notes.db
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FAULTS = (
    "hang", "hangframe", "hangworker", "oom", "reload", "close", "error", "silence", "garbage", "half",
    "reset", "circle", "talk", "restless",
)  # fmt: skip
PAGE = """<!doctype html><meta charset=utf-8><style>
body { margin: 0; font: 11px "Liberation Sans", sans-serif } button { width: 64px; height: 20px; padding: 0; font: inherit }
</style><button onclick="fetch('/add', {method: 'POST'}).then(r => r.json()).then(n => count.textContent = n)">Add</button>
<span id=count>0</span><div id=faults style="position: absolute; top: 20px; width: 256px"></div><script>
const work = new Blob(["while (true) {}"]), hold = [];
const deeds = {
  hang() { while (true) {} },
  hangframe() { const f = document.createElement("iframe"); f.srcdoc = "<script>while (true) {}<" + "/script>"; document.body.append(f) },
  hangworker() { new Worker(URL.createObjectURL(work)) },
  oom() { while (true) hold.push(new Array(1e6).fill(hold.length + Math.random()).map(x => ({x}))) },
  reload() { sessionStorage.again = 1; location.reload() },
  close() { window.close() },
  restless() { setInterval(() => document.body.style.background = Math.random() < .5 ? "white" : "snow", 5) },
  talk() { fetch("/talk") },
};
for (const name of FAULTS) {
  const button = document.createElement("button");
  button.textContent = name;
  button.onclick = deeds[name] ?? (() => { location = "/" + name });
  faults.append(button);
}
if (sessionStorage.again) location.reload();
</script>"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    path_to_notes = ""

    def do_GET(self) -> None:
        fault = getattr(self, f"do_{self.path.strip('/')}", None)
        if fault is not None:
            fault()
        else:
            self.answer(200, "text/html", PAGE.replace("FAULTS", json.dumps(FAULTS)).encode())

    def do_POST(self) -> None:
        with closing(sqlite3.connect(self.path_to_notes)) as database, database:
            database.execute("INSERT INTO notes (text) VALUES ('note')")
            (count,) = database.execute("SELECT count(*) FROM notes").fetchone()
        self.answer(200, "application/json", json.dumps(count).encode())

    def answer(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_error(self) -> None:
        self.answer(500, "text/html", b"an error")

    def do_silence(self) -> None:
        time.sleep(30)
        self.close_connection = True

    def do_garbage(self) -> None:
        self.close_connection = True
        self.wfile.write(bytes(range(256)) * 8)

    def do_half(self) -> None:
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5000\r\n\r\n<p>half")

    def do_reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(1, 13, b"\x01\0\0\0\0\0\0\0")  # SO_LINGER of 0 s: closing resets the connection
        self.connection.close()

    def do_circle(self) -> None:
        self.answer(302, "text/html", b"", location="/circle")

    def do_talk(self) -> None:
        for _ in range(100):
            print("x" * 100_000, flush=True)
        self.answer(200, "text/html", b"said")

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def main() -> None:
    Handler.path_to_notes = str(Path(sys.argv[2], "notes.db"))
    with closing(sqlite3.connect(Handler.path_to_notes)) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)")
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
