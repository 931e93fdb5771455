"""Long runs, many threads, stopped clocks: what people found to break after a while."""

from __future__ import annotations

import asyncio
import datetime
import os
import threading
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from uigym.browser import Browser
from uigym.env import Env
from uigym.harness import Harness, Running
from uigym.loop import run_sync
from uigym.policy.scripted import NoOpPolicy
from uigym.product import command
from uigym.registry import load
from uigym.rollout import Finished, Pool, Request
from uigym.surroundings import Surroundings
from uigym.types import Answer, Cause, Click, State, Verdict
from uigym.verify import passed

pytestmark = pytest.mark.browser
GYMS = Path(__file__).parent / "gyms"
PAD = load(str(GYMS / "pad.py"))
FRAIL = load(str(GYMS / "frail.py"))

# --- resets ---


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def varied(harness: Harness, on_reset: Any, **changes: Any) -> Harness:
    """The harness with a reset that does something first: `on_reset(number)`, number counting up from 1."""
    count = 0

    async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        nonlocal count
        count += 1
        await on_reset(product, count)
        found: Any = harness.reset(product, seed, appearance)
        await found

    if hasattr(harness.reset, "started"):
        reset.started = harness.reset.started  # type: ignore[attr-defined]
    made = replace(harness, reset=reset, **changes)
    made.tasks.update(harness.tasks)
    return made


async def run(pool: Pool, task: str, count: int) -> list[Finished]:
    async with aclosing(pool.run(NoOpPolicy(), [Request(task, seed) for seed in range(count)])) as running:
        return [done async for done in running]


async def test_a_hundred_resets_of_which_every_tenth_is_slow() -> None:
    async def slow(product: Running, number: int) -> None:
        await asyncio.sleep(0.5 if number % 10 == 0 else 0)

    async with Pool(varied(PAD, slow), slots=3) as pool:
        await run(pool, "count", 6)
        before = descriptors(), threading.active_count()
        over = await run(pool, "count", 94)
        assert [done.episode.failure for done in over] == [None] * 94
        assert abs(descriptors() - before[0]) <= 4 and abs(threading.active_count() - before[1]) <= 2


async def test_resets_of_which_every_sixth_takes_too_long_are_typed_and_tried_again() -> None:
    async def late(product: Running, number: int) -> None:
        await asyncio.sleep(60 if number % 6 == 0 else 0)

    async with Pool(varied(PAD, late, ready_timeout_s=1.0), slots=3) as pool:
        over = await run(pool, "count", 18)
        assert [done.episode.failure for done in over] == [None] * 18
        lost = [failure for failure in pool._recent if failure]
        assert 2 <= len(lost) <= 4 and {failure.cause for failure in lost} == {Cause.PRODUCT}
        assert all("it took more than 1 s" in failure.message for failure in lost)


async def test_a_product_that_dies_in_every_fifth_reset_leaves_no_port_and_no_process() -> None:
    async def dies(product: Any, number: int) -> None:
        if number % 5 == 0:
            os.killpg(product._launched.pid, 9)

    ports = set(command._taken)
    async with Pool(varied(FRAIL, dies), slots=2, max_failure_rate=1) as pool:
        over = await run(pool, "two", 16)
        assert [done.episode.failure for done in over] == [None] * 16
        lost = [failure for failure in pool._recent if failure]
        assert len(lost) >= 3 and {failure.cause for failure in lost} == {Cause.PRODUCT}
        assert len(command._taken - ports) == 2
    assert command._taken == ports


# --- threads ---


def test_eight_threads_each_with_an_environment_of_its_own() -> None:
    browser = run_sync(Browser.launch())
    rewards: dict[int, float] = {}
    errors: list[BaseException] = []

    def drive(number: int) -> None:
        try:
            env = Env(PAD, browser)
            try:
                run_sync(env.reset("count", number))
                run_sync(env.step(Click(5, 5)))
                rewards[number] = run_sync(env.step(Answer(str(number % 5)))).reward
            finally:
                run_sync(env.close())
        except BaseException as exc:
            errors.append(exc)

    crew = [threading.Thread(target=drive, args=(number,)) for number in range(8)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join(120)
    run_sync(browser.close())
    assert not errors and rewards == dict.fromkeys(range(8), 1.0)


def test_threads_with_loops_of_their_own_and_one_after_another() -> None:
    """One environment, driven from one thread after another, some of which have a loop of their own."""
    env, seen = Env(PAD), []

    async def inside() -> float:
        return run_sync(env.step(Answer("2"))).reward

    for act in (lambda: run_sync(env.reset("count", 2)), lambda: run_sync(env.step(Click(5, 5)))):
        thread = threading.Thread(target=lambda act=act: seen.append(act()))
        thread.start()
        thread.join(60)
    thread = threading.Thread(target=lambda: seen.append(asyncio.run(inside())))
    thread.start()
    thread.join(60)
    run_sync(env.close())
    assert len(seen) == 3 and seen[-1] == 1.0


def test_what_fails_in_one_thread_is_that_threads_alone() -> None:
    env, told = Env(PAD), []

    def wrong() -> None:
        try:
            run_sync(env.step(Click(1, 1)))
        except RuntimeError as exc:
            told.append(str(exc))

    crew = [threading.Thread(target=wrong) for _ in range(8)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join(30)
    assert told == ["no episode: call reset before step"] * 8
    run_sync(env.close())


# --- a clock that stands still ---

CLOCKS = {
    "date": "new Date().toISOString()",
    "text": "Date()",
    "format": "new Intl.DateTimeFormat('en', {dateStyle: 'full', timeStyle: 'full'}).format()",
    "modern": "globalThis.Temporal ? Temporal.Now.instant().toString() : Date.now()",
    "frame": "frames[0].eval('new Date().toISOString()')",
}


def showing(expression: str, surroundings: Surroundings) -> Harness:
    """A product of one page that shows what time it is."""
    page = (
        "<!doctype html><body style='margin: 0; font: 13px \"Liberation Sans\"'><iframe srcdoc='' hidden></iframe>"
        f"<p id=now></p><script>onload = () => now.textContent = {expression}</script>"
    )

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
            await send({"type": "http.response.body", "body": page.encode()})

    async def state(product: Running) -> State:
        return State({"none": ()})

    async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """There is nothing to put back."""

    made = Harness(
        name="clock", asgi=lambda workdir: app, state=state, reset=reset, viewport=(440, 60), surroundings=surroundings
    )

    @made.task("Look.", max_steps=1)
    def look():  # type: ignore[no-untyped-def]
        def verify(episode: Any) -> Verdict:
            return passed("looked")

        return verify

    return made


async def two_looks(env: Env) -> list[str]:
    """Hashes of the first picture of two episodes, more than a second apart."""
    first = await env.reset("look", 0)
    await asyncio.sleep(1.1)
    return [first.image_hash, (await env.reset("look", 0)).image_hash]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("what", CLOCKS)
async def test_with_a_fixed_clock_the_first_picture_is_the_same(browser: Browser, what: str) -> None:
    noon = datetime.datetime(2024, 2, 29, 12, 0, tzinfo=datetime.UTC)
    async with Env(showing(CLOCKS[what], Surroundings(clock=noon)), browser) as env:
        first, second = await two_looks(env)
    assert first == second


@pytest.mark.asyncio(loop_scope="module")
async def test_without_one_it_is_not(browser: Browser) -> None:
    async with Env(showing(CLOCKS["date"], Surroundings()), browser) as env:
        first, second = await two_looks(env)
    assert first != second
