"""Tasks about putting mail in order: labels, folders, stars, rules, and many conversations at once."""

from __future__ import annotations

from uigym.harnesses.mail.product import (
    Page,
    Params,
    conversations,
    find,
    known,
    mail,
    named,
    only,
    open_conversation,
    personal,
    pick,
    search,
)
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Episode, Row, State, Verdict
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier, all_of, check

ANYWHERE = ("inbox", "archive", "Projects", "Receipts")


@mail.task(
    'Star the conversation "{letter[subject]}".',
    'Give the conversation with the subject "{letter[subject]}" a star.',
    heldout_wordings=('"{letter[subject]}" is important: put a star on that conversation.',),
    max_steps=18,
    expected_steps=7,
    tags=("find", "easy"),
)
def star_conversation(letter: Row = one_from(lambda s, _: named(s, lambda row: not row["starred"]))) -> Verifier:
    return only(changed("threads", key=letter["id"], starred=1))


@star_conversation.oracle
async def _(page: Page, letter: Row) -> None:
    await find(page, letter)
    await page.get_by_test_id(f"star-{letter['id']}").click()


@mail.task(
    'Mark the conversation "{letter[subject]}" as unread.',
    'The conversation with the subject "{letter[subject]}" shall be shown as unread again.',
    heldout_wordings=('Make "{letter[subject]}" an unread conversation.',),
    max_steps=21,
    expected_steps=8,
    tags=("find", "edit", "easy"),
)
def mark_unread(
    letter: Row = one_from(lambda s, _: named(s, lambda row: not row["unread"] and personal(row))),
) -> Verifier:
    return all_of(only(changed("threads", key=letter["id"], unread=1)), not_opened(letter["id"]))


def not_opened(id: int) -> Verifier:
    """The conversation was not opened since it was marked as unread: then it would be shown as read."""

    def verify(episode: Episode) -> Verdict:
        assert episode.after is not None  # an episode that is judged has a state
        opened = any(row["thread_id"] == id for row in episode.after.tables["seen"])
        return check("not opened", not opened, f"expected conversation {id} to be left unread, found it opened again")

    return verify


@mark_unread.oracle
async def _(page: Page, letter: Row) -> None:
    await open_conversation(page, letter)
    await page.get_by_test_id("thread-unread").click()


@mail.task(
    'Move the conversation "{letter[subject]}" to the folder {folder[name]}.',
    'File "{letter[subject]}" away in the folder {folder[name]}.',
    heldout_wordings=('The conversation "{letter[subject]}" belongs in the folder {folder[name]}: move it there.',),
    max_steps=24,
    expected_steps=9,
    tags=("find", "edit", "easy"),
)
def move_conversation(
    letter: Row = one_from(lambda s, _: named(s, personal)), folder: Row = rows("folders")
) -> Verifier:
    return only(changed("threads", key=letter["id"], folder=folder["name"]))


@move_conversation.oracle
async def _(page: Page, letter: Row, folder: Row) -> None:
    await open_conversation(page, letter)
    await pick(page, "thread-move", f"thread-move-{folder['name']}")


def free_labels(state: State, params: Params) -> list[list[Row]]:
    """Two labels that a conversation does not have."""
    has = {row["label_id"] for row in state.tables["thread_labels"] if row["thread_id"] == params["letter"]["id"]}
    free = [row for row in state.tables["labels"] if row["id"] not in has]
    return [[first, second] for first in free for second in free if first["id"] < second["id"]]


@mail.task(
    'Put the labels {labels[0][name]} and {labels[1][name]} on the conversation "{letter[subject]}".',
    'Label "{letter[subject]}" with {labels[0][name]} and with {labels[1][name]}.',
    heldout_wordings=(
        'The conversation "{letter[subject]}" needs two more labels: {labels[0][name]} and {labels[1][name]}.',
    ),
    max_steps=45,
    expected_steps=16,
    tags=("find", "edit", "multi-step", "medium"),
)
def add_two_labels(
    letter: Row = one_from(lambda s, _: named(s, personal)), labels: list[Row] = one_from(free_labels)
) -> Verifier:
    return only(added("thread_labels", *({"label_id": label["id"]} for label in labels), thread_id=letter["id"]))


@add_two_labels.oracle
async def _(page: Page, letter: Row, labels: list[Row]) -> None:
    for label in labels:
        await open_conversation(page, letter)
        await pick(page, "thread-label", f"thread-label-{label['name']}")


