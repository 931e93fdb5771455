"""uigym new, from a start command to a file that `uigym check` accepts, and each way in which it can go wrong."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mariadb import QUOTED, mariadb, missing
from playwright.async_api import Page, async_playwright, expect
from typer.testing import CliRunner, Result

from uigym.browser.find import find_chromium
from uigym.cli.app import app
from uigym.draft import Asked, Draft, draft, explore
from uigym.draft.demonstration import Demonstration, Told
from uigym.draft.serve import Desk
from uigym.registry import load
from uigym.types import Click, Key, Scroll, State, Type

FOLDER = Path(__file__).parent / "third_party"
BIKES = f"'{sys.executable}' '{FOLDER}/bikes.py' --port 8000 --db {{workdir}}/bikes.db"
SHELF = f"'{sys.executable}' '{FOLDER}/shelf.py' --data {{workdir}}"
Play = Callable[[Demonstration, Page], Awaitable[Told]]


def new(*words: str) -> Result:
    return CliRunner().invoke(app, ["new", *words])


def script(tmp_path: Path, *actions: dict[str, Any]) -> str:
    file = tmp_path / "actions.jsonl"
    file.write_text("\n".join(map(json.dumps, actions)))
    return str(file)


def left_behind(tmp_path: Path) -> list[str]:
    """What a failed run has left: files, and processes that run a product of these tests."""
    found = [
        path.name for path in tmp_path.iterdir() if path.name != "actions.jsonl" and not path.name.startswith("my")
    ]
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"UIGYM_TEST_PLACE={tmp_path}".encode() in entry.read_bytes().split(b"\0"):
                found.append((entry.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


async def drafted(tmp_path: Path, play: Play, command: str = SHELF) -> tuple[Draft, str]:
    async def demonstrate(demonstration: Demonstration) -> Told:
        return await play(demonstration, demonstration._env.session.page)

    target = tmp_path / "shelf.py"
    made = await draft(Asked(target=target, command=command, viewport=(800, 500)), demonstrate, lambda text: None)
    assert made is not None
    return made, target.read_text()


async def click(demonstration: Demonstration, locator: Any) -> None:
    box = await locator.bounding_box()
    await demonstration.act(Click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))


# --- what is drafted -------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_from_a_command_and_actions_to_a_sound_harness(tmp_path: Path) -> None:
    acts = script(tmp_path, {"action": "click", "x": 1220, "y": 50})
    target = tmp_path / "rental.py"
    result = new(BIKES, "--out", str(target), "--actions", acts, "--instruction", "Rent out the Blue Tandem.", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["changes"] == ["bikes id=1: rented 0 -> 1"] and told["faults"] == []
    assert told["expects"] == ['changed("bikes", key=1, rented=1)']
    text = target.read_text()
    assert text.startswith('"""DRAFT') and "The command's port 8000 became {port}" in text
    assert 'get_by_role("button", name="Rent Blue Tandem", exact=True).click()' in text
    assert [path.name for path in tmp_path.iterdir() if "__" not in path.name and path.suffix == ".py"] == ["rental.py"]


@pytest.mark.browser
async def test_fields_lists_rows_and_files(tmp_path: Path) -> None:
    async def show(demonstration: Demonstration, page: Page) -> Told:
        await click(demonstration, page.get_by_label("Title"))
        for text in ("Per", "suasion"):
            await demonstration.act(Type(text))
        await click(demonstration, page.get_by_label("Kind"))
        option = await demonstration._env.session.aim_at_option(1)
        await demonstration.act(Click(option["x"], option["y"]))
        assert [type(act.action) for act in demonstration.acts] == [Click, Type, Type, Click]
        await click(demonstration, page.get_by_role("button", name="Add"))
        await demonstration.act(Scroll(50, 50, 0, 40))
        await click(demonstration, page.get_by_role("button", name="Read").nth(1))
        await click(demonstration, page.get_by_role("button", name="Delete").nth(0))
        await click(demonstration, page.get_by_role("button", name="Export"))
        return Told("Add Persuasion, which is poems; mark Emma as read, delete Dune, and export the list.")

    made, text = await drafted(tmp_path, show)
    assert made.faults == () and made.task == "add_persuasion_which_is_poems"
    assert 'start="PORT={port} ' in text and 'ready="/healthz"' in text
    assert 'Sqlite("{workdir}/shelf.db", ignore=["visits", "books.at", "books.token"])' in text and "InOrder(" in text
    assert 'Directory("{workdir}", ignore=["shelf.db*", "*.log", "*.pid"])' in text
    assert 'added("books", title=title, kind=kind, due="", read=0)' in text  # neither token nor time nor number
    assert 'name="Title", exact=True).fill(title)' in text and "select_option(label=kind)" in text
    assert 'changed("books", key=2, read=1)' in text and 'removed("books", id=1)' in text
    assert 'added("files", path="books.txt", text=\'Emma\\nPersuasion\')' in text
    assert 'get_by_role("row").filter(has_text="Emma").get_by_role("button", name="Read", exact=True).click()' in text
    assert "wheel" not in text
    told = load(str(made.path)).find_task(made.task).instance(0, State()).instruction
    assert told.startswith("Add Persuasion, which is poems;")


