"""A small web server for the pages in tests/pages, a browser that a module's tests share, and the model that ships."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import signal
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings
from PIL import Image
from postgres import postgres as postgres

from uigym.browser import Browser, Frame, Session

if TYPE_CHECKING:
    from uigym.policy.hf import TransformersPolicy

settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")
# A shell that starts the tests in the background lets them, and so their children, ignore Ctrl+C; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


PAGES = Path(__file__).parent / "pages"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".xhtml": "application/xhtml+xml",
}
LATE = {
    "script": (200, "text/javascript", b"window.answer ? answer() : setTimeout(done, 40)", ""),
    "module": (200, "text/javascript", b"export const draw = async () => { await fetch('/delay/60'); done() }", ""),
    "sheet": (200, "text/css", b"#box { background: rgb(0, 128, 0) !important }", ""),
    "picture": (200, "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9' fill='rgb(0,128,0)'/></svg>", ""),
}  # fmt: skip
CHAIN = {
    "302": (302, "text/html", b"", "Location: /chain/refresh\r\n"),
    "refresh": (200, "text/html", b"<meta http-equiv=refresh content='0; url=/chain/script'>one", ""),
    "script": (200, "text/html", b"<script>setTimeout(() => location.replace('/chain/form'), 50)</script>two", ""),
    "form": (200, "text/html", b"<form method=post action=/chain/303></form><script>document.forms[0].submit()</script>", ""),
    "303": (303, "text/html", b"", "Location: /slow/100\r\n"),
}  # fmt: skip
"""Answers that come late, and a way through five documents."""


FONTS = sorted(Path("/usr/share/fonts").rglob("*Serif*.ttf"))
"""Of the system; the pages' web font is the first."""


