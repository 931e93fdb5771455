"""The connection to Chromium: messages of any size and shape, and an end for everyone who waits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from uigym.browser.websocket import WebSocket
from uigym.browser.wire import Wire, WireError, WireGone


class Chromium:
    """Speaks the server's side of the protocol, one scripted answer per command."""

    def __init__(self, status: str = "101 Switching Protocols"):
        self.status = status
        self.received: list[dict[str, Any]] = []
        self.pongs: list[bytes] = []
        self.writer: asyncio.StreamWriter | None = None

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self.server.close()
        if self.writer:
            self.writer.close()
        await self.server.wait_closed()

    def say(self, data: bytes, kind: int = 1, final: bool = True) -> None:
        assert self.writer is not None
        size = len(data)
        head = bytes([(0x80 if final else 0) | kind])
        head += (
            bytes([size])
            if size < 126
            else struct.pack(">BH", 126, size)
            if size < 65536
            else struct.pack(">BQ", 127, size)
        )
        self.writer.write(head + data)

    def answer(self, number: int, **rest: Any) -> None:
        self.say(json.dumps({"id": number, **rest}).encode())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Origin" not in head
        writer.write(f"HTTP/1.1 {self.status}\r\n\r\n".encode())
        try:
            while True:
                first, size = await reader.readexactly(2)
                assert size & 0x80  # clients mask
                size &= 0x7F
                if size == 126:
                    (size,) = struct.unpack(">H", await reader.readexactly(2))
                elif size == 127:
                    (size,) = struct.unpack(">Q", await reader.readexactly(8))
                mask = await reader.readexactly(4)
                data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(await reader.readexactly(size)))
                if first & 15 == 10:
                    self.pongs.append(data)
                else:
                    self.received.append(json.loads(data))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def got(self, count: int) -> dict[str, Any]:
        """The count-th command."""
        async with asyncio.timeout(5):
            while len(self.received) < count:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.002)
        return self.received[count - 1]


@pytest_asyncio.fixture
async def chromium() -> AsyncIterator[Chromium]:
    server = Chromium()
    await server.start()
    yield server
    await server.stop()


@pytest_asyncio.fixture
async def wire(chromium: Chromium) -> AsyncIterator[Wire]:
    wire = await Wire.connect(chromium.port, "/devtools/browser/1")
    yield wire
    await wire.close()


async def test_answers_find_their_commands_in_any_order(wire: Wire, chromium: Chromium) -> None:
    first, second = wire.post("", "One"), wire.post("s1", "Two", {"a": 1})
    assert await chromium.got(2) == {"id": 2, "method": "Two", "params": {"a": 1}, "sessionId": "s1"}
    assert "sessionId" not in chromium.received[0]
    chromium.answer(2, result={"b": 2})
    chromium.answer(1, result={})
    assert await second == {"b": 2} and await first == {}


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536, 3_000_000])
async def test_messages_of_any_size(wire: Wire, chromium: Chromium, size: int) -> None:
    text = "ä" + "x" * size
    future = wire.post("", "Echo", {"text": text})
    assert (await chromium.got(1))["params"]["text"] == text
    chromium.answer(1, result={"text": text})
    assert (await future)["text"] == text


async def test_fragments_pings_and_unknown_answers(wire: Wire, chromium: Chromium) -> None:
    future = wire.post("", "One")
    await chromium.got(1)
    chromium.say(b"hello", kind=9)
    chromium.answer(77, result={})
    chromium.say(b'{"id": 1, "res', final=False)
    chromium.say(b'ult": {"ok"', kind=0, final=False)
    chromium.say(b": true}}", kind=0)
    assert await future == {"ok": True}
    wire.post("", "Two")
    await chromium.got(2)
    assert chromium.pongs == [b"hello"]


async def test_an_error_is_raised_and_a_cancelled_command_forgotten(wire: Wire, chromium: Chromium) -> None:
    wrong, left = wire.post("", "Wrong"), wire.post("", "Left")
    await chromium.got(2)
    left.cancel()
    chromium.answer(2, result={})
    chromium.answer(1, error={"code": -1, "message": "no such thing"})
    with pytest.raises(WireError, match="no such thing"):
        await wrong


async def test_events_go_to_their_page(wire: Wire, chromium: Chromium) -> None:
    heard: list[tuple[str, int]] = []
    wire.listen("s1", "Page.x", lambda e: heard.append(("s1", e["n"])))
    wire.listen("", "Page.x", lambda e: heard.append(("", e["n"])))
    attaching = asyncio.create_task(wire.attach("target"))
    await chromium.got(1)
    chromium.answer(1, result={"sessionId": "s2"})
    channel = await attaching
    channel.on("Page.x", lambda e: heard.append(("s2", e["n"])))
    for number, session in enumerate(("s1", "s2", "", "other")):
        extra = {"sessionId": session} if session else {}
        chromium.say(json.dumps({"method": "Page.x", "params": {"n": number}, **extra}).encode())
    done = channel.send("Last")
    chromium.answer((await chromium.got(2))["id"], result={})
    await done
    assert heard == [("s1", 0), ("s2", 1), ("", 2)]


async def test_who_waits_for_a_page_that_goes_is_told(wire: Wire, chromium: Chromium) -> None:
    gone, stays = wire.post("s1", "One"), wire.post("s2", "Two")
    await chromium.got(2)
    chromium.say(json.dumps({"method": "Target.detachedFromTarget", "params": {"sessionId": "s1"}}).encode())
    with pytest.raises(WireGone, match="page was closed"):
        await gone
    chromium.answer(2, result={})
    assert await stays == {}


@pytest.mark.parametrize("politely", [True, False])
async def test_who_waits_for_a_browser_that_ends_is_told(wire: Wire, chromium: Chromium, politely: bool) -> None:
    waiting = wire.post("s1", "One")
    await chromium.got(1)
    assert chromium.writer is not None
    if politely:
        chromium.say(b"", kind=8)
    else:
        chromium.writer.transport.abort()
    with pytest.raises(WireGone, match="closed the connection"):
        await waiting
    with pytest.raises(WireGone):
        await wire.post("", "Later")


async def test_a_refused_connection(chromium: Chromium) -> None:
    chromium.status = "403 Forbidden"
    with pytest.raises(OSError, match="403 Forbidden"):
        await Wire.connect(chromium.port, "/")


async def test_an_upgrade_that_nobody_waits_for_leaves_no_connection() -> None:
    gone = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            await reader.read(1)
        gone.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        connecting = WebSocket.connect(server.sockets[0].getsockname()[1], "/", lambda message: None)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(connecting, 0.1)
        await asyncio.wait_for(gone.wait(), 5)
