"""Rollouts as a stream: slots never wait for each other, groups come out as they are complete.

The episode is what is scheduled: a slot that ends one begins the next at once, the next member of the oldest group
that still lacks one, or the first of a new group. How far playing may run ahead of training is bounded by capacity:

    accepted groups + groups under way <= (max_staleness + updates + 1) * groups in an update

so that nothing is played only to be thrown away as too old. With `max_staleness=0` this is the synchronous loop: the
groups of an update are played with the weights that the update begins with.

What the machinery breaks is never a reward. The pool runs a lost episode again; what stays lost is replaced by another
member, or the group goes on without it; a group with too few members is dropped and another one drawn. When too much
is lost at once, playing rests and nothing is trained until it goes on.

Source of the capacity rule: AReaL (Fu et al., 2025); of the refill: dynamic sampling of DAPO (Yu et al., 2025).
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from uigym.errors import ConfigError, StoreError, UIGymError, attribute
from uigym.policy import EpisodePolicy, Policy
from uigym.rollout import Digests, Finished, Pool, Request
from uigym.store import RunStore
from uigym.train import groups
from uigym.train.groups import Group
from uigym.types import Cause, Episode, Failure

_log = logging.getLogger(__name__)
_RECOVERED = 100
"""Episodes in a row without a rest, after which earlier rests are forgotten."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flow:
    """How groups come out of a stream.

    Raises:
        ConfigError: A number cannot be used.
    """

    group_size: int = 8
    """Members of a group."""
    groups: int = 8
    """Groups in an update."""
    max_staleness: int = 1
    """How many updates the weights that an episode was played with may be behind; 0 is synchronous."""
    min_members: int = 2
    """A group with fewer verdicts is dropped."""
    refills: int = 3
    """A group whose members all got the same reward teaches nothing and makes room for another; at most so many
    times the groups of an update, and after that such groups are handed out too."""
    replacements: int = 4
    """Lost members of a group that are replaced; it goes on without further ones."""
    rests: int = 5
    """Rests after too many losses, each twice as long as the one before; then the losses stop the run."""
    rest_s: float = 10.0
    """The first one."""

    def __post_init__(self) -> None:
        least = {"group_size": 2, "groups": 1, "max_staleness": 0, "min_members": 2, "refills": 0, "replacements": 0}
        for name, lowest in {**least, "rests": 0, "rest_s": 0}.items():
            if getattr(self, name) < lowest:
                raise ConfigError(f"{name} must be {lowest} or more, not {getattr(self, name)}")
        if self.min_members > self.group_size:
            raise ConfigError(
                f"min_members ({self.min_members}) must not be more than group_size ({self.group_size}): "
                "no group would ever be complete"
            )