@mail.task(
    'Create a label called "{name}" in the colour {colour} and put it on the conversation "{letter[subject]}".',
    'There is no label "{name}" yet: make one in {colour}, then label the conversation "{letter[subject]}" with it.',
    heldout_wordings=('Label "{letter[subject]}" with a new label "{name}", whose colour is {colour}.',),
    max_steps=42,
    expected_steps=15,
    tags=("form", "edit", "multi-step", "medium"),
)
def create_label(
    name: str = one_of("Contracts", "Waiting", "Press", "Audit", "Ideas", "Renewals"),
    colour: str = one_of("red", "amber", "green", "blue", "violet"),
    letter: Row = one_from(lambda s, _: named(s, personal)),
    number: int = computed(lambda state, p: max(row["id"] for row in state.tables["labels"]) + 1),
) -> Verifier:
    label = added("labels", name=name, colour=colour)
    return only(label, added("thread_labels", thread_id=letter["id"], label_id=number))


@create_label.oracle
async def _(page: Page, name: str, colour: str, letter: Row) -> None:
    await page.get_by_test_id("go-labels").click()
    await page.get_by_test_id("label-name").fill(name)
    await page.get_by_test_id("label-colour").select_option(colour)
    await page.get_by_test_id("add-label").click()
    await open_conversation(page, letter)
    await pick(page, "thread-label", f"thread-label-{name}")


def senders(state: State, params: Params) -> list[Row]:
    """Senders with two to six conversations in the inbox: the name finds just these."""
    inbox = [row for row in conversations(state) if row["folder"] == "inbox"]
    names = sorted({one["sender_name"] for row in inbox for one in row["mails"] if one["status"] == "received"})
    found = []
    for name in names:
        ids = [row["id"] for row in inbox if any(name.lower() in one["sender_name"].lower() for one in row["mails"])]
        exact = [row["id"] for row in inbox if any(name == one["sender_name"] for one in row["mails"])]
        if 2 <= len(ids) <= 6 and ids == exact:
            found.append({"name": name, "ids": ids})
    return found


@mail.task(
    "Archive every conversation in the Inbox that has a mail from {sender[name]} in it.",
    "Clear the Inbox of {sender[name]}: archive all conversations there in which {sender[name]} wrote.",
    heldout_wordings=("Everything in the Inbox with a mail from {sender[name]} shall go to the Archive.",),
    max_steps=21,
    expected_steps=8,
    tags=("find", "table", "multi-step", "medium"),
)
def archive_from_sender(sender: Row = one_from(senders)) -> Verifier:
    return only(*(changed("threads", key=id, folder="archive") for id in sender["ids"]))


@archive_from_sender.oracle
async def _(page: Page, sender: Row) -> None:
    await search(page, f'in:inbox from:"{sender["name"]}"')
    await page.get_by_test_id("select-all").check()
    await page.get_by_test_id("bulk-archive").click()


def old_ones(state: State, params: Params) -> list[Row]:
    """A day before which two to seven mails with a file lie in the inbox: the day and their conversations."""
    holders = {row["message_id"] for row in state.tables["attachments"]}
    inbox = [row for row in conversations(state) if row["folder"] == "inbox"]
    days = {row["id"]: [one["sent_at"][:10] for one in row["mails"] if one["id"] in holders] for row in inbox}
    found = []
    for day in sorted({each for group in days.values() for each in group}):
        ids = [id for id, group in days.items() if any(each < day for each in group)]
        if 2 <= len(ids) <= 7:
            found.append({"day": day, "ids": ids})
    return found


@mail.task(
    "Move every conversation in the Inbox that has a mail with an attachment from before {old[day]} to the folder"
    " {folder[name]}.",
    "Search the Inbox for mails with attachments that came before {old[day]} and move all of these conversations to the"
    " folder {folder[name]}.",
    heldout_wordings=(
        "Conversations in the Inbox with a mail that is older than {old[day]} and has a file attached: move all of them to"
        " {folder[name]}.",
    ),
    max_steps=24,
    expected_steps=9,
    tags=("find", "date", "table", "multi-step", "hard"),
)
def file_old_attachments(old: Row = one_from(old_ones), folder: Row = rows("folders")) -> Verifier:
    return only(*(changed("threads", key=id, folder=folder["name"]) for id in old["ids"]))


@file_old_attachments.oracle
async def _(page: Page, old: Row, folder: Row) -> None:
    await search(page, f"in:inbox has:attachment before:{old['day']}")
    await page.get_by_test_id("select-all").check()
    await pick(page, "bulk-move", f"bulk-move-{folder['name']}")


