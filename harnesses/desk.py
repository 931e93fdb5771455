"""The help desk: how to start, reset and read it, and what an agent must do in it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from uigym.apps.desk import seed as desk_data
from uigym.apps.desk.looks import PARTS
from uigym.harness import Harness, Looks, Running
from uigym.params import computed, one_from, one_of, rows
from uigym.product.state import Sqlite
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import Change, added, changed, removed, unchanged
from uigym.verify import Verifier, all_of, weighted


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the product the seed's data, by its database file."""
    await asyncio.to_thread(desk_data.write, product.workdir / "desk.db", seed, appearance)


desk = Harness(
    name="desk",
    asgi="uigym.apps.desk.app:create_app",
    ready="/healthz",
    state=Sqlite("{workdir}/desk.db"),
    reset=reset,
    viewport=(1280, 720),
    looks={
        "theme": Looks(PARTS["theme"][:6], PARTS["theme"][6:]),
        "font": Looks(PARTS["font"][:3], PARTS["font"][2:]),
        "density": Looks(PARTS["density"]),
        "nav": Looks(PARTS["nav"][:3], PARTS["nav"][3:]),
        "columns": Looks(PARTS["columns"][:3], PARTS["columns"][3:]),
        "panel": Looks(PARTS["panel"]),
    },
    logs=("events",),
)


# --- what the instructions speak of -------------------------------------------------------------------------

Params = Mapping[str, Any]
Page = Any  # Playwright's


def tickets(state: State, **columns: Any) -> list[Row]:
    """The tickets that have these values in these columns."""
    return [row for row in state.tables["tickets"] if all(row[key] == value for key, value in columns.items())]


def with_own_subject(state: State, params: Params) -> list[Row]:
    """Unfinished tickets whose subject no other ticket has."""
    count = Counter(row["subject"] for row in state.tables["tickets"])
    return [row for row in state.tables["tickets"] if count[row["subject"]] == 1 and row["status"] != "closed"]


def other_agents(row: Row, params: Params) -> bool:
    """Whether an agent is not the one who has the ticket."""
    return bool(row["id"] != params["ticket"]["assignee_id"])


def missing_tags(state: State, params: Params) -> list[str]:
    """Tags that the ticket does not have."""
    has = {row["tag"] for row in state.tables["ticket_tags"] if row["ticket_id"] == params["ticket"]["id"]}
    return [tag for tag in ("vip", "follow-up", "legal", "billing", "api", "security", "mobile") if tag not in has]


def owner(state: State, ticket: Row) -> Row:
    """Whose ticket it is."""
    return next(row for row in state.tables["customers"] if row["id"] == ticket["customer_id"])


def workloads(state: State, params: Params) -> list[Row]:
    """Agent and priority of which there are two to five open tickets."""
    found = []
    for agent in state.tables["agents"]:
        for priority in ("low", "normal", "high", "urgent"):
            mine = tickets(state, assignee_id=agent["id"], priority=priority, status="open")
            if 2 <= len(mine) <= 5:
                found.append({"agent": agent, "priority": priority, "ids": [row["id"] for row in mine]})
    return found


def tagged_alone(state: State, params: Params) -> list[Row]:
    """Tickets that are the only one of their tag, status and priority."""
    by_id = {row["id"]: row for row in state.tables["tickets"]}
    kinds = [(by_id[row["ticket_id"]], row["tag"]) for row in state.tables["ticket_tags"]]
    count = Counter((row["status"], row["priority"], tag) for row, tag in kinds)
    own = {kind for kind, tickets in count.items() if tickets == 1 and kind[0] in ("open", "pending")}
    return [{**row, "tag": tag} for row, tag in kinds if (row["status"], row["priority"], tag) in own]


def new_contact(state: State, params: Params) -> str:
    """A phone number with other last digits, or an address with the last name alone."""
    old = params["customer"][params["what"]]
    return f"{old[:-4]}{(int(old[-4:]) + 1234) % 10_000:04d}" if params["what"] == "phone" else old.partition(".")[2]


def only(*changes: Change) -> Verifier:
    """These changes, each for an equal share of the score, and nothing else but lines in the desk's own log."""
    return all_of(weighted(*((1.0, change) for change in changes)), unchanged(except_=[*changes, "events"]))


# --- how a person does it -----------------------------------------------------------------------------------


async def search(page: Page, text: str) -> None:
    """Look for tickets by number, subject or customer."""
    await page.get_by_role("textbox", name="Search tickets").fill(text)
    await page.get_by_role("textbox", name="Search tickets").press("Enter")


async def open_ticket(page: Page, number: int) -> None:
    """Find a ticket by its number and open it."""
    await search(page, str(number))
    await page.get_by_role("link", name=f"#{number}", exact=True).click()


