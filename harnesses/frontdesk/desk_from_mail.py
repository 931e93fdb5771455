"""Tasks that come by mail and are done in the desk."""

from __future__ import annotations

from uigym.harnesses.desk.product import choose, open_customer_page, open_ticket, search
from uigym.harnesses.frontdesk.letters import HANDED_OVER, LISTED, MOVED, PROBLEM, REFERRED, SOLVED, VANISHED
from uigym.harnesses.frontdesk.product import LOGS, Page, frontdesk, just, read, to_desk
from uigym.params import one_from, one_of
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verifiers.match import text
from uigym.verifiers.state import added, changed, unchanged
from uigym.verify import Verifier, all_of

IF_NOT = " If that is not possible, answer: impossible."


@frontdesk.task(
    '{letter[sender]} has a new phone number: it stands in the mail "{letter[subject]}". Put it into the desk.',
    'Read the mail "{letter[subject]}" from {letter[sender]}, then change the phone number of this customer in the desk.',
    heldout_wordings=(
        'The desk still has the old phone number of {letter[sender]}; the mail "{letter[subject]}" has the new one. Correct it.',
    ),
    max_steps=54,
    expected_steps=21,
    tags=("navigate", "find", "edit", "multi-step", "medium"),
)
def update_phone_from_mail(letter: Row = one_from(MOVED)) -> Verifier:
    return just(changed("desk.customers", key=letter["customer"]["id"], phone=letter["phone"]))


@update_phone_from_mail.oracle
async def _(page: Page, letter: Row) -> None:
    await read(page, letter)
    await to_desk(page)
    await open_customer_page(page, letter["sender"])
    await page.get_by_test_id("edit").click()
    await page.get_by_test_id("phone").fill(letter["phone"])
    await page.get_by_test_id("save").click()


@frontdesk.task(
    'Open a ticket of {priority} priority in the desk for the mail "{letter[subject]}": for the customer who wrote it, with the mail\'s subject '
    "as its subject and the mail's text as its description.",
    'The mail "{letter[subject]}" reports a problem. Make a ticket of it in the desk: its customer is the sender, subject and description are the '
    "mail's subject and text, and its priority is {priority}.",
    heldout_wordings=(
        'Turn the mail "{letter[subject]}" into a {priority} priority ticket of its sender, with the same subject and the same text.',
    ),
    max_steps=55,
    expected_steps=20,
    tags=("navigate", "form", "multi-step", "hard"),
)
def open_ticket_from_mail(
    letter: Row = one_from(PROBLEM), priority: str = one_of("Low", "Normal", "High", "Urgent")
) -> Verifier:
    ticket = {
        "customer_id": letter["customer"]["id"],
        "subject": text(letter["subject"]),
        "description": text(letter["text"]),
    }
    plain: Row = {"status": "open", "assignee_id": None, "due_on": None, "merged_into": None}
    return just(added("desk.tickets", ticket, priority=priority.lower(), **plain))


@open_ticket_from_mail.oracle
async def _(page: Page, letter: Row, priority: str) -> None:
    await read(page, letter)
    await to_desk(page)
    await page.get_by_test_id("new-ticket").click()
    await page.get_by_test_id("customer").click()
    await page.get_by_test_id("find-customer").fill(letter["sender"])
    await page.get_by_test_id("find-customer").press("Enter")
    await page.get_by_test_id(f"priority-{priority.lower()}").check()
    await page.get_by_test_id("subject").fill(letter["subject"])
    await page.get_by_test_id("description").fill(letter["text"])
    await page.get_by_test_id("create").click()


@frontdesk.task(
    'Do in the desk what {letter[sender]} asks for in the mail "{letter[subject]}".' + IF_NOT,
    '{letter[sender]} wants a ticket closed, see the mail "{letter[subject]}". Close it in the desk.' + IF_NOT,
    heldout_wordings=(
        'Follow the mail "{letter[subject]}" from {letter[sender]}: close the ticket that it names.' + IF_NOT,
    ),
    max_steps=40,
    expected_steps=14,
    tags=("navigate", "edit", "multi-step", "medium"),
)
def close_ticket_from_mail(letter: Row = one_from(SOLVED)) -> Verifier:
    return just(changed("desk.tickets", key=letter["ticket"]["id"], status="closed"))


