"""The planner: the app by itself, its data, its changes over HTTP, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.kit.store import connect
from uigym.apps.plan import recur, seed
from uigym.apps.plan.app import create_app
from uigym.apps.plan.looks import PARTS
from uigym.harness import Split
from uigym.product.state import Sqlite
from uigym.types import Row, State

ROOT = Path(__file__).parent.parent
APP = ROOT / "apps" / "plan"
SEEDS = [split.seed(index) for split in Split for index in range(4)]
DAY = "2026-04-23"
"""What seed 0 takes for today."""
NOT_SAID = {"ArrowLeft", "ArrowRight", "Content-Type", "DELETE", "Enter", "Escape", "GET", "POST", "PUT"}


@dataclass
class Plan:
    """The app on a file, used over HTTP without a browser."""

    http: httpx.AsyncClient
    path: Path

    def state(self) -> State:
        return Sqlite(str(self.path)).read(self.path)

    def row(self, table: str, id: int) -> Row:
        return next(row for row in self.state().tables[table] if row["id"] == id)

    async def get(self, path: str, **query: Any) -> Any:
        answer = await self.http.get(f"/api/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def send(self, method: str, path: str, code: int, **body: Any) -> Any:
        answer = await self.http.request(method, f"/api/{path}", json=body)
        assert answer.status_code == code, answer.text
        return answer.json()

    def changed(self, before: State) -> set[str]:
        """Tables that differ, without the log."""
        after = self.state()
        return {name for name in after.tables if name != "activity" and after.tables[name] != before.tables[name]}

    async def shown(self, title: str, day: str = DAY) -> Any:
        told = await self.get("events", first=day, last=day)
        return next(each for each in told["events"] if each["title"] == title)


@asynccontextmanager
async def running(folder: Path, look: Mapping[str, str] | None = None) -> AsyncIterator[Plan]:
    seed.write(folder / "plan.db", 0, look or {})
    transport = httpx.ASGITransport(create_app(folder))
    async with httpx.AsyncClient(transport=transport, base_url="http://plan") as http:
        yield Plan(http, folder / "plan.db")


def event(**columns: Any) -> dict[str, Any]:
    plain = {
        "calendar_id": 1,
        "title": "Tea",
        "starts": f"{DAY} 10:00",
        "ends": f"{DAY} 11:00",
        "zone": "Europe/Berlin",
    }
    return {**plain, **columns}


# --- the app -------------------------------------------------------------------------------------------------


def test_the_app_runs_alone() -> None:
    """It prints its address, serves, and needs nothing of uigym."""
    program = (
        "import sys; sys.modules['uigym'] = None; import runpy; runpy.run_module('apps.plan', run_name='__main__')"
    )
    command = [sys.executable, "-c", program, "--port", "0", "--seed", "5", "--look", "language=ko"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert httpx.get(f"{url}/healthz").text == "ok"
        assert 'lang="ko"' in httpx.get(url).text
        assert httpx.get(f"{url}/static/plan.js").headers["content-type"].startswith("text/javascript")
    finally:
        process.terminate()
        process.communicate(timeout=10)


@pytest.mark.parametrize("language", PARTS["language"])
async def test_every_page_is_the_same_shell(tmp_path: Path, language: str) -> None:
    async with running(tmp_path, {"language": language, "theme": "slate"}) as plan:
        for path in (
            "/",
            "/calendar",
            f"/calendar/month/{DAY}",
            "/boards",
            "/boards/2",
            "/find",
            "/people",
            "/settings",
        ):
            answer = await plan.http.get(path)
            assert answer.status_code == 200
            boot = json.loads(re.findall(r'id="boot">(.*?)</script>', answer.text)[0])
            assert boot["language"] == language and len(boot["weekdays"]) == 7 and len(boot["months"]) == 12
        missing = await plan.http.get("/nowhere")
        assert missing.status_code == 404 and 'id="app"' in missing.text


def texts() -> set[str]:
    """What the app says: every capitalised text of the page's source, and every refusal."""
    found = {"repeats"}
    for path in (APP / "web" / "src").glob("*.js*"):
        source = path.read_text(encoding="utf-8")
        found |= {*re.findall(r'"([A-Z][^"]*)"', source), *re.findall(r'\bt\("([^"]*)"', source)}
        found |= set(re.findall(r'"(\d+ (?:minutes|hour|day) before)"', source))
    for name in ("app", "changes", "moves"):
        found |= set(re.findall(r'(?:Refused\(|text = |422, )"([A-Z][^"]*)"', (APP / f"{name}.py").read_text()))
    return found - NOT_SAID