def small_labels(state: State, params: Params) -> list[Row]:
    """Labels that two to nine conversations have, none of them in spam or trash, with the rows that say so."""
    places = {row["id"]: row["folder"] for row in state.tables["threads"]}
    found = []
    for label in state.tables["labels"]:
        on = [row for row in state.tables["thread_labels"] if row["label_id"] == label["id"]]
        if 2 <= len(on) <= 9 and not any(places[row["thread_id"]] in ("spam", "trash") for row in on):
            found.append({"name": label["name"], "id": label["id"], "threads": [row["thread_id"] for row in on]})
    return found


@mail.task(
    "Take the label {label[name]} off all conversations that have it, but keep the label itself.",
    "No conversation shall have the label {label[name]} any more; the label itself stays.",
    heldout_wordings=("Remove {label[name]} from each conversation that is labelled so. Do not delete the label.",),
    max_steps=18,
    expected_steps=7,
    tags=("table", "edit", "multi-step", "medium"),
)
def clear_label(label: Row = one_from(small_labels)) -> Verifier:
    return only(removed("thread_labels", *({"thread_id": id} for id in label["threads"]), label_id=label["id"]))


@clear_label.oracle
async def _(page: Page, label: Row) -> None:
    await page.get_by_test_id(f"label-{label['name']}").click()
    await page.get_by_test_id("select-all").check()
    await pick(page, "bulk-label", f"bulk-unlabel-{label['name']}")


def newsletters(state: State, params: Params) -> list[Row]:
    """Newsletters, and those of their conversations that are not in the trash."""
    found = []
    for row in state.tables["subscriptions"]:
        mine = [one for one in conversations(state) if one["mails"][0]["sender"] == row["sender"]]
        kept = [one["id"] for one in mine if one["folder"] not in ("trash", "spam")]
        if kept:
            found.append({"id": row["id"], "name": row["name"], "sender": row["sender"], "ids": kept})
    return found


@mail.task(
    "Unsubscribe from the newsletter {news[name]} and move all of its mails to the Trash.",
    "{news[name]} is not wanted any more: unsubscribe from it and delete everything that it has sent.",
    heldout_wordings=("Stop the newsletter {news[name]} by unsubscribing, and put each of its mails into the Trash.",),
    max_steps=39,
    expected_steps=14,
    tags=("find", "table", "multi-step", "hard"),
)
def stop_newsletter(news: Row = one_from(newsletters)) -> Verifier:
    stopped = changed("subscriptions", key=news["id"], active=0)
    return only(stopped, *(changed("threads", key=id, folder="trash") for id in news["ids"]))


@stop_newsletter.oracle
async def _(page: Page, news: Row) -> None:
    await search(page, f"from:{news['sender']}")
    await page.get_by_test_id(f"thread-{news['ids'][0]}").click()
    await page.get_by_test_id("unsubscribe").click()
    await search(page, f"from:{news['sender']}")
    await page.get_by_test_id("select-all").check()
    await page.get_by_test_id("bulk-delete").click()


def wronged(state: State, params: Params) -> list[Row]:
    """Conversations in spam from somebody who signs with a phone number, as people do."""
    return [
        known(row) for row in conversations(state) if row["folder"] == "spam" and " 555 " in row["mails"][0]["text"]
    ]


@mail.task(
    "The mail from {letter[sender_name]} in the Spam folder is not spam. Put it into the Inbox.",
    "A mail from {letter[sender_name]} landed in Spam by mistake: move it to the Inbox.",
    heldout_wordings=("Rescue the mail of {letter[sender_name]} from Spam; it belongs in the Inbox.",),
    max_steps=15,
    expected_steps=6,
    tags=("navigate", "edit", "easy"),
)
def rescue_from_spam(letter: Row = one_from(wronged)) -> Verifier:
    return only(changed("threads", key=letter["id"], folder="inbox"))


@rescue_from_spam.oracle
async def _(page: Page, letter: Row) -> None:
    await page.get_by_test_id("nav-spam").click()
    await page.get_by_test_id(f"thread-{letter['id']}").click()
    await page.get_by_test_id("thread-inbox").click()


# --- rules --------------------------------------------------------------------------------------------------


def hosts(state: State, params: Params) -> list[str]:
    """What comes after the @ in the addresses of contacts, but for the owner's own."""
    own = state.tables["profile"][0]["email"].partition("@")[2]
    return sorted({row["email"].partition("@")[2] for row in state.tables["contacts"]} - {own})


