"""A person in a policy's place: what they do comes from the viewer, action by action, on settled pictures."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

from uigym.browser.touch import Hand
from uigym.env import Env
from uigym.store import RunStore
from uigym.types import Action, Episode, Type

GONE_S = 15.0
"""Who has not looked for so long has gone, and has let go."""
_WAITING = 50


class Guest:
    """Of one slot. What they have a hand in becomes an episode of its own, and a demonstration if it succeeds."""

    def __init__(self, env: Env, kept_in: Path):
        """
        Args:
            env: The slot's.
            kept_in: Folder of the run that their episodes go to.
        """
        self._env = env
        self._taken = ""  # id of the episode that they have taken over
        self._kept_in = kept_in
        self._actions: asyncio.Queue[Action] = asyncio.Queue(_WAITING)
        self._changed = asyncio.Event()
        self._looked_at = 0.0
        self._episode = ""
        self._since = 0
        self._withheld: set[int] = set()
        self._secrets: set[str] = set()

    @property
    def present(self) -> bool:
        """Whether they act now."""
        return bool(self._taken) and self._taken == self._env.episode_id

    def take(self) -> None:
        """They take over: what the policy decides from now on is not done.

        Raises:
            ValueError: No episode runs.
        """
        if self._env.episode is not None or self._env.observation is None:
            raise ValueError("no episode runs here just now")
        self._taken = self._env.episode_id
        self.look()

    def look(self) -> None:
        """They are still there."""
        self._looked_at = time.monotonic()

    def put(self, action: Action) -> None:
        """They want to do something.

        Raises:
            ValueError: They have not taken over, or want too much at once.
        """
        if not self.present:
            raise ValueError("take over first")
        if self._actions.full():
            raise ValueError(f"{_WAITING} actions are waiting already")
        self._actions.put_nowait(action)
        self.look()
        self._changed.set()

    def let_go(self) -> None:
        """The policy goes on."""
        self._taken = ""
        while not self._actions.empty():
            self._actions.get_nowait()
        self._changed.set()

    async def act(self, env: Env) -> Action | None:
        """What they do next; None once they have let go, or have gone."""
        if env.episode_id != self._episode:
            self._episode, self._since = env.episode_id, len(env.history)
            self._withheld, self._secrets = set(), set()
        await self._note(env)
        while self.present and self._actions.empty():
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), GONE_S / 5)
            except TimeoutError:
                if time.monotonic() - self._looked_at > GONE_S:
                    self.let_go()
        if not self.present:
            return None
        action = self._actions.get_nowait()
        if isinstance(action, Type) and await self._note(env):
            self._withheld.add(len(env.history))
        return action

    async def _note(self, env: Env) -> bool:
        """Whether a password field has the focus; what it holds is noted, so that it can be left out."""
        value = await Hand(env.session).secret()
        if value:
            self._secrets.add(value)
        return value is not None

    async def keep(self, env: Env) -> None:
        """Store the episode, and a demonstration's record beside it if it succeeded.

        Raises:
            StoreError: The folder cannot be written.
        """
        self.let_go()
        if env.episode is not None and env.episode.failure is None:
            await asyncio.to_thread(self._store, env, env.episode)

    def _store(self, env: Env, played: Episode) -> None:
        from uigym.record.demo import Demo, write_demo
        from uigym.record.withhold import withhold

        store = RunStore(self._kept_in)
        name = _free_name(store, f"{played.id}-by-hand")
        held = withhold(replace(played, id=name, group=""), self._withheld, self._secrets)
        store.write(held.episode, env.images)
        if played.verdict is not None and played.verdict.success:
            width, height = env.harness.viewport
            notes = {**held.notes, "taken_over_at": self._since}
            write_demo(store, name, Demo(played.policy, "takeover", width, height, played.scale, notes=notes))


def _free_name(store: RunStore, name: str) -> str:
    taken, number = set(store.ids()), 1
    while (named := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return named