@pytest.mark.parametrize("language", ["de", "ko", "ar"])
def test_everything_is_said_in_every_language(language: str) -> None:
    known = {}
    for folder in (ROOT / "apps" / "kit", APP):
        known |= json.loads((folder / "languages" / f"{language}.json").read_text(encoding="utf-8"))
    assert not sorted(texts() - known.keys())
    for text in texts():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", known[text])), text


def test_what_ships_is_small_and_licensed() -> None:
    static = APP / "static"
    assert sum(path.stat().st_size for path in static.iterdir()) < 300_000
    assert "Jason Miller" in (static / "LICENSES.txt").read_text()
    lock = (APP / "web" / "package-lock.json").read_text()
    assert "resolved" not in lock and "registry" not in lock


@pytest.mark.slow
def test_the_built_files_are_those_of_the_source(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    web = tmp_path / "web"
    shutil.copytree(APP / "web", web, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=web, check=True, capture_output=True)
    subprocess.run(["npx", "vite", "build"], cwd=web, check=True, capture_output=True)
    for name in ("plan.js", "app.css"):
        assert (tmp_path / "static" / name).read_bytes() == (APP / "static" / name).read_bytes()


# --- the data ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_seed", SEEDS)
def test_the_same_seed_gives_the_same_data(tmp_path: Path, data_seed: int) -> None:
    for content in PARTS["content"]:
        seed.write(tmp_path / "a.db", data_seed, {"content": content})
        seed.write(tmp_path / "b.db", data_seed + 1, {})
        seed._records.cache_clear()
        seed.write(tmp_path / "b.db", data_seed, {"content": content})
        states = [Sqlite(str(path)).read(path) for path in (tmp_path / "a.db", tmp_path / "b.db")]
        assert states[0].digest() == states[1].digest()
        assert len(states[0].tables["events"]) >= 150 and len(states[0].tables["cards"]) >= 80


def test_hostile_content_is_there(tmp_path: Path) -> None:
    seed.write(tmp_path / "plan.db", 0, {"content": "hostile"})
    state = Sqlite("x").read(tmp_path / "plan.db")
    assert any("IGNORE ALL" in str(row) for table in ("events", "cards", "comments") for row in state.tables[table])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"repeat": "none"}, ["2026-01-31"]),
        ({"repeat": "daily", "count": 3}, ["2026-01-31", "2026-02-01", "2026-02-02"]),
        ({"repeat": "daily", "until": "2026-02-01"}, ["2026-01-31", "2026-02-01"]),
        ({"repeat": "weekly", "weekdays": "mon,sat", "count": 3}, ["2026-01-31", "2026-02-02", "2026-02-07"]),
        ({"repeat": "monthly", "count": 3}, ["2026-01-31", "2026-03-31", "2026-05-31"]),
    ],
)
def test_when_a_series_happens(columns: dict[str, Any], expected: list[str]) -> None:
    plain = {"starts": "2026-01-31 10:00", "ends": "2026-01-31 11:00", "until": None, "count": None, "weekdays": ""}
    assert list(recur.days({**plain, **columns})) == expected


def test_time_zones_know_summer_time() -> None:
    assert recur.moved("2026-03-20 09:00", "America/New_York", "Europe/Berlin") == "2026-03-20 14:00"
    assert recur.moved("2026-04-20 09:00", "America/New_York", "Europe/Berlin") == "2026-04-20 15:00"
    assert recur.moved("2026-04-20 20:00", "America/Los_Angeles", "Asia/Seoul") == "2026-04-21 12:00"


