"""A product for hands: it notes what was done to it, whatever a hand can do. Serves itself, and is its harness.

python hands.py --port 8000 --db hands.db
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any
from wsgiref.simple_server import make_server

sys.path.insert(0, str(Path(__file__).parent.parent / "third_party"))
from bikes import Quiet, Server

from uigym import Harness, Verdict, Verifier
from uigym.params import one_of
from uigym.product import Snapshot, Sqlite
from uigym.types import Back, Dialog, Episode, SwitchTab, Upload

PAGE = r"""<!doctype html><meta charset=utf-8><title>Hands</title><style>
body { font: 13px "Liberation Sans", sans-serif; margin: 8px; display: grid; grid-template-columns: 1fr 1fr; gap: 6px 14px; align-items: start }
button, input, select, textarea { font: inherit } canvas { border: 1px solid; background: #fff; width: 200px; height: 60px }
#list { height: 70px; overflow: auto; border: 1px solid } #list i { display: block; height: 400px }
#menu { position: relative; width: 90px; padding: 4px; background: #ddd } #menu div { display: none; position: absolute; top: 0; left: 88px; background: #ddd; padding: 4px }
#menu:hover div { display: block } #edit { border: 1px solid; min-height: 20px }
</style>
<div><input id=name placeholder=Name size=12> <input id=word type=password placeholder=Password size=10></div>
<div><select id=colour><option>red<option>green<option>blue</select> <button id=save>Save</button></div>
<div><button id=twice>Twice</button> <button id=held>Held</button> <button id=right>Right</button></div>
<div id=menu>Menu<div><button id=archive>Archive</button></div></div>
<canvas id=canvas width=200 height=60></canvas>
<div id=list><i></i><button id=deep>Deep</button></div>
<div><button id=ask>Ask</button> <button id=prompt>Prompt</button> <input id=file type=file style="width: 90px"></div>
<div><button id=later>Later</button> <button id=ready hidden>Ready</button> <a href="/?two" target=_blank>Another</a></div>
<div id=edit contenteditable></div><textarea id=memo rows=2></textarea>
<script>
const $ = (id) => document.getElementById(id);
const did = (what) => { const x = new XMLHttpRequest(); x.open("POST", "/did", false); x.send(JSON.stringify(what)); };
$("save").onclick = () => did(["save", $("name").value, $("word").value, $("colour").value, $("edit").innerText, $("memo").value].join("|"));
$("twice").ondblclick = () => did("twice");
let down = 0; $("held").onmousedown = () => { down = Date.now() }; $("held").onmouseup = () => did(Date.now() - down > 900 ? "held" : "tapped");
$("right").oncontextmenu = (e) => { e.preventDefault(); did("right") };
$("archive").onclick = () => did("archive");
let path = []; const c = $("canvas");
c.onpointerdown = (e) => { path = [[e.offsetX, e.offsetY]] };
c.onpointermove = (e) => { if (e.buttons) path.push([e.offsetX, e.offsetY]) };
c.onpointerup = (e) => did("drawn " + [path[0], path.at(-1), [Math.max(...path.map(p => p[1]))]].flat().map(Math.round));
$("deep").onclick = () => did("deep");
$("ask").onclick = () => did("asked " + confirm("Sure?"));
$("prompt").onclick = () => did("told " + prompt("Who?", "nobody"));
$("file").onchange = () => did("file " + $("file").files[0].name);
$("later").onclick = () => setTimeout(() => { $("ready").hidden = false }, 1500);
$("ready").onclick = () => did("ready");
onkeydown = (e) => { if (e.ctrlKey && e.key === "k") { e.preventDefault(); did("chord") } };
if (location.search) document.body.prepend("The second one");
</script>"""


def create(db: str) -> None:
    """The table."""
    with closing(sqlite3.connect(db)) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS did (id INTEGER PRIMARY KEY, what TEXT)")


def application(db: str) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """The WSGI app over a database file."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "POST":
            what = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
            with closing(sqlite3.connect(db)) as database, database:
                database.execute("INSERT INTO did (what) VALUES (?)", (what,))
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        return [PAGE.encode()]

    return app


hands = Harness(
    name="hands",
    start=f"{{python}} '{__file__}' --port {{port}} --db {{workdir}}/hands.db",
    state=Sqlite("{workdir}/hands.db"),
    reset=Snapshot("{workdir}/hands.db"),
    viewport=(640, 400),
    grants=(Dialog, Upload, Back, SwitchTab),
)


def anything() -> Verifier:
    """Something was done."""

    def judge(episode: Episode) -> Verdict:
        done = len(episode.after.tables["did"]) > 0
        return Verdict(float(done), done, reason="" if done else "nothing was done")

    return judge


@hands.task("Do anything.", max_steps=40, files=lambda: {"plan.txt": b"a plan", "map.txt": b"a map"})
def show() -> Verifier:
    return anything()


@hands.task("Log in as {name} with the password {password}.", max_steps=40)
def log_in(name=one_of("ann"), password=one_of("sesame open")) -> Verifier:  # type: ignore[no-untyped-def]
    return anything()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--db", required=True)
    given = parser.parse_args()
    create(given.db)
    Path(given.db).with_name("pid").write_text(str(os.getpid()))
    with make_server("127.0.0.1", given.port, application(given.db), Server, Quiet) as server:
        server.serve_forever()
