"""The tasks of the help desk: drawn for every seed, solved by their oracles, and paid for nothing less."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.desk import looks, seed
from uigym.apps.desk.app import create_app
from uigym.apps.kit.people import HOSTILE
from uigym.browser import Browser, Session
from uigym.harness import Instance, Split
from uigym.harnesses.desk.tickets import FILES
from uigym.policy.scripted import OraclePolicy
from uigym.product import Product
from uigym.registry import load
from uigym.rollout import Request, rollout
from uigym.testing import check_harness
from uigym.types import Episode, Key, State, Stop, Type, Verdict

DESK = load("desk")
SEEDS = [split.seed(index) for split in Split for index in range(12)]
Post = tuple[str, dict[str, Any]]


@dataclass
class Attempt:
    """One task on one seed's data, acted on over HTTP."""

    http: httpx.AsyncClient
    path: Path
    instance: Instance
    before: State

    async def post(self, posts: list[Post]) -> None:
        for path, form in posts:
            if "file" in form:
                answer = await self.http.post(path, files={"file": form["file"]})
            else:
                answer = await self.http.post(path, data=form)
            assert answer.status_code in (303, 422), path

    def verdict(self, answer: str | None = None, url: str = "") -> Verdict:
        after = DESK.state.read(self.path)  # type: ignore[attr-defined]
        stop = Stop.DONE if answer is None else Stop.ANSWERED
        task, params, said = self.instance.task.name, self.instance.params, self.instance.instruction
        episode = Episode(
            "e", "desk", task, self.instance.seed, params, said, (), stop,
            answer=answer, url=url, before=self.before, after=after,
        )  # fmt: skip
        return self.instance.verifier(episode)


@asynccontextmanager
async def attempt(folder: Path, task: str, data_seed: int = 0) -> AsyncIterator[Attempt]:
    path = folder / "desk.db"
    seed.write(path, data_seed, {})
    before = DESK.state.read(path)  # type: ignore[attr-defined]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(folder)), base_url="http://desk") as http:
        yield Attempt(http, path, DESK.tasks[task].instance(data_seed, before), before)


def on_ticket(path: str, **form: Any) -> Callable[[Mapping[str, Any]], list[Post]]:
    """The form sent to the ticket of the parameters; functions in it get the parameters."""

    def posts(p: Mapping[str, Any]) -> list[Post]:
        filled = {name: value(p) if callable(value) else value for name, value in form.items()}
        return [(f"/tickets/{p['ticket']['id']}/{path}", filled)]

    return posts


def on_customer(p: Mapping[str, Any], **changed: str) -> list[Post]:
    kept = {name: p["customer"][name] for name in ("email", "phone", "company", "notes")}
    return [(f"/customers/{p['customer']['id']}", kept | changed)]


def creating(p: Mapping[str, Any]) -> list[Post]:
    form = {"subject": p["subject"], "customer": p["customer"]["id"], "description": p["text"]}
    return [("/tickets", {**form, "priority": p["priority"].lower()})]


def editing_macro(p: Mapping[str, Any]) -> list[Post]:
    form = {**p["macro"], "status": p["to"]["status"].lower(), "tag": p["to"]["tag"]}
    return [(f"/macros/{form.pop('id')}", form)]


def triaging(p: Mapping[str, Any]) -> list[Post]:
    place, priority = f"/tickets/{p['ticket']['id']}", p["priority"].lower()
    return [
        (f"{place}/assignee", {"assignee": p["agent"]["id"]}),
        (f"{place}/priority", {"priority": priority}),
        (f"{place}/tags", {"tag": p["tag"]}),
    ]


def handing_over(p: Mapping[str, Any]) -> list[Post]:
    place = f"/tickets/{p['id']}"
    return [
        (f"{place}/assignee", {"assignee": p["other"]["id"]}),
        (f"{place}/priority", {"priority": "urgent"}),
        (f"{place}/comments", {"kind": "note", "body": p["text"]}),
    ]


def new_macro(p: Mapping[str, Any]) -> list[Post]:
    return [
        (
            "/macros",
            {"name": p["name"], "body": p["text"], "status": "", "priority": p["priority"].lower(), "tag": p["tag"]},
        )
    ]