class PageServer:
    """Serves tests/pages, and answers that come late, never, or by WebSocket."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[str] = []
        """Paths in the order of arrival."""
        self.events: dict[str, list[asyncio.Queue[str]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        target = head.split(" ")[1]
        path = urlsplit(target).path
        self.requests.append(path)
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head.split("\r\n")[1:])}
        if length := int(headers.get("content-length", 0)):
            await reader.readexactly(length)
        if path.startswith(("/stream/", "/events")):
            await self._stream(target, writer)
            return False
        if path.startswith("/drip/"):
            return await self._drip(writer, path.split("/")[2])
        if path in ("/ws", "/echo"):
            await self._socket(reader, writer, headers["sec-websocket-key"], path == "/echo")
            return False
        status, kind, body, extra = await self._answer(path, urlsplit(target).query)
        writer.write(
            f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            f"Cache-Control: no-store\r\n{extra}\r\n".encode()
            + body
        )
        await writer.drain()
        return True

    async def _drip(self, writer: asyncio.StreamWriter, pause_ms: str) -> bool:
        """A download of 8 bytes whose second half comes later, or never: the connection breaks off instead."""
        kept = 'Content-Disposition: attachment; filename="slow.csv"\r\n'
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: 8\r\n{kept}\r\na,b\n".encode())
        await writer.drain()
        if pause_ms == "broken":
            return False
        await asyncio.sleep(int(pause_ms) / 1000)
        writer.write(b"c,d\n")
        return True

    async def _stream(self, target: str, writer: asyncio.StreamWriter) -> None:
        """/stream/N: a part every 30 ms, N in all; /events?NAME: what is posted to /push/MS?NAME."""
        url = urlsplit(target)
        kind = "text/event-stream" if url.path == "/events" else "text/plain"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())
        if kind == "text/plain":
            for _ in range(int(url.path.rpartition("/")[2])):
                writer.write(b"part ")
                await writer.drain()
                await asyncio.sleep(0.03)
            if url.path == "/stream/0":
                await asyncio.sleep(60)
            return
        queue: asyncio.Queue[str] = asyncio.Queue()
        self.events.setdefault(url.query, []).append(queue)
        while True:
            writer.write(f"{'event: named' if url.query == 'named' else ''}\ndata: {await queue.get()}\n\n".encode())
            await writer.drain()

    async def _answer(self, path: str, query: str = "") -> tuple[int, str, bytes, str]:
        kind, _, rest = path.strip("/").partition("/")
        if kind == "push":
            for queue in self.events.get(query, ()):
                asyncio.get_running_loop().call_later(int(rest) / 1000, queue.put_nowait, "pushed")
        if kind == "chain":
            return CHAIN[rest]
        if kind in LATE:
            await asyncio.sleep(int(rest) / 1000)
            return LATE[kind]
        if kind == "delay":
            await asyncio.sleep(int(rest) / 1000)
            return 200, "application/json", b'{"ok": true}', ""
        if kind == "slow":
            await asyncio.sleep(int(rest) / 1000)
            return 200, "text/html", b"<body style='background:rgb(0,128,0)'><h1>slow page</h1>", ""
        if kind == "never":
            await asyncio.sleep(60)
        if kind == "download":
            return 200, "text/csv", b"a,b\n", 'Content-Disposition: attachment; filename="report.csv"\r\n'
        if kind == "font":
            return 200, "font/ttf", FONTS[0].read_bytes() if FONTS else b"", ""
        if kind == "nothing":
            return 204, "text/plain", b"", ""
        file = PAGES / path.strip("/")
        if file.suffix in TYPES and file.is_file():
            return 200, TYPES[file.suffix], file.read_bytes(), ""
        return 404, "text/plain", b"not here", ""

    async def _socket(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str, quiet: bool) -> None:
        """A clock every 40 ms, and "done" 60 ms after each message; if quiet, no clock, and 600 ms."""
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        accept = base64.b64encode(digest).decode()
        writer.write(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )

        def say(text: str) -> None:
            writer.write(bytes([0x81, len(text)]) + text.encode())

        async def tick() -> None:
            for number in range(0 if quiet else 10_000):
                await asyncio.sleep(0.04)
                say(str(number))

        clock = asyncio.create_task(tick())
        try:
            while True:
                _, size = struct.unpack("BB", await reader.readexactly(2))
                await reader.readexactly(4 + (size & 127))
                await asyncio.sleep(0.6 if quiet else 0.06)
                say("done")
        finally:
            clock.cancel()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pages() -> AsyncIterator[PageServer]:
    server = PageServer()
    await server.start()
    yield server
    await server.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    browser = await Browser.launch()
    yield browser
    await browser.close()


Opener = Callable[..., Awaitable[tuple[Session, Frame]]]


@pytest_asyncio.fixture(loop_scope="module")
async def opened(browser: Browser, pages: PageServer) -> AsyncIterator[Opener]:
    """Open a page of tests/pages in a fresh session: `session, frame = await opened("/input.html")`.

    Pages may also reach them under the name "localhost", which is another site.
    """
    sessions = []
    other = pages.url.replace("127.0.0.1", "localhost")

    async def open_page(
        path: str, viewport: tuple[int, int] = (320, 256), grants: tuple[type, ...] = ()
    ) -> tuple[Session, Frame]:
        session = await browser.session(base_url=pages.url, viewport=viewport, grants=grants, allow=(other,))
        sessions.append(session)
        return session, await session.open(path)

    yield open_page
    for session in sessions:
        await session.close()


@pytest.fixture
def picture() -> Callable[..., bytes]:
    """A small PNG of noise, another one for each number: `picture(3)`."""

    def draw(number: int = 0, width: int = 64, height: int = 48) -> bytes:
        noise = np.random.default_rng(number).integers(0, 256, (height, width, 3), np.uint8)
        out = io.BytesIO()
        Image.fromarray(noise).save(out, "PNG")
        return out.getvalue()

    return draw


@pytest.fixture
def tiny() -> Callable[..., TransformersPolicy]:
    """The model that ships, as a policy of its own for each call: `tiny(temperature=0.0)`."""
    import torch  # slow; most tests do without

    from uigym.policy.hf import TransformersPolicy

    torch.set_num_threads(1)

    def load(**options: Any) -> TransformersPolicy:
        return TransformersPolicy("tiny", **{"seed": 0, **options})

    return load
