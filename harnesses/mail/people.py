"""Tasks about contacts and the owner's settings."""

from __future__ import annotations

import re
from datetime import date, timedelta

from uigym.harnesses.mail.product import Page, Params, contacts, conversations, mail, named, only, open_conversation
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier


def strangers(state: State, params: Params) -> list[Row]:
    """Conversations that somebody began who signs with a phone number and is no contact."""
    known = {row["email"] for row in state.tables["contacts"]}
    texts = {row["id"]: row["mails"][0] for row in conversations(state)}
    found = []
    for row in named(state, lambda row: row["mails"][0]["sender"] not in known, ("inbox", "archive", "Projects")):
        signed = re.search(r"^.+, (\+\d[\d ]+)$", texts[row["id"]]["text"], re.MULTILINE)
        if signed:
            found.append({**row, "phone": signed[1], "first": texts[row["id"]]["id"]})
    return found


@mail.task(
    'Add the person who began the conversation "{letter[subject]}" to the contacts: name, address, and the phone number that'
    " stands under that first mail.",
    'The sender of the first mail in "{letter[subject]}" is no contact yet. Make a contact of this person, with name, e-mail'
    " address and the phone number from the signature of that mail.",
    heldout_wordings=(
        'Save whoever wrote the first mail of "{letter[subject]}" as a contact, with the name, the address and the phone'
        " number at the end of the mail.",
    ),
    max_steps=30,
    expected_steps=11,
    tags=("find", "form", "multi-step", "medium"),
)
def add_sender_to_contacts(letter: Row = one_from(strangers)) -> Verifier:
    who = {"name": letter["sender_name"], "email": letter["sender"], "phone": letter["phone"]}
    return only(added("contacts", company="", notes="", **who))


@add_sender_to_contacts.oracle
async def _(page: Page, letter: Row) -> None:
    await open_conversation(page, letter)
    await page.get_by_test_id(f"add-contact-{letter['first']}").click()
    await page.get_by_test_id("phone").fill(letter["phone"])
    await page.get_by_test_id("save").click()


@mail.task(
    "{person[name]} has a new phone number: {phone}. Change it in the contacts.",
    "Set the phone number of the contact {person[name]} to {phone}.",
    heldout_wordings=("In the contacts, {person[name]} shall have the phone number {phone} from now on.",),
    max_steps=33,
    expected_steps=12,
    tags=("find", "form", "easy"),
)
def change_phone(
    person: Row = one_from(contacts),
    phone: str = one_of("+44 301 555 0147", "+49 812 555 0163", "+1 604 555 0119", "+33 471 555 0182"),
) -> Verifier:
    return only(changed("contacts", key=person["id"], phone=phone))


@change_phone.oracle
async def _(page: Page, person: Row, phone: str) -> None:
    await open_contact(page, person)
    await page.get_by_test_id("phone").fill(phone)
    await page.get_by_test_id("save").click()


async def open_contact(page: Page, person: Row) -> None:
    """Find a contact by name and open the page."""
    await page.get_by_test_id("go-contacts").click()
    await page.get_by_test_id("find-contact").fill(person["name"])
    await page.get_by_test_id("find-contact").press("Enter")
    await page.get_by_test_id(f"contact-{person['id']}").click()


def outside(state: State, params: Params) -> list[Row]:
    """Contacts that are not in the group."""
    members = {row["contact_id"] for row in state.tables["group_members"] if row["group_id"] == params["group"]["id"]}
    return [row for row in contacts(state) if row["id"] not in members]


@mail.task(
    "Put the contact {person[name]} into the group {group[name]}.",
    "{person[name]} belongs in the contact group {group[name]}: add this contact to it.",
    heldout_wordings=("Make {person[name]} a member of the group {group[name]} in the contacts.",),
    max_steps=27,
    expected_steps=10,
    tags=("find", "form", "easy"),
)
def add_to_group(group: Row = rows("contact_groups"), person: Row = one_from(outside)) -> Verifier:
    return only(added("group_members", group_id=group["id"], contact_id=person["id"]))


@add_to_group.oracle
async def _(page: Page, group: Row, person: Row) -> None:
    await open_contact(page, person)
    await page.get_by_test_id(f"in-group-{group['id']}").check()
    await page.get_by_test_id("save").click()


def journeys(state: State, params: Params) -> list[Row]:
    """First and last days of a time away, some weeks from now."""
    now = date.fromisoformat(next(row["value"] for row in state.tables["settings"] if row["key"] == "now")[:10])
    ways = [(now + timedelta(days=start), length) for start in range(5, 40, 5) for length in (3, 7, 12)]
    return [{"first": day.isoformat(), "last": (day + timedelta(days=length)).isoformat()} for day, length in ways]


@mail.task(
    'Turn the vacation answer on from {away[first]} to {away[last]}, with the subject "{subject}" and the text "{text}"',
    "Mails shall be answered by themselves from {away[first]} until {away[last]}: set up the vacation answer, subject"
    ' "{subject}", text "{text}"',
    heldout_wordings=(
        "From {away[first]} (first day) to {away[last]} (last day) nobody reads this mailbox. Switch on a vacation answer with"
        ' the subject "{subject}" that says "{text}"',
    ),
    max_steps=51,
    expected_steps=18,
    tags=("form", "date", "hard"),
)
def set_vacation_answer(
    away: Row = one_from(journeys),
    subject: str = one_of("Out of office", "On holiday", "Away for a while"),
    text: str = one_of(
        "I am back soon and will answer then.", "Please write to my colleagues.", "I read my mail again after that."
    ),
) -> Verifier:
    days = {"vacation_from": away["first"], "vacation_until": away["last"]}
    return only(changed("profile", key=1, vacation=1, **days, vacation_subject=subject, vacation_text=text))


@set_vacation_answer.oracle
async def _(page: Page, away: Row, subject: str, text: str) -> None:
    await page.get_by_test_id("go-settings").click()
    await page.get_by_test_id("vacation").check()
    await page.get_by_test_id("vacation_from").fill(away["first"])
    await page.get_by_test_id("vacation_until").fill(away["last"])
    await page.get_by_test_id("vacation_subject").fill(subject)
    await page.get_by_test_id("vacation_text").fill(text)
    await page.get_by_test_id("save-vacation").click()


@mail.task(
    'Change the signature so that it says "{line}" and nothing else.',
    'The signature under the mails shall be just "{line}"',
    heldout_wordings=('Replace the whole signature by "{line}"',),
    max_steps=21,
    expected_steps=8,
    tags=("navigate", "form", "easy"),
)
def set_signature(
    line: str = computed(
        lambda state, _: f"{state.tables['profile'][0]['name']}, {state.tables['profile'][0]['email']}"
    ),
) -> Verifier:
    return only(changed("profile", key=1, signature=line))


@set_signature.oracle
async def _(page: Page, line: str) -> None:
    await page.get_by_test_id("go-settings").click()
    await page.get_by_test_id("signature").fill(line)
    await page.get_by_test_id("save-signature").click()