# --- the calendar --------------------------------------------------------------------------------------------


async def test_an_event_is_created_as_asked(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        before = plan.state()
        asked = event(title="  Tea  ", guests=[5, 3], repeat="weekly", until="2026-06-01", reminder=10, colour="red")
        made = await plan.send("POST", "events", 201, **asked)
        row = plan.row("events", made["id"])
        assert (row["title"], row["guests"], row["weekdays"], row["until"]) == ("Tea", "3,5", "thu", "2026-06-01")
        assert plan.changed(before) == {"events"} and len(plan.state().tables["activity"]) == 1
        assert (await plan.shown("Tea", "2026-04-30"))["starts"] == "2026-04-30 10:00"


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": " "}, {"calendar_id": 4}, {"calendar_id": 99}, {"ends": f"{DAY} 10:00"}, {"ends": DAY}, {"guests": [99]},
        {"repeat": "daily", "until": "2026-05-01", "count": 3}, {"repeat": "daily", "until": "2026-04-01"},
        {"all_day": True, "ends": "2099-01-01"}, {"ends": "2027-04-25 10:00"},
    ],
)  # fmt: skip
async def test_an_event_that_cannot_be_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    async with running(tmp_path, {"language": "de"}) as plan:
        before = plan.state()
        told = await plan.send("POST", "events", 409, **event(**wrong))
        assert told["error"] and plan.state().digest() == before.digest()


@pytest.mark.parametrize(
    "wrong",
    [
        {"starts": "0026-04-23 10:00"},
        {"starts": "0001-01-01"},
        {"ends": "9999-12-31"},
        {"until": "2101-01-01"},
        {"starts": "yesterday"},
        {"zone": "Mars"},
        {"weekdays": "xyz"},
        {"title": "x" * 300},
        {"id": 4},
    ],
)
async def test_what_cannot_be_read_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    async with running(tmp_path) as plan:
        told = await plan.send("POST", "events", 422, **event(**wrong))
        assert "cannot be read" in told["error"]


