"""The mails that a product sends, as a table of its state."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from typing import Any
from weakref import WeakKeyDictionary

from uigym.errors import ProductError
from uigym.harness import Running
from uigym.product.smtp import Envelope, Sink
from uigym.types import Row, State

QUIET_S = 2.0
"""How long a mail that is just being handed over is waited for before the state is read."""


class Mail:
    """A probe with a mail server of its own: table `mails` holds what the product sent since the last reset.

    The product is told where the server is by {smtp_host} and {smtp_port} in its start command, or by parameters of
    its ASGI factory that have these names. The server asks for no TLS, takes any name and password, and delivers
    nothing.

    A row has `id` (1 for the first), `sender` and `recipients` (of the envelope, so blind copies too), `subject`,
    `text` (of an HTML mail without a text: what a person would read), `html`, and `attachments`, each with name, type,
    size in bytes and sha256. `raw` is None, or the whole of a mail that breaks the rules of mail, so that nothing of
    it is lost.

    Example:
        >>> Together(Sqlite("{workdir}/shop.db"), Mail())  # doctest: +SKIP
    """

    table = "mails"

    def __init__(self) -> None:
        self._sinks: WeakKeyDictionary[Running, Sink] = WeakKeyDictionary()

    async def prepare(self, product: Running) -> dict[str, str]:
        """Start the server; gives the product's strings {smtp_host} and {smtp_port}."""
        sink = self._sinks[product] = Sink()
        await sink.start()
        return {"smtp_host": "127.0.0.1", "smtp_port": str(sink.port)}

    async def cleared(self, product: Running) -> None:
        """Forget the mails: the product has been reset."""
        self._sink(product).clear()

    async def ended(self, product: Running) -> None:
        """Stop the server."""
        sink = self._sinks.pop(product, None)
        if sink is not None:
            await sink.stop()

    def control(self, product: Running) -> tuple[str, ...]:
        """The server's port: a page could send mail there that the product did not."""
        return (f"tcp://127.0.0.1:{self._sink(product).port}",)

    async def __call__(self, product: Running) -> State:
        """The mails at this moment; one that is being handed over is waited for.

        Raises:
            ProductError: The product was not started with this probe.
        """
        sink = self._sink(product)
        await sink.quiet(QUIET_S)
        mails = tuple(sink.mails)
        rows = await asyncio.to_thread(_rows, mails) if mails else ()
        return State({self.table: rows}, {self.table: ("id",)})

    def _sink(self, product: Running) -> Sink:
        if product not in self._sinks:
            raise ProductError("the mail server is not running: the product was not started with Mail() as its state")
        return self._sinks[product]


def _rows(mails: Sequence[Envelope]) -> tuple[Row, ...]:
    return tuple(row_of(number, mail) for number, mail in enumerate(mails, 1))


def row_of(number: int, mail: Envelope) -> Row:
    """A mail as a row of the table."""
    row: Row = {"id": number, "sender": mail.sender, "recipients": list(mail.recipients)}
    try:
        read = _read(mail.content)
    except Exception:  # the standard library reads some broken mails by raising whatever it likes
        read = None
    if read is None:
        read = {"subject": "", "text": "", "html": "", "attachments": [], "raw": _text(mail.content)}
    return _plain({**row, **read})


def _read(content: bytes) -> dict[str, Any]:
    message = message_from_bytes(content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    markup = _content(html)
    read = {
        "subject": " ".join(str(message["subject"] or "").split()),
        "text": _content(plain) if plain is not None else _words(markup),
        "html": markup,
        "attachments": [_attachment(part) for part in message.iter_attachments()],
    }
    # what is wrong with a part may only show when it is read
    broken = any(part.defects or any(value.defects for value in part.values()) for part in message.walk())
    return {**read, "raw": _text(content) if broken or not message.keys() else None}


def _content(part: Any) -> str:
    return "" if part is None else str(part.get_content()).replace("\r\n", "\n").rstrip("\n")


def _attachment(part: Any) -> dict[str, Any]:
    content = part.get_payload(decode=True)
    if content is None:  # a mail inside the mail
        content = b"".join(inner.as_bytes() for inner in part.get_payload())
    name, kind = part.get_filename() or "", part.get_content_type()
    return {"name": name, "type": kind, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _text(content: bytes) -> str:
    return content.decode(errors="backslashreplace").replace("\r\n", "\n")


def _plain(value: Any) -> Any:
    """The same without halves of characters, which cannot be stored."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


class _Reader(HTMLParser):
    """Keeps what of a page a person would read."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style", "title")
        if tag in ("br", "p", "div", "tr", "li", "h1", "h2", "h3", "td", "th"):
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "title") and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)


def _words(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.words).split("\n"))
    return "\n".join(line for line in lines if line)
