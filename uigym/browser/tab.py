"""One page of a session: its channel to Chromium, its settling, its camera."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page

from uigym.browser.capture import Camera, Route
from uigym.browser.settle import Settler
from uigym.browser.wire import Channel, Wire


class Tab:
    """A page with what the hot path needs. Made by `attach`."""

    def __init__(self, page: Page, channel: Channel, settler: Settler, camera: Camera, target: dict[str, Any]):
        self.page = page
        self.channel = channel
        self.settler = settler
        self.camera = camera
        self.target: str = target["targetId"]
        """Chromium's id of the window."""
        self.context: str = target["browserContextId"]
        """Chromium's id of the context."""

    @classmethod
    async def attach(cls, page: Page, wire: Wire, route: Route, settling: str) -> Tab:
        """Take over a page; `settling` is settle.js with the secret of the page's causes.js."""
        cdp = await page.context.new_cdp_session(page)
        target = (await cdp.send("Target.getTargetInfo"))["targetInfo"]
        await cdp.detach()
        channel = await wire.attach(target["targetId"])
        settler = Settler(channel, target["targetId"], target["url"])  # a page's id is that of its main frame
        await settler.start(settling)
        if not target["url"]:  # a new window, still without its document
            await settler.catch_up()
        camera = route.camera(page, channel, target)
        page.once("close", lambda _: camera.close())
        return cls(page, channel, settler, camera, target)

    def fit(self, scale: float) -> None:
        """Say again how large the viewport is, which a page at full screen makes Chromium forget."""
        size: Any = self.page.viewport_size
        self.channel.tell("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": scale, "mobile": False})
