"""Many episodes at once: slots, shared browsers, deadlines, retries.

A slot is one environment with its own product. Episodes are the unit of scheduling: a slot that ends one begins the
next at once. What the machinery breaks is repaired and the episode is run again; what stays broken becomes one
failure record, and too many of them stop the run.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter, deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Coroutine,
    Iterable,
    Iterator,
    MutableMapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from uigym.busy import Busy
from uigym.deadlines import Deadlines
from uigym.env import CAUSES, Env
from uigym.errors import (
    BrowserError,
    ConfigError,
    HarnessError,
    PolicyError,
    StoreError,
    UIGymError,
    attribute,
)
from uigym.harness import Harness, Split
from uigym.policy import EpisodePolicy, Policy, policy_name
from uigym.request import Finished as Finished
from uigym.request import Guest
from uigym.request import Request as Request
from uigym.slot import DEFAULT_LIMITS, Limits, SteadyBrowser
from uigym.store import EpisodeWriter, RunStore
from uigym.types import Action, Cause, Decision, Failure, Observation, State

_log = logging.getLogger(__name__)
SLOTS_PER_BROWSER = 4
_RETRIED = (Cause.PRODUCT, Cause.BROWSER, Cause.POLICY)
"""What may work the next time; a harness or a verifier that is wrong stays wrong."""
_WINDOW = 20
"""Attempts that the circuit breaker looks back on."""
_ERRORS = {cause: kind for kind, cause in CAUSES.items()}
Digests = dict[str, str]
"""Of an initial state, by table."""


class Pool:
    """Slots that live as long as the pool; `run` may be called again and again.

    Example:
        >>> async def success(harness, policy, requests):  # doctest: +SKIP
        ...     async with Pool(harness, slots=8) as pool:
        ...         return [done.episode.verdict async for done in pool.run(policy, requests)]
    """

    def __init__(
        self,
        harness: Harness,
        *,
        slots: int = 4,
        browsers: int | None = None,
        limits: Limits = DEFAULT_LIMITS,
        retries: int = 2,
        max_failure_rate: float = 0.3,
    ):
        """
        Args:
            harness: The product and its tasks.
            slots: Episodes at once; each has its own product.
            browsers: Chromium processes that the slots share; None is one for every four slots.
            limits: Deadlines of steps, resets and decisions.
            retries: How often an episode is run again that was lost to product, browser or policy.
            max_failure_rate: A larger share of failures among the last 20 or more attempts stops the run; 1 never does.

        Raises:
            ConfigError: A number cannot be used, or the slots would share one product's data.
        """
        if slots < 1 or (browsers is not None and browsers < 1) or retries < 0:
            raise ConfigError(
                f"a pool needs slots >= 1, browsers >= 1 and retries >= 0, not {slots}, {browsers}, {retries}"
            )
        if harness.alone and slots > 1:
            raise ConfigError(
                f"{harness.name} is a product that runs already ({harness.url or 'beside it'}): {slots} slots would share its data. Use slots=1."
            )
        self.harness = harness
        self.limits = limits
        self.retries = retries
        self.max_failure_rate = max_failure_rate
        self.busy = Busy()
        """Slots by phase: "acting" while the environment works, "deciding" while the policy does."""
        self.deadlines = Deadlines()
        self.guests: dict[Env, Guest] = {}
        """Who may take the policy's place, by slot."""
        self.tripped = 0
        """How often too many losses have stopped a run."""
        count = browsers or math.ceil(slots / SLOTS_PER_BROWSER)
        self._browsers = [SteadyBrowser() for _ in range(count)]
        self._envs = [Env(harness, self._browsers[i % count], limits=limits) for i in range(slots)]
        self._free: asyncio.Queue[Env] = asyncio.Queue()
        self._open = False
        self._workers: set[asyncio.Task[None]] = set()
        self._recent: deque[Failure | None] = deque(maxlen=_WINDOW)

    @property
    def slots(self) -> int:
        """Episodes at once."""
        return len(self._envs)

    @property
    def envs(self) -> Sequence[Env]:
        """The slots' environments, for those who look on."""
        return tuple(self._envs)

    async def __aenter__(self) -> Self:
        try:
            await _all(*(env.start() for env in self._envs), *(browser.start() for browser in self._browsers))
        except BaseException:
            await self.close()
            raise
        for env in self._envs:
            self._free.put_nowait(env)
        self._open = True
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop what runs, and end every session, product and browser; also if it is cancelled meanwhile."""
        closing = asyncio.ensure_future(self._close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing
            raise

    async def _close(self) -> None:
        self._open = False
        await _stop(self._workers)
        results = await asyncio.gather(*(env.close() for env in self._envs), return_exceptions=True)
        results += await asyncio.gather(*(browser.close() for browser in self._browsers), return_exceptions=True)
        for error in results:
            if isinstance(error, Exception):
                _log.warning("while closing the pool: %s", error)

    async def run(
        self,
        policy: Policy | EpisodePolicy,
        requests: Iterable[Request] | AsyncIterable[Request],
        store: RunStore | None = None,
        begun: MutableMapping[str, Digests] | None = None,
    ) -> AsyncGenerator[Finished, None]:
        """Run every request and yield each episode when it is over, in the order in which they end.

        An episode that was lost is yielded too, with its failure. Leaving the loop early stops the rest.

        Args:
            policy: Serves all slots at once; one with `for_episode` is asked for a policy per episode.
            requests: Taken one by one as slots become free; an asynchronous source may let them wait for its next.
            store: Where episodes are written as they happen; None keeps them in memory alone.
            begun: Digests of the states that groups began in, for groups that go on from an earlier run; whoever gives
                it may forget groups that are over.

        Raises:
            HarnessError, ValueError: A request names a task or a seed that does not exist.
            StoreError: The run folder cannot be written, or another process is writing it.
            ProductError, BrowserError, PolicyError, VerifierError, HarnessError: Too many episodes were lost; the
                kind is the commonest cause.
        """
        if not self._open:
            raise RuntimeError("the pool is not open: use it as `async with Pool(...) as pool`")
        if store is not None:
            store.claim()
        run = _Run(self, policy, _one_by_one(requests), store, {} if begun is None else begun)
        workers = {asyncio.create_task(self._serve(run)) for _ in self._envs}
        self._workers |= workers
        try:
            while (finished := await run.next(workers)) is not None:
                yield finished
        finally:
            await _stop(workers)
            self._workers -= workers

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Env]:
        """A slot's environment, for what no request says; it must be given back as it was: usable."""
        if not self._open:
            raise RuntimeError("the pool is not open: use it as `async with Pool(...) as pool`")
        env = await self._free.get()
        try:
            yield env
        finally:
            self._free.put_nowait(env)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Policies stand still meanwhile, as for new weights: that is neither deciding nor does it run against them."""
        with self.busy.hold("deciding"), self.deadlines.hold():
            yield

    async def _serve(self, run: _Run) -> None:
        """One slot's work: an episode after another until the requests are used up."""
        while (request := await run.take()) is not None:
            env = await self._free.get()
            try:
                finished = await run.episode(env, request)
            finally:
                self._free.put_nowait(env)
            await run.give(finished)

    def count(self, failure: Failure | None) -> None:
        """The circuit breaker: stop rather than train on the survivors.

        Raises:
            UIGymError: Too many of the last attempts were lost; of the commonest cause's kind.
        """
        self._recent.append(failure)
        lost = [failure for failure in self._recent if failure is not None]
        if len(self._recent) < _WINDOW or len(lost) <= self.max_failure_rate * _WINDOW:
            return
        self._recent.clear()
        self.tripped += 1
        (cause, times), *_ = Counter(failure.cause for failure in lost).most_common(1)
        last = next(failure for failure in reversed(lost) if failure.cause is cause)
        raise _ERRORS[cause](
            f"stopped: {len(lost)} of the last {_WINDOW} attempts at {self.harness.name} were lost, "
            f"{times} of them to the {cause}. The last such: {last.message}"
        )


