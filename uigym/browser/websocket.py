"""The client's side of a WebSocket, as little as a step needs: messages out in one write, messages in without a task between."""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from collections.abc import Callable
from typing import cast

_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_MASK = b"\0\0\0\0"  # a client must mask; zeros save the work
_MOST_HEAD = 1 << 16


class WebSocket(asyncio.Protocol):
    """One connection. Made by `connect`."""

    def __init__(self, path: str, port: int, on_message: Callable[[bytearray], object]):
        self._loop = asyncio.get_running_loop()
        self._path, self._port, self._on_message = path, port, on_message
        self._open: asyncio.Future[None] = self._loop.create_future()
        self._buffer = bytearray()
        self._whole = bytearray()  # of a message in fragments, what has come
        self._unsent: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done once the connection is closed, by whichever side."""

    @classmethod
    async def connect(cls, port: int, path: str, on_message: Callable[[bytearray], object]) -> WebSocket:
        """Connect to a server on the loopback.

        Args:
            port, path: Where it listens.
            on_message: Called with each message, in the order they come.

        Raises:
            OSError: Nobody listens, or it is no WebSocket.
        """
        loop = asyncio.get_running_loop()
        _, socket = await loop.create_connection(lambda: cls(path, port, on_message), "127.0.0.1", port)
        try:
            await socket._open
        except BaseException:  # refused, or nobody waits for it any more
            await socket.close()
            raise
        return socket

    def send(self, message: bytes, kind: int = _TEXT) -> None:
        """One unfragmented frame. What is sent in one go is written in one go: a call of the system costs more than a message."""
        size = len(message)
        if size < 126:
            head = struct.pack(">BB", 0x80 | kind, 0x80 | size)
        elif size < 65536:
            head = struct.pack(">BBH", 0x80 | kind, 0x80 | 126, size)
        else:
            head = struct.pack(">BBQ", 0x80 | kind, 0x80 | 127, size)
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent += head, _MASK, message

    async def close(self) -> None:
        """Disconnect, also from a server that does not read any more."""
        self._flush()
        if self._transport:
            self._transport.abort()
        await self.ended

    # --- what asyncio calls --------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade."""
        self._transport = cast(asyncio.Transport, transport)
        key = base64.b64encode(os.urandom(16)).decode()
        self._transport.write(
            f"GET {self._path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Take in what has come."""
        self._buffer += data
        if not self._open.done():
            self._begin()
        while self._open.done() and self._take():
            pass

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell those who wait."""
        if not self._open.done():
            self._open.set_exception(ConnectionError("the server closed the connection"))
        if not self.ended.done():
            self.ended.set_result(None)

    # --- frames --------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if unsent and self._transport and not self._transport.is_closing():
            self._transport.write(b"".join(unsent))

    def _begin(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 and len(self._buffer) < _MOST_HEAD:
            return
        status = bytes(self._buffer[: max(end, 0)]).split(b"\r\n")[0].decode(errors="replace")
        del self._buffer[: end + 4]
        if " 101 " in status:
            self._open.set_result(None)
        else:
            self._open.set_exception(ConnectionError(f"the server refused the connection: {status}"))
            self._close()

    def _take(self) -> bool:
        """Handle the first frame in the buffer; False if it is not all there."""
        buffer = self._buffer
        if len(buffer) < 2:
            return False
        first, size, start = buffer[0], buffer[1], 2
        if size >= 126:
            start = 4 if size == 126 else 10
            size = int.from_bytes(buffer[2:start], "big")
        if len(buffer) < start + size:
            return False
        payload = buffer[start : start + size]
        del buffer[: start + size]
        self._handle(first & 15, bool(first & 0x80), payload)
        return True

    def _handle(self, kind: int, final: bool, payload: bytearray) -> None:
        if kind == _PING:
            self.send(bytes(payload), _PONG)
        elif kind == _CLOSE:
            self._close()
        elif kind <= _TEXT:  # a text, or what continues one
            if self._whole:
                self._whole += payload
                payload = self._whole
            if final:
                self._whole = bytearray()
                self._on_message(payload)
            else:
                self._whole = payload

    def _close(self) -> None:
        if self._transport:
            self._transport.close()
