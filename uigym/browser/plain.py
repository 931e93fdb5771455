"""Playwright as it comes, for comparison: `page.mouse.click` and `page.screenshot`, nothing settled."""

from __future__ import annotations

from playwright.async_api import Browser, BrowserContext, Page, Playwright, async_playwright

from uigym.browser.find import find_chromium


class PlainPlaywright:
    """One Chromium with Playwright's own settings, and a context per slot."""

    def __init__(self, slots: int, viewport: tuple[int, int]):
        self._viewport = viewport
        self._contexts: list[BrowserContext | None] = [None] * slots
        self._pages: list[Page | None] = [None] * slots
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self.pid = 0
        """Of Chromium's main process."""

    async def start(self) -> None:
        """Launch the browser."""
        self._playwright = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(executable_path=find_chromium())
        cdp = await self._browser.new_browser_cdp_session()
        processes = (await cdp.send("SystemInfo.getProcessInfo"))["processInfo"]
        self.pid = next(int(process["id"]) for process in processes if process["type"] == "browser")
        await cdp.detach()

    async def open(self, slot: int, url: str) -> bytes:
        """A fresh context for a slot, showing a page; its screenshot."""
        assert self._browser is not None
        if old := self._contexts[slot]:
            await old.close()
        width, height = self._viewport
        context = self._contexts[slot] = await self._browser.new_context(viewport={"width": width, "height": height})
        page = self._pages[slot] = await context.new_page()
        await page.goto(url)
        return await page.screenshot()

    async def click(self, slot: int, x: float, y: float) -> bytes:
        """A click and a screenshot."""
        page = self._pages[slot]
        assert page is not None
        await page.mouse.click(x, y)
        return await page.screenshot()

    async def close(self) -> None:
        """End the browser."""
        if self._browser:
            await self._browser.close()
        if self._playwright:
            await self._playwright.stop()
