"""Memory: of each further slot, and over many episodes and navigations, where it should not grow."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from uigym.bench.machine import circumstances, load
from uigym.bench.pages import PageServer
from uigym.bench.processes import group, parent, pss_mb
from uigym.bench.sides import CLICK, Size
from uigym.browser import Browser
from uigym.env import Env
from uigym.errors import ConfigError
from uigym.harness import Harness
from uigym.slot import Limits
from uigym.types import Goto

_PAGES = ("light", "middle")
_SAMPLES = 25
_REST_S = 0.3  # Chromium gives back what a page no longer needs a little later


async def measure_slots(url: str, viewport: Size, slots: int = 5) -> dict[str, Any]:
    """Open one session after the other in one browser.

    Returns:
        JSON values: `mb`, the browser's memory with 1, 2 ... sessions, and `per_further_slot`.
    """
    found = []
    async with _launched() as browser:
        for _ in range(slots):
            session = await browser.session(base_url=url, viewport=viewport)
            await session.open(url)
            await session.step(CLICK)
            await asyncio.sleep(_REST_S)
            found.append(pss_mb(group(browser.pid)))
    per_slot = (found[-1] - found[0]) / (slots - 1)
    return {"mb": [round(mb, 1) for mb in found], "per_further_slot": round(per_slot, 1)}


class Watch:
    """Samples of memory along a long run."""

    def __init__(self, browser: Browser, total: int):
        self._browser = browser
        self._every = max(1, total // _SAMPLES)
        self._samples: list[tuple[int, float, float, float]] = []

    async def see(self, done: int) -> None:
        """Take a sample, if it is time for one."""
        if done % self._every:
            return
        await asyncio.sleep(_REST_S)
        chromium = self._browser.pid
        own, driver = pss_mb({os.getpid()}), pss_mb({parent(chromium)})
        self._samples.append((done, pss_mb(group(chromium)), driver, own))

    def summary(self, per: int) -> dict[str, Any]:
        """JSON values; growth is that of the second half, when all caches are full.

        Args:
            per: Growth is told for so many.
        """
        half = self._samples[len(self._samples) // 2 :]
        columns = list(zip(*half, strict=True))
        names = ("browser", "driver", "own")
        return {
            "done": self._samples[-1][0],
            "samples": [
                dict(zip(("at", *names), (s[0], *(round(x, 1) for x in s[1:])), strict=True)) for s in self._samples
            ],
            f"growth_mb_per_{per}": {
                name: round(slope(columns[0], column) * per, 2) for name, column in zip(names, columns[1:], strict=True)
            },
        }


def slope(xs: tuple[float, ...], ys: tuple[float, ...]) -> float:
    """Of the line through the points that errs least."""
    x0, y0 = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - x0) ** 2 for x in xs)
    return sum((x - x0) * (y - y0) for x, y in zip(xs, ys, strict=True)) / spread if spread else 0.0


async def bench_memory(
    harness: Harness,
    episodes: int = 500,
    navigations: int = 3000,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Episodes in a row in one browser, then navigations within one episode, with the memory sampled along the way.

    Returns:
        JSON values: `episodes` and `navigations`, each with samples in MiB (browser, Playwright's driver, this process) and growth.

    Raises:
        ConfigError: Too few to tell.
        ProductError, BrowserError: Something did not start, or broke.
    """
    if episodes < 4 or navigations < 4:
        raise ConfigError(f"memory needs at least 4 episodes and navigations, not {episodes} and {navigations}")
    total, load_before = episodes + navigations, load()
    async with _launched() as browser:
        chromium = browser.version
        first = await _episodes(browser, harness, episodes, lambda done: progress(done / total))
    async with _launched() as browser:
        second = await _navigations(browser, navigations, lambda done: progress((episodes + done) / total))
    found = {"harness": harness.name, "episodes": first, "navigations": second}
    return {**found, **circumstances(load_before, chromium)}


@asynccontextmanager
async def _launched() -> AsyncIterator[Browser]:
    browser = await Browser.launch()
    try:
        yield browser
    finally:
        await browser.close()


async def _episodes(browser: Browser, harness: Harness, count: int, progress: Callable[[int], None]) -> dict[str, Any]:
    env, watch = Env(harness, browser, limits=Limits(max_steps=100)), Watch(browser, count)
    try:
        for number in range(count):
            await env.reset(next(iter(harness.tasks)), number)
            await env.step(CLICK)
            await watch.see(number + 1)
            progress(number + 1)
    finally:
        await env.close()
    return watch.summary(per=100)


async def _navigations(browser: Browser, count: int, progress: Callable[[int], None]) -> dict[str, Any]:
    server, watch = PageServer(), Watch(browser, count)
    try:
        await server.start()
        session = await browser.session(base_url=server.url, viewport=(320, 240), grants=(Goto,))
        await session.open("/light")
        for number in range(count):
            await session.step(Goto(f"/{_PAGES[number % len(_PAGES)]}"))
            await watch.see(number + 1)
            progress(number + 1)
    finally:
        await server.close()
    return watch.summary(per=1000)
