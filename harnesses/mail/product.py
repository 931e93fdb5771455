"""The mail client as a harness, what its instructions speak of, and how a person works in it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from uigym.apps.mail import seed as mail_data
from uigym.apps.mail.looks import PARTS
from uigym.harness import Harness, Looks, Running
from uigym.product.state import Sqlite
from uigym.types import Episode, Row, State, Upload, Verdict
from uigym.verifiers import state as changes
from uigym.verifiers.match import any_value
from uigym.verifiers.state import Change, added, drafted
from uigym.verify import Verifier, check

LOGS = ("events", "seen")
"""What only tells what happened: lines about changes, and which conversations were opened."""
Params = Mapping[str, Any]
Page = Any  # Playwright's


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the product the seed's data, by its database file."""
    await asyncio.to_thread(mail_data.write, product.workdir / "mail.db", seed, appearance)


mail = Harness(
    name="mail",
    asgi="uigym.apps.mail.app:create_app",
    ready="/healthz",
    state=Sqlite("{workdir}/mail.db"),
    reset=reset,
    viewport=(1280, 720),
    grants=(Upload,),
    looks={
        "theme": Looks(PARTS["theme"][:6], PARTS["theme"][6:]),
        "font": Looks(PARTS["font"][:3], PARTS["font"][2:]),
        "density": Looks(PARTS["density"]),
        "language": Looks(("en", "en", "de", "ko"), ("en", "de", "ko", "ar")),
        "content": Looks(("plain", "alike", "long"), ("plain", "alike", "long", "hostile")),
        "nav": Looks(PARTS["nav"][:3], PARTS["nav"][3:]),
        "columns": Looks(PARTS["columns"][:3], PARTS["columns"][3:]),
        "pane": Looks(PARTS["pane"]),
    },
    logs=LOGS,
)


# --- what the instructions speak of -------------------------------------------------------------------------


def conversations(state: State, params: Params | None = None) -> list[Row]:
    """All conversations, each with its mails (no drafts) in the order of time, and the numbers of its labels."""
    mails: dict[int, list[Row]] = {}
    for row in sorted(state.tables["messages"], key=lambda row: (row["sent_at"], row["id"])):
        if row["status"] != "draft" and row["thread_id"] is not None:
            mails.setdefault(row["thread_id"], []).append(row)
    labels: dict[int, list[int]] = {}
    for row in state.tables["thread_labels"]:
        labels.setdefault(row["thread_id"], []).append(row["label_id"])
    return [
        {**row, "mails": mails[row["id"]], "labels": labels.get(row["id"], [])}
        for row in state.tables["threads"]
        if row["id"] in mails
    ]


def named(state: State, fits: Callable[[Row], bool], folders: Sequence[str] = ("inbox",)) -> list[Row]:
    """Conversations in these folders whose subject names just them: id, subject, sender's name and address, last mail.

    A subject that another one contains does not count: a search for it would find both.
    """
    everything = conversations(state)
    subjects = [row["subject"].lower() for row in everything]
    count = Counter(subjects)
    return [
        known(row)
        for row in everything
        if row["folder"] in folders
        and count[row["subject"].lower()] == 1
        and sum(row["subject"].lower() in subject for subject in subjects) == 1
        and fits(row)
    ]


def known(conversation: Row) -> Row:
    """What a task keeps of a conversation."""
    first, last = conversation["mails"][0], conversation["mails"][-1]
    who = {"sender_name": first["sender_name"], "sender": first["sender"], "mail": last["id"]}
    return {"id": conversation["id"], "subject": conversation["subject"], "folder": conversation["folder"], **who}


def received(conversation: Row) -> bool:
    """Whether the last mail of a conversation came from somebody else."""
    return bool(conversation["mails"][-1]["status"] == "received")


def personal(conversation: Row) -> bool:
    """Whether it is between people: no newsletter."""
    return received(conversation) and not conversation["mails"][0]["sender"].startswith("news@")


def files_of(state: State, message: int) -> list[Row]:
    """The files of a mail: name, size, sha256, content in hexadecimal digits."""
    found = [row for row in state.tables["attachments"] if row["message_id"] == message]
    return [{key: row[key] for key in ("id", "name", "size", "sha256", "content")} for row in found]


def contacts(state: State, params: Params | None = None) -> list[Row]:
    """Contacts whose name no other sender or contact has, nor begins with: name and address."""
    everybody = {row["name"]: 0 for row in state.tables["contacts"]}
    everybody |= {row["sender_name"]: 0 for row in state.tables["messages"]}
    return [
        {"id": row["id"], "name": row["name"], "email": row["email"]}
        for row in state.tables["contacts"]
        if sum(name.lower().startswith(row["name"].lower()) for name in everybody) == 1
    ]


