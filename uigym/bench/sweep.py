"""Steps per second by the number of slots."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from uigym.bench.sides import SLOTS_PER_BROWSER, OurSide, Size
from uigym.bench.tally import Tally, measured, quantiles, timed

TURN_S = 2.0


async def measure_sweep(url: str, viewport: Size, counts: tuple[int, ...], rounds: int) -> list[dict[str, Any]]:
    """Drive 1, 2, 4 ... slots of one page, in turns; the slots that have no part in a turn stand still.

    Args:
        url: Of the page.
        viewport: CSS px.
        counts: Numbers of slots.
        rounds: Turns for each number.

    Returns:
        JSON values, an entry for each number.
    """
    side = OurSide(max(counts), viewport)
    tallies = {count: Tally() for count in counts}
    try:
        await side.start()
        for slot in range(max(counts)):
            await side.open(slot, url)
        for number in range(rounds):
            for count in counts if number % 2 else counts[::-1]:
                await _turn(side, count, tallies[count])
    finally:
        await side.close()
    return [_entry(count, tally) for count, tally in tallies.items()]


async def _turn(side: OurSide, count: int, tally: Tally) -> None:
    async def drive(slot: int, end: float, steps: list[float]) -> None:
        while time.perf_counter() < end:
            steps.append(await timed(side.click(slot)))

    async def drive_all(steps: list[float]) -> None:
        end = time.perf_counter() + TURN_S
        await asyncio.gather(*(drive(slot, end, steps) for slot in range(count)))

    await measured(tally, side.pids(), drive_all)


def _entry(count: int, tally: Tally) -> dict[str, Any]:
    return {
        "slots": count,
        "browsers": -(-count // SLOTS_PER_BROWSER),
        "steps_per_s": round(tally.steps_per_s, 2),
        "steps_per_s_by_round": [round(n / s, 2) for n, s in zip(tally.steps, tally.seconds, strict=True)],
        "step_ms": quantiles(tally.step_ms),
        "cpu_ms_per_step": round(tally.cpu_ms, 2),
    }
