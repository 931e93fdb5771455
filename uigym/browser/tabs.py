"""The windows of one session: which are open, which one is shown, which are on their way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Error, Page

from uigym.browser.capture import Route
from uigym.browser.guard import Guard
from uigym.browser.tab import Tab
from uigym.browser.wire import Wire, WireError
from uigym.types import Event

ARRIVAL_S = 2.0
"""How long to wait for a window that a page has opened, and for one that it has closed."""
MAX_TABS = 20
"""A window beyond so many is closed at once."""


@dataclass(frozen=True)
class Prepared:
    """A context that no episode has used yet, with one empty page."""

    context: BrowserContext
    tab: Tab
    wire: Wire
    route: Route
    settling: str
    """Source of settle.js for further pages of this context."""
    screen: dict[str, Any]
    """Parameters of CDP's setDeviceMetricsOverride for every page."""
    folder: Path
    """What the context leaves on the disk: its downloads, its files. Goes when it is closed."""
    pasting: asyncio.Lock
    """Of the browser: held while Chromium's clipboard, which all contexts share, is in use."""
    guard: Guard
    """What the context's pages may reach. Ends with it."""


class Tabs:
    """Follows the windows of a context by Chromium's own reports, which come before the opener goes on.

    A new window is shown as soon as its document is there. When the shown one closes, the one that was shown before
    takes its place.
    """

    def __init__(self, prepared: Prepared, watch: Callable[[Tab], None], report: Callable[[Event], None]):
        """
        Args:
            prepared: The context.
            watch: Called with every new tab before it is shown.
            report: Takes what a person would be told.
        """
        first = prepared.tab
        self._size = first.page.viewport_size or {"width": 1280, "height": 720}
        self.open = [first]
        """In the order of opening."""
        self._recent = [first]  # the shown one is the last
        self._last = first  # of those that were ever shown
        self._prepared = prepared
        self._watch, self._report = watch, report
        self._seen = {first.target: ("", "")}  # every window there ever was -> address, title
        self._coming: set[str] = set()  # open, but without a tab
        self._new: list[Tab] = []  # not reported yet
        self._dropped: set[str] = set()  # closed by us: one too many, or empty but for the download that it began
        self._gone: set[str] = set()
        self._adopting: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._aside = False  # a page of ours is being opened
        self._behind = False  # Chromium has not been told yet which one is shown
        listen = prepared.wire.listen
        self._deaf = [
            listen("", "Target.targetCreated", lambda e: self._created(e["targetInfo"])),
            listen("", "Target.targetInfoChanged", lambda e: self._told(e["targetInfo"])),
            listen("", "Target.targetDestroyed", lambda e: self._destroyed(e["targetId"])),
        ]
        prepared.context.on("page", self._on_page)

    @property
    def shown(self) -> Tab:
        """The one in the picture; the last one if none is open."""
        return self._recent[-1] if self._recent else self._last

    @property
    def arriving(self) -> bool:
        """Whether a window was opened or closed since the last `arrive`."""
        return bool(self._coming or self._new or self._behind)

    def knows(self, frame: str) -> bool:
        """Whether a frame is the main frame of a window that is or was open here, or a frame inside an open one."""
        return frame in self._seen or any(tab.settler.has(frame) for tab in self.open)

    async def show(self, tab: Tab) -> None:
        """Bring a tab to the front."""
        self._behind = False
        await tab.page.bring_to_front()
        self._recent = [*(other for other in self._recent if other is not tab), tab]
        self._last = tab

    async def arrive(self) -> bool:
        """Wait for the windows that were opened, and for the newest to settle; whether all has come to rest."""
        there = await self._wait(lambda: not self._coming)
        for target in self._coming:
            if target in self._dropped:
                self._close(target)
            else:
                self._report(Event("tab", "its document does not come", "coming"))
        self._coming.clear()
        if self._behind and self.open:
            await self.show(self.shown)
        async with self.shown.camera.watched():
            settled = await self.shown.settler.settle()
        new, self._new = self._new, []
        for tab in new:
            self._report(Event("tab", await self.title(tab), "opened"))
        return settled and there

    async def outlives(self, tab: Tab) -> bool:
        """Whether a tab that no longer answers was closed while another one stays open."""
        await self._wait(lambda: tab not in self.open)
        return tab not in self.open and bool(self.open)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While a page is opened that is ours, and no window of the session."""
        self._aside = True
        try:
            yield
        finally:
            self._aside = False

    async def title(self, tab: Tab) -> str:
        """What its handle reads, as Chromium knows it; empty if it is gone."""
        try:
            reply = await self._prepared.wire.post("", "Target.getTargetInfo", {"targetId": tab.target})
        except WireError:
            return self._seen[tab.target][1]
        return str(reply["targetInfo"]["title"])

    def drop_blank(self, target: str) -> None:
        """Close a window that has begun a download and never had a document, as a desktop browser does."""
        address, _ = self._seen.get(target, ("none", ""))
        if target != self._prepared.tab.target and address in ("", "about:blank", ":"):
            self._dropped.add(target)
            self._close(target)

    def close(self) -> None:
        """Follow no more."""
        for task in self._adopting:
            task.cancel()
        for deaf in self._deaf:
            deaf()

    # --- what Chromium reports -----------------------------------------------------------------------------

    def _created(self, info: dict[str, Any]) -> None:
        target = info["targetId"]
        if self._aside and not info.get("openerId"):
            return
        if info.get("browserContextId") != self._prepared.tab.context or info["type"] != "page" or target in self._seen:
            return
        self._seen[target] = info["url"], info["title"]
        if len(self.open) + len(self._coming - self._dropped) >= MAX_TABS:
            self._dropped.add(target)  # and closed once it is whole: before that, its opener would wait for ever
            self._report(Event("tab", f"closed at once: {MAX_TABS} tabs are open already", "refused"))
        self._coming.add(target)

    def _close(self, target: str) -> None:
        self._prepared.wire.tell("", "Target.closeTarget", {"targetId": target})

    def _told(self, info: dict[str, Any]) -> None:
        if info["targetId"] in self._seen:
            self._seen[info["targetId"]] = info["url"], info["title"]

    def _destroyed(self, target: str) -> None:
        if target in self._coming and target not in self._dropped:  # it lived so briefly that nobody has seen it
            self._report(Event("tab", "", "opened"))
            self._report(Event("tab", "", "closed"))
        self._coming.discard(target)
        self._gone.add(target)
        for tab in [tab for tab in self.open if tab.target == target]:
            self._remove(tab)
        self._changed.set()

    def _remove(self, tab: Tab) -> None:
        self._behind = self._behind or tab is self.shown
        self.open.remove(tab)
        self._recent = [other for other in self._recent if other is not tab]
        title = self._seen[tab.target][1]
        if tab.target not in self._dropped:
            if tab in self._new:
                self._report(Event("tab", title, "opened"))
            self._report(Event("tab", title, "closed"))
        self._new = [other for other in self._new if other is not tab]

    def _on_page(self, page: Page) -> None:
        if self._aside:
            return
        task = asyncio.get_running_loop().create_task(self._adopt(page))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)

    async def _adopt(self, page: Page) -> None:
        try:
            prepared = self._prepared
            tab = await Tab.attach(page, prepared.wire, prepared.route, prepared.settling, prepared.screen)
            if tab.target in self._dropped:
                self._close(tab.target)
                return
            self._watch(tab)
            if page.viewport_size != self._size:  # a script may ask for any; a person would enlarge the window
                await page.set_viewport_size(self._size)
            await page.bring_to_front()
            self._place(tab)
        except (Error, WireError):
            return  # closed again before it was ready
        finally:
            self._changed.set()

    def _place(self, tab: Tab) -> None:
        """Show a new tab, unless one that was opened after it is shown already."""
        self._coming.discard(tab.target)
        if tab.target in self._gone | self._dropped:
            return
        order = list(self._seen)
        above = order.index(self.shown.target) > order.index(tab.target)
        self.open = sorted([*self.open, tab], key=lambda one: order.index(one.target))
        self._recent.insert(len(self._recent) - above, tab)
        self._last = self.shown
        self._behind = above
        self._new.append(tab)

    async def _wait(self, over: Callable[[], bool]) -> bool:
        try:
            async with asyncio.timeout(ARRIVAL_S):
                while not over():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True
