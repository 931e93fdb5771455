"""One episode's browser: a fresh context in which actions go in and settled pictures come out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from playwright.async_api import BrowserContext, Error, Page

from uigym.browser.input import Input, check, duration_s
from uigym.browser.popups import Beside
from uigym.browser.settle import LIMIT_S
from uigym.browser.tab import Tab
from uigym.browser.wire import Wire, WireError
from uigym.errors import ActionRefused, BrowserError, ProductError, did_you_mean
from uigym.surroundings import Surroundings
from uigym.types import Action, Answer, Back, Dialog, Done, Event, Goto, Scroll, SwitchTab, Upload

OPEN_TIMEOUT_S = 30.0
GRACE_S = 10.0
"""For settling and the picture, once the product has answered."""
CLOSE_TIMEOUT_S = 5.0
ARRIVAL_S = 2.0
"""How long to wait for a window that a page has opened."""


class Spent(NamedTuple):
    """Where a step's time went, ms of wall clock."""

    input_ms: float = 0.0
    """Until the page had handled the last event."""
    settle_ms: float = 0.0
    """Until what the events had caused was over."""
    capture_ms: float = 0.0
    """Until the picture was here."""


UNTIMED = Spent()


@dataclass(frozen=True, slots=True)
class Frame:
    """What came of an action."""

    png: bytes
    """The viewport, lossless, at the surroundings' scale."""
    settled: bool
    """False if the page was still at work when the picture was taken."""
    events: tuple[Event, ...] = ()
    """What happened beside the page."""
    spent: Spent = UNTIMED


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a page stands."""

    url: str
    """Address of the document; chrome-error: where there is none."""
    status: int
    """HTTP status of the document's answer; 0 where it is not known."""


@dataclass(frozen=True)
class Prepared:
    """A context that no episode has used yet, with one empty page."""

    context: BrowserContext
    tab: Tab
    wire: Wire
    settling: str
    """Source of settle.js for further pages of this context."""


