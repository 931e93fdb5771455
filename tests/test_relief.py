"""Browsers are relieved between episodes, and what a session leaves behind is nothing."""

from __future__ import annotations

import asyncio
import gc
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from uigym import steady as steady_module
from uigym.browser import Browser, Session, launch, orphans
from uigym.browser.settle import Settler
from uigym.browser.tab import Tab
from uigym.browser.wire import Channel
from uigym.env import Env
from uigym.errors import BrowserError
from uigym.policy.scripted import NoOpPolicy
from uigym.registry import load
from uigym.rollout import Pool, Request
from uigym.steady import SteadyBrowser
from uigym.types import Click, Goto, Key

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
SIZE = (120, 90)


@pytest_asyncio.fixture(loop_scope="module")
async def steady() -> AsyncIterator[SteadyBrowser]:
    steady = SteadyBrowser()
    yield steady
    await steady.close()


def on_duty(steady: SteadyBrowser) -> Browser:
    assert steady._shift is not None
    return steady._shift.browser


async def opened(steady: SteadyBrowser | Browser, pages: Any) -> Session:
    session = await steady.session(base_url=pages.url, viewport=SIZE)
    await session.open("/input.html")
    return session


# --- when a browser is relieved ---


async def test_a_browser_that_takes_too_much_memory_is_relieved_between_episodes(
    steady: SteadyBrowser, pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steady_module, "_YOUNG", 2)
    monkeypatch.setattr(steady_module, "_WEIGH_S", 0.0)
    neighbour = await opened(steady, pages)
    heavy = on_duty(steady)
    weight = orphans.memory_bytes(heavy.pid) / (1 << 20)
    assert 50 < weight < 3000
    steady.max_memory_mb = 2 * weight
    await (await opened(steady, pages)).close()
    await (await opened(steady, pages)).close()
    assert on_duty(steady) is heavy  # old enough to be weighed, and light enough
    steady.max_memory_mb = weight / 2
    other = await opened(steady, pages)
    assert on_duty(steady) is not heavy and heavy.alive
    assert (await neighbour.step(Click(5, 5))).settled  # it is not interrupted
    await neighbour.close()
    await asyncio.gather(*steady._leaving)
    assert not heavy.alive
    await other.close()


async def test_a_young_browser_is_not_relieved_for_its_memory(steady: SteadyBrowser, pages: Any) -> None:
    steady.max_memory_mb = 1
    for _ in range(3):
        await (await opened(steady, pages)).close()
    assert on_duty(steady).alive and steady._shift is not None and steady._shift.served == 3


async def test_a_browser_whose_contexts_do_not_close_is_relieved(
    steady: SteadyBrowser, pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uigym.browser.session.CLOSE_TIMEOUT_S", 0.05)
    steady.max_left = 2

    async def never() -> None:
        await asyncio.sleep(60)

    for number in range(2):
        session = await opened(steady, pages)
        first = on_duty(steady)
        monkeypatch.setattr(session._prepared.context, "close", never)
        await session.close()
        assert session.left_behind and steady._shift is not None and steady._shift.left == number + 1
    await (await opened(steady, pages)).close()
    assert on_duty(steady) is not first


async def test_a_doubt_about_a_browser_that_was_relieved_is_not_the_next_ones(
    steady: SteadyBrowser, pages: Any
) -> None:
    old = await opened(steady, pages)
    await asyncio.to_thread(orphans.end_group, on_duty(steady).pid)
    await steady.start()
    steady.doubt(old)
    assert steady._shift is not None and (steady._shift.failures, steady._shift.doubted) == (0, False)
    steady.doubt()
    assert (steady._shift.failures, steady._shift.doubted) == (1, True)
    await steady.start()
    assert not steady._shift.doubted  # it was asked, and is sound
    await old.close()


# --- what is left behind ---


async def contexts(browser: Browser) -> int:
    return len((await browser._wire.post("", "Target.getBrowserContexts"))["browserContextIds"])


async def settled_contexts(browser: Browser, wanted: int) -> int:
    for _ in range(300):
        if (found := await contexts(browser)) == wanted:
            break
        await asyncio.sleep(0.01)
    return found


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 20, 60])
async def test_a_session_that_is_cancelled_while_it_opens_leaks_no_context(
    browser: Browser, pages: Any, turns: int
) -> None:
    before = await contexts(browser)
    opening = asyncio.create_task(browser.session(base_url=pages.url, viewport=(100 + turns, 90)))
    for _ in range(turns):
        await asyncio.sleep(0)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    session = await browser.session(base_url=pages.url, viewport=(100 + turns, 90))  # which gets what was begun
    assert await settled_contexts(browser, before + 1) == before + 1
    await session.close()
    assert await settled_contexts(browser, before) == before