async def open_customer_page(page: Page, name: str) -> None:
    """Find a customer by name and open the page."""
    await page.get_by_role("link", name="Customers", exact=True).click()
    await page.get_by_role("textbox", name="Search customers").fill(name)
    await page.get_by_role("textbox", name="Search customers").press("Enter")
    await page.get_by_role("link", name=name, exact=True).click()


async def choose(page: Page, menu: str, value: str) -> None:
    """Open a menu and take an entry."""
    await page.get_by_role("button", name=f"{menu}:").click()
    await page.get_by_role("menuitem", name=value, exact=True).click()


async def show_tickets(page: Page, **filters: str) -> None:
    """Open the list of tickets and filter it."""
    await page.get_by_role("link", name="Tickets", exact=True).click()
    for menu, value in filters.items():
        await choose(page, menu.capitalize(), value)


@desk.task(
    "Open the page of the customer {customer[name]}.",
    "Show the customer page of {customer[name]}.",
    heldout_wordings=("Bring up the customer record of {customer[name]}.",),
    max_steps=15,
    expected_steps=6,
    tags=("navigation", "easy"),
)
def open_customer(customer: Row = rows("customers")) -> Verifier:
    return all_of(url_matches(f"/customers/{customer['id']}"), unchanged())


@open_customer.oracle
async def _(page: Page, customer: Row) -> None:
    await open_customer_page(page, customer["name"])


@desk.task(
    "What is the {what} of the customer {customer[name]}? Answer with it as the desk writes it.",
    "Look up the {what} of the customer {customer[name]} and answer with it as it is written there.",
    max_steps=15,
    expected_steps=6,
    tags=("answer", "easy"),
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
    "How many open tickets does the customer {customer[name]} have? Answer with a number.",
    "Count the tickets of {customer[name]} whose status is Open and answer with the number.",
    heldout_wordings=("{customer[name]} has how many tickets with the status Open? Answer with a number.",),
    max_steps=15,
    expected_steps=6,
    tags=("answer", "medium"),
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
    "Which open ticket with the priority Urgent is the oldest? Answer with its number.",
    "Find the urgent open ticket that has waited longest and answer with its number.",
    heldout_wordings=("Answer with the number of the open ticket of urgent priority that was created first.",),
    max_steps=20,
    expected_steps=7,
    tags=("answer", "filter", "medium"),
)
def oldest_urgent(
    number: int = computed(lambda state, p: min(row["id"] for row in tickets(state, status="open", priority="urgent"))),
) -> Verifier:
    return all_of(equals(number), unchanged())


@oldest_urgent.oracle
async def _(page: Page, number: int) -> str:
    await show_tickets(page, status="Open", priority="Urgent")
    await page.get_by_role("link", name="Created").click()
    return str(number)


@desk.task(
    "Close ticket #{ticket[id]}.",
    "Set the status of ticket #{ticket[id]} to Closed.",
    heldout_wordings=("Ticket #{ticket[id]} is finished with: give it the status Closed.",),
    max_steps=18,
    expected_steps=7,
    tags=("ticket", "menu", "easy"),
)
def close_ticket(ticket: Row = rows("tickets", where=lambda row, _: row["status"] != "closed")) -> Verifier:
    return only(changed("tickets", key=ticket["id"], status="closed"))


@close_ticket.oracle
async def _(page: Page, ticket: Row) -> None:
    await open_ticket(page, ticket["id"])
    await choose(page, "Status", "Closed")


@desk.task(
    "Set the priority of ticket #{ticket[id]} to {priority}.",
    "Change ticket #{ticket[id]} to {priority} priority.",
    heldout_wordings=("Ticket #{ticket[id]} should have the priority {priority}.",),
    max_steps=18,
    expected_steps=7,
    tags=("ticket", "menu", "easy"),
)
def set_priority(
    priority: str = one_of("Low", "Normal", "High", "Urgent"),
    ticket: Row = rows("tickets", where=lambda row, p: row["priority"] != p["priority"].lower()),
) -> Verifier:
    return only(changed("tickets", key=ticket["id"], priority=priority.lower()))


@set_priority.oracle
async def _(page: Page, priority: str, ticket: Row) -> None:
    await open_ticket(page, ticket["id"])
    await choose(page, "Priority", priority)


@desk.task(
    "Assign ticket #{ticket[id]} to {agent[name]}.",
    "Give ticket #{ticket[id]} to the agent {agent[name]}.",
    heldout_wordings=("{agent[name]} should take care of ticket #{ticket[id]}: assign it.",),
    max_steps=18,
    expected_steps=7,
    tags=("ticket", "menu", "easy"),
)
def assign_ticket(ticket: Row = rows("tickets"), agent: Row = rows("agents", where=other_agents)) -> Verifier:
    return only(changed("tickets", key=ticket["id"], assignee_id=agent["id"]))


