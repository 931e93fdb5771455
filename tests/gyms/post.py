"""A post office: letters are drafted, sent by mail with a card or without, and filed as text."""

from __future__ import annotations

import smtplib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.message import EmailMessage
from html import escape
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from uigym.harness import Harness, Running
from uigym.params import one_of, rows
from uigym.product import Files, InOrder, Mail, Snapshot, Sqlite, Together
from uigym.types import Row
from uigym.verifiers.files import created
from uigym.verifiers.mail import sent
from uigym.verifiers.network import never_requested, nothing_refused, requested
from uigym.verifiers.page import has_node, shows, title_is, url_matches
from uigym.verifiers.state import added, changed, drafted, only, unchanged
from uigym.verify import Verifier, all_of

STYLE = "<!doctype html><meta charset=utf-8><title>Post</title><body style='font: 14px sans-serif; margin: 8px'>"
PEOPLE = (("Ada", "ada@acme.test"), ("Ben", "ben@acme.test"), ("Cleo", "cleo@acme.test"))
SCHEMA = """CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, address TEXT, letters INTEGER);
CREATE TABLE letters (id INTEGER PRIMARY KEY, person INTEGER, text TEXT, card INTEGER, status TEXT);"""
Made = RedirectResponse


async def form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode()))


Said = Annotated[dict[str, str], Depends(form)]


def create_app(workdir: Path, smtp_host: str, smtp_port: str) -> FastAPI:
    """The product; it sends by the mail server that it is told."""
    app, path = FastAPI(), workdir / "post.db"
    (workdir / "out").mkdir()
    with opened(path) as database:
        database.executescript(SCHEMA)
        database.executemany("INSERT INTO people (name, address, letters) VALUES (?, ?, 0)", PEOPLE)

    @app.get("/")
    def page() -> HTMLResponse:
        with opened(path) as database:
            people = "".join(
                f"<p>{row['name']} ({row['letters']}) <a href=/write/{row['id']}>Write to {row['name']}</a>"
                for row in database.execute("SELECT * FROM people")
            )
            letters = "".join(
                f"<p>{row['status']}: {escape(row['text'])} <a href=/letter/{row['id']}>Open</a>"
                for row in database.execute("SELECT * FROM letters")
            )
        return HTMLResponse(STYLE + people + letters)

    @app.get("/write/{person}")
    def write(person: int) -> HTMLResponse:
        return HTMLResponse(
            f"{STYLE}<form method=post action=/draft/{person}>{fields('', 0)}<button>Save</button></form>"
        )

    @app.post("/draft/{person}")
    def draft(person: int, said: Said) -> Made:
        text, card = said.get("text", ""), int("card" in said)
        with opened(path) as database:
            new = database.execute(
                "INSERT INTO letters (person, text, card, status) VALUES (?, ?, ?, 'draft')", (person, text, card)
            )
            return Made(f"/letter/{new.lastrowid}", 303)

    @app.get("/letter/{letter}")
    def letter(letter: int) -> HTMLResponse:
        with opened(path) as database:
            row = database.execute("SELECT * FROM letters WHERE id = ?", (letter,)).fetchone()
        return HTMLResponse(
            f"{STYLE}<form method=post action=/send/{letter}>{fields(row['text'], row['card'])}"
            f"<button>Send</button></form><p>This letter is {row['status']}.<p><a href=/>All</a>"
        )

    @app.post("/send/{letter}")
    def send(letter: int, said: Said) -> Made:
        text, card = said.get("text", ""), int("card" in said)
        with opened(path) as database:
            database.execute(
                "UPDATE letters SET text = ?, card = ?, status = 'sent' WHERE id = ?", (text, card, letter)
            )
            person = database.execute(
                "UPDATE people SET letters = letters + 1 WHERE id = (SELECT person FROM letters WHERE id = ?) RETURNING *",
                (letter,),
            ).fetchone()
            with smtplib.SMTP(smtp_host, int(smtp_port)) as smtp:
                smtp.send_message(message(person["address"], text, card))
        (workdir / "out" / f"{letter}.txt").write_text(text)
        return Made(f"/letter/{letter}", 303)

    return app


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as database, database:
        database.row_factory = sqlite3.Row
        yield database


def fields(text: str, card: int) -> str:
    return (
        f"<p><label>Text <input name=text value='{escape(text, quote=True)}'></label>"
        f"<p><label><input type=checkbox name=card value=1 {'checked' if card else ''}> With a card</label><p>"
    )


def message(address: str, text: str, card: int) -> EmailMessage:
    found = EmailMessage()
    found["From"], found["To"], found["Subject"] = "post@acme.test", address, "A letter"
    found.set_content(text)
    if card:
        found.add_attachment(b"GIF89a", maintype="image", subtype="gif", filename="card.gif")
    return found


async def clear(product: Running, seed: int, looks: Any) -> None:
    for file in (Path(product.workdir) / "out").iterdir():
        file.unlink()


post = Harness(
    name="post",
    asgi=create_app,
    state=Together(Sqlite("{workdir}/post.db"), Files("{workdir}/out"), Mail()),
    reset=InOrder(Snapshot("{workdir}/post.db"), clear),
    viewport=(420, 300),
    watch=("network", "page"),
)


@post.task('Send a letter with the text "{text}" to {person[name]}, {how} a card.', max_steps=20)
def write(
    person: Row = rows("people"),
    text: str = one_of("All the best", "See you soon"),
    how: str = one_of("with", "without"),
) -> Verifier:
    card = how == "with"
    letter = added("letters", person=person["id"], text=text, card=int(card), status="sent")
    mail = sent(person["address"], text=text, attachments=["card.gif"] if card else [])
    counted = changed("people", key=person["id"], letters=1)
    done = only((2, drafted(letter, status="draft")), counted, mail, created("*.txt", text=text))
    asked = requested("POST", "/send/*", body={"text": text, "card": "1"} if card else {"text": text})
    return all_of(done, asked, never_requested("DELETE", "**"), nothing_refused())


@write.oracle
async def _(page: Any, person: Row, text: str, how: str) -> None:
    await page.get_by_role("link", name=f"Write to {person['name']}").click()
    await page.get_by_role("textbox", name="Text").fill(text)
    if how == "with":
        await page.get_by_role("checkbox", name="With a card").click()
    await page.get_by_role("button", name="Save").click()
    await page.get_by_role("button", name="Send").click()
    await page.get_by_text("This letter is sent.").wait_for()


@post.task("Start a letter to {person[name]} with a card, but do not save it.", max_steps=10)
def begin(person: Row = rows("people")) -> Verifier:
    card, save = has_node("checkbox", "With a card", checked=True), has_node("button", "Save")
    page = all_of(url_matches(f"/write/{person['id']}"), title_is("Post"), shows("With a card"))
    return all_of(page, card, save, unchanged())


@begin.oracle
async def _(page: Any, person: Row) -> None:
    await page.get_by_role("link", name=f"Write to {person['name']}").click()
    await page.get_by_role("checkbox", name="With a card").click()
