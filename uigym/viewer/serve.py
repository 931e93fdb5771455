"""The server in its process: a socket on the loopback, and an address that nobody can guess."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import uvicorn

from uigym.errors import ConfigError
from uigym.viewer.guard import Guard


class Server:
    """Serves an application while it is open (async with).

    Args:
        app: Such as `create_app` makes.
        port: On 127.0.0.1; 0 takes one that is free.

    Raises:
        ConfigError: The port is taken.
    """

    def __init__(self, app: Any, port: int = 0):
        self._token = secrets.token_urlsafe(24)
        self._guard = Guard(app, self._token)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
        except OSError as error:
            self._socket.close()
            raise ConfigError(f"port {port} cannot be used ({error.strerror}). Name another one: --port 0") from error
        self.port: int = self._socket.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        """What to open in a browser; it holds the secret."""
        return f"{self.origin}{path}{'&' if '?' in path else '?'}token={self._token}"

    async def __aenter__(self) -> Self:
        config = uvicorn.Config(
            self._guard,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config)
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        up = asyncio.create_task(self._server.up.wait())
        await asyncio.wait([self._task, up], return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        await asyncio.wait([self._task], timeout=5.0)
        self._socket.close()

    async def ended(self) -> None:
        """Returns when the server has stopped by itself."""
        await self._task


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config):
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None: Ctrl+C is the command line's."""
        yield
