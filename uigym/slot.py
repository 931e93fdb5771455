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

from uigym.browser import Browser, Frame, Session, Standing
from uigym.browser.orphans import memory_bytes
from uigym.errors import BrowserError, ProductError, UIGymError, attribute
from uigym.harness import Harness
from uigym.product import Product
from uigym.surroundings import Surroundings
from uigym.types import Refusal, State

T = TypeVar("T")
_log = logging.getLogger(__name__)
GRACE_S = 30.0
"""The browser and the product keep their own deadlines; this much later they are no longer waited for."""
ANSWER_S = 10.0
"""How long a product that seems to hang may take to answer at the end of an episode."""
_CLOSE_S = 6.0
_POLL_S = 0.05
_REST_S = 1.0
"""A page that was not at rest at the end of its episode is looked at for so long ..."""
_RELOADS = 3
"""... and if it shows so many documents meanwhile, it never comes to rest."""
_YOUNG = 20
"""A browser that has served fewer sessions is not relieved for its memory."""
_WEIGH_S = 10.0
"""How often a browser's memory is looked at."""
_MIB = 1 << 20
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
    judge_s: float = 60.0
    """A task's function and its samplers, and a verdict; what takes longer is the harness's or the verifier's failure."""
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
        allow: tuple[str, ...] = (),
        watch: tuple[str, ...] = (),
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
    def refusals(self) -> tuple[Refusal, ...]:
        """What the pages of the running episode wanted to reach and were not let to."""
        return self._session.guard.refusals if self._session else ()

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
            limit_s = self.limits.reset_s
            opening = self.session.open(home, timeout_s=limit_s)
            frame = await within(limit_s + GRACE_S, BrowserError, f"opening {home}", opening)
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
            page = await self._standing(self._session)
            elsewhere = page.missing and not page.missing.startswith(f"{self.product.base_url}/")
            if page.url.startswith("chrome-error:") and not elsewhere:
                raise ProductError(f"{self.harness.name} broke off: the page that it was asked for did not come")
            if page.status >= 500:
                raise ProductError(f"{self.harness.name} answered {page.url} with HTTP status {page.status}")

    async def _standing(self, session: Session) -> Standing:
        """Where the page stands; what it has asked for last may take its time, but comes."""
        step_s, end, first = self.limits.step_s, time.monotonic() + ANSWER_S, None
        while True:
            page = await within(step_s + GRACE_S, BrowserError, "asking the page", session.standing(step_s))
            if not page.settled and first is None:
                first = page
                await asyncio.sleep(_REST_S)
                continue
            if first is not None and page.documents - first.documents >= _RELOADS:
                raise ProductError(f"{self.harness.name} has a page that reloads itself without end: {page.url}")
            if not page.leaving:
                return page
            if time.monotonic() > end:
                raise ProductError(f"{self.harness.name} was asked for another page, which did not come: at {page.url}")
            await asyncio.sleep(_POLL_S)

    async def _check_product(self, base_url: str) -> None:
        """A product that hangs still listens, so it is asked for a page."""
        try:
            async with asyncio.timeout(ANSWER_S), self._client.stream("GET", base_url + self.harness.ready):
                return  # the answer has begun, and may be long
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
        """The episode was lost to the browser: replace it if it is ours alone, else tell whose it is."""
        if isinstance(self._given_browser, SteadyBrowser):
            self._given_browser.doubt(self._session)
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
            allow=tuple(harness.allow),
            watch=tuple(harness.watch),
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
