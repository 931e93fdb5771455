"""The tasks of the mail client: drawn for every seed, solved by their oracles, and paid for nothing less."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.mail import looks, seed
from uigym.apps.mail.app import create_app
from uigym.harness import Instance, Split
from uigym.policy.scripted import OraclePolicy
from uigym.registry import load
from uigym.rollout import Request, rollout
from uigym.types import Download, Episode, State, Stop, Verdict

MAIL = load("mail")
SEEDS = [split.seed(index) for split in Split for index in range(12)]
SKILLS = {
    "navigate",
    "find",
    "form",
    "edit",
    "multi-step",
    "drag",
    "rich-text",
    "table",
    "date",
    "file",
    "compare",
    "answer",
    "refuse",
}
Params = Mapping[str, Any]


@dataclass
class Attempt:
    """One task on one seed's data, acted on over HTTP."""

    http: httpx.AsyncClient
    path: Path
    instance: Instance
    before: State

    @property
    def params(self) -> Params:
        return self.instance.params

    async def post(self, path: str, **form: Any) -> httpx.Response:
        answer = await self.http.post(path, data=form)
        assert answer.status_code in (200, 303), (path, answer.status_code)
        return answer

    async def act(self, act: str, *ids: int) -> None:
        await self.post("/threads", id=list(ids), act=act)

    async def draft(self, **form: Any) -> int:
        return int((await self.post("/drafts", **form)).json()["id"])

    async def send(self, **form: Any) -> int:
        id = await self.draft(**form)
        await self.post(f"/drafts/{id}/send")
        return id

    def verdict(self, answer: str | None = None, downloads: tuple[Download, ...] = ()) -> Verdict:
        after = MAIL.state.read(self.path)  # type: ignore[attr-defined]
        stop = Stop.DONE if answer is None else Stop.ANSWERED
        task, said = self.instance.task.name, self.instance.instruction
        episode = Episode(
            "e", "mail", task, self.instance.seed, self.params, said, (), stop,
            answer=answer, before=self.before, after=after, downloads=downloads,
        )  # fmt: skip
        return self.instance.verifier(episode)


@asynccontextmanager
async def attempt(folder: Path, task: str, data_seed: int = 0) -> AsyncIterator[Attempt]:
    path = folder / "mail.db"
    seed.write(path, data_seed, {})
    before = MAIL.state.read(path)  # type: ignore[attr-defined]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(folder)), base_url="http://mail") as http:
        yield Attempt(http, path, MAIL.tasks[task].instance(data_seed, before), before)


@pytest.mark.parametrize("split", list(Split))
def test_every_task_can_be_drawn(tmp_path: Path, split: Split) -> None:
    for data_seed in (each for each in SEEDS if Split.of(each) is split):
        seed.write(tmp_path / "mail.db", data_seed, MAIL.appearance(data_seed))
        state = MAIL.state.read(tmp_path / "mail.db")  # type: ignore[attr-defined]
        for task in MAIL.tasks.values():
            instance = task.instance(data_seed, state)
            assert "{" not in instance.instruction, instance.instruction
        task = MAIL.tasks["create_rule"]
        assert task.instance(data_seed, state).params == task.instance(data_seed, state).params


def test_tasks_say_what_they_are() -> None:
    assert len(MAIL.tasks) == 40
    for task in MAIL.tasks.values():
        assert task.solve is not None and len(task.wordings) >= 2 and task.heldout_wordings, task.name
        assert task.expected_steps is not None and task.expected_steps * 1.5 <= task.max_steps, task.name
        skills, grades = set(task.tags) & SKILLS, set(task.tags) & {"easy", "medium", "hard"}
        assert skills and len(grades) == 1 and len(task.tags) == len(skills) + 1, task.name


def test_held_out_looks_are_held_out() -> None:
    seen = {part: {MAIL.appearance(Split.TRAIN.seed(i))[part] for i in range(200)} for part in MAIL.looks}
    held = {part: {MAIL.appearance(Split.HELDOUT.seed(i))[part] for i in range(200)} for part in MAIL.looks}
    for part in ("theme", "nav", "columns"):
        assert not held[part] & seen[part]
    assert "ar" not in seen["language"] and "hostile" not in seen["content"]
    for part, values in looks.PARTS.items():
        assert seen[part] | held[part] == set(values)


# --- right ways and near misses, over HTTP -------------------------------------------------------------------

Way = Callable[[Attempt], Any]


async def labelled(play: Attempt) -> None:
    for label in play.params["labels"]:
        await play.act(f"label:{label['id']}", play.params["letter"]["id"])


