"""Policies that need no model: do nothing, anything, what was done before, or what the oracle does."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from uigym.errors import PolicyError
from uigym.policy.oracle import OraclePolicy
from uigym.types import Action, Click, Done, Episode, History, Key, Observation, Scroll, Type

if TYPE_CHECKING:
    from uigym.env import Env

__all__ = ["NoOpPolicy", "OraclePolicy", "RandomPolicy", "ReplayPolicy"]
_KEYS = ("Enter", "Escape", "Tab", "Shift+Tab", "Backspace", "Space", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 "


class NoOpPolicy:
    """Says at once that it is done: a task that pays it is unsound."""

    name = "noop"

    async def act(self, observation: Observation, history: History) -> Action:
        """`Done`."""
        return Done()


class RandomPolicy:
    """Clicks, types and scrolls anywhere; the same episode gets the same actions."""

    name = "random"

    def __init__(self, seed: int | str = 0, *, steps: int | None = None):
        """
        Args:
            seed: Fixes the actions, together with the episode's id.
            steps: It is done after so many; None goes on to the episode's limit.
        """
        self.seed = seed
        self.steps = steps

    def for_episode(self, env: Env) -> RandomPolicy:
        """The policy whose actions are those of this episode."""
        return RandomPolicy(f"{self.seed}:{env.episode_id}", steps=self.steps)

    async def act(self, observation: Observation, history: History) -> Action:
        """A function of the seed and the number of the step."""
        if len(history) == self.steps:
            return Done()
        rng = random.Random(f"{self.seed}:{len(history)}")
        x, y = rng.randrange(observation.width), rng.randrange(observation.height)
        kind = rng.choices(("click", "key", "type", "scroll"), (14, 3, 2, 1))[0]
        if kind == "click":
            return Click(x, y)
        if kind == "key":
            return Key(rng.choice(_KEYS))
        if kind == "type":
            return Type("".join(rng.choices(_LETTERS, k=rng.randint(1, 8))))
        return Scroll(x, y, dy=rng.choice((-200, 200)))


class ReplayPolicy:
    """Does what was done before."""

    name = "replay"

    def __init__(self, actions: Sequence[Action] = (), *, episodes: Iterable[Episode] = ()):
        """
        Args:
            actions: For every episode; after the last one it is done.
            episodes: Stored ones, found again by id; an episode without a stored one gets `actions`.
        """
        self.actions = tuple(actions)
        self.episodes = {episode.id: episode for episode in episodes}

    def for_episode(self, env: Env) -> ReplayPolicy:
        """The replay of the stored episode with the same id.

        Raises:
            PolicyError: There are stored episodes, but not this one.
        """
        if not self.episodes:
            return self
        if env.episode_id not in self.episodes:
            raise PolicyError(f"no stored episode {env.episode_id} to replay; there are {len(self.episodes)} others")
        return ReplayPolicy([step.action for step in self.episodes[env.episode_id].steps])

    async def act(self, observation: Observation, history: History) -> Action:
        """The next action; `Done` after the last one."""
        return self.actions[len(history)] if len(history) < len(self.actions) else Done()