@close_ticket_from_mail.oracle
async def _(page: Page, letter: Row) -> None:
    await read(page, letter)
    await to_desk(page)
    await open_ticket(page, letter["ticket"]["id"])
    await choose(page, "status", "closed")


@frontdesk.task(
    'Do in the desk what {letter[sender]} asks for in the mail "{letter[subject]}".' + IF_NOT,
    '{letter[sender]} wants a ticket closed, see the mail "{letter[subject]}". Close it in the desk.' + IF_NOT,
    heldout_wordings=(
        'Follow the mail "{letter[subject]}" from {letter[sender]}: close the ticket that it names.' + IF_NOT,
    ),
    max_steps=40,
    expected_steps=12,
    tags=("navigate", "find", "refuse", "medium"),
)
def close_ticket_that_is_not_there(letter: Row = one_from(VANISHED)) -> Verifier:
    return all_of(equals("impossible"), unchanged(except_=LOGS))


@close_ticket_that_is_not_there.oracle
async def _(page: Page, letter: Row) -> str:
    await read(page, letter)
    await to_desk(page)
    await search(page, str(letter["number"]))
    return "impossible"


@frontdesk.task(
    '{letter[sender]} hands a ticket over in the mail "{letter[subject]}". Change its assignee in the desk accordingly.',
    'Read the mail "{letter[subject]}" from {letter[sender]} and give the ticket that it names to the agent that it names.',
    heldout_wordings=(
        'See to it that the desk agrees with what {letter[sender]} writes in "{letter[subject]}" about a ticket\'s new assignee.',
    ),
    max_steps=42,
    expected_steps=14,
    tags=("navigate", "edit", "multi-step", "medium"),
)
def hand_over_from_mail(letter: Row = one_from(HANDED_OVER)) -> Verifier:
    return just(changed("desk.tickets", key=letter["ticket"]["id"], assignee_id=letter["agent"]["id"]))


@hand_over_from_mail.oracle
async def _(page: Page, letter: Row) -> None:
    await read(page, letter)
    await to_desk(page)
    await open_ticket(page, letter["ticket"]["id"])
    await choose(page, "assignee", letter["agent"]["id"])


@frontdesk.task(
    'The mail "{letter[subject]}" from {letter[sender]} names the reference of a refund. Leave an internal note that is just this reference on the '
    "ticket that it is for.",
    'Note the refund\'s reference from the mail "{letter[subject]}" ({letter[sender]}) on its ticket in the desk, as an internal note with nothing else in it.',
    heldout_wordings=(
        'Copy the reference in {letter[sender]}\'s mail "{letter[subject]}" into an internal note on the ticket concerned; the note is the reference alone.',
    ),
    max_steps=54,
    expected_steps=21,
    tags=("navigate", "form", "multi-step", "medium"),
)
def note_reference_from_mail(letter: Row = one_from(REFERRED)) -> Verifier:
    return just(added("desk.comments", ticket_id=letter["ticket"]["id"], kind="note", body=text(letter["reference"])))


@note_reference_from_mail.oracle
async def _(page: Page, letter: Row) -> None:
    await read(page, letter)
    await to_desk(page)
    await open_ticket(page, letter["ticket"]["id"])
    await page.get_by_test_id("kind-note").check()
    await page.get_by_test_id("body").fill(letter["reference"])
    await page.get_by_test_id("send").click()


@frontdesk.task(
    'The mail "{letter[subject]}" from {letter[sender]} lists three tickets. Add the tag "{tag}" to each of them in the desk.',
    'Tag the three tickets that {letter[sender]} lists in the mail "{letter[subject]}" with "{tag}".',
    heldout_wordings=(
        'Every ticket in {letter[sender]}\'s list, the mail "{letter[subject]}", needs the tag "{tag}" in the desk.',
    ),
    max_steps=90,
    expected_steps=30,
    tags=("navigate", "edit", "multi-step", "hard"),
)
def tag_tickets_from_mail(
    letter: Row = one_from(LISTED), tag: str = one_of("escalated", "board", "this-week")
) -> Verifier:
    return just(added("desk.ticket_tags", *({"ticket_id": id, "tag": tag} for id in letter["ids"])))


@tag_tickets_from_mail.oracle
async def _(page: Page, letter: Row, tag: str) -> None:
    await read(page, letter)
    await to_desk(page)
    for id in letter["ids"]:
        await open_ticket(page, id)
        await page.get_by_test_id("new-tag").fill(tag)
        await page.get_by_test_id("add-tag").click()