def others(state: State, params: Params) -> list[Row]:
    """Contacts that no parameter drawn before speaks of."""
    taken = str(dict(params))
    return [row for row in contacts(state) if row["email"] not in taken and row["name"] not in taken]


def fact(name: str, text: str) -> str:
    """The value in a line "name: value" of a mail; empty if there is none."""
    found = re.search(rf"^{re.escape(name)}: (\S+)", text, re.MULTILINE)
    return found[1] if found else ""


# --- what must be so afterwards -----------------------------------------------------------------------------


def only(*parts: Verifier) -> Verifier:
    """These parts, each for its share of the score, and nothing else but what only tells what happened."""
    return changes.only(*parts, except_=LOGS)


def to(*addresses: str) -> Callable[[Any], bool]:
    """Whether a column holds just these addresses, in any order."""

    def addressed(found: Any) -> bool:
        return sorted(str(found).split(", ") if found else []) == sorted(addresses)

    return addressed


def unformatted(found: Any) -> bool:
    """Whether the HTML of a mail is nothing but lines of text."""
    return "<" not in re.sub(r"</?p>|<br>", "", str(found))


def sent(**columns: Any) -> Change:
    """One mail was sent, with these values; it may wait in the outbox, where nothing more is to be done.

    While it is a draft, it is no side effect. Columns that are not named: nobody in copy, no answer, nothing passed on,
    no links and no formatting.
    """
    plain = {"cc": "", "bcc": "", "reply_to": None, "forward_of": None, "body": unformatted}
    gone = any_value("outbox", "sent")
    return drafted(added("messages", status=gone, **{**plain, **columns}), status="draft")


def begun(subject: str) -> Change:
    """The conversation of a mail that answers none."""
    return added("threads", subject=subject, folder="sent", starred=0, unread=0)


def enclosed(*files: Row) -> Change:
    """These files are new, by name and content."""
    return added("attachments", *({"name": file["name"], "sha256": file["sha256"]} for file in files))


def on_the_mail(episode: Episode) -> Verdict:
    """All new files belong to the one mail that is new and no draft."""
    assert episode.before is not None and episode.after is not None  # an episode that is judged has both
    old, files_before = ({row["id"] for row in episode.before.tables[name]} for name in ("messages", "attachments"))
    mails = {row["id"] for row in episode.after.tables["messages"] if row["id"] not in old and row["status"] != "draft"}
    holders = {row["message_id"] for row in episode.after.tables["attachments"] if row["id"] not in files_before}
    right = len(mails) == 1 and holders == mails
    return check(
        "files on the mail", right, f"expected files on the one new mail {mails or ''}, found them on {holders}"
    )


# --- how a person does it -----------------------------------------------------------------------------------


async def search(page: Page, text: str) -> None:
    """Look for mail."""
    await page.get_by_test_id("search").fill(text)
    await page.get_by_test_id("search").press("Enter")


async def find(page: Page, conversation: Row) -> None:
    """Look for a conversation by its subject."""
    inside = f" in:{conversation['folder']}" if conversation["folder"] in ("spam", "trash") else ""
    await search(page, f'subject:"{conversation["subject"]}"{inside}')


async def open_conversation(page: Page, conversation: Row) -> None:
    """Find a conversation by its subject and open it."""
    await find(page, conversation)
    await page.get_by_test_id(f"thread-{conversation['id']}").click()


async def pick(page: Page, button: str, entry: str) -> None:
    """Open a menu and take an entry."""
    await page.get_by_test_id(button).click()
    await page.get_by_test_id(entry).click()


async def add_person(page: Page, field: str, person: Row) -> None:
    """Type the beginning of a name and take the person that is offered."""
    if field != "to" and not await page.get_by_test_id(field).is_visible():
        await page.get_by_test_id(f"show-{field}").click()
    await page.get_by_test_id(field).fill(person["name"])
    await page.get_by_test_id(f"option-{person['email']}").click()


async def compose(page: Page, person: Row, subject: str, text: str = "") -> None:
    """Begin a mail to a contact."""
    await page.get_by_test_id("compose").click()
    await add_person(page, "to", person)
    await page.get_by_test_id("subject").fill(subject)
    if text:
        await page.get_by_test_id("body").fill(text)


async def send(page: Page) -> None:
    """Send the mail that is open."""
    await page.get_by_test_id("send").click()
