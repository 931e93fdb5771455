"""Servers on the loopback that nothing but an attack asks: what they hear has got through."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from functools import partial
from typing import Self
from urllib.parse import unquote

PATH = "/hit/"
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Canary:
    """An HTTP and WebSocket server, with ports beside it that only tell whether somebody came."""

    def __init__(self, tcp: tuple[str, ...] = (), udp: tuple[str, ...] = ()):
        """
        Args:
            tcp, udp: A port for each of these names, beside that of the HTTP server.
        """
        self.heard: dict[str, str] = {}
        """What came, by the name in its path or of its port: the first line of it."""
        self.ports: dict[str, int] = {}
        """Port by name."""
        self.url = ""
        """Of the HTTP server; a channel's name follows, quoted."""
        self._names = tcp, udp
        self._servers: list[asyncio.Server] = []
        self._sockets: list[asyncio.DatagramTransport] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        tcp, udp = self._names
        try:
            web = await asyncio.start_server(self._accept, "127.0.0.1", 0)
            self._servers.append(web)
            port = web.sockets[0].getsockname()[1]
            self.url = f"http://127.0.0.1:{port}{PATH}"
            for name in tcp:
                plain = await asyncio.start_server(partial(self._note, name), "127.0.0.1", 0)
                self._servers.append(plain)
                self.ports[name] = plain.sockets[0].getsockname()[1]
            for name in udp:
                made, _ = await loop.create_datagram_endpoint(partial(_Datagrams, self, name), ("127.0.0.1", 0))
                self._sockets.append(made)
                self.ports[name] = made.get_extra_info("sockname")[1]
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for server in self._servers:
            server.close()
        for socket in self._sockets:
            socket.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def note(self, name: str, what: str) -> None:
        """Something has come."""
        self.heard.setdefault(name, what)

    def _note(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.note(name, "a connection was opened")
        writer.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            path = first.split(" ")[1] if first.count(" ") == 2 else first
            self.note(unquote(path.removeprefix(PATH)).split("?")[0], first[:200])
            fields = {key.strip().lower(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
            writer.write(_answer(fields))
            await writer.drain()
            if "sec-websocket-key" in fields:
                await reader.read()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.note("", "something that is no request")
        finally:
            writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, canary: Canary, name: str):
        self._canary, self._name = canary, name

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._canary.note(self._name, f"a datagram of {len(data)} bytes")


def _answer(fields: dict[str, str]) -> bytes:
    if key := fields.get("sec-websocket-key"):
        accept = base64.b64encode(hashlib.sha1(key.encode() + _GUID).digest())
        upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        return upgrade + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    origin = fields.get("origin", "*").encode("latin-1")
    allowed = b"Access-Control-Allow-Origin: " + origin + b"\r\nAccess-Control-Allow-Headers: *\r\n"
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n"
        + allowed
        + b"Connection: close\r\n\r\nstolen"
    )
