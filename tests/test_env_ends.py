"""How an episode ends when what it ran on is gone, broken, or was written by somebody who does odd things."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.async_api import Error

from uigym import slot
from uigym.env import Env
from uigym.errors import StoreError
from uigym.harness import Harness
from uigym.params import computed
from uigym.policy.scripted import NoOpPolicy, OraclePolicy
from uigym.registry import load
from uigym.rollout import Pool, Request
from uigym.types import Action, Answer, Cause, Click, Decision, Done, Episode, Part, State, Stop, Verdict
from uigym.verify import passed

pytestmark = pytest.mark.browser
PAD = str(Path(__file__).parent / "gyms" / "pad.py")
MOODY = f"{Path(__file__).parent / 'gyms' / 'moody.py'}:"


class Saboteur:
    """Does something to the environment while it thinks, and then acts."""

    name = "saboteur"

    def __init__(self, deed: Callable[[Env], Awaitable[None]], then: Action):
        self.deed, self.then = deed, then
        self.env: Env | None = None

    def for_episode(self, env: Env) -> Saboteur:
        own = Saboteur(self.deed, self.then)
        own.env = env
        return own

    async def act(self, observation: Any, history: Any) -> Action:
        assert self.env is not None
        await self.deed(self.env)
        return self.then


async def play(harness: Harness, task: str, policy: Any) -> Episode:
    async with Pool(harness, slots=1, retries=0) as pool, aclosing(pool.run(policy, [Request(task, 0)])) as running:
        (finished,) = [finished async for finished in running]
    episode = finished.episode
    assert (episode.verdict is None) != (episode.failure is None)
    return episode


async def kill_browser(env: Env) -> None:
    browser: Any = env._slot._given_browser
    os.kill(browser._shift.browser.pid, signal.SIGKILL)
    await asyncio.sleep(0.3)


async def crash_page(env: Env) -> None:
    cdp = await env.session.page.context.new_cdp_session(env.session.page)
    crashing = asyncio.create_task(cdp.send("Page.crash"))
    await asyncio.sleep(0.3)
    crashing.cancel()
    await asyncio.gather(crashing, return_exceptions=True)


async def stop_product(env: Env) -> None:
    launched: Any = env.product._launched
    os.killpg(launched.pid, signal.SIGSTOP)


async def open_elsewhere(env: Env) -> None:
    with suppress(Error):
        await env.session.page.goto("http://127.0.0.1:1/")


async def nothing(env: Env) -> None:
    """Leave all as it is."""


@pytest.mark.parametrize("last", [Done(), Answer("yes")])
@pytest.mark.parametrize(
    ("deed", "cause"),
    [(kill_browser, Cause.BROWSER), (crash_page, Cause.BROWSER), (stop_product, Cause.PRODUCT)],
)
async def test_what_dies_while_the_policy_thinks_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, deed: Any, cause: Cause, last: Action
) -> None:
    monkeypatch.setattr(slot, "ANSWER_S", 1.0)
    episode = await play(load(MOODY + "moody"), "say_yes", Saboteur(deed, last))
    assert episode.failure is not None and episode.failure.cause is cause, episode


async def test_a_page_of_another_host_that_does_not_come_is_no_failure_of_the_product() -> None:
    episode = await play(load(MOODY + "moody"), "say_yes", Saboteur(open_elsewhere, Answer("yes")))
    assert episode.verdict is not None and episode.reward == 1.0


async def test_with_all_in_place_there_is_a_verdict() -> None:
    assert (await play(load(MOODY + "moody"), "say_yes", Saboteur(nothing, Answer("yes")))).reward == 1.0
    assert (await play(load(MOODY + "moody"), "say_yes", Saboteur(nothing, Done()))).reward == 0.0


@pytest.mark.parametrize(("home", "status"), [("missing", 404), ("broken", 500)])
async def test_an_episode_does_not_begin_on_an_error(home: str, status: int) -> None:
    episode = await play(load(MOODY + home), "anything", NoOpPolicy())
    assert episode.failure is not None and episode.failure.cause is Cause.PRODUCT
    assert f"answered with HTTP status {status}" in episode.failure.message


class Clicks:
    """One click, then done."""

    def __init__(self, y: int):
        self.y = y

    async def act(self, observation: Any, history: Any) -> Action:
        return Done() if history else Click(60, self.y)


@pytest.mark.parametrize(("y", "said"), [(20, "HTTP status 500"), (50, "broke off"), (80, "")])
async def test_an_episode_that_ends_on_the_products_error_is_the_products(y: int, said: str) -> None:
    """A page that is not found may be the policy's own doing, and is judged."""
    episode = await play(load(MOODY + "moody"), "anything", Clicks(y))
    if not said:
        assert episode.verdict is not None and episode.reward == 1.0
        return
    assert episode.failure is not None and episode.failure.cause is Cause.PRODUCT
    assert said in episode.failure.message


