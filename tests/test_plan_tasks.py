"""The planner's tasks: drawn for every seed, solved by their oracles, and paid for nothing less."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.kit.store import connect
from uigym.apps.plan import looks, seed
from uigym.apps.plan.app import create_app
from uigym.apps.plan.recur import between, later
from uigym.harness import Instance, Split
from uigym.policy.scripted import OraclePolicy
from uigym.registry import load
from uigym.rollout import Request, rollout
from uigym.types import Episode, State, Stop, Verdict

PLAN = load("plan")
SEEDS = [split.seed(index) for split in Split for index in range(12)]
SKILLS = {"navigate", "find", "form", "edit", "multi-step", "drag", "date", "compare", "answer", "refuse", "table"}
Call = tuple[str, str, dict[str, Any]]


@dataclass
class Attempt:
    """One task on one seed's data, acted on over HTTP."""

    http: httpx.AsyncClient
    path: Path
    instance: Instance
    before: State

    async def send(self, calls: list[Call]) -> None:
        for method, path, body in calls:
            for kind in ("events", "cards"):  # what the page had seen of the record
                if "tag" in body and path.startswith(f"{kind}/"):
                    row = await self.http.get(f"/api/{kind}/{path.split('/')[1]}")
                    body = {**body, "tag": row.json()["tag"]}
            answer = await self.http.request(method, f"/api/{path}", json=body)
            assert answer.status_code in (200, 201, 409), (path, answer.text)

    def verdict(self, answer: str | None = None, url: str = "") -> Verdict:
        after = PLAN.state.read(self.path)  # type: ignore[attr-defined]
        stop = Stop.DONE if answer is None else Stop.ANSWERED
        task, params, said = self.instance.task.name, self.instance.params, self.instance.instruction
        episode = Episode(
            "e", "plan", task, self.instance.seed, params, said, (), stop,
            answer=answer, url=url, before=self.before, after=after,
        )  # fmt: skip
        return self.instance.verifier(episode)


@asynccontextmanager
async def attempt(folder: Path, task: str, data_seed: int = 0) -> AsyncIterator[Attempt]:
    path = folder / "plan.db"
    seed.write(path, data_seed, {})
    before = PLAN.state.read(path)  # type: ignore[attr-defined]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(folder)), base_url="http://plan") as http:
        yield Attempt(http, path, PLAN.tasks[task].instance(data_seed, before), before)


def written(event: Mapping[str, Any], **columns: Any) -> dict[str, Any]:
    """The fields that the dialog sends for an event as it is."""
    kept = ("calendar_id", "title", "place", "starts", "ends", "zone", "repeat", "weekdays", "until", "count", "reminder",
            "notes", "colour")  # fmt: skip
    guests = [int(id) for id in event["guests"].split(",") if id]
    return {**{name: event[name] for name in kept}, "guests": guests, **columns}


def edit(event: Mapping[str, Any], **columns: Any) -> list[Call]:
    body = {"tag": "", "day": event["starts"][:10], "fields": written(event, **columns)}
    return [("PUT", f"events/{event['id']}", body)]


def move(event: Mapping[str, Any], starts: str, ends: str, **which: Any) -> list[Call]:
    body = {"tag": "", "day": event["day"], "starts": starts, "ends": ends, **which}
    return [("POST", f"events/{event['key']}/move", body)]


def new(**fields: Any) -> list[Call]:
    return [("POST", "events", {"zone": "Europe/Berlin", "calendar_id": 1, **fields})]


def fields_of(card: Mapping[str, Any], **columns: Any) -> list[Call]:
    kept = {name: card[name] for name in ("title", "description", "assignee_id", "due")}
    return [("PUT", f"cards/{card['id']}", {"tag": "", **kept, **columns})]


def to_column(card: Mapping[str, Any], column: int, before: int = 0) -> list[Call]:
    return [("POST", f"cards/{card['id']}/move", {"tag": "", "column_id": column, "before": before})]