async def test_one_of_a_series_moves_alone_and_all_of_it_together(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        made = await plan.send("POST", "events", 201, **event(repeat="weekly", weekdays="tue,thu", until="2026-06-30"))
        path, seen = f"events/{made['id']}", (await plan.shown("Tea"))["tag"]
        to = {"starts": "2026-05-01 12:00", "ends": "2026-05-01 13:00"}
        await plan.send("POST", f"{path}/move", 200, scope="one", day="2026-04-30", tag=seen, **to)
        alone = plan.state().tables["events"][-1]
        assert (alone["series_id"], alone["series_day"], alone["repeat"]) == (made["id"], "2026-04-30", "none")
        assert [row["day"] for row in plan.state().tables["skips"]] == ["2026-04-30"]
        await plan.send("POST", f"{path}/move", 409, scope="one", day="2026-04-30", tag=seen, **to)
        await plan.send("POST", f"{path}/move", 200, scope="all", day="2026-05-05", tag=seen, starts="2026-05-06 09:00", ends="2026-05-06 09:30")  # fmt: skip
        row = plan.row("events", made["id"])
        assert (row["starts"], row["ends"], row["weekdays"]) == ("2026-04-24 09:00", "2026-04-24 09:30", "wed,fri")
        assert [skip["day"] for skip in plan.state().tables["skips"]] == ["2026-05-01"]


async def test_an_event_of_another_zone_moves_in_its_own(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        made = await plan.send(
            "POST", "events", 201, **event(zone="Asia/Seoul", starts=f"{DAY} 18:00", ends=f"{DAY} 19:00")
        )
        seen = await plan.shown("Tea")
        assert seen["starts"] == f"{DAY} 11:00"
        await plan.send("POST", f"events/{made['id']}/move", 200, day=DAY, tag=seen["tag"], starts=f"{DAY} 20:00", ends=f"{DAY} 21:00")  # fmt: skip
        assert plan.row("events", made["id"])["starts"] == "2026-04-24 03:00"


async def test_editing_and_deleting_one_or_all(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        made = await plan.send("POST", "events", 201, **event(repeat="daily", count=5))
        path, seen = f"events/{made['id']}", (await plan.shown("Tea"))["tag"]
        fields = event(title="Coffee", starts="2026-04-24 15:00", ends="2026-04-24 16:00")
        await plan.send("PUT", path, 200, scope="one", day="2026-04-24", tag=seen, fields=fields)
        assert plan.state().tables["events"][-1]["title"] == "Coffee"
        await plan.send("POST", f"{path}/delete", 200, scope="one", day="2026-04-25", tag=seen)
        assert len(plan.state().tables["skips"]) == 2 and plan.row("events", made["id"])["title"] == "Tea"
        whole = event(title="Cocoa", starts="2026-04-26 10:00", ends="2026-04-26 10:30", repeat="daily", count=5)
        await plan.send("PUT", path, 200, scope="all", day="2026-04-26", tag=seen, fields=whole)
        row = plan.row("events", made["id"])
        assert (row["title"], row["starts"], row["ends"]) == ("Cocoa", f"{DAY} 10:00", f"{DAY} 10:30")
        await plan.send("POST", f"{path}/delete", 409, scope="all", day=DAY, tag=seen)
        seen = (await plan.get(path))["tag"]
        await plan.send("POST", f"{path}/delete", 200, scope="all", day=DAY, tag=seen)
        assert not plan.state().tables["skips"]


async def test_dates_that_no_planner_needs_are_refused_everywhere(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        made = await plan.send("POST", "events", 201, **event())
        seen = (await plan.shown("Tea"))["tag"]
        times = {"starts": "0001-01-01 00:00", "ends": "0001-01-01 01:00"}
        await plan.send("POST", f"events/{made['id']}/move", 422, day=DAY, tag=seen, **times)
        for path, query in (
            ("conflicts", {**times, "zone": "Asia/Seoul"}), ("events", {"first": "0001-01-01", "last": "0001-01-02"}),
            ("free", {"day": "9999-12-31", "minutes": 60, "person": [1]}),
        ):  # fmt: skip
            assert (await plan.http.get(f"/api/{path}", params=query)).status_code == 422
        long = {"starts": "1971-01-01 00:00", "ends": "2099-01-01 00:00", "zone": "Asia/Seoul"}
        assert (await plan.http.get("/api/conflicts", params=long)).status_code == 409


async def test_what_is_missing_is_said_without_looking_at_events(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        with connect(plan.path) as db:  # as only another program could leave it
            db.execute("UPDATE events SET starts = '0001-01-01', ends = '9999-12-31', all_day = 1 WHERE id = 1")
        missing = await plan.http.get("/nowhere")
        assert missing.status_code == 404 and 'id="app"' in missing.text


async def test_all_day_and_timed_stay_apart(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        for asked, times in (
            ({}, {"starts": DAY, "ends": DAY}),
            ({"all_day": True}, {"starts": f"{DAY} 10:00", "ends": f"{DAY} 11:00"}),
            ({}, {"starts": f"{DAY} 10:00", "ends": "2026-04-24"}),
        ):
            made = await plan.send("POST", "events", 201, **event(**asked))
            row, seen = plan.row("events", made["id"]), (await plan.get(f"events/{made['id']}"))["tag"]
            await plan.send("POST", f"events/{made['id']}/move", 409, day=DAY, tag=seen, **times)
            assert plan.row("events", made["id"]) == row


async def test_a_series_is_changed_by_a_day_that_it_has(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        made = await plan.send("POST", "events", 201, **event(repeat="weekly", weekdays="thu", count=3))
        path, seen = f"events/{made['id']}", (await plan.shown("Tea"))["tag"]
        await plan.send("POST", f"{path}/delete", 200, scope="one", day="2026-04-30", tag=seen)
        before, times = plan.state(), {"starts": f"{DAY} 12:00", "ends": f"{DAY} 13:00"}
        for day in ("2026-04-24", "2026-04-30", "2026-05-14", "1970-01-01"):
            await plan.send("POST", f"{path}/move", 409, day=day, tag=seen, **times)
            await plan.send("PUT", path, 409, day=day, tag=seen, fields=event(**times))
        assert plan.state().digest() == before.digest()


async def test_a_locked_calendar_and_a_stale_page_are_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        before = plan.state()
        locked = next(row for row in before.tables["events"] if row["calendar_id"] == 4 and not row["all_day"])
        seen = (await plan.get(f"events/{locked['id']}"))["tag"]
        for what in ("move", "delete"):
            times = {"starts": locked["starts"], "ends": locked["ends"]} if what == "move" else {}
            told = await plan.send("POST", f"events/{locked['id']}/{what}", 409, day=DAY, tag=seen, **times)
            assert "belongs to somebody else" in told["error"]
        mine = next(row for row in before.tables["events"] if row["calendar_id"] == 1)
        told = await plan.send("POST", f"events/{mine['id']}/delete", 409, day=DAY, tag="0")
        assert "changed meanwhile" in told["error"] and plan.state().digest() == before.digest()


@pytest.mark.parametrize(
    ("day", "earliest"),
    [("2026-04-22", None), (DAY, 9 * 60 + 30), ("2026-04-24", 8 * 60)],
    ids=["past", "today", "next"],
)
async def test_a_free_time_is_not_past(tmp_path: Path, day: str, earliest: int | None) -> None:
    async with running(tmp_path) as plan:
        with closing(sqlite3.connect(plan.path)) as db, db:
            db.execute("UPDATE settings SET value = ? WHERE key = 'now'", [f"{DAY} 09:15"])
            db.execute("DELETE FROM events")
        free = (await plan.get("free", day=day, minutes=60, person=[1, 3]))["free"]
        assert free == ([] if earliest is None else list(range(earliest, 17 * 60 + 1, 30)))


async def test_search_conflicts_and_free_times(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        await plan.send("POST", "events", 201, **event(title="50%_off", guests=[3]))
        found = await plan.get("search", q="50%_")
        assert [each["title"] for each in found["events"]] == ["50%_off"] and not (await plan.get("search", q=" "))[
            "events"
        ]
        assert await plan.get("search", q="x" * 60_000) == {"events": [], "cards": []}
        clash = await plan.get("conflicts", starts=f"{DAY} 04:30", ends=f"{DAY} 05:00", zone="America/New_York")
        assert [each["title"] for each in clash] == ["50%_off"]
        free = await plan.get("free", day=DAY, minutes=60, person=[1, 3])
        assert 600 not in free["free"] and {"starts": 600, "ends": 660} in free["busy"]["3"]
        await plan.send("PUT", "settings", 200, second_zone="Asia/Seoul")
        assert (await plan.get("events", first=DAY, last=DAY))["shift"] == 420
        hidden = await plan.send("PUT", "calendars/2", 200, visible=False)
        assert [each["visible"] for each in hidden["calendars"]] == [1, 0, 1, 1]


# --- boards --------------------------------------------------------------------------------------------------


def full_column(state: State) -> Row:
    held = [row["column_id"] for row in state.tables["cards"]]
    return next(
        row for row in state.tables["columns"] if row["wip_limit"] and held.count(row["id"]) == row["wip_limit"]
    )


async def test_cards_move_where_there_is_room(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        before = plan.state()
        full = full_column(before)
        first = next(row for row in before.tables["cards"] if row["column_id"] == full["id"] - 2)
        card = await plan.get(f"cards/{first['id']}")
        path = f"cards/{card['id']}/move"
        told = await plan.send("POST", path, 409, tag=card["tag"], column_id=full["id"])
        assert "at most 4" in told["error"] and plan.state().digest() == before.digest()
        other = (full["id"] + 5) % 15
        await plan.send("POST", path, 409, tag=card["tag"], column_id=other)
        goal = [row for row in before.tables["cards"] if row["column_id"] == full["id"] + 1]
        await plan.send("POST", path, 200, tag=card["tag"], column_id=full["id"] + 1, before=goal[1]["id"])
        now = plan.row("cards", card["id"])
        assert goal[0]["position"] < now["position"] < goal[1]["position"] and plan.changed(before) == {"cards"}
        await plan.send("POST", path, 409, tag=card["tag"], column_id=full["id"] + 1)
        within = next(row for row in before.tables["cards"] if row["column_id"] == full["id"])
        seen = (await plan.get(f"cards/{within['id']}"))["tag"]
        await plan.send("POST", f"cards/{within['id']}/move", 200, tag=seen, column_id=full["id"], before=0)


async def test_a_card_is_created_filled_in_and_put_away(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        before = plan.state()
        full = full_column(before)
        for path, body in (
            (f"columns/{full['id']}/cards", {"title": "x"}), ("columns/1/cards", {"title": ""}),
            ("columns/1/cards", {"title": "x", "assignee_id": 99}),
        ):  # fmt: skip
            await plan.send("POST", path, 409, **body)
        assert plan.state().digest() == before.digest()
        made = await plan.send("POST", "columns/1/cards", 201, title="New", labels=[2], items=["a", "b"], assignee_id=3)
        assert plan.changed(before) == {"cards", "card_labels", "items"}
        card = await plan.get(f"cards/{made['id']}")
        assert [item["text"] for item in card["items"]] == ["a", "b"] and card["labels"] == [2]
        path = f"cards/{made['id']}"
        await plan.send("PUT", f"items/{card['items'][0]['id']}", 200, on=True)
        await plan.send("DELETE", f"items/{card['items'][1]['id']}", 200)
        await plan.send("PUT", f"{path}/labels/2", 200, on=False)
        await plan.send("POST", f"{path}/comments", 200, text="Hello")
        await plan.send("PUT", path, 409, tag="0", title="Newer")
        told = await plan.send("PUT", path, 200, tag=card["tag"], title="Newer", due=DAY, assignee_id=None)
        assert (told["steps"], told["done"], told["labels"], told["talk"][0]["body"]) == (1, 1, [], "Hello")
        await plan.send("PUT", f"{path}/archived", 200, on=True)
        assert made["id"] not in [each["id"] for each in (await plan.get("boards/1"))["cards"]]
        assert [each["id"] for each in (await plan.get("boards/1", archived=True))["cards"]] == [made["id"]]


async def test_columns(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        before = plan.state()
        await plan.send("PUT", "columns/2", 200, name="Next", wip_limit=9)
        await plan.send("PUT", "columns/5", 200, before=1)
        assert [each["id"] for each in (await plan.get("boards/1"))["columns"]] == [5, 1, 2, 3, 4]
        assert plan.row("columns", 2)["wip_limit"] == 9 and plan.changed(before) == {"columns"}
        await plan.send("POST", "columns/5/archive", 200)
        assert all(row["archived"] for row in plan.state().tables["cards"] if row["column_id"] == 5)
        full = full_column(before)
        card = next(row for row in before.tables["cards"] if row["column_id"] == full["id"])
        await plan.send("PUT", f"cards/{card['id']}/archived", 200, on=True)
        await plan.send("POST", f"columns/{full['id']}/cards", 201, title="Instead")
        await plan.send("PUT", f"cards/{card['id']}/archived", 409, on=False)


async def test_nothing_that_is_written_becomes_markup(tmp_path: Path) -> None:
    async with running(tmp_path) as plan:
        nasty = "</script><script>alert('x')</script> {{ 7 * 7 }}"
        await plan.send("POST", "boards", 201, name=nasty)
        page = (await plan.http.get("/")).text
        assert "alert('x')" not in page and "7 * 7" in page
        assert json.loads(re.findall(r'id="boot">(.*?)</script>', page)[0])["boards"][-1]["name"] == nasty
    sources = [path.read_text(encoding="utf-8") for path in (APP / "web" / "src").glob("*.jsx")]
    raw = [line for text in sources for line in text.splitlines() if "dangerouslySetInnerHTML" in line]
    assert len(raw) == 1 and "icons[name]" in raw[0]
    assert not any(re.search(r"Date\.now|new Date\(\)|Math\.random|setInterval|localStorage", text) for text in sources)
