"""A note pad with one of each kind of control, and its harness: what the tests of the gym's core play on.

python pad.py --port 8000 --workdir DIR     serves it by itself
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from uigym.harness import Harness, Looks, Running
from uigym.params import computed, one_of
from uigym.product import Sqlite
from uigym.verifiers.answer import equals
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of

HEAD = """<!doctype html><meta charset=utf-8><style>
body { font: 14px "Liberation Sans", sans-serif; margin: 6px; background: %s } button, input, select { font: inherit }
</style><script>
const post = (path, body) => fetch(path, {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body)});
window.set = (key, value) => post("/set", {key, value: String(value)});
</script>"""

NOTES = """<input id=text aria-label=Text style="width: 120px"> <button onclick="add()">Add</button>
<p id=count></p><ul id=list></ul><script>
async function show() {
  const notes = await (await fetch("/notes")).json();
  document.querySelector("#count").textContent = notes.length + " notes";
  document.querySelector("#list").innerHTML = notes.map(n => "<li>" + n.text + "</li>").join("");
}
async function add() { const text = document.querySelector("#text"); await post("/add", {text: text.value}); text.value = ""; await show(); }
show();
</script>"""

CONTROLS = """
<p><select aria-label=Colour onchange="set('colour', this.value)">
<option value=r>red<option value=g>green<option disabled>grey<option value=b>blue</select>
<select aria-label=Size size=3 onchange="set('size', this.value)"><option>small<option>medium<option>large</select>
<label style="border: 1px solid"><input type=checkbox style="opacity: 0; width: 1px; height: 1px; position: absolute"
onchange="set('agree', this.checked)"> Agree</label></p>
<p><input aria-label=Memo value=old onchange="set('memo', this.value)">
<button ondblclick="set('double', 1)">Twice</button> <button onclick="set('keys', event.shiftKey)">Keys</button></p>
<p><input type=date aria-label=Day onchange="set('day', this.value)"> <input type=color aria-label=Paint onchange="set('paint', this.value)">
<input list=teas aria-label=Tea onchange="set('tea', this.value)" style="width: 80px"><datalist id=teas><option>green<option>black</datalist></p>
<p><span onmouseenter="set('hovered', 1)">Hover</span>
<button onclick="setTimeout(() => { document.querySelector('#late').hidden = false }, 1200)">Later</button>
<button id=late hidden onclick="set('late', 1)">Late</button>
<a href="javascript:set('link', 1)" style="display: inline-block; width: 90px">a link of<br>two lines</a></p>
<div style="position: relative; height: 24px"><button onclick="set('covered', 1)">Covered</button>
<div id=cover style="position: absolute; inset: 0; background: #8888"></div></div>
<div aria-label=Items style="height: 60px; overflow: auto; border: 1px solid" id=items></div>
<div style="display: flex; gap: 60px; margin: 8px 0"><div id=card style="background: gold; padding: 8px"
onpointerdown="card = 1">Card</div><div id=bin style="background: silver; padding: 8px" onpointerup="set('dropped', window.card)">Bin</div></div>
<iframe style="width: 120px; height: 40px" srcdoc="<button onclick='parent.set(&quot;inside&quot;, 1)'>Inside</button>"></iframe>
<div style="height: 900px"></div><button onclick="set('bottom', 1)">Bottom</button>
<script>for (let i = 1; i <= 30; i++) items.innerHTML += `<button onclick="set('item', ${i})">Item ${i}</button><br>`</script>"""

FAULTS = """<button onclick="while (true) {}">Hang</button>
<button onclick="setTimeout(() => post('/add', {text: 'afterwards'}), 1500)">Soon</button>
<button onclick="setInterval(() => post('/add', {text: 'again'}), 20)">Forever</button>"""

PAGES = {"": NOTES, "controls": CONTROLS, "faults": FAULTS}


def create_app(workdir: Path) -> FastAPI:
    """The product over workdir/pad.db."""
    path = workdir / "pad.db"
    (workdir / "pid").write_text(str(os.getpid()))
    write(path, [], "white")
    app = FastAPI()

    def query(sql: str, *values: Any) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(path)) as database, database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(sql, values)]

    @app.get("/notes")
    def notes() -> list[dict[str, Any]]:
        return query("SELECT * FROM notes ORDER BY id")

    @app.post("/add")
    def add(body: dict[str, str]) -> None:
        query("INSERT INTO notes (text) VALUES (?)", body["text"])

    @app.post("/set")
    def set_value(body: dict[str, str]) -> None:
        query("INSERT OR REPLACE INTO settings VALUES (?, ?)", body["key"], body["value"])

    @app.get("/{name:path}")
    def page(name: str) -> HTMLResponse:
        colour = query("SELECT value FROM looks")[0]["value"]
        return HTMLResponse(HEAD % colour + PAGES.get(name, "nothing here"))

    return app


def write(path: Path, notes: list[str], colour: str) -> None:
    """Replace all data."""
    with closing(sqlite3.connect(path)) as database, database:
        for table in ("notes (id INTEGER PRIMARY KEY, text)", "settings (key PRIMARY KEY, value)", "looks (value)"):
            database.execute(f"CREATE TABLE IF NOT EXISTS {table}")
            database.execute(f"DELETE FROM {table.split()[0]}")
        database.executemany("INSERT INTO notes (text) VALUES (?)", [(note,) for note in notes])
        database.execute("INSERT INTO looks VALUES (?)", (colour,))


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """As many notes as the seed says, one of five numbers."""
    notes = [f"note {number}" for number in range(seed % 5)]
    await asyncio.to_thread(write, product.workdir / "pad.db", notes, appearance.get("colour", "white"))


pad = Harness(
    name="pad",
    asgi=create_app,
    ready="/notes",
    state=Sqlite("{workdir}/pad.db"),
    reset=reset,
    viewport=(320, 240),
    looks={"colour": Looks(("white", "lightyellow"), ("lightblue",))},
)


@pad.task("Add the note {text}.", "Write down {text}.", max_steps=6, expected_steps=4)
def add(text: str = one_of("milk", "bread", "tea")) -> Verifier:
    note = added("notes", text=text)
    return all_of(note, unchanged(except_=[note]))


@add.oracle
async def _(page: Any, text: str) -> None:
    await page.get_by_label("Text").fill(text)
    await page.get_by_role("button", name="Add").click()


@pad.task("How many notes are there?", max_steps=4, expected_steps=1)
def count(expected: int = computed(lambda state, params: len(state.tables["notes"]))) -> Verifier:
    return all_of(equals(expected), unchanged())


@count.oracle
async def _(page: Any) -> str:
    return str((await page.locator("#count").inner_text()).split()[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workdir", type=Path, required=True)
    given = parser.parse_args()
    uvicorn.run(create_app(given.workdir), port=given.port, log_level="warning")
