"""The tasks of the books: drawn for every seed, solved by their oracles, and paid for nothing less."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.books import looks, seed
from uigym.apps.books.app import create_app
from uigym.harness import Instance, Split
from uigym.policy.scripted import OraclePolicy
from uigym.registry import load
from uigym.rollout import Request, rollout
from uigym.types import Download, Episode, State, Stop, Verdict

BOOKS = load("books")
SEEDS = [split.seed(index) for split in Split for index in range(12)]
Post = tuple[str, Any]


@dataclass
class Attempt:
    """One task on one seed's data, acted on over HTTP."""

    http: httpx.AsyncClient
    path: Path
    instance: Instance
    before: State

    async def post(self, posts: list[Post]) -> None:
        for path, form in posts:
            sheet = path.endswith("/cells")
            answer = await self.http.post(path, json=form) if sheet else await self.http.post(path, data=form)
            assert answer.status_code in (200, 303, 422), path

    def verdict(self, answer: str | None = None, downloads: tuple[Download, ...] = ()) -> Verdict:
        after = BOOKS.state.read(self.path)  # type: ignore[attr-defined]
        stop = Stop.DONE if answer is None else Stop.ANSWERED
        task, params, said = self.instance.task.name, self.instance.params, self.instance.instruction
        episode = Episode(
            "e", "books", task, self.instance.seed, params, said, (), stop,
            answer=answer, before=self.before, after=after, downloads=downloads,
        )  # fmt: skip
        return self.instance.verifier(episode)


@asynccontextmanager
async def attempt(folder: Path, task: str, data_seed: int = 0) -> AsyncIterator[Attempt]:
    path = folder / "books.db"
    seed.write(path, data_seed, {})
    before = BOOKS.state.read(path)  # type: ignore[attr-defined]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(folder)), base_url="http://books") as http:
        yield Attempt(http, path, BOOKS.tasks[task].instance(data_seed, before), before)


def cells(sheet: int, found: Mapping[str, str], **more: Any) -> list[Post]:
    return [(f"/sheets/{sheet}/cells", {"cells": {cell: {"raw": raw, **more} for cell, raw in found.items()}})]


def pay(p: Mapping[str, Any], method: str) -> list[Post]:
    return [
        (f"/invoices/{p['invoice']['id']}/payments", {"amount": p["amount"], "paid_on": p["day"], "method": method})
    ]


SOLUTIONS: dict[str, Callable[[Mapping[str, Any]], list[Post]]] = {
    "send_draft": lambda p: [(f"/invoices/{p['invoice']['id']}/send", {})],
    "record_part_payment": lambda p: pay(p, p["method"]),
    "pay_what_is_due": lambda p: pay(p, "card"),
    "void_invoice": lambda p: [(f"/invoices/{p['invoice']['id']}/void", {})],
    "credit_invoice": lambda p: [(f"/invoices/{p['invoice']['id']}/credit", {})],
    "duplicate_invoice": lambda p: [(f"/invoices/{p['invoice']['id']}/duplicate", {"issued_on": p["issued"], "due_on": p["due"]})],
    "create_invoice": lambda p: [
        ("/invoices", {"customer": p["customer"]["id"], "reference": p["head"]["reference"], "issued_on": p["head"]["issued"],
                       "due_on": p["head"]["due"], "currency": "USD", "recurring": "never", "notes": "",
                       "description": [p["first"]["what"], p["second"]["what"]], "quantity": [p["first"]["count"], 1],
                       "price": [p["first"]["price"], p["second"]["price"]], "tax": [p["first"]["tax"], 10]})
    ],
    "add_expense": lambda p: [
        ("/expenses", {"supplier": p["supplier"]["id"], "category": p["category"], "description": p["thing"]["what"], "spent_on": p["bill"]["day"],
                       "reference": p["bill"]["reference"], "amount": p["thing"]["amount"], "tax": p["thing"]["tax"]})
    ],
    "approve_over": lambda p: [("/expenses/bulk", {"status": "approved", "id": p["work"]["ids"]})],
    "recategorise": lambda p: [("/expenses/bulk", {"category": p["new"], "id": p["work"]["ids"]})],
    "split_expense": lambda p: [(f"/expenses/{p['expense']['id']}/split", {"amount": p["part"], "category": p["new"]})],
    "reject_expense": lambda p: [(f"/expenses/{p['expense']['id']}/status", {"status": "rejected"})],
    "match_line": lambda p: [(f"/bank/{p['line']['id']}/match", {"to": f"invoice-{p['line']['invoice']['id']}"})],
    "undo_match": lambda p: [(f"/bank/{p['line']['id']}/undo", {})],
    "add_customer": lambda p: [("/customers", p["new"])],
    "change_price": lambda p: [(f"/products/{p['product']['id']}/edit", {**p["product"], "price": p["price"]})],
    "enter_values_and_formula": lambda p: cells(3, {f"{p['column']}{row}": str(raw) for row, raw in
                                                    zip(range(2, 6), (p["one"], p["two"], p["three"], f"=sum({p['column']}2:{p['column']}4)"), strict=True)}),
    "fill_down": lambda p: cells(2, {f"D{row}": f"=B{row}*C{row}" for row in range(3, p["last"] + 1)}),
    "fix_formula": lambda p: cells(1, {f"{p['wrong']['column']}{p['last']}": p["wrong"]["right"]}),
    "sort_range": lambda p: cells(3, p["cells"]),
    "format_as_money": lambda p: [("/sheets/3/cells", {"cells": {f"B{row}": {"format": "money"} for row in range(2, p["last"] + 1)}})],
}  # fmt: skip
"""How tasks that change something are done."""