@assign_ticket.oracle
async def _(page: Page, ticket: Row, agent: Row) -> None:
    await open_ticket(page, ticket["id"])
    await choose(page, "Assignee", agent["name"])


@desk.task(
    'Assign the ticket with the subject "{ticket[subject]}" to {agent[name]}.',
    'Find the ticket "{ticket[subject]}" and give it to {agent[name]}.',
    max_steps=25,
    expected_steps=7,
    tags=("ticket", "search", "medium"),
)
def assign_by_subject(
    ticket: Row = one_from(with_own_subject), agent: Row = rows("agents", where=other_agents)
) -> Verifier:
    return only(changed("tickets", key=ticket["id"], assignee_id=agent["id"]))


@assign_by_subject.oracle
async def _(page: Page, ticket: Row, agent: Row) -> None:
    await search(page, ticket["subject"])
    await page.get_by_role("link", name=ticket["subject"], exact=True).click()
    await choose(page, "Assignee", agent["name"])


@desk.task(
    'Add the tag "{tag}" to ticket #{ticket[id]}.',
    'Tag ticket #{ticket[id]} with "{tag}".',
    max_steps=20,
    expected_steps=8,
    tags=("ticket", "typing", "easy"),
)
def add_tag(ticket: Row = rows("tickets"), tag: str = one_from(missing_tags)) -> Verifier:
    return only(added("ticket_tags", ticket_id=ticket["id"], tag=tag))


@add_tag.oracle
async def _(page: Page, ticket: Row, tag: str) -> None:
    await open_ticket(page, ticket["id"])
    await page.get_by_role("textbox", name="New tag").fill(tag)
    await page.get_by_role("button", name="Add", exact=True).click()


@desk.task(
    'Remove the tag "{tagged[tag]}" from ticket #{tagged[ticket_id]}.',
    'Ticket #{tagged[ticket_id]} should not have the tag "{tagged[tag]}" any more: take it away.',
    max_steps=16,
    expected_steps=6,
    tags=("ticket", "easy"),
)
def remove_tag(tagged: Row = rows("ticket_tags")) -> Verifier:
    return only(removed("ticket_tags", ticket_id=tagged["ticket_id"], tag=tagged["tag"]))


@remove_tag.oracle
async def _(page: Page, tagged: Row) -> None:
    await open_ticket(page, tagged["ticket_id"])
    await page.get_by_role("button", name=f"Remove tag {tagged['tag']}", exact=True).click()


@desk.task(
    'Reply to the customer on ticket #{ticket[id]} with this text: "{text}"',
    'Send the customer of ticket #{ticket[id]} the reply "{text}"',
    heldout_wordings=('Answer ticket #{ticket[id]} with a public reply that says "{text}"',),
    max_steps=20,
    expected_steps=8,
    tags=("ticket", "typing", "medium"),
)
def reply(
    ticket: Row = rows("tickets", where=lambda row, _: row["status"] in ("open", "pending")),
    text: str = one_of("The refund is on its way.", "Please update the app.", "Could you send a screenshot?"),
) -> Verifier:
    return only(added("comments", ticket_id=ticket["id"], kind="reply", body=text))


@reply.oracle
async def _(page: Page, ticket: Row, text: str) -> None:
    await open_ticket(page, ticket["id"])
    await page.get_by_role("textbox", name="Message").fill(text)
    await page.get_by_role("button", name="Send").click()


@desk.task(
    'Leave an internal note on ticket #{ticket[id]}: "{text}"',
    'Add the internal note "{text}" to ticket #{ticket[id]}; the customer must not see it.',
    max_steps=22,
    expected_steps=9,
    tags=("ticket", "typing", "medium"),
)
def add_note(
    ticket: Row = rows("tickets"),
    text: str = one_of("Customer called twice.", "Do not offer a discount.", "See the older ticket."),
) -> Verifier:
    return only(added("comments", ticket_id=ticket["id"], kind="note", body=text))


@add_note.oracle
async def _(page: Page, ticket: Row, text: str) -> None:
    await open_ticket(page, ticket["id"])
    await page.get_by_role("radio", name="Internal note").check()
    await page.get_by_role("textbox", name="Message").fill(text)
    await page.get_by_role("button", name="Send").click()


@desk.task(
    "The customer {customer[name]} has a new {what}: {value}. Put it into the desk.",
    "Change the {what} of the customer {customer[name]} to {value}.",
    max_steps=25,
    expected_steps=11,
    tags=("customer", "typing", "medium"),
)
def change_contact(
    what: str = one_of("email", "phone"), customer: Row = rows("customers"), value: str = computed(new_contact)
) -> Verifier:
    return only(changed("customers", key=customer["id"], **{what: value}))


