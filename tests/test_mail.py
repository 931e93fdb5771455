"""The mail server that delivers nothing: what is sent is a row, what is not sent whole is none."""

from __future__ import annotations

import asyncio
import hashlib
import smtplib
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import ProductError
from uigym.harness import Harness
from uigym.product import Mail, Product, Sqlite, Together
from uigym.product.mail import row_of
from uigym.product.smtp import MAX_BYTES, Envelope, Sink
from uigym.types import Row, state_from_json, state_to_json


@asynccontextmanager
async def server() -> AsyncIterator[Sink]:
    sink = Sink()
    await sink.start()
    try:
        yield sink
    finally:
        await sink.stop()


def client(sink: Sink) -> smtplib.SMTP:
    return smtplib.SMTP("127.0.0.1", sink.port, timeout=10)


async def using(sink: Sink, act: Callable[[smtplib.SMTP], Any]) -> Any:
    """Do something over a connection, in a thread: the server lives in this loop."""

    def work() -> Any:
        with client(sink) as smtp:
            return act(smtp)

    return await asyncio.to_thread(work)


async def talk(sink: Sink, *said: bytes, close: bool = True) -> bytes:
    """Say these bytes and read until the server ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", sink.port)
    for piece in said:
        writer.write(piece)
        await writer.drain()
    if close:
        writer.write_eof()
    heard = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return heard


def letter(text: str = "Thank you.\n.\n..dots", **headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in {"From": "shop@acme.test", "To": "ada@acme.test", "Subject": "Order 12", **headers}.items():
        message[name] = value
    message.set_content(text)
    return message


def row(content: bytes) -> Row:
    return row_of(1, Envelope("a@x", ("b@x",), content))


# --- what a product sends -----------------------------------------------------------------------------------------


async def test_a_mail_is_a_row_with_all_that_it_holds() -> None:
    message = letter(Bcc="eve@acme.test")
    message.add_alternative("<p>Thank <b>you</b>.", subtype="html")
    message.add_attachment(b"%PDF\x00\xff", maintype="application", subtype="pdf", filename="Rechnung ü.pdf")
    async with server() as sink:
        await using(sink, lambda smtp: smtp.send_message(message, to_addrs=["ada@acme.test", "eve@acme.test"]))
        found = row_of(1, sink.mails[0])
    assert found == {
        "id": 1,
        "sender": "shop@acme.test",
        "recipients": ["ada@acme.test", "eve@acme.test"],
        "subject": "Order 12",
        "text": "Thank you.\n.\n..dots",
        "html": "<p>Thank <b>you</b>.",
        "attachments": [
            {
                "name": "Rechnung ü.pdf",
                "type": "application/pdf",
                "size": 6,
                "sha256": hashlib.sha256(b"%PDF\x00\xff").hexdigest(),
            }
        ],
        "raw": None,
    }


async def test_several_mails_over_one_connection_and_with_a_password() -> None:
    def act(smtp: smtplib.SMTP) -> None:
        smtp.login("anybody", "anything")
        for number in range(3):
            smtp.send_message(letter(Subject=f"Mail {number}"))

    async with server() as sink:
        await using(sink, act)
        assert [row_of(1, mail)["subject"] for mail in sink.mails] == ["Mail 0", "Mail 1", "Mail 2"]
        auth = await talk(sink, b"EHLO x\r\nAUTH PLAIN\r\nAGEAYg==\r\nAUTH CRAM-MD5\r\nQUIT\r\n")
    assert b"334 \r\n235 welcome\r\n504 " in auth


async def test_many_at_once() -> None:
    async with server() as sink:
        await asyncio.gather(*(using(sink, lambda smtp: smtp.send_message(letter())) for _ in range(20)))
        assert len(sink.mails) == 20


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text("a.\n\r é", max_size=8).map(lambda line: line.replace("\r", "")), max_size=6))
def test_every_text_arrives_as_it_was(lines: list[str]) -> None:
    body = "\n".join(lines)

    async def trial() -> None:
        async with server() as sink:
            content = f"Subject: x\n\n{body}\n".encode()
            await using(sink, lambda smtp: smtp.sendmail("a@x", ["b@x"], content))
            assert sink.mails[0].content.replace(b"\r\n", b"\n").rstrip(b"\n") == content.rstrip(b"\n")

    asyncio.run(trial())


# --- what is not sent ---------------------------------------------------------------------------------------------

BEGUN = b"EHLO x\r\nMAIL FROM:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\nSubject: x\r\n\r\nhello\r\n"


@pytest.mark.parametrize(
    "said",
    [
        BEGUN,
        BEGUN + b".",
        BEGUN + b".\n",
        BEGUN + b"\n.\r\n",
        b"EHLO x\r\nMAIL FROM:<a@x>\r\nRCPT TO:<b@x>\r\nRSET\r\nDATA\r\n.\r\n",
        b"EHLO x\r\nMAIL FROM:<a@x>\r\nDATA\r\n",
        b"EHLO x\r\nDATA\r\nQUIT\r\n",
        b"EHLO x\r\nRCPT TO:<b@x>\r\nDATA\r\nQUIT\r\n",
        b"EHLO x\r\nMAIL FROM:<a@x>\r\nRCPT TO:<>\r\nDATA\r\nQUIT\r\n",
        b"EHLO x\r\nMAIL TO:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\nQUIT\r\n",
        b"GET / HTTP/1.1\r\n" + BEGUN + b".\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\n" + BEGUN + b".\r\n",
        b"X" * 10_000 + b"\r\nQUIT\r\n",
        b"\xff\x00\r\nSTARTTLS\r\nBDAT 5\r\nQUIT\r\n",
        b"",
    ],
)
async def test_what_breaks_off_or_is_no_mail_was_not_sent(said: bytes) -> None:
    async with server() as sink:
        await talk(sink, said)
        await sink.quiet(5)
        assert sink.mails == []
        await using(sink, lambda smtp: smtp.send_message(letter()))  # and the next one is taken
        assert len(sink.mails) == 1


async def test_a_mail_that_hides_in_a_mail_is_no_mail() -> None:
    inside = b"hello\n.\nMAIL FROM:<evil@x>\nRCPT TO:<b@x>\nDATA\nSubject: evil\n\n.\n"
    async with server() as sink:
        await talk(sink, BEGUN + inside + b"\r\n.\r\nQUIT\r\n")
        assert [mail.sender for mail in sink.mails] == ["a@x"] and b"evil@x" in sink.mails[0].content


async def test_what_is_too_large_is_refused_and_the_connection_goes_on() -> None:
    def act(smtp: smtplib.SMTP) -> None:
        with pytest.raises((smtplib.SMTPDataError, smtplib.SMTPSenderRefused)) as caught:
            smtp.sendmail("a@x", ["b@x"], b"Subject: x\r\n\r\n" + (b"y" * 990 + b"\r\n") * (MAX_BYTES // 990))
        assert caught.value.smtp_code == 552
        smtp.sendmail("a@x", ["b@x"], b"Subject: small\r\n\r\n")

    async with server() as sink:
        await using(sink, act)
        assert len(sink.mails) == 1


async def test_no_flood_of_mails_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.smtp.MAX_HELD_BYTES", 1000)

    def act(smtp: smtplib.SMTP) -> None:
        smtp.sendmail("a@x", ["b@x"], b"x" * 900)
        with pytest.raises(smtplib.SMTPDataError, match="too many mails"):
            smtp.sendmail("a@x", ["b@x"], b"x" * 900)

    async with server() as sink:
        await using(sink, act)
        assert len(sink.mails) == 1
        sink.clear()
        await using(sink, lambda smtp: smtp.sendmail("a@x", ["b@x"], b"x" * 900))
        assert len(sink.mails) == 1


async def half_sent(sink: Sink) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection within whose mail the server waits for the rest."""
    reader, writer = await asyncio.open_connection("127.0.0.1", sink.port)
    writer.write(BEGUN)
    heard = b""
    while b"354" not in heard:
        heard += await reader.read(1000)
    return reader, writer


