"""How a browser's pages come to be drawn and photographed: by Chromium itself here, frame by frame in frames.py."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol

from playwright.async_api import Browser as Chromium
from playwright.async_api import Page

from uigym.browser.wire import Channel, WireError, WireGone
from uigym.errors import BrowserError

log = logging.getLogger(__name__)
PNG = {"format": "png", "optimizeForSpeed": True}
"""Lossless; half the time of Chromium's smaller PNG."""
PAUSES_S = (0.01, 0.03, 0.06, 0.1, 0.2, 0.4, 0.7)
"""Before each further try of a picture that fails."""


class Sender(Protocol):
    """What carries commands to a page: a `Channel`."""

    def send(self, method: str, parameters: dict[str, Any] | None = None) -> Awaitable[dict[str, Any]]: ...


class Camera(Protocol):
    """Draws one page and takes its pictures."""

    async def picture(self) -> bytes:
        """The viewport as a PNG, drawn after everything that has happened so far.

        Raises:
            BrowserError: Chromium took none, and was asked again and again.
            WireGone: The page or the browser is gone.
        """

    def watched(self) -> AbstractAsyncContextManager[None]:
        """While somebody waits for what the page does, it is drawn as on a screen that is looked at."""

    def close(self) -> None:
        """The page is gone."""


class Route(Protocol):
    """The way in which all pages of one browser are drawn."""

    async def open(self, chromium: Chromium, script: str, options: Mapping[str, Any]) -> Page:
        """An empty page in a context of its own.

        Args:
            chromium: Started with the flags of this route.
            script: For every document of the context, before its own; empty for none.
            options: Of Playwright's context.
        """

    def camera(self, page: Page, channel: Channel, target: Mapping[str, Any]) -> Camera:
        """For a page of this browser, whoever opened it; `target` is what Chromium says of it."""


class Screenshot:
    """Chromium draws the page sixty times a second where something changes, and copies the next frame for us."""

    def __init__(self, channel: Sender):
        self._channel = channel

    async def picture(self) -> bytes:
        return await persist(self._take)

    def watched(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        return

    async def _take(self) -> bytes:
        reply = await self._channel.send("Page.captureScreenshot", PNG)
        return base64.b64decode(reply["data"])


class Screenshots:
    """Pictures by `Page.captureScreenshot`: every Chromium can do it, at every scale, beside all other tools."""

    async def open(self, chromium: Chromium, script: str, options: Mapping[str, Any]) -> Page:
        context = await chromium.new_context(**options)
        if script:
            await context.add_init_script(script)
        return await context.new_page()

    def camera(self, page: Page, channel: Channel, target: Mapping[str, Any]) -> Screenshot:
        return Screenshot(channel)


async def persist(take: Callable[[], Awaitable[bytes]]) -> bytes:
    """A picture, as soon as Chromium takes one: it may refuse while a page that has just come has drawn nothing yet."""
    for pause_s in PAUSES_S:
        try:
            return await take()
        except WireGone:
            raise
        except WireError as exc:
            log.debug("no picture yet: %s", exc)
        await asyncio.sleep(pause_s)
    try:
        return await take()
    except WireGone:
        raise
    except WireError as exc:
        tries = len(PAUSES_S) + 1
        raise BrowserError(
            f"Chromium took no picture of the page, {tries} times in {sum(PAUSES_S):g} s: {exc}"
        ) from exc
