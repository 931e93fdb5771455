"""The help desk: the app by itself, its data, its tasks, and what its verifiers let through."""

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

from uigym.apps.desk import looks, seed
from uigym.apps.desk.app import create_app
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

    async def get(self, path: str) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == 200, path
        return answer.text

    async def post(self, path: str, **form: Any) -> httpx.Response:
        return await self.http.post(path, data=form)


@asynccontextmanager
async def running(folder: Path, data_seed: int = 0, look: Mapping[str, str] | None = None) -> AsyncIterator[Desk]:
    seed.write(folder / "desk.db", data_seed, look or {})
    transport = httpx.ASGITransport(create_app(folder))
    async with httpx.AsyncClient(transport=transport, base_url="http://desk") as http:
        yield Desk(http, folder / "desk.db")


# --- the app ------------------------------------------------------------------------------------------------


def test_the_app_runs_alone() -> None:
    """It prints its address, serves, and needs nothing of uigym."""
    program = (
        "import sys; sys.modules['uigym'] = None; import runpy; runpy.run_module('apps.desk', run_name='__main__')"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "--port", "0", "--seed", "5"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert httpx.get(f"{url}/healthz").text == "ok"
        assert "Overview" in httpx.get(url).text
    finally:
        process.terminate()
        process.communicate(timeout=10)


def test_a_port_in_use_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            [sys.executable, "-m", "apps.desk", "--port", str(port)], cwd=ROOT, capture_output=True, text=True
        )
    assert run.returncode != 0
    assert f"port {port} cannot be used" in run.stderr and "--port" in run.stderr


@pytest.mark.parametrize("theme", looks.THEMES)
async def test_every_page_is_drawn(tmp_path: Path, theme: str) -> None:
    async with running(tmp_path, 3, {"theme": theme}) as desk:
        customer, ticket = desk.rows("customers")[0], desk.rows("tickets")[0]
        for path in ("/", "/tickets", "/tickets/new", "/customers", "/agents"):
            assert looks.THEMES[theme].accent in await desk.get(path)
        assert customer["phone"] in await desk.get(f"/customers/{customer['id']}")
        assert customer["email"] in await desk.get(f"/customers/{customer['id']}/edit")
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
        ("/customers/999999", 404),
        ("/tickets/99999999999999999999999", 404),
        ("/nowhere", 404),
        ("/tickets?page=99999&sort=nonsense&dir=up&assignee=x", 200),
        ("/tickets?page=-3", 200),
        ("/tickets?page=%C2%B2", 200),
        ("/tickets?q=%25%5F%5C%27", 200),
    ],
)
async def test_odd_addresses_are_answered(tmp_path: Path, path: str, code: int) -> None:
    async with running(tmp_path) as desk:
        answer = await desk.http.get(path)
    assert answer.status_code == code
    assert "Desk" in answer.text


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
        customer = desk.rows("customers", id=row["customer_id"])[0]
        assert f"#{row['id']}<" in await desk.get(f"/tickets?q={customer['name']}&priority=high&status=open")
        assert "No tickets fit" in await desk.get("/tickets?q=_")


