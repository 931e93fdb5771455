"""Starts and ends one Chromium, and hands out sessions in fresh contexts."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser as Chromium
from playwright.async_api import Error, Playwright, async_playwright

from uigym.browser import frames, orphans
from uigym.browser.capture import Route, Screenshots
from uigym.browser.determinism import RASTER_FLAGS, context_options, screen, script, stillness
from uigym.browser.find import find_chromium
from uigym.browser.session import Session
from uigym.browser.settle import scripts
from uigym.browser.tab import Tab
from uigym.browser.tabs import Prepared
from uigym.browser.wire import Wire, WireError
from uigym.errors import BrowserError, ConfigError, did_you_mean
from uigym.surroundings import Surroundings

log = logging.getLogger(__name__)
LAUNCH_TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 5.0
FLAGS = (
    *RASTER_FLAGS,
    "--mute-audio",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-quic",
    "--disable-sync",
    "--metrics-recording-only",
    # One process fewer each for drawing and for the network: a step crosses processes a dozen times.
    "--in-process-gpu",
    # A picture from a surface of its own comes a frame sooner. Chromium holds a page's tasks back after an input until a frame is drawn,
    # for a person's eyes; here that would be a frame more for each step. Of this switch the last one counts.
    "--enable-features=NetworkServiceInProcess2,CDPScreenshotNewSurface,DeferRendererTasksAfterInput:policy/minimal-types",
)
Way = tuple[Callable[[Wire], Route], tuple[str, ...]]
WAYS: dict[str, Way] = {"screenshot": (lambda wire: Screenshots(), ()), "frames": (frames.Frames, frames.FLAGS)}
"""How pictures are taken, by name: the route, and the flags that Chromium needs for it."""
SHARED_MEMORY_BYTES = 1 << 30
"""With as much free in /dev/shm, pictures pass through memory and not through files, which costs a tenth less."""
_SANDBOX = re.compile(r"No usable sandbox|setuid_sandbox|SUID sandbox|zygote_host_impl_linux", re.IGNORECASE)


@dataclass(frozen=True)
class Wanted:
    """What a session's context must be like."""

    base_url: str
    viewport: tuple[int, int]
    surroundings: Surroundings


