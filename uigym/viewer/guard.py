"""Who may ask the viewer: a browser on this machine that has opened the address with the secret.

Three locks, each for another guest. The secret keeps out other people of the machine; the check of `Host` keeps out
pages of the web that had their name pointed at this machine; the check of `Origin` and a cookie that no other site sends
keep out pages that the same browser has open elsewhere. What is shown was written by strangers, so a page may load
and run nothing but the viewer's own files.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SAFE = ("GET", "HEAD")


class Guard:
    """An ASGI application in front of another one.

    Args:
        app: What is behind it.
        token: The secret; whoever asks with `?token=` gets a cookie and is sent on to the same address without it.
    """

    def __init__(self, app: Any, token: str):
        self._app = app
        self._token = token
        self.cookie = f"uigym-{hashlib.sha256(token.encode()).hexdigest()[:8]}"
        """Its name: ports share cookies, so each server has its own."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or let it through with the headers that lock the page."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if why := self._refusal(scope, headers):
            await _say(scope, send, 403, why)
        elif asked := self._asked(scope):
            await _say(scope, send, 303, "", {"location": asked, "set-cookie": self._given()})
        elif not self._knows(headers):
            await _say(scope, send, 401, _CLOSED)
        else:
            await self._app(scope, receive, _locking(send))

    def _refusal(self, scope: Any, headers: Mapping[str, str]) -> str:
        host = headers.get("host", "")
        if _name(host) not in LOOPBACK:
            return f"This server answers to {', '.join(LOOPBACK)} only, not to {host!r:.100}."
        acts = scope["type"] == "websocket" or scope["method"] not in _SAFE
        origin = headers.get("origin", "")
        if (acts or origin) and origin != f"http://{host}":
            return "Only this server's own pages may ask for that."
        elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if elsewhere and headers.get("sec-fetch-mode") != "navigate":
            return "Other sites may link to this server, and nothing else."
        return ""

    def _asked(self, scope: Any) -> str:
        """Where to send a browser that comes with the secret; empty if it has none, or a wrong one."""
        if scope["type"] != "http" or scope["method"] not in _SAFE or b"token=" not in scope["query_string"]:
            return ""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(
            secrets.compare_digest(value.encode(), self._token.encode()) for name, value in pairs if name == "token"
        ):
            return ""
        rest = urlencode([pair for pair in pairs if pair[0] != "token"])
        path = scope.get("raw_path", b"/").decode("latin-1").partition("?")[0]
        return f"/{path.lstrip('/')}{'?' if rest else ''}{rest}"

    def _given(self) -> str:
        return f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Lax"

    def _knows(self, headers: Mapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self._token.encode())


_CLOSED = "Open the address that `uigym view` printed: it holds the secret that this page asks for."


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _locking(send: Any) -> Any:
    """A `send` that adds the headers to an answer."""

    async def locked(message: Any) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in there]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return locked


async def _say(scope: Any, send: Any, status: int, text: str, more: Mapping[str, str] | None = None) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    told = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store", **HEADERS, **(more or {})}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})
