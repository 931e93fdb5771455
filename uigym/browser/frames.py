"""Drawing under our control: Chromium draws a frame only when it is told to, and hands it over at once.

A picture then does not wait for the next tick of a 60 Hz screen, nor for a second copy of the frame. In return:

* Chromium ends if two of a browser's pages draw at once, so they take turns, in which each frame waits for its page.
  A page that does not finish its frame (an endless loop, or a dialog opened from within an animation frame and left
  open) keeps all pages of that browser from drawing; it is closed after `FRAME_LIMIT_S`, which loses its episode.
* Chromium itself forgets some frames soon after a navigation, two or three in a hundred on a busy machine, with the
  same end. So this is for products that stay in one document, and not the default.
* Mouse moves, wheel, animations and `requestAnimationFrame` wait for a frame. So frames go on all the time: sixty a
  second while somebody waits for the page, `RESTING_S` apart while nobody does.
* Playwright's own screenshots never come. Its waits do, at the pace of a page that rests.
* Pictures have one pixel per CSS px, and input would miss at another scale: that is refused.
* Chromium does not start with it where `--site-per-process` is asked for.
* It takes the headless shell; a full Chromium has no such control.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser as Chromium
from playwright.async_api import Page

from uigym.browser.capture import PNG, Sender, persist
from uigym.browser.wire import Channel, Wire, WireError, WireGone
from uigym.errors import BrowserError, ConfigError

log = logging.getLogger(__name__)
FRAME_LIMIT_S = 5.0
"""How long one page may keep the others from drawing."""
CLOSING_S = 2.0
FRAME_S = 1 / 60
PATIENCE_S = 1.0
"""How long a new window may take to come to its size."""
SOON_S = 0.004
"""Most of what is awaited comes at once; only then is a frame drawn for it."""
RESTING_S = 0.1
HUNG = f"the page hung: it did not finish a frame within {FRAME_LIMIT_S:g} s, and was closed"
FLAGS = (
    "--enable-begin-frame-control",
    "--run-all-compositor-stages-before-draw",
    "--disable-new-content-rendering-timeout",
    "--disable-threaded-animation",
    "--disable-image-animation-resync",
)


class Frames:
    """Pictures by `HeadlessExperimental.beginFrame`, in a Chromium that was started with `FLAGS`."""

    def __init__(self, wire: Wire):
        self._wire = wire
        self.hung: set[str] = set()
        """Pages that were closed because they kept the others from drawing."""
        self._opening = asyncio.Lock()
        self._turn = asyncio.Lock()
        self._clock_ms = 0.0

    async def open(self, chromium: Chromium, script: str, options: Mapping[str, Any]) -> Page:
        if (scale := options.get("device_scale_factor", 1)) != 1:
            raise ConfigError(f'capture by "frames" draws one pixel per CSS px, not {scale:g}: take "screenshot"')
        async with self._opening:  # Playwright does not tell a context's id: it is the one that was not there before
            before = await self._contexts()
            context = await chromium.new_context(**options)
            (own,) = await self._contexts() - before
        if script:
            await context.add_init_script(script)
        wanted = {"url": "about:blank", "browserContextId": own, "enableBeginFrameControl": True}
        opened: asyncio.Future[Page] = asyncio.get_running_loop().create_future()
        context.once("page", lambda page: opened.set_result(page))  # Playwright takes no built-in method
        await self._wire.post("", "Target.createTarget", wanted)
        return await opened

    def camera(self, page: Page, channel: Channel, target: Mapping[str, Any]) -> FrameCamera:
        return FrameCamera(self, page, channel, target["targetId"])

    async def draw(self, channel: Sender, target: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Draw one frame of a page, when it is its turn; who is cancelled leaves the frame to end by itself."""
        drawing = asyncio.ensure_future(self._draw(channel, target, parameters))
        drawing.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(drawing)

    async def _draw(self, channel: Sender, target: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        async with self._turn:
            self._clock_ms = max(self._clock_ms + 0.001, time.monotonic() * 1000)  # Chromium's clock, too
            when = {"frameTimeTicks": self._clock_ms, "interval": FRAME_S * 1000}
            reply = asyncio.ensure_future(channel.send("HeadlessExperimental.beginFrame", {**when, **parameters}))
            await asyncio.wait([reply], timeout=FRAME_LIMIT_S)
            if reply.done():
                return reply.result()
            self.hung.add(target)
            await self._wire.post("", "Target.closeTarget", {"targetId": target})
            await asyncio.wait([reply], timeout=CLOSING_S)
            reply.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise BrowserError(HUNG)

    async def fit(self, target: str, size: tuple[int, int]) -> None:
        """Make a page's window as large as its viewport: Chromium draws no more, and no less at full screen."""
        window = (await self._wire.post("", "Browser.getWindowForTarget", {"targetId": target}))["windowId"]
        for wider in (1, 0):  # it takes no notice of a size that it believes to have
            bounds = {"width": size[0] + wider, "height": size[1]}
            await self._wire.post("", "Browser.setWindowBounds", {"windowId": window, "bounds": bounds})

    async def _contexts(self) -> set[str]:
        return set((await self._wire.post("", "Target.getBrowserContexts"))["browserContextIds"])


def size_of(png: bytes) -> tuple[int, int]:
    """Width and height, px; zeros if there is no picture."""
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


class FrameCamera:
    """Keeps one page going by frames, and takes pictures in between."""

    def __init__(self, frames: Frames, page: Page, channel: Channel, target: str):
        self._frames, self._page, self._channel, self._target = frames, page, channel, target
        self._watchers = 0
        self._wanted = asyncio.Event()
        self._is_new = False  # a document of which nothing was drawn yet: input would miss it
        channel.on("Page.frameNavigated", self._arrived)
        self._beating = asyncio.create_task(self._beat())

    async def picture(self) -> bytes:
        return await persist(self._take)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        self._watchers += 1
        self._wanted.set()
        try:
            if self._is_new:
                await self._draw()
            yield
        except WireGone as exc:
            if self._target in self._frames.hung:
                raise BrowserError(HUNG) from exc
            raise
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._wanted.clear()

    def close(self) -> None:
        self._beating.cancel()

    async def _take(self) -> bytes:
        size: Any = self._page.viewport_size
        wanted = size["width"], size["height"]
        end = time.monotonic() + PATIENCE_S
        while size_of(png := await self._shot()) != wanted:
            if time.monotonic() > end:
                raise WireError(f"frames of {size_of(png)} px came, in place of {wanted}")
            await self._frames.fit(self._target, wanted)
            await asyncio.sleep(FRAME_S)
        return png

    async def _shot(self) -> bytes:
        return base64.b64decode((await self._draw(screenshot=PNG)).get("screenshotData", ""))

    async def _draw(self, **parameters: Any) -> dict[str, Any]:
        self._is_new = False
        return await self._frames.draw(self._channel, self._target, parameters)

    def _arrived(self, event: dict[str, Any]) -> None:
        self._is_new = True

    async def _beat(self) -> None:
        try:
            while True:
                if await self._due():
                    await self._channel.send("Runtime.evaluate", {"expression": "0"})  # a page that hangs gets no frame
                    await self._draw()
        except (WireError, BrowserError) as exc:
            log.debug("no more frames: %s", exc)

    async def _due(self) -> bool:
        """Whether the next frame is due; returns when that may have changed."""
        if self._watchers:
            await asyncio.sleep(FRAME_S)
            return bool(self._watchers)
        try:
            await asyncio.wait_for(self._wanted.wait(), RESTING_S)
        except TimeoutError:
            return True
        await asyncio.sleep(SOON_S)
        return bool(self._watchers)
