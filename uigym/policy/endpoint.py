"""JSON over HTTP to a model's server, with errors that say whether it is worth asking again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from uigym.errors import ConfigError, PolicyError

_SHOWN = 600
"""Characters of a server's own words in an error."""
_CONNECT_S = 10.0


class Unreachable(PolicyError):
    """The server is not there, broke off, or failed by itself: asked again, it may answer."""


class Endpoint:
    """A server of a model.

    Args:
        url: Such as http://127.0.0.1:8000.
        headers: Sent with every request.
        timeout_s: Longest wait for an answer.

    Raises:
        ConfigError: It is no address.
    """

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None, timeout_s: float = 600.0):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"{url!r} is no server's address: expected one such as http://127.0.0.1:8000")
        self.url = url.rstrip("/")
        self.headers = dict(headers or {})
        self.timeout_s = timeout_s
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(self, path: str, body: Any = None, **query: str | int | bool) -> Any:
        """What the server answers, read from JSON; None where it answers without content.

        Args:
            path: From the root.
            body: Sent as JSON; bytes are JSON already.
            query: Of the address; truth values in small letters.

        Raises:
            Unreachable: There was no answer, or one of the 500s.
            PolicyError: The server refused the request, or its answer is no JSON.
        """
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        return await self._ask("POST", path, content, query)

    async def get(self, path: str) -> Any:
        """As `post`, without a body."""
        return await self._ask("GET", path, None, {})

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _ask(self, method: str, path: str, content: bytes | None, query: Mapping[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"} if content is not None else {}
        params = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
        try:
            async with asyncio.timeout(self.timeout_s):
                answer = await self._connected().request(
                    method, f"{self.url}{path}", content=content, params=params, headers=headers
                )
        except TimeoutError as exc:
            raise Unreachable(f"{self.url}{path} gave no answer within {self.timeout_s:g} s") from exc
        except httpx.HTTPError as exc:
            raise Unreachable(f"{self.url}{path} cannot be reached: {type(exc).__name__}: {exc}") from exc
        return _read(answer, path)

    def _connected(self) -> httpx.AsyncClient:
        """The client of the running loop: one of a loop that has ended is of no use."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            # No proxy from the environment: the address is meant as it is.
            self._client = httpx.AsyncClient(
                headers=self.headers,
                timeout=httpx.Timeout(None, connect=_CONNECT_S),
                limits=httpx.Limits(max_connections=None),
                trust_env=False,
            )
            self._loop = loop
        return self._client


def _read(answer: httpx.Response, path: str) -> Any:
    if answer.status_code >= 400:
        kind = Unreachable if answer.status_code >= 500 or answer.status_code in (408, 425, 429) else PolicyError
        raise kind(f"{path} was answered with {answer.status_code}: {answer.text[:_SHOWN]}")
    if not answer.content:
        return None
    try:
        return answer.json()
    except ValueError as exc:
        raise PolicyError(f"the answer to {path} is no JSON: {answer.text[:_SHOWN]!r}") from exc