SOLUTIONS: dict[str, Callable[[Mapping[str, Any]], list[Call]]] = {
    "create_event": lambda p: new(
        title=p["title"], calendar_id=p["calendar"]["id"], starts=f"{p['on']['day']} {p['begins']}", ends=f"{p['on']['day']} {p['ends']}"
    ),
    "other_zone": lambda p: new(
        title=p["title"], zone=ZONES[p["city"]], starts=f"{p['on']['day']} {p['begins']}", ends=f"{p['on']['day']} 18:00"
    ),
    "add_guest": lambda p: edit(p["event"], guests=[*written(p["event"])["guests"], p["guest"]["id"]]),
    "change_place": lambda p: edit(p["event"], place=p["place"]),
    "delete_event": lambda p: [
        ("POST", f"events/{p['event']['id']}/delete", {"tag": "", "day": p["event"]["starts"][:10]})
    ],
    "cancel_one": lambda p: [
        ("POST", f"events/{p['event']['key']}/delete", {"tag": "", "day": p["event"]["day"], "scope": "one"})
    ],
    "change_one": lambda p: move(
        p["event"], f"{p['event']['day']} {p['begins']}", f"{p['event']['day']} {p['ends']}", scope="one"
    ),
    "move_to_day": lambda p: move(p["event"], *(f"{p['to']['day']} {p['event'][end][11:]}" for end in ("starts", "ends"))),
    "move_series": lambda p: move(p["event"], *(f"{p['to']['day']} {p['event'][end][11:]}" for end in ("starts", "ends"))),
    "resize": lambda p: move(p["event"], p["event"]["starts"], f"{p['event']['day']} {p['ends']}"),
    "second_zone": lambda p: [("PUT", "settings", {"second_zone": ZONES[p["city"]]})],
    "move_card": lambda p: to_column(p["card"], p["to"]["id"]),
    "card_to_top": lambda p: to_column(p["card"], p["card"]["column_id"], p["card"]["top"]["id"]),
    "set_due": lambda p: fields_of(p["card"], due=p["due"]["day"]),
    "tick_steps": lambda p: [("PUT", f"items/{p['card'][which]['id']}", {"on": True}) for which in ("first", "second")],
    "add_label": lambda p: [("PUT", f"cards/{p['card']['id']}/labels/{p['label']['id']}", {"on": True})],
    "archive_done": lambda p: [("POST", f"columns/{p['column']['id']}/archive", {})],
    "create_card": lambda p: [
        (
            "POST",
            f"columns/{5 * (p['board']['id'] - 1) + 2}/cards",
            {
                "title": p["title"], "labels": [p["label"]["id"]], "assignee_id": p["person"]["id"],
                "items": [p["first"], p["second"]],
            },
        )
    ],
    "rename_column": lambda p: [("PUT", f"columns/{p['column']['id']}", {"name": p["name"]})],
    "column_to_front": lambda p: [("PUT", f"columns/{p['column']['id']}", {"before": 5 * (p["board"]["id"] - 1) + 1})],
    "reassign_label": lambda p: [call for card in p["group"]["cards"] for call in fields_of(card, assignee_id=p["person"]["id"])],
    "start_with_room": lambda p: to_column(p["card"], p["card"]["goal"]["id"]),
}  # fmt: skip
"""How tasks that change something are done; at least one for each shape of verifier."""
ZONES = {"Los Angeles": "America/Los_Angeles", "New York": "America/New_York", "London": "Europe/London",
         "Dubai": "Asia/Dubai", "Seoul": "Asia/Seoul", "Sydney": "Australia/Sydney"}  # fmt: skip
WRONG: dict[str, Callable[[Any], Any]] = {
    "guests": lambda value: value[:-1],
    "due": lambda value: f"{value[:-2]}{'11' if value[-2:] != '11' else '12'}",
    "place": lambda value: value + "!",
    "assignee_id": lambda value: value % 12 + 1,
    "title": lambda value: value + ".",
    "ends": lambda value: f"{value[:10]} 23:45",
    "name": lambda value: value + "s",
    "second_zone": lambda value: "Europe/Berlin",
    "column_id": lambda value: value + 1 if value % 5 else value - 1,
    "on": lambda value: not value,
}


def with_wrong_value(calls: list[Call]) -> list[Call]:
    """The same acts with one wrong value in the last of them."""
    *rest, (method, path, body) = calls
    for holder in (body.get("fields", {}), body):
        for name, other in WRONG.items():
            if name in holder and holder[name] not in ([], None):
                holder[name] = other(holder[name])
                return [*rest, (method, path, body)]
    return rest


def on_another(calls: list[Call], state: State) -> list[Call]:
    """The same acts on the record with the next number."""
    moved = []
    for method, path, body in calls:
        kind, _, rest = path.partition("/")
        number, _, what = rest.partition("/")
        if not number:
            return []
        ids = [row["id"] for row in state.tables[kind] if row.get("calendar_id") != 4]
        moved.append((method, f"{kind}/{ids[(ids.index(int(number)) + 1) % len(ids)]}{what and f'/{what}'}", body))
    return moved


