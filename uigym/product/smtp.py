"""A mail server that delivers nothing: it takes what a product sends and keeps it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

MAX_BYTES = 25 * 1024 * 1024
"""Of one mail; a larger one is refused."""
MAX_HELD_BYTES = 10 * MAX_BYTES
"""Of all mails since the last reset; no more are taken then."""
MAX_RECIPIENTS = 1000
_MAX_COMMAND = 4096
_PATH = re.compile(r"(?:FROM|TO):\s*(?:<(?P<path>[^<>]*)>|(?P<bare>[^\s<>]+))(?:\s.*)?", re.IGNORECASE | re.DOTALL)
_HTTP = re.compile(rb"(GET|POST|PUT|HEAD|OPTIONS|DELETE|PATCH|CONNECT) ")
_HELLO = ("250-uigym", f"250-SIZE {MAX_BYTES}", "250-8BITMIME", "250-SMTPUTF8", "250-PIPELINING", "250-AUTH PLAIN LOGIN", "250 HELP")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Envelope:
    """A mail as it was handed over."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes
    """Headers and body, as they came."""


class Sink:
    """One server on a loopback port of its own."""

    def __init__(self) -> None:
        self.port = 0
        """0 until started."""
        self.mails: list[Envelope] = []
        """In the order in which they were handed over whole."""
        self.held = 0
        """Bytes of all of them."""
        self.era = 0
        """Counts how often the mails were cleared."""
        self._server: asyncio.Server | None = None
        self._sessions: set[_Session] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: No loopback port can be had.
        """
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the port and every connection; a second call does nothing."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        tasks = [session.task for session in self._sessions]
        for session in self._sessions:
            session.writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()

    def clear(self) -> None:
        """Forget all mails, those too that are being handed over just now: they belong to what was before."""
        self.mails.clear()
        self.held = 0
        self.era += 1

    async def quiet(self, timeout_s: float) -> None:
        """Wait until no mail is being handed over, but not longer than that."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), timeout_s)

    def noticed(self) -> None:
        """A session has begun or ended to hand over a mail."""
        if any(session.mail is not None for session in self._sessions):
            self._quiet.clear()
        else:
            self._quiet.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        session = _Session(self, reader, writer, task)
        self._sessions.add(session)
        try:
            with suppress(
                ConnectionError, asyncio.IncompleteReadError, ValueError
            ):  # it broke off, or a line is endless
                await session.run()
        finally:
            self._sessions.discard(session)
            self.noticed()
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@dataclass(slots=True)
class _Mail:
    """A mail that is being handed over."""

    sender: str
    era: int
    recipients: list[str] = field(default_factory=list)


class _Session:
    """One connection."""

    def __init__(
        self, sink: Sink, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: asyncio.Task[None]
    ):
        self.writer = writer
        self.task = task
        self.mail: _Mail | None = None
        self._sink = sink
        self._reader = reader

    async def run(self) -> None:
        """Answer commands until the other side has had enough."""
        await self._say("220 uigym takes mail and delivers none")
        while line := await self._line():
            if _HTTP.match(line):  # a page that posts to this port
                return
            if len(line) > _MAX_COMMAND:
                await self._say("500 line too long")
                continue
            verb, _, rest = line.decode(errors="replace").strip().partition(" ")
            if verb.upper() == "QUIT":
                await self._say("221 bye")
                return
            await self._obey(verb.upper(), rest.strip())

    async def _obey(self, verb: str, rest: str) -> None:
        if verb == "DATA":
            await self._data()
        elif verb == "AUTH":
            await self._auth(rest)
        else:
            simple = _COMMANDS.get(verb)
            await self._say(*(simple(self, rest) if simple else ("502 not known",)))
        self._sink.noticed()

    def hello(self, rest: str) -> tuple[str, ...]:
        self.mail = None
        return _HELLO

    def helo(self, rest: str) -> tuple[str, ...]:
        self.mail = None
        return ("250 uigym",)

    def begin(self, rest: str) -> tuple[str, ...]:
        path = _path(rest, "FROM")
        if path is None:
            return ("501 expected MAIL FROM:<address>",)
        if self.mail is not None:
            return ("503 a mail has begun already",)
        self.mail = _Mail(path, self._sink.era)
        return ("250 ok",)

    def add(self, rest: str) -> tuple[str, ...]:
        path = _path(rest, "TO")
        if self.mail is None:
            return ("503 expected MAIL first",)
        if not path:
            return ("501 expected RCPT TO:<address>",)
        if len(self.mail.recipients) >= MAX_RECIPIENTS:
            return ("452 too many recipients",)
        self.mail.recipients.append(path)
        return ("250 ok",)

    def reset(self, rest: str) -> tuple[str, ...]:
        self.mail = None
        return ("250 ok",)

    def nothing(self, rest: str) -> tuple[str, ...]:
        return ("250 ok",)

    async def _data(self) -> None:
        mail = self.mail
        if mail is None or not mail.recipients:
            await self._say("503 expected RCPT first")
            return
        await self._say("354 end with a line that is a dot")
        content = await self._content()
        self.mail = None
        if content is None:
            await self._say(f"552 more than {MAX_BYTES} bytes")
        elif mail.era != self._sink.era:
            await self._say("451 the product was reset meanwhile")
        elif self._sink.held + len(content) > MAX_HELD_BYTES:
            await self._say("452 too many mails")
        else:
            self._sink.held += len(content)
            self._sink.mails.append(Envelope(mail.sender, tuple(mail.recipients), content))
            await self._say(f"250 ok, mail {len(self._sink.mails)}")

    async def _content(self) -> bytes | None:
        """Up to the line that is a dot, without it; None if it is too long.

        Raises:
            ConnectionError: It broke off before: nothing was sent.
        """
        lines, size, last = list[bytes](), 0, b"\r\n"
        while True:
            line = await self._line()
            if not line:
                raise ConnectionError("broke off inside a mail")
            if line == b".\r\n" and last.endswith(b"\r\n"):  # a bare line feed ends no line: mails in mails
                return b"".join(lines) if size <= MAX_BYTES else None
            last = line
            size += len(line)
            if size <= MAX_BYTES:
                lines.append(line.removeprefix(b"."))  # which a client doubles at the beginning of a line

    async def _auth(self, rest: str) -> None:
        """Any name and any password will do."""
        method, _, initial = rest.partition(" ")
        asked = {"PLAIN": ["334 "], "LOGIN": ["334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6"]}.get(method.upper())
        if asked is None:
            await self._say("504 expected PLAIN or LOGIN")
            return
        for question in asked[1:] if initial else asked:
            await self._say(question)
            await self._line()
        await self._say("235 welcome")

    async def _line(self) -> bytes:
        """With its end; empty where the connection has ended, also in the middle of a line."""
        line = await self._reader.readline()
        return line if line.endswith(b"\n") else b""

    async def _say(self, *lines: str) -> None:
        self.writer.write("".join(f"{line}\r\n" for line in lines).encode())
        await self.writer.drain()


_COMMANDS: dict[str, Callable[[_Session, str], tuple[str, ...]]] = {
    "EHLO": _Session.hello,
    "HELO": _Session.helo,
    "MAIL": _Session.begin,
    "RCPT": _Session.add,
    "RSET": _Session.reset,
    "NOOP": _Session.nothing,
    "VRFY": _Session.nothing,
}


def _path(rest: str, word: str) -> str | None:
    """The address of a MAIL or RCPT command; "" for nobody; None where there is none."""
    found = _PATH.fullmatch(rest)
    if found is None or not rest.upper().startswith(word):
        return None
    return found["path"] if found["path"] is not None else found["bare"]