# --- code of others ------------------------------------------------------------------------------------------


def cancel() -> Any:
    raise asyncio.CancelledError


def change(episode: Episode) -> Verdict:
    next(iter(episode.after.tables.values()))[0]["text"] = "mine"
    return passed("changed")


VERIFIERS: dict[str, Callable[[Any], Any]] = {
    "exits": lambda episode: sys.exit(0),
    "cancels": lambda episode: cancel(),
    "float32": lambda episode: Verdict(np.float32(1.0), True),  # type: ignore[arg-type]
    "bool_": lambda episode: Verdict(1.0, np.bool_(True)),  # type: ignore[arg-type]
    "text for bool": lambda episode: Verdict(1.0, "no"),  # type: ignore[arg-type]
    "reason": lambda episode: Verdict(0.0, False, reason=object()),  # type: ignore[arg-type]
    "parts": lambda episode: Verdict(1.0, True, parts=5),  # type: ignore[arg-type]
    "part": lambda episode: Verdict(1.0, True, parts=("a",)),  # type: ignore[arg-type]
    "part's score": lambda episode: Verdict(1.0, True, (Part("a", "1"),)),  # type: ignore[arg-type]
    "changes": change,
}


@pytest.mark.parametrize("way", VERIFIERS)
async def test_a_verifier_that_does_odd_things_is_told_of(way: str) -> None:
    harness = load(PAD)
    harness.tasks.pop("odd", None)

    @harness.task("Do it.", max_steps=2)
    def odd():  # type: ignore[no-untyped-def]
        return VERIFIERS[way]

    try:
        episode = await play(harness, "odd", NoOpPolicy())
    finally:
        harness.tasks.pop("odd")
    assert episode.failure is not None and episode.failure.cause is Cause.VERIFIER, episode
    assert episode.stop is Stop.ERROR and "pad/odd" in episode.failure.message


@pytest.mark.parametrize("way", ["function", "sampler", "oracle exits", "oracle cancels"])
async def test_a_harness_that_exits_or_cancels_is_told_of(way: str) -> None:
    harness = load(PAD)
    harness.tasks.pop("odd", None)

    @harness.task("Do it.", max_steps=2)
    def odd(it: Any = computed(lambda state, params: sys.exit(0) if way == "sampler" else 1)):  # type: ignore[no-untyped-def]
        return sys.exit(0) if way == "function" else lambda episode: passed("it")

    @odd.oracle
    async def _(page: Any) -> None:
        sys.exit(0) if way == "oracle exits" else cancel()

    try:
        episode = await play(harness, "odd", OraclePolicy())
    finally:
        harness.tasks.pop("odd")
    assert episode.failure is not None and episode.failure.cause is Cause.HARNESS, episode


async def test_a_probe_of_rows_that_are_none_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[Any] = [
        State({"notes": 5}),
        State({"notes": ({"id": object()},)}),
        State({"notes": ({"id": float("nan")},)}),
    ]  # type: ignore[dict-item]
    for state in states:
        harness = load(MOODY + "moody")

        async def probe(product: Any, state: State = state) -> State:
            return state

        monkeypatch.setattr(harness, "state", probe)
        episode = await play(harness, "anything", NoOpPolicy())
        assert episode.failure is not None and episode.failure.cause is Cause.PRODUCT
        assert "the state probe returned what cannot be stored" in episode.failure.message


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def deep() -> Any:
    found: list[Any] = []
    for _ in range(20_000):
        found = [found]
    return found


def complain() -> Any:
    raise StoreError("mine")


DECISIONS: dict[str, tuple[Callable[[], Any], Cause | None]] = {
    "exits": (lambda: sys.exit(0), Cause.POLICY),
    "cancels": (cancel, Cause.POLICY),
    "speaks bytes": (lambda: Decision(Done(), text=b"x"), Cause.POLICY),  # type: ignore[arg-type]
    "raises another's error": (complain, Cause.POLICY),
    "cannot be shown": (Unshowable, None),
    "is deep": (lambda: Answer(deep()), None),
    "is huge": (lambda: Click(10**400, 3), None),
}


@pytest.mark.parametrize("way", DECISIONS)
async def test_a_policy_that_does_odd_things_is_lost_or_refused(way: str) -> None:
    decide, cause = DECISIONS[way]

    class Odd:
        @property
        def name(self) -> str:
            raise RuntimeError("no name")

        async def act(self, observation: Any, history: Any) -> Any:
            return Done() if history else decide()

    episode = await play(load(PAD), "count", Odd())
    if cause is None:
        assert episode.verdict is not None and episode.steps[0].error
    else:
        assert episode.failure is not None and episode.failure.cause is cause
