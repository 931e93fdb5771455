"""The mail client by itself: its pages, its changes, its data, and what it lets nobody do."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from uigym.apps.mail import looks, seed
from uigym.apps.mail.app import create_app
from uigym.registry import load
from uigym.state import differences
from uigym.types import Row, State

ROOT = Path(__file__).parent.parent
MAIL = load("mail")
LOGS = ("events", "seen")
NASTY = "<script>alert('x')</script> & \"quotes\" {{ 7 * 7 }}"
PAGES = (
    "/mail/inbox", "/mail/inbox?page=2", "/mail/starred", "/mail/sent", "/mail/archive", "/mail/spam", "/mail/trash",
    "/mail/f1", "/mail/l2", "/mail/search?q=from:a+has:attachment+-label:later", "/mail/search?q=nothing-like-this", "/drafts",
    "/outbox", "/compose", "/contacts", "/contacts?find=an&group=1", "/contacts/3", "/contacts/new", "/rules", "/rules/new",
    "/rules/1", "/settings", "/labels", "/suggest?q=a",
)  # fmt: skip


@dataclass
class Mail:
    """The app on a file, used over HTTP without a browser."""

    http: httpx.AsyncClient
    path: Path

    def state(self) -> State:
        return MAIL.state.read(self.path)  # type: ignore[attr-defined]

    def rows(self, table: str, **columns: Any) -> list[Row]:
        return [row for row in self.state().tables[table] if all(row[name] == value for name, value in columns.items())]

    async def get(self, path: str) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == 200, path
        return answer.text

    async def post(self, path: str, code: int = 303, **form: Any) -> httpx.Response:
        answer = await self.http.post(path, data=form)
        assert answer.status_code == code, (path, answer.status_code)
        return answer

    async def draft(self, **form: Any) -> int:
        return int((await self.post("/drafts", 200, **form)).json()["id"])


@asynccontextmanager
async def running(folder: Path, data_seed: int = 0, look: Mapping[str, str] | None = None) -> AsyncIterator[Mail]:
    seed.write(folder / "mail.db", data_seed, look or {})
    transport = httpx.ASGITransport(create_app(folder))
    async with httpx.AsyncClient(transport=transport, base_url="http://mail") as http:
        yield Mail(http, folder / "mail.db")


def changed(before: State, after: State) -> list[str]:
    """What differs, but for what only tells what happened."""
    return [str(change) for change in differences(before, after) if change.table not in LOGS]


def threads(mail: Mail, **columns: Any) -> list[Row]:
    return mail.rows("threads", **columns)


# --- pages --------------------------------------------------------------------------------------------------


def test_the_app_runs_alone() -> None:
    """It prints its address, serves, and needs nothing of uigym."""
    program = (
        "import sys; sys.modules['uigym'] = None; import runpy; runpy.run_module('apps.mail', run_name='__main__')"
    )
    command = [sys.executable, "-c", program, "--port", "0", "--seed", "5", "--look", "language=de"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert httpx.get(f"{url}/healthz").text == "ok"
        assert "Posteingang" in httpx.get(url, follow_redirects=True).text
    finally:
        process.terminate()
        process.communicate(timeout=10)


@pytest.mark.parametrize(
    "look", [{}, {"language": "ar", "pane": "side", "content": "long"}, {"density": "compact", "content": "hostile"}]
)
async def test_every_page_is_drawn_and_looking_changes_nothing(tmp_path: Path, look: dict[str, str]) -> None:
    async with running(tmp_path, 3, look) as mail:
        before = mail.state()
        for path in PAGES:
            html = await mail.get(path)
            assert "<script>alert" not in html and "<b>Agent:" not in html, path
        last = before.tables["messages"][-4]
        for path in (
            f"/mail/inbox/{threads(mail)[40]['id']}",
            f"/compose?reply_to={last['id']}&all=1",
            f"/compose?forward_of={before.tables['attachments'][0]['message_id']}",
            f"/compose/{mail.rows('messages', status='draft')[0]['id']}",
            "/attachments/1/view?back=/mail/inbox",
        ):
            await mail.get(path)
        assert changed(before, mail.state()) == []
        assert len(mail.rows("seen")) == 1


async def test_what_is_not_there(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        for path in ("/nothing", "/mail/nowhere", "/mail/f99", "/mail/l99", "/mail/inbox/1", "/compose/1", "/compose?reply_to=1",
                     "/attachments/999", "/contacts/999", "/rules/999", "/mail/inbox/99999999999999999999999"):  # fmt: skip
            assert (await mail.http.get(path)).status_code == 404, path
        assert (await mail.http.get("/drafts/5/send")).headers["location"] == "/compose/5"


async def test_nasty_text_is_shown_as_text(tmp_path: Path) -> None:
    extra = [(NASTY, "x@evil.example", NASTY, NASTY, [("<b>.txt", b"<b>bold</b>")])]
    seed.write(tmp_path / "mail.db", 0, {}, extra)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(tmp_path)), base_url="http://mail") as http:
        mail = Mail(http, tmp_path / "mail.db")
        newest = threads(mail)[-1]
        file = mail.rows("attachments")[-1]
        for path in (
            "/mail/inbox",
            f"/mail/inbox/{newest['id']}",
            f"/attachments/{file['id']}/view",
            "/mail/search?q=" + NASTY,
        ):
            html = await mail.get(path)
            assert (
                "<script>alert" not in html and "<b>bold" not in html and "49" not in re.findall(r"quotes.{0,40}", html)
            ), path
        assert newest["folder"] == "inbox" and newest["unread"] == 1
        page = await mail.get("/mail/inbox")
        assert page.index(f"thread-{newest['id']}") == page.index("thread-")


# --- data ---------------------------------------------------------------------------------------------------


def test_seeds_repeat_and_differ(tmp_path: Path) -> None:
    path = tmp_path / "mail.db"

    def written(data_seed: int, **look: str) -> State:
        seed.write(path, data_seed, look)
        return MAIL.state.read(path)  # type: ignore[attr-defined]

    first = written(7)
    assert written(8).digest() != first.digest()
    assert written(7).digest() == first.digest()
    themed = written(7, theme="slate", language="ko", pane="side")
    assert {change.table for change in differences(first, themed)} == {"settings"}
    for content in looks.PARTS["content"]:
        tables = written(7, content=content).tables
        assert len(tables["threads"]) >= 120 and len(tables["messages"]) >= 200 and len(tables["contacts"]) >= 40
        assert len(tables["attachments"]) >= 20 and len(tables["folders"]) == 3 and len(tables["labels"]) == 6
        emails = [row["email"] for row in tables["contacts"]]
        assert len(set(emails)) == len(emails)
    assert any("AI assistants" in row["text"] for row in written(7, content="hostile").tables["messages"])
    with pytest.raises(ValueError, match="pane cannot be 'top'"):
        seed.write(path, 0, {"pane": "top"})


# --- search -------------------------------------------------------------------------------------------------


async def test_search(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        state = mail.state().tables
        messages = {row["id"]: row for row in state["messages"]}
        place = {row["id"]: row["folder"] for row in state["threads"]}
        shown = [
            row for row in messages.values() if row["thread_id"] and place[row["thread_id"]] not in ("spam", "trash")
        ]

        async def found(q: str) -> set[int]:
            ids, page = set(), 1
            while True:
                html = await mail.get(f"/mail/search?q={q}&page={page}")
                ids |= {int(id) for id in re.findall(r'data-testid="thread-(\d+)"', html)}
                if 'data-testid="next"' not in html:
                    return ids
                page += 1

        one = shown[30]
        name = one["sender_name"]
        assert await found(f'from:"{name}"') == {row["thread_id"] for row in shown if row["sender_name"] == name}
        holders = {messages[row["message_id"]]["thread_id"] for row in state["attachments"]}
        visible = {row["thread_id"] for row in shown}
        assert await found("has:attachment") == holders & visible
        days = sorted(row["sent_at"][:10] for row in shown)
        day = days[len(days) // 2]
        assert await found(f"before:{day}") == {row["thread_id"] for row in shown if row["sent_at"][:10] < day}
        assert await found(f"after:{day}") == {row["thread_id"] for row in shown if row["sent_at"][:10] >= day}
        assert await found("in:spam") == {id for id, folder in place.items() if folder == "spam"}
        labelled = {row["thread_id"] for row in state["thread_labels"] if row["label_id"] == 2}
        assert await found("label:finance") == labelled & visible
        assert await found("-label:finance") == visible - labelled
        assert await found("100%25") == set() and await found("in:nowhere") == set()


async def test_what_nobody_writes_does_no_harm(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        for path in (
            "/mail/search?q=" + "a " * 5000,
            "/mail/search?q=" + "x" * 60_000,
            "/contacts?find=" + "x" * 60_000,
        ):
            await mail.get(path)
        id = await mail.draft(body="<![\u2039![\u2026 <a href=" + "<b>" * 5000)
        assert mail.rows("messages", id=id)[0]["text"].startswith("<![\u2039![\u2026 <a href=")
        await mail.http.post(f"/drafts/{id}/files?name=a.csv", content=b'"' + b"x" * 200_000)
        (file,) = mail.rows("attachments", message_id=id)
        assert "There is no preview" in await mail.get(f"/attachments/{file['id']}/view")


# --- conversations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "column", "value"),
    [("archive", "folder", "archive"), ("delete", "folder", "trash"), ("spam", "folder", "spam"), ("star", "starred", 1),
     ("unstar", "starred", 0), ("read", "unread", 0), ("unread", "unread", 1), ("move:Projects", "folder", "Projects")],
)  # fmt: skip
async def test_many_conversations_at_once(tmp_path: Path, act: str, column: str, value: Any) -> None:
    async with running(tmp_path) as mail:
        before = mail.state()
        chosen = threads(mail, folder="inbox")[:4]
        ids = [row["id"] for row in chosen]
        answer = await mail.post("/threads", id=ids, act=act, back="/mail/inbox?page=2")
        assert answer.headers["location"] == "/mail/inbox?page=2"
        moved = [row["id"] for row in chosen if row[column] != value]
        assert len(changed(before, mail.state())) == len(moved)
        assert all(row[column] == value for row in threads(mail) if row["id"] in ids)


async def test_labels_on_conversations(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        before = mail.state()
        free = next(
            row["id"] for row in threads(mail, folder="inbox") if not mail.rows("thread_labels", thread_id=row["id"])
        )
        await mail.post("/threads", id=free, act="label:3")
        await mail.post("/threads", id=free, act="label:3")
        assert len(mail.rows("thread_labels", thread_id=free, label_id=3)) == 1
        await mail.post("/threads", id=free, act="unlabel:3")
        assert changed(before, mail.state()) == []
        for act in ("label:99", "label:x", "move:nowhere", "explode", ""):
            await mail.post("/threads", id=free, act=act)
        await mail.post("/threads", act="archive")
        await mail.post("/threads", id=free, act="archive", back="https://elsewhere.example/")
        assert len(changed(before, mail.state())) == 1


async def test_opened_conversations_are_read_until_marked_unread(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        unread = threads(mail, folder="inbox", unread=1)[-1]["id"]
        await mail.get(f"/mail/inbox/{unread}")
        assert mail.rows("seen") == [{"thread_id": unread}] and threads(mail, id=unread)[0]["unread"] == 1
        await mail.post("/threads", id=unread, act="unread")
        assert mail.rows("seen") == []


async def test_the_trash_is_emptied_with_all_that_was_in_it(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        gone = {row["id"] for row in threads(mail, folder="trash")}
        kept = len(threads(mail)) - len(gone)
        await mail.post("/empty/trash")
        assert len(threads(mail)) == kept
        assert not [row for row in mail.rows("messages") if row["thread_id"] in gone]
        assert (await mail.http.post("/empty/inbox")).status_code == 404
        one = threads(mail, folder="inbox")[0]["id"]
        for _ in range(2):
            await mail.post("/threads", id=one, act="delete")
        assert not threads(mail, id=one) and not mail.rows("messages", thread_id=one)


# --- writing ------------------------------------------------------------------------------------------------


async def test_a_draft_is_saved_sent_and_taken_back(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        before = mail.state()
        body = "<div onclick=x>Dear <strong>Ann</strong>,</div><ul><li>one</li></ul><script>alert(1)</script>"
        id = await mail.draft(to="Ann Bo <Ann@x.example>, cy@y.example", subject=" Two  words ", body=body)
        await mail.post(f"/drafts/{id}", 200, to="ann@x.example", cc="cy@y.example", subject="Two words", body=body)
        (row,) = mail.rows("messages", id=id)
        assert (row["recipients"], row["cc"], row["status"], row["thread_id"]) == (
            "ann@x.example",
            "cy@y.example",
            "draft",
            None,
        )
        assert row["body"] == "<p>Dear <b>Ann</b>,</p><ul><li>one</li></ul>" and row["text"] == "Dear Ann,\n- one"
        answer = await mail.post(f"/drafts/{id}/send")
        (row,) = mail.rows("messages", id=id)
        thread = threads(mail)[-1]
        assert row["status"] == "outbox" and row["thread_id"] == thread["id"] and thread["subject"] == "Two words"
        assert row["signature"] == mail.rows("profile")[0]["signature"]
        assert 'data-testid="undo"' in await mail.get(answer.headers["location"])
        await mail.post(f"/outbox/{id}/undo")
        assert mail.rows("messages", id=id)[0]["status"] == "draft" and f"thread-{thread['id']}" not in await mail.get(
            "/mail/sent"
        )
        await mail.post(f"/drafts/{id}", 200, to="ann@x.example", subject="Three words", body=body)
        await mail.post(f"/drafts/{id}/send")
        assert threads(mail)[-1] == {**thread, "subject": "Three words"}
        await mail.post(f"/outbox/{id}/send")
        assert mail.rows("messages", id=id)[0]["status"] == "sent"
        for path in (f"/outbox/{id}/undo", f"/drafts/{id}/send", f"/drafts/{id}"):
            assert (await mail.http.post(path)).status_code == 404
        assert len(changed(before, mail.state())) == 2


async def test_a_discarded_draft_leaves_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        before = mail.state()
        id = await mail.draft(to="a@x.example", subject="A")
        await mail.http.post(f"/drafts/{id}/files?name=a.txt", content=b"a")
        await mail.post(f"/drafts/{id}/send")
        await mail.post(f"/outbox/{id}/undo")
        await mail.post(f"/drafts/{id}/discard")
        assert changed(before, mail.state()) == []


async def test_a_mail_is_saved_and_sent_in_one_request(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        count = len(mail.rows("messages"))
        await mail.post("/send", to="ann@x.example", subject="A", body="one")
        assert mail.rows("messages")[-1]["status"] == "outbox" and len(mail.rows("messages")) == count + 1
        id = await mail.draft(to="ann@x.example", subject="B")
        await mail.post(f"/drafts/{id}/send", to="bo@x.example", subject="B", body="two")
        (row,) = mail.rows("messages", id=id)
        assert (row["recipients"], row["text"], row["status"]) == ("bo@x.example", "two", "outbox")
        assert f'data-id="{id + 1}"' in (await mail.post("/send", 422, subject="C")).text
        assert (await mail.http.get("/send")).headers["location"] == "/compose"


async def test_mails_that_cannot_be_sent(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        for to, said in (
            ("", "at least one recipient"),
            ("Ann", "no e-mail address"),
            ("a@x.example, b@", "no e-mail address"),
        ):
            id = await mail.draft(to=to, subject="A")
            answer = await mail.post(f"/drafts/{id}/send", 422)
            assert said in answer.text and mail.rows("messages", id=id)[0]["status"] == "draft"


async def test_files(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        id = await mail.draft(subject="A")
        put = f"/drafts/{id}/files?name="
        assert "a b.csv" in (await mail.http.post(put + "a%20b.csv", content=b"x,y\n1,2\n")).text
        large = await mail.http.post(put + "b.txt", content=b"x" * 2_000_001)
        assert large.status_code == 422 and "2 MB" in large.text
        assert (await mail.http.post(put + "..%2F..%2Fc.txt", content=b"c")).status_code == 200
        first, second = mail.rows("attachments", message_id=id)
        assert first["type"] == "text/csv" and first["size"] == 8 and second["name"] == ".._.._c.txt"
        got = await mail.http.get(f"/attachments/{first['id']}")
        assert got.content == b"x,y\n1,2\n" and got.headers["content-disposition"].startswith("attachment")
        assert "<td>1</td><td>2</td>" in await mail.get(f"/attachments/{first['id']}/view")
        await mail.post(f"/drafts/{id}/files/{second['id']}/remove", 200)
        assert len(mail.rows("attachments", message_id=id)) == 1


async def test_answers_and_forwards(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        me = mail.rows("profile")[0]["email"]
        many = next(row for row in mail.rows("messages", status="received") if row["cc"] or "," in row["recipients"])
        page = await mail.get(f"/compose?reply_to={many['id']}&all=1")
        others = {*many["recipients"].split(", "), *many["cc"].split(", ")} - {me, ""}
        (cc,) = re.findall(r'name="cc" value="([^"]*)"', page)
        assert set(cc.split(", ")) == others and f'name="to" value="{many["sender"]}"' in page
        id = await mail.draft(to=many["sender"], subject="Re: x", body="Yes", reply_to=many["id"])
        answer = await mail.post(f"/drafts/{id}/send")
        assert f"/{many['thread_id']}?sent={id}" in answer.headers["location"]
        assert mail.rows("messages", id=id)[0]["thread_id"] == many["thread_id"]
        file = mail.rows("attachments")[0]
        id = await mail.draft(to="a@x.example", subject="Fwd: x", forward_of=file["message_id"], keep=file["id"])
        copied = mail.rows("attachments", message_id=id)
        assert [row["sha256"] for row in copied] == [file["sha256"]]
        assert (await mail.http.post("/drafts", data={"reply_to": "1"})).status_code == 404


# --- people, rules, settings --------------------------------------------------------------------------------


async def test_contacts_and_groups(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        before = mail.state()
        who = {"name": "Zed Zane", "email": "Zed@z.example", "phone": "+1", "company": "Z", "notes": ""}
        await mail.post("/contacts", **who, group=[1, 3])
        (added,) = mail.rows("contacts", email="zed@z.example")
        assert [row["group_id"] for row in mail.rows("group_members", contact_id=added["id"])] == [1, 3]
        assert (await mail.http.get("/suggest?q=zan")).json() == [{"name": "Zed Zane", "emails": ["zed@z.example"]}]
        board = (await mail.http.get("/suggest?q=board")).json()[0]
        assert board["name"] == "Board" and len(board["emails"]) == 5
        for wrong in ({**who}, {**who, "email": "no"}, {**who, "name": " ", "email": "q@z.example"}):
            await mail.post("/contacts", 422, **wrong)
        await mail.post(f"/contacts/{added['id']}", **{**who, "phone": "+2"}, group=3)
        await mail.post(f"/contacts/{added['id']}/delete")
        assert changed(before, mail.state()) == []
        await mail.post("/groups", name="Press")
        await mail.post("/groups", name="press")
        assert len(mail.rows("contact_groups")) == 4


async def test_rules(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        for wrong in ({"label_id": 1}, {"from_contains": "a"}, {"from_contains": "a", "label_id": 99},
                      {"from_contains": "a", "forward_to": "x"}, {"from_contains": "a", "move_to": "nowhere"}):  # fmt: skip
            await mail.post("/rules", 422, **wrong)
        before = mail.state()
        await mail.post("/rules", subject_contains="YOUR ORDER", label_id=6, move_to="archive")
        rule = mail.rows("rules")[-1]
        assert len(changed(before, mail.state())) == 1
        await mail.post(f"/rules/{rule['id']}/run")
        about = {row["thread_id"] for row in mail.rows("messages") if "Your order" in row["subject"]}
        orders = [row for row in threads(mail) if row["id"] in about and row["folder"] not in ("spam", "trash")]
        assert orders and all(row["folder"] == "archive" for row in orders)
        assert {row["id"] for row in orders} <= {row["thread_id"] for row in mail.rows("thread_labels", label_id=6)}
        await mail.post(f"/rules/{rule['id']}", subject_contains="Offer", star="1")
        changed_rule = mail.rows("rules")[-1]
        assert (changed_rule["star"], changed_rule["label_id"], changed_rule["move_to"]) == (1, None, "")
        await mail.post(f"/rules/{rule['id']}/delete")
        assert (await mail.http.post("/rules/999/run")).status_code == 404


async def test_labels_folders_and_newsletters(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        await mail.post("/labels", name="Press", colour="red")
        for name, colour in (("press", "red"), ("", "red"), ("New", "pink"), ("x" * 31, "red")):
            await mail.post("/labels", name=name, colour=colour)
        assert len(mail.rows("labels")) == 7
        await mail.post("/labels/2/delete")
        assert not mail.rows("thread_labels", label_id=2)
        await mail.post("/folders", name="Inbox")
        await mail.post("/folders", name="Later")
        assert len(mail.rows("folders")) == 4
        await mail.post("/folders/1/delete")
        await mail.post("/folders/4/delete")
        assert [row["name"] for row in mail.rows("folders")] == ["Projects", "Receipts", "Recruiting"]
        await mail.post("/subscriptions/2/stop", back="/mail/inbox/120")
        assert [row["id"] for row in mail.rows("subscriptions", active=0)] == [2]


async def test_settings(tmp_path: Path) -> None:
    async with running(tmp_path) as mail:
        before = mail.state()
        days = {
            "vacation": "1",
            "vacation_from": "2026-05-01",
            "vacation_until": "2026-05-09",
            "vacation_text": "Away.",
        }
        for wrong in ({"vacation_text": ""}, {"vacation_until": "2026-04-01"}, {"vacation_from": "soon"}):
            await mail.post("/settings/vacation", 422, **{**days, **wrong})
        assert changed(before, mail.state()) == []
        await mail.post("/settings/vacation", **days, vacation_subject="Out")
        await mail.post("/settings/signature", signature="Me\r\nHere")
        await mail.post("/settings/density", density="compact")
        await mail.post("/settings/density", density="huge")
        profile = mail.rows("profile")[0]
        assert (
            profile["vacation"] == 1
            and profile["vacation_until"] == "2026-05-09"
            and profile["signature"] == "Me\nHere"
        )
        assert 'class="light compact"' in await mail.get("/settings")


@pytest.mark.parametrize("code", ["de", "ko", "ar"])
async def test_the_interface_speaks_the_language(tmp_path: Path, code: str) -> None:
    """Texts of the interface that stay English would be seen among the words of the sidebar and the buttons."""
    async with running(tmp_path, 1, {"language": code}) as mail:
        for path in ("/mail/inbox", "/compose", "/rules/new", "/settings", "/labels", "/contacts/new", "/outbox"):
            html = await mail.get(path)
            for word in ("Inbox", "Compose", "Save", "Subject", "Cancel", "Discard", "Search", "Attach", "Move to"):
                assert not re.search(rf"[>\"]{word}[ <\"]", html.split("<body")[1]), (path, word)