async def test_a_mail_from_before_a_reset_is_not_one_of_after_it() -> None:
    async with server() as sink:
        reader, writer = await half_sent(sink)
        sink.clear()
        writer.write(b".\r\nQUIT\r\n")
        assert b"451 the product was reset meanwhile" in await reader.read()
        writer.close()
        assert sink.mails == []


async def test_a_mail_under_way_is_waited_for() -> None:
    async with server() as sink:
        _, writer = await half_sent(sink)
        waiting = asyncio.create_task(sink.quiet(30))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        writer.write(b".\r\n")
        await asyncio.wait_for(waiting, 10)
        assert len(sink.mails) == 1
        writer.close()


async def test_stopping_ends_every_connection_and_frees_the_port() -> None:
    async with server() as sink:
        reader, writer = await asyncio.open_connection("127.0.0.1", sink.port)
        writer.write(BEGUN)
        await reader.readline()
        port = sink.port
        await sink.stop()
        await sink.stop()
        assert len(await asyncio.wait_for(reader.read(), 10)) < 1000
        writer.close()
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))


# --- reading ------------------------------------------------------------------------------------------------------


def test_a_mail_of_markup_alone_has_the_text_that_a_person_reads() -> None:
    markup = "<html><head><title>T</title><style>p {}</style></head><body><h1>Order  12</h1><p>Thanks &amp; bye<br>Ada<script>x()</script>"
    found = row(b"Subject: x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + markup.encode())
    assert found["text"] == "Order 12\nThanks & bye\nAda" and found["html"] == markup and found["raw"] is None


def test_encoded_words_and_folded_headers_are_read() -> None:
    found = row(b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= from\r\n  Berlin\r\n\r\nhi\r\n")
    assert (found["subject"], found["text"], found["raw"]) == ("Grüße from Berlin", "hi", None)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no headers at all",
        b"Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntext",
        b"Subject: x\r\nContent-Type: text/plain; charset=klingon\r\n\r\nhi",
        b"Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!",
        b"Subject: x\r\nTo: @@,,<<\r\n\r\nhi",
        b"Subject: x\r\nContent-Type: multipart/mixed\r\n\r\nhi",
    ],
)
def test_a_broken_mail_is_kept_raw(content: bytes) -> None:
    assert row(content)["raw"] == content.decode().replace("\r\n", "\n")


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200) | st.lists(st.sampled_from([
    b"Subject: =?utf-8?b?!?=\r\n", b"Content-Type: multipart/mixed; boundary=b\r\n", b"\r\n", b"--b\r\n", b"--b--\r\n", b"\xff\xed\xa0\x80",
    b"Content-Type: message/rfc822\r\n", b"Content-Disposition: attachment; filename*=utf-8''%ff\r\n", b"To: \"\r\n", b"x\r\n",
    b"Content-Type: text/html\r\n", b"<!-- <![CDATA[ <p", b"Content-Transfer-Encoding: base64\r\n",
]), max_size=12).map(b"".join))  # fmt: skip
def test_no_mail_breaks_the_reading_and_every_row_can_be_stored(content: bytes) -> None:
    from uigym.types import State

    state = State({"mails": (row(content),)}, {"mails": ("id",)})
    assert state_from_json(state_to_json(state)) == state
    state.digest()


