"""Merging tickets and setting due dates: where the desk allows it, and where it does not."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from uigym.harnesses.desk.product import (
    UNFINISHED,
    Page,
    Params,
    desk,
    only,
    open_ticket,
    today,
)
from uigym.params import between, computed, one_from, rows
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.state import added, changed, unchanged
from uigym.verify import Verifier, all_of

MERGE = (
    "Merge ticket #{pair[gone][id]} into ticket #{pair[kept][id]}. If that is not possible, answer: impossible.",
    "Tickets #{pair[gone][id]} and #{pair[kept][id]} are about the same thing: merge the first into the second. "
    "If that is not possible, answer: impossible.",
)
MERGE_HELDOUT = (
    "Ticket #{pair[gone][id]} is a double of ticket #{pair[kept][id]}: merge it into #{pair[kept][id]}, so that #{pair[kept][id]} stays. "
    "If that is not possible, answer: impossible.",
)
DUE = (
    "Set the due date of ticket #{ticket[id]} to {day}. If that is not possible, answer: impossible.",
    "Ticket #{ticket[id]} is due on {day}: put that into the desk. If that is not possible, answer: impossible.",
)
DUE_HELDOUT = (
    "We promised to solve ticket #{ticket[id]} by {day}. Make that its due date. If that is not possible, answer: impossible.",
)


def pairs(state: State, params: Params) -> list[Row]:
    """Two tickets of one customer, the first of them unfinished."""
    return _pairs(state, same=True)


def strange_pairs(state: State, params: Params) -> list[Row]:
    """Two tickets of different customers, the first of them unfinished."""
    return _pairs(state, same=False)


def _pairs(state: State, same: bool) -> list[Row]:
    rows_ = [row for row in state.tables["tickets"] if row["status"] in UNFINISHED]
    return [
        {"gone": gone, "kept": kept}
        for gone in rows_
        for kept in rows_
        if gone["id"] != kept["id"] and (gone["customer_id"] == kept["customer_id"]) is same
    ]


def belongings(state: State, params: Params) -> dict[str, list[int]]:
    """Ids of what moves with the first ticket, by table."""
    gone = params["pair"]["gone"]["id"]
    return {
        table: [row["id"] for row in state.tables[table] if row["ticket_id"] == gone]
        for table in ("comments", "attachments")
    }


def due(state: State, params: Params) -> str:
    """The due date, YYYY-MM-DD."""
    return (date.fromisoformat(today(state)) + timedelta(days=params["days"])).isoformat()


def spoken(state: State, params: Params) -> str:
    """The due date as an instruction says it: 4 March 2026."""
    day = date.fromisoformat(params["due"])
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@desk.task(
    *MERGE,
    heldout_wordings=MERGE_HELDOUT,
    max_steps=26,
    expected_steps=9,
    tags=("multi-step", "form", "medium"),
)
def merge_tickets(pair: Row = one_from(pairs), moved: dict[str, Any] = computed(belongings)) -> Verifier:
    gone, kept = pair["gone"], pair["kept"]["id"]
    rest = [changed(table, key=id, ticket_id=kept) for table, ids in moved.items() for id in ids]
    return only(
        changed("tickets", key=gone["id"], status="closed", merged_into=kept),
        added("comments", ticket_id=kept, kind="customer", body=gone["description"]),
        *rest,
    )


@merge_tickets.oracle
async def _(page: Page, pair: Row) -> None:
    await open_ticket(page, pair["gone"]["id"])
    await page.get_by_test_id("merge").click()
    await page.get_by_test_id("into").fill(str(pair["kept"]["id"]))
    await page.get_by_test_id("merge-now").click()


@desk.task(
    *MERGE,
    heldout_wordings=MERGE_HELDOUT,
    max_steps=26,
    expected_steps=9,
    tags=("refuse", "answer", "medium"),
)
def merge_of_two_customers(pair: Row = one_from(strange_pairs)) -> Verifier:
    return all_of(equals("impossible"), unchanged())


@merge_of_two_customers.oracle
async def _(page: Page, pair: Row) -> str:
    await open_ticket(page, pair["gone"]["id"])
    await page.get_by_test_id("merge").click()
    await page.get_by_test_id("into").fill(str(pair["kept"]["id"]))
    await page.get_by_test_id("merge-now").click()
    return "impossible"


@desk.task(*DUE, heldout_wordings=DUE_HELDOUT, max_steps=28, expected_steps=10, tags=("date", "edit", "medium"))
def set_due_date(
    days: int = between(1, 60),
    due: str = computed(due),
    day: str = computed(spoken),
    ticket: Row = rows("tickets", where=lambda row, p: row["due_on"] != p["due"]),
) -> Verifier:
    return only(changed("tickets", key=ticket["id"], due_on=due))


@set_due_date.oracle
async def _(page: Page, due: str, ticket: Row) -> None:
    await open_ticket(page, ticket["id"])
    await page.get_by_test_id("due").fill(due)
    await page.get_by_test_id("save-due").click()


@desk.task(*DUE, heldout_wordings=DUE_HELDOUT, max_steps=28, expected_steps=10, tags=("refuse", "date", "medium"))
def due_date_in_the_past(
    days: int = between(-40, -2),
    due: str = computed(due),
    day: str = computed(spoken),
    ticket: Row = rows("tickets", where=lambda row, p: row["due_on"] != p["due"]),
) -> Verifier:
    return all_of(equals("impossible"), unchanged())


@due_date_in_the_past.oracle
async def _(page: Page, due: str, ticket: Row) -> str:
    await open_ticket(page, ticket["id"])
    await page.get_by_test_id("due").fill(due)
    await page.get_by_test_id("save-due").click()
    return "impossible"
