"""Tasks about writing mail: new ones, answers, formatted text, files, drafts, and what can still be taken back."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from uigym.harnesses.mail.product import (
    Page,
    Params,
    add_person,
    begun,
    compose,
    contacts,
    conversations,
    enclosed,
    files_of,
    mail,
    named,
    on_the_mail,
    only,
    open_conversation,
    others,
    personal,
    send,
    sent,
    to,
    unformatted,
)
from uigym.harnesses.mail.reading import shipped
from uigym.params import one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.match import any_value, exact
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier, all_of

GONE = any_value("outbox", "sent")
IF_NOT = "If that is not possible, answer: impossible."


def answer_of(letter: Row, text: object, **columns: object) -> Verifier:
    """An answer to the last mail of a conversation."""
    subject = letter["subject"] if letter["subject"].startswith("Re:") else f"Re: {letter['subject']}"
    return sent(**{"reply_to": letter["mail"], "thread_id": letter["id"], "subject": subject, "text": text, **columns})


@mail.task(
    'Reply to the last mail in the conversation "{letter[subject]}" with this text: {text}',
    'Answer the conversation "{letter[subject]}" (its last mail) and write just: {text}',
    heldout_wordings=('The last mail in "{letter[subject]}" needs a reply that says: {text}',),
    max_steps=30,
    expected_steps=11,
    tags=("find", "form", "easy"),
)
def reply_to_mail(
    letter: Row = one_from(lambda state, _: named(state, alone)),
    text: str = one_of(
        "We will call you tomorrow morning.", "The price stays as it is.", "Please send us a photo of it.",
        "I will bring the papers.", "That suits me well.",
    ),
) -> Verifier:  # fmt: skip
    return only(answer_of(letter, text, recipients=to(letter["sender"])))


def alone(conversation: Row) -> bool:
    """Whether a conversation is one mail of one person's, without anybody in copy."""
    first = conversation["mails"][0]
    return (
        personal(conversation)
        and len(conversation["mails"]) == 1
        and not first["cc"]
        and "," not in first["recipients"]
    )


@reply_to_mail.oracle
async def _(page: Page, letter: Row, text: str) -> None:
    await open_conversation(page, letter)
    await page.get_by_test_id(f"reply-{letter['mail']}").click()
    await page.get_by_test_id("body").fill(text)
    await send(page)


def shared(state: State, params: Params) -> list[Row]:
    """Conversations whose last mail came to more people than the owner: who would get an answer to all."""
    me = state.tables["profile"][0]["email"]
    found = []
    for row in conversations(state):
        last = row["mails"][-1]
        people = [each for each in (*last["recipients"].split(", "), *last["cc"].split(", ")) if each and each != me]
        if people and last["status"] == "received" and last["sender"] not in people:
            found.append(
                (row["id"], {"last_sender": last["sender"], "people": people, "last_subject": last["subject"]})
            )
    more = dict(found)
    return [{**row, **more[row["id"]]} for row in named(state, lambda row: row["id"] in more)]


@mail.task(
    'Reply to everybody on the last mail of the conversation "{letter[subject]}": {text}',
    'Write to all people of the last mail in "{letter[subject]}", using Reply to all, this text: {text}',
    heldout_wordings=(
        'The sender and everybody else on the last mail of "{letter[subject]}" shall get this reply: {text}',
    ),
    max_steps=33,
    expected_steps=12,
    tags=("find", "form", "medium"),
)
def reply_to_everybody(
    letter: Row = one_from(shared),
    text: str = one_of(
        "I agree with this plan.", "I need two more days.", "Let us talk on Monday.", "My part is ready."
    ),
) -> Verifier:
    whom = {"recipients": to(letter["last_sender"]), "cc": to(*letter["people"])}
    prefix = "" if letter["last_subject"].startswith("Re:") else "Re: "
    return only(answer_of(letter, text, **whom, subject=f"{prefix}{letter['last_subject']}"))


@reply_to_everybody.oracle
async def _(page: Page, letter: Row, text: str) -> None:
    await open_conversation(page, letter)
    await page.get_by_test_id(f"reply-all-{letter['mail']}").click()
    await page.get_by_test_id("body").fill(text)
    await send(page)


