"""The recorder's page: loopback only, opened by a secret address.

The secret is in the path, so that nothing of it is sent by other pages of the same browser; the `Host` must be ours,
which keeps out pages whose name was pointed at this machine; and what acts must come from our own origin.
Pictures are asked for one by one, so that a slow connection gets fewer and nobody's gets none.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import uvicorn

from uigym.errors import ConfigError
from uigym.record.events import raw_from_json
from uigym.record.live import Live
from uigym.record.studio import Command, Studio

_STATIC = Path(__file__).with_name("static")
_FILES = {
    "": ("recorder.html", "text/html; charset=utf-8"),
    "recorder.js": ("recorder.js", "text/javascript; charset=utf-8"),
    "recorder.css": ("recorder.css", "text/css; charset=utf-8"),
}
_HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
_MAX_BODY = 400_000
_MAX_EVENTS = 2_000
_PATIENCE_S = 10.0
_FRAME_S = 1.0
"""How long one asking for a picture waits for a new one."""
_GOODBYE_S = 3.0
"""How long the page may take to learn that it is over."""

Reply = tuple[int, str, bytes, dict[str, str]]
"""Status, content type, body, further headers."""


class Recorder:
    """Serves the page of a studio while it is open (async with)."""

    def __init__(self, studio: Studio, port: int = 0):
        """
        Args:
            studio: What the page shows.
            port: On 127.0.0.1; 0 takes one that is free.

        Raises:
            ConfigError: The port is taken.
        """
        self.studio = studio
        self._token = secrets.token_urlsafe(24)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
        except OSError as error:
            self._socket.close()
            raise ConfigError(
                f"port {port} cannot be used ({error.strerror}). Leave it to the system: --port 0"
            ) from error
        self.port: int = self._socket.getsockname()[1]
        self._host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self._host}/{self._token}/"
        """What to open in a browser. Whoever has it can act in the product."""
        self._goodbye = asyncio.Event()

    async def __aenter__(self) -> Self:
        config = uvicorn.Config(
            self._app,
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=3,
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self.studio.tell()  # nobody waits for a change any more
        await asyncio.wait([self._serving], timeout=5.0)
        self._socket.close()

    async def farewell(self) -> None:
        """Give a page that is open the time to show how it ended."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._goodbye.wait(), _GOODBYE_S)

    # --- requests ------------------------------------------------------------------------------------------

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        status, kind, body, more = 404, "text/plain", b"not here\n", dict[str, str]()
        if self._may(scope, headers):
            status, kind, body, more = await self._answer(scope, receive)
        told = {"content-type": kind, "content-length": str(len(body)), **_HEADERS, **more}
        pairs = [(name.encode(), value.encode()) for name, value in told.items()]
        await send({"type": "http.response.start", "status": status, "headers": pairs})
        await send({"type": "http.response.body", "body": body})

    def _may(self, scope: Any, headers: Mapping[str, str]) -> bool:
        """Only the page itself."""
        if scope["type"] != "http" or headers.get("host") != self._host:
            return False
        secret = f"/{self._token}/".encode()
        if not secrets.compare_digest(scope["path"].encode()[: len(secret)], secret):
            return False
        if scope["method"] == "GET":
            return headers.get("origin", f"http://{self._host}") == f"http://{self._host}"
        return headers.get("origin") == f"http://{self._host}" and headers.get("content-type") == "application/json"

    async def _answer(self, scope: Any, receive: Any) -> Reply:
        path = scope["path"].removeprefix(f"/{self._token}/")
        after = scope["query_string"].decode("latin-1").removeprefix("after=")[:40]
        match scope["method"], path:
            case "GET", _ if path in _FILES:
                name, kind = _FILES[path]
                return 200, kind, (_STATIC / name).read_bytes(), {}
            case "GET", "state":
                return await self._state(after)
            case "GET", "frame":
                return await self._frame(after)
            case "POST", "input" | "ask":
                try:
                    told = json.loads(await _body(receive))
                    self._input(told) if path == "input" else self._ask(told)
                except (ValueError, RecursionError) as error:
                    return 400, "application/json", json.dumps({"error": str(error)[:500]}).encode(), {}
                return 200, "application/json", b"{}", {}
        return 404, "text/plain", b"not here\n", {}

    async def _state(self, after: str) -> Reply:
        """The state, once it is another than the one that the page has."""
        await self.studio.changed(int(after) if after.isdecimal() else -1, _PATIENCE_S)
        state = self.studio.state()
        if state["phase"] == "ended":
            asyncio.get_running_loop().call_soon(self._goodbye.set)
        return 200, "application/json", json.dumps(state).encode(), {}

    async def _frame(self, after: str) -> Reply:
        """The newest picture, once it is another than the one that the page has."""
        studio, live = self.studio, self.studio.live
        if live is None:
            await studio.changed(studio.version, _FRAME_S)
            return 204, "text/plain", b"", {}
        if live.looks_still or not (live.cast.number or after):
            name = f"{studio.began}p{len(live.marks)}"
            if after == name:
                await studio.changed(studio.version, _FRAME_S)
                return 204, "text/plain", b"", {}
            return 200, "image/png", live.png, {"x-picture": name}
        jpeg = await self._streamed(live, after)
        if jpeg is None:
            return 204, "text/plain", b"", {}
        return 200, "image/jpeg", base64.b64decode(jpeg), {"x-picture": f"{studio.began}s{live.cast.number}"}

    async def _streamed(self, live: Live, after: str) -> str | None:
        """The stream's next picture; None if none comes, or the page shows something else meanwhile."""
        began, mark, number = after.partition("s")
        known = int(number) if mark and number.isdecimal() and began == str(self.studio.began) else 0
        version = self.studio.version
        coming = asyncio.ensure_future(live.cast.next(known, _FRAME_S))
        changing = asyncio.ensure_future(self._becomes_still(live, version))
        try:
            await asyncio.wait({coming, changing}, return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() and not live.looks_still else None
        finally:
            for task in (coming, changing):
                task.cancel()
            await asyncio.gather(coming, changing, return_exceptions=True)

    async def _becomes_still(self, live: Live, version: int) -> None:
        end = time.monotonic() + _FRAME_S
        while not live.looks_still and live is self.studio.live and time.monotonic() < end:
            await self.studio.changed(version, _FRAME_S)
            version = self.studio.version

    def _input(self, told: Any) -> None:
        """What the person did in the product: {"now": ms of the page's clock, "events": [...]}."""
        if not isinstance(told, dict) or not isinstance(told.get("events"), list):
            raise ValueError("expected an object with events")
        if len(told["events"]) > _MAX_EVENTS:
            raise ValueError(f"at most {_MAX_EVENTS} events at once")
        live, now = self.studio.live, told.get("now")
        if live is not None:
            self.studio.put([raw_from_json(one, _when(live, one, now)) for one in told["events"]])

    def _ask(self, told: Any) -> None:
        """What the person asks for: {"name": "done", "text": ""}."""
        if not isinstance(told, dict):
            raise ValueError("expected an object with a name")
        name, text = told.get("name"), told.get("text", "")
        if not isinstance(name, str) or not isinstance(text, str) or len(text) > 4_000:
            raise ValueError("expected a name, and a text of at most 4000 characters")
        if name == "answer" and not text.strip():
            raise ValueError("an answer needs a text")
        self.studio.ask(Command(name, text.strip()))


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None: Ctrl+C is the command line's."""
        yield


def _when(live: Live, told: Any, now: Any) -> float:
    """When it was done: the page says by its own clock how long ago."""
    at = told.get("t") if isinstance(told, dict) else None
    if not isinstance(at, int | float) or not isinstance(now, int | float):
        return live.now
    return max(live.now - min(max((now - at) / 1000, 0.0), 5.0), 0.0)


async def _body(receive: Any) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
        if len(body) > _MAX_BODY:
            raise ValueError("too long")
    return body