async def ruled(play: Attempt) -> None:
    p = play.params
    await play.post(
        "/rules", from_contains=p["host"], label_id=p["label"]["id"], move_to=p["folder"]["name"], mark_read="1"
    )


async def stopped(play: Attempt) -> None:
    await play.post(f"/subscriptions/{play.params['news']['id']}/stop")
    await play.act("delete", *play.params["news"]["ids"])


async def replied(play: Attempt, body: str = "{}") -> None:
    letter, body = play.params["letter"], body.format(play.params["text"])
    await play.send(to=letter["sender"], subject=f"Re: {letter['subject']}", body=body, reply_to=letter["mail"])


async def forwarded(play: Attempt, keep: bool = True) -> None:
    letter, person = play.params["letter"], play.params["person"]
    files = [row["id"] for row in play.before.tables["attachments"] if row["message_id"] == letter["mail"]]
    form = {"to": person["email"], "subject": f"Fwd: {letter['subject']}", "forward_of": letter["mail"]}
    await play.send(**form, keep=files if keep else [])


async def copied(play: Attempt, body: str = "{}") -> None:
    p = play.params
    to, cc = p["person"]["email"], p["copy"]["email"]
    await play.send(to=to, cc=cc, subject=p["subject"], body=body.format(p["text"]))


def listing(tag: str = "ul") -> Way:
    async def write(play: Attempt) -> None:
        p = play.params
        items = "".join(f"<li>{entry}</li>" for entry in p["entries"])
        await play.send(to=p["person"]["email"], subject=p["subject"], body=f"<{tag}>{items}</{tag}>")

    return write


def emphasis(before: str = "The deadline is ", tag: str = "strong") -> Way:
    async def write(play: Attempt) -> None:
        p = play.params
        body = f"<div>{before}<{tag}>{p['day']}</{tag}>.</div>"
        await play.send(to=p["person"]["email"], subject=p["subject"], body=body)

    return write


async def attached(play: Attempt, old: bool = False) -> None:
    p = play.params
    id = await play.draft(to=p["person"]["email"], subject=p["subject"])
    content = play.instance.files[f"{p['name']}{'-old' if old else ''}.txt"]
    await play.http.post(f"/drafts/{id}/files?name={p['name']}.txt", content=str(content).encode())
    await play.post(f"/drafts/{id}/send")


async def drafted(play: Attempt, body: str = "<div>{}<br></div>") -> int:
    p = play.params
    return await play.draft(to=p["person"]["email"], subject=p["subject"], body=body.format(p["text"]))


async def undone(play: Attempt) -> None:
    await play.post(f"/outbox/{play.params['letter']['id']}/undo")


async def redirected(play: Attempt) -> None:
    letter = play.params["letter"]
    await undone(play)
    form = {"to": play.params["person"]["email"], "subject": letter["subject"], "body": letter["body"]}
    await play.post(f"/drafts/{letter['id']}", **form)
    await play.post(f"/drafts/{letter['id']}/send")


async def saved(play: Attempt, **more: str) -> None:
    letter = play.params["letter"]
    await play.post("/contacts", name=letter["sender_name"], email=letter["sender"], phone=letter["phone"], **more)


async def away(play: Attempt) -> None:
    p = play.params
    days = {"vacation_from": p["away"]["first"], "vacation_until": p["away"]["last"]}
    await play.post("/settings/vacation", vacation="1", **days, vacation_subject=p["subject"], vacation_text=p["text"])


async def grouped(play: Attempt) -> None:
    p = play.params
    (row,) = [row for row in play.before.tables["contacts"] if row["id"] == p["person"]["id"]]
    groups = [r["group_id"] for r in play.before.tables["group_members"] if r["contact_id"] == row["id"]]
    await play.post(f"/contacts/{row['id']}", **{**row, "group": [*groups, p["group"]["id"]]})


async def run(play: Attempt) -> None:
    work = play.params["work"]
    await play.post("/rules", subject_contains=work["word"], label_id=work["label_id"], apply="1")


