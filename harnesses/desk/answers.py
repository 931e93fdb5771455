"""Finding things, and answering with them."""

from __future__ import annotations

import re
from collections import Counter

from uigym.harnesses.desk.product import (
    Page,
    Params,
    desk,
    open_customer_page,
    open_ticket,
    owner,
    show_tickets,
    tickets,
)
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import unchanged
from uigym.verify import Verifier, all_of


def next_due(state: State, params: Params) -> list[Row]:
    """Of each agent the open ticket with the earliest due date, where no other has the same."""
    found = []
    for agent in state.tables["agents"]:
        mine = [row for row in tickets(state, assignee_id=agent["id"], status="open") if row["due_on"]]
        mine.sort(key=lambda row: str(row["due_on"]))
        if len(mine) > 1 and mine[0]["due_on"] != mine[1]["due_on"]:
            found.append({"agent": agent, "ticket": mine[0]})
    return found


def counts(state: State) -> Counter[int]:
    """How many tickets each customer has."""
    return Counter(row["customer_id"] for row in state.tables["tickets"])


def with_fewer(state: State, params: Params) -> list[Row]:
    """Customers with fewer tickets than the one that was drawn."""
    count = counts(state)
    return [row for row in state.tables["customers"] if count[row["id"]] < count[params["busy"]["id"]]]


def with_several(state: State, params: Params) -> list[Row]:
    """Customers with three tickets or more."""
    count = counts(state)
    return [row for row in state.tables["customers"] if count[row["id"]] > 2]


def more(state: State, params: Params) -> int:
    """How many more tickets the busy customer has than the other."""
    count = counts(state)
    return count[params["busy"]["id"]] - count[params["other"]["id"]]


def error_code(state: State, params: Params) -> str:
    """What stands behind "Error code:" in the file."""
    found = re.search(r"Error code: (\S+)", params["file"]["content"])
    assert found is not None, "every file has one"
    return found[1]


@desk.task(
    "Open the page of the customer {customer[name]}.",
    "Show the customer page of {customer[name]}.",
    heldout_wordings=("Bring up the customer record of {customer[name]}.",),
    max_steps=18,
    expected_steps=6,
    tags=("navigate", "easy"),
)
def open_customer(customer: Row = rows("customers")) -> Verifier:
    return all_of(url_matches(f"/customers/{customer['id']}"), unchanged())


@open_customer.oracle
async def _(page: Page, customer: Row) -> None:
    await open_customer_page(page, customer["name"])


@desk.task(
    "What is the {what} of the customer {customer[name]}? Answer with it as the desk writes it.",
    "Look up the {what} of the customer {customer[name]} and answer with it as it is written there.",
    heldout_wordings=("The customer {customer[name]}: which {what} does the desk show? Answer with just that.",),
    max_steps=18,
    expected_steps=6,
    tags=("find", "answer", "easy"),
)
def customer_detail(
    what: str = one_of("plan", "phone number"),
    customer: Row = rows("customers"),
    value: str = computed(lambda state, p: p["customer"]["plan" if p["what"] == "plan" else "phone"]),
) -> Verifier:
    return all_of(equals(value), unchanged())


@customer_detail.oracle
async def _(page: Page, customer: Row, value: str) -> str:
    await open_customer_page(page, customer["name"])
    return value


@desk.task(
    "How many tickets with the status Open does the customer {customer[name]} have? Answer with a number.",
    "Count the tickets of {customer[name]} whose status is Open and answer with the number.",
    heldout_wordings=("{customer[name]} has how many tickets with the status Open? Answer with a number.",),
    max_steps=18,
    expected_steps=6,
    tags=("find", "answer", "medium"),
)
def count_open_tickets(
    customer: Row = one_from(lambda state, _: [owner(state, row) for row in tickets(state, status="open")]),
    count: int = computed(lambda state, p: len(tickets(state, customer_id=p["customer"]["id"], status="open"))),
) -> Verifier:
    return all_of(equals(count), unchanged())


@count_open_tickets.oracle
async def _(page: Page, customer: Row, count: int) -> str:
    await open_customer_page(page, customer["name"])
    return str(count)


@desk.task(
    "Which ticket with the status Open and the priority Urgent was created first? Answer with its number.",
    "Of the urgent tickets with the status Open, find the one that was created first, and answer with its number.",
    heldout_wordings=(
        "Answer with the number of the first created ticket among those with the status Open and the priority Urgent.",
    ),
    max_steps=20,
    expected_steps=7,
    tags=("table", "compare", "answer", "medium"),
)
def oldest_urgent(
    number: int = computed(lambda state, p: min(row["id"] for row in tickets(state, status="open", priority="urgent"))),
) -> Verifier:
    return all_of(equals(number), unchanged())


@oldest_urgent.oracle
async def _(page: Page, number: int) -> str:
    await show_tickets(page, status="open", priority="urgent")
    await page.get_by_test_id("sort-created").click()
    return str(number)


@desk.task(
    "Which of the tickets with the status Open that {work[agent][name]} has is due first? Answer with its number.",
    "Of all tickets with the status Open assigned to {work[agent][name]}, find the one with the earliest due date. Answer with its number.",
    heldout_wordings=(
        "{work[agent][name]} wants to know which of their tickets with the status Open has the earliest due date. Answer with its number.",
    ),
    max_steps=22,
    expected_steps=7,
    tags=("date", "compare", "answer", "medium"),
)
def first_due(
    work: Row = one_from(next_due), number: int = computed(lambda state, p: p["work"]["ticket"]["id"])
) -> Verifier:
    return all_of(equals(number), unchanged())


@first_due.oracle
async def _(page: Page, work: Row, number: int) -> str:
    await show_tickets(page, status="open", assignee=work["agent"]["id"])
    await page.get_by_test_id("sort-due").click()
    return str(number)


@desk.task(
    "How many more tickets does the customer {busy[name]} have than the customer {other[name]}? Answer with a number.",
    "Compare the customers {busy[name]} and {other[name]}: by how many tickets is the first ahead? Answer with a number.",
    heldout_wordings=(
        "Take the number of tickets of the customer {busy[name]} and subtract that of the customer {other[name]}. "
        "Answer with the number.",
    ),
    max_steps=30,
    expected_steps=11,
    tags=("compare", "answer", "medium"),
)
def compare_customers(
    busy: Row = one_from(with_several), other: Row = one_from(with_fewer), difference: int = computed(more)
) -> Verifier:
    return all_of(equals(difference), unchanged())


@compare_customers.oracle
async def _(page: Page, busy: Row, other: Row, difference: int) -> str:
    await open_customer_page(page, busy["name"])
    await open_customer_page(page, other["name"])
    return str(difference)


@desk.task(
    "Which error code stands in the file {file[name]} on ticket #{file[ticket_id]}? Answer with the code.",
    "Open the file {file[name]} that is attached to ticket #{file[ticket_id]} and answer with its error code.",
    heldout_wordings=("Ticket #{file[ticket_id]} has the attachment {file[name]}. Answer with the error code in it.",),
    max_steps=20,
    expected_steps=6,
    tags=("file", "answer", "easy"),
)
def read_attachment(file: Row = rows("attachments"), code: str = computed(error_code)) -> Verifier:
    return all_of(equals(code), unchanged())


@read_attachment.oracle
async def _(page: Page, file: Row, code: str) -> str:
    await open_ticket(page, file["ticket_id"])
    await page.get_by_test_id(f"file-{file['id']}").click()
    return code