@mail.task(
    'Find the tracking number of the order {order[order]} and reply with it to the last mail of "{letter[subject]}". The'
    " text of the reply shall be the tracking number and nothing else.",
    'The conversation "{letter[subject]}" waits for a tracking number, that of order {order[order]}. Look it up in the mails'
    " and reply to the last mail there with the number alone.",
    heldout_wordings=(
        'Answer the last mail in "{letter[subject]}" with nothing but the tracking number of the order {order[order]}, which'
        " stands in another mail.",
    ),
    max_steps=45,
    expected_steps=16,
    tags=("find", "form", "multi-step", "hard"),
)
def reply_with_tracking_number(
    order: Row = one_from(shipped),
    letter: Row = one_from(lambda s, p: named(s, lambda row: alone(row) and row["id"] != p["order"]["id"])),
) -> Verifier:
    return only(answer_of(letter, order["code"], recipients=to(letter["sender"])))


@reply_with_tracking_number.oracle
async def _(page: Page, order: Row, letter: Row) -> None:
    await page.get_by_test_id("search").fill(order["order"])
    await page.get_by_test_id("search").press("Enter")
    await page.get_by_test_id(f"thread-{order['id']}").click()
    await open_conversation(page, letter)
    await page.get_by_test_id(f"reply-{letter['mail']}").click()
    await page.get_by_test_id("body").fill(order["code"])
    await send(page)


def with_files(state: State, params: Params) -> list[Row]:
    """Conversations of one mail with files: these files."""
    found = named(state, lambda row: alone(row) and bool(files_of(state, row["mails"][-1]["id"])), ("inbox", "archive"))
    for row in found:
        row["files"] = [{key: file[key] for key in ("name", "sha256")} for file in files_of(state, row["mail"])]
    return found


@mail.task(
    'Forward the mail "{letter[subject]}" with all its attachments to {person[name]}, without any text of your own. '
    + IF_NOT,
    '{person[name]} needs the mail "{letter[subject]}" and the attachments that came with it: forward it, adding no text. '
    + IF_NOT,
    heldout_wordings=(
        'Pass the mail "{letter[subject]}" on to {person[name]}, attachments included, text of your own excluded. '
        + IF_NOT,
    ),
    max_steps=33,
    expected_steps=12,
    tags=("find", "file", "form", "medium"),
)
def forward_with_files(letter: Row = one_from(with_files), person: Row = one_from(others)) -> Verifier:
    subject = f"Fwd: {letter['subject']}"
    mail_ = sent(recipients=to(person["email"]), subject=subject, text="", forward_of=letter["mail"])
    return all_of(only(mail_, begun(subject), enclosed(*letter["files"])), on_the_mail)


@forward_with_files.oracle
async def _(page: Page, letter: Row, person: Row) -> None:
    await open_conversation(page, letter)
    await page.get_by_test_id(f"forward-{letter['mail']}").click()
    await add_person(page, "to", person)
    await send(page)


SUBJECTS = ("Visit in autumn", "New price list", "Keys for the office", "Holiday plan", "Photos for the page")
TEXTS = (
    "Please have a look and tell me what you think.", "This can wait until next week.", "The details are in the calendar.",
    "I would like to hear your opinion.",
)  # fmt: skip


@mail.task(
    'Write a mail to {person[name]} with {copy[name]} in Cc. Subject: "{subject}". Text: "{text}"',
    'Send {person[name]} a mail and {copy[name]} a copy of it (Cc). The subject is "{subject}", the text "{text}"',
    heldout_wordings=(
        'New mail, please: to {person[name]}, Cc {copy[name]}, subject "{subject}", and this text: "{text}"',
    ),
    max_steps=45,
    expected_steps=16,
    tags=("form", "multi-step", "medium"),
)
def write_with_copy(
    person: Row = one_from(contacts),
    copy: Row = one_from(others),
    subject: str = one_of(*SUBJECTS),
    text: str = one_of(*TEXTS),
) -> Verifier:
    whom = {"recipients": to(person["email"]), "cc": to(copy["email"])}
    return only(sent(**whom, subject=subject, text=text), begun(subject))


@write_with_copy.oracle
async def _(page: Page, person: Row, copy: Row, subject: str, text: str) -> None:
    await page.get_by_test_id("compose").click()
    await add_person(page, "to", person)
    await add_person(page, "cc", copy)
    await page.get_by_test_id("subject").fill(subject)
    await page.get_by_test_id("body").fill(text)
    await send(page)


