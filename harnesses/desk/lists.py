"""The list of tickets: filters, saved views, and many tickets at once."""

from __future__ import annotations

from collections import Counter

from uigym.harnesses.desk.product import (
    UNFINISHED,
    Page,
    Params,
    choose,
    desk,
    is_overdue,
    only,
    search,
    show_tickets,
    tickets,
)
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier

VIEW_NAMES = ("Morning round", "Watch list", "Team queue", "Before the weekend")


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
    own = {kind for kind, tickets in count.items() if tickets == 1 and kind[0] in UNFINISHED}
    return [{**row, "tag": tag} for row, tag in kinds if (row["status"], row["priority"], tag) in own]


def late_work(state: State, params: Params) -> list[Row]:
    """Agents with two to ten overdue tickets, some of them not urgent yet."""
    found = []
    for agent in state.tables["agents"]:
        late = [row for row in tickets(state, assignee_id=agent["id"]) if is_overdue(state, row)]
        ids = [row["id"] for row in late if row["priority"] != "urgent"]
        if 2 <= len(late) <= 10 and ids:
            found.append({"agent": agent, "ids": ids})
    return found


def late_alone(state: State, params: Params) -> list[Row]:
    """Overdue tickets that are due before every other of their agent, and not urgent yet."""
    found = []
    for agent in state.tables["agents"]:
        late = [row for row in tickets(state, assignee_id=agent["id"]) if is_overdue(state, row)]
        late.sort(key=lambda row: str(row["due_on"]))
        first = late[:1] if len(late) == 1 or (late and late[0]["due_on"] != late[1]["due_on"]) else []
        found += [{"agent": agent, "ticket": row} for row in first if row["priority"] != "urgent"]
    return found


def groups(state: State, params: Params) -> list[Row]:
    """Customer and status of which there are two tickets or more, with a tag in use that none of them has."""
    tags: dict[int, set[str]] = {}
    for row in state.tables["ticket_tags"]:
        tags.setdefault(row["ticket_id"], set()).add(row["tag"])
    used = sorted(set().union(*tags.values()))
    ids: dict[tuple[int, str], list[int]] = {}
    for row in state.tables["tickets"]:
        ids.setdefault((row["customer_id"], row["status"]), []).append(row["id"])
    names = [row["name"].casefold() for row in state.tables["customers"]]
    found = []
    for customer in state.tables["customers"]:
        if sum(customer["name"].casefold() in name for name in names) > 1:
            continue  # a search would find another one's tickets too
        for status in ("open", "pending", "closed"):
            mine = ids.get((customer["id"], status), [])
            free = [tag for tag in used if not any(tag in tags.get(id, ()) for id in mine)]
            if len(mine) > 1 and free:
                found.append({"customer": customer, "status": status.capitalize(), "ids": mine, "tags": free})
    return found


def new_filters(state: State, params: Params) -> list[Row]:
    """Status and tag of which there is no saved view."""
    saved = {(row["status"], row["tag"]) for row in state.tables["views"]}
    tags = sorted({row["tag"] for row in state.tables["ticket_tags"]})
    kinds = [(status, tag) for status in ("open", "pending", "solved", "closed") for tag in tags]
    return [{"status": status.capitalize(), "tag": tag} for status, tag in kinds if (status, tag) not in saved]


@desk.task(
    'Exactly one {ticket[status]} ticket with the tag "{ticket[tag]}" has the priority {ticket[priority]}. Close it.',
    'Close the ticket with the status {ticket[status]}, the priority {ticket[priority]} and the tag "{ticket[tag]}".',
    heldout_wordings=(
        'Of the tickets tagged "{ticket[tag]}", one alone has both the status {ticket[status]} and the priority '
        "{ticket[priority]}: set it to Closed.",
    ),
    max_steps=30,
    expected_steps=12,
    tags=("table", "find", "hard"),
)
def close_filtered(ticket: Row = one_from(tagged_alone)) -> Verifier:
    return only(changed("tickets", key=ticket["id"], status="closed"))


@close_filtered.oracle
async def _(page: Page, ticket: Row) -> None:
    await show_tickets(page, status=ticket["status"], priority=ticket["priority"], tag=ticket["tag"])
    await page.get_by_role("link", name=f"#{ticket['id']}", exact=True).click()
    await choose(page, "status", "closed")


@desk.task(
    "Reassign all open tickets with the priority {work[priority]} from {work[agent][name]} to {other[name]}.",
    "{work[agent][name]} is away: give their open tickets with the priority {work[priority]} to {other[name]}.",
    heldout_wordings=(
        "{other[name]} takes over every open ticket of {work[priority]} priority that {work[agent][name]} has now.",
    ),
    max_steps=40,
    expected_steps=11,
    tags=("table", "multi-step", "hard"),
)
def reassign_all(
    work: Row = one_from(workloads),
    other: Row = rows("agents", where=lambda row, p: row["id"] != p["work"]["agent"]["id"]),
) -> Verifier:
    return only(*(changed("tickets", key=number, assignee_id=other["id"]) for number in work["ids"]))