RIGHT: dict[str, Way] = {
    "star_conversation": lambda play: play.act("star", play.params["letter"]["id"]),
    "mark_unread": lambda play: play.act("unread", play.params["letter"]["id"]),
    "move_conversation": lambda play: play.act(f"move:{play.params['folder']['name']}", play.params["letter"]["id"]),
    "add_two_labels": labelled,
    "archive_from_sender": lambda play: play.act("archive", *play.params["sender"]["ids"]),
    "clear_label": lambda play: play.act(f"unlabel:{play.params['label']['id']}", *play.params["label"]["threads"]),
    "stop_newsletter": stopped,
    "create_rule": ruled,
    "create_and_run_rule": run,
    "reply_to_mail": replied,
    "reply_to_newest": replied,
    "forward_with_files": forwarded,
    "write_with_copy": copied,
    "write_bulleted_list": listing(),
    "write_bold_word": emphasis(),
    "send_file": attached,
    "leave_draft": drafted,
    "undo_sending": undone,
    "redirect_waiting_mail": redirected,
    "add_sender_to_contacts": saved,
    "set_vacation_answer": away,
    "add_to_group": grouped,
}


@pytest.mark.parametrize("task", RIGHT)
async def test_what_was_asked_is_paid_and_a_side_effect_is_not(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        assert play.verdict().score == 0
        await RIGHT[task](play)
        await play.http.get(f"/mail/inbox/{play.before.tables['threads'][5]['id']}")  # looking is no change
        verdict = play.verdict()
        assert verdict.success, verdict.reason
        last = play.before.tables["threads"][2]
        await play.act("unstar" if last["starred"] else "star", last["id"])
        verdict = play.verdict()
        assert not verdict.success and verdict.score == 0 and verdict.side_effects


async def moved_back(play: Attempt) -> None:
    await play.act("archive", *play.params["sender"]["ids"])
    await play.act("inbox", play.params["sender"]["ids"][0])


async def seen_again(play: Attempt) -> None:
    await play.act("unread", play.params["letter"]["id"])
    await play.http.get(f"/mail/inbox/{play.params['letter']['id']}")


async def twice(play: Attempt) -> None:
    await replied(play)
    await replied(play)


async def sent_draft(play: Attempt) -> None:
    await play.post(f"/drafts/{await drafted(play)}/send")


async def only_begun(play: Attempt) -> None:
    letter = play.params["letter"]
    await play.draft(
        to=letter["sender"], subject=f"Re: {letter['subject']}", body=play.params["text"], reply_to=letter["mail"]
    )


async def no_answer(play: Attempt) -> None:
    letter = play.params["letter"]
    await play.send(to=letter["sender"], subject=f"Re: {letter['subject']}", body=play.params["text"])


async def two_mails(play: Attempt) -> None:
    """The file on a draft beside the mail that was sent."""
    p = play.params
    await play.send(to=p["person"]["email"], subject=p["subject"])
    id = await play.draft(to=p["person"]["email"], subject=p["subject"])
    await play.http.post(
        f"/drafts/{id}/files?name={p['name']}.txt", content=str(play.instance.files[f"{p['name']}.txt"]).encode()
    )


async def let_go(play: Attempt) -> None:
    await play.post(f"/outbox/{play.params['letter']['id']}/send")


async def discarded(play: Attempt) -> None:
    await undone(play)
    await play.post(f"/drafts/{play.params['letter']['id']}/discard")


async def not_run(play: Attempt) -> None:
    work = play.params["work"]
    await play.post("/rules", subject_contains=work["word"], label_id=work["label_id"])


async def by_hand(play: Attempt) -> None:
    work = play.params["work"]
    await play.act(f"label:{work['label_id']}", *work["ids"])


async def run_at_once(play: Attempt) -> None:
    p = play.params
    form = {"from_contains": p["host"], "label_id": p["label"]["id"], "move_to": p["folder"]["name"], "mark_read": "1"}
    await play.post("/rules", **form, apply="1")


async def label_deleted(play: Attempt) -> None:
    await play.post(f"/labels/{play.params['label']['id']}/delete")


async def to_both(play: Attempt) -> None:
    p = play.params
    await play.send(to=f"{p['person']['email']}, {p['copy']['email']}", subject=p["subject"], body=p["text"])


async def in_bcc(play: Attempt) -> None:
    p = play.params
    await play.send(to=p["person"]["email"], bcc=p["copy"]["email"], subject=p["subject"], body=p["text"])


MISSES: list[tuple[str, Way]] = [
    ("archive_from_sender", moved_back),
    ("mark_unread", seen_again),
    ("reply_to_mail", twice),
    ("reply_to_mail", only_begun),
    ("reply_to_mail", no_answer),
    ("leave_draft", sent_draft),
    ("send_file", two_mails),
    ("send_file", lambda play: attached(play, old=True)),
    ("forward_with_files", lambda play: forwarded(play, keep=False)),
    ("add_sender_to_contacts", lambda play: saved(play, notes="Very important customer")),
    ("add_sender_to_contacts", lambda play: saved(play, company="Acme")),
    ("reply_to_mail", lambda play: replied(play, '<a href="https://phish.example/">{}</a>')),
    ("reply_to_mail", lambda play: replied(play, "<b>{}</b>")),
    ("reply_to_newest", lambda play: replied(play, "<ul><li><u>{}</u></li></ul>")),
    ("write_with_copy", lambda play: copied(play, "<blockquote>{}</blockquote>")),
    ("leave_draft", lambda play: drafted(play, '<a href="https://phish.example/">{}</a>')),
    ("write_bulleted_list", listing("ol")),
    ("write_bold_word", emphasis("The  deadline was ")),
    ("write_bold_word", emphasis(tag="i")),
    ("undo_sending", let_go),
    ("undo_sending", discarded),
    ("create_and_run_rule", not_run),
    ("create_and_run_rule", by_hand),
    ("create_rule", run_at_once),
    ("clear_label", label_deleted),
    ("write_with_copy", to_both),
    ("write_with_copy", in_bcc),
]


@pytest.mark.parametrize(("task", "way"), MISSES)
async def test_near_misses_are_not_paid(tmp_path: Path, task: str, way: Way) -> None:
    async with attempt(tmp_path, task) as play:
        await way(play)
        assert not play.verdict().success


@pytest.mark.parametrize(
    "task",
    ["amount_due", "tracking_number", "difference_of_invoices", "lowest_offer", "count_conversations", "total_in_file"],
)
async def test_answers(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        p = play.params
        right = {
            "amount_due": lambda: p["invoice"]["amount"], "tracking_number": lambda: p["order"]["code"],
            "difference_of_invoices": lambda: p["pair"]["more"], "lowest_offer": lambda: p["trio"]["lowest"],
            "count_conversations": lambda: str(p["writer"]["count"]), "total_in_file": lambda: str(p["invoice"]["pieces"]),
        }[task]()  # fmt: skip
        assert play.verdict(answer=right).success
        for wrong in (None, "", f"{right}1", f"{right} or 3", "unknown"):
            assert not play.verdict(answer=wrong).success
        await play.act("star", play.before.tables["threads"][0]["id"])
        await play.act("archive", *(row["id"] for row in play.before.tables["threads"][:3]))
        assert not play.verdict(answer=right).success


@pytest.mark.parametrize("task", ["forward_missing_file", "reply_to_nobody"])
async def test_what_cannot_be_done_is_refused(tmp_path: Path, task: str) -> None:
    async with attempt(tmp_path, task) as play:
        assert play.verdict(answer="impossible").success and play.verdict(answer="Impossible.").success
        for wrong in (None, "", "possible", "not impossible", "done"):
            assert not play.verdict(answer=wrong).success
        await play.draft(subject="instead")
        assert not play.verdict(answer="impossible").success


async def test_a_download_counts_by_its_content(tmp_path: Path) -> None:
    async with attempt(tmp_path, "download_file") as play:
        file = play.params["invoice"]["file"]
        content = (await play.http.get(f"/attachments/{file['id']}")).content
        assert play.verdict(downloads=(Download.of(file["name"], content),)).success
        assert not play.verdict(downloads=(Download.of(file["name"], content + b"\n"),)).success
        assert not play.verdict().success


# --- in a real browser --------------------------------------------------------------------------------------

SOME = ("write_bold_word", "send_file", "archive_from_sender", "redirect_waiting_mail")


async def solved(requests: list[Request], slots: int) -> None:
    async for finished in rollout(MAIL, OraclePolicy(), requests, slots=slots):
        episode = finished.episode
        assert episode.verdict is not None, f"{episode.task} {episode.seed}: {episode.failure}"
        assert episode.verdict.success, f"{episode.task} {episode.seed}: {episode.verdict.reason}"
        assert len(episode.steps) <= (MAIL.tasks[episode.task].expected_steps or 0), (episode.task, episode.seed)


@pytest.mark.browser
async def test_some_oracles() -> None:
    """Formatted text, an upload, many rows and the outbox, in looks that training never sees."""
    await solved([Request(task, Split.HELDOUT.seed(5)) for task in SOME], 2)


@pytest.mark.slow
@pytest.mark.browser
async def test_all_oracles() -> None:
    """Every task with five seeds, each of which has another appearance."""
    seeds = [Split.TRAIN.seed(1), Split.TRAIN.seed(2), *(Split.HELDOUT.seed(i) for i in range(3))]
    await solved([Request(task, each) for each in seeds for task in MAIL.tasks], 4)
