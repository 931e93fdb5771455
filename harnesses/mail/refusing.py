"""Tasks that cannot be done, and one that can though it sounds the same."""

from __future__ import annotations

from uigym.harnesses.mail.product import (
    LOGS,
    Page,
    Params,
    conversations,
    files_of,
    find,
    known,
    mail,
    named,
    only,
    others,
    search,
    send,
    to,
)
from uigym.harnesses.mail.writing import IF_NOT, alone, answer_of
from uigym.params import one_from, one_of
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.state import unchanged
from uigym.verify import Verifier, all_of

TEXTS = ("Thank you, I have read it.", "I will answer in detail next week.", "Could you call me about this?")


def refused() -> Verifier:
    """It was said to be impossible, and nothing was done instead."""
    return all_of(equals("impossible"), unchanged(except_=LOGS))


def bare(state: State, params: Params) -> list[Row]:
    """Conversations of one mail without files."""
    return named(state, lambda row: alone(row) and not files_of(state, row["mails"][0]["id"]))


@mail.task(
    'Forward the attachment of the mail "{letter[subject]}" to {person[name]}. ' + IF_NOT,
    '{person[name]} needs the attachment that came with the mail "{letter[subject]}": forward it. ' + IF_NOT,
    heldout_wordings=('Pass the attachment of the mail "{letter[subject]}" on to {person[name]}. ' + IF_NOT,),
    max_steps=18,
    expected_steps=7,
    tags=("find", "file", "refuse", "medium"),
)
def forward_missing_file(letter: Row = one_from(bare), person: Row = one_from(others)) -> Verifier:
    return refused()


@forward_missing_file.oracle
async def _(page: Page, letter: Row) -> str:
    await find(page, letter)
    await page.get_by_test_id(f"thread-{letter['id']}").click()
    return "impossible"


def latest(state: State, params: Params) -> list[Row]:
    """People who wrote, with the conversation of their newest mail, where that is one mail of one person's."""
    newest: dict[str, Row] = {}
    for row in conversations(state):
        for one in row["mails"]:
            if one["status"] == "received" and row["folder"] not in ("spam", "trash"):
                best = newest.get(one["sender_name"])
                if best is None or (one["sent_at"], one["id"]) > (best["at"], best["mail"]):
                    newest[one["sender_name"]] = {
                        **known(row),
                        "mail": one["id"],
                        "at": one["sent_at"],
                        "good": alone(row),
                    }
    names = [row["sender_name"].lower() for row in newest.values()]
    return [
        row for row in newest.values() if row["good"] and sum(row["sender_name"].lower() in name for name in names) == 1
    ]


@mail.task(
    "Reply to the newest mail from {letter[sender_name]} with the text '{text}' " + IF_NOT,
    "Find the newest mail that {letter[sender_name]} sent us, and reply to it with just this text: '{text}' " + IF_NOT,
    heldout_wordings=("Answer the most recent mail of {letter[sender_name]}; the text is '{text}' " + IF_NOT,),
    max_steps=30,
    expected_steps=11,
    tags=("find", "compare", "form", "medium"),
)
def reply_to_newest(letter: Row = one_from(latest), text: str = one_of(*TEXTS)) -> Verifier:
    return only(answer_of(letter, text, recipients=to(letter["sender"])))


@reply_to_newest.oracle
async def _(page: Page, letter: Row, text: str) -> None:
    await search(page, f'from:"{letter["sender_name"]}"')
    await page.get_by_test_id(f"thread-{letter['id']}").click()
    await page.get_by_test_id(f"reply-{letter['mail']}").click()
    await page.get_by_test_id("body").fill(text)
    await send(page)


def nobodies(state: State, params: Params) -> list[str]:
    """Names of people who do not exist, made of the first name of one contact and the last name of another."""
    names = [row["name"] for row in state.tables["contacts"]]
    firsts, lasts = ({name.split()[i] for name in names} for i in (0, -1))
    known = {row["name"] for row in state.tables["contacts"]} | {row["sender_name"] for row in state.tables["messages"]}
    ends = {(name.split()[0], name.split()[-1]) for name in known}
    return sorted(f"{first} {last}" for first in firsts for last in lasts if (first, last) not in ends)


@mail.task(
    "Reply to the newest mail from {name} with the text '{text}' " + IF_NOT,
    "Find the newest mail that {name} sent us, and reply to it with just this text: '{text}' " + IF_NOT,
    heldout_wordings=("Answer the most recent mail of {name}; the text is '{text}' " + IF_NOT,),
    max_steps=15,
    expected_steps=6,
    tags=("find", "refuse", "easy"),
)
def reply_to_nobody(name: str = one_from(nobodies), text: str = one_of(*TEXTS)) -> Verifier:
    return refused()


@reply_to_nobody.oracle
async def _(page: Page, name: str) -> str:
    await search(page, f'from:"{name}"')
    return "impossible"