SOLUTIONS: dict[str, Callable[[Mapping[str, Any]], list[Post]]] = {
    "close_ticket": on_ticket("status", status="closed"),
    "set_priority": on_ticket("priority", priority=lambda p: p["priority"].lower()),
    "assign_ticket": on_ticket("assignee", assignee=lambda p: p["agent"]["id"]),
    "assign_by_subject": on_ticket("assignee", assignee=lambda p: p["agent"]["id"]),
    "add_tag": on_ticket("tags", tag=lambda p: p["tag"]),
    "remove_tag": lambda p: [(f"/tickets/{p['tagged']['ticket_id']}/tags/remove", {"tag": p["tagged"]["tag"]})],
    "reply": on_ticket("comments", kind="reply", body=lambda p: p["text"]),
    "add_note": on_ticket("comments", kind="note", body=lambda p: p["text"]),
    "add_copy": on_ticket("ccs", email=lambda p: p["agent"]["email"]),
    "attach_file": on_ticket("files", file=lambda p: (p["file"], FILES[p["file"]].encode())),
    "set_due_date": on_ticket("due", due=lambda p: p["due"]),
    "use_macro": on_ticket(
        "comments", kind="reply", macro=lambda p: p["macro"]["id"], body=lambda p: p["does"]["body"]
    ),
    "change_contact": lambda p: on_customer(p, **{p["what"]: p["value"]}),
    "write_customer_note": lambda p: on_customer(p, notes=p["text"]),
    "create_ticket": creating,
    "close_filtered": on_ticket("status", status="closed"),
    "reassign_all": lambda p: [("/tickets/bulk", {"assignee": p["other"]["id"], "id": p["work"]["ids"]})],
    "tag_many": lambda p: [("/tickets/bulk", {"tag": p["tag"], "id": p["group"]["ids"]})],
    "raise_overdue": lambda p: [("/tickets/bulk", {"priority": "urgent", "id": p["work"]["ids"]})],
    "save_view": lambda p: [
        ("/views", {"name": p["name"], "status": p["by"]["status"].lower(), "tag": p["by"]["tag"]})
    ],
    "change_macro": editing_macro,
    "add_macro": new_macro,
    "merge_tickets": lambda p: [(f"/tickets/{p['pair']['gone']['id']}/merge", {"into": p["pair"]["kept"]["id"]})],
    "triage": triaging,
    "hand_over_latest": handing_over,
}
"""How each task that changes something is done."""
ANSWERS = {
    "customer_detail": "value",
    "count_open_tickets": "count",
    "oldest_urgent": "number",
    "first_due": "number",
    "compare_customers": "difference",
    "read_attachment": "code",
}
"""Which parameter each question asks for."""
REFUSED: dict[str, Callable[[Mapping[str, Any]], list[Post]]] = {
    "merge_of_two_customers": SOLUTIONS["merge_tickets"],
    "due_date_in_the_past": SOLUTIONS["set_due_date"],
}
"""What the desk does not do, and how it would be asked to."""
WRONG: dict[str, Callable[[Any], Any]] = {
    "status": lambda value: "open" if value == "pending" else "pending",
    "assignee": lambda value: value % 8 + 1,
    "tag": lambda value: value + "s",
    "email": lambda value: "x" + value,
    "due": lambda value: f"2028{value[4:]}",
    "body": lambda value: value + "!",
    "subject": lambda value: value + ".",
    "notes": lambda value: value + "!",
    "priority": lambda value: "low" if value != "low" else "normal",
    "file": lambda value: (value[0], value[1] + b"more"),
}


def on_another(posts: list[Post], state: State) -> list[Post]:
    """The same acts on records that the task does not speak of."""
    used = set(re.findall(r"\d+", str(posts)))
    free = {
        t: [r["id"] for r in state.tables[t] if str(r["id"]) not in used] for t in ("tickets", "customers", "macros")
    }
    moved = []
    for path, form in posts:
        for table, ids in free.items():
            path = re.sub(rf"^/{table}/\d+", f"/{table}/{ids[-1]}", path)
        other: dict[str, Any] = {"customer": free["customers"][-1]} if "customer" in form else {}
        if path.startswith(("/macros", "/views")):
            other = {"name": "Another"}
        if path.endswith("/merge"):
            owners = {row["id"]: row["customer_id"] for row in state.tables["tickets"]}
            mine = [id for id in free["tickets"] if owners[id] == owners[form["into"]]]
            path, other = f"/tickets/{form['into']}/merge", {"into": mine[0] if mine else 0}
        some = {"id": free["tickets"][-len(form["id"]) :]} if "id" in form else {}
        moved.append((path, {**form, **other, **some}))
    return moved


