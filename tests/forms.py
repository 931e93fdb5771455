"""A product of one page with a field of every kind, which says what was done to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from uigym.harness import Harness
from uigym.types import Dialog, Episode, Part, State, SwitchTab, Upload, Verdict

PAGE = """<!doctype html><meta charset=utf-8><title>Form</title>
<style>body { margin: 8px; font: 14px sans-serif } label, p { display: block; margin: 4px 0 } #far { margin-top: 1500px }
canvas { background: #eee } .away { position: absolute; opacity: 0; width: 1px; height: 1px } #box { height: 40px; overflow: auto; width: 200px }
#box div { height: 300px }</style>
<script>const told = {}; window.put = (name, value) => { told[name] = value }</script>
<label>Name <input id=name data-testid=name value=old></label>
<label>Note <textarea id=note></textarea></label>
<label>Secret <input id=secret type=password></label>
<label>Colour <select id=colour><option value=r>Red<option value=g>Green<option value=b>Blue</select></label>
<label>Tags <select id=tags multiple size=3><option>one<option>two<option>three</select></label>
<label><input id=agree type=checkbox> I agree</label>
<input id=styled class=away type=checkbox><label for=styled>Styled</label>
<label><input type=radio name=plan value=a> Plan A</label><label><input type=radio name=plan value=b> Plan B</label>
<label>Day <input id=day type=date></label>
<label>Level <input id=level type=range min=0 max=10></label>
<label>File <input id=file type=file multiple></label>
<div id=rich contenteditable style="width:200px;height:20px;border:1px solid">rich</div>
<canvas id=canvas width=100 height=40></canvas>
<iframe id=frame srcdoc="<button onclick='parent.put(`framed`, 1)'>Count</button><input id=inner>" width=300 height=50></iframe>
<x-host id=host></x-host>
<p><button class=row>Row</button> <button class=row>Row</button> <button id=twice>Twice</button>
<button id=ask>Ask</button> <a id=help href="/help" target=_blank rel=opener>Help</a> <button id=late>Late</button>
<button id=later>Later</button></p>
<div id=box><div>box</div></div>
<p id=far><button id=far-button>Far</button></p>
<script>
const $ = (id) => document.getElementById(id);
const note = (id, value) => $(id).addEventListener("change", () => put(id, value($(id))));
for (const id of ["name", "note", "secret", "colour", "day", "level"]) note(id, (el) => el.value);
note("tags", (el) => [...el.selectedOptions].map((o) => o.value).join());
note("agree", (el) => el.checked); note("styled", (el) => el.checked);
note("file", (el) => [...el.files].map((f) => f.name).join());
document.querySelectorAll("[name=plan]").forEach((el) => el.addEventListener("change", () => put("plan", el.value)));
document.querySelectorAll(".row").forEach((el, i) => el.addEventListener("click", () => put("row", i)));
$("rich").addEventListener("input", () => put("rich", $("rich").textContent));
$("canvas").addEventListener("click", (e) => put("canvas", `${Math.round(e.offsetX)},${Math.round(e.offsetY)}`));
$("twice").addEventListener("dblclick", (e) => put("twice", e.shiftKey ? "shift" : "plain"));
$("ask").addEventListener("click", () => put("ask", confirm("Sure?")));
$("late").addEventListener("click", () => setTimeout(() => {
  const b = document.createElement("button"); b.textContent = "Now"; b.onclick = () => put("late", 1); document.body.prepend(b); }, 300));
$("later").addEventListener("click", () => setTimeout(() => {
  const b = document.createElement("button"); b.textContent = "Then"; b.onclick = () => put("later", 1); document.body.prepend(b); }, 2000));
$("far-button").addEventListener("click", () => put("far", 1));
$("box").addEventListener("scroll", () => put("box", $("box").scrollTop > 0));
addEventListener("keydown", (e) => { if (e.ctrlKey && e.key === "k") { e.preventDefault(); put("key", "ctrl+k") } });
const root = $("host").attachShadow({ mode: "open" });
root.innerHTML = "<button id=deep>Deep</button>"; root.querySelector("button").onclick = () => put("deep", 1);
</script>"""
HELP = "<!doctype html><title>Help</title><button onclick='opener.put(`help`, 1); close()'>Read</button>"


def app(workdir: Path) -> Starlette:
    def show(request: Request) -> HTMLResponse:
        return HTMLResponse(HELP if request.url.path == "/help" else PAGE)

    return Starlette(routes=[Route("/{path:path}", show)])


async def nothing(product: Any, seed: int, appearance: Any) -> None:
    return None


async def empty(product: Any) -> State:
    return State({"none": ()})


def told(episode: Episode) -> dict[str, Any]:
    """What was done to the form."""
    rows = episode.after.tables["browser.values"]
    return dict(json.loads(next(row["value"] for row in rows if row["name"] == "told")))


def forms(**changes: Any) -> Harness:
    """The harness; the task is passed by anything but doing nothing."""
    given = {"grants": (Dialog, Upload, SwitchTab), "files": {"a.txt": "a", "b.txt": "b"}, **changes}
    made = Harness(
        name="forms",
        asgi=app,
        state=empty,
        reset=nothing,
        viewport=(800, 600),
        reads={"told": "JSON.stringify(told)"},
        **given,
    )

    @made.task("Use the form.", max_steps=40)
    def use() -> Any:
        def verifier(episode: Episode) -> Verdict:
            used = bool(told(episode))
            return Verdict(float(used), used, (Part("used", float(used)),), "" if used else "nothing was done")

        return verifier

    return made
