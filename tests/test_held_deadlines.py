"""Time limits that can be held."""

from __future__ import annotations

import asyncio

import pytest

from uigym.deadlines import Deadlines


async def test_what_takes_longer_has_failed() -> None:
    deadlines = Deadlines()
    with pytest.raises(TimeoutError):
        async with deadlines.within(0.01) as limit:
            await asyncio.sleep(9)
    assert limit.expired()
    async with deadlines.within(9):
        await asyncio.sleep(0)


async def test_no_time_goes_by_while_it_is_held() -> None:
    deadlines = Deadlines()

    async def work(begin_s: float) -> str:
        await asyncio.sleep(begin_s)
        async with deadlines.within(0.2):
            await asyncio.sleep(0.45 - begin_s)
        return "done"

    before, meanwhile = asyncio.create_task(work(0)), asyncio.create_task(work(0.05))
    await asyncio.sleep(0.01)
    with deadlines.hold():
        await asyncio.sleep(0.02)
        with deadlines.hold():
            await asyncio.sleep(0.3)
        await asyncio.sleep(0.08)
    assert await before == await meanwhile == "done"


async def test_it_goes_on_where_it_was_held() -> None:
    deadlines = Deadlines()

    async def work() -> None:
        async with deadlines.within(0.1):
            await asyncio.sleep(9)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    with deadlines.hold():
        await asyncio.sleep(0.2)
        assert not task.done()
    with pytest.raises(TimeoutError):
        await task


async def test_one_that_is_over_is_left_alone() -> None:
    deadlines = Deadlines()

    async def slow_to_go() -> None:
        try:
            async with deadlines.within(0.01):
                try:
                    await asyncio.sleep(9)
                finally:
                    await asyncio.sleep(0.1)
        except TimeoutError:
            return

    task = asyncio.create_task(slow_to_go())
    await asyncio.sleep(0.05)
    with deadlines.hold():
        await task