EXTRA: Call = ("PUT", "columns/1", {"name": "Oops"})


@pytest.mark.parametrize("data_seed", SEEDS)
def test_every_task_can_be_drawn(tmp_path: Path, data_seed: int) -> None:
    seed.write(tmp_path / "plan.db", data_seed, PLAN.appearance(data_seed))
    state = PLAN.state.read(tmp_path / "plan.db")  # type: ignore[attr-defined]
    for task in PLAN.tasks.values():
        assert "{" not in task.instance(data_seed, state).instruction


@pytest.mark.parametrize("data_seed", SEEDS[::6])
def test_what_a_series_is_asked_to_be_is_said_and_likely(tmp_path: Path, data_seed: int) -> None:
    seed.write(tmp_path / "plan.db", data_seed, {})
    state = PLAN.state.read(tmp_path / "plan.db")  # type: ignore[attr-defined]
    daily = PLAN.find_task("daily_times").instance(data_seed, state).params
    begins, ends = (int(daily[key][:2]) * 60 + int(daily[key][3:]) for key in ("begins", "ends"))
    assert 15 <= ends - begins <= 120
    weekly = PLAN.find_task("weekly_until").instance(data_seed, state)
    assert f"repeats until {weekly.params['until']['said']}" in weekly.instruction


def test_every_task_is_whole() -> None:
    for task in PLAN.tasks.values():
        assert task.solve is not None and len(task.wordings) >= 2 and task.heldout_wordings, task.name
        assert task.expected_steps is not None and task.expected_steps * 2.5 <= task.max_steps, task.name
        *skills, level = task.tags
        assert skills and {*skills} <= SKILLS and level in ("easy", "medium", "hard"), task.name


def test_held_out_looks_are_held_out() -> None:
    seen = {part: {PLAN.appearance(Split.TRAIN.seed(i))[part] for i in range(200)} for part in PLAN.looks}
    held = {part: {PLAN.appearance(Split.HELDOUT.seed(i))[part] for i in range(200)} for part in PLAN.looks}
    assert not any(held[part] & seen[part] for part in ("theme", "columns", "nav"))
    assert "ar" not in seen["language"] and "hostile" not in seen["content"]
    for part, values in looks.PARTS.items():
        assert seen[part] | held[part] == set(values)


@pytest.mark.parametrize("task", SOLUTIONS)
async def test_the_asked_changes_pass(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task, Split.HELDOUT.seed(3)) as play:
        assert play.verdict().score == 0
        await play.send(SOLUTIONS[task](play.instance.params))
        verdict = play.verdict()
    assert verdict.success, verdict.reason


@pytest.mark.parametrize("miss", ["another", "wrong value", "extra", "half"])
@pytest.mark.parametrize("task", SOLUTIONS)
async def test_near_misses_do_not_pass(tmp_path: Path, task: str, miss: str) -> None:
    async with attempt(tmp_path, task) as play:
        calls = SOLUTIONS[task](play.instance.params)
        acts = {"another": on_another, "wrong value": lambda calls, _: with_wrong_value(calls)}
        chosen = acts.get(miss, lambda calls, _: [*calls, EXTRA] if miss == "extra" else calls[:-1])(calls, play.before)
        await play.send(chosen)
        verdict = play.verdict()
    assert not verdict.success and verdict.score < 1
    if miss == "extra" and task != "rename_column":
        assert verdict.score == 0


@pytest.mark.parametrize("more", [{"notes": "x"}, {"colour": "red"}, {"reminder": 30}])
async def test_one_of_a_series_is_otherwise_as_it_was(tmp_path: Path, more: dict[str, Any]) -> None:
    async with attempt(tmp_path, "change_one") as play:
        p = play.instance.params
        day = p["event"]["day"]
        (row,) = [row for row in play.before.tables["events"] if row["id"] == p["event"]["key"]]
        times = {"starts": f"{day} {p['begins']}", "ends": f"{day} {p['ends']}"}
        body = {"tag": "", "day": day, "scope": "one", "fields": written(row, **times, **more)}
        await play.send([("PUT", f"events/{row['id']}", body)])
        assert not play.verdict().success


