"""Tasks that come by mail, are looked up in the desk, and answered by mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uigym.harnesses.desk.product import open_ticket, search
from uigym.harnesses.frontdesk.letters import ASKED_ASSIGNEE, ASKED_PRIORITY, ASKED_STATUS, LISTED
from uigym.harnesses.frontdesk.product import LOGS, Page, frontdesk, just, read, to_desk
from uigym.harnesses.mail.product import send, sent, to
from uigym.params import computed, one_from
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.match import text
from uigym.verifiers.state import unchanged
from uigym.verify import Verifier, all_of

Params = Mapping[str, Any]


def replied(letter: Row, said: str) -> Verifier:
    """One answer to the letter, with just this text, and nothing else."""
    subject, whom = f"Re: {letter['subject']}", to(letter["address"])
    mail = sent(thread_id=letter["thread"], reply_to=letter["mail"], recipients=whom, subject=subject, text=text(said))
    return just(mail)


async def reply(page: Page, letter: Row, said: str) -> None:
    """Back to the mail, and answer the letter."""
    await page.get_by_test_id("go-mail").click()
    await read(page, letter)
    await page.get_by_test_id(f"reply-{letter['mail']}").click()
    await page.get_by_test_id("body").fill(said)
    await send(page)


async def look_up(page: Page, letter: Row) -> None:
    """Read the letter, and open its ticket in the desk."""
    await read(page, letter)
    await to_desk(page)
    await open_ticket(page, letter["ticket"]["id"])


@frontdesk.task(
    'Answer the mail "{letter[subject]}" with one word: the status that the ticket has in the desk (Open, Pending, Solved or Closed).',
    'Look up in the desk what {letter[sender]} asks in the mail "{letter[subject]}", and reply with the status alone: Open, Pending, Solved or Closed.',
    heldout_wordings=(
        '{letter[sender]} wants to know the status of a ticket ("{letter[subject]}"). Reply with Open, Pending, Solved or Closed, and nothing more.',
    ),
    max_steps=63,
    expected_steps=21,
    tags=("navigate", "find", "multi-step", "hard"),
)
def reply_with_status(letter: Row = one_from(ASKED_STATUS)) -> Verifier:
    return replied(letter, letter["ticket"]["status"])


@reply_with_status.oracle
async def _(page: Page, letter: Row) -> None:
    await look_up(page, letter)
    await reply(page, letter, letter["ticket"]["status"].capitalize())


@frontdesk.task(
    'Answer the mail "{letter[subject]}" with one word: the priority that the ticket has in the desk (Low, Normal, High or Urgent).',
    'Look up in the desk what {letter[sender]} asks in the mail "{letter[subject]}", and reply with the priority alone: Low, Normal, High or Urgent.',
    heldout_wordings=(
        '{letter[sender]} wants to know the priority of a ticket ("{letter[subject]}"). Reply with Low, Normal, High or Urgent, and nothing more.',
    ),
    max_steps=63,
    expected_steps=21,
    tags=("navigate", "find", "multi-step", "hard"),
)
def reply_with_priority(letter: Row = one_from(ASKED_PRIORITY)) -> Verifier:
    return replied(letter, letter["ticket"]["priority"])


@reply_with_priority.oracle
async def _(page: Page, letter: Row) -> None:
    await look_up(page, letter)
    await reply(page, letter, letter["ticket"]["priority"].capitalize())


def assignee(state: State, params: Params) -> str:
    """Who has the letter's ticket."""
    id = params["letter"]["ticket"]["assignee_id"]
    return next(str(row["name"]) for row in state.tables["desk.agents"] if row["id"] == id)


@frontdesk.task(
    'Answer the mail "{letter[subject]}" with just the name of the agent to whom the desk has assigned the ticket.',
    '{letter[sender]} asks by mail who works on a ticket ("{letter[subject]}"). Look it up in the desk and reply with the agent\'s full name, nothing else.',
    heldout_wordings=(
        'Find the assignee of the ticket in the mail "{letter[subject]}" and send the full name, and only that, as a reply.',
    ),
    max_steps=63,
    expected_steps=21,
    tags=("navigate", "find", "multi-step", "hard"),
)
def reply_with_assignee(letter: Row = one_from(ASKED_ASSIGNEE), name: str = computed(assignee)) -> Verifier:
    return replied(letter, name)


@reply_with_assignee.oracle
async def _(page: Page, letter: Row, name: str) -> None:
    await look_up(page, letter)
    await reply(page, letter, name)


def assigned(state: State, params: Params) -> int:
    """How many of the listed tickets somebody has."""
    listed = [row for row in state.tables["desk.tickets"] if row["id"] in params["letter"]["ids"]]
    return sum(row["assignee_id"] is not None for row in listed)


@frontdesk.task(
    'How many of the three tickets in the mail "{letter[subject]}" from {letter[sender]} are assigned to an agent in the desk? Answer with a number.',
    'Compare the list in the mail "{letter[subject]}" ({letter[sender]}) with the desk: how many of its tickets have an assignee? Answer with a number.',
    heldout_wordings=(
        'Of the tickets listed in "{letter[subject]}" by {letter[sender]}, some may have nobody in the desk. How many have an assignee? Answer with a number.',
    ),
    max_steps=63,
    expected_steps=21,
    tags=("navigate", "compare", "answer", "hard"),
)
def count_assigned_of_mail(letter: Row = one_from(LISTED), count: int = computed(assigned)) -> Verifier:
    return all_of(equals(count), unchanged(except_=LOGS))


@count_assigned_of_mail.oracle
async def _(page: Page, letter: Row, count: int) -> str:
    await read(page, letter)
    await to_desk(page)
    for id in letter["ids"]:
        await search(page, str(id))
    return str(count)