@dataclass
class _Run:
    """One call of `Pool.run`."""

    pool: Pool
    policy: Policy | EpisodePolicy
    requests: AsyncIterator[Request]
    store: RunStore | None
    begun: MutableMapping[str, Digests]
    """Of each group."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    results: deque[Finished] = field(default_factory=deque)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.room = asyncio.Semaphore(2 * self.pool.slots)

    async def take(self) -> Request | None:
        """The next request; None when there are no more. Slots ask one after the other, as generators demand."""
        async with self.turn:
            return await anext(self.requests, None)

    async def give(self, finished: Finished) -> None:
        """Hand an episode over, after waiting while the reader is behind."""
        await self.room.acquire()
        self.results.append(finished)
        self.arrived.set()

    async def next(self, workers: Iterable[asyncio.Task[None]]) -> Finished | None:
        """The next episode that is over; None when there will be none; the error that stopped a worker."""
        while not self.results:
            running = [worker for worker in workers if not worker.done()]
            for worker in workers:
                if worker.done():
                    worker.result()
            if not running:
                return None
            self.arrived.clear()
            arrival = asyncio.create_task(self.arrived.wait())
            try:
                await asyncio.wait([arrival, *running], return_when=asyncio.FIRST_COMPLETED)
            finally:
                arrival.cancel()
        self.room.release()
        return self.results.popleft()

    async def episode(self, env: Env, request: Request) -> Finished:
        """Run one request, again if the machinery failed."""
        env.harness.find_task(request.task.removeprefix(f"{env.harness.name}/"))
        Split.of(request.seed)
        number = 0
        while True:
            attempt = _Attempt(self, env, request, number)
            finished = await attempt.run()
            if attempt.guest is not None:
                continue
            failure = finished.episode.failure
            self.pool.count(failure)
            if failure is None or failure.cause not in _RETRIED or number >= self.pool.retries:
                return finished
            number += 1
            _log.warning("%s, attempt %d: %s: %s", finished.episode.id, number, failure.cause, failure.message)

    def check_group(self, env: Env, request: Request) -> None:
        """Members of a group that begin in different states cannot be compared.

        Raises:
            HarnessError: This one begins in another state than the first.
        """
        if not request.group:
            return
        own = {table: State({table: rows}).digest() for table, rows in env.before.tables.items()}
        first = self.begun.setdefault(request.group, own)
        if differ := sorted(table for table in own.keys() | first.keys() if own.get(table) != first.get(table)):
            raise HarnessError(
                f"{env.harness.name}: the members of group {request.group!r} began with different data in {', '.join(differ)} "
                f"(this one: seed {request.seed}), so they cannot be compared. "
                "Let the harness's reset take times and ids from the seed."
            )


@dataclass
class _Attempt:
    """One try at one request in one slot."""

    job: _Run
    env: Env
    request: Request
    number: int
    samples: list[Any] = field(default_factory=list)
    thought_s: float = 0.0
    guest: Guest | None = None
    """Who has taken the policy's place, if anybody has."""

    async def run(self) -> Finished:
        """Play the episode to its verdict or its failure, and store it."""
        env, name = self.env, self.request.id(self.env.harness.name)
        with self.job.store.begin(name) if self.job.store else nullcontext() as writer:
            try:
                await self._within_time(name, writer)
            except StoreError:
                raise
            except UIGymError as exc:
                if env.episode is None:
                    await env.fail(exc)
            episode = env.episode
            assert episode is not None
            if self.guest is not None:
                await self.guest.keep(env)
            elif writer:
                png = env.images.get(episode.final_image, b"")
                await asyncio.to_thread(writer.finish, episode, png)  # waits for the disk
            return Finished(episode, tuple(self.samples), MappingProxyType(env.images))

    async def _within_time(self, name: str, writer: EpisodeWriter | None) -> None:
        limit, began = self.job.pool.limits.attempt_s, time.monotonic()
        try:
            async with self.job.pool.deadlines.within(limit) as whole:
                observation = await self._reset(name)
                self.job.check_group(self.env, self.request)
                await self._play(observation, writer)
        except TimeoutError as exc:
            if not whole.expired():
                raise
            slowest = PolicyError if self.thought_s > (time.monotonic() - began) / 2 else BrowserError
            steps = len(self.env.history)
            raise slowest(
                f"not over after {limit:g} s and {steps} steps, of which the policy took {self.thought_s:.1f} s"
            ) from exc

    async def _reset(self, name: str) -> Observation:
        request = self.request
        with self.job.pool.busy.phase("acting"):
            return await self.env.reset(
                request.task,
                request.seed,
                episode_id=name,
                group=request.group,
                policy=policy_name(self.job.policy),
                attempt=self.number,
            )

    async def _play(self, observation: Observation, writer: EpisodeWriter | None) -> None:
        env, shared = self.env, self.job.policy
        with attribute(PolicyError, f"{policy_name(shared)}.for_episode"):
            policy = shared.for_episode(env) if isinstance(shared, EpisodePolicy) else shared
        try:
            while env.episode is None:
                decision = await self._next(policy, observation)
                if decision is None:
                    continue
                self.samples.append(decision.sample)
                try:
                    with self.job.pool.busy.phase("acting"):
                        observation = (await env.step(decision)).observation
                finally:
                    if writer and self.guest is None and len(env.history) == len(self.samples):
                        record = env.history[-1]
                        writer.step(record, env.images.get(record.image, b""))
        finally:
            if policy is not shared:
                await _close_policy(policy)

    async def _next(self, policy: Policy, observation: Observation) -> Decision | None:
        """The policy's decision, or that of a person who has taken its place; None if they have just let go."""
        pool, env = self.job.pool, self.env
        guest = pool.guests.get(env)
        decision = None if guest and guest.present else await self._decide(policy, observation)
        if guest is None or not guest.present:
            return decision
        if self.guest is None:
            self.guest = guest
            env.hand_over("a person")
        with pool.busy.phase("watching"), pool.deadlines.hold():
            action = await guest.act(env)
        return None if action is None else Decision(action)

    async def _decide(self, policy: Policy, observation: Observation) -> Decision:
        limit, began = self.job.pool.limits.act_s, time.monotonic()
        try:
            async with self.job.pool.deadlines.within(limit):
                with self.job.pool.busy.phase("deciding"), attribute(PolicyError, f"{policy_name(policy)}.act"):
                    chosen: Action | Decision = await policy.act(observation, self.env.history)
        except TimeoutError as exc:
            raise PolicyError(f"{policy_name(policy)}.act gave no decision within {limit:g} s") from exc
        except UIGymError as exc:
            if type(exc) in CAUSES:
                raise
            raise PolicyError(f"{policy_name(policy)}.act raised {type(exc).__name__}: {exc}") from exc
        finally:
            self.thought_s += time.monotonic() - began
        decision = chosen if isinstance(chosen, Decision) else Decision(chosen)
        if not isinstance(decision.text, str):
            raise PolicyError(f"{policy_name(policy)}.act: a decision's text is text, not {decision.text!r:.200}")
        return decision


