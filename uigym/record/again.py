"""Playing demonstrations again, each beside an episode of the same task and seed in which nothing is done."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from uigym.env import Env
from uigym.policy import Policy
from uigym.policy.scripted import NoOpPolicy
from uigym.record.spelt import secret, spellings
from uigym.rollout import Finished, Pool, Request
from uigym.types import Action, Done, Episode, Failure, History, Observation, Verdict

PATIENCE_S = 3.0
"""How long a recorded picture is waited for, the first time that one does not come at once."""
_LEAST_S, _POLL_S = 0.3, 0.15
Idle = Verdict | Failure
"""What came of doing nothing."""
_Place = tuple[str, int]
"""Task and seed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A demonstration to be played again."""

    episode: Episode
    """As it was recorded."""
    actions: tuple[Action, ...]
    """Its actions, with the texts that were withheld."""
    texts: tuple[str, ...] = ()
    """Those texts."""

    @property
    def place(self) -> _Place:
        """Task and seed."""
        return self.episode.task, self.episode.seed

    @property
    def typed(self) -> list[int]:
        """Numbers of the steps whose text was withheld."""
        steps = zip(self.actions, self.episode.steps, strict=False)
        return [number for number, (action, step) in enumerate(steps) if action != step.action]

    @property
    def secrets(self) -> list[str]:
        """How what must not be told is spelt."""
        return spellings(secret(self.texts, self.episode.params))


@dataclass(frozen=True, slots=True)
class Again:
    """A demonstration that was played again."""

    wanted: Wanted
    episode: Episode
    """As it went this time."""
    idle: Idle
    """What came of doing nothing instead."""
    images: Mapping[str, bytes] = field(default_factory=dict)
    """PNG by hash: every picture of this time."""
    late: frozenset[int] = frozenset()
    """Steps, from 0, whose recorded picture was waited for and came."""

    @property
    def lost(self) -> Failure | None:
        """Why nothing is proven: the machinery's failure in one of the two episodes."""
        if self.episode.failure is not None:
            return self.episode.failure
        return self.idle if isinstance(self.idle, Failure) else None


async def play_again(pool: Pool, wanted: Iterable[Wanted]) -> AsyncGenerator[Again, None]:
    """Play every demonstration once, and each task and seed of them once without doing anything.

    Args:
        pool: Of the demonstrations' harness; its limits must leave room for their steps.
        wanted: Taken one by one as slots become free. Their tasks and seeds must exist.

    Raises:
        HarnessError, ValueError: A task or a seed does not exist.
        ProductError, BrowserError, PolicyError, VerifierError: Too many episodes were lost, as the pool says.
    """
    cast = _Cast(pool.harness.name)
    idle: dict[_Place, Idle] = {}
    waiting: dict[_Place, list[tuple[Wanted, Finished, set[int]]]] = defaultdict(list)
    async with aclosing(pool.run(cast, cast.requests(wanted))) as running:
        async for finished in running:
            episode = finished.episode
            one, late = cast.leave(episode.id)
            place = (episode.task, episode.seed)
            if one is None:
                outcome = episode.verdict or episode.failure
                assert outcome is not None
                idle[place] = outcome
            else:
                waiting[place].append((one, finished, late))
            if place in idle:
                for each, played, came in waiting.pop(place, ()):
                    yield Again(each, played.episode, idle[place], played.images, frozenset(came))


class _Cast:
    """Who plays which episode: a demonstration, or nobody."""

    name = "replay"

    def __init__(self, harness: str):
        self._harness = harness
        self._numbers = itertools.count()
        self._playing: dict[str, Wanted | None] = {}
        self._late: dict[str, set[int]] = {}

    def requests(self, wanted: Iterable[Wanted]) -> Iterator[Request]:
        """One for each demonstration and, before the first of a task and seed, one for doing nothing there."""
        asked: set[_Place] = set()
        for one in wanted:
            if one.place not in asked:
                asked.add(one.place)
                yield self._request(one.place, None)
            yield self._request(one.place, one)

    def _request(self, place: _Place, one: Wanted | None) -> Request:
        request = Request(*place, member=next(self._numbers))
        self._playing[request.id(self._harness)] = one
        return request

    def for_episode(self, env: Env) -> Policy:
        """The player of the episode that `env` has just been reset to."""
        one = self._playing[env.episode_id]
        if one is None:
            return NoOpPolicy()
        late = self._late[env.episode_id] = set()
        return _Player(env, one, late)

    def leave(self, episode_id: str) -> tuple[Wanted | None, set[int]]:
        """What was played in an episode that is over, and which of its pictures came late."""
        return self._playing.pop(episode_id), self._late.pop(episode_id, set())


class _Player:
    """Does what was done, as early as the page looks as it did then.

    A person waits for what comes late, such as a message that goes away, without an act that says so.
    """

    name = "replay"

    def __init__(self, env: Env, one: Wanted, late: set[int]):
        self._env, self._actions = env, one.actions
        self._images = [step.image for step in one.episode.steps]
        self._late = late
        self._patience_s = PATIENCE_S

    async def act(self, observation: Observation, history: History) -> Action:
        """The next action; `Done` after the last one."""
        number = len(history)
        if number >= len(self._actions):
            return Done()
        image = self._images[number]
        if image and image != observation.image_hash and observation.open.dialog is None:
            await self._wait(number, image)
        return self._actions[number]

    async def _wait(self, number: int, image: str) -> None:
        """Wait for a picture; each time that it does not come, for a shorter time: the product may look otherwise now."""
        limit_s = self._patience_s if number else self._patience_s / 4
        end = time.monotonic() + limit_s
        while limit_s > _LEAST_S and time.monotonic() < end:
            frame = await self._env.session.look()
            if hashlib.sha256(frame.png).hexdigest() == image:
                self._late.add(number)
                return
            await asyncio.sleep(_POLL_S)
        self._patience_s = limit_s / 2