# --- a product that sends -----------------------------------------------------------------------------------------


def create_app(workdir: Path, smtp_host: str, smtp_port: str) -> FastAPI:
    """A shop that confirms an order by mail, and one that falls over while it does."""
    app = FastAPI()
    (workdir / "note").touch()

    @app.post("/order")
    def order() -> None:
        with smtplib.SMTP(smtp_host, int(smtp_port)) as smtp:
            smtp.send_message(letter())

    @app.post("/fail")
    def fail() -> None:
        smtp = smtplib.SMTP(smtp_host, int(smtp_port))
        smtp.ehlo()
        smtp.mail("a@x")
        smtp.rcpt("b@x")
        smtp.putcmd("data")
        smtp.getreply()
        smtp.send(b"Subject: half\r\n\r\nhello\r\n")
        smtp.close()

    @app.get("/")
    def page() -> str:
        return "shop"

    return app


def harness(**fields: Any) -> Harness:
    async def reset(product: Any, seed: int, appearance: Any) -> None:
        async with httpx.AsyncClient(trust_env=False) as http:
            await http.post(product.base_url + "/order")  # what the reset sends is none of the episode's

    return Harness(name="shop", asgi=create_app, state=Mail(), reset=reset, **fields)


async def post(product: Product, path: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        (await http.post(product.base_url + path)).raise_for_status()


async def test_a_products_mails_are_its_state_and_a_reset_clears_them() -> None:
    shop = harness()
    async with Product(shop) as one, Product(shop) as two:
        first = await one.reset(0)
        await two.reset(0)
        assert first.tables == {"mails": ()} and first.keys == {"mails": ("id",)}
        await post(one, "/order")
        await post(one, "/fail")
        mails = (await one.read_state()).tables["mails"]
        assert [(mail["id"], mail["subject"]) for mail in mails] == [(1, "Order 12")]
        assert (await two.read_state()).tables == {"mails": ()}
        assert (await one.reset(0)).digest() == first.digest()
        assert shop.state.control(one) == (f"tcp://127.0.0.1:{one.values['smtp_port']}",)  # type: ignore[attr-defined]
        port = int(one.values["smtp_port"])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port)).close()


async def test_mail_stands_beside_other_probes(tmp_path: Path) -> None:
    import sqlite3

    def with_data(workdir: Path, smtp_host: str, smtp_port: str) -> FastAPI:
        with sqlite3.connect(workdir / "shop.db") as database:
            database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        database.close()
        return create_app(workdir, smtp_host, smtp_port)

    shop = harness()
    both = Together(Sqlite("{workdir}/shop.db"), Mail())
    async with Product(Harness(name="shop", asgi=with_data, state=both, reset=shop.reset)) as product:
        await product.reset(0)
        await post(product, "/order")
        state = await product.read_state()
        assert sorted(state.tables) == ["mails", "orders"] and len(state.tables["mails"]) == 1
        assert (await product.reset(0)).tables["mails"] == ()


async def test_a_probe_that_was_not_started_says_so() -> None:
    with pytest.raises(ProductError, match="the product was not started with Mail"):
        await Mail()(Product(harness()))