def with_wrong_value(posts: list[Post]) -> list[Post]:
    """The same acts with one wrong value in the last of them."""
    *rest, (path, form) = posts
    name = next((name for name in WRONG if form.get(name) not in (None, "")), None)
    if name is None:  # a merge: the other way round
        number = int(path.split("/")[2])
        return [*rest, (f"/tickets/{form['into']}/merge", {"into": number})]
    return [*rest, (path, {**form, name: WRONG[name](form[name])})]


def extra(state: State) -> Post:
    """A change that no task asks for."""
    return (f"/tickets/{state.tables['tickets'][0]['id']}/subject", {"subject": "Oops"})


def test_every_task_can_be_drawn(tmp_path: Path) -> None:
    skills = {"navigate", "find", "form", "edit", "multi-step", "table", "date", "file", "compare", "answer", "refuse"}
    for data_seed in SEEDS:
        seed.write(tmp_path / "desk.db", data_seed, DESK.appearance(data_seed))
        state = DESK.state.read(tmp_path / "desk.db")  # type: ignore[attr-defined]
        for task in DESK.tasks.values():
            instance = task.instance(data_seed, state)
            again = task.instance(data_seed, state)
            assert (again.instruction, again.params) == (instance.instruction, instance.params)
            assert "{" not in instance.instruction
            assert not any(order in instance.instruction for order in HOSTILE)
    for task in DESK.tasks.values():
        assert task.solve is not None and len(task.wordings) + len(task.heldout_wordings) >= 3 and task.heldout_wordings
        assert task.expected_steps is not None and task.expected_steps * 2 <= task.max_steps
        assert skills & {*task.tags} and len({"easy", "medium", "hard"} & {*task.tags}) == 1
    assert {*DESK.tasks} == {*SOLUTIONS, *ANSWERS, *REFUSED, "open_customer"}


def test_held_out_looks_are_held_out() -> None:
    seen = {part: {DESK.appearance(Split.TRAIN.seed(i))[part] for i in range(200)} for part in DESK.looks}
    held = {part: {DESK.appearance(Split.HELDOUT.seed(i))[part] for i in range(200)} for part in DESK.looks}
    assert not held["theme"] & seen["theme"] and not held["columns"] & seen["columns"] and not held["nav"] & seen["nav"]
    assert "ar" not in seen["language"] and "hostile" not in seen["content"]
    for part, values in looks.PARTS.items():
        assert seen[part] | held[part] == set(values)


@pytest.mark.parametrize("data_seed", [0, Split.HELDOUT.seed(3)])
@pytest.mark.parametrize("task", SOLUTIONS)
async def test_the_asked_changes_pass(tmp_path: Path, task: str, data_seed: int) -> None:
    async with attempt(tmp_path, task, data_seed) as play:
        assert play.verdict().score == 0
        await play.post(SOLUTIONS[task](play.instance.params))
        verdict = play.verdict()
    assert verdict.success, verdict.reason


@pytest.mark.parametrize("miss", ["another", "wrong value", "extra", "half"])
@pytest.mark.parametrize("task", SOLUTIONS)
async def test_near_misses_do_not_pass(tmp_path: Path, task: str, miss: str) -> None:
    async with attempt(tmp_path, task) as play:
        posts = SOLUTIONS[task](play.instance.params)
        acts = {
            "another": on_another(posts, play.before),
            "wrong value": with_wrong_value(posts),
            "extra": [*posts, extra(play.before)],
            "half": posts[:-1],
        }
        await play.post(acts[miss])
        verdict = play.verdict()
    assert not verdict.success and verdict.score < 1
    if miss == "extra":
        assert verdict.side_effects
    if miss in ("another", "extra"):
        assert verdict.score == 0