@reassign_all.oracle
async def _(page: Page, work: Row, other: Row) -> None:
    await show_tickets(page, status="open", priority=work["priority"], assignee=work["agent"]["id"])
    await page.get_by_test_id("all").check()
    await choose(page, "bulk-assignee", other["id"])


@desk.task(
    'Add the tag "{tag}" to every ticket of the customer {group[customer][name]} that has the status {group[status]}.',
    'Tag all tickets with the status {group[status]} of the customer {group[customer][name]} with "{tag}".',
    heldout_wordings=(
        'The tickets of the customer {group[customer][name]} whose status is {group[status]} shall all get the tag "{tag}".',
    ),
    max_steps=40,
    expected_steps=11,
    tags=("table", "find", "hard"),
)
def tag_many(group: Row = one_from(groups), tag: str = one_from(lambda state, p: p["group"]["tags"])) -> Verifier:
    return only(added("ticket_tags", *({"ticket_id": id} for id in group["ids"]), tag=tag))


@tag_many.oracle
async def _(page: Page, group: Row, tag: str) -> None:
    await search(page, group["customer"]["name"])
    await choose(page, "filter-status", group["status"].lower())
    await page.get_by_test_id("all").check()
    await choose(page, "bulk-tag", tag)


@desk.task(
    "Set the priority of all overdue tickets of {work[agent][name]} to Urgent.",
    "Every ticket that is assigned to {work[agent][name]} and overdue shall have the priority Urgent.",
    heldout_wordings=("{work[agent][name]} is late with some tickets: give each overdue one the priority Urgent.",),
    max_steps=40,
    expected_steps=9,
    tags=("date", "table", "hard"),
)
def raise_overdue(work: Row = one_from(late_work)) -> Verifier:
    return only(*(changed("tickets", key=number, priority="urgent") for number in work["ids"]))


@raise_overdue.oracle
async def _(page: Page, work: Row) -> None:
    await show_tickets(page, assignee=work["agent"]["id"], due="overdue")
    await page.get_by_test_id("all").check()
    await choose(page, "bulk-priority", "urgent")


@desk.task(
    'Save a view with the name "{name}" that shows the tickets with the status {by[status]} and the tag "{by[tag]}".',
    'Filter the tickets by the status {by[status]} and the tag "{by[tag]}" and save that as the view "{name}".',
    heldout_wordings=(
        'I look at {by[status]} tickets tagged "{by[tag]}" every day: keep that filter as a view called "{name}".',
    ),
    max_steps=32,
    expected_steps=12,
    tags=("multi-step", "table", "medium"),
)
def save_view(by: Row = one_from(new_filters), name: str = one_of(*VIEW_NAMES)) -> Verifier:
    row = {
        "name": name,
        "q": "",
        "status": by["status"].lower(),
        "priority": "",
        "assignee": "",
        "tag": by["tag"],
        "due": "",
    }
    return only(added("views", row))


@save_view.oracle
async def _(page: Page, by: Row, name: str) -> None:
    await show_tickets(page, status=by["status"].lower(), tag=by["tag"])
    await page.get_by_test_id("save-view").click()
    await page.get_by_test_id("view-name").fill(name)
    await page.get_by_test_id("keep-view").click()


@desk.task(
    "Of the overdue tickets of {work[agent][name]}, take the one with the earliest due date: set its priority to Urgent, "
    'assign it to {other[name]} and leave the internal note "{text}" on it.',
    "Find the ticket of {work[agent][name]} that has been overdue longest. Give it to {other[name]}, make it Urgent, and "
    'add the internal note "{text}".',
    heldout_wordings=(
        "{work[agent][name]} cannot keep up. Their overdue ticket with the earliest due date goes to {other[name]} with the "
        'priority Urgent and the internal note "{text}".',
    ),
    max_steps=50,
    expected_steps=16,
    tags=("date", "compare", "multi-step", "hard"),
)
def hand_over_latest(
    work: Row = one_from(late_alone),
    other: Row = rows("agents", where=lambda row, p: row["id"] != p["work"]["agent"]["id"]),
    text: str = one_of("Please call the customer first.", "This one cannot wait.", "Ask me for the history."),
    id: int = computed(lambda state, p: p["work"]["ticket"]["id"]),
) -> Verifier:
    return only(
        changed("tickets", key=id, priority="urgent"),
        changed("tickets", key=id, assignee_id=other["id"]),
        added("comments", ticket_id=id, kind="note", body=text),
    )


@hand_over_latest.oracle
async def _(page: Page, work: Row, other: Row, text: str, id: int) -> None:
    await show_tickets(page, assignee=work["agent"]["id"], due="overdue")
    await page.get_by_test_id("sort-due").click()
    await page.get_by_role("link", name=f"#{id}", exact=True).click()
    await page.get_by_test_id("kind-note").check()
    await page.get_by_test_id("body").fill(text)
    await page.get_by_test_id("send").click()
    await choose(page, "priority", "urgent")
    await choose(page, "assignee", other["id"])
