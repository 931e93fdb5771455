"""One page of a session: its CDP session, its settling, its pictures."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from playwright.async_api import CDPSession, Error, Page

from uigym.browser.settle import Settler

_PICTURE = {"format": "png", "optimizeForSpeed": True}


class Tab:
    """A page with what the hot path needs. Made by `attach`."""

    def __init__(self, page: Page, cdp: CDPSession, settler: Settler):
        self.page = page
        self.cdp = cdp
        self.settler = settler

    @classmethod
    async def attach(cls, page: Page, settling: str) -> Tab:
        """Take over a page; `settling` is settle.js with the secret of the page's causes.js."""
        cdp = await page.context.new_cdp_session(page)
        settler = Settler(cdp)
        await asyncio.gather(
            settler.start(settling),
            cdp.send("Page.setInterceptFileChooserDialog", {"enabled": True}),  # no picture shows a native dialog
        )
        return cls(page, cdp, settler)

    async def send(self, method: str, parameters: dict[str, Any]) -> Any:
        """One CDP command; several may be under way at once and arrive in the order of the calls."""
        return await self.cdp.send(method, parameters)

    async def capture(self) -> bytes:
        """The viewport as a PNG, drawn after everything that has happened so far."""
        try:
            reply = await self.cdp.send("Page.captureScreenshot", _PICTURE)
        except Error as exc:
            if "Unable to capture" not in exc.message:
                raise
            reply = await self.cdp.send("Page.captureScreenshot", _PICTURE)  # rare, under load; the second one works
        return base64.b64decode(reply["data"])
