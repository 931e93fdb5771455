"""Every call ends: with a browser that stands still, a product that drips, and code of others that never comes back."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from uigym.browser import Browser, launch, orphans
from uigym.errors import BrowserError, ProductError, UIGymError
from uigym.harness import Harness
from uigym.params import computed
from uigym.policy.scripted import NoOpPolicy
from uigym.product import Product
from uigym.product.calls import finished
from uigym.registry import load
from uigym.rollout import Finished, Pool, Request
from uigym.slot import Limits
from uigym.types import Cause, Click, Done, Episode, Verdict
from uigym.verify import passed

pytestmark = pytest.mark.browser
on_loop = pytest.mark.asyncio(loop_scope="module")
PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
SLACK_S = 15.0
"""For a machine that has much else to do."""


# --- a browser that stands still ---


async def ends(seconds: float, error: type[UIGymError] | None, call: Any) -> None:
    """The call ends within its limit, with the error."""
    began = time.monotonic()
    if error is None:
        await asyncio.wait_for(call, seconds + SLACK_S)
    else:
        with pytest.raises(error):
            await asyncio.wait_for(call, seconds + SLACK_S)
    assert time.monotonic() - began < seconds + SLACK_S


@on_loop
async def test_each_call_ends_though_the_browser_stands_still(pages: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "PREPARE_TIMEOUT_S", 1.0)
    monkeypatch.setattr(launch, "SOUND_TIMEOUT_S", 1.0)
    browser = await Browser.launch()
    sessions = [await browser.session(base_url=pages.url, viewport=(320, 256)) for _ in range(5)]
    for session in sessions:
        await session.open("/input.html")
    os.kill(browser.pid, signal.SIGSTOP)
    await ends(1.0, BrowserError, browser.session(base_url=pages.url, viewport=(100, 100)))
    await asyncio.gather(
        ends(2.0, BrowserError, sessions[0].step(Click(5, 5), timeout_s=1.0)),
        ends(2.0, BrowserError, sessions[1].look(timeout_s=1.0)),
        ends(2.0, BrowserError, sessions[2].standing(timeout_s=1.0)),
        ends(12.0, ProductError, sessions[3].open("/form.html", timeout_s=1.0)),
        ends(5.0, None, sessions[4].close()),
    )
    assert sessions[4].left_behind and not browser.alive
    assert not await browser.sound()
    await ends(0.0, BrowserError, browser.session(base_url=pages.url))
    await ends(0.0, None, sessions[0].close())  # it goes with its browser
    await ends(20.0, None, browser.close())
    assert not orphans.is_running(browser.pid) and not orphans.is_running(browser._driver)
    assert not browser._folder.exists()


@on_loop
async def test_a_browser_whose_driver_stands_still_ends(pages: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "CLOSE_TIMEOUT_S", 1.0)
    browser = await Browser.launch()
    session = await browser.session(base_url=pages.url, viewport=(320, 256))
    await session.open("/input.html")
    os.kill(browser._driver, signal.SIGSTOP)
    assert (await session.step(Click(5, 5))).settled  # a step does without the driver
    await ends(5.0, None, session.close())
    await ends(10.0, None, browser.close())
    assert not orphans.is_running(browser.pid) and not orphans.is_running(browser._driver)


@on_loop
async def test_a_browser_that_does_not_come_up_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "LAUNCH_TIMEOUT_S", 1.0)
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    with pytest.raises(BrowserError, match=r"within 1 s|did not start"):
        await asyncio.wait_for(Browser.launch(program), 1.0 + SLACK_S)
    assert not [command for _, command in orphans._marked() if str(program) in command]


# --- a product that drips ---


@pytest_asyncio.fixture
async def dripping() -> AsyncIterator[str]:
    """A server whose answer never ends and is never silent for long."""

    dripping: set[asyncio.Task[None]] = set()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        dripping.add(task)
        try:
            while not writer.is_closing():
                writer.write(b"X")
                await writer.drain()
                await asyncio.sleep(0.05)
        except (OSError, asyncio.CancelledError):
            return
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    for task in dripping:
        task.cancel()
    await asyncio.gather(*dripping)


async def test_a_product_that_drips_is_not_ready(dripping: str) -> None:
    harness = replace(PAD, asgi="", url=dripping, ready_timeout_s=1.0)
    with pytest.raises(ProductError, match="did not answer 200"):
        await asyncio.wait_for(Product(harness).start(), 1.0 + SLACK_S)


# --- code of others that never comes back ---


def spin() -> None:
    while True:
        pass


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("Thread-")}


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110  a thread's end has no event
        await asyncio.sleep(0.01)
    return condition()


async def test_a_function_that_spins_is_ended_when_nobody_waits_any_longer() -> None:
    before = threads()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(finished(spin), 0.1)
    assert await until(lambda: threads() <= before)


async def test_a_function_that_runs_out_of_items_is_told_of() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(finished(lambda: next(iter(()))), 5)


def spinning(where: str) -> Harness:
    """The pad with a task whose code never comes back."""
    harness = replace(PAD)
    harness.tasks.update(PAD.tasks)

    @harness.task("Do it.", max_steps=2)
    def odd(it: int = computed(lambda state, params: spin() if where == "sampler" else 1)):  # type: ignore[no-untyped-def,assignment]
        if where == "function":
            spin()

        def verify(episode: Episode) -> Verdict:
            if where == "verifier":
                spin()
            return passed("it")

        return verify

    return harness


@pytest.mark.parametrize(
    ("where", "cause"), [("verifier", Cause.VERIFIER), ("function", Cause.HARNESS), ("sampler", Cause.HARNESS)]
)
async def test_a_task_that_spins_is_one_failure_and_other_slots_go_on(where: str, cause: Cause) -> None:
    over: list[Finished] = []
    async with Pool(spinning(where), slots=2, limits=Limits(judge_s=4.0)) as pool:
        wanted = [Request("odd", 0), *(Request("count", seed) for seed in range(2))]
        async for done in pool.run(NoOpPolicy(), wanted):
            over.append(done)
    assert over[0].episode.task == "count"  # it did not wait for the other slot
    (lost,) = (done for done in over if done.episode.task == "odd")
    assert all(done.episode.verdict for done in over if done is not lost)
    assert lost.episode.failure is not None and lost.episode.failure.cause is cause
    assert "not finished within 4 s" in lost.episode.failure.message
    assert lost.episode.attempt == 0 and lost.episode.reward is None
    assert await until(lambda: not [thread for thread in threads() if thread.daemon and "work" in thread.name])


async def test_a_verdict_does_not_depend_on_the_thread() -> None:
    async with Pool(PAD, slots=1) as pool:
        runs = [[done async for done in pool.run(NoOpPolicy(), [Request("count", 3)])] for _ in range(2)]
    assert runs[0][0].episode.verdict == runs[1][0].episode.verdict is not None
    assert [step.action for step in runs[0][0].episode.steps] == [Done()]
