"""The page on which a person shows a task: loopback only, opened by a secret address, for one demonstration."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import uvicorn

from uigym.draft.demonstration import Act, Demonstration, Told, picture_name
from uigym.errors import UIGymError
from uigym.types import Answer, Done, action_from_json

_PAGE = Path(__file__).with_name("page.html")
_MAX_BODY = 200_000
_LOOK_S = 0.4
"""How often the picture is looked at while nobody acts."""
_IDLE_S = 10.0
"""A page that has not asked for so long is gone; nothing is looked at for it."""
_WAIT_S = 15.0
_MOST_SHOWN = 400
_LOCKED = (
    "default-src 'none'; img-src 'self' data:; connect-src 'self'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Desk:
    """Serves the page while it is open (async with); `told` returns when the person has finished."""

    def __init__(self, demonstration: Demonstration, instruction: str = "", answer: str = ""):
        self._demonstration = demonstration
        self._given = {"instruction": instruction, "answer": answer}
        self._name = demonstration.harness.name
        self._token = secrets.token_urlsafe(24)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._origin = f"http://127.0.0.1:{self.port}"
        self.url = f"{self._origin}/{self._token}/"
        """What to open in a browser."""
        self._pictures: dict[str, bytes] = {}
        self._shown = ""
        self._changed = asyncio.Event()
        self._version = 0
        self._asked_at = 0.0
        self._result: asyncio.Future[Told | None] = asyncio.get_running_loop().create_future()
        self._note = ""
        self._over = ""
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        assert self._demonstration.observation is not None
        self._show(self._demonstration.observation.png)
        config = uvicorn.Config(
            self._app,
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config)
        self._tasks = [
            asyncio.create_task(self._server.serve(sockets=[self._socket])),
            asyncio.create_task(self._watch()),
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._tasks[1].cancel()
        await asyncio.wait(self._tasks, timeout=5.0)
        self._socket.close()

    async def told(self) -> Told | None:
        """What the person says of the demonstration when it is over; None if it is to be discarded.

        Raises:
            ProductError, BrowserError: The product or the browser was gone.
        """
        return await asyncio.shield(self._result)

    # --- what is shown ---

    async def _watch(self) -> None:
        """A picture now and then, for clocks and for what comes late."""
        while True:
            await asyncio.sleep(_LOOK_S)
            if asyncio.get_running_loop().time() - self._asked_at < _IDLE_S and not self._result.done():
                with contextlib.suppress(UIGymError):  # the next act tells
                    self._show((await self._demonstration.look()).png)

    def _show(self, png: bytes) -> None:
        name = picture_name(png)
        if name != self._shown:
            self._pictures[name] = png
            self._shown = name
            for old in list(self._pictures)[:-8]:
                del self._pictures[old]
            self._tell()

    def _tell(self) -> None:
        self._version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def _state(self) -> dict[str, Any]:
        demonstration = self._demonstration
        seen = demonstration.observation
        assert seen is not None
        acts = [_words(act) for act in demonstration.every]
        return {
            "version": self._version,
            "picture": self._shown,
            "width": seen.width,
            "height": seen.height,
            "note": self._note,
            "open": list(seen.open.words),
            "acts": acts[-_MOST_SHOWN:],
            "count": len(acts),
            "over": self._over,
            "name": self._name,
            **self._given,
        }

    # --- requests ---

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode("latin-1").lower(): found.decode("latin-1") for name, found in scope["headers"]}
        status, kind, body = 404, "text/plain", b"not here\n"
        extra: dict[str, str] = {}
        if self._may(scope, headers):
            with contextlib.suppress(_Refused):
                status, kind, body, extra = await self._answer(scope, receive)
        told = {"content-type": kind, "cache-control": "no-store", "referrer-policy": "no-referrer", "x-content-type-options": "nosniff", **extra}  # fmt: skip
        pairs = [(name.encode(), found.encode()) for name, found in told.items()]
        await send({"type": "http.response.start", "status": status, "headers": pairs})
        await send({"type": "http.response.body", "body": body})

    def _may(self, scope: Any, headers: Mapping[str, str]) -> bool:
        """Only the page itself: the secret is in the path, the host is ours, and what acts comes from our origin."""
        if scope["type"] != "http" or headers.get("host") != f"127.0.0.1:{self.port}":
            return False
        if not secrets.compare_digest(scope["path"].encode()[: len(self._token) + 2], f"/{self._token}/".encode()):
            return False
        return scope["method"] == "GET" or headers.get("origin") == self._origin

    async def _answer(self, scope: Any, receive: Any) -> tuple[int, str, bytes, dict[str, str]]:
        path = scope["path"].removeprefix(f"/{self._token}/")
        if scope["method"] == "GET":
            if not path:
                nonce = secrets.token_urlsafe(12)
                page = _PAGE.read_text(encoding="utf-8").replace("NONCE", nonce)
                return (
                    200,
                    "text/html; charset=utf-8",
                    page.encode(),
                    {"content-security-policy": _LOCKED.format(nonce=nonce)},
                )
            if path == "state":
                return _json(await self._next_state(scope["query_string"].decode()))
            name = path.removeprefix("picture/")
            return (
                (200, "image/png", self._pictures[name], {})
                if name in self._pictures
                else _json({"error": "gone"}, 404)
            )
        handlers: dict[str, Callable[[Any], Awaitable[None]]] = {"act": self._act, "finish": self._finish, "discard": self._discard}  # fmt: skip
        if path not in handlers or scope["method"] != "POST":
            raise _Refused
        try:
            await handlers[path](await _body(receive))
        except ValueError as exc:
            return _json({"error": str(exc)}, 400)
        return _json(self._state())

    async def _next_state(self, query: str) -> dict[str, Any]:
        """The state, once it is another than the one that the page has."""
        self._asked_at = asyncio.get_running_loop().time()
        if query == f"after={self._version}" and not self._result.done():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), _WAIT_S)
        self._asked_at = asyncio.get_running_loop().time()
        return self._state()

    async def _act(self, asked: Any) -> None:
        if self._result.done():
            raise ValueError("the demonstration is over")
        if not isinstance(asked, dict):
            raise ValueError("expected an action")
        action = action_from_json(asked)
        if isinstance(action, Answer | Done):
            raise ValueError("finish by the button")
        try:
            seen = await self._demonstration.act(action)
        except UIGymError as exc:
            self._end(exc)
            return
        self._note = seen.error or " ".join(event.text for event in seen.events if event.kind == "dialog")
        self._show(seen.png)
        self._tell()

    async def _finish(self, asked: Any) -> None:
        words = asked if isinstance(asked, dict) else {}
        instruction, answer = str(words.get("instruction", "")).strip(), str(words.get("answer", "")).strip()
        if not instruction:
            raise ValueError("say what an agent is to do")
        self._given = {"instruction": instruction, "answer": answer}
        self._end(Told(instruction, answer))

    async def _discard(self, asked: Any) -> None:
        self._end(None)

    def _end(self, result: Told | UIGymError | None) -> None:
        if not self._result.done():
            self._over = "failed" if isinstance(result, UIGymError) else "recorded" if result else "discarded"
            if isinstance(result, UIGymError):
                self._result.set_exception(result)
            else:
                self._result.set_result(result)
        self._tell()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None: Ctrl+C is the command line's."""
        yield


class _Refused(Exception):
    """The request is for nothing that there is."""


async def _body(receive: Any) -> Any:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
        if len(body) > _MAX_BODY:
            raise ValueError("too long")
    return json.loads(body or b"{}")


def _json(value: Any, status: int = 200) -> tuple[int, str, bytes, dict[str, str]]:
    return status, "application/json", json.dumps(value).encode(), {}


def _words(act: Act) -> dict[str, str]:
    """An act as the page's list shows it: what was done, to what, and where."""
    action = act.action
    record = {name: getattr(action, name) for name in action.__slots__}
    points = [(record["x"], record["y"])] if "x" in record else [*record.get("path", ())]
    where = " to ".join(f"{x:g}, {y:g}" for x, y in dict.fromkeys((*points[:1], *points[-1:])))
    what = next((str(record[name]) for name in ("text", "chord") if name in record), "")
    kind = type(action).__name__
    if kind == "Click" and (record["count"] > 1 or record["button"] != "left"):
        kind = f"{record['button']} click".capitalize() if record["count"] == 1 else "Double click"
    return {"kind": kind, "what": (act.target.words if act.target is not None else what)[:80], "where": where}