async def rollout(
    harness: Harness,
    policy: Policy | EpisodePolicy,
    requests: Iterable[Request],
    *,
    slots: int = 4,
    store: RunStore | None = None,
) -> AsyncGenerator[Finished, None]:
    """Run the requests in a pool that lives as long as this loop; see `Pool.run`.

    Raises:
        ProductError, BrowserError: The product or the browser cannot be started.
    """
    async with Pool(harness, slots=slots) as pool, aclosing(pool.run(policy, requests, store)) as running:
        async for finished in running:
            yield finished


async def _one_by_one(requests: Iterable[Request] | AsyncIterable[Request]) -> AsyncIterator[Request]:
    if isinstance(requests, AsyncIterable):
        async for request in requests:
            yield request
    else:
        for request in requests:
            yield request


async def _close_policy(policy: Policy) -> None:
    close = getattr(policy, "close", None)
    if close is None:
        return
    try:
        await close()
    except Exception as exc:  # the episode is over; what it is worth does not depend on this
        _log.warning("%s.close raised %s: %s", policy_name(policy), type(exc).__name__, exc)


async def _all(*work: Coroutine[Any, Any, None]) -> None:
    """Do all at once; when one fails, wait for the others before raising, so that nothing starts behind our back."""
    for result in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


async def _stop(tasks: Iterable[asyncio.Task[None]]) -> None:
    for task in (tasks := list(tasks)):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
