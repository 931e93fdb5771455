"""A page of our own that lies over the product's page, as Chromium's own pickers do, and that no page can reach."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.async_api import BrowserContext

from uigym.browser.determinism import context_options, script
from uigym.browser.tab import Tab
from uigym.browser.tabs import Prepared
from uigym.errors import BrowserError
from uigym.surroundings import Surroundings

_CLEAR = {"color": {"r": 0, "g": 0, "b": 0, "a": 0}}


@cache
def _source() -> str:
    here = Path(__file__).parent
    return "\n".join((here / name).read_text(encoding="utf-8") for name in ("overlay.js", "overlay_dates.js"))


class Overlay:
    """Draws pickers in a context of its own, with the session's size, scale, locale and clock. Made by `open`."""

    def __init__(self, context: BrowserContext, tab: Tab):
        self._context = context
        self.tab = tab
        """Where input for the picker goes; its coordinates are the product page's."""

    @classmethod
    async def open(cls, prepared: Prepared, surroundings: Surroundings) -> Overlay:
        """An empty overlay, in the browser of a session's context."""
        chromium = prepared.context.browser
        assert chromium is not None
        options = {"viewport": prepared.tab.page.viewport_size, **context_options(surroundings)}
        page = await prepared.route.open(chromium, "", options)
        tab = await Tab.attach(page, prepared.wire, prepared.route, "", prepared.screen)
        overlay = cls(page.context, tab)
        await tab.channel.send("Emulation.setDefaultBackgroundColorOverride", _CLEAR)
        await overlay._run(f"{script(surroundings)}\n{_source()}\n0")
        return overlay

    async def draw(self, spec: dict[str, Any], box: dict[str, float]) -> dict[str, Any]:
        """Show a picker at a control's box, in place of the one before; what `state` says."""
        return await self._run(f"overlay.open({json.dumps(spec)}, {json.dumps(box)})")

    async def state(self) -> dict[str, Any]:
        """Where the picker is, and what the input since the last call has made of it."""
        return await self._run("overlay.state()")

    async def aim(self, index: int) -> dict[str, Any]:
        """Where an option of the list is, or how far to scroll first."""
        return await self._run(f"overlay.aim({index})")

    async def clear(self) -> None:
        """Take the picker away."""
        await self._run("overlay.clear()")

    async def over(self, png: bytes) -> bytes:
        """A picture of the product's page with the picker on it."""
        return _laid(png, await self.tab.camera.picture())

    async def close(self) -> None:
        """End the context."""
        await self._context.close()

    async def _run(self, expression: str) -> Any:
        reply = await self.tab.channel.send("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        if "exceptionDetails" in reply:
            raise BrowserError(f"the overlay failed: {reply['exceptionDetails']['exception'].get('description')}")
        return reply["result"].get("value")


def _laid(below: bytes, above: bytes) -> bytes:
    page, picker = Image.open(io.BytesIO(below)), Image.open(io.BytesIO(above)).convert("RGBA")
    page.paste(picker, mask=picker)
    out = io.BytesIO()
    page.save(out, "PNG", compress_level=1)
    return out.getvalue()
