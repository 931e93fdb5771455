"""Time limits that stand still while what they wait for is held."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Deadlines:
    """Limits of one event loop that can be held together.

    Example:
        >>> async def decide(policy, seen, deadlines):  # doctest: +SKIP
        ...     async with deadlines.within(300):
        ...         return await policy.act(seen, ())
    """

    def __init__(self) -> None:
        self._held = 0
        self._left: dict[asyncio.Timeout, float] = {}
        """Seconds that each had when it was made, or last held."""

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """As `asyncio.timeout`, but for what is held.

        Raises:
            TimeoutError: The body took longer.
        """
        async with asyncio.timeout(None if self._held else seconds) as limit:
            self._left[limit] = seconds
            try:
                yield limit
            finally:
                del self._left[limit]

    @contextmanager
    def hold(self) -> Iterator[None]:
        """No time goes by meanwhile."""
        self._held += 1
        if self._held == 1:
            for limit in self._running():
                self._left[limit] = (limit.when() or 0.0) - asyncio.get_running_loop().time()
                limit.reschedule(None)
        try:
            yield
        finally:
            self._held -= 1
            if self._held == 0:
                for limit in self._running():
                    limit.reschedule(asyncio.get_running_loop().time() + self._left[limit])

    def _running(self) -> list[asyncio.Timeout]:
        return [limit for limit in self._left if not limit.expired()]
