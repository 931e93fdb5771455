"""The help desk: the app by itself, over HTTP, and its data."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from markupsafe import escape

from uigym.apps.desk import looks, schema, seed
from uigym.apps.desk.app import create_app
from uigym.apps.kit.looks import CONTENTS, LANGUAGES, THEMES
from uigym.apps.kit.people import HOSTILE
from uigym.harness import Split
from uigym.registry import load
from uigym.types import Row, State

ROOT = Path(__file__).parent.parent
DESK = load("desk")
SEEDS = [split.seed(index) for split in Split for index in range(12)]
NASTY = "<script>alert('x')</script> & \"quotes\" {{ 7 * 7 }}"


@dataclass
class Desk:
    """The app on a file, used over HTTP without a browser."""

    http: httpx.AsyncClient
    path: Path

    def state(self) -> State:
        return DESK.state.read(self.path)  # type: ignore[attr-defined]

    def rows(self, table: str, **columns: Any) -> list[Row]:
        found = self.state().tables[table]
        return [row for row in found if all(row[name] == value for name, value in columns.items())]

    def one(self, table: str, **columns: Any) -> Row:
        return self.rows(table, **columns)[0]

    async def get(self, path: str) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == 200, path
        return answer.text

    async def post(self, path: str, **form: Any) -> httpx.Response:
        return await self.http.post(path, data=form)

    async def moved(self, path: str, **form: Any) -> dict[str, list[Row]]:
        """What a change that is allowed changes, by table, the log left out: rows as they are afterwards."""
        before = self.state()
        answer = await self.post(path, **form)
        assert answer.status_code == 303, f"{path}: {answer.status_code}"
        after = self.state()
        new = {name: [row for row in rows if row not in before.tables[name]] for name, rows in after.tables.items()}
        return {name: rows for name, rows in new.items() if rows and name != "events"}


@asynccontextmanager
async def running(folder: Path, data_seed: int = 0, look: Mapping[str, str] | None = None) -> AsyncIterator[Desk]:
    seed.write(folder / "desk.db", data_seed, look or {})
    transport = httpx.ASGITransport(create_app(folder))
    async with httpx.AsyncClient(transport=transport, base_url="http://desk") as http:
        yield Desk(http, folder / "desk.db")


def every_page(desk: Desk) -> list[str]:
    """An address of every kind of page."""
    file = desk.one("attachments")
    ticket, customer = f"/tickets/{file['ticket_id']}", f"/customers/{desk.one('customers')['id']}"
    lists = ["/", "/tickets", "/tickets?status=open&due=week", "/tickets?q=_", "/customers", "/agents", "/macros"]
    forms = ["/tickets/new", "/macros/new", "/macros/1", f"{customer}/edit", f"{ticket}/merge", f"{ticket}?macro=2"]
    return [*lists, *forms, ticket, customer, f"{ticket}/files/{file['id']}"]


# --- the app ------------------------------------------------------------------------------------------------


def test_the_app_runs_alone() -> None:
    """It prints its address, serves, and needs nothing of uigym; a port in use is said."""
    program = (
        "import sys; sys.modules['uigym'] = None; import runpy; runpy.run_module('apps.desk', run_name='__main__')"
    )
    command = [sys.executable, "-c", program, "--seed", "5", "--look", "language=de"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        second = subprocess.Popen([*command, "--port", str(port)], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        process = subprocess.Popen([*command, "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert httpx.get(f"{url}/healthz").text == "ok"
            assert "Übersicht" in httpx.get(url).text
        finally:
            process.terminate()
            process.communicate(timeout=10)
        said = second.communicate(timeout=30)[1]
    assert second.returncode != 0 and f"port {port} cannot be used" in said and "--port" in said


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_page_is_drawn(tmp_path: Path, language: str) -> None:
    """In every language; the themes go round."""
    themes = [*THEMES][LANGUAGES.index(language) :: 4]
    for theme in themes:
        async with running(tmp_path, 3, {"theme": theme, "language": language, "content": "hostile"}) as desk:
            for path in every_page(desk):
                page = await desk.get(path)
                assert THEMES[theme].accent in page and f'lang="{language}"' in page
            customer, ticket = desk.one("customers"), desk.one("tickets")
            assert customer["phone"] in await desk.get(f"/customers/{customer['id']}")
            assert str(escape(ticket["description"])) in await desk.get(f"/tickets/{ticket['id']}")


async def test_the_appearance_moves_things_but_says_the_same(tmp_path: Path) -> None:
    texts, orders = set(), set()
    for columns in looks.PARTS["columns"]:
        async with running(tmp_path, 1, {"columns": columns}) as desk:
            page = await desk.get("/tickets")
        orders.add(tuple(re.findall(r'<th class="col-(\w+)"', page)))
        texts.add("".join(sorted(re.sub(r"<[^>]*>|\s", "", page))))
    assert len(texts) == 1 and len(orders) == len(looks.PARTS["columns"])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/tickets/1", 404),
        ("/tickets/1/merge", 404),
        ("/tickets/1/files/1", 404),
        ("/customers/999999", 404),
        ("/macros/99", 404),
        ("/tickets/99999999999999999999999", 404),
        ("/nowhere", 404),
        ("/tickets?page=99999&sort=nonsense&dir=up&assignee=x&due=never", 200),
        ("/tickets?page=-3", 200),
        ("/tickets?page=%C2%B2", 200),
        ("/tickets?q=%25%5F%5C%27", 200),
        ("/tickets/bulk", 303),
        ("/views", 303),
        ("/tickets/1/status", 303),
    ],
)
async def test_odd_addresses_are_answered(tmp_path: Path, path: str, code: int) -> None:
    async with running(tmp_path) as desk:
        answer = await desk.http.get(path)
    assert answer.status_code == code
    assert code == 303 or "Desk" in answer.text


async def test_lists_filter_sort_and_page(tmp_path: Path) -> None:
    async with running(tmp_path, 2) as desk:
        wanted = desk.rows("tickets", status="open", priority="high")
        shown: list[int] = []
        for page in range(1, 9):
            text = await desk.get(f"/tickets?status=open&priority=high&sort=number&dir=asc&page={page}")
            shown += [
                number for number in map(int, re.findall(r'name="id" value="(\d+)"', text)) if number not in shown
            ]
        assert shown == sorted(row["id"] for row in wanted)
        row = wanted[0]
        assert f"#{row['id']}<" in await desk.get(f"/tickets?q=%23{row['id']}")
        customer = desk.one("customers", id=row["customer_id"])
        assert f"#{row['id']}<" in await desk.get(f"/tickets?q={customer['name']}&priority=high&status=open")
        assert "No tickets fit" in await desk.get("/tickets?q=_")


async def test_what_is_late_is_marked_and_found(tmp_path: Path) -> None:
    async with running(tmp_path, 2) as desk:
        today = desk.one("settings", key="now")["value"][:10]
        dated = [row for row in desk.rows("tickets") if row["due_on"]]
        late = {row["id"] for row in dated if row["status"] in schema.UNFINISHED and row["due_on"] < today}
        done = next(row for row in dated if row["status"] == "closed" and row["due_on"] < today)
        shown: set[int] = set()
        for page in range(1, 5):
            shown |= {
                *map(int, re.findall(r'name="id" value="(\d+)"', await desk.get(f"/tickets?due=overdue&page={page}")))
            }
        assert shown == late
        assert f"<b>{len(late)}</b>" in await desk.get("/")
        assert 'data-testid="overdue"' in await desk.get(f"/tickets/{min(late)}")
        assert 'data-testid="overdue"' not in await desk.get(f"/tickets/{done['id']}")
        page = await desk.get("/tickets?due=none&sort=number&dir=asc")
        undated = sorted(row["id"] for row in desk.rows("tickets", due_on=None))[:15]
        assert [*map(int, re.findall(r'name="id" value="(\d+)"', page))] == undated


async def test_what_people_write_is_text_and_nothing_else(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        customer = desk.one("customers")["id"]
        await desk.post("/tickets", customer=customer, subject=NASTY, priority="low", description=NASTY)
        number = desk.one("tickets", subject=NASTY)["id"]
        await desk.post(f"/tickets/{number}/comments", kind="reply", body=NASTY)
        await desk.post(f"/customers/{customer}", email="a@b.example", phone="+1 555 0100", company=NASTY, notes=NASTY)
        await desk.post("/macros", name=NASTY, body=NASTY, status="", priority="", tag="")
        await desk.post("/views", name=NASTY, q=NASTY)
        await desk.http.post(f"/tickets/{number}/files", files={"file": (f"{NASTY}.txt", NASTY.encode())})
        macro, file = desk.one("macros", name=NASTY)["id"], desk.rows("attachments")[-1]["id"]
        assert str(escape(NASTY)) in await desk.get(f"/tickets/{number}")
        pages = ["/", "/tickets", f"/tickets/{number}", f"/customers/{customer}", f"/customers/{customer}/edit"]
        pages += ["/customers", "/tickets/new", f"/tickets?q={httpx.QueryParams({'q': NASTY})['q']}"]
        pages += ["/macros", f"/macros/{macro}", f"/tickets/{number}?macro={macro}", f"/tickets/{number}/files/{file}"]
        for path in pages:
            text = await desk.get(path)
            assert "<script>alert" not in text
        for nobody in ("x", f"{customer}.0", "9" * 5_000, "²"):
            refused = await desk.post("/tickets", customer=nobody, subject=NASTY, priority="low", description=NASTY)
            assert refused.status_code == 422 and "<script>alert" not in refused.text


async def test_every_change_of_a_ticket_changes_that_alone_and_leaves_a_line(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        row, agent = desk.one("tickets", status="open", priority="low"), desk.rows("agents")[-1]
        changes: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
            ("status", {"status": "closed"}, "tickets", {"status": "closed"}),
            ("priority", {"priority": "urgent"}, "tickets", {"priority": "urgent"}),
            ("assignee", {"assignee": agent["id"]}, "tickets", {"assignee_id": agent["id"]}),
            ("subject", {"subject": "Another"}, "tickets", {"subject": "Another"}),
            ("due", {"due": "2027-02-03"}, "tickets", {"due_on": "2027-02-03"}),
            ("due", {"due": ""}, "tickets", {"due_on": None}),
            ("tags", {"tag": "Brand New"}, "ticket_tags", {"tag": "brand-new"}),
            ("ccs", {"email": "x@y.example"}, "ticket_ccs", {"email": "x@y.example"}),
            ("comments", {"kind": "note", "body": "Seen"}, "comments", {"kind": "note", "body": "Seen"}),
        ]
        for count, (path, form, table, found) in enumerate(changes, 1):
            moved = await desk.moved(f"/tickets/{row['id']}/{path}", **form)
            assert [*moved] == [table] and len(moved[table]) == 1
            assert {name: moved[table][0][name] for name in found} == found
            assert len(desk.rows("events")) == count
        assert {event["at"] for event in desk.rows("events")} == {desk.one("settings", key="now")["value"]}
        assert "left a note" in await desk.get(f"/tickets/{row['id']}")
        for path, form in (("tags/remove", {"tag": "brand-new"}), ("ccs/remove", {"email": "x@y.example"})):
            assert await desk.moved(f"/tickets/{row['id']}/{path}", **form) == {}
        assert not desk.rows("ticket_tags", tag="brand-new") and not desk.rows("ticket_ccs", email="x@y.example")


@pytest.mark.parametrize(
    ("path", "form", "reason"),
    [
        ("status", {"status": "gone"}, "Choose a status"),
        ("assignee", {"assignee": "99"}, "There is no agent"),
        ("subject", {"subject": "   "}, "The subject is empty"),
        ("subject", {"subject": "x" * 201}, "at most 200"),
        ("tags", {"tag": "no/slash"}, "A tag has"),
        ("due", {"due": "2020-01-01"}, "cannot lie before today"),
        ("due", {"due": "tomorrow"}, "tomorrow is no date"),
        ("ccs", {"email": "nobody"}, "nobody is no e-mail address"),
        ("comments", {"kind": "reply", "body": " \n"}, "The reply is empty"),
        ("comments", {"kind": "shout", "body": "Hi"}, "Choose a kind"),
        ("comments", {"kind": "reply", "body": "Hi", "macro": "99"}, "no such macro"),
        ("merge", {"into": "12"}, "There is no ticket 12"),
    ],
)
async def test_what_cannot_be_saved_is_said_and_changes_nothing(
    tmp_path: Path, path: str, form: dict[str, str], reason: str
) -> None:
    async with running(tmp_path) as desk:
        before = desk.state()
        address = f"/tickets/{desk.one('tickets')['id']}/{path}"
        answer = await desk.post(address, **form)
        assert answer.status_code == 422 and reason in answer.text
        seed.write(desk.path, 0, {"language": "de"})
        german = await desk.post(address, **form)
        assert german.status_code == 422 and reason not in german.text
        seed.write(desk.path, 0, {})
        assert desk.state() == before


async def test_a_bulk_change_changes_every_chosen_ticket_or_none(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        before = desk.state()
        ids = [row["id"] for row in before.tables["tickets"][:3]]
        for form in ({"id": [ids[0], 1], "status": "closed"}, {"id": [1], "status": "closed"}):
            assert (await desk.post("/tickets/bulk", **form, back="//elsewhere.example")).status_code == 404
        answer = await desk.post("/tickets/bulk", status="closed", back="//elsewhere.example")
        assert answer.headers["location"] == "/tickets"
        assert (await desk.post("/tickets/bulk", id=ids, status="gone")).status_code == 422
        assert desk.state() == before
        moved = await desk.moved("/tickets/bulk", id=ids, tag="Brand New")
        assert [row["ticket_id"] for row in moved["ticket_tags"]] == ids and [*moved] == ["ticket_tags"]
        assert await desk.moved("/tickets/bulk", id=ids, tag="brand-new") == {}


# --- macros, views, files, merging -----------------------------------------------------------------------------


async def test_a_macro_writes_and_sets_what_it_says(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        row = desk.one("tickets", status="open", priority="low")
        form = {
            "name": "Soon",
            "body": "Dear {customer}, soon.",
            "status": "pending",
            "priority": "high",
            "tag": "Soon",
        }
        assert (await desk.moved("/macros", **form))["macros"][0]["tag"] == "soon"
        macro = desk.one("macros", name="Soon")["id"]
        first = desk.one("customers", id=row["customer_id"])["name"].split()[0]
        page = await desk.get(f"/tickets/{row['id']}?macro={macro}")
        assert f">Dear {first}, soon.<" in page and f'name="macro" value="{macro}"' in page
        moved = await desk.moved(f"/tickets/{row['id']}/comments", kind="reply", body="Dear you, soon.", macro=macro)
        assert moved["comments"][0]["body"] == "Dear you, soon."
        assert moved["tickets"] == [{**row, "status": "pending", "priority": "high"}]
        assert moved["ticket_tags"][0]["tag"] == "soon"
        moved = await desk.moved(f"/macros/{macro}", **{**form, "status": "", "body": "Now"})
        assert moved["macros"][0]["status"] == "" and moved["macros"][0]["body"] == "Now"
        assert "macro of that name" in (await desk.post("/macros", **form)).text
        assert (await desk.post("/macros/1", **{**form, "name": "Free", "status": "x"})).status_code == 422
        await desk.post(f"/macros/{macro}/delete")
        assert not desk.rows("macros", id=macro) and (await desk.post(f"/macros/{macro}/delete")).status_code == 404


async def test_a_view_keeps_a_filter(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        form = {"q": "", "status": "open", "priority": "", "assignee": "none", "tag": "api", "due": "week"}
        moved = await desk.moved("/views", name="Mornings", **form)
        view = moved["views"][0]
        assert view == {"id": view["id"], "name": "Mornings", **form}
        page = await desk.get("/tickets?status=open&assignee=none&tag=api&due=week")
        assert 'aria-current="true"' in page and 'data-testid="delete-view"' in page
        assert 'data-testid="delete-view"' not in await desk.get("/tickets?status=open&assignee=none&tag=api")
        for wrong in ({"name": "Mornings", "status": "open"}, {"name": " ", "status": "open"}, {"name": "All"}):
            assert (await desk.post("/views", **wrong)).status_code == 422
        for n in range(4):
            assert (await desk.post("/views", name=f"V{n}", q=str(n))).status_code == 303
        assert "room for 8" in (await desk.post("/views", name="V9", q="9")).text
        await desk.post(f"/views/{view['id']}/delete")
        assert not desk.rows("views", name="Mornings") and len(desk.rows("views")) == 7


async def test_files_go_up_are_shown_and_go_away(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        number = desk.one("tickets")["id"]
        text = "a,b\r\n1,--x--\r\n\r\nend\n"
        await desk.http.post(f"/tickets/{number}/files", files={"file": ("C:\\here\\list.csv", text.encode())})
        file = desk.rows("attachments")[-1]
        assert (file["ticket_id"], file["name"], file["content"]) == (number, "list.csv", text)
        assert "1,--x--" in await desk.get(f"/tickets/{number}/files/{file['id']}")
        before = desk.state()
        for name, content in (("run.exe", b"x"), ("big.txt", b"x" * 50_001), ("", b"")):
            answer = await desk.http.post(f"/tickets/{number}/files", files={"file": (name, content)})
            assert answer.status_code == 422
        answer = await desk.http.post(f"/tickets/{number}/files", files={"file": ("big.txt", b"x" * 2_000_001)})
        assert answer.status_code == 413 and desk.state() == before
        await desk.post(f"/tickets/{number}/files/remove", file=file["id"])
        assert not desk.rows("attachments", id=file["id"])
        assert (await desk.post(f"/tickets/{number}/files/remove", file=file["id"])).status_code == 404


async def test_merging_moves_all_and_closes_for_good(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        counts = {row["ticket_id"] for row in desk.rows("comments")}
        gone, kept = next(
            (one, other)
            for one in desk.rows("tickets", status="open")
            for other in desk.rows("tickets", customer_id=one["customer_id"])
            if one["id"] != other["id"] and one["id"] in counts
        )
        stranger = next(row for row in desk.rows("tickets") if row["customer_id"] != gone["customer_id"])
        page = await desk.get(f"/tickets/{gone['id']}/merge")
        assert f"#{kept['id']}<" in page and f"#{stranger['id']}<" not in page
        for wrong, reason in ((stranger["id"], "same customer"), (gone["id"], "into itself"), ("x", "no ticket x")):
            answer = await desk.post(f"/tickets/{gone['id']}/merge", into=wrong)
            assert answer.status_code == 422 and reason in answer.text
        comments = len(desk.rows("comments", ticket_id=gone["id"]))
        moved = await desk.moved(f"/tickets/{gone['id']}/merge", into=f"#{kept['id']}")
        assert moved["tickets"] == [{**gone, "status": "closed", "merged_into": kept["id"]}]
        assert len(moved["comments"]) == comments + 1 and {row["ticket_id"] for row in moved["comments"]} == {
            kept["id"]
        }
        assert gone["description"] in {row["body"] for row in moved["comments"]}
        assert f"#{kept['id']}" in await desk.get(f"/tickets/{gone['id']}")
        assert f'href="/tickets/{gone["id"]}"' in await desk.get(f"/tickets/{kept['id']}")
        before = desk.state()
        for path, form in (
            ("status", {"status": "open"}),
            ("comments", {"kind": "note", "body": "x"}),
            ("tags", {"tag": "x"}),
        ):
            answer = await desk.post(f"/tickets/{gone['id']}/{path}", **form)
            assert answer.status_code == 422 and "was merged into" in answer.text
        assert (await desk.post(f"/tickets/{kept['id']}/merge", into=gone["id"])).status_code == 422
        assert desk.state() == before


# --- the data -----------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_data_whatever_was_there(tmp_path: Path) -> None:
    path = tmp_path / "desk.db"
    digests: dict[tuple[int, str], str] = {}
    for key in ((1, "plain"), (2, "plain"), (1, "long"), (1, "plain"), (2, "plain"), (1, "long")):
        seed.write(path, key[0], {"content": key[1]})
        digest = DESK.state.read(path).digest()  # type: ignore[attr-defined]
        assert digests.setdefault(key, digest) == digest
    assert len(set(digests.values())) == 3


def test_another_process_makes_the_same_data(tmp_path: Path) -> None:
    """No hash order, clock or locale gets into the data."""
    program = "import sys; from apps.desk import seed; seed.write(sys.argv[1], 7, {'content': 'alike'})"
    there, here = tmp_path / "there.db", tmp_path / "here.db"
    subprocess.run([sys.executable, "-c", program, str(there)], cwd=ROOT, check=True)
    seed.write(here, 7, {"content": "alike"})
    assert DESK.state.read(there) == DESK.state.read(here)  # type: ignore[attr-defined]


def test_the_data_has_its_size_and_hangs_together(tmp_path: Path) -> None:
    for place, data_seed in enumerate(SEEDS):
        seed.write(tmp_path / "desk.db", data_seed, {"content": CONTENTS[place % 4]})
        tables = DESK.state.read(tmp_path / "desk.db").tables  # type: ignore[attr-defined]
        assert len(tables["agents"]) == 8 and len(tables["macros"]) == 6 and not tables["events"]
        assert 55 <= len(tables["customers"]) <= 65 and 150 <= len(tables["tickets"]) <= 200
        assert len({row["name"] for row in tables["customers"]}) == len(tables["customers"])
        assert len({row["name"] for row in tables["attachments"]}) == len(tables["attachments"]) == 16
        created = [row["created_at"] for row in tables["tickets"]]
        now = next(row["value"] for row in tables["settings"] if row["key"] == "now")
        assert created == sorted(set(created)) and created[-1] < now
        starts = {row["id"]: row["created_at"] for row in tables["tickets"]}
        assert all(starts[row["ticket_id"]] <= row["created_at"] <= now for row in tables["comments"])
        assert all(row["due_on"] is None or row["due_on"] >= row["created_at"][:10] for row in tables["tickets"])
        owners = [row["customer_id"] for row in tables["tickets"]]
        assert max(owners.count(row["id"]) for row in tables["customers"]) <= 12


def test_content_is_what_is_asked_for(tmp_path: Path) -> None:
    made = {}
    for content in CONTENTS:
        seed.write(tmp_path / "desk.db", 4, {"content": content})
        made[content] = DESK.state.read(tmp_path / "desk.db").tables  # type: ignore[attr-defined]
    longest = {content: max(len(row["subject"]) for row in tables["tickets"]) for content, tables in made.items()}
    assert longest["long"] > 2 * longest["plain"]
    subjects = {content: len({row["subject"] for row in tables["tickets"]}) for content, tables in made.items()}
    assert subjects["alike"] < subjects["plain"]
    orders = {content: sum(order in str(tables) for order in HOSTILE) for content, tables in made.items()}
    assert orders == {"plain": 0, "alike": 0, "long": 0, "hostile": len(HOSTILE)}


def test_an_unknown_appearance_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="theme cannot be 'neon'; expected one of daylight"):
        seed.write(tmp_path / "desk.db", 0, {"theme": "neon"})
    with pytest.raises(ValueError, match="no part 'colour'"):
        seed.write(tmp_path / "desk.db", 0, {"colour": "red"})
