"""What both paths of training play beside their updates: demonstrations, and tests on held-out seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

from uigym.harness import Harness, Split, Task
from uigym.rollout import Finished, Pool, Request
from uigym.train.config import Data
from uigym.train.data import from_parquet, spread_over

DEMONSTRATION_SEEDS = 900_000
"""Seeds of the training split from here on are for demonstrations, those below for reinforcement."""


async def play(
    pool: Pool, policy: Any, requests: Sequence[Request], say: Callable[[str], None], *, every: int = 50
) -> list[Finished]:
    """Run requests to their end, and say now and then how many have come to it."""
    found: list[Finished] = []
    async with aclosing(pool.run(policy, requests)) as running:
        async for finished in running:
            found.append(finished)
            if len(found) % every == 0:
                say(f"  {len(found)} of {len(requests)} episodes")
    return found


def held_out(data: Data, harness: Harness, tasks: Sequence[Task], count: int) -> list[Request]:
    """What a policy is tested on, at most so many: never trained on, by seed or by look; or what val_data says."""
    if data.val_data:
        return [Request(task, seed) for task, seed in from_parquet(data.val_data, harness)[:count]]
    return spread_over(tasks, Split.HELDOUT, count)