@mail.task(
    'Create a rule: mails whose sender contains "{host}" get the label {label[name]}, are moved to the folder'
    " {folder[name]} and are marked as read. Do not run it on mails that are here already.",
    'Make a rule for senders that contain "{host}": add the label {label[name]}, move to {folder[name]}, mark as read. It'
    " is for new mails alone; do not apply it to old ones.",
    heldout_wordings=(
        'From now on, mails from senders with "{host}" in them shall be labelled {label[name]}, moved to the folder'
        " {folder[name]} and marked as read. Set up one rule for that, without running it on existing mails.",
    ),
    max_steps=36,
    expected_steps=13,
    tags=("form", "navigate", "medium"),
)
def create_rule(
    host: str = one_from(hosts),
    label: Row = rows("labels"),
    folder: Row = rows("folders"),
) -> Verifier:
    does = {"label_id": label["id"], "move_to": folder["name"], "mark_read": 1, "star": 0, "forward_to": ""}
    return only(added("rules", from_contains=host, subject_contains="", **does))


@create_rule.oracle
async def _(page: Page, host: str, label: Row, folder: Row) -> None:
    await page.get_by_test_id("go-rules").click()
    await page.get_by_test_id("new-rule").click()
    await page.get_by_test_id("from_contains").fill(host)
    await page.get_by_test_id("label_id").select_option(label=label["name"])
    await page.get_by_test_id("move_to").select_option(label=folder["name"])
    await page.get_by_test_id("mark_read").check()
    await page.get_by_test_id("save").click()


def unlabelled(state: State, params: Params) -> list[Row]:
    """A word in subjects and a label: conversations that a rule would label, some of which lack it."""
    has = {(row["thread_id"], row["label_id"]) for row in state.tables["thread_labels"]}
    found = []
    for word in ("Offer Q-", "Your order", "Meeting about", "Warranty of", "Price of", "Return of", "Delivery of"):
        fitting = [
            row["id"]
            for row in conversations(state)
            if row["folder"] not in ("spam", "trash")
            and any(word.lower() in one["subject"].lower() and one["status"] == "received" for one in row["mails"])
        ]
        for label in state.tables["labels"]:
            missing = [id for id in fitting if (id, label["id"]) not in has]
            if missing:
                found.append({"word": word, "label": label["name"], "label_id": label["id"], "ids": missing})
    return found


@mail.task(
    'Create a rule that gives mails whose subject contains "{work[word]}" the label {work[label]}, and run it on the mails'
    " that are here already.",
    'Set up a rule: subject contains "{work[word]}", add the label {work[label]}. Existing mails shall get the label by'
    " this rule, too.",
    heldout_wordings=(
        'Both new and existing mails with "{work[word]}" in their subject shall have the label {work[label]}: make one rule'
        " for it and run it once.",
    ),
    max_steps=30,
    expected_steps=11,
    tags=("form", "multi-step", "hard"),
)
def create_and_run_rule(work: Row = one_from(unlabelled)) -> Verifier:
    does = {"label_id": work["label_id"], "move_to": "", "mark_read": 0, "star": 0, "forward_to": ""}
    rule = added("rules", subject_contains=work["word"], from_contains="", **does)
    return only(rule, added("thread_labels", *({"thread_id": id} for id in work["ids"]), label_id=work["label_id"]))


@create_and_run_rule.oracle
async def _(page: Page, work: Row) -> None:
    await page.get_by_test_id("go-rules").click()
    await page.get_by_test_id("new-rule").click()
    await page.get_by_test_id("subject_contains").fill(work["word"])
    await page.get_by_test_id("label_id").select_option(label=work["label"])
    await page.get_by_test_id("apply").check()
    await page.get_by_test_id("save").click()


@mail.task(
    'Change the rule for mails whose subject contains "{rule[subject_contains]}": they shall also be forwarded to {address}.'
    " Leave the rest of the rule as it is.",
    'Edit the rule about subjects with "{rule[subject_contains]}" so that it forwards the mails to {address} as well.',
    heldout_wordings=(
        'The rule for subjects that contain "{rule[subject_contains]}" lacks one thing: forwarding to {address}. Add it and'
        " change nothing else about the rule.",
    ),
    max_steps=21,
    expected_steps=8,
    tags=("navigate", "form", "easy"),
)
def extend_rule(
    rule: Row = rows("rules", where=lambda row, _: bool(row["subject_contains"])),
    address: str = one_from(lambda state, _: [row["email"] for row in state.tables["contacts"]]),
) -> Verifier:
    return only(changed("rules", key=rule["id"], forward_to=address))


@extend_rule.oracle
async def _(page: Page, rule: Row, address: str) -> None:
    await page.get_by_test_id("go-rules").click()
    await page.get_by_test_id(f"edit-rule-{rule['id']}").click()
    await page.get_by_test_id("forward_to").fill(address)
    await page.get_by_test_id("save").click()
