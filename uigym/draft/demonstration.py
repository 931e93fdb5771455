"""One demonstration: a person's actions, performed in a real episode, with what each of them was aimed at."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from uigym.draft.aim import Target, aim
from uigym.draft.unsteady import owned
from uigym.env import Env, Limits
from uigym.errors import ConfigError, UIGymError
from uigym.harness import Harness, Task
from uigym.state import Changed, State, differences
from uigym.types import Action, Answer, Click, Done, Episode, Observation, Verdict, action_from_json

if TYPE_CHECKING:
    from uigym.browser import Browser, Frame

LIMITS = Limits(episode_s=86_400, max_steps=10_000, max_invalid=10_000)
AIM_S = 3.0
SEED = 0


@dataclass(frozen=True, slots=True)
class Act:
    """An action that was performed."""

    action: Action
    target: Target | None = None
    """What a click was aimed at; None if that cannot be said."""
    picked: str = ""
    """What the native list or picker that the click opened was left with, if it was an option's text or a value."""
    kind: str = ""
    """Of that picker: list, date and so on."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the demonstrator says about it."""

    instruction: str
    answer: str = ""


class Demonstration:
    """An episode that a person plays."""

    def __init__(self, harness: Harness, browser: Browser):
        self.harness = harness
        self.acts: list[Act] = []
        """What was done, with what is chosen in a native list as one act."""
        self.every: list[Act] = []
        """All of it, one by one."""
        self.observation: Observation | None = None
        self._env = Env(harness, browser, limits=LIMITS)
        self._lock = asyncio.Lock()
        self.kept: tuple[str, ...] = ()
        """What the demonstration has changed in the browser, such as "local storage"; told when it has ended."""
        self._stored: State | None = None
        self._picking: tuple[int, Target, str] | None = None

    async def begin(self) -> tuple[Changed, ...]:
        """Start the product and the browser; returns what changes by itself when the first page is opened.

        Raises:
            ProductError, BrowserError: One of them does not start.
        """
        self.observation = await self._env.reset(_free(self.harness), SEED)
        self._stored = await self._storage()
        return tuple(differences(self._env.before, await self._env.product.read_state()))

    async def owners(self) -> list[Collection[str]]:
        """The tables that each of the harness's probes gives."""
        return await owned(self.harness.state, self._env.product)

    async def act(self, action: Action) -> Observation:
        """Perform an action; one that is refused says so in the observation's `error`, and is not kept.

        Raises:
            ProductError, BrowserError: The product or the browser is gone.
        """
        async with self._lock:
            target = await self._aim(action) if isinstance(action, Click) and not self._picking else None
            observation = (await self._env.step(action)).observation
            self.observation = observation
            if observation.error is None:
                self.every.append(Act(action, target))
                if self._picking is None:
                    self.acts.append(Act(action, target))
                await self._look_for_picker(target)
            return observation

    async def look(self) -> Frame:
        """The picture now, without an action."""
        async with self._lock:
            return await self._env.session.look()

    async def end(self, told: Told) -> Episode:
        """The episode with the states before and after it.

        Raises:
            ProductError, BrowserError: The state cannot be read, or the page is gone.
        """
        async with self._lock:
            old, new = self._stored, await self._storage()
            moved = {change.table for change in differences(old, new)} if old and new else set()
            self.kept = tuple(sorted(table.removeprefix("browser.").replace("_", " ") for table in moved))
            await self._env.step(Answer(told.answer) if told.answer else Done())
            assert self._env.episode is not None
            return self._env.episode

    async def close(self) -> None:
        """Stop the product."""
        await self._env.close()

    async def _storage(self) -> State | None:
        """What the browser keeps, for a hint; None if the page does not tell, or would have to close a dialog for it."""
        if self.observation is None or self.observation.open.dialog or self.observation.open.chooser:
            return None
        try:
            return await self._env.session.storage(AIM_S)
        except UIGymError:
            return None

    async def _aim(self, action: Click) -> Target | None:
        try:
            async with asyncio.timeout(AIM_S):
                return await aim(self._env.session, action.x, action.y)
        except UIGymError:
            raise
        except Exception:  # the page stands still, or goes on to another document: it is clicked all the same
            return None

    async def _look_for_picker(self, target: Target | None) -> None:
        """A native list is drawn by the browser and not by the page: it is told by what was chosen in it."""
        open_now = self._env.session.picker
        if self._picking is None:
            if open_now and target is not None:
                self._picking = (len(self.acts) - 1, target, open_now)
            return
        if open_now:
            return
        place, aimed, kind = self._picking
        self._picking = None
        locator = aimed.locate(self._env.session.page)
        reading = "el => el.selectedOptions[0]?.label.trim() ?? ''" if kind == "list" else "el => el.value"
        self.acts[place] = Act(self.acts[place].action, aimed, await locator.evaluate(reading, timeout=3_000), kind)


def read_actions(path: Path) -> list[Action]:
    """The actions of a file of JSON lines, such as {"action": "click", "x": 10, "y": 20}.

    Raises:
        ConfigError: It is missing or empty, or a line is no action; the text has its number.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"cannot read the actions of {path}: {exc}") from exc
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError(f"expected an object, got {line[:80]}")
            found.append(action_from_json(record))
        except ValueError as exc:
            raise ConfigError(
                f'{path}, line {number}: {exc}; expected one action per line, such as {{"action": "click", "x": 1, "y": 2}}'
            ) from exc
    if not found:
        raise ConfigError(f"{path} holds no action")
    return found


async def play_actions(demonstration: Demonstration, actions: Sequence[Action]) -> str:
    """Perform recorded actions; returns the answer that they end with, or "".

    Raises:
        ConfigError: One of them was refused.
    """
    for number, action in enumerate(actions, 1):
        if isinstance(action, Answer):
            return action.text
        if isinstance(action, Done):
            break
        observation = await demonstration.act(action)
        if observation.error is not None:
            raise ConfigError(f"action {number}, {action}, was refused: {observation.error}")
    return ""


def picture_name(png: bytes) -> str:
    """A name for a picture that is another one's only if they are equal."""
    return hashlib.sha256(png).hexdigest()[:24]


def _free(harness: Harness) -> Task:
    """A task that anything fulfils."""

    def anything() -> object:
        return lambda episode: Verdict(1.0, True)

    return Task(harness, "demonstration", ("Show it.",), (), anything, {}, 10_000)  # type: ignore[arg-type]
