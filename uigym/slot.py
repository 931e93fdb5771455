"""What environments run on: a product of one's own, and a fresh session of a shared browser for each episode."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import httpx

from uigym.browser import Browser, Frame, Session
from uigym.errors import BrowserError, ProductError, UIGymError, attribute
from uigym.harness import Harness
from uigym.product import Product
from uigym.surroundings import Surroundings
from uigym.types import State

T = TypeVar("T")
_log = logging.getLogger(__name__)
GRACE_S = 30.0
"""The browser and the product keep their own deadlines; this much later they are no longer waited for."""
ANSWER_S = 10.0
"""How long a product that seems to hang may take to answer at the end of an episode."""
_CLOSE_S = 5.0
_RESETS = 3
"""How often a reset is done over because something wrote into the product meanwhile."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How long things may take, in seconds, and how much a policy may get wrong."""

    step_s: float = 10.0
    """One action and the picture after it."""
    reset_s: float = 60.0
    """Each part of a reset: the product's data, the browser session, the first page."""
    episode_s: float = 600.0
    """All steps of an episode together, without the policy's own thinking; then it stops by `timeout`."""
    act_s: float = 300.0
    """One decision of a policy, in a rollout; a policy that takes longer has failed, not chosen badly."""
    attempt_s: float = 3600.0
    """All of an episode in a rollout, thinking included; then it is lost to whatever took longest."""
    max_steps: int | None = None
    """Actions in an episode; None is the task's own limit."""
    max_invalid: int = 5
    """Refused actions in a row; then the episode stops by `invalid_actions`."""

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if value is not None and not value > 0:
                raise ValueError(f"the limit {item.name} must be positive, not {value!r}")


DEFAULT_LIMITS = Limits()


class Sessions(Protocol):
    """Where browser sessions come from: a `Browser`, or one that is kept alive."""

    async def session(
        self,
        *,
        base_url: str,
        viewport: tuple[int, int] = ...,
        grants: tuple[type, ...] = (),
        surroundings: Surroundings | None = None,
    ) -> Session: ...


class Slot:
    """One product and one session at a time; a browser and a product that are given are left running."""

    def __init__(self, harness: Harness, browser: Sessions | None, product: Product | None, limits: Limits):
        self.harness = harness
        self.limits = limits
        self._given_browser = browser
        self._own_browser: Browser | None = None
        self._product = product
        self._owns_product = product is None
        self._session: Session | None = None
        self._retiring: asyncio.Task[None] | None = None
        self._restless = False
        self._client = httpx.AsyncClient(
            trust_env=False, verify=False, timeout=ANSWER_S, limits=httpx.Limits(max_keepalive_connections=0)
        )

    @property
    def session(self) -> Session:
        """The session of the running episode."""
        if self._session is None:
            raise RuntimeError("no browser session: call reset first; a session ends with its episode")
        return self._session

    @property
    def product(self) -> Product:
        """The product under use."""
        if self._product is None:
            raise RuntimeError("the product is not started: call start or reset first")
        return self._product

    async def start(self) -> None:
        """Start what is not running.

        Raises:
            ProductError, BrowserError: It did not start.
        """
        if self._product is None:
            product = Product(self.harness)
            await product.start()
            self._product = product
        if self._given_browser is None and not (self._own_browser and self._own_browser.alive):
            await self._close_browser()
            self._own_browser = await Browser.launch()

    async def begin(self, seed: int) -> tuple[State, Frame]:
        """The product with a seed's data, and a fresh session that shows its first page.

        The old page is gone before the new data come; yet a request that it sent may still be at work in the product.
        So the data are read again once the first page is open, and where they have changed all is done over. A product
        whose data still change after that does it by itself; it is not looked at again.

        Raises:
            ProductError, BrowserError: One of them failed.
        """
        home = self.harness.home
        for _ in range(_RESETS):
            self.retire()
            state = await self._prepare(seed)
            opening = self.session.open(home)
            frame = await within(self.limits.reset_s, BrowserError, f"opening {home}", opening)
            if self._restless or await self.read_state() == state:
                return state, frame
        self._restless = True
        _log.info("the data of %s change when its first page is opened", self.harness.name)
        return state, frame

    async def _prepare(self, seed: int) -> State:
        opening = asyncio.create_task(self._open_session())
        doing = f"resetting {self.harness.name} to seed {seed}"
        try:
            await self._retired()
            state = await within(self.limits.reset_s, ProductError, doing, self.product.reset(seed))
            await opening
            return state
        finally:
            if not opening.done():
                opening.cancel()
            await asyncio.wait([opening])
            if not opening.cancelled() and (error := opening.exception()):
                _log.debug("no session: %s", error)

    async def read_state(self) -> State:
        """The product's state now.

        Raises:
            ProductError: It cannot be read, or the product is gone.
        """
        doing = f"reading the state of {self.harness.name}"
        return await within(self.limits.reset_s, ProductError, doing, self.product.read_state())

    async def check(self) -> None:
        """Make sure that what the episode ran on is still there, and was to its end.

        Raises:
            ProductError: The product no longer listens, does not answer, or shows an error of its own.
            BrowserError: The page is gone, or does not answer.
        """
        if self._product is not None:
            await self._check_product(self._product.base_url)
        if self._session is not None:
            step_s = self.limits.step_s
            page = await within(step_s + GRACE_S, BrowserError, "asking the page", self._session.standing(step_s))
            if page.url.startswith("chrome-error:"):
                raise ProductError(f"{self.harness.name} broke off: the page that it was asked for did not come")
            if page.status >= 500:
                raise ProductError(f"{self.harness.name} answered {page.url} with HTTP status {page.status}")

    async def _check_product(self, base_url: str) -> None:
        """A product that hangs still listens, so it is asked for a page."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._client.get(base_url + self.harness.ready)
        except httpx.ConnectError as exc:
            raise ProductError(f"{self.harness.name} no longer listens at {base_url}") from exc
        except (httpx.HTTPError, TimeoutError) as exc:
            asked = f"asking it for {self.harness.ready}: {type(exc).__name__} {exc}"
            raise ProductError(f"{self.harness.name} hangs or broke off; {asked}") from exc

    async def broken(self) -> UIGymError | None:
        """The error of whatever is gone; None if all is there, or nothing was started."""
        try:
            if self._product is not None:
                await self.read_state()
            await self.check()
        except (ProductError, BrowserError) as exc:
            return exc
        return None

    def retire(self) -> None:
        """Let the session close by itself while other things happen."""
        if self._session is not None:
            self._retiring = asyncio.create_task(_close_session(self._session, self._retiring))
            self._session = None

    async def doubt_browser(self) -> None:
        """An episode was lost to the browser: replace it if it is ours alone, else tell whose it is."""
        if isinstance(self._given_browser, SteadyBrowser):
            self._given_browser.doubt()
        await self._close_browser()

    async def replace_product(self) -> None:
        """Stop a product that failed, if it is ours; the next `start` starts another."""
        try:
            await self._stop_product()
        except UIGymError as exc:
            _log.warning("a product that had failed did not stop either: %s", exc)

    async def close(self) -> None:
        """End the session, and the product and the browser that were started here."""
        self.retire()
        try:
            await self._retired()
        finally:
            try:
                await self._stop_product()
            finally:
                await self._close_browser()
                await self._client.aclose()

    async def _open_session(self) -> None:
        browser = self._given_browser or self._own_browser
        assert browser is not None
        harness = self.harness
        opening = browser.session(
            base_url=self.product.base_url,
            viewport=harness.viewport,
            grants=tuple(harness.grants),
            surroundings=harness.surroundings,
        )
        self._session = await within(self.limits.reset_s, BrowserError, "opening a browser session", opening)

    async def _retired(self) -> None:
        if self._retiring is not None:
            await asyncio.wait([self._retiring])  # who is cancelled here does not cancel the closing
            self._retiring = None

    async def _stop_product(self) -> None:
        if self._owns_product and self._product is not None:
            product, self._product = self._product, None
            await product.stop()

    async def _close_browser(self) -> None:
        if self._own_browser is not None:
            browser, self._own_browser = self._own_browser, None
            await browser.close()


@dataclass(eq=False)
class _Shift:
    """One Chromium's time of service."""

    browser: Browser
    born: float
    served: int = 0
    failures: int = 0
    open: set[Session] = field(default_factory=set)


