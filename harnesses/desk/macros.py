"""Macros: answering with them, and keeping them."""

from __future__ import annotations

from typing import Any

from uigym.harnesses.desk.product import (
    UNFINISHED,
    Page,
    Params,
    choose,
    desk,
    only,
    open_ticket,
    owner,
    tags_of,
)
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier


def doing_something(state: State, params: Params) -> list[Row]:
    """Macros that change the ticket in some way beside the message."""
    return [row for row in state.tables["macros"] if _columns(row, params["ticket"]) or _tags(state, row, params)]


def effect(state: State, params: Params) -> dict[str, Any]:
    """What the macro does to the ticket: the message, the columns that change, the tags that are added."""
    macro, ticket = params["macro"], params["ticket"]
    body = macro["body"].replace("{customer}", owner(state, ticket)["name"].split()[0])
    return {"body": body, "columns": _columns(macro, ticket), "tags": _tags(state, macro, params)}


def _columns(macro: Row, ticket: Row) -> dict[str, str]:
    return {name: macro[name] for name in ("status", "priority") if macro[name] and macro[name] != ticket[name]}


def _tags(state: State, macro: Row, params: Params) -> list[str]:
    return [macro["tag"]] if macro["tag"] and macro["tag"] not in tags_of(state, params["ticket"]["id"]) else []


def new_settings(state: State, params: Params) -> list[Row]:
    """Status and tag that differ from the macro's."""
    old = params["macro"]
    statuses = [status for status in ("open", "pending", "solved", "closed") if status != old["status"]]
    tags = [tag for tag in ("answered", "second-line", "watched") if tag != old["tag"]]
    return [{"status": status.capitalize(), "tag": tag} for status in statuses for tag in tags]


@desk.task(
    'Reply to the customer of ticket #{ticket[id]} with the macro "{macro[name]}" as it is.',
    'Send the macro "{macro[name]}" on ticket #{ticket[id]} as a reply, without changing its text.',
    heldout_wordings=(
        'Ticket #{ticket[id]} is a case for the macro "{macro[name]}". Send it to the customer unchanged.',
    ),
    max_steps=26,
    expected_steps=8,
    tags=("multi-step", "edit", "medium"),
)
def use_macro(
    ticket: Row = rows("tickets", where=lambda row, _: row["status"] in UNFINISHED),
    macro: Row = one_from(doing_something),
    does: dict[str, Any] = computed(effect),
) -> Verifier:
    changes = [added("comments", ticket_id=ticket["id"], kind="reply", body=does["body"])]
    if does["columns"]:
        changes.append(changed("tickets", key=ticket["id"], **does["columns"]))
    changes += [added("ticket_tags", ticket_id=ticket["id"], tag=tag) for tag in does["tags"]]
    return only(*changes)


@use_macro.oracle
async def _(page: Page, ticket: Row, macro: Row) -> None:
    await open_ticket(page, ticket["id"])
    await choose(page, "macro", macro["id"])
    await page.get_by_test_id("send").click()


@desk.task(
    'Change the macro "{macro[name]}": it shall set the status to {to[status]} and the tag to "{to[tag]}".',
    'The macro "{macro[name]}" should set the status {to[status]} and the tag "{to[tag]}" from now on. Edit it.',
    heldout_wordings=('Edit the macro "{macro[name]}". Status: {to[status]}. Tag: "{to[tag]}". All else stays.',),
    max_steps=30,
    expected_steps=9,
    tags=("form", "edit", "medium"),
)
def change_macro(macro: Row = rows("macros"), to: Row = one_from(new_settings)) -> Verifier:
    return only(changed("macros", key=macro["id"], status=to["status"].lower(), tag=to["tag"]))


@change_macro.oracle
async def _(page: Page, macro: Row, to: Row) -> None:
    await page.get_by_test_id("nav-macros").click()
    await page.get_by_test_id(f"macro-{macro['id']}").click()
    await page.get_by_test_id("status").select_option(to["status"].lower())
    await page.get_by_test_id("tag").fill(to["tag"])
    await page.get_by_test_id("save").click()


@desk.task(
    'Add a macro with the name "{name}" and the text "{text}" It sets the priority to {priority} and the tag "{tag}".',
    'We need a new macro. Name: "{name}". Text: "{text}" Priority: {priority}. Tag: "{tag}". It leaves the status as it is.',
    heldout_wordings=(
        'Create the macro "{name}", which writes "{text}", sets the priority {priority}, adds the tag "{tag}" and does '
        "nothing else.",
    ),
    max_steps=40,
    expected_steps=12,
    tags=("form", "hard"),
)
def add_macro(
    name: str = one_of("Weekend reply", "Thanks for waiting", "Ask for the order number", "Moved to phone"),
    text: str = one_of(
        "We are back on Monday and will answer then.",
        "Thank you for your patience, we are almost there.",
        "Please tell us when we may call you.",
    ),
    priority: str = one_of("Low", "Normal", "High", "Urgent"),
    tag: str = one_of("weekend", "waiting", "call-back"),
) -> Verifier:
    return only(added("macros", name=name, body=text, status="", priority=priority.lower(), tag=tag))


@add_macro.oracle
async def _(page: Page, name: str, text: str, priority: str, tag: str) -> None:
    await page.get_by_test_id("nav-macros").click()
    await page.get_by_test_id("new-macro").click()
    await page.get_by_test_id("name").fill(name)
    await page.get_by_test_id("body").fill(text)
    await page.get_by_test_id("priority").select_option(priority.lower())
    await page.get_by_test_id("tag").fill(tag)
    await page.get_by_test_id("save").click()
