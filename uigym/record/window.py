"""The recorder's page in a window of its own, without a browser's bars."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from playwright.async_api import Error, async_playwright

from uigym.browser.find import find_chromium, windowed_chromium
from uigym.errors import BrowserError, ConfigError

_BESIDE = (400, 90)
"""What the page has beside the product's viewport, CSS px."""


@asynccontextmanager
async def window(url: str, viewport: tuple[int, int]) -> AsyncIterator[asyncio.Future[None]]:
    """Open a window with a page, large enough for a product's viewport; what is yielded is done when it is closed.

    Raises:
        ConfigError: This machine has no screen.
        BrowserError: There is no Chromium that has windows, or it does not start.
    """
    if not has_screen():
        raise ConfigError(
            "--headed needs a screen, and neither DISPLAY nor WAYLAND_DISPLAY is set. "
            "Leave it out, and open the page that is printed in a browser"
        )
    program = windowed_chromium()
    if program is None:
        raise BrowserError(
            f"{find_chromium()} has no windows. Install a Chromium that has: uigym install-browser, "
            "or name one: UIGYM_CHROMIUM=/path/to/chromium"
        )
    async with _opened(program, url, viewport) as gone:
        yield gone


def has_screen() -> bool:
    """Whether windows can be shown here."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@asynccontextmanager
async def _opened(program: Path, url: str, viewport: tuple[int, int]) -> AsyncIterator[asyncio.Future[None]]:
    size = ",".join(str(one + more) for one, more in zip(viewport, _BESIDE, strict=True))
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    with tempfile.TemporaryDirectory(prefix="uigym-window-") as profile:
        async with async_playwright() as playwright:
            try:
                context = await playwright.chromium.launch_persistent_context(
                    profile,
                    headless=False,
                    executable_path=str(program),
                    no_viewport=True,
                    args=[f"--app={url}", f"--window-size={size}", "--no-first-run", "--no-default-browser-check"],
                    chromium_sandbox=True,
                )
            except Error as error:
                raise BrowserError(f"{program} opens no window: {str(error).splitlines()[0]}") from error
            context.on("close", lambda _: _settle(gone))
            try:
                yield gone
            finally:
                gone.cancel()
                with suppress(Error):
                    await context.close()


def _settle(gone: asyncio.Future[None]) -> None:
    if not gone.done():
        gone.set_result(None)