async def test_one_that_takes_too_long_is_for_the_next(
    browser: Browser, pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await contexts(browser)
    with monkeypatch.context() as patched, pytest.raises(BrowserError, match="prepared no page within"):
        patched.setattr(launch, "PREPARE_TIMEOUT_S", 0.001)
        await browser.session(base_url=pages.url, viewport=(90, 90))
    session = await browser.session(base_url=pages.url, viewport=(90, 90))
    assert await settled_contexts(browser, before + 1) == before + 1
    await session.close()


async def test_a_spare_for_a_product_that_is_gone_is_dropped(pages: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "SPARE_AGE", 2)
    browser = await Browser.launch()
    gone = await browser.session(base_url=pages.url, viewport=(100, 100))
    await gone.open("/input.html")
    await gone.close()
    assert [wanted.viewport for wanted in browser._spares] == [(100, 100)]
    for _ in range(4):
        await (await opened(browser, pages)).close()
    assert [wanted.viewport for wanted in browser._spares] == [SIZE]
    assert await settled_contexts(browser, 1) == 1
    await browser.close()


KINDS = (Session, Tab, Channel, Settler, Env, asyncio.Task)


def alive() -> Counter[str]:
    gc.collect()
    return Counter(type(thing).__name__ for thing in gc.get_objects() if issubclass(type(thing), KINDS))


def listeners(browser: Browser) -> int:
    return len(browser._wire._listeners) + len(browser._wire._waiting)


async def test_fifty_episodes_keep_nothing() -> None:
    async with Pool(PAD, slots=2, browsers=1) as pool:

        async def episodes(first: int, count: int) -> tuple[Counter[str], int]:
            async for done in pool.run(NoOpPolicy(), [Request("count", first + i) for i in range(count)]):
                assert done.episode.verdict is not None
            await asyncio.gather(*(env._slot._retired() for env in pool._envs))
            browser = on_duty(pool._browsers[0])
            await asyncio.gather(*(spare.preparing for spare in browser._spares.values()))
            return alive(), listeners(browser)

        first = await episodes(0, 6)
        assert await episodes(6, 44) == first


async def test_navigations_within_an_episode_keep_nothing(browser: Browser, pages: Any) -> None:
    session = await browser.session(base_url=pages.url, viewport=SIZE, grants=(Goto,))
    await session.open("/input.html")

    async def wander(count: int) -> tuple[Counter[str], int, int]:
        for number in range(count):
            await session.step(Goto(f"{pages.url}/{('input', 'form')[number % 2]}.html"))
            await session.step(Key("Tab"))
        settler = session._shown.settler
        kept = (settler._page.worlds, settler._others, settler._loads._open, settler._loads._requests)
        return alive(), listeners(browser), sum(map(len, kept))

    first = await wander(4)
    assert await wander(30) == first
    await session.close()


async def test_a_browser_that_is_slow_to_launch_is_for_whoever_comes_next(
    steady: SteadyBrowser, pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    launches, launched = [], Browser.launch

    async def slow(executable: Path | None = None) -> Browser:
        launches.append(1)
        await asyncio.sleep(0.3)
        return await launched(executable)

    monkeypatch.setattr(Browser, "launch", slow)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(steady.start(), 0.05)
    await (await opened(steady, pages)).close()
    assert len(launches) == 1


def drivers() -> set[int]:
    """Playwright's, of this process."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        if orphans.parent(int(entry.name)) == os.getpid():
            with suppress(OSError):
                if b"run-driver" in (entry / "cmdline").read_bytes():
                    found.add(int(entry.name))
    return found


@pytest.mark.parametrize("patience_s", [0.0, 0.02, 0.2, 0.5])
async def test_a_launch_that_nobody_waits_for_ends_with_its_owner(patience_s: float) -> None:
    own, before, drivers_before = SteadyBrowser(), {pid for pid, _ in orphans._marked()}, drivers()
    with suppress(TimeoutError):  # a quick machine is done in half a second
        await asyncio.wait_for(own.start(), patience_s)
    await own.close()
    mine = [pid for pid, command in orphans._marked() if orphans.mark() in command]
    assert not set(mine) - before
    assert drivers() == drivers_before
