"""One episode's browser: a fresh context in which actions go in and settled pictures come out."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Error, Page

from uigym.browser.beside import Beside, is_escape, is_paste
from uigym.browser.chrome import shortcut
from uigym.browser.frame import Frame, Spent, Standing, blank
from uigym.browser.input import Input, check
from uigym.browser.network import Traffic
from uigym.browser.settle import LIMIT_S
from uigym.browser.storage import read_storage
from uigym.browser.tab import Tab
from uigym.browser.tabs import Prepared
from uigym.browser.values import read_values
from uigym.browser.view import view
from uigym.browser.wire import PageGone, WireError
from uigym.errors import ActionRefused, BrowserError, ProductError, UIGymError
from uigym.offer import Offer, lay_out
from uigym.state import State
from uigym.surroundings import Surroundings
from uigym.types import (
    Action,
    Answer,
    Back,
    Dialog,
    Done,
    Download,
    Event,
    Goto,
    Key,
    Move,
    Scroll,
    SwitchTab,
    Upload,
)
from uigym.watched import Exchange, PageView

OPEN_TIMEOUT_S = 30.0
GRACE_S = 10.0
"""For settling and the picture, once the product has answered."""
CLOSE_TIMEOUT_S = 5.0
_RESTLESS = 3
"""Documents in one call: where no picture can be taken of so many, it is the page that does not hold still."""
CATCH_UP_S = 1.0
"""How long a page may take to say that all it has sent is known."""
_DIALOGS = 20
"""Dismissed in a row, before a page is read."""
DOWNLOADS_S = 10.0
"""How long a download that is under way may go on when the episode ends."""


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
        self.when_opened: Callable[[], None] = lambda: None
        self.when_closed: Callable[[], None] = lambda: None
        self.sound: Callable[[], Awaitable[bool]] = _unknown
        """Whether the browser can still make a page and draw it; asked when this one fails."""
        self.left_behind = False
        """True once it was closed and its context did not go."""
        self.guard = prepared.guard
        """What the pages may reach, and what they were refused."""
        self._traffic: Traffic | None = None
        self._prepared = prepared
        self._base_url = base_url
        self._grants = grants
        self._input = Input(surroundings.typing_delay_s)
        self._beside = Beside(prepared, grants, surroundings)
        self.complaints = self._beside.complaints.told
        """What the pages have complained of so far."""
        self._tabs = self._beside.tabs
        self._pickers = self._beside.pickers
        self._work: asyncio.Task[Frame] | None = None  # an act that a dialog interrupted
        self._png = blank(viewport, surroundings.scale)
        self._failure: UIGymError | None = None
        self._lost = False  # with its browser
        self._settled = True
        self._documents = prepared.tab.settler, 0  # how many there were when the call began
        self._status = 0

    @property
    def page(self) -> Page:
        """The page that is shown, as Playwright sees it: for oracles, never for policies."""
        return self._shown.page

    @property
    def files(self) -> Mapping[str, Path]:
        """Files that an Upload may name."""
        return self._beside.choosers.files

    @files.setter
    def files(self, files: Mapping[str, Path]) -> None:
        self._beside.choosers.files = files

    def offer(self, files: Offer) -> None:
        """Write files for the episode, which an Upload may name; they go with the session.

        Raises:
            HarnessError: A file that is given by its path cannot be read.
            OSError: One cannot be written.
        """
        self.files = lay_out(files, self._prepared.folder / "files") if files else {}

    @property
    def tab(self) -> Tab:
        """The page that is shown, with its channel and its settling: for measuring them."""
        return self._shown

    @property
    def _shown(self) -> Tab:
        return self._tabs.shown

    @property
    def url(self) -> str:
        """Address of the page that is shown."""
        return self._shown.settler.url

    @property
    def pointer(self) -> tuple[float, float] | None:
        """Where the mouse is, CSS px; None before the first movement."""
        return self._input.mouse.pointer

    @property
    def picker(self) -> str:
        """Kind of the native picker that is open, such as "list", "suggestions", "date" or "color"; else empty."""
        return self._pickers.kind

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
            ProductError: The page hung or closed itself, in a browser that is sound.
            BrowserError: The page crashed, or the browser did not answer in time.
        """
        if isinstance(action, Answer | Done):
            raise TypeError(f"{type(action).__name__} ends an episode; it is nothing that a browser can do")
        await self._catch_up()
        self.guard.step += 1
        check(action, self.viewport, self._grants)
        self._check(action)
        limit_s = timeout_s + self._input.duration_s(action)
        async with self._deadline(limit_s, f"a {type(action).__name__.lower()} action"):
            if isinstance(action, Dialog):
                return await self._answer(action)
            return await self._until_stopped(self._act(action))

    async def look(self, timeout_s: float = 10.0) -> Frame:
        """Wait until the page has settled, and take a picture.

        Raises:
            ProductError, BrowserError: As with `step`.
        """
        async with self._deadline(timeout_s, "looking"):
            if self._beside.dialogs.open is not None:
                return await self._still()
            return await self._until_stopped(self._see())

    async def aim_at_option(self, index: int) -> dict[str, Any]:
        """Where an option of the open list is: {"kind": "point" | "scroll" | "absent", ...}. For oracles."""
        return await self._pickers.aim(index)

    async def standing(self, timeout_s: float = 10.0) -> Standing:
        """Whether the page is still there and answers, and what the product had answered for it.

        Raises:
            ProductError, BrowserError: As with `step`.
        """
        async with self._deadline(timeout_s, "asking the page whether it is there"):
            leaving = self._shown.settler.leaving
            if not leaving and self._beside.dialogs.open is None:  # Chromium or a dialog would hold the question back
                await self._until_stopped(self._ask_status())
            settler = self._shown.settler
            return Standing(self.url, self._status, leaving, self._settled, settler.documents, settler.missing)

    async def downloads(self, patience_s: float = DOWNLOADS_S) -> tuple[Download, ...]:
        """What the product has given away so far, after waiting for what is under way."""
        return await self._beside.downloads.finished(patience_s)

    def follow_network(self) -> None:
        """Keep what the pages send, from now on."""
        page = self._prepared.tab.page
        self._traffic = Traffic(self._prepared.context, page, lambda: self.guard.step)

    async def network(self, timeout_s: float = 10.0) -> tuple[Exchange, ...]:
        """What the pages have sent since `follow_network`; nothing if that was not called.

        Raises:
            ProductError, BrowserError: As with `step`.
        """
        async with self._deadline(timeout_s, "asking the page what it has sent"):
            return await self._traffic.exchanges(self._answering) if self._traffic else ()

    async def view(self, timeout_s: float = 10.0) -> PageView:
        """The page that is shown, as text and as an accessibility tree. Dialogs that hold it are dismissed.

        Raises:
            ProductError, BrowserError: As with `step`; a frame that hangs is the page's.
        """
        async with self._deadline(timeout_s, "reading the page"):
            await self._dismiss()
            return await view(self._shown.settler)

    async def storage(self, timeout_s: float = 10.0) -> State:
        """Cookies, localStorage, sessionStorage and IndexedDB as tables. Dialogs that hold the page are dismissed.

        Raises:
            ProductError, BrowserError: As with `step`; a frame that hangs is the page's.
        """
        async with self._deadline(timeout_s, "reading what the page keeps in the browser"):
            await self._dismiss()
            return await read_storage(self._prepared, self._tabs)

    async def values(self, reads: Mapping[str, str], timeout_s: float = 10.0) -> State:
        """What JavaScript expressions give in the page that is shown, as a table. Dialogs that hold it are dismissed.

        Raises:
            HarnessError: An expression throws.
            ProductError, BrowserError: As with `step`.
        """
        async with self._deadline(timeout_s, "reading values of the page"):
            await self._dismiss()
            return await read_values(self._shown.channel, reads)

    async def begin_documents_with(self, script: str) -> None:
        """Run a script in the pages' own world before those of every document that comes from now on."""
        await self._prepared.context.add_init_script(script)

    async def close(self) -> None:
        """End the context with all its pages, storage and files. Harmless when called twice."""
        if self._work:
            _forgo(self._work)
        self._work = None
        self._beside.close()
        self.left_behind = not self._lost
        try:
            if not self._lost:  # else the browser will be ended, and would answer nothing
                await asyncio.wait_for(self._end_context(), CLOSE_TIMEOUT_S)
                self.left_behind = False
        except (Error, WireError, TimeoutError):
            return  # the browser is gone or will be ended with its process
        finally:
            await self.guard.close()
            self.when_closed()
            await asyncio.to_thread(shutil.rmtree, self._prepared.folder, ignore_errors=True)

    async def _end_context(self) -> None:
        await asyncio.gather(self._pickers.close(), self._prepared.context.close())

    # --- one act -------------------------------------------------------------------------------------------

    async def _open(self, url: str, patience_s: float) -> Frame:
        try:
            error = await asyncio.wait_for(self._shown.settler.navigate(url), patience_s)
        except TimeoutError as exc:
            raise ProductError(f"{url} did not answer within {patience_s:g} s") from exc
        if error:
            raise ProductError(f"{url} could not be opened: {error}")
        frame = await self._see()
        for _ in range(3):  # a large product on a busy machine: the first picture shall not be an empty page
            frame = await self._see() if not frame.settled and self._shown.settler.hope() else frame
        await self._ask_status()
        if self._status >= 400:
            raise ProductError(f"{url} answered with HTTP status {self._status}; expected a page to begin on")
        return frame if not frame.settled or await self._shown.forget_way() else await self._see()

    async def _ask_status(self) -> Frame:
        self._status = await self._shown.settler.status()
        return Frame(self._png, True)

    async def _act(self, action: Action) -> Frame:
        began, tab, dialogs = time.perf_counter(), self._shown, self._beside.dialogs.count
        try:
            async with tab.camera.watched():
                await self._perform(action, tab)
            if self._beside.dialogs.count > dialogs:
                await self._input.let_go(action, tab)
        except (Error, WireError):
            if not await self._tabs.outlives(tab):  # else the act has closed its own tab
                raise
        return await self._see(frames=1 if isinstance(action, Scroll) else 0, began=began)

    async def _perform(self, action: Action, tab: Tab) -> None:
        if is_escape(action) and not self._pickers.kind and await self._beside.escape(tab):
            return
        match action:
            case Goto(url=url):
                await tab.settler.navigate(self._allowed(url))
            case Back():
                await self._back()
            case SwitchTab(index=index):
                await self._tabs.show(self._tabs.open[index])
            case Upload(file=file):
                await self._beside.choosers.answer(file)
            case _ if is_paste(action):
                await self._beside.clipboard.paste(tab, lambda: self._pickers.perform(action, tab, self._input))
            case Key(chord=chord):
                await self._pickers.perform(action, tab, self._input)
                await self._use_shortcut(shortcut(chord), tab)
            case _:
                await self._pickers.perform(action, tab, self._input)
        if isinstance(action, Move) and not self._input.mouse.held:
            await self._tell_tooltip(tab)

    async def _use_shortcut(self, wanted: str, tab: Tab) -> None:
        """Do what a browser does on a key that the page leaves to it; without the grant there is no way back."""
        if not wanted or (wanted != "reload" and Back not in self._grants):
            return
        if not any(await tab.settler.run("leftKey()")):
            return
        if wanted == "reload":
            await tab.settler.reload()
        elif entry := await tab.entry(-1 if wanted == "back" else 1):
            await tab.settler.go_back(entry)

    async def _tell_tooltip(self, tab: Tab) -> None:
        """No picture shows it."""
        if text := next(filter(None, await tab.settler.run("tooltip()")), ""):
            self._beside.add(Event("tooltip", text))

    async def _see(self, frames: int = 0, began: float | None = None) -> Frame:
        """Settle and capture, first the page that is shown and then one that it opened."""
        acted, tab = time.perf_counter(), self._shown
        try:
            async with tab.camera.watched():
                settled = await tab.settler.settle(LIMIT_S, frames)
            await self._beside.rest()
            if self._tabs.arriving:
                settled = await self._tabs.arrive() and settled
            await self._pickers.follow(self._shown)
            calm = time.perf_counter()
            self._png = await self._pickers.over(await self._shown.camera.picture())
        except (Error, WireError):
            if not await self._tabs.outlives(tab):
                raise
            return await self._see(began=began)  # of the tab that is shown now
        marks = (acted if began is None else began, acted, calm, time.perf_counter())
        spent = Spent(*(round((late - early) * 1000, 3) for early, late in pairwise(marks)))
        self._settled = settled
        return Frame(self._png, settled, self._beside.take(), spent, await self._beside.look())

    @property
    def _answering(self) -> Page | None:
        """The page that is shown, unless a dialog holds it."""
        return None if self._beside.dialogs.open else self.page

    async def _catch_up(self) -> None:
        """What was sent so far belongs to the steps so far. A page that hangs is told by the step itself."""
        if self._traffic is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._traffic.catch_up(self._answering), CATCH_UP_S)

    async def _dismiss(self) -> None:
        for _ in range(_DIALOGS):
            if self._beside.dialogs.open is None:
                return
            await self._beside.answer(Dialog(accept=False))
            await asyncio.sleep(0)
        raise BrowserError(f"the page opens one dialog after another: {_DIALOGS} were dismissed")

    async def _still(self) -> Frame:
        """While a dialog holds the page: the last picture, and what is open."""
        if self._beside.crashed:
            raise BrowserError("the page crashed")
        return Frame(self._png, True, self._beside.take(), open=await self._beside.look())

    async def _answer(self, answer: Dialog) -> Frame:
        work, self._work = self._work, None
        await self._beside.answer(answer)
        return await self._until_stopped(work or self._see())

    async def _until_stopped(self, act: Coroutine[Any, Any, Frame] | asyncio.Task[Frame]) -> Frame:
        """The act's frame; the last picture if a dialog, which stops the page, opens before it is done."""
        work = act if isinstance(act, asyncio.Task) else asyncio.create_task(act)
        try:
            waiting: set[asyncio.Future[Any]] = {work, self._beside.stopped}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            frame = await self._still()
            self._work = work
            return frame
        finally:
            if not work.done() and self._work is not work:
                _forgo(work)

    @asynccontextmanager
    async def _deadline(self, seconds: float, doing: str) -> AsyncIterator[None]:
        if self._beside.crashed and self._failure is None:
            self._failure = BrowserError("the page crashed")
        if self._failure is not None:
            raise type(self._failure)(str(self._failure))
        settler = self._shown.settler
        self._documents = settler, settler.documents
        try:
            async with asyncio.timeout(seconds):
                yield
        except (TimeoutError, Error, WireError, BrowserError) as exc:
            self._failure = await self._blamed(exc, f"{doing} at {self.url}", seconds)
            raise self._failure from exc

    async def _blamed(self, exc: Exception, doing: str, seconds: float) -> UIGymError:
        """Whose failure it is. What a page does to itself in a browser that is sound is the product's."""
        if self._beside.crashed:
            return BrowserError(f"during {doing}: the page crashed")
        settler, before = self._documents
        if isinstance(exc, TimeoutError):
            what = f"the page hung: {doing} did not end within {seconds:g} s"
        elif isinstance(exc, PageGone):
            what = f"during {doing}: the page closed itself"
        elif settler.documents - before >= _RESTLESS:
            what = f"during {doing}: the page reloaded itself {settler.documents - before} times"
        else:
            return BrowserError(f"during {doing}: {str(exc).splitlines()[0]}")
        self._lost = not await self.sound()
        if self._lost:
            return BrowserError(f"{what}, and the browser shows no other page either")
        return ProductError(f"{what}, in a browser that is sound")

    # --- granted actions -----------------------------------------------------------------------------------

    def _check(self, action: Action) -> None:
        """Refuse what the present dialog, chooser or tabs do not allow."""
        self._beside.check(action)
        self._input.mouse.check(action)
        tabs = self._tabs.open
        if isinstance(action, SwitchTab) and not (isinstance(action.index, int) and 0 <= action.index < len(tabs)):
            raise ActionRefused(f"switchtab: there are {len(tabs)} tabs, counted from 0; no tab {action.index!r}")
        if isinstance(action, Goto):
            self._allowed(action.url)

    def _allowed(self, url: str) -> str:
        address = urljoin(self.url if urlsplit(self.url).scheme.startswith("http") else self._base_url, str(url))
        if urlsplit(address).scheme not in ("http", "https"):
            self.guard.refuse(address, "goto opens http and https addresses only", "scheme")
            raise ActionRefused(f"goto: only http and https addresses can be opened, not {url!r}")
        if not self.guard.allows(address):
            self.guard.refuse(address, "neither the product nor an origin that its harness allows", "origin")
            raise ActionRefused(f"goto: this address cannot be reached from here: {url!r}")
        return address

    async def _back(self) -> None:
        entry = await self._shown.entry(-1)
        if entry is None:
            raise ActionRefused("back: this is the first page")
        await self._shown.settler.go_back(entry)


def _forgo(work: asyncio.Task[Frame]) -> None:
    """End an act whose frame nobody waits for, be it an error."""
    work.cancel()
    work.add_done_callback(lambda done: done.cancelled() or done.exception())


async def _unknown() -> bool:
    return False
