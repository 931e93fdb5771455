"""Changing one ticket, or one customer."""

from __future__ import annotations

from collections import Counter

from uigym.harnesses.desk.product import (
    Page,
    Params,
    choose,
    desk,
    only,
    open_customer_page,
    open_ticket,
    other_agents,
    search,
    tags_of,
)
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier

FILES = {
    "minutes.txt": "Call on Monday\nThe customer agreed to wait.\n",
    "costs.csv": "item,amount\nseats,120\nstorage,45\n",
    "checklist.md": "- ask for the version\n- try another browser\n",
}
"""What can be uploaded."""


def with_own_subject(state: State, params: Params) -> list[Row]:
    """Unfinished tickets whose subject no other ticket has."""
    count = Counter(row["subject"] for row in state.tables["tickets"])
    return [row for row in state.tables["tickets"] if count[row["subject"]] == 1 and row["status"] != "closed"]


def missing_tags(state: State, params: Params) -> list[str]:
    """Tags that the ticket does not have."""
    has = tags_of(state, params["ticket"]["id"])
    return [tag for tag in ("vip", "follow-up", "legal", "billing", "api", "security", "mobile") if tag not in has]


def not_in_copy(state: State, params: Params) -> list[Row]:
    """Agents that get no copies of the ticket's messages."""
    copied = {row["email"] for row in state.tables["ticket_ccs"] if row["ticket_id"] == params["ticket"]["id"]}
    return [agent for agent in state.tables["agents"] if agent["email"] not in copied]


def new_contact(state: State, params: Params) -> str:
    """A phone number with other last digits, or an address with the last name alone."""
    old = params["customer"][params["what"]]
    return f"{old[:-4]}{(int(old[-4:]) + 1234) % 10_000:04d}" if params["what"] == "phone" else old.partition(".")[2]


@desk.task(
    "Close ticket #{ticket[id]}.",
    "Set the status of ticket #{ticket[id]} to Closed.",
    heldout_wordings=("Ticket #{ticket[id]} is finished with: give it the status Closed.",),
    max_steps=20,
    expected_steps=7,
    tags=("edit", "easy"),
)
def close_ticket(ticket: Row = rows("tickets", where=lambda row, _: row["status"] != "closed")) -> Verifier:
    return only(changed("tickets", key=ticket["id"], status="closed"))


@close_ticket.oracle
async def _(page: Page, ticket: Row) -> None:
    await open_ticket(page, ticket["id"])
    await choose(page, "status", "closed")


@desk.task(
    "Set the priority of ticket #{ticket[id]} to {priority}.",
    "Change ticket #{ticket[id]} to {priority} priority.",
    heldout_wordings=("Ticket #{ticket[id]} should have the priority {priority}.",),
    max_steps=20,
    expected_steps=7,
    tags=("edit", "easy"),
)
def set_priority(
    priority: str = one_of("Low", "Normal", "High", "Urgent"),
    ticket: Row = rows("tickets", where=lambda row, p: row["priority"] != p["priority"].lower()),
) -> Verifier:
    return only(changed("tickets", key=ticket["id"], priority=priority.lower()))


@set_priority.oracle
async def _(page: Page, priority: str, ticket: Row) -> None:
    await open_ticket(page, ticket["id"])
    await choose(page, "priority", priority.lower())


@desk.task(
    "Assign ticket #{ticket[id]} to {agent[name]}.",
    "Give ticket #{ticket[id]} to the agent {agent[name]}.",
    heldout_wordings=("{agent[name]} should take care of ticket #{ticket[id]}: assign it.",),
    max_steps=20,
    expected_steps=7,
    tags=("edit", "easy"),
)
def assign_ticket(ticket: Row = rows("tickets"), agent: Row = rows("agents", where=other_agents)) -> Verifier:
    return only(changed("tickets", key=ticket["id"], assignee_id=agent["id"]))


@assign_ticket.oracle
async def _(page: Page, ticket: Row, agent: Row) -> None:
    await open_ticket(page, ticket["id"])
    await choose(page, "assignee", agent["id"])


@desk.task(
    'Assign the ticket with the subject "{ticket[subject]}" to {agent[name]}.',
    'Find the ticket "{ticket[subject]}" and give it to {agent[name]}.',
    heldout_wordings=('{agent[name]} takes over the ticket "{ticket[subject]}": assign it.',),
    max_steps=25,
    expected_steps=7,
    tags=("find", "edit", "medium"),
)
def assign_by_subject(
    ticket: Row = one_from(with_own_subject), agent: Row = rows("agents", where=other_agents)
) -> Verifier:
    return only(changed("tickets", key=ticket["id"], assignee_id=agent["id"]))


