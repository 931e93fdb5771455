"""The proxy of a context: what is allowed passes whole, and nothing else passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.browser.proxy import Proxy
from uigym.origins import Origin

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Upstream:
    """A server that notes what it is told and echoes bodies."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.connections = 0
        self.answered = asyncio.Event()

    async def start(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        self.connections += 1

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heard += head
                length = next(
                    (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
                )
                body = await reader.readexactly(length)
                writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                writer.write(
                    b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: %d\r\n\r\n" % (len(body) + 2)
                )
                writer.write(b"ok" + body)
                self.answered.set()
                if b"\r\nconnection: close\r\n" in head.lower():
                    return
        except asyncio.IncompleteReadError:
            return
        finally:
            writer.close()


@pytest_asyncio.fixture
async def upstream() -> AsyncIterator[Upstream]:
    server = Upstream()
    await server.start()
    yield server
    await server.stop()


@pytest_asyncio.fixture
async def asked(upstream: Upstream) -> AsyncIterator[tuple[Callable[[bytes], Awaitable[bytes]], list[str]]]:
    """`await ask(bytes)` gives all that a proxy answers that allows the upstream alone; and what it refused."""
    refused: list[str] = []
    own = Origin("http", "127.0.0.1", upstream.port)
    proxy = await Proxy.start(lambda origin: origin == own, refused.append)

    async def ask(said: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(said.replace(b"PORT", b"%d" % upstream.port))
        try:
            return await asyncio.wait_for(reader.read(), 5)
        except ConnectionResetError:
            return b""
        finally:
            writer.close()

    yield ask, refused
    await proxy.close()
    await proxy.close()


Asked = tuple[Callable[[bytes], Awaitable[bytes]], list[str]]
HOST = b"Host: 127.0.0.1:PORT\r\n"


async def test_a_request_passes_without_what_is_meant_for_the_proxy(asked: Asked, upstream: Upstream) -> None:
    ask, refused = asked
    sent = (
        b"POST http://127.0.0.1:PORT/a?b=c HTTP/1.1\r\n"
        + HOST
        + b"Proxy-Connection: keep-alive\r\nX: y\r\nContent-Length: 3\r\n\r\nabc"
    )
    answer = await ask(sent)
    assert bytes(upstream.heard).startswith(b"POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"X: y\r\n" in upstream.heard and b"Proxy-Connection" not in upstream.heard
    assert answer.startswith(b"HTTP/1.1 103 Early Hints\r\n") and answer.endswith(b"\r\n\r\nokabc")
    assert answer.count(b"Connection: close") == 2 and b"Keep-Alive" not in answer and not refused


async def test_a_large_body_passes_whole(asked: Asked) -> None:
    ask, _ = asked
    body = bytes(range(256)) * 20_000
    head = b"POST http://127.0.0.1:PORT/ HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body)
    reader = await ask(head + body.replace(b"PORT", b"port"))
    assert reader.endswith(body)


async def test_a_tunnel_passes_bytes_both_ways(asked: Asked, upstream: Upstream) -> None:
    ask, refused = asked
    request = b"GET /tunnelled HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
    answering = asyncio.create_task(ask(b"CONNECT 127.0.0.1:PORT HTTP/1.1\r\n\r\n" + request))
    await upstream.answered.wait()
    await upstream.stop()
    assert (await answering).startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 103 Early Hints")
    assert not refused


NEAR = [
    (b"GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n", "http://127.0.0.1:1/"),
    (b"GET http://localhost:PORT/ HTTP/1.1\r\n\r\n", "http://localhost:PORT/"),
    (b"GET https://127.0.0.1:PORT/ HTTP/1.1\r\n\r\n", "https://127.0.0.1:PORT/"),
    (b"GET http://127.0.0.1:PORT@localhost/ HTTP/1.1\r\n\r\n", "http://127.0.0.1:PORT@localhost/"),
    (b"GET ws://127.0.0.1:1/ HTTP/1.1\r\n\r\n", "ws://127.0.0.1:1/"),
    (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", "/"),
    (b"GET ftp://127.0.0.1:PORT/ HTTP/1.1\r\n\r\n", "ftp://127.0.0.1:PORT/"),
    (b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n\x16\x03", "https://127.0.0.1:1"),
    (b"CONNECT 127.0.0.1:PORT HTTP/1.1\r\n\r\n\x16\x03", "https://127.0.0.1:PORT"),
    (b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\nGET /live?a HTTP/1.1\r\n", "ws://127.0.0.1:1/live?a"),
    (b"CONNECT localhost:PORT HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n", "ws://localhost:PORT/"),
    (b"CONNECT 127.0.0.1 HTTP/1.1\r\n\r\nbytes", "ws://127.0.0.1/"),
    (b"CONNECT 127.0.0.1:PORT@a HTTP/1.1\r\n\r\nGET /x HTTP/1.1\r\n", "ws://127.0.0.1:PORT@a/x"),
]


@pytest.mark.parametrize(("said", "told"), NEAR, ids=[told for _, told in NEAR])
async def test_what_is_nearly_allowed_is_refused_without_a_word(
    asked: Asked, upstream: Upstream, said: bytes, told: str
) -> None:
    ask, refused = asked
    assert await ask(said) in (b"", b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert refused == [told.replace("PORT", str(upstream.port))] and not upstream.connections


async def test_a_second_request_on_a_connection_gets_no_answer_of_its_own(asked: Asked, upstream: Upstream) -> None:
    ask, _ = asked
    one = b"GET http://127.0.0.1:PORT/one HTTP/1.1\r\n" + HOST + b"\r\n"
    answer = await ask(one + b"GET http://127.0.0.1:1/two HTTP/1.1\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200") <= 2 and upstream.connections == 1  # it went nowhere else


async def test_a_host_that_is_down_and_a_half_request_end_quietly(upstream: Upstream) -> None:
    port = upstream.port
    await upstream.stop()
    proxy = await Proxy.start(lambda origin: True, lambda url: None)
    for said in (
        b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\nGET" % port,
        b"GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n" % port,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(said)
        assert (await asyncio.wait_for(reader.read(), 5)).count(b"HTTP") <= 1
        writer.close()
    _, half = await asyncio.open_connection("127.0.0.1", proxy.port)
    half.write(b"GET htt")
    await proxy.close()  # ends what is still open
    half.close()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.binary(max_size=30)
        | st.sampled_from([b"CONNECT ", b"GET ", b"http://", b"127.0.0.1:1", b" HTTP/1.1\r\n", b"\r\n"])
    )
)
def test_no_bytes_break_it(parts: list[bytes]) -> None:
    async def ask() -> None:
        proxy = await Proxy.start(lambda origin: False, lambda url: None)
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"".join(parts) + b"\r\n\r\n")
        writer.write_eof()
        with suppress(ConnectionResetError):
            said = await asyncio.wait_for(reader.read(), 5)
            assert said in (b"", b"HTTP/1.1 200 Connection established\r\n\r\n")
        writer.close()
        await proxy.close()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("scheme", "first", "passes"),
    [("https", b"\x16\x03", True), ("https", b"GET ", False), ("http", b"\x16\x03", False)],
)
async def test_a_tunnel_leads_to_the_scheme_that_is_allowed(scheme: str, first: bytes, passes: bool) -> None:
    heard = asyncio.Queue[bytes]()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.put_nowait(await reader.read())
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    own = Origin(scheme, "127.0.0.1", server.sockets[0].getsockname()[1])
    refused: list[str] = []
    proxy = await Proxy.start(lambda origin: origin == own, refused.append)
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % own.port)
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
    writer.write(first)
    writer.write_eof()
    assert await asyncio.wait_for(reader.read(), 5) == b""
    assert (not heard.empty() and heard.get_nowait() == first) is passes and len(refused) == (not passes)
    writer.close()
    await proxy.close()
    server.close()