@pytest.mark.parametrize("data_seed", SEEDS)
def test_every_task_can_be_drawn(tmp_path: Path, data_seed: int) -> None:
    seed.write(tmp_path / "books.db", data_seed, BOOKS.appearance(data_seed))
    state = BOOKS.state.read(tmp_path / "books.db")  # type: ignore[attr-defined]
    for task in BOOKS.tasks.values():
        instance = task.instance(data_seed, state)
        assert task.instance(data_seed, state).instruction == instance.instruction
        assert "{" not in instance.instruction and "None" not in instance.instruction
        assert task.solve is not None and len(task.wordings) + len(task.heldout_wordings) >= 3
        assert task.expected_steps is not None and task.expected_steps * 1.5 <= task.max_steps


def test_held_out_looks_are_held_out() -> None:
    seen = {part: {BOOKS.appearance(Split.TRAIN.seed(i))[part] for i in range(200)} for part in BOOKS.looks}
    held = {part: {BOOKS.appearance(Split.HELDOUT.seed(i))[part] for i in range(200)} for part in BOOKS.looks}
    assert not any(held[part] & seen[part] for part in ("theme", "columns", "nav"))
    assert "ar" not in seen["language"] and "hostile" not in seen["content"]
    for part, values in looks.PARTS.items():
        assert seen[part] | held[part] == set(values)