async def test_what_people_write_is_text_and_nothing_else(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        customer = desk.rows("customers")[0]["id"]
        await desk.post("/tickets", customer=customer, subject=NASTY, priority="low", description=NASTY)
        number = desk.rows("tickets", subject=NASTY)[0]["id"]
        await desk.post(f"/tickets/{number}/comments", kind="reply", body=NASTY)
        await desk.post(f"/customers/{customer}", email="a@b.example", phone="+1 555 0100", company=NASTY)
        assert str(escape(NASTY)) in await desk.get(f"/tickets/{number}")
        pages = ["/", "/tickets", f"/tickets/{number}", f"/customers/{customer}", f"/customers/{customer}/edit"]
        pages += ["/customers", "/tickets/new", f"/tickets?q={httpx.QueryParams({'q': NASTY})['q']}"]
        for path in pages:
            text = await desk.get(path)
            assert "<script>alert" not in text
        refused = await desk.post("/tickets", customer="x", subject=NASTY, priority="low", description=NASTY)
        assert refused.status_code == 422 and "<script>alert" not in refused.text


async def test_every_change_leaves_a_line_in_the_log(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        number, agent = desk.rows("tickets", status="open", priority="low")[0]["id"], desk.rows("agents")[-1]
        forms = {
            "status": {"status": "closed"},
            "priority": {"priority": "urgent"},
            "assignee": {"assignee": agent["id"]},
            "subject": {"subject": "Another"},
            "tags": {"tag": "Brand New"},
            "tags/remove": {"tag": "brand-new"},
            "comments": {"kind": "note", "body": "Seen"},
        }
        for count, (path, form) in enumerate(forms.items(), 1):
            answer = await desk.post(f"/tickets/{number}/{path}", **form)
            assert answer.status_code == 303 and answer.headers["location"] == f"/tickets/{number}"
            assert len(desk.rows("events")) == count
        assert {event["at"] for event in desk.rows("events")} == {desk.rows("settings", key="now")[0]["value"]}
        assert "left a note" in await desk.get(f"/tickets/{number}")


@pytest.mark.parametrize(
    ("path", "form", "reason"),
    [
        ("status", {"status": "gone"}, "Choose a status"),
        ("assignee", {"assignee": "99"}, "There is no agent"),
        ("subject", {"subject": "   "}, "The subject is empty"),
        ("subject", {"subject": "x" * 201}, "at most 200"),
        ("tags", {"tag": "no/slash"}, "A tag has"),
        ("comments", {"kind": "reply", "body": " \n"}, "The reply is empty"),
        ("comments", {"kind": "shout", "body": "Hi"}, "Choose a kind"),
    ],
)
async def test_what_cannot_be_saved_is_said_and_changes_nothing(
    tmp_path: Path, path: str, form: dict[str, str], reason: str
) -> None:
    async with running(tmp_path) as desk:
        before = desk.state()
        answer = await desk.post(f"/tickets/{desk.rows('tickets')[0]['id']}/{path}", **form)
        assert answer.status_code == 422 and reason in answer.text
        assert desk.state() == before


async def test_a_bulk_change_that_fails_changes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as desk:
        before = desk.state()
        answer = await desk.post("/tickets/bulk", id=[before.tables["tickets"][0]["id"], 1], status="closed")
        assert answer.status_code == 404
        answer = await desk.post("/tickets/bulk", id=[1], status="closed", back="//elsewhere.example")
        assert answer.status_code == 404
        answer = await desk.post("/tickets/bulk", status="closed", back="//elsewhere.example")
        assert answer.headers["location"] == "/tickets"
        assert desk.state() == before


# --- the data -----------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_data_whatever_was_there(tmp_path: Path) -> None:
    path = tmp_path / "desk.db"
    digests = {}
    for data_seed in (1, 2, 1, 3, 2, 1):
        seed.write(path, data_seed, {})
        digest = DESK.state.read(path).digest()  # type: ignore[attr-defined]
        assert digests.setdefault(data_seed, digest) == digest
    assert len(set(digests.values())) == 3


def test_another_process_makes_the_same_data(tmp_path: Path) -> None:
    """No hash order, clock or locale gets into the data."""
    program = "import sys; from apps.desk import seed; seed.write(sys.argv[1], 7, {})"
    there, here = tmp_path / "there.db", tmp_path / "here.db"
    subprocess.run([sys.executable, "-c", program, str(there)], cwd=ROOT, check=True)
    seed.write(here, 7, {})
    assert DESK.state.read(there) == DESK.state.read(here)  # type: ignore[attr-defined]


@pytest.mark.parametrize("data_seed", SEEDS)
def test_the_data_has_its_size_and_hangs_together(tmp_path: Path, data_seed: int) -> None:
    seed.write(tmp_path / "desk.db", data_seed, {})
    tables = DESK.state.read(tmp_path / "desk.db").tables  # type: ignore[attr-defined]
    assert len(tables["agents"]) == 8 and not tables["events"]
    assert 55 <= len(tables["customers"]) <= 65 and 150 <= len(tables["tickets"]) <= 200
    assert len({row["name"] for row in tables["customers"]}) == len(tables["customers"])
    created = [row["created_at"] for row in tables["tickets"]]
    now = next(row["value"] for row in tables["settings"] if row["key"] == "now")
    assert created == sorted(set(created)) and created[-1] < now
    starts = {row["id"]: row["created_at"] for row in tables["tickets"]}
    assert all(starts[row["ticket_id"]] <= row["created_at"] <= now for row in tables["comments"])
    owners = [row["customer_id"] for row in tables["tickets"]]
    assert max(owners.count(row["id"]) for row in tables["customers"]) <= 12


def test_an_unknown_appearance_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="theme cannot be 'neon'; expected one of daylight"):
        seed.write(tmp_path / "desk.db", 0, {"theme": "neon"})
    with pytest.raises(ValueError, match="no part 'colour'"):
        seed.write(tmp_path / "desk.db", 0, {"colour": "red"})
