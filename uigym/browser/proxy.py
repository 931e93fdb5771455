"""A proxy on the loopback for the pages of one context: it forwards to the origins that are allowed, and refuses all else.

What is refused gets no answer at all, so a page learns as much as of a host that is down. Names are resolved here:
Chromium itself asks no name server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from uigym.origins import Origin, origin_of

CONNECT_S = 30.0
"""How long an allowed host may take to accept a connection."""
MAX_HEAD_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 16
_HOP = (b"connection", b"proxy-connection", b"keep-alive", b"proxy-authorization", b"upgrade", b"te", b"trailer")
"""Headers between two neighbours, which go no further."""

_TLS = b"\x16"
"""First byte of a TLS connection."""

_Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Allows = Callable[[Origin], bool]
Refuse = Callable[[str], None]
"""Told the address of what was refused."""


class _Head(NamedTuple):
    first: list[bytes]
    """Method, target, version; or version, status, reason."""
    fields: list[bytes]

    def passed_on(self, first: bytes) -> bytes:
        """For the next neighbour, which is to end the connection after this exchange."""
        kept = [line for line in self.fields if line.split(b":")[0].strip().lower() not in _HOP]
        return b"\r\n".join([first, *kept, b"Connection: close", b"", b""])


class Proxy:
    """Made by `start`; its connections live in the event loop that started it."""

    def __init__(self, allows: Allows, refuse: Refuse):
        self._allows, self._refuse = allows, refuse
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    @classmethod
    async def start(cls, allows: Allows, refuse: Refuse) -> Proxy:
        """Listen on a free port of the loopback.

        Args:
            allows: Whether an origin may be reached.
            refuse: Called with the address of what may not be; of an encrypted one only host and port are known.
        """
        proxy = cls(allows, refuse)
        proxy._server = await asyncio.start_server(proxy._accept, "127.0.0.1", 0, limit=MAX_HEAD_BYTES)
        proxy.port = proxy._server.sockets[0].getsockname()[1]
        return proxy

    async def close(self) -> None:
        """Stop listening and end all connections. Harmless when called twice."""
        if self._server is not None:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._server = None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
                head = await _read_head(reader)  # a connection that was opened ahead of need may never say anything
                await self._answer(head, reader, writer)
        finally:
            writer.transport.abort() if writer.transport.is_closing() else writer.close()

    async def _answer(self, head: _Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(head.first) != 3:
            return
        method, target = (word.decode("latin-1") for word in head.first[:2])
        if method == "CONNECT":
            await self._tunnel(target, (reader, writer))
        elif origin := self._allowed(target, "http"):
            there = await _connect(origin)
            try:
                await _forward(head, target, (reader, writer), there)
            finally:
                there[1].close()
        else:
            self._refuse(target)

    async def _tunnel(self, target: str, near: _Ends) -> None:
        """For TLS, or for a WebSocket without: which of them shows only once the client has begun to speak."""
        reader, writer = near
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        first = await reader.read(_CHUNK_BYTES)
        address = _address(target, first)
        origin = self._allowed(address, "https" if first[:1] == _TLS else "http") if first else None
        if origin is None:
            if first:  # else it was opened ahead of need
                self._refuse(address)
            return
        there, onward = await _connect(origin)
        try:
            onward.write(first)
            await _both(_pump(reader, onward), _pump(there, writer))
        finally:
            onward.close()

    def _allowed(self, url: str, scheme: str) -> Origin | None:
        origin = origin_of(url)
        return origin if origin and origin.scheme == scheme and self._allows(origin) else None


def _address(target: str, first: bytes) -> str:
    """Of what a tunnel is for; of a WebSocket's the path is known, too."""
    if first[:1] == _TLS:
        return f"https://{target}"
    line = first.split(b"\r\n", 1)[0].split(b" ")
    path = line[1].decode("latin-1") if len(line) == 3 and line[1].startswith(b"/") else "/"
    return f"ws://{target}{path}"


async def _connect(origin: Origin) -> _Ends:
    async with asyncio.timeout(CONNECT_S):
        return await asyncio.open_connection(origin.host, origin.port, limit=MAX_HEAD_BYTES)


async def _forward(head: _Head, target: str, near: _Ends, far: _Ends) -> None:
    """One request and its answer; the connection then ends, so that the next request is looked at again."""
    (reader, writer), (there, onward) = near, far
    parts = urlsplit(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    onward.write(head.passed_on(b" ".join((head.first[0], path.encode("latin-1"), b"HTTP/1.1"))))
    await _both(_pump(reader, onward, ends=False), _return(there, writer))


async def _return(there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        head = await _read_head(there)
        status = head.first[1] if len(head.first) > 1 else b""
        writer.write(head.passed_on(b" ".join(head.first)))
        if not status.startswith(b"1"):  # 100 and 103 come before the answer
            break
    await _pump(there, writer)


async def _read_head(reader: asyncio.StreamReader) -> _Head:
    first, *fields = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
    return _Head(first.split(b" ", 2), fields)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ends: bool = True) -> None:
    """Pass on what comes until no more does."""
    while chunk := await reader.read(_CHUNK_BYTES):
        writer.write(chunk)
        await writer.drain()
    if ends and writer.can_write_eof():
        writer.write_eof()
    elif not ends:
        raise ConnectionAbortedError("who asked has gone")


async def _both(there: Awaitable[None], back: Awaitable[None]) -> None:
    """Until the answer is complete, or one of the two breaks off."""
    up, down = asyncio.ensure_future(there), asyncio.ensure_future(back)
    try:
        while not down.done():
            await asyncio.wait([task for task in (up, down) if not task.done()], return_when=asyncio.FIRST_COMPLETED)
            if up.done() and up.exception():
                return
        down.result()
    finally:
        for task in (up, down):
            task.cancel()
        await asyncio.gather(up, down, return_exceptions=True)
