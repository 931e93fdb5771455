"""One page at one size: every side and every stage in turns, round after round."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from uigym.bench.sides import OurSide, Side
from uigym.bench.stages import Stages
from uigym.bench.tally import Tally, measured, quantiles, timed

TURN_STEPS = 12
TURN_S = 1.5
"""A turn ends after so many steps or so many seconds, whichever comes first, but not before its first step."""
_REST_S = 0.05  # what the last step left to do is not the next one's cost
_WARM = 3


async def measure_cell(url: str, ours: OurSide, others: Mapping[str, Side], rounds: int) -> dict[str, Any]:
    """Steps and resets of all sides on one page.

    Args:
        url: Of the page.
        ours, others: Sides that are started, with one slot.
        rounds: How often each takes its turn.

    Returns:
        JSON values: `sides` by name, `stages` of our own steps, `ratio` of our step to each other side's.
    """
    stages = Stages(ours)
    sides: dict[str, Side] = {"uigym": ours, **others}
    tallies = {**{name: Tally() for name in others}, "uigym": stages.tallies["capture"]}
    steps: list[tuple[Tally, Side, Callable[[], Awaitable[object]]]] = [
        (tally, ours, stages.steps()[name]) for name, tally in stages.tallies.items()
    ]
    steps += [(tallies[name], side, _click(side)) for name, side in others.items()]
    for number in range(rounds):
        for name, side in sides.items():
            tallies[name].reset_ms.append(await timed(side.open(0, url)))
        await _warm_up(sides.values() if number == 0 else ())
        for tally, side, step in steps if number % 2 else steps[::-1]:
            await asyncio.sleep(_REST_S)
            await _turn(tally, side, step)
    named = {name: _summary(tally) for name, tally in sorted(tallies.items(), key=lambda item: item[0] != "uigym")}
    ratio = {name: _ratio(tallies["uigym"], tallies[name]) for name in others}
    return {"sides": named, "stages": stages.summary(), "ratio": ratio}


def _click(side: Side) -> Callable[[], Awaitable[object]]:
    return lambda: side.click(0)


async def _warm_up(sides: Iterable[Side]) -> None:
    for side in sides:
        for _ in range(_WARM):
            await side.click(0)


async def _turn(tally: Tally, side: Side, step: Callable[[], Awaitable[object]]) -> None:
    async def drive(steps: list[float]) -> None:
        end = time.perf_counter() + TURN_S
        while not steps or (len(steps) < TURN_STEPS and time.perf_counter() < end):
            steps.append(await timed(step()))

    await measured(tally, side.pids(), drive)


def _summary(tally: Tally) -> dict[str, Any]:
    return {key: value for key, value in tally.summary().items() if not key.startswith("steps_per_s")}


def _ratio(ours: Tally, theirs: Tally) -> dict[str, Any]:
    """Ours to theirs: below 1 is less than theirs."""
    step, other_step = quantiles(ours.step_ms)["p50"], quantiles(theirs.step_ms)["p50"]
    reset, other_reset = quantiles(ours.reset_ms)["p50"], quantiles(theirs.reset_ms)["p50"]
    rounds = zip(ours.cpu_ms_by_round, theirs.cpu_ms_by_round, strict=True)
    return {
        "cpu_ms": round(ours.cpu_ms / theirs.cpu_ms, 3) if theirs.cpu_ms else None,
        "cpu_ms_by_round": [round(own / other, 3) if other else None for own, other in rounds],
        "step_ms": round(step / other_step, 3),
        "reset_ms": round(reset / other_reset, 3),
    }
