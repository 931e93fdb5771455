"""What the pages of a session send, and how it is answered: windows, frames, workers, service workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from playwright.async_api import BrowserContext, Error, Page, Request, Response, WebSocket

from uigym.watched import Exchange

MAX_BODY_BYTES = 64 * 1024
PATIENCE_S = 1.0
"""How long an answer that is under way may take when the episode ends."""
MAX_EXCHANGES = 10_000
"""Kept of one session, the first ones."""
_UPGRADED = 101
_ENDLESS = ("eventsource", "media")


class Traffic:
    """Follows one context. What only a cache or a service worker has answered was not sent, and is left out."""

    def __init__(self, context: BrowserContext, page: Page, step: Callable[[], int]):
        """
        Args:
            context: One that has shown nothing yet.
            page: Its page.
            step: How many actions have begun.
        """
        self._context, self._step = context, step
        self._asked: dict[Request, int] = {}
        self._status: dict[Request, int] = {}
        self._open: set[Request] = set()
        self._inside: set[Request] = set()  # answered without being sent
        self._sockets: dict[WebSocket, tuple[int, int]] = {}  # step, position
        self._failed: set[WebSocket] = set()
        self._changed = asyncio.Event()
        context.on("request", self._on_request)
        context.on("response", self._on_response)
        context.on("requestfailed", self._on_end)
        context.on("page", self._follow)
        self._follow(page)

    async def catch_up(self, page: Page | None) -> None:
        """Until all that was sent so far is known; None where a page cannot be asked, such as under a dialog."""
        try:
            await (self._context.cookies("http://127.0.0.1") if page is None else page.evaluate("0"))
        except Error:
            return  # the document went away meanwhile, and what it had sent was told before that

    async def exchanges(self, page: Page | None) -> tuple[Exchange, ...]:
        """All of them in the order of sending, after waiting a moment for answers that are under way."""
        await self.catch_up(page)
        with suppress(TimeoutError):  # what is still open is told without an answer
            async with asyncio.timeout(PATIENCE_S):
                while self._open:
                    self._changed.clear()
                    await self._changed.wait()
        found = [(number, self._exchange(request, step)) for number, (request, step) in enumerate(self._asked.items())]
        kept = [pair for pair, request in zip(found, self._asked, strict=True) if request not in self._inside]
        for socket, (step, position) in self._sockets.items():
            status = 0 if socket in self._failed else _UPGRADED
            kept.append((position, Exchange("GET", socket.url, status, "", step, "websocket")))
        return tuple(exchange for _, exchange in sorted(kept, key=lambda pair: pair[0]))[:MAX_EXCHANGES]

    def _exchange(self, request: Request, step: int) -> Exchange:
        body = (request.post_data_buffer or b"")[:MAX_BODY_BYTES].decode("utf-8", "replace")
        url = request.url.partition("#")[0]
        return Exchange(request.method, url, self._status.get(request, 0), body, step, request.resource_type)

    def _follow(self, page: Page) -> None:
        page.on("websocket", self._on_socket)

    def _on_socket(self, socket: WebSocket) -> None:
        self._sockets[socket] = self._step(), len(self._asked)
        socket.on("socketerror", lambda _: self._failed.add(socket))

    def _on_request(self, request: Request) -> None:
        if len(self._asked) < MAX_EXCHANGES and request.url.startswith(("http:", "https:")):
            self._asked[request] = self._step()
            if request.resource_type not in _ENDLESS:
                self._open.add(request)

    def _on_response(self, response: Response) -> None:
        self._status[response.request] = response.status
        if response.from_service_worker:
            self._inside.add(response.request)
        self._on_end(response.request)

    def _on_end(self, request: Request) -> None:
        self._open.discard(request)
        self._changed.set()
