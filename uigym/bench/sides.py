"""What is compared on the pages: uigym, bare CDP, plain Playwright."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from uigym.bench.pages import BUTTON
from uigym.bench.processes import parent, tree
from uigym.bench.raw import RawChromium
from uigym.browser import Browser, Session
from uigym.browser.plain import PlainPlaywright
from uigym.types import Click

SLOTS_PER_BROWSER = 4
CLICK = Click(*BUTTON)
Size = tuple[int, int]


class Side(Protocol):
    """A way to drive a browser, with one page for each slot."""

    async def start(self) -> None:
        """Launch what is needed."""

    async def open(self, slot: int, url: str) -> None:
        """Show a page in a fresh context, and take a picture."""

    async def click(self, slot: int) -> None:
        """Click the button of the page, and take a picture."""

    def pids(self) -> set[int]:
        """The processes that do the work, this one excluded."""

    async def close(self) -> None:
        """End what was launched."""


class OurSide:
    """Sessions of uigym, settling included; four to a browser."""

    def __init__(self, slots: int, viewport: Size, capture: str = "screenshot"):
        self._viewport, self._capture = viewport, capture
        self._browsers: list[Browser] = []
        self.sessions: list[Session | None] = [None] * slots

    @property
    def chromium(self) -> str:
        """Its version."""
        return self._browsers[0].version

    async def start(self) -> None:
        """Launch a browser for every four slots."""
        for _ in range(0, len(self.sessions), SLOTS_PER_BROWSER):
            self._browsers.append(await Browser.launch(capture=self._capture))

    async def open(self, slot: int, url: str) -> None:
        """Show a page in a fresh session."""
        old, browser = self.sessions[slot], self._browsers[slot // SLOTS_PER_BROWSER]
        closing = asyncio.create_task(old.close()) if old else None
        session = self.sessions[slot] = await browser.session(base_url=url, viewport=self._viewport)
        await session.open(url)
        if closing:
            await closing

    async def click(self, slot: int) -> None:
        """A whole step."""
        await self.session(slot).step(CLICK)

    def session(self, slot: int) -> Session:
        """Of a slot whose page is open."""
        session = self.sessions[slot]
        assert session is not None
        return session

    def pids(self) -> set[int]:
        """Chromium's, and those of Playwright's driver."""
        return _with_driver(*(browser.pid for browser in self._browsers))

    async def close(self) -> None:
        """End the browsers."""
        await asyncio.gather(*(browser.close() for browser in self._browsers))


class TheirSide:
    """Browsers of another kind, four slots to each."""

    def __init__(self, kind: Callable[[int, Size], RawChromium | PlainPlaywright], slots: int, viewport: Size):
        sizes = [min(SLOTS_PER_BROWSER, slots - first) for first in range(0, slots, SLOTS_PER_BROWSER)]
        self._browsers = [kind(size, viewport) for size in sizes]

    async def start(self) -> None:
        """Launch a browser for every four slots."""
        for browser in self._browsers:
            await browser.start()

    async def open(self, slot: int, url: str) -> None:
        """Show a page in a fresh context."""
        await self._browsers[slot // SLOTS_PER_BROWSER].open(slot % SLOTS_PER_BROWSER, url)

    async def click(self, slot: int) -> None:
        """A click and a picture."""
        await self._browsers[slot // SLOTS_PER_BROWSER].click(slot % SLOTS_PER_BROWSER, *BUTTON)

    def pids(self) -> set[int]:
        """Chromium's, and those of Playwright's driver."""
        return _with_driver(*(browser.pid for browser in self._browsers))

    async def close(self) -> None:
        """End the browsers."""
        await asyncio.gather(*(browser.close() for browser in self._browsers))


def raw_side(slots: int, viewport: Size) -> TheirSide:
    """Bare CDP over a pipe: the limit."""
    return TheirSide(RawChromium, slots, viewport)


def playwright_side(slots: int, viewport: Size) -> TheirSide:
    """`page.mouse.click` and `page.screenshot`."""
    return TheirSide(PlainPlaywright, slots, viewport)


def _with_driver(*chromiums: int) -> set[int]:
    """A Chromium that Playwright started is a child of Playwright's driver, which works too."""
    return tree(*chromiums, *(parent(pid) for pid in chromiums))
