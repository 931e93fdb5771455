"""One page of a session: its channel to Chromium, its settling, its pictures."""

from __future__ import annotations

import base64
from typing import Any

from playwright.async_api import Page

from uigym.browser.settle import Settler
from uigym.browser.wire import Channel, Wire, WireError

_PICTURE = {"format": "png", "optimizeForSpeed": True}


class Tab:
    """A page with what the hot path needs. Made by `attach`."""

    def __init__(self, page: Page, channel: Channel, settler: Settler, target: dict[str, Any]):
        self.page = page
        self.channel = channel
        self.settler = settler
        self.target: str = target["targetId"]
        """Chromium's id of the window."""
        self.context: str = target["browserContextId"]
        """Chromium's id of the context."""

    @classmethod
    async def attach(cls, page: Page, wire: Wire, settling: str) -> Tab:
        """Take over a page; `settling` is settle.js with the secret of the page's causes.js."""
        cdp = await page.context.new_cdp_session(page)
        target = (await cdp.send("Target.getTargetInfo"))["targetInfo"]
        await cdp.detach()
        channel = await wire.attach(target["targetId"])
        settler = Settler(channel, target["targetId"], target["url"])  # a page's id is that of its main frame
        await settler.start(settling)
        if not target["url"]:  # a new window, still without its document
            await settler.catch_up()
        return cls(page, channel, settler, target)

    def fit(self, scale: float) -> None:
        """Say again how large the viewport is, which a page at full screen makes Chromium forget."""
        size: Any = self.page.viewport_size
        self.channel.tell("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": scale, "mobile": False})

    async def capture(self) -> bytes:
        """The viewport as a PNG, drawn after everything that has happened so far."""
        try:
            reply = await self.channel.send("Page.captureScreenshot", _PICTURE)
        except WireError as exc:
            if "Unable to capture" not in str(exc):
                raise
            reply = await self.channel.send("Page.captureScreenshot", _PICTURE)  # rare, under load; the second works
        return base64.b64decode(reply["data"])