class Practice(Protocol):
    """What is played: see `uigym.train.data.Curriculum`."""

    def __next__(self) -> tuple[str, int]:
        """Task and seed of the next group; StopIteration where there is none."""

    def hear(self, task: str, success: float) -> None:
        """The success rate of a group of a task."""

    def state(self) -> dict[str, Any]:
        """What a resume needs, as JSON."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""


async def _nothing(distrusted: bool) -> None:
    """Nobody minds the sampler."""


class Stream:
    """Plays for as long as it is open; `batch` gives the groups of an update, `advance` says that it was made.

    Example:
        >>> async def train(pool, policy, practice, learn):  # doctest: +SKIP
        ...     async with Stream(pool, policy, practice, Flow(groups=4)) as stream:
        ...         while batch := await stream.batch():
        ...             await learn(batch)
        ...             stream.advance()
    """

    def __init__(
        self,
        pool: Pool,
        policy: Policy | EpisodePolicy,
        practice: Practice,
        flow: Flow = Flow(),
        store: RunStore | None = None,
    ):
        """
        Args:
            pool: Where episodes are run; open for as long as the stream is.
            policy: Who plays.
            practice: (task, seed) of one group after another; hears how each group did when the update is over.
            flow: Sizes and bounds.
            store: Where episodes are written as they happen; None keeps them in memory alone.
        """
        self.pool = pool
        self.policy = policy
        self.practice = practice
        self.flow = flow
        self.store = store
        self.version = 0
        """Updates so far: the version of the weights that new groups are played with."""
        self.tally: Counter[str] = Counter()
        """What happened since it was last cleared: groups refilled, dropped and without variance, failures by cause."""
        self.seen: list[Episode] = []
        """All that ended since it was last cleared, those of groups that were refilled or dropped too."""
        self.mend: Callable[[bool], Awaitable[None]] = _nothing
        """Called after losses that a sampler may have caused; True if it gave replies of weights that are too old."""
        self._open: dict[str, Group] = {}
        self._ready: list[Group] = []
        self._accepted = 0
        self._drawn = 0
        self._refilled = 0
        self._exhausted = False
        self._heard: list[tuple[int, str, float]] = []
        self._begun: dict[str, Digests] = {}
        self._changed = asyncio.Event()
        self._rests = self._since_rest = 0
        self._playing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._playing = asyncio.create_task(self._play_on())
        self._playing.add_done_callback(lambda _: self._tell())
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)

    # --- for the trainer ---

    async def batch(self) -> list[Group]:
        """The groups of the next update, in the order in which they were drawn; waits until there are enough.

        Groups that would be too old for the update after this one come first, then those that were complete first.
        The last ones may be fewer; empty when everything has been played.

        Raises:
            UIGymError: Too many episodes are lost, again and again; the kind is that of the commonest cause.
        """
        if self._playing is None:
            raise RuntimeError("the stream is not open: use it as `async with Stream(...) as stream`")
        while not self._is_enough():
            if self._playing.done():
                self._playing.result()
                break
            await self._changed.wait()
        oldest = self.version - self.flow.max_staleness
        first = sorted(self._ready, key=lambda group: group.born > oldest)[: self.flow.groups]
        self._ready = [group for group in self._ready if group not in first]
        return sorted(first, key=lambda group: group.number)

    def advance(self) -> None:
        """An update was made and the sampler has its weights: as many groups more may be played."""
        self.version += 1
        self._refilled = 0
        for _, task, success in sorted(self._heard):
            self.practice.hear(task, success)
        self._heard.clear()
        self._tell()

    def _is_enough(self) -> bool:
        oldest = self.version - self.flow.max_staleness
        awaited = any(group.born <= oldest for group in self._open.values())
        return len(self._ready) >= self.flow.groups and not awaited

    # --- what is played next ---

    async def _requests(self) -> AsyncIterator[Request]:
        while not (self._exhausted and not self._open):
            changed, request = self._changed, self._begin()
            if request is None:
                await changed.wait()
            else:
                yield request

    def _begin(self) -> Request | None:
        """A member of the oldest group that lacks one, else of a new group; None if all must wait."""
        for group in self._open.values():
            if group.waiting:
                return group.begin()
        limit = (self.flow.max_staleness + self.version + 1) * self.flow.groups
        if self._exhausted or self._accepted + len(self._open) >= limit:
            return None
        try:
            task, seed = next(self.practice)
        except StopIteration:
            self._exhausted = True
            self._tell()
            return None
        group = Group.of(self._drawn, task, seed, born=self.version, size=self.flow.group_size)
        self._drawn += 1
        self._open[group.name] = group
        return group.begin()

    async def _play_on(self) -> None:
        """Play until there is nothing more to play, with rests."""
        while True:
            before = self.pool.tripped
            try:
                await self._play()
                return
            except UIGymError as exc:
                if self.pool.tripped == before:
                    raise
                await self._rest(exc)

    async def _play(self) -> None:
        for group in self._open.values():
            group.stop()
        run = self.pool.run(self.policy, self._requests(), self.store, self._begun)
        async with aclosing(run) as running:
            async for finished in running:
                await self._take(finished)

    async def _rest(self, error: UIGymError) -> None:
        self._rests += 1
        self._since_rest = 0
        if self._rests > self.flow.rests:
            raise error
        seconds = self.flow.rest_s * 2 ** (self._rests - 1)
        _log.warning(
            "%s. Nothing is played or trained for %g s (%d of %d)", error, seconds, self._rests, self.flow.rests
        )
        self.tally["rests"] += 1
        await asyncio.sleep(seconds)
        for group in self._open.values():
            group.forgive(self.flow.group_size)
        await self.mend(False)

    # --- what comes of it ---

    async def _take(self, finished: Finished) -> None:
        """Put an episode into its group."""
        episode = finished.episode
        self.seen.append(episode)
        group = self._open[episode.group]
        member = next(m for m in group.running if group.request(m).id(episode.harness) == episode.id)
        group.running.discard(member)
        stale = any(turn.version < group.born for turn in groups.turns(finished))
        failure = _too_old(group) if stale else episode.failure
        if failure is None:
            group.done[member] = finished
            self._since_rest += 1
            self._rests = 0 if self._since_rest >= _RECOVERED else self._rests
        else:
            self._lose(group, failure)
        if group.over:
            self._complete(group)
        self._tell()
        if stale:
            _log.warning("%s: %s", episode.id, _too_old(group).message)
            self.pool.count(_too_old(group))  # the pool has seen nothing wrong with it
        if stale or episode.attempt or failure is not None:
            await self.mend(stale)

    def _lose(self, group: Group, failure: Failure) -> None:
        group.lost += 1
        self.tally[f"failures/{failure.cause}"] += 1
        if group.lost <= self.flow.replacements:
            group.replace()

    def _complete(self, group: Group) -> None:
        del self._open[group.name]
        self._begun.pop(group.name, None)
        if len(group.done) < self.flow.min_members:
            self.tally["groups/dropped"] += 1
            return
        self._heard.append((group.number, group.task, group.success))
        if not group.informative:
            self.tally["groups/zero_variance"] += 1
            if self._refilled < self.flow.refills * self.flow.groups and not self._exhausted:
                self._refilled += 1
                self.tally["groups/refilled"] += 1
                return
        self._accepted += 1
        self._ready.append(group)

    def _tell(self) -> None:
        """Wake whoever waits for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    # --- to go on later ---

    def keep(self) -> Callable[[Path], None]:
        """What an exact resume needs, as it is now: a function that writes it into a new folder, from any thread.

        Groups that are complete but unused go with their episodes; of groups under way those members that are over.
        Members in flight are played again.
        """
        kept = [group.copy() for group in (*self._open.values(), *self._ready)]
        rest = {
            "version": self.version,
            "accepted": self._accepted,
            "drawn": self._drawn,
            "refilled": self._refilled,
            "exhausted": self._exhausted,
            "ready": [group.number for group in self._ready],
            "heard": list(self._heard),
            "begun": dict(self._begun),
            "tally": dict(self.tally),
            "practice": self.practice.state(),
        }
        return partial(groups.write, groups=kept, rest=copy.deepcopy(rest))

    def restore(self, folder: Path) -> None:
        """Go on from what `keep` wrote; before the stream is opened.

        Raises:
            StoreError: The folder is not complete, or not one of these.
        """
        found, rest = groups.read(folder)
        with attribute(StoreError, f"cannot go on from {folder}"):
            self._ready = [found.pop(number) for number in rest["ready"]]
            self._open = {group.name: group for group in found.values()}
            self.version, self._accepted, self._drawn = rest["version"], rest["accepted"], rest["drawn"]
            self._refilled, self._exhausted = rest["refilled"], rest["exhausted"]
            self._heard = [(number, task, success) for number, task, success in rest["heard"]]
            self._begun, self.tally = rest["begun"], Counter(rest["tally"])
            self.practice.restore(rest["practice"])


def _too_old(group: Group) -> Failure:
    return Failure(
        Cause.POLICY, f"the sampler replied with weights older than version {group.born}, which it has been given"
    )
