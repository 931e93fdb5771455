"""What environments run on: a product of one's own, and a fresh session of a shared browser for each episode."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import httpx

from uigym.browser import Browser, Frame, Session, Standing
from uigym.errors import BrowserError, ProductError, UIGymError, attribute
from uigym.harness import Harness
from uigym.product import Product
from uigym.steady import SteadyBrowser as SteadyBrowser
from uigym.surroundings import Surroundings
from uigym.types import Complaint, Refusal, State

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
    def console(self) -> tuple[Complaint, ...]:
        """What the pages of the running episode complained of."""
        return self._session.complaints() if self._session else ()

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

    async def begin(self, seed: int, home: Callable[[State], str]) -> tuple[State, Frame]:
        """The product with a seed's data, and a fresh session that shows the first page.

        The old page is gone before the new data come; yet a request that it sent may still be at work in the product.
        So the data are read again once the first page is open, and where they have changed all is done over. A product
        whose data still change after that does it by itself; it is not looked at again.

        Args:
            seed: Fixes the data.
            home: Gives the path of the first page, from the product's state.

        Raises:
            ProductError, BrowserError: One of them failed.
        """
        for _ in range(_RESETS):
            self.retire()
            state = await self._prepare(seed)
            limit_s, path = self.limits.reset_s, home(state)
            opening = self.session.open(path, timeout_s=limit_s)
            frame = await within(limit_s + GRACE_S, BrowserError, f"opening {path}", opening)
            if self._restless or await self.read_state() == state:
                return state, frame
        self._restless = True
        _log.info("the data of %s change when its first page is opened", self.harness.name)
        return state, frame

    async def _prepare(self, seed: int) -> State:
        opening = asyncio.create_task(self._open_session(seed))
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

    async def read_browser(self) -> State:
        """The tables of what the pages keep and say in the browser; none but those that the harness asks for.

        Raises:
            ProductError, BrowserError: A page hangs, or the browser is gone.
            HarnessError: A value of the page cannot be read.
        """
        limit_s, state = self.limits.step_s, State()
        if "storage" in self.harness.watch:
            keeping = self.session.storage(limit_s)
            state = await within(limit_s + GRACE_S, BrowserError, "reading the storage", keeping)
        return state.beside(await self._values(self.harness.reads))

    async def is_over(self) -> bool:
        """Whether the page says that the episode is over, by the value that `Harness.until` names.

        Raises:
            ProductError, BrowserError, HarnessError: As with `read_browser`.
        """
        until = self.harness.until
        if not until:
            return False
        said = await self._values({until: self.harness.reads[until]})
        return any(row["value"] for rows in said.tables.values() for row in rows)

    async def _values(self, reads: Mapping[str, str]) -> State:
        if not reads:
            return State()
        limit_s = self.limits.step_s
        reading = self.session.values(reads, limit_s)
        return await within(limit_s + GRACE_S, BrowserError, "reading values of the page", reading)

    async def read_watched(self) -> dict[str, Any]:
        """What else the harness watches: values of an episode's fields `network` and `page`.

        Raises:
            ProductError, BrowserError: A page hangs, or the browser is gone.
        """
        limit_s, found = self.limits.step_s, dict[str, Any]()
        if "network" in self.harness.watch:
            asking = self.session.network(limit_s)
            found["network"] = await within(limit_s + GRACE_S, BrowserError, "reading what was sent", asking)
        if "page" in self.harness.watch:
            found["page"] = await within(
                limit_s + GRACE_S, BrowserError, "reading the page", self.session.view(limit_s)
            )
        return found

    async def check(self) -> None:
        """Make sure that what the episode ran on is still there, and was to its end.

        Raises:
            ProductError: The product no longer listens, does not answer, or shows an error of its own.
            BrowserError: The page is gone, or does not answer.
        """
        if self._product is not None:
            for product in self._product.all:
                await self._check_product(product)
        if self._session is not None:
            page = await self._standing(self._session)
            ours = tuple(f"{product.base_url}/" for product in self.product.all)
            elsewhere = page.missing and not page.missing.startswith(ours)
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

    async def _check_product(self, product: Product) -> None:
        """A product that hangs still listens, so it is asked for a page."""
        name, ready = product.harness.name, product.harness.ready
        try:
            async with asyncio.timeout(ANSWER_S), self._client.stream("GET", product.base_url + ready):
                return  # the answer has begun, and may be long
        except httpx.ConnectError as exc:
            raise ProductError(f"{name} no longer listens at {product.base_url}") from exc
        except (httpx.HTTPError, TimeoutError) as exc:
            raise ProductError(f"{name} hangs or broke off; asking it for {ready}: {type(exc).__name__} {exc}") from exc

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

    async def _open_session(self, seed: int) -> None:
        browser = self._given_browser or self._own_browser
        assert browser is not None
        harness = self.harness
        opening = browser.session(
            base_url=self.product.base_url,
            viewport=harness.viewport,
            grants=tuple(harness.grants),
            surroundings=harness.surroundings,
            allow=(*harness.allow, *(other.base_url for other in self.product.beside.values())),
            watch=tuple(harness.watch),
        )
        self._session = await within(self.limits.reset_s, BrowserError, "opening a browser session", opening)
        if harness.init:
            beginning = self._session.begin_documents_with(f"((seed) => {{\n{harness.init}\n}})({seed});")
            await within(self.limits.reset_s, BrowserError, "preparing the pages", beginning)

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
