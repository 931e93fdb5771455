"""How long a reset takes, browser and bundled product together, by the route that the browser takes."""

from __future__ import annotations

import asyncio
from typing import Any

from uigym.bench.tally import quantiles, timed
from uigym.browser import Browser, Session
from uigym.env import Env
from uigym.harness import Harness
from uigym.slot import Sessions
from uigym.types import Wait

_EPISODE = (Wait(0.2),)  # long enough for the next context to be prepared meanwhile


class Unprepared:
    """Sessions of one browser that prepares nothing ahead."""

    def __init__(self, browser: Browser):
        self._browser = browser

    async def session(self, **wanted: Any) -> Session:
        """A session whose context is made now."""
        session = await self._browser.session(**wanted)
        session.when_opened = lambda: None
        return session


class Anew:
    """A browser for each session."""

    def __init__(self) -> None:
        self._browser: Browser | None = None

    async def session(self, **wanted: Any) -> Session:
        """A session of a browser that is launched now."""
        await self.close()
        self._browser = await Browser.launch()
        return await self._browser.session(**wanted)

    async def close(self) -> None:
        """End the last one."""
        if self._browser:
            await self._browser.close()


async def measure_resets(harness: Harness, rounds: int) -> dict[str, Any]:
    """Reset the same environment by each route, in turns.

    Args:
        harness: The product; a bundled one runs in this process.
        rounds: Resets for each route.

    Returns:
        JSON values: ms until the first picture, by route: `prepared` (a fresh context that was made during the episode before),
        `unprepared` (made now), `new_browser`.
    """
    prepared, unprepared, anew = await Browser.launch(), await Browser.launch(), Anew()
    routes: dict[str, Sessions] = {"prepared": prepared, "unprepared": Unprepared(unprepared), "new_browser": anew}
    envs = {name: Env(harness, sessions) for name, sessions in routes.items()}
    spent: dict[str, list[float]] = {name: [] for name in routes}
    task = next(iter(harness.tasks))
    try:
        for number in range(rounds + 1):
            for name, env in envs.items():
                spent[name].append(await timed(env.reset(task, number)))
                for action in _EPISODE:
                    await env.step(action)
    finally:
        await asyncio.gather(*(env.close() for env in envs.values()), return_exceptions=True)
        await asyncio.gather(prepared.close(), unprepared.close(), anew.close())
    return {name: quantiles(values[1:]) for name, values in spent.items()}  # the first one starts the product
