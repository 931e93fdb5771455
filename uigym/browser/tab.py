"""One page of a session: its channel to Chromium, its settling, its camera."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

from playwright.async_api import Page

from uigym.browser.capture import Camera, Route
from uigym.browser.console import Console
from uigym.browser.settle import Settler
from uigym.browser.wire import Channel, Wire, WireError, WireGone

Command: TypeAlias = tuple[str, dict[str, Any]]
"""One of CDP's methods with its parameters."""


class Tab:
    """A page with what the hot path needs. Made by `attach`."""

    def __init__(
        self,
        page: Page,
        channel: Channel,
        settler: Settler,
        camera: Camera,
        console: Console,
        target: dict[str, Any],
    ):
        self.page = page
        self.channel = channel
        self.settler = settler
        self.camera = camera
        self.console = console
        self.target: str = target["targetId"]
        """Chromium's id of the window."""
        self.context: str = target["browserContextId"]
        """Chromium's id of the context."""

    @classmethod
    async def attach(cls, page: Page, wire: Wire, route: Route, settling: str, screen: dict[str, Any]) -> Tab:
        """Take over a page.

        Args:
            page: As Playwright made or reported it.
            wire: To its browser.
            route: By which its pictures come.
            settling: settle.js with the secret of the page's causes.js.
            screen: Of the session, as `determinism.screen` says it.
        """
        cdp = await page.context.new_cdp_session(page)
        target = (await cdp.send("Target.getTargetInfo"))["targetInfo"]
        await cdp.detach()
        channel = await wire.attach(target["targetId"])
        settler = Settler(channel, target["targetId"], target["url"])  # a page's id is that of its main frame
        console = Console()
        settler.each(console.listen)  # before the events are on: a window may complain at once
        # A picture is as large and as dense as the connection that asks for it has set, not as another one has.
        await asyncio.gather(settler.start(settling), channel.send("Emulation.setDeviceMetricsOverride", screen))
        if not target["url"]:  # a new window, still without its document
            await settler.catch_up()
        camera = route.camera(page, channel, target)
        page.once("close", lambda _: camera.close())
        return cls(page, channel, settler, camera, console, target)

    async def send(self, commands: list[Command]) -> None:
        """All at once: they arrive in order, and the last answer comes after all have been handled."""
        await asyncio.gather(*[self.channel.send(method, parameters) for method, parameters in commands])

    async def entry(self, offset: int) -> int | None:
        """The entry of the history that lies so far from the present one; None if there is none."""
        history = await self.channel.send("Page.getNavigationHistory", {})
        entries, index = history["entries"], history["currentIndex"] + offset
        if not 0 <= index < len(entries) or entries[index]["url"] == "about:blank":
            return None
        return int(entries[index]["id"])

    async def forget_way(self) -> bool:
        """Leave no way back to the empty page before; False if the page is already on its way to another document."""
        try:
            await self.channel.send("Page.resetNavigationHistory", {})
        except WireGone:
            raise
        except WireError:
            return False
        return True