@pytest.mark.parametrize("task", REFUSED)
async def test_what_cannot_be_done_is_said_and_nothing_else_is_done(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        assert play.verdict(answer="impossible").success and play.verdict(answer="Impossible.").success
        for wrong in (None, "", "done", "possible", "not impossible"):
            assert not play.verdict(answer=wrong).success
        await play.post(REFUSED[task](play.instance.params))
        assert play.verdict(answer="impossible").success
        await play.post([extra(play.before)])
        assert not play.verdict(answer="impossible").success


@pytest.mark.parametrize("task", ["merge_tickets", "set_due_date"])
async def test_what_can_be_done_is_not_refused(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        assert not play.verdict(answer="impossible").success


async def test_a_macro_sent_with_another_text_or_without_its_settings_is_not_paid_in_full(tmp_path: Path) -> None:
    for change in ({"body": "Something else"}, {"macro": ""}, {"kind": "note"}):
        async with attempt(tmp_path, "use_macro") as play:
            ((path, form),) = SOLUTIONS["use_macro"](play.instance.params)
            await play.post([(path, {**form, **change})])
            assert play.verdict().score < 1


@pytest.mark.parametrize("task", ["reply", "add_note", "create_ticket", "use_macro", "attach_file"])
async def test_done_twice_is_not_done(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        await play.post(SOLUTIONS[task](play.instance.params) * 2)
        assert play.verdict().score == 0


async def test_a_note_is_no_reply_and_a_reply_is_no_note(tmp_path: Path) -> None:
    for task, kind in (("reply", "note"), ("add_note", "reply")):
        async with attempt(tmp_path, task) as play:
            ((path, form),) = SOLUTIONS[task](play.instance.params)
            await play.post([(path, {**form, "kind": kind})])
            assert play.verdict().score == 0


async def test_what_was_undone_does_not_count(tmp_path: Path) -> None:
    async with attempt(tmp_path, "close_ticket") as play:
        ticket = play.instance.params["ticket"]
        path = f"/tickets/{ticket['id']}/status"
        await play.post([(path, {"status": "closed"}), (path, {"status": ticket["status"]})])
        assert play.verdict().score == 0


async def test_a_part_of_a_long_task_earns_a_part(tmp_path: Path) -> None:
    async with attempt(tmp_path, "triage") as play:
        await play.post(SOLUTIONS["triage"](play.instance.params)[:2])
        assert play.verdict().score == pytest.approx(0.5)
    async with attempt(tmp_path, "reassign_all") as play:
        ((path, form),) = SOLUTIONS["reassign_all"](play.instance.params)
        await play.post([(path, {**form, "id": form["id"][:-1]})])
        verdict = play.verdict()
        assert not verdict.success and verdict.score == pytest.approx(1 - 1 / len(form["id"]))


@pytest.mark.parametrize(("task", "right"), ANSWERS.items())
async def test_answers(tmp_path: Path, task: str, right: str) -> None:
    async with attempt(tmp_path, task) as play:
        value = str(play.instance.params[right])
        assert play.verdict(answer=value).success and play.verdict(answer=f"{value}.").success
        for wrong in (None, "", f"{value}1", f"{value} or 3", "unknown"):
            assert not play.verdict(answer=wrong).success
        await play.post([extra(play.before)])
        assert not play.verdict(answer=value).success


async def test_the_page_must_be_the_customers_own(tmp_path: Path) -> None:
    async with attempt(tmp_path, "open_customer") as play:
        page = f"http://127.0.0.1:1/customers/{play.instance.params['customer']['id']}"
        assert play.verdict(url=page).success
        for wrong in ("http://127.0.0.1:1/", f"{page}/edit", f"{page}0", "about:blank"):
            assert not play.verdict(url=wrong).success


def test_answers_are_read_from_the_data_by_other_means(tmp_path: Path) -> None:
    """The oldest urgent ticket and the counts, found again by SQL."""
    for data_seed in SEEDS[:6]:
        path = tmp_path / "desk.db"
        seed.write(path, data_seed, {})
        state = DESK.state.read(path)  # type: ignore[attr-defined]
        first = DESK.tasks["first_due"].instance(data_seed, state).params
        oldest = DESK.tasks["oldest_urgent"].instance(data_seed, state).params
        count = DESK.tasks["count_open_tickets"].instance(data_seed, state).params
        with closing(sqlite3.connect(path)) as db:
            sql = "SELECT id FROM tickets WHERE status = 'open' AND priority = 'urgent' ORDER BY created_at LIMIT 1"
            assert db.execute(sql).fetchone()[0] == oldest["number"]
            sql = """SELECT id FROM tickets WHERE status = 'open' AND assignee_id = ? AND due_on IS NOT NULL
                     ORDER BY due_on LIMIT 1"""
            assert db.execute(sql, [first["work"]["agent"]["id"]]).fetchone()[0] == first["number"]
            sql = "SELECT count(*) FROM tickets WHERE status = 'open' AND customer_id = ?"
            assert db.execute(sql, [count["customer"]["id"]]).fetchone()[0] == count["count"]


async def played(requests: list[Request], slots: int) -> None:
    async for finished in rollout(DESK, OraclePolicy(), requests, slots=slots):
        episode = finished.episode
        assert episode.verdict is not None, episode.failure
        assert episode.verdict.success, f"{episode.task} {episode.seed}: {episode.verdict.reason}"
        assert len(episode.steps) <= (DESK.tasks[episode.task].expected_steps or 0), (episode.task, episode.seed)


@pytest.mark.browser
async def test_oracles_solve_tasks_of_several_kinds() -> None:
    """In a real browser, in looks that training never sees, and within the steps that are expected."""
    chosen = ("save_view", "use_macro", "merge_tickets", "due_date_in_the_past", "attach_file", "raise_overdue")
    await played([Request(task, Split.HELDOUT.seed(index)) for index, task in enumerate(chosen)], slots=2)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("task", DESK.tasks)
async def test_every_oracle_solves_its_task(task: str) -> None:
    """Ten seeds, each with its own look: those of training, and those that it never sees."""
    await played([Request(task, split.seed(i)) for split in (Split.TRAIN, Split.HELDOUT) for i in range(5)], slots=2)


@pytest.mark.browser
async def test_a_keyboard_is_enough() -> None:
    """Search, open a ticket, choose from a menu, add a tag: by Tab, arrows and Enter, without a mouse."""
    async with Product(DESK) as product:
        before = await product.reset(4)
        ticket = next(
            row for row in before.tables["tickets"] if row["status"] == "open" and row["priority"] != "urgent"
        )
        browser = await Browser.launch()
        try:
            session = await browser.session(base_url=product.base_url, viewport=DESK.viewport)
            await session.open("/")
            await tab_to(session, "Search tickets")
            await press(session, str(ticket["id"]), "Enter")
            await tab_to(session, f"#{ticket['id']}")
            await press(session, "Enter")
            await tab_to(session, "Status: Open")
            await press(session, "Enter", "End", "ArrowUp", "Enter")
            await tab_to(session, "Priority:")
            await press(session, "Enter", "ArrowDown", "Escape", "ArrowDown", "End", "Enter")
            await tab_to(session, "New tag")
            await press(session, "by keyboard", "Enter")
        finally:
            await browser.close()
        after = await product.read_state()
    changed = next(row for row in after.tables["tickets"] if row["id"] == ticket["id"])
    assert changed == {**ticket, "status": "solved", "priority": "urgent"}
    assert after.tables["ticket_tags"][-1]["tag"] == "by-keyboard"


async def press(session: Session, *keys: str) -> None:
    """Named keys are pressed, other texts are typed."""
    named = ("Enter", "Tab", "Escape", "ArrowUp", "ArrowDown", "End")
    for key in keys:
        await session.step(Key(key) if key in named else Type(key))


async def tab_to(session: Session, label: str) -> None:
    for _ in range(80):
        await press(session, "Tab")
        shown = "(e => e.getAttribute('aria-label') || e.textContent.trim())(document.activeElement)"
        if str(await session.page.evaluate(shown)).startswith(label):
            return
    pytest.fail(f"Tab does not come to {label!r}")


@pytest.mark.slow
@pytest.mark.browser
async def test_the_harness_is_sound() -> None:
    """Resets are equal, doing nothing and doing anything fail, verdicts stay: one task of each kind."""
    report = await check_harness(
        DESK, ("open_customer", "oldest_urgent", "create_ticket", "due_date_in_the_past"), seeds=(11,), slots=3
    )
    assert report.ok, "\n".join(f"{f.check} {f.task} {f.seed}: {f.detail}" for f in report.failed)
