"""Tasks across two products: drawn for every seed, paid in the right product only, and done by their oracles."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from uigym.harness import Harness, Split
from uigym.policy.scripted import OraclePolicy
from uigym.product import Product
from uigym.registry import load
from uigym.rollout import Request, rollout
from uigym.types import Episode, Row, State, Stop

FRONTDESK, BACKROOM = load("frontdesk"), load("backroom")
SEEDS = [split.seed(index) for split in Split for index in range(6)]


@pytest.mark.parametrize("harness", [FRONTDESK, BACKROOM], ids=lambda each: each.name)
async def test_every_task_can_be_drawn_for_every_seed(harness: Harness) -> None:
    async with Product(harness) as product:
        for seed in SEEDS:
            state = await product.reset(seed)
            said = [task.instance(seed, state).instruction for task in harness.tasks.values()]
            assert len(set(said)) >= len(said) - 1 and not [text for text in said if "{" in text]
            assert (await product.reset(seed)).digest() == state.digest()


def after(state: State, table: str, key: Any = None, **columns: Any) -> State:
    """The state with a row of that key changed, or with a new one."""
    rows = list(state.tables[table])
    if key is None:
        blank = dict.fromkeys(rows[0]) if rows else {}
        rows.append({**blank, "id": max((row["id"] for row in rows), default=0) + 1, **columns})
    else:
        rows = [{**row, **columns} if row["id"] == key else row for row in rows]
    return dataclasses.replace(state, tables={**state.tables, table: tuple(rows)})


Way = tuple[str, Any, Row]


def ways(task: str, p: Mapping[str, Any]) -> list[Way]:
    """How a task is done: (table, key or None, columns)."""
    letter, invoice = p.get("letter", {}), p.get("invoice", {})
    match task:
        case "update_phone_from_mail":
            return [("desk.customers", letter["customer"]["id"], {"phone": letter["phone"]})]
        case "close_ticket_from_mail":
            return [("desk.tickets", letter["ticket"]["id"], {"status": "closed"})]
        case "hand_over_from_mail":
            return [("desk.tickets", letter["ticket"]["id"], {"assignee_id": letter["agent"]["id"]})]
        case "open_ticket_from_mail":
            row = {"customer_id": letter["customer"]["id"], "subject": letter["subject"], "description": letter["text"]}
            return [("desk.tickets", None, {**row, "priority": p["priority"].lower(), "status": "open"})]
        case "note_reference_from_mail":
            row = {"ticket_id": letter["ticket"]["id"], "kind": "note", "body": letter["reference"]}
            return [("desk.comments", None, row)]
        case "tag_tickets_from_mail":
            return [("desk.ticket_tags", None, {"ticket_id": id, "tag": p["tag"]}) for id in letter["ids"]]
        case "pay_on_the_day_of_the_order":
            day, total = invoice["order"]["created_at"][:10], invoice["total"]
            row = {"invoice_id": invoice["id"], "paid_on": day, "amount": total, "method": "card"}
            return [("invoices", invoice["id"], {"paid": total, "status": "paid"}), ("payments", None, row)]
        case "price_as_in_shop":
            return [("products", p["product"]["id"], {"price": p["goods"]["price"]})]
        case "tag_order_with_invoice":
            row = {"order_id": invoice["order"]["id"], "tag": invoice["number"].lower()}
            return [("shop.order_tags", None, row)]
        case "add_customer_of_order":
            who = {name: p["order"]["customer"][name] for name in ("name", "company", "email")}
            return [("customers", None, {**who, "phone": "", "street": "", "city": ""})]
    raise AssertionError(task)


JUDGED = {
    FRONTDESK: (
        "update_phone_from_mail",
        "open_ticket_from_mail",
        "close_ticket_from_mail",
        "hand_over_from_mail",
        "note_reference_from_mail",
        "tag_tickets_from_mail",
    ),
    BACKROOM: ("price_as_in_shop", "pay_on_the_day_of_the_order", "tag_order_with_invoice", "add_customer_of_order"),
}
TOO_MUCH = {
    "open_ticket_from_mail": {"due_on": "2026-03-02"},
    "pay_on_the_day_of_the_order": {"bank_line_id": 1},
    "add_customer_of_order": {"city": "Leeds"},
}
"""What the new row could hold besides, and nobody asked for."""
BESIDES = {FRONTDESK: ("threads", {"starred": 1}), BACKROOM: ("shop.products", {"visible": 0})}


@pytest.mark.parametrize(
    ("harness", "name"),
    [pytest.param(harness, name, id=name) for harness, names in JUDGED.items() for name in names],
)
async def test_only_the_whole_work_and_nothing_else_is_paid(harness: Harness, name: str) -> None:
    async with Product(harness) as product:
        before = await product.reset(3)
    instance = harness.tasks[name].instance(3, before)

    def success(state: State) -> bool:
        told = (instance.params, instance.instruction, (), Stop.DONE)
        return instance.verifier(Episode("e", harness.name, name, 3, *told, before=before, after=state)).success

    done = before
    for table, key, columns in ways(name, instance.params):
        assert not success(done)
        done = after(done, table, key, **columns)
    assert success(done)
    table, columns = BESIDES[harness]
    assert not success(after(done, table, done.tables[table][0]["id"], **columns))
    table, key, columns = ways(name, instance.params)[-1]
    elsewhere = table.partition(".")[2] or table
    if elsewhere in before.tables and elsewhere != table:  # the like-named table of the other product
        assert not success(after(before, elsewhere, None, **{k: v for k, v in columns.items() if k == "id"}))
    if key is not None:
        other = next(row["id"] for row in before.tables[table] if row["id"] != key)
        assert not success(after(before, table, other, **columns))
    else:
        assert not success(after(done, table, None, **columns))  # twice is not once
        if name in TOO_MUCH:
            own = max(row["id"] for row in done.tables[table])
            assert not success(after(done, table, own, **TOO_MUCH[name]))


@pytest.mark.browser
@pytest.mark.parametrize(("harness", "names"), [
    (FRONTDESK, ("update_phone_from_mail", "reply_with_status")),
    (BACKROOM, ("difference_of_totals", "add_customer_of_order")),
], ids=["frontdesk", "backroom"])  # fmt: skip
async def test_oracles_go_from_one_product_to_the_other(harness: Harness, names: tuple[str, ...]) -> None:
    wanted = [Request(name, 5 + i) for i, name in enumerate(names)]
    async for done in rollout(harness, OraclePolicy(), wanted, slots=1):
        verdict = done.episode.verdict
        assert verdict is not None and verdict.success, (done.episode.task, done.episode.failure, verdict)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("harness", [FRONTDESK, BACKROOM], ids=lambda each: each.name)
async def test_every_oracle_always_succeeds(harness: Harness) -> None:
    wanted = [
        Request(name, split.seed(i))
        for name in harness.tasks
        for split in (Split.TRAIN, Split.HELDOUT)
        for i in range(5)
    ]
    async for done in rollout(harness, OraclePolicy(), wanted, slots=2):
        episode = done.episode
        assert episode.verdict is not None and episode.verdict.success, (episode.task, episode.seed, episode.failure)
        assert len(episode.steps) <= (harness.tasks[episode.task].expected_steps or 0), (episode.task, episode.seed)