class SteadyBrowser:
    """A browser that is always there: launched anew after a crash, relieved when it has served or failed for long.

    A browser that is relieved ends once its last session is closed.
    """

    def __init__(self, *, max_sessions: int = 500, max_age_s: float = 3600.0, max_failures: int = 5):
        """
        Args:
            max_sessions: A browser that has opened so many is relieved.
            max_age_s: So is one that is older.
            max_failures: So is one that so many episodes were lost to, though it still runs.
        """
        self.max_sessions = max_sessions
        self.max_age_s = max_age_s
        self.max_failures = max_failures
        self._shift: _Shift | None = None
        self._changing = asyncio.Lock()
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
    ) -> Session:
        """A fresh session of a browser that is alive.

        Raises:
            BrowserError: None could be had.
        """
        shift = await self._on_duty()
        shift.served += 1
        session = await shift.browser.session(
            base_url=base_url, viewport=viewport, grants=grants, surroundings=surroundings
        )
        shift.open.add(session)
        told = session.when_closed

        def closed() -> None:
            told()
            shift.open.discard(session)
            if shift is not self._shift and not shift.open:
                self._end(shift)

        session.when_closed = closed
        return session

    async def close(self) -> None:
        """End all browsers that were started here."""
        if self._shift is not None:
            self._end(self._shift)
            self._shift = None
        await asyncio.gather(*self._leaving, return_exceptions=True)

    def doubt(self) -> None:
        """An episode was lost to the browser."""
        if self._shift is not None:
            self._shift.failures += 1

    async def _on_duty(self) -> _Shift:
        async with self._changing:
            old = self._shift
            if old is not None and old.browser.alive and not self._is_over(old):
                return old
            self._shift = _Shift(await Browser.launch(), time.monotonic())
            if old is not None and not (old.open and old.browser.alive):
                self._end(old)
            return self._shift

    def _is_over(self, shift: _Shift) -> bool:
        worn = shift.served >= self.max_sessions or shift.failures >= self.max_failures
        return worn or time.monotonic() - shift.born >= self.max_age_s

    def _end(self, shift: _Shift) -> None:
        task = asyncio.create_task(shift.browser.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


async def within(seconds: float, error: type[UIGymError], doing: str, work: Awaitable[T]) -> T:
    """Wait for the work, but no longer than `seconds`; what goes wrong becomes `error`, unless it is uigym's own."""
    try:
        async with asyncio.timeout(seconds):
            with attribute(error, doing):
                return await work
    except TimeoutError as exc:
        raise error(f"{doing}: not finished within {seconds:g} s") from exc


async def _close_session(session: Session, before: asyncio.Task[None] | None) -> None:
    if before is not None:
        await asyncio.wait([before])
    try:
        async with asyncio.timeout(_CLOSE_S):
            await session.close()
    except Exception as exc:  # it goes with its browser
        _log.debug("a session did not close: %s", exc)