@change_contact.oracle
async def _(page: Page, what: str, customer: Row, value: str) -> None:
    await open_customer_page(page, customer["name"])
    await page.get_by_role("link", name="Edit details").click()
    await page.get_by_role("textbox", name=what).fill(value)
    await page.get_by_role("button", name="Save changes").click()


@desk.task(
    'Open a {priority} priority ticket for {customer[name]} with the subject "{subject}" and the description "{text}"',
    'Create a ticket: customer {customer[name]}, priority {priority}, subject "{subject}", description "{text}"',
    max_steps=35,
    expected_steps=12,
    tags=("form", "typing", "medium"),
)
def create_ticket(
    customer: Row = rows("customers"),
    subject: str = one_of("Printer offline", "Wrong seat count", "Cannot open the archive", "Question about taxes"),
    priority: str = one_of("Low", "Normal", "High", "Urgent"),
    text: str = one_of("Called this morning.", "It began after the update.", "Please call back before noon."),
) -> Verifier:
    row = {"customer_id": customer["id"], "subject": subject, "description": text, "priority": priority.lower()}
    return only(added("tickets", row, status="open", assignee_id=None))


@create_ticket.oracle
async def _(page: Page, customer: Row, subject: str, priority: str, text: str) -> None:
    await page.get_by_role("link", name="New ticket").click()
    await page.get_by_role("button", name="Customer:").click()
    await page.get_by_role("textbox", name="Find a customer").fill(customer["name"])
    await page.get_by_role("textbox", name="Find a customer").press("Enter")
    await page.get_by_role("radio", name=priority).check()
    await page.get_by_role("textbox", name="Subject").fill(subject)
    await page.get_by_role("textbox", name="Description").fill(text)
    await page.get_by_role("button", name="Create ticket").click()


@desk.task(
    'Exactly one {ticket[status]} ticket with the tag "{ticket[tag]}" has the priority {ticket[priority]}. Close it.',
    'Close the ticket with the status {ticket[status]}, the priority {ticket[priority]} and the tag "{ticket[tag]}".',
    max_steps=25,
    expected_steps=12,
    tags=("ticket", "filter", "hard"),
)
def close_filtered(ticket: Row = one_from(tagged_alone)) -> Verifier:
    return only(changed("tickets", key=ticket["id"], status="closed"))


@close_filtered.oracle
async def _(page: Page, ticket: Row) -> None:
    filters = {"status": ticket["status"].capitalize(), "priority": ticket["priority"].capitalize()}
    await show_tickets(page, **filters, tag=ticket["tag"])
    await page.get_by_role("link", name=f"#{ticket['id']}", exact=True).click()
    await choose(page, "Status", "Closed")


@desk.task(
    "Reassign all open tickets with the priority {work[priority]} from {work[agent][name]} to {other[name]}.",
    "{work[agent][name]} is away: give their open tickets with the priority {work[priority]} to {other[name]}.",
    max_steps=40,
    expected_steps=11,
    tags=("bulk", "filter", "hard"),
)
def reassign_all(
    work: Row = one_from(workloads),
    other: Row = rows("agents", where=lambda row, p: row["id"] != p["work"]["agent"]["id"]),
) -> Verifier:
    return only(*(changed("tickets", key=number, assignee_id=other["id"]) for number in work["ids"]))


@reassign_all.oracle
async def _(page: Page, work: Row, other: Row) -> None:
    await show_tickets(page, status="Open", priority=work["priority"].capitalize(), assignee=work["agent"]["name"])
    await page.get_by_role("checkbox", name="Select all").check()
    await choose(page, "Assign to", other["name"])


@desk.task(
    'Triage ticket #{ticket[id]}: assign it to {agent[name]}, set the priority to {priority} and add the tag "{tag}".',
    'Ticket #{ticket[id]} needs the tag "{tag}", the priority {priority} and {agent[name]} as its assignee.',
    max_steps=35,
    expected_steps=12,
    tags=("ticket", "menu", "hard"),
)
def triage(
    priority: str = one_of("Low", "Normal", "High", "Urgent"),
    ticket: Row = rows(
        "tickets", where=lambda row, p: row["assignee_id"] is None and row["priority"] != p["priority"].lower()
    ),
    agent: Row = rows("agents"),
    tag: str = one_from(missing_tags),
) -> Verifier:
    return only(
        changed("tickets", key=ticket["id"], assignee_id=agent["id"], priority=priority.lower()),
        added("ticket_tags", ticket_id=ticket["id"], tag=tag),
    )


@triage.oracle
async def _(page: Page, priority: str, ticket: Row, agent: Row, tag: str) -> None:
    await open_ticket(page, ticket["id"])
    await choose(page, "Assignee", agent["name"])
    await choose(page, "Priority", priority)
    await page.get_by_role("textbox", name="New tag").fill(tag)
    await page.get_by_role("textbox", name="New tag").press("Enter")