@assign_by_subject.oracle
async def _(page: Page, ticket: Row, agent: Row) -> None:
    await search(page, ticket["subject"])
    await page.get_by_role("link", name=ticket["subject"], exact=True).click()
    await choose(page, "assignee", agent["id"])


@desk.task(
    'Add the tag "{tag}" to ticket #{ticket[id]}.',
    'Tag ticket #{ticket[id]} with "{tag}".',
    heldout_wordings=('Ticket #{ticket[id]} needs one tag more: "{tag}".',),
    max_steps=24,
    expected_steps=8,
    tags=("edit", "easy"),
)
def add_tag(ticket: Row = rows("tickets"), tag: str = one_from(missing_tags)) -> Verifier:
    return only(added("ticket_tags", ticket_id=ticket["id"], tag=tag))


@add_tag.oracle
async def _(page: Page, ticket: Row, tag: str) -> None:
    await open_ticket(page, ticket["id"])
    await page.get_by_test_id("new-tag").fill(tag)
    await page.get_by_test_id("add-tag").click()


@desk.task(
    'Remove the tag "{tagged[tag]}" from ticket #{tagged[ticket_id]}.',
    'Ticket #{tagged[ticket_id]} should not have the tag "{tagged[tag]}" any more: take it away.',
    heldout_wordings=('The tag "{tagged[tag]}" is wrong on ticket #{tagged[ticket_id]}. Remove it.',),
    max_steps=18,
    expected_steps=6,
    tags=("edit", "easy"),
)
def remove_tag(tagged: Row = rows("ticket_tags")) -> Verifier:
    return only(removed("ticket_tags", ticket_id=tagged["ticket_id"], tag=tagged["tag"]))


@remove_tag.oracle
async def _(page: Page, tagged: Row) -> None:
    await open_ticket(page, tagged["ticket_id"])
    await page.get_by_test_id(f"remove-tag-{tagged['tag']}").click()


@desk.task(
    'Reply to the customer on ticket #{ticket[id]} with this text: "{text}"',
    'Send the customer of ticket #{ticket[id]} the reply "{text}"',
    heldout_wordings=('Answer ticket #{ticket[id]} with a public reply that says "{text}"',),
    max_steps=24,
    expected_steps=8,
    tags=("form", "medium"),
)
def reply(
    ticket: Row = rows("tickets", where=lambda row, _: row["status"] in ("open", "pending")),
    text: str = one_of("The refund is on its way.", "Please update the app.", "Could you send a screenshot?"),
) -> Verifier:
    return only(added("comments", ticket_id=ticket["id"], kind="reply", body=text))


@reply.oracle
async def _(page: Page, ticket: Row, text: str) -> None:
    await open_ticket(page, ticket["id"])
    await page.get_by_test_id("body").fill(text)
    await page.get_by_test_id("send").click()


@desk.task(
    'Leave an internal note on ticket #{ticket[id]}: "{text}"',
    'Add the internal note "{text}" to ticket #{ticket[id]}; the customer must not see it.',
    heldout_wordings=(
        'Write "{text}" on ticket #{ticket[id]} where only the agents can read it, as an internal note.',
    ),
    max_steps=26,
    expected_steps=9,
    tags=("form", "medium"),
)
def add_note(
    ticket: Row = rows("tickets"),
    text: str = one_of("Customer called twice.", "Do not offer a discount.", "See the older ticket."),
) -> Verifier:
    return only(added("comments", ticket_id=ticket["id"], kind="note", body=text))


@add_note.oracle
async def _(page: Page, ticket: Row, text: str) -> None:
    await open_ticket(page, ticket["id"])
    await page.get_by_test_id("kind-note").check()
    await page.get_by_test_id("body").fill(text)
    await page.get_by_test_id("send").click()


@desk.task(
    "The customer {customer[name]} has a new {what}: {value}. Put it into the desk.",
    "Change the {what} of the customer {customer[name]} to {value}.",
    heldout_wordings=("From now on the {what} of the customer {customer[name]} is {value}. Save that.",),
    max_steps=30,
    expected_steps=11,
    tags=("form", "edit", "medium"),
)
def change_contact(
    what: str = one_of("email", "phone"), customer: Row = rows("customers"), value: str = computed(new_contact)
) -> Verifier:
    return only(changed("customers", key=customer["id"], **{what: value}))


@change_contact.oracle
async def _(page: Page, what: str, customer: Row, value: str) -> None:
    await open_customer_page(page, customer["name"])
    await page.get_by_test_id("edit").click()
    await page.get_by_test_id(what).fill(value)
    await page.get_by_test_id("save").click()


