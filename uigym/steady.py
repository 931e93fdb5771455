"""A browser that is always there."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field

from uigym.browser import Browser, Session
from uigym.browser.orphans import memory_bytes
from uigym.surroundings import Surroundings

_log = logging.getLogger(__name__)
_YOUNG = 20
"""A browser that has served fewer sessions is not relieved for its memory."""
_WEIGH_S = 10.0
"""How often a browser's memory is looked at."""
_MIB = 1 << 20


@dataclass(eq=False)
class _Shift:
    """One Chromium's time of service."""

    browser: Browser
    born: float
    served: int = 0
    failures: int = 0
    left: int = 0
    """Contexts that did not close."""
    doubted: bool = False
    """An episode was lost to it, and it was not asked since whether it is sound."""
    weighed: float = 0.0
    """When its memory was looked at."""
    open: set[Session] = field(default_factory=set)


class SteadyBrowser:
    """A browser that is always there: launched anew after a crash or a hang, relieved when it is worn.

    A browser that is relieved ends once its last session is closed; one that hangs ends at once.
    """

    def __init__(
        self,
        *,
        max_sessions: int = 500,
        max_age_s: float = 3600.0,
        max_failures: int = 5,
        max_left: int = 3,
        max_memory_mb: float = 4096.0,
    ):
        """
        Args:
            max_sessions: A browser that has opened so many is relieved.
            max_age_s: So is one that is older.
            max_failures: So is one that so many episodes were lost to, though it still runs.
            max_left: So is one in which so many contexts would not close.
            max_memory_mb: So is one whose processes take more together (PSS, MiB), if it has served 20 sessions: a
                younger one needs so much for what it is doing.
        """
        self.max_sessions = max_sessions
        self.max_age_s = max_age_s
        self.max_failures = max_failures
        self.max_left = max_left
        self.max_memory_mb = max_memory_mb
        self._shift: _Shift | None = None
        self._changing = asyncio.Lock()
        self._launching: asyncio.Task[Browser] | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Launch the browser, unless it runs.

        Raises:
            BrowserError: It did not start.
        """
        await self._on_duty()

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
        """A fresh session of a browser that is alive.

        Raises:
            BrowserError: None could be had.
        """
        shift = await self._on_duty()
        shift.served += 1
        session = await shift.browser.session(
            base_url=base_url,
            viewport=viewport,
            grants=grants,
            surroundings=surroundings,
            allow=allow,
            watch=watch,
        )
        shift.open.add(session)
        told = session.when_closed

        def closed() -> None:
            told()
            shift.open.discard(session)
            shift.left += session.left_behind
            if shift is not self._shift and not shift.open:
                self._end(shift)

        session.when_closed = closed
        return session

    async def close(self) -> None:
        """End all browsers that were started here."""
        if self._shift is not None:
            self._end(self._shift)
            self._shift = None
        if self._launching is not None:
            self._launching.cancel()
            await asyncio.wait([self._launching])
        await asyncio.gather(*self._leaving, return_exceptions=True)

    def doubt(self, session: Session | None = None) -> None:
        """An episode was lost to the browser of a session, or to one that gave none."""
        shift = self._shift
        if shift is not None and (session is None or session in shift.open):
            shift.failures += 1
            shift.doubted = True

    async def _on_duty(self) -> _Shift:
        async with self._changing:
            old = self._shift
            sound = old is not None and await self._is_sound(old)
            if old is not None and sound and not await self._is_worn(old):
                return old
            self._shift = _Shift(await self._launch(), time.monotonic())
            if old is not None and not (old.open and sound):
                self._end(old)
            return self._shift

    async def _launch(self) -> Browser:
        """A new browser. Who is cancelled meanwhile leaves it to whoever comes next: on a busy machine it takes long."""
        launching = self._launching = self._launching or asyncio.create_task(Browser.launch())
        await asyncio.wait([launching])
        self._launching = None
        return launching.result()

    async def _is_sound(self, shift: _Shift) -> bool:
        if not shift.doubted or not shift.browser.alive:
            return shift.browser.alive
        shift.doubted = not await shift.browser.sound()
        return not shift.doubted

    async def _is_worn(self, shift: _Shift) -> bool:
        counts = ((shift.served, self.max_sessions), (shift.failures, self.max_failures), (shift.left, self.max_left))
        old = time.monotonic() - shift.born >= self.max_age_s
        return old or any(count >= most for count, most in counts) or await self._is_heavy(shift)

    async def _is_heavy(self, shift: _Shift) -> bool:
        now = time.monotonic()
        if shift.served < _YOUNG or now - shift.weighed < _WEIGH_S:
            return False
        shift.weighed = now
        taken = await asyncio.to_thread(memory_bytes, shift.browser.pid)
        _log.debug("browser %d takes %.0f MiB", shift.browser.pid, taken / _MIB)
        return taken > self.max_memory_mb * _MIB

    def _end(self, shift: _Shift) -> None:
        task = asyncio.create_task(shift.browser.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