class Browser:
    """One Chromium. Not for use from another event loop than the one that launched it.

    Example:
        browser = await Browser.launch()
        session = await browser.session(base_url="http://127.0.0.1:8000", viewport=(320, 256))
        frame = await session.open("/")
        frame = await session.step(Click(40, 30))
        await browser.close()
    """

    def __init__(self, playwright: Playwright, chromium: Chromium, wire: Wire, route: Route, pid: int, folder: Path):
        self._playwright = playwright
        self._folder = folder
        self._chromium = chromium
        self._wire = wire
        self._route = route
        self.pid = pid
        """Of Chromium's main process, which leads a process group of its own."""
        self._pasting = asyncio.Lock()
        self._spares: dict[Wanted, asyncio.Task[Prepared]] = {}
        self._closed = False

    @classmethod
    async def launch(cls, executable: Path | None = None, capture: str = "auto") -> Browser:
        """Start a Chromium, after ending those whose owners died without doing so.

        Args:
            executable: The Chromium; None takes the one that `find_chromium` finds.
            capture: How pictures are taken, for all pages of this browser: "screenshot", or "frames", which is several
                times faster for one or two sessions of a small viewport and has the limits that frames.py lists;
                "auto" is what the variable UIGYM_CAPTURE says, else "screenshot".

        Raises:
            BrowserError: There is no Chromium, or it does not start.
            ConfigError: There is no such way to take pictures.
        """
        route, flags = _way(capture)
        path = executable or find_chromium()
        for pid in orphans.sweep():
            log.warning("ended Chromium %d, whose owner had died", pid)
        playwright, folder = await async_playwright().start(), orphans.claim()
        try:
            chromium = await _start(playwright, path, folder, flags)
            pid, wire = await _connect(chromium, folder)
            await wire.post("", "Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]})
            return cls(playwright, chromium, wire, route(wire), pid, folder)
        except BaseException:
            await playwright.stop()
            orphans.discard(folder)
            raise

    @property
    def alive(self) -> bool:
        """Whether the browser can still be used."""
        return not self._closed and self._chromium.is_connected() and orphans.is_running(self.pid)

    @property
    def version(self) -> str:
        """Such as "156.0.8078.108"."""
        return self._chromium.version

    async def session(
        self,
        *,
        base_url: str,
        viewport: tuple[int, int] = (1280, 720),
        grants: tuple[type, ...] = (),
        surroundings: Surroundings | None = None,
    ) -> Session:
        """A session in a context that nobody has used: no cookies, no storage, no history.

        Once the session has opened its first page, the next context of the same kind is prepared.

        Args:
            base_url: Origin of the product; paths are relative to it.
            viewport: CSS px, equal to the pixels of the picture.
            grants: Actions beyond mouse and keyboard that may be used.
            surroundings: Locale, time zone, clock, density and the like; None takes their defaults.

        Raises:
            BrowserError: The browser is gone.
        """
        wanted = Wanted(base_url, viewport, surroundings or Surroundings())
        prepared = await self._take(wanted)
        session = Session(prepared, base_url, viewport, grants, wanted.surroundings)
        session.when_opened = lambda: self._prepare_next(wanted)
        return session

    async def close(self) -> None:
        """End the browser and everything that it started. Harmless when called twice."""
        if self._closed:
            return
        self._closed = True
        for spare in self._spares.values():
            spare.cancel()
        await asyncio.gather(*self._spares.values(), return_exceptions=True)
        await self._wire.close()
        await _patiently(self._chromium.close())
        if orphans.is_running(self.pid):
            await asyncio.to_thread(orphans.end_group, self.pid)
        await _patiently(self._playwright.stop())
        await asyncio.to_thread(orphans.discard, self._folder)

    async def _take(self, wanted: Wanted) -> Prepared:
        if not self.alive:
            raise BrowserError("the browser is gone: it crashed or was closed. Launch another one")
        spare = self._spares.pop(wanted, None)
        try:
            return await (spare or self._prepare(wanted))
        except (Error, WireError) as exc:
            raise BrowserError(f"the browser could not prepare a page: {exc}") from exc

    def _prepare_next(self, wanted: Wanted) -> None:
        if not self._closed and wanted not in self._spares:
            self._spares[wanted] = asyncio.get_running_loop().create_task(self._prepare(wanted))

    async def _prepare(self, wanted: Wanted) -> Prepared:
        width, height = wanted.viewport
        options = {"base_url": wanted.base_url, "viewport": {"width": width, "height": height}}
        causes, settle = scripts()
        settling = stillness(wanted.surroundings) + settle
        page = await self._route.open(
            self._chromium, causes + script(wanted.surroundings), options | context_options(wanted.surroundings)
        )
        size = screen(wanted.viewport, wanted.surroundings)
        tab = await Tab.attach(page, self._wire, self._route, settling, size)
        folder = orphans.room(self._folder)
        await self._wire.post("", "Browser.setDownloadBehavior", _downloads_to(folder, tab.context))
        return Prepared(page.context, tab, self._wire, self._route, settling, size, folder, self._pasting)


def _downloads_to(folder: Path, context: str) -> dict[str, Any]:
    """Each file under an id of Chromium's own, so that no name that a product proposes means anything here."""
    return {
        "behavior": "allowAndName",
        "browserContextId": context,
        "downloadPath": str(folder),
        "eventsEnabled": True,
    }


def _way(capture: str) -> Way:
    name = os.environ.get("UIGYM_CAPTURE", "screenshot") if capture == "auto" else capture
    if name not in WAYS:
        raise ConfigError(f'no way to take pictures is called "{name}". {did_you_mean(name, WAYS)}')
    return WAYS[name]


async def _start(playwright: Playwright, path: Path, folder: Path, flags: tuple[str, ...]) -> Chromium:
    sandbox = os.geteuid() != 0  # Chromium refuses to run as root with its sandbox
    try:
        return await _launch(playwright, path, folder, flags, sandbox)
    except Error as exc:
        if not (sandbox and _SANDBOX.search(exc.message)):
            raise BrowserError(f"Chromium ({path}) did not start: {_reason(exc.message)}") from exc
    log.warning("this system lets no user start Chromium's sandbox: starting without it, so open only pages you trust")
    try:
        return await _launch(playwright, path, folder, flags, sandbox=False)
    except Error as exc:
        raise BrowserError(f"Chromium ({path}) did not start: {_reason(exc.message)}") from exc


async def _launch(playwright: Playwright, path: Path, folder: Path, flags: tuple[str, ...], sandbox: bool) -> Chromium:
    return await playwright.chromium.launch(
        executable_path=path,
        args=[*FLAGS, *flags, "--remote-debugging-port=0", orphans.mark()],
        artifacts_dir=folder / "artifacts",
        chromium_sandbox=sandbox,
        ignore_default_args=["--disable-dev-shm-usage"] if _has_shared_memory() else None,
        timeout=LAUNCH_TIMEOUT_S * 1000,
        handle_sigint=False,  # the rollout ends its browsers itself, in order
        handle_sigterm=False,
        handle_sighup=False,
    )


def _has_shared_memory() -> bool:
    """A container often has 64 MiB of it, which a few pages fill; Playwright therefore does without."""
    try:
        return shutil.disk_usage("/dev/shm").free >= SHARED_MEMORY_BYTES
    except OSError:
        return False


async def _connect(chromium: Chromium, claimed: Path) -> tuple[int, Wire]:
    """(process id, our own connection); Chromium writes its port into its profile."""
    cdp = await chromium.new_browser_cdp_session()
    processes = (await cdp.send("SystemInfo.getProcessInfo"))["processInfo"]
    command = (await cdp.send("SystemInfo.getInfo"))["commandLine"]
    await cdp.detach()
    profile = re.search(r"--user-data-dir=(.+?)(?= --|$)", command)
    if profile is None:
        raise BrowserError(f"Chromium does not say where its profile is: {command}")
    folder = Path(profile[1].strip('"'))
    orphans.note_profile(claimed, folder)
    port, path = await asyncio.to_thread(_port, folder / "DevToolsActivePort")
    pid = next(int(process["id"]) for process in processes if process["type"] == "browser")
    return pid, await Wire.connect(port, path)


def _port(file: Path) -> tuple[int, str]:
    """(port, path), which Chromium writes a moment after its start."""
    end = time.monotonic() + CLOSE_TIMEOUT_S
    while time.monotonic() < end:
        lines = file.read_text().splitlines() if file.exists() else []
        if len(lines) == 2:
            return int(lines[0]), lines[1]
        time.sleep(0.005)
    raise BrowserError(f"Chromium opened no DevTools port within {CLOSE_TIMEOUT_S:g} s")


def _reason(message: str) -> str:
    """The line of Chromium's output that says most, out of Playwright's long report."""
    lines = [line.strip().removeprefix("- ") for line in message.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|fatal|cannot|no such|denied", line, re.IGNORECASE)]
    return (telling[1:] or telling or lines)[0]


async def _patiently(closing: Coroutine[Any, Any, None]) -> None:
    """Wait for an end that a dead browser or driver may never report."""
    try:
        await asyncio.wait_for(closing, CLOSE_TIMEOUT_S)
    except (Error, TimeoutError, OSError) as exc:
        log.debug("while closing the browser: %s", exc)