@desk.task(
    'Write "{text}" into the empty notes of the customer {customer[name]}.',
    'The customer {customer[name]} has no notes yet. Add this one: "{text}"',
    heldout_wordings=('Keep in mind about the customer {customer[name]}, in their notes: "{text}"',),
    max_steps=30,
    expected_steps=10,
    tags=("form", "edit", "medium"),
)
def write_customer_note(
    customer: Row = rows("customers", where=lambda row, _: not row["notes"]),
    text: str = one_of("Calls back after four.", "Pays by bank transfer.", "Has moved to another team."),
) -> Verifier:
    return only(changed("customers", key=customer["id"], notes=text))


@write_customer_note.oracle
async def _(page: Page, customer: Row, text: str) -> None:
    await open_customer_page(page, customer["name"])
    await page.get_by_test_id("edit").click()
    await page.get_by_test_id("notes").fill(text)
    await page.get_by_test_id("save").click()


@desk.task(
    'Open a {priority} priority ticket for {customer[name]} with the subject "{subject}" and the description "{text}"',
    'Create a ticket: customer {customer[name]}, priority {priority}, subject "{subject}", description "{text}"',
    heldout_wordings=(
        'The customer {customer[name]} called. New ticket, please: priority {priority}, subject "{subject}", '
        'description "{text}"',
    ),
    max_steps=36,
    expected_steps=12,
    tags=("form", "medium"),
)
def create_ticket(
    customer: Row = rows("customers"),
    subject: str = one_of("Printer offline", "Wrong seat count", "Cannot open the archive", "Question about taxes"),
    priority: str = one_of("Low", "Normal", "High", "Urgent"),
    text: str = one_of("Called this morning.", "It began after the update.", "Please call back before noon."),
) -> Verifier:
    row = {"customer_id": customer["id"], "subject": subject, "description": text, "priority": priority.lower()}
    return only(added("tickets", row, status="open", assignee_id=None, due_on=None, merged_into=None))


@create_ticket.oracle
async def _(page: Page, customer: Row, subject: str, priority: str, text: str) -> None:
    await page.get_by_test_id("new-ticket").click()
    await page.get_by_test_id("customer").click()
    await page.get_by_test_id("find-customer").fill(customer["name"])
    await page.get_by_test_id("find-customer").press("Enter")
    await page.get_by_test_id(f"priority-{priority.lower()}").check()
    await page.get_by_test_id("subject").fill(subject)
    await page.get_by_test_id("description").fill(text)
    await page.get_by_test_id("create").click()


@desk.task(
    'Triage ticket #{ticket[id]}: assign it to {agent[name]}, set the priority to {priority} and add the tag "{tag}".',
    'Ticket #{ticket[id]} needs the tag "{tag}", the priority {priority} and {agent[name]} as its assignee.',
    heldout_wordings=(
        "Three things about ticket #{ticket[id]}: {agent[name]} gets it, its priority is {priority}, and it has the tag "
        '"{tag}" besides.',
    ),
    max_steps=36,
    expected_steps=12,
    tags=("multi-step", "edit", "hard"),
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
    await choose(page, "assignee", agent["id"])
    await choose(page, "priority", priority.lower())
    await page.get_by_test_id("new-tag").fill(tag)
    await page.get_by_test_id("new-tag").press("Enter")


@desk.task(
    "Put the agent {agent[name]} in copy (CC) of ticket #{ticket[id]}, with the address on the page Agents.",
    "Find the e-mail address of the agent {agent[name]} and add it as a CC to ticket #{ticket[id]}.",
    heldout_wordings=("{agent[name]}, an agent, wants copies of ticket #{ticket[id]}: add their address as a CC.",),
    max_steps=30,
    expected_steps=9,
    tags=("find", "edit", "medium"),
)
def add_copy(ticket: Row = rows("tickets"), agent: Row = one_from(not_in_copy)) -> Verifier:
    return only(added("ticket_ccs", ticket_id=ticket["id"], email=agent["email"]))


@add_copy.oracle
async def _(page: Page, ticket: Row, agent: Row) -> None:
    await page.get_by_test_id("nav-agents").click()
    await open_ticket(page, ticket["id"])
    await page.get_by_test_id("new-email").fill(agent["email"])
    await page.get_by_test_id("add-email").click()


@desk.task(
    "Attach the file {file} to ticket #{ticket[id]}.",
    "Upload {file} to ticket #{ticket[id]}.",
    heldout_wordings=("Ticket #{ticket[id]} lacks a file: add {file} to it.",),
    max_steps=20,
    expected_steps=7,
    files=FILES,
    tags=("file", "easy"),
)
def attach_file(ticket: Row = rows("tickets"), file: str = one_of(*FILES)) -> Verifier:
    return only(added("attachments", ticket_id=ticket["id"], name=file, content=FILES[file]))


@attach_file.oracle
async def _(page: Page, ticket: Row, file: str) -> None:
    await open_ticket(page, ticket["id"])
    await page.get_by_test_id("attach").set_input_files(file)