@pytest.mark.parametrize("task", SOLUTIONS)
async def test_the_asked_changes_pass_and_near_misses_do_not(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        assert play.verdict().score == 0
        posts = SOLUTIONS[task](play.instance.params)
        await play.post(posts)
        verdict = play.verdict()
        assert verdict.success, verdict.reason
        await play.post([("/customers", {"name": "Extra", "email": "e@x.example"})])
        assert play.verdict().score == 0 and play.verdict().side_effects


@pytest.mark.parametrize(
    "task",
    ["create_invoice", "add_expense", "add_customer", "duplicate_invoice", "record_part_payment", "split_expense"],
)
async def test_done_twice_is_not_done(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        await play.post(SOLUTIONS[task](play.instance.params) * 2)
        assert play.verdict().score == 0


@pytest.mark.parametrize(
    ("task", "field", "wrong"),
    [("create_invoice", "notes", "x"), ("create_invoice", "tax", [0, 10]), ("add_expense", "tax", "0.01"), ("record_part_payment", "amount", "50.01"),
     ("split_expense", "amount", "9.99"), ("change_price", "price", "1.00"), ("duplicate_invoice", "due_on", "2027-12-31"),
     ("add_customer", "city", "Rome"), ("recategorise", "category", "nothing")],
)  # fmt: skip
async def test_a_wrong_value_is_not_paid(tmp_path: Path, task: str, field: str, wrong: Any) -> None:
    async with attempt(tmp_path, task) as play:
        *rest, (path, form) = SOLUTIONS[task](play.instance.params)
        await play.post([*rest, (path, {**form, field: wrong})])
        assert not play.verdict().success


async def test_a_part_of_the_work_earns_a_part(tmp_path: Path) -> None:
    async with attempt(tmp_path, "approve_over") as play:
        ((path, form),) = SOLUTIONS["approve_over"](play.instance.params)
        await play.post([(path, {**form, "id": form["id"][:1]})])
        assert play.verdict().score == pytest.approx(1 / len(form["id"]))
    async with attempt(tmp_path, "fill_down") as play:
        last = play.instance.params["last"]
        await play.post(cells(2, {f"D{row}": "=B2*C2" for row in range(3, last + 1)}))
        assert play.verdict().score == 0


@pytest.mark.parametrize(
    ("task", "right"),
    [("overdue_sum", lambda p: p["customer"]["owed"] / 100), ("largest_invoice", lambda p: p["number"]), ("read_profit_and_loss", lambda p: p["value"]),
     ("compare_months", lambda p: p["higher"]), ("tax_owed", lambda p: p["value"]), ("largest_debtor", lambda p: p["age"]["name"]),
     ("pay_more_than_is_due", lambda p: "impossible"), ("void_paid_invoice", lambda p: "impossible")],
)  # fmt: skip
async def test_answers(tmp_path: Path, task: str, right: Callable[[Mapping[str, Any]], Any]) -> None:
    async with attempt(tmp_path, task) as play:
        value = str(right(play.instance.params))
        assert play.verdict(answer=value).success and play.verdict(answer=f"{value}.").success
        for wrong in (None, "", f"{value}1", f"{value} or 3", "possible", "done"):
            assert not play.verdict(answer=wrong).success
        await play.post([("/customers", {"name": "Extra", "email": "e@x.example"})])
        assert not play.verdict(answer=value).success


async def test_what_cannot_be_done_is_refused_by_the_books(tmp_path: Path) -> None:
    async with attempt(tmp_path, "pay_more_than_is_due") as play:
        p = play.instance.params
        await play.post(pay(p, "card"))
        assert play.verdict(answer="impossible").success
        await play.post(pay({**p, "amount": "1.00"}, "card"))
        assert not play.verdict(answer="impossible").success
    async with attempt(tmp_path, "void_paid_invoice") as play:
        await play.post(SOLUTIONS["void_invoice"](play.instance.params))
        assert play.verdict(answer="impossible").success and not play.verdict().success


async def test_figures_are_those_that_the_reports_show(tmp_path: Path) -> None:
    for task, report in (("read_profit_and_loss", "profit"), ("tax_owed", "tax")):
        async with attempt(tmp_path, task, 3) as play:
            p = play.instance.params
            period = {"from": p.get("month", p.get("first")), "to": p.get("month", p.get("last"))}
            page = (await play.http.get(f"/reports/{report}", params=period)).text
            value = float(p["value"])
            assert f"{'-' if value < 0 else ''}${abs(value):,.2f}" in page


async def test_files_are_looked_into(tmp_path: Path) -> None:
    async with attempt(tmp_path, "download_pdf") as play:
        id = play.instance.params["invoice"]["id"]
        own, other = [(await play.http.get(f"/invoices/{number}/pdf")).content for number in (id, id - 1)]
        assert play.verdict(downloads=(Download.of(f"INV-{id}.pdf", own),)).success
        for wrong in ((), (Download.of(f"INV-{id}.pdf", other),), (Download.of(f"INV-{id - 1}.pdf", other),)):
            assert not play.verdict(downloads=wrong).success
    async with attempt(tmp_path, "export_invoices") as play:
        status = play.instance.params["status"]
        own, other = [(await play.http.get(f"/invoices.csv{query}")).content for query in (f"?status={status}", "")]
        assert play.verdict(downloads=(Download.of("invoices.csv", own),)).success
        assert not play.verdict(downloads=(Download.of("invoices.csv", other),)).success


FEW = ("create_invoice", "import_statement", "sort_range", "fill_down", "approve_over")


@pytest.mark.browser
async def test_a_handful_of_oracles_solve_their_tasks() -> None:
    await solve([Request(task, Split.HELDOUT.seed(5)) for task in FEW])


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("data_seed", [*range(3), Split.HELDOUT.seed(0), Split.HELDOUT.seed(4)])
async def test_every_oracle_solves_its_task(data_seed: int) -> None:
    await solve([Request(task, data_seed) for task in BOOKS.tasks])


async def solve(requests: list[Request]) -> None:
    async for finished in rollout(BOOKS, OraclePolicy(), requests, slots=2):
        episode = finished.episode
        assert episode.verdict is not None, (episode.task, episode.failure)
        assert episode.verdict.success, f"{episode.task}: {episode.verdict.reason}"
        assert len(episode.steps) <= (BOOKS.tasks[episode.task].expected_steps or 0), episode.task