class Session:
    """A context of its own for one episode. Made by `Browser.session`; close it when the episode ends."""

    def __init__(
        self,
        prepared: Prepared,
        base_url: str,
        viewport: tuple[int, int],
        grants: tuple[type, ...],
        surroundings: Surroundings,
    ):
        self.viewport = viewport
        """Width and height, CSS px."""
        self.surroundings = surroundings
        self.files: Mapping[str, Path] = {}
        """Files that an Upload may name."""
        self.when_opened: Callable[[], None] = lambda: None
        self.when_closed: Callable[[], None] = lambda: None
        self._prepared = prepared
        self._base_url = base_url
        self._grants = grants
        self._input = Input()
        self._beside = Beside(keep_dialogs=Dialog in grants)
        self._tabs = [prepared.tab]
        self._shown = prepared.tab
        self._arriving: set[asyncio.Task[None]] = set()
        self._owed = 0  # windows that were opened and that Playwright has not reported yet
        self._new: list[Tab] = []  # tabs that no frame has reported yet
        self._work: asyncio.Task[Frame] | None = None  # an act that a dialog interrupted
        self._png = b""
        self._failure = ""
        self._status = 0
        self._watch(prepared.tab)
        prepared.context.on("page", self._on_page)

    @property
    def page(self) -> Page:
        """The page that is shown, as Playwright sees it: for oracles, never for policies."""
        return self._shown.page

    @property
    def url(self) -> str:
        """Address of the page that is shown."""
        return self._shown.settler.url

    @property
    def pointer(self) -> tuple[float, float] | None:
        """Where the mouse is, CSS px; None before the first movement."""
        return self._input.pointer

    async def open(self, path: str = "/", timeout_s: float = OPEN_TIMEOUT_S) -> Frame:
        """Open a page of the product and wait until it has settled.

        Args:
            path: Relative to the product's address.
            timeout_s: How long the product may take to answer.

        Raises:
            ProductError: The product does not answer.
            BrowserError: The browser crashed or hung.
        """
        async with self._deadline(timeout_s + GRACE_S, f"opening {path}"):
            frame = await self._until_stopped(self._open(urljoin(self._base_url, path), timeout_s))
        self.when_opened()
        return frame

    async def step(self, action: Action, timeout_s: float = 10.0) -> Frame:
        """Perform an action, wait until what it caused is over, and take a picture.

        Args:
            action: Anything but Answer and Done, which are the environment's.
            timeout_s: Limit for all of it, beside the time that a wait or a hold asks for.

        Raises:
            ActionRefused: The policy asked for what cannot be done; nothing was sent to the page.
            BrowserError: The page crashed, or did not answer in time.
        """
        if isinstance(action, Answer | Done):
            raise TypeError(f"{type(action).__name__} ends an episode; it is nothing that a browser can do")
        check(action, self.viewport, self._grants)
        self._check_open_things(action)
        async with self._deadline(timeout_s + duration_s(action), f"a {type(action).__name__.lower()} action"):
            if isinstance(action, Dialog):
                return await self._answer(action)
            return await self._until_stopped(self._act(action))

    async def look(self, timeout_s: float = 10.0) -> Frame:
        """Wait until the page has settled, and take a picture.

        Raises:
            BrowserError: The page crashed, or did not answer in time.
        """
        async with self._deadline(timeout_s, "looking"):
            if self._beside.dialog is not None:
                return Frame(self._png, True, self._beside.take())
            return await self._until_stopped(self._see())

    async def standing(self, timeout_s: float = 10.0) -> Standing:
        """Whether the page is still there and answers, and what the product had answered for it.

        Raises:
            BrowserError: The page crashed, or did not answer in time.
        """
        async with self._deadline(timeout_s, "asking the page whether it is there"):
            if self._beside.dialog is None:  # which would stop the page
                await self._until_stopped(self._ask_status())
            return Standing(self.url, self._status)

    async def close(self) -> None:
        """End the context with all its pages, storage and downloads. Harmless when called twice."""
        self.when_closed()
        for task in (*self._arriving, *([self._work] if self._work else [])):
            task.cancel()
        self._work = None
        try:
            await asyncio.wait_for(self._prepared.context.close(), CLOSE_TIMEOUT_S)
        except (Error, TimeoutError):
            return  # the browser is gone or will be ended with its process

    # --- one act -------------------------------------------------------------------------------------------

    async def _open(self, url: str, patience_s: float) -> Frame:
        try:
            error = await asyncio.wait_for(self._shown.settler.navigate(url), patience_s)
        except TimeoutError as exc:
            raise ProductError(f"{url} did not answer within {patience_s:g} s") from exc
        if error:
            raise ProductError(f"{url} could not be opened: {error}")
        frame = await self._see()
        await self._ask_status()
        if self._status >= 400:
            raise ProductError(f"{url} answered with HTTP status {self._status}; expected a page to begin on")
        if frame.settled:  # Chromium refuses it while a page loads
            await self._shown.channel.send("Page.resetNavigationHistory", {})  # no way back to the empty page before
        return frame

    async def _ask_status(self) -> Frame:
        self._status = await self._shown.settler.status()
        return Frame(self._png, True)

    async def _act(self, action: Action) -> Frame:
        began = time.perf_counter()
        match action:
            case Goto(url=url):
                await self._shown.settler.navigate(self._allowed(url))
            case Back():
                await self._back()
            case SwitchTab(index=index):
                await self._show(self._tabs[index])
            case Upload(file=file):
                await self._upload(file)
            case _:
                await self._input.perform(action, self._shown)
        return await self._see(frames=1 if isinstance(action, Scroll) else 0, began=began)

    async def _see(self, frames: int = 0, began: float | None = None) -> Frame:
        """Settle and capture, first the page that is shown and then one that it opened."""
        acted = time.perf_counter()
        settled = await self._shown.settler.settle(LIMIT_S, frames)
        if self._arriving or self._owed > 0 or self._new:
            settled = await self._arrive() and settled
        calm = time.perf_counter()
        self._png = await self._shown.capture()
        marks = (acted if began is None else began, acted, calm, time.perf_counter())
        spent = Spent(*(round((late - early) * 1000, 3) for early, late in pairwise(marks)))
        return Frame(self._png, settled, self._beside.take(), spent)

    async def _answer(self, answer: Dialog) -> Frame:
        dialog, work = self._beside.answered(), self._work
        assert dialog is not None
        self._work = None
        await (dialog.accept(answer.text) if answer.accept else dialog.dismiss())
        return await self._until_stopped(work or self._see())

    async def _until_stopped(self, act: Coroutine[Any, Any, Frame] | asyncio.Task[Frame]) -> Frame:
        """The act's frame; the last picture if a dialog, which stops the page, opens before it is done."""
        work = act if isinstance(act, asyncio.Task) else asyncio.create_task(act)
        try:
            waiting: set[asyncio.Future[Any]] = {work, self._beside.stopped}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            if self._beside.dialog is None:
                raise BrowserError("the page crashed")
            self._work = work
            return Frame(self._png, True, self._beside.take())
        finally:
            if not work.done() and self._work is not work:
                work.cancel()

    @asynccontextmanager
    async def _deadline(self, seconds: float, doing: str) -> AsyncIterator[None]:
        if self._failure:
            raise BrowserError(self._failure)
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as exc:
            self._failure = f"the page hung: {doing} at {self.url} did not end within {seconds:g} s"
            raise BrowserError(self._failure) from exc
        except (Error, WireError, BrowserError) as exc:
            what = "the page crashed" if self._beside.crashed else str(exc).splitlines()[0]
            self._failure = f"during {doing} at {self.url}: {what}"
            raise BrowserError(self._failure) from exc

    # --- granted actions -----------------------------------------------------------------------------------

    def _check_open_things(self, action: Action) -> None:
        """Refuse what the present dialog, chooser or tabs do not allow."""
        dialog = self._beside.dialog
        if isinstance(action, Dialog) and dialog is None:
            raise ActionRefused("dialog: no dialog is open")
        if not isinstance(action, Dialog) and dialog is not None:
            raise ActionRefused(f'a dialog is open ("{dialog.message}"): answer it with a dialog action first')
        if isinstance(action, SwitchTab) and not (
            isinstance(action.index, int) and 0 <= action.index < len(self._tabs)
        ):
            raise ActionRefused(f"switchtab: there are {len(self._tabs)} tabs, counted from 0; no tab {action.index!r}")
        if isinstance(action, Goto):
            self._allowed(action.url)
        if isinstance(action, Upload):
            if self._beside.chooser is None:
                raise ActionRefused("upload: no file chooser is open; click the page's upload button first")
            if action.file not in self.files:
                raise ActionRefused(f'upload: no file "{action.file}". {did_you_mean(str(action.file), self.files)}')

    def _allowed(self, url: str) -> str:
        address = urljoin(self.url if urlsplit(self.url).scheme.startswith("http") else self._base_url, str(url))
        if urlsplit(address).scheme not in ("http", "https"):
            raise ActionRefused(f"goto: only http and https addresses can be opened, not {url!r}")
        return address

    async def _back(self) -> None:
        history = await self._shown.channel.send("Page.getNavigationHistory", {})
        index = history["currentIndex"] - 1
        if index < 0 or history["entries"][index]["url"] == "about:blank":
            raise ActionRefused("back: this is the first page")
        await self._shown.settler.go_back(history["entries"][index]["id"])

    async def _upload(self, file: str) -> None:
        chooser, self._beside.chooser = self._beside.chooser, None
        assert chooser is not None
        tab, node = chooser
        await tab.channel.send("DOM.setFileInputFiles", {"files": [str(self.files[file])], "backendNodeId": node})

    # --- tabs ----------------------------------------------------------------------------------------------

    def _watch(self, tab: Tab) -> None:
        self._beside.watch(tab)
        tab.settler.on_window = self._on_window
        tab.page.on("close", self._on_close)

    def _on_window(self) -> None:
        self._owed += 1

    def _on_page(self, page: Page) -> None:
        self._owed -= 1
        task = asyncio.get_running_loop().create_task(self._adopt(page))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _adopt(self, page: Page) -> None:
        try:
            tab = await Tab.attach(page, self._prepared.wire, self._prepared.settling)
            self._watch(tab)
            await self._show(tab)
        except (Error, WireError):
            return  # closed again before it was ready
        self._tabs.append(tab)
        self._new.append(tab)

    async def _show(self, tab: Tab) -> None:
        await tab.page.bring_to_front()
        self._shown = tab

    async def _arrive(self) -> bool:
        """Wait for the windows that were opened, and for the newest to settle."""
        loop = asyncio.get_running_loop()
        end = loop.time() + ARRIVAL_S
        while (self._arriving or self._owed > 0) and loop.time() < end:
            await asyncio.wait(self._arriving, timeout=end - loop.time()) if self._arriving else await asyncio.sleep(
                0.005
            )
        self._owed = 0
        settled = await self._shown.settler.settle()
        new, self._new = self._new, []
        for tab in new:
            if not tab.page.is_closed():
                self._beside.add(Event("tab", await tab.page.title()))
        return settled

    def _on_close(self, page: Page) -> None:
        self._tabs = [tab for tab in self._tabs if tab.page is not page]
        if self._shown.page is page and self._tabs:
            self._shown = self._tabs[-1]
            self._beside.add(Event("tab", ""))