@pytest.mark.browser
def test_a_draft_is_the_same_on_each_play_and_works_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, gyms, elsewhere = (tmp_path / name for name in ("my_app", "my_gyms", "my_elsewhere"))
    for folder in (home, gyms, elsewhere):
        folder.mkdir()
    (home / "tools.py").write_text((FOLDER / "tools.py").read_text())
    monkeypatch.chdir(home)
    typed = [
        each
        for row, text in enumerate(("Spade", "Garden", "12"))
        for each in ({"action": "click", "x": 50, "y": 20 + 44 * row}, {"action": "type", "text": text})
    ]
    acts = script(tmp_path, *typed, {"action": "key", "chord": "Enter"})
    target = gyms / "shed.py"
    words = ["--out", str(target), "--actions", acts, "--viewport", "320x240", "--instruction", "Add 12 of Spade."]
    result = new(f"'{sys.executable}' tools.py {{port}} {{workdir}}/tools.db", *words)
    said = " ".join(result.output.split())
    assert result.exit_code == 0 and "it can be done again" in said, result.output
    assert "tools.id, tools.made_at: came out differently the second time" in said
    assert 'the instruction does not say place="Garden"; see the lines' in said
    assert 'it expects added("tools", name="Spade", place="Garden", qty=12) and no other change' in said
    text = target.read_text()
    assert "'{HERE}/../my_app/tools.py' {{port}} {{workdir}}/tools.db\"" in text and str(tmp_path) not in text
    assert "fill(str(qty))" in text and "Add {qty} of {name}." in text
    monkeypatch.chdir(elsewhere)
    ran = CliRunner().invoke(app, ["run", str(target), "--policy", "oracle", "--seeds", "0:1", "--out", "runs"])
    assert ran.exit_code == 0 and "100%" in ran.output, ran.output


@pytest.mark.browser
async def test_a_question_is_drafted_from_its_answer(tmp_path: Path) -> None:
    async def look(demonstration: Demonstration, page: Page) -> Told:
        return Told("How many books are there?", "2")

    made, text = await drafted(tmp_path, look)
    assert (
        made.faults == () and made.changes == () and 'all_of(equals("2"), unchanged())' in text and 'return "2"' in text
    )


