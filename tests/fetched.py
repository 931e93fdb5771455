"""Products of others in tests: fetched once into the cache, or the reason why they are not to be had."""

from __future__ import annotations

import asyncio

import pytest

from uigym.errors import ProductError
from uigym.harness import Harness
from uigym.policy.scripted import OraclePolicy
from uigym.rollout import Request, rollout


def fetch(harness: Harness) -> dict[str, str]:
    """What the harness installs, by the names that its strings know it by; without it the tests are skipped."""
    try:
        return {part.value: str(asyncio.run(part.installed())) for part in harness.install}
    except ProductError as exc:
        pytest.skip(f"{harness.name} cannot be had here: {str(exc)[:500]}")


async def solve(harness: Harness, tasks: list[str], seeds: range) -> None:
    """Every task's oracle passes, within the steps that it is said to need."""
    async for finished in rollout(
        harness, OraclePolicy(), [Request(task, n) for task in tasks for n in seeds], slots=2
    ):
        episode = finished.episode
        assert episode.verdict is not None, f"{episode.id}: {episode.failure}"
        assert episode.verdict.success, f"{episode.id}: {episode.verdict.reason}"
        assert len(episode.steps) <= (harness.tasks[episode.task].expected_steps or 0), episode.id