@mail.task(
    'Send {person[name]} a mail with the subject "{subject}" and the text "The deadline is {day}." Make only the word {day} bold.',
    'Write to {person[name]}, subject "{subject}", text "The deadline is {day}." In this sentence the word {day}, and nothing but'
    " it, is bold.",
    heldout_wordings=(
        'Mail to {person[name]} about "{subject}" (that is its subject). Its text is the sentence "The deadline is {day}."'
        " Only {day} is set in bold type, without the full stop.",
    ),
    max_steps=45,
    expected_steps=16,
    tags=("rich-text", "form", "medium"),
)
def write_bold_word(
    person: Row = one_from(contacts),
    subject: str = one_of(*SUBJECTS),
    day: str = one_of("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
) -> Verifier:
    body = exact(f"<p>The deadline is <b>{day}</b>.</p>")
    return only(sent(recipients=to(person["email"]), subject=subject, body=body), begun(subject))


@write_bold_word.oracle
async def _(page: Page, person: Row, subject: str, day: str) -> None:
    await compose(page, person, subject, "The deadline is ")
    await page.keyboard.press("Control+B")
    await page.keyboard.type(day)
    await page.keyboard.press("Control+B")
    await page.keyboard.type(".")
    await send(page)


@mail.task(
    'Send {person[name]} a mail with the subject "{subject}" that consists of a bulleted list with three entries, in this'
    " order: {entries[0]}, {entries[1]}, {entries[2]}.",
    'Write {person[name]} a mail, subject "{subject}". Its text is only a bulleted list: {entries[0]}, {entries[1]},'
    " {entries[2]} (one entry each, in this order).",
    heldout_wordings=(
        'A bulleted list of three entries shall go to {person[name]} by mail, with the subject "{subject}" and no other text:'
        " first {entries[0]}, then {entries[1]}, then {entries[2]}.",
    ),
    max_steps=51,
    expected_steps=18,
    tags=("rich-text", "form", "hard"),
)
def write_bulleted_list(
    person: Row = one_from(contacts),
    subject: str = one_of("Things to buy", "What to bring", "Open points"),
    entries: list[str] = one_of(
        ["paper", "ink", "folders"], ["tea", "cups", "sugar"], ["badges", "flyers", "pens"], ["tape", "boxes", "labels"]
    ),
) -> Verifier:
    body = exact(f"<ul>{''.join(f'<li>{entry}</li>' for entry in entries)}</ul>")
    return only(sent(recipients=to(person["email"]), subject=subject, body=body), begun(subject))


@write_bulleted_list.oracle
async def _(page: Page, person: Row, subject: str, entries: list[str]) -> None:
    await compose(page, person, subject)
    await page.get_by_test_id("body").click()
    await page.get_by_test_id("bullets").click()
    for i, entry in enumerate(entries):
        if i:
            await page.keyboard.press("Enter")
        await page.keyboard.type(entry)
    await send(page)


def offered(name: str) -> dict[str, str]:
    """Files that the episode has at hand: the one that is meant, and others."""
    return {
        f"{name}.txt": f"{name}\nThis is the last version.\n",
        f"{name}-old.txt": f"{name}\nThis is an old version.\n",
        "notes.txt": "Nothing of importance.\n",
    }


def digest(text: str) -> str:
    """The sha256 of a text, as the mail client keeps it."""
    return sha256(text.encode()).hexdigest()


@mail.task(
    'Send the file {name}.txt to {person[name]}. The subject is "{subject}"; the mail needs no text.',
    'Mail to {person[name]}, subject "{subject}", no text, with the file {name}.txt attached.',
    heldout_wordings=('Attach {name}.txt to a mail without text, subject "{subject}", and send it to {person[name]}.',),
    max_steps=33,
    expected_steps=12,
    tags=("file", "form", "medium"),
    files=offered,
)
def send_file(
    person: Row = one_from(contacts),
    subject: str = one_of(*SUBJECTS),
    name: str = one_of("agenda", "price-list", "minutes", "report"),
) -> Verifier:
    file = {"name": f"{name}.txt", "sha256": digest(offered(name)[f"{name}.txt"])}
    mail_ = sent(recipients=to(person["email"]), subject=subject, text="")
    return all_of(only(mail_, begun(subject), enclosed(file)), on_the_mail)


@send_file.oracle
async def _(page: Page, person: Row, subject: str, name: str) -> None:
    await compose(page, person, subject)
    await page.get_by_test_id("attach").set_input_files(f"{name}.txt")
    await page.get_by_test_id(f"detach-{name}.txt").wait_for()
    await send(page)


# --- drafts and the outbox ----------------------------------------------------------------------------------


@mail.task(
    'Prepare a mail to {person[name]} with the subject "{subject}" and the text "{text}", but do not send it: leave it in'
    " the Drafts.",
    'Write a draft for {person[name]}: subject "{subject}", text "{text}" It must not be sent.',
    heldout_wordings=(
        'Among the Drafts there shall be a mail to {person[name]}, subject "{subject}", that says "{text}"',
    ),
    max_steps=33,
    expected_steps=12,
    tags=("form", "medium"),
)
def leave_draft(
    person: Row = one_from(contacts), subject: str = one_of(*SUBJECTS), text: str = one_of(*TEXTS)
) -> Verifier:
    plain: dict[str, Any] = {"cc": "", "bcc": "", "reply_to": None, "forward_of": None, "thread_id": None}
    said: dict[str, Any] = {"subject": subject, "text": text, "body": unformatted}
    return only(added("messages", status="draft", recipients=to(person["email"]), **said, **plain))


@leave_draft.oracle
async def _(page: Page, person: Row, subject: str, text: str) -> None:
    await compose(page, person, subject, text)
    await page.get_by_test_id("close").click()


@mail.task(
    'Put {person[name]} in Cc of the draft "{draft[subject]}" and send it.',
    'The draft with the subject "{draft[subject]}" can go out now; add {person[name]} in Cc before you send it.',
    heldout_wordings=('Send the draft "{draft[subject]}", with {person[name]} in Cc.',),
    max_steps=27,
    expected_steps=10,
    tags=("navigate", "edit", "form", "medium"),
)
def send_draft(draft: Row = rows("messages", where={"status": "draft"}), person: Row = one_from(others)) -> Verifier:
    left = changed(
        "messages", key=draft["id"], cc=to(person["email"]), status=GONE, also=("thread_id", "signature", "sent_at")
    )
    return only(left, begun(draft["subject"]))


@send_draft.oracle
async def _(page: Page, draft: Row, person: Row) -> None:
    await page.get_by_test_id("nav-drafts").click()
    await page.get_by_test_id(f"draft-{draft['id']}").click()
    await add_person(page, "cc", person)
    await send(page)


@mail.task(
    'The mail "{letter[subject]}" still lies in the Outbox. Undo its sending, so that it is a draft again.',
    'Take the mail with the subject "{letter[subject]}" back from the Outbox; it shall not be sent but be a draft.',
    heldout_wordings=('Do not let "{letter[subject]}" go out: undo the sending of that mail in the Outbox.',),
    max_steps=12,
    expected_steps=5,
    tags=("navigate", "easy"),
)
def undo_sending(letter: Row = rows("messages", where={"status": "outbox"})) -> Verifier:
    return only(changed("messages", key=letter["id"], status="draft", also=("signature",)))


@undo_sending.oracle
async def _(page: Page, letter: Row) -> None:
    await page.get_by_test_id("nav-outbox").click()
    await page.get_by_test_id(f"undo-{letter['id']}").click()


@mail.task(
    'The mail "{letter[subject]}" in the Outbox has the wrong recipient. Undo its sending, replace the recipient by'
    " {person[name]} and send it again.",
    'Stop the mail "{letter[subject]}", which is still in the Outbox, and send it to {person[name]} instead of to the person'
    " that it is addressed to now.",
    heldout_wordings=(
        'Take "{letter[subject]}" back from the Outbox, make {person[name]} its only recipient, and send it once more.',
    ),
    max_steps=27,
    expected_steps=10,
    tags=("navigate", "edit", "multi-step", "hard"),
)
def redirect_waiting_mail(
    letter: Row = rows("messages", where={"status": "outbox"}), person: Row = one_from(others)
) -> Verifier:
    free = ("signature", "sent_at")
    return only(changed("messages", key=letter["id"], recipients=to(person["email"]), status=GONE, also=free))


@redirect_waiting_mail.oracle
async def _(page: Page, letter: Row, person: Row) -> None:
    await page.get_by_test_id("nav-outbox").click()
    await page.get_by_test_id(f"undo-{letter['id']}").click()
    await page.get_by_test_id(f"remove-{letter['recipients']}").click()
    await add_person(page, "to", person)
    await send(page)