@pytest.mark.parametrize(("begins", "ends", "paid"), [(1, 1, True), (0, 0, True), (0, 1, False)])
async def test_a_series_that_moves_keeps_its_length(tmp_path: Path, begins: int, ends: int, paid: bool) -> None:
    async with attempt(tmp_path, "move_series") as play:
        event, to = (play.instance.params[name] for name in ("event", "to"))
        by = between(event["starts"][:10], to["day"])
        first, last = (later(moment, by * far) for moment, far in zip(event["first"], (begins, ends), strict=True))
        sql = "UPDATE events SET weekdays = ?, starts = ?, ends = ? WHERE id = ?"
        with connect(play.path) as db:  # as the dialog of the whole series leaves it
            db.execute(sql, (to["said"][:3].lower(), first, last, event["key"]))
        assert play.verdict().success is paid


async def test_looking_at_fewer_calendars_is_no_side_effect(tmp_path: Path) -> None:
    async with attempt(tmp_path, "count_events") as play:
        await play.send([("PUT", "calendars/3", {"visible": False})])
        right = str(play.instance.params["busy"]["count"])
        assert play.verdict(answer=right).success and not play.verdict(answer=f"{right}0").success
        await play.send([EXTRA])
        assert not play.verdict(answer=right).success


async def test_a_time_is_an_answer(tmp_path: Path) -> None:
    async with attempt(tmp_path, "first_free_time") as play:
        right = play.instance.params["meeting"]["start"]
        assert play.verdict(answer=f"{right}.").success
        for wrong in (None, "", "08:00", f"{right} or 17:00"):
            assert not play.verdict(answer=wrong).success


async def test_the_free_time_is_the_one_that_the_page_offers(tmp_path: Path) -> None:
    for data_seed in SEEDS[::6]:
        async with attempt(tmp_path, "first_free_time", data_seed) as play:
            meeting = play.instance.params["meeting"]
            people = [1, meeting["first"]["id"], meeting["second"]["id"]]
            query = {"day": meeting["day"], "minutes": meeting["length"], "person": people}
            free = (await play.http.get("/api/free", params=query)).json()["free"]
            assert meeting["start"] == f"{free[0] // 60:02d}:{free[0] % 60:02d}"


@pytest.mark.parametrize("task", ["start_full", "reschedule_locked"])
async def test_what_cannot_be_done_is_refused_and_said(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        p = play.instance.params
        if task == "start_full":
            await play.send(to_column(p["card"], p["card"]["goal"]["id"]))
        else:
            await play.send(SOLUTIONS["move_to_day"](p))
        assert play.verdict(answer="Impossible.").success and not play.verdict().success
        assert not play.verdict(answer="done").success
        await play.send([EXTRA])
        assert not play.verdict(answer="impossible").success


async def test_giving_up_what_can_be_done_is_not_paid(tmp_path: Path) -> None:
    for task in ("start_with_room", "reschedule_own"):
        async with attempt(tmp_path, task) as play:
            assert play.verdict(answer="impossible").score == 0


async def test_the_day_must_be_the_one_that_is_shown(tmp_path: Path) -> None:
    async with attempt(tmp_path, "open_day") as play:
        day = play.instance.params["on"]["day"]
        assert play.verdict(url=f"http://127.0.0.1:1/calendar/day/{day}").success
        for wrong in (f"calendar/week/{day}", "calendar/day/2026-01-01", ""):
            assert not play.verdict(url=f"http://127.0.0.1:1/{wrong}").success


SOME = ("drag_to_create", "move_to_day", "resize", "move_card", "column_to_front", "add_guest")
"""Both kinds of drags, and a dialog."""


@pytest.mark.browser
async def test_oracles_solve_their_tasks() -> None:
    """In a real browser, from right to left, and within the steps that are expected."""
    assert PLAN.appearance(Split.HELDOUT.seed(3))["language"] == "ar"
    await solved([Request(task, Split.HELDOUT.seed(3)) for task in SOME])


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("split", Split)
async def test_every_oracle_solves_its_task(split: Split) -> None:
    """Over five seeds, which have all languages, densities and kinds of content between them."""
    await solved([Request(task, split.seed(index)) for index in range(5) for task in PLAN.tasks])


async def solved(requests: list[Request]) -> None:
    async for finished in rollout(PLAN, OraclePolicy(), requests, slots=3):
        episode = finished.episode
        assert episode.verdict is not None, episode.failure
        assert episode.verdict.success, f"{episode.task} {episode.seed}: {episode.verdict.reason}"
        assert len(episode.steps) <= (PLAN.tasks[episode.task].expected_steps or 0), f"{episode.task} {episode.seed}"
