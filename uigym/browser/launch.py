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
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import Browser as Chromium
from playwright.async_api import Error, Playwright, async_playwright

from uigym.browser import frames, guard, orphans
from uigym.browser.capture import Route, Screenshots
from uigym.browser.determinism import RASTER_FLAGS, context_options, screen, script, stillness
from uigym.browser.find import find_chromium
from uigym.browser.guard import Guard
from uigym.browser.session import Session
from uigym.browser.settle import scripts
from uigym.browser.tab import Tab
from uigym.browser.tabs import Prepared
from uigym.browser.wire import Wire, WireError
from uigym.errors import BrowserError, ConfigError, attribute, did_you_mean
from uigym.surroundings import Surroundings

log = logging.getLogger(__name__)
LAUNCH_TIMEOUT_S = 60.0
PREPARE_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 5.0
SOUND_TIMEOUT_S = 5.0
SPARE_AGE = 100
"""A spare context that so many sessions have passed by is dropped: what it was meant for is gone."""
FLAGS = (
    *RASTER_FLAGS,
    *guard.FLAGS,
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
    # A picture from a surface of its own comes a frame sooner. Chromium holds a page's tasks back after an input until a frame is drawn,
    # for a person's eyes; here that would be a frame more for each step. Of this switch the last one counts. The network needs no process
    # of its own; drawing does: within the browser's it fails on some machines.
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
    allow: tuple[str, ...] = ()


_BLANK = Wanted("http://127.0.0.1", (64, 64), Surroundings())


class _Spare(NamedTuple):
    """A context in the making for the next session of its kind."""

    preparing: asyncio.Task[Prepared]
    number: int
    """How many sessions there had been."""


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
        self._driver = orphans.parent(pid)
        self._pasting = asyncio.Lock()
        self._guards: set[Guard] = set()
        self._spares: dict[Wanted, _Spare] = {}
        self._dropping: set[asyncio.Task[None]] = set()
        self._sessions = 0
        self._hung = False
        self._closed = False

    @classmethod
    async def launch(cls, executable: Path | None = None, capture: str = "auto") -> Browser:
        """Start a Chromium, after ending those whose owners died without doing so.

        Args:
            executable: The Chromium; None takes the one that `find_chromium` finds.
            capture: How pictures are taken, for all pages of this browser: "screenshot", or "frames", an experiment
                that is faster for one or two sessions of a small viewport and has the limits that frames.py lists;
                "auto" is what the variable UIGYM_CAPTURE says, else "screenshot".

        Raises:
            BrowserError: There is no Chromium, or it does not start within a minute.
            ConfigError: There is no such way to take pictures.
        """
        route, flags = _way(capture)
        path = executable or find_chromium()
        with attribute(BrowserError, f"starting Chromium ({path}) within {LAUNCH_TIMEOUT_S:g} s"):
            for pid in await asyncio.to_thread(orphans.sweep):
                log.warning("ended Chromium %d, whose owner had died", pid)
            folder = orphans.claim()
            starting = asyncio.create_task(async_playwright().start())
            try:
                async with asyncio.timeout(LAUNCH_TIMEOUT_S):
                    playwright = await asyncio.shield(starting)  # half a start could not be undone
                    chromium = await _start(playwright, path, folder, flags)
                    pid, wire = await _connect(chromium, folder)
                    await wire.post("", "Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]})
                return cls(playwright, chromium, wire, route(wire), pid, folder)
            except BaseException:
                await asyncio.to_thread(orphans.end, folder)
                await _patiently(_stop(starting))
                await asyncio.to_thread(orphans.discard, folder)
                raise

    @property
    def alive(self) -> bool:
        """Whether the browser can still be used."""
        there = self._chromium.is_connected() and not self._wire.gone and orphans.is_running(self.pid)
        return there and not self._hung and not self._closed

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
        allow: tuple[str, ...] = (),
        watch: tuple[str, ...] = (),
    ) -> Session:
        """A session in a context that nobody has used: no cookies, no storage, no history.

        Once the session has opened its first page, the next context of the same kind is prepared.

        Args:
            base_url: Origin of the product; paths are relative to it.
            viewport: CSS px, equal to the pixels of the picture.
            grants: Actions beyond mouse and keyboard that may be used.
            surroundings: Locale, time zone, clock, density and the like; None takes their defaults.
            allow: Origins that pages may reach beside the product's; all else is refused.
            watch: What will be asked for: "network" must be followed from the beginning, the rest can be read at any time.

        Raises:
            ValueError: An address that pages may reach is no http or https address.
            BrowserError: The browser is gone, or did not prepare a page in time.
        """
        wanted = Wanted(base_url, viewport, surroundings or Surroundings(), tuple(allow))
        prepared = await self._take(wanted)
        session = Session(prepared, base_url, viewport, grants, wanted.surroundings)
        if "network" in watch:
            session.follow_network()
        session.when_opened = lambda: self._prepare_next(wanted)
        session.sound = self.sound
        return session

    async def sound(self) -> bool:
        """Whether the browser can still make a page and draw it: tried on an empty one, for at most 5 s.

        One that cannot is not alive from then on.
        """
        try:
            async with asyncio.timeout(SOUND_TIMEOUT_S):
                blank = await self._take(_BLANK)
                try:
                    await blank.tab.camera.picture()
                finally:
                    self._drop(partial(_undo, blank))
        except (TimeoutError, BrowserError, Error, WireError):
            self._hung = True
        return not self._hung

    async def close(self) -> None:
        """End the browser and everything that it started, within 20 s. Harmless when called twice."""
        if self._closed:
            return
        self._closed = True
        unused = [*self._dropping, *(spare.preparing for spare in self._spares.values())]
        for task in unused:
            task.cancel()
        await asyncio.gather(*unused, return_exceptions=True)
        await asyncio.gather(*(watchman.close() for watchman in self._guards))
        await self._wire.close()
        if not self._hung:
            await _patiently(self._chromium.close())
        if orphans.is_running(self.pid):
            await asyncio.to_thread(orphans.end_group, self.pid)
        if self._hung:  # the driver may be what hangs
            await self._end_driver()
        await _patiently(self._playwright.stop())
        await self._end_driver()
        await asyncio.to_thread(orphans.discard, self._folder)

    async def _end_driver(self) -> None:
        if orphans.is_running(self._driver) and orphans.parent(self._driver) == os.getpid():
            await asyncio.to_thread(orphans.end_group, self._driver)

    async def _take(self, wanted: Wanted) -> Prepared:
        if not self.alive:
            raise BrowserError("the browser is gone: it crashed or was closed. Launch another one")
        self._sessions += 1
        spare = self._spares.pop(wanted, None)
        preparing = spare.preparing if spare else asyncio.create_task(self._prepare(wanted))
        try:
            async with asyncio.timeout(PREPARE_TIMEOUT_S):
                return await asyncio.shield(preparing)
        except (Error, WireError) as exc:
            raise BrowserError(f"the browser could not prepare a page: {exc}") from exc
        except BaseException as exc:  # nobody waits any longer: it is for whoever comes next
            self._keep(wanted, preparing)
            if isinstance(exc, TimeoutError):
                raise BrowserError(f"the browser prepared no page within {PREPARE_TIMEOUT_S:g} s") from exc
            raise

    def _prepare_next(self, wanted: Wanted) -> None:
        if not self._closed and wanted not in self._spares:
            self._keep(wanted, asyncio.get_running_loop().create_task(self._prepare(wanted)))

    def _keep(self, wanted: Wanted, preparing: asyncio.Task[Prepared]) -> None:
        """For the next session that wants it; what nobody has wanted for long is dropped."""
        passed = [key for key, spare in self._spares.items() if self._sessions - spare.number > SPARE_AGE]
        dropped = [self._spares.pop(key).preparing for key in passed]
        if wanted in self._spares:
            dropped.append(preparing)
        else:
            self._spares[wanted] = _Spare(preparing, self._sessions)
        for spare in dropped:
            self._drop(partial(_discard, spare))

    def _drop(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Let a context close by itself."""

        async def closing() -> None:
            await _patiently(close())

        task = asyncio.get_running_loop().create_task(closing())
        self._dropping.add(task)
        task.add_done_callback(self._dropping.discard)

    async def _prepare(self, wanted: Wanted) -> Prepared:
        width, height = wanted.viewport
        options = {"base_url": wanted.base_url, "viewport": {"width": width, "height": height}}
        causes, settle = scripts()
        settling = stillness(wanted.surroundings) + settle
        watchman = await Guard.start(wanted.base_url, wanted.allow)
        self._guards = {watchman, *(other for other in self._guards if other.is_open)}
        options |= context_options(wanted.surroundings) | watchman.options
        try:
            page = await self._route.open(self._chromium, causes + script(wanted.surroundings), options)
        except BaseException:
            await watchman.close()
            raise
        try:
            size = screen(wanted.viewport, wanted.surroundings)
            tab = await Tab.attach(page, self._wire, self._route, settling, size)
            folder = orphans.room(self._folder)
            await self._wire.post("", "Browser.setDownloadBehavior", _downloads_to(folder, tab.context))
            return Prepared(page.context, tab, self._wire, self._route, settling, size, folder, self._pasting, watchman)
        except BaseException:
            await watchman.close()
            if not self._closed:
                self._drop(page.context.close)
            raise


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
        args=[*FLAGS, *flags, "--remote-debugging-port=0", orphans.mark(), orphans.name(folder)],
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


async def _discard(spare: asyncio.Task[Prepared]) -> None:
    await _undo(await spare)


async def _undo(prepared: Prepared) -> None:
    await prepared.guard.close()
    await prepared.context.close()
    await asyncio.to_thread(shutil.rmtree, prepared.folder, ignore_errors=True)


async def _stop(starting: asyncio.Task[Playwright]) -> None:
    await (await starting).stop()


async def _patiently(closing: Coroutine[Any, Any, None]) -> None:
    """Wait for an end that a dead browser or driver may never report."""
    try:
        await asyncio.wait_for(closing, CLOSE_TIMEOUT_S)
    except Exception as exc:  # whatever a driver that has died raises
        log.debug("while closing: %s", exc)
