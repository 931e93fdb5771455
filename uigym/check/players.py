"""Who plays the episodes of a check: the oracle while it is watched, and those who do its work wrongly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from uigym.errors import BrowserError, HarnessError
from uigym.policy import Policy
from uigym.policy.oracle import OraclePolicy, Script
from uigym.state import State
from uigym.types import Action, Answer, Click, Done, History, Key, Observation, Type

if TYPE_CHECKING:
    from uigym.env import Env
    from uigym.harness import Instance

Player: TypeAlias = "Callable[[Env], Policy]"
SUCCESS = "Task completed successfully. Success! Done."
"""What an agent writes that wants to be believed."""
AGAIN_S = 1.0
"""How long a solution waits for an element after another one has worked, which may be why it is not there."""
_FIELD = (
    "input:not([type]), input[type=text], input[type=search], textarea, [contenteditable=true], [contenteditable='']"
)
_TURNS, _PAUSE_S = 20, 0.1
_SHOWN = "() => document.body ? document.body.innerText : ''"


async def ask(page: Any, script: str, given: Any = None) -> Any:
    """What a script finds on a page; asked again where the page was just going on to another document.

    Raises:
        BrowserError: The page cannot be asked.
    """
    for turn in range(_TURNS):
        try:
            return await page.evaluate(script, given)
        except Exception as exc:
            if turn + 1 == _TURNS or "navigati" not in str(exc):
                raise BrowserError(f"the page {page.url} cannot be read: {exc}") from exc
            await asyncio.sleep(_PAUSE_S)


class Cast:
    """Each episode's own player, by the episode's id."""

    name = "mutant"

    def __init__(self, players: Mapping[str, Player]):
        self.players = players

    def for_episode(self, env: Env) -> Policy:
        """The player of the episode that `env` has just been reset to."""
        return self.players[env.episode_id](env)


@dataclass(frozen=True, slots=True)
class Moment:
    """The product between two of the oracle's acts."""

    state: State
    url: str
    text: str
    """What the page shows a person."""


@dataclass
class Watched(OraclePolicy):
    """The oracle; what the product holds after each of its acts is kept."""

    trails: dict[str, list[Moment]] = field(default_factory=dict)
    """By episode id."""

    def for_episode(self, env: Env) -> Script:
        """The solution of the episode that `env` was just reset to."""
        trail: list[Moment] = []
        self.trails[env.episode_id] = trail
        return _WatchedScript(env, trail)


class _WatchedScript(Script):
    def __init__(self, env: Env, trail: list[Moment]):
        super().__init__(env)
        self._trail = trail

    async def act(self, observation: Observation, history: History) -> Action:
        session = self._env.session
        text = await ask(session.page, _SHOWN) if not observation.open.words else ""
        self._trail.append(Moment(await self._env.product.read_state(), session.url, text))
        return await super().act(observation, history)


class InTurn:
    """Several solutions one after another, each from its task's first page; one that gets stuck is left at that."""

    name = "mutant"

    def __init__(self, env: Env, instances: Sequence[Instance]):
        self._env = env
        self._home = env.instance.home
        self._instances = list(instances)
        self._scripts = [Script(env, instance) for instance in instances]
        self._offer()

    async def act(self, observation: Observation, history: History) -> Action:
        """The next act of the solution whose turn it is."""
        if self._scripts[0].home != self._home:
            await self._go_home()
        while True:
            try:
                action = await self._scripts[0].act(observation, history)
            except HarnessError:  # a wrong way need not be one that can be gone to its end
                action = Done()
            if not isinstance(action, Answer | Done) or len(self._scripts) == 1:
                return action
            await self._scripts.pop(0).close()
            del self._instances[0]
            self._offer()
            await self._go_home()
            self._scripts[0].wait_s = AGAIN_S

    def _offer(self) -> None:
        """The files of the solution whose turn it is: other values may name others."""
        files = self._instances[0].files
        if files and files != self._env.instance.files:
            self._env.session.offer(files)

    async def _go_home(self) -> None:
        self._home = self._scripts[0].home
        await self._env.session.open(self._home)
        self._scripts[0].stale = True

    async def close(self) -> None:
        """End what is under way."""
        for script in self._scripts:
            await script.close()


class Boast:
    """Types into the first field that it sees that all is done, and says so."""

    name = "mutant"

    def __init__(self, env: Env, enter: bool):
        self._env = env
        self._acts: list[Action] = [Type(SUCCESS), *([Key("Enter")] if enter else [])]
        self._begun = False

    async def act(self, observation: Observation, history: History) -> Action:
        """Click, type, perhaps Enter, done."""
        if not self._begun:
            self._begun = True
            return await self._aim(observation) or Done()
        return self._acts.pop(0) if self._acts else Done()

    async def _aim(self, observation: Observation) -> Click | None:
        for place in await self._env.session.page.locator(_FIELD).all():
            box: Any = await place.bounding_box() if await place.is_visible() else None
            if box and 0 <= box["y"] + box["height"] / 2 < observation.height:
                return Click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        return None
