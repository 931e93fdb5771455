"""Playing the episodes of a check, and telling how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from typing import TypeAlias

from uigym.check.mutants import Mutant
from uigym.check.players import Cast
from uigym.policy import EpisodePolicy, Policy, policy_name
from uigym.rollout import Pool, Request
from uigym.types import Episode

Progress = Callable[[int, int, str], None]
"""(episodes done, episodes in all, what was last done)."""
Played: TypeAlias = dict[tuple[str, int], Episode]
"""Episodes by task and seed."""


class Count:
    """Tells the caller how far it is; the total grows as it becomes known."""

    def __init__(self, progress: Progress | None):
        self.total, self.done, self.progress = 0, 0, progress

    def __call__(self, label: str) -> None:
        self.done += 1
        if self.progress:
            self.progress(self.done, self.total, label)


class Stage:
    """Where episodes are played."""

    def __init__(self, pool: Pool, progress: Progress | None):
        self.pool = pool
        self.count = Count(progress)

    async def play(self, policy: Policy | EpisodePolicy, requests: Iterable[Request]) -> Played:
        """The policy's episode for each task and seed."""
        wanted = list(requests)
        self.count.total += len(wanted)
        return {(episode.task, episode.seed): episode for episode in await self._run(policy, wanted)}

    async def play_all(self, *plays: tuple[Policy | EpisodePolicy, Sequence[Request]]) -> list[Played]:
        """Several policies at once, so that no slot waits for the last episode of one."""
        return list(await asyncio.gather(*(self.play(policy, requests) for policy, requests in plays)))

    async def mutants(self, wanted: Sequence[tuple[Request, Mutant]]) -> list[tuple[Mutant, Episode]]:
        """Each mutant with its episode; the requests differ in their `member`."""
        name = self.pool.harness.name
        named = {request.id(name): mutant for request, mutant in wanted}
        self.count.total += len(wanted)
        cast = Cast({key: mutant.player for key, mutant in named.items()})
        episodes = await self._run(cast, [request for request, _ in wanted])
        return [(named[episode.id], episode) for episode in episodes]

    async def _run(self, policy: Policy | EpisodePolicy, requests: Sequence[Request]) -> list[Episode]:
        episodes = []
        async with aclosing(self.pool.run(policy, requests)) as running:
            async for finished in running:
                episode = finished.episode
                episodes.append(episode)
                self.count(f"{policy_name(policy)}: {episode.task}, seed {episode.seed}")
        return episodes