@pytest.mark.browser
def test_a_product_that_runs_already(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    database = tmp_path / "my.db"
    command = [sys.executable, str(FOLDER / "bikes.py"), "--port", str(port), "--db", str(database)]
    product = subprocess.Popen(command, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                httpx.get(f"http://127.0.0.1:{port}/", trust_env=False)
                break
            except httpx.HTTPError:
                time.sleep(0.05)
        acts = script(tmp_path, {"action": "click", "x": 1220, "y": 50})
        target = tmp_path / "my_rental.py"
        result = new(
            "--url", f"http://127.0.0.1:{port}", "--out", str(target), "--actions", acts, "--instruction", "Rent it."
        )
        assert result.exit_code == 0 and "it can be done again" in result.output, result.output
        with closing(sqlite3.connect(database)) as rows:
            assert rows.execute("SELECT rented FROM bikes WHERE id = 1").fetchone() == (0,)  # as it was
        assert f'Sqlite("{database}")' in target.read_text()  # found by the process that listens there
    finally:
        product.terminate()
        product.wait()


ON_SERVER = """import http.server, sys, urllib.parse, pymysql
parts = urllib.parse.urlsplit(sys.argv[2])
login = dict(host=parts.hostname, port=parts.port, user=parts.username, password=urllib.parse.unquote(parts.password))
database = pymysql.connect(**login, database=parts.path.strip("/"), autocommit=True)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        page = b"<form method=post><button style='width: 200px; height: 99px'>Add one</button></form>"
        self.send_response(200); self.send_header("Content-Type", "text/html"); self.end_headers(); self.wfile.write(page)
    def do_POST(self):
        database.cursor().execute("INSERT INTO notes (text) VALUES ('one')"); self.do_GET()
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.mark.browser
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_a_product_on_a_database_server(tmp_path: Path) -> None:
    server_file, target = tmp_path / "my_server.py", tmp_path / "my_notes.py"
    server_file.write_text(ON_SERVER)
    acts = script(tmp_path, {"action": "click", "x": 50, "y": 50})
    with mariadb() as server:
        server.run("CREATE DATABASE notes", "CREATE TABLE notes.notes (id INT AUTO_INCREMENT PRIMARY KEY, text TEXT)")
        words = ["--db", server.dsn("notes"), "--out", str(target), "--actions", acts, "--instruction", "Add one note."]
        command = f"'{sys.executable}' '{server_file}' {{port}}"
        assert "names neither {dsn} nor {database}" in " ".join(new(command, *words).output.split())
        result = new(f"{command} {{dsn}}", *words)
        assert result.exit_code == 0 and "it can be done again" in result.output, result.output
        assert (
            QUOTED not in result.output
            and "the password of the database stands in this file" in target.read_text().lower()
        )
        assert 'added("notes", text="one")' in target.read_text() and 'template="notes"' in target.read_text()
        assert server.run("SELECT COUNT(*) FROM notes.notes") == ((0,),)
        assert not [name for name in server.databases() if name.startswith("uigym_")]


# --- the page --------------------------------------------------------------------------------------------------------


class Running:
    """A page of a demonstration, seen by a person's browser."""

    def __init__(self, desk: Desk, page: Page):
        self.desk = desk
        self.page = page

    async def point(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the product is on the page."""
        box = await self.page.locator("#picture").bounding_box()
        assert box is not None
        scale = box["width"] / 800
        return box["x"] + x * scale, box["y"] + y * scale

    async def acts(self, count: int) -> list[str]:
        await expect(self.page.locator("#acts li")).to_have_count(count)
        parts = "all => all.map(li => [...li.children].map(part => part.textContent).filter(Boolean).join('\\n'))"
        return await self.page.locator("#acts li").evaluate_all(parts)


async def shown_by(tmp_path: Path, person: Callable[[Running], Awaitable[None]]) -> tuple[Draft | None, Demonstration]:
    kept: list[Demonstration] = []

    async def demonstrate(demonstration: Demonstration) -> Told | None:
        kept.append(demonstration)
        async with Desk(demonstration) as desk, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=str(find_chromium()))
            page = await browser.new_page(viewport={"width": 1000, "height": 600})
            errors: list[str] = []
            page.on("console", lambda message: errors.append(message.text))
            page.on("pageerror", lambda error: errors.append(str(error)))
            await page.goto(desk.url)
            await page.locator("#picture[src]").evaluate("image => image.decode()")
            told = asyncio.ensure_future(desk.told())
            await person(Running(desk, page))
            result = await told
            await page.locator("#over h1").wait_for()
            assert errors == []
            await browser.close()
            return result

    asked = Asked(target=tmp_path / "shelf.py", command=SHELF, viewport=(800, 500))
    return await draft(asked, demonstrate, lambda text: None), kept[-1]


@pytest.mark.browser
async def test_a_person_shows_a_task_on_the_page(tmp_path: Path) -> None:
    async def person(at: Running) -> None:
        page, product = at.page, at.desk._demonstration._env.session.page
        assert await page.locator("#finish").is_disabled()
        box = await product.get_by_label("Title").bounding_box()
        assert box is not None
        await page.mouse.click(*await at.point(box["x"] + 10, box["y"] + 10))
        await page.keyboard.type("Ulysses")
        await page.keyboard.press("Enter")
        await at.acts(3)
        clicked = at.desk._demonstration.every[0].action
        assert isinstance(clicked, Click) and abs(clicked.x - box["x"] - 10) < 1  # as a file of actions says it
        place = f"{clicked.x:g}, {clicked.y:g}"
        assert await at.acts(3) == [f'Click\ntextbox "Title"\n{place}', "Type\nUlysses", "Key\nEnter"]
        await page.locator("#instruction").fill("Add Ulysses.")
        assert "Add Ulysses" not in str(at.desk._demonstration.every)  # words about it are not for the product
        await page.locator("#finish").click()
        await page.get_by_role("heading", name="Recorded").wait_for()

    made, _ = await shown_by(tmp_path, person)
    assert made is not None and made.faults == ()
    assert 'fill(title)\n    await page.keyboard.press("Enter")' in made.path.read_text()


async def refuses_others(desk: Desk) -> None:
    """Without the secret, from another origin or for another host there is nothing; nonsense is told."""
    origin = f"http://127.0.0.1:{desk.port}"
    async with httpx.AsyncClient(trust_env=False) as client:
        act = {"json": {"action": "type", "text": "x"}}
        assert (await client.get(origin + "/")).status_code == 404
        assert (await client.get(f"{origin}/guess/state")).status_code == 404
        assert (await client.get(desk.url, headers={"Host": f"evil.example:{desk.port}"})).status_code == 404
        assert (await client.get(f"http://localhost:{desk.port}/{desk._token}/")).status_code == 404
        for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
            assert (await client.post(desk.url + "act", headers=headers, **act)).status_code == 404
        mine = {"Origin": origin}
        for body, told in [
            (b"{", "Expecting"),
            (b"[]", "expected an action"),
            (b'{"action": "done"}', "by the button"),
        ]:
            answer = await client.post(desk.url + "act", headers=mine, content=body)
            assert answer.status_code == 400 and told in answer.json()["error"]
        answer = await client.post(desk.url + "finish", headers=mine, json={"instruction": " "})
        assert answer.status_code == 400 and "say what an agent is to do" in answer.text
        page = await client.get(desk.url)
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["referrer-policy"] == "no-referrer" and page.headers["cache-control"] == "no-store"
        assert len(desk._demonstration.every) == 5


@pytest.mark.browser
async def test_every_gesture_is_forwarded_nobody_else_gets_in_and_discarding_writes_nothing(tmp_path: Path) -> None:
    async def person(at: Running) -> None:
        page = at.page
        start = await at.point(300, 300)
        await page.mouse.dblclick(*start)
        await page.mouse.click(*start, button="right")
        await page.mouse.wheel(0, 120)
        await page.mouse.down()
        await page.mouse.move(start[0] + 60, start[1], steps=4)
        await page.mouse.up()
        await page.keyboard.press("Control+A")
        await at.acts(5)
        done = [act.action for act in at.desk._demonstration.every]
        first, second, third, fourth, fifth = done
        assert isinstance(first, Click) and first.count == 2 and abs(first.x - 300) < 1 and abs(first.y - 300) < 1
        assert isinstance(second, Click) and second.button == "right" and second.count == 1
        assert isinstance(third, Scroll) and third.dy == 120
        assert type(fourth).__name__ == "Drag" and fifth == Key("Control+A")
        await refuses_others(at.desk)
        await page.locator("#discard").click()
        await page.get_by_role("heading", name="Discarded").wait_for()

    made, _ = await shown_by(tmp_path, person)
    assert made is None and left_behind(tmp_path) == []


@pytest.mark.browser
def test_ctrl_c_ends_the_demonstration_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "uigym", "new", BIKES, "--out", str(tmp_path / "x.py")]
    environment = {**os.environ, "UIGYM_TEST_PLACE": str(tmp_path)}
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    assert running.stderr is not None
    said = ""
    while "http://127.0.0.1:" not in said:
        line = running.stderr.readline()
        assert line, said
        said += line
    running.send_signal(signal.SIGINT)
    rest = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and "Traceback" not in rest, rest
    assert left_behind(tmp_path) == []


# --- what can go wrong -----------------------------------------------------------------------------------------------

SILENT = f"'{sys.executable}' -c 'import time; time.sleep(60)'"
DEAF = """import http.server, os, sqlite3
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response({status}); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *a): pass
{before}
http.server.HTTPServer(("127.0.0.1", {port}), Handler).serve_forever()
"""


@contextmanager
def product(tmp_path: Path, **parts: str) -> Iterator[str]:
    """A start command of a small server with a fault."""
    file = tmp_path / "my_server.py"
    file.write_text(DEAF.format(**{"status": "200", "before": "", "port": 'int(os.environ["PORT"])', **parts}))
    yield f"UIGYM_TEST_PLACE='{tmp_path}' '{sys.executable}' '{file}'"


def refused(tmp_path: Path, told: str, command: str, *more: str, code: int = 1) -> None:
    acts = script(tmp_path, {"action": "click", "x": 5, "y": 5})
    result = new(command, "--out", str(tmp_path / "x.py"), "--actions", acts, "--instruction", "Do it.", *more)
    said = " ".join(result.output.split())
    assert result.exit_code == code and "error:" in result.output and told in said, result.output
    assert left_behind(tmp_path) == []


def test_a_command_that_dies_says_why(tmp_path: Path) -> None:
    refused(tmp_path, "ended with status 3", f"'{sys.executable}' -c 'import sys; print(\"no config\"); sys.exit(3)'")
    refused(tmp_path, "Is 'no-such-program' installed?", "no-such-program")
    refused(tmp_path, "cannot be read", "serve 'it", code=2)


def test_a_command_that_is_never_ready(tmp_path: Path) -> None:
    refused(tmp_path, "it did not answer at http://127.0.0.1:", SILENT, "--timeout", "1")
    with product(tmp_path, status="503") as command:
        refused(tmp_path, "its first page, /: it answered 503", command)


def test_a_command_that_listens_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "_ELSEWHERE_S", 0.3)
    with product(tmp_path, port="0") as command:
        refused(tmp_path, "write {port} where its command or a variable says the port", command)


def test_a_port_that_is_in_use(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with product(tmp_path, port=str(taken.getsockname()[1])) as command:
            refused(tmp_path, "Address already in use", command)


def test_data_that_every_slot_would_share(tmp_path: Path) -> None:
    shared = tmp_path / "my_shared.db"
    before = f"sqlite3.connect({str(shared)!r}).executescript('CREATE TABLE IF NOT EXISTS t (id)'); kept = open({str(shared)!r})"
    with product(tmp_path, before=before) as command:
        refused(tmp_path, "the product keeps its data in", command, code=2)
        mended = "my_server.py' --db {workdir}/my_shared.db --keep"  # a variable may not win over an option
        refused(tmp_path, mended, f"{command} --db ./my_shared.db --keep", code=2)


@pytest.mark.browser
def test_a_demonstration_in_which_nothing_changes(tmp_path: Path) -> None:
    refused(tmp_path, "nothing changed during the demonstration, in bikes, files: show a task", BIKES, code=2)


KEEPS = """
class Handler(Handler):
    def do_GET(self):
        page = b"<body style='margin: 0; height: 90vh' onclick='localStorage.x = 1; document.cookie = `y=1`'>"
        self.send_response(200); self.send_header("Content-Type", "text/html"); self.end_headers(); self.wfile.write(page)
"""


@pytest.mark.browser
def test_what_changes_in_the_browser_alone(tmp_path: Path) -> None:
    with product(tmp_path, before=KEEPS) as command:
        told = 'in the browser cookies and local storage did. A harness with watch=("storage",)'
        refused(tmp_path, told, command, code=2)


def test_what_is_asked_for_wrongly(tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text("mine")
    acts = script(tmp_path, {"action": "click", "x": 5, "y": 5})
    for words, told in [
        ([BIKES, "--out", str(tmp_path / "my.py")], "is there already"),
        ([BIKES, "--out", str(tmp_path / "x.py"), "--url", "http://127.0.0.1:1"], "one of the two"),
        ([BIKES, "--out", str(tmp_path / "x.py"), "--viewport", "big"], "expected width and height"),
        ([BIKES, "--out", str(tmp_path / "x.py"), "--actions", acts], "--actions needs --instruction"),
        ([BIKES, "--out", str(tmp_path / "x.py"), "--actions", "nowhere.jsonl", "--instruction", "x"], "cannot read the actions"),
        (["--url", "http://127.0.0.1:1", "--out", str(tmp_path / "x.py")], "is the product running"),
    ]:  # fmt: skip
        result = new(*words)
        assert result.exit_code in (1, 2) and told in " ".join(result.output.split()), result.output
    assert (tmp_path / "my.py").read_text() == "mine" and left_behind(tmp_path) == []


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "no folder that can be written to" in new(BIKES, "--out", str(tmp_path / "x.py")).output
