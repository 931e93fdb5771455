"""Environments that only take time: what a rollout costs apart from products and browsers.

Everything above them is real: the pool with its slots, deadlines, retries and circuit breaker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from uigym.env import Env, cause_of
from uigym.errors import UIGymError
from uigym.harness import Harness
from uigym.rollout import Pool
from uigym.slot import DEFAULT_LIMITS, Limits
from uigym.types import (
    Action,
    Decision,
    Episode,
    Failure,
    Observation,
    State,
    Step,
    StepRecord,
    Stop,
    Verdict,
)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """How one attempt at an episode goes."""

    reset_s: float = 0.0
    steps_s: Sequence[float] = (0.0,)
    """Of each step; the episode ends with the last."""
    score: float = 0.0
    error: UIGymError | None = None
    """Raised by the last step, instead of a verdict."""
    before: State = field(default_factory=State)


Scenes = Callable[[str, int, int], Scene]
"""Episode id, seed and attempt -> how it goes."""


class SimulatedEnv(Env):
    """Plays scenes; every step shows the same picture."""

    def __init__(self, harness: Harness, scenes: Scenes, png: bytes, limits: Limits):
        super().__init__(harness, limits=limits)
        self._scenes = scenes
        self._png = png
        self._scene = Scene()
        self._said: dict[str, Any] = {}
        self._steps: list[StepRecord] = []

    @property
    def history(self) -> tuple[StepRecord, ...]:
        """The steps so far."""
        return tuple(self._steps)

    @property
    def episode_id(self) -> str:
        """Of the current or last episode."""
        return str(self._said.get("id", ""))

    @property
    def before(self) -> State:
        """As the scene says."""
        return self._scene.before

    async def start(self) -> None:
        """Nothing is started."""

    async def reset(self, task: Any, seed: int, **said: Any) -> Observation:
        """Begin the scene of that episode."""
        name = said.pop("episode_id")
        self._scene = self._scenes(name, seed, said["attempt"])
        self._said = {"id": name, "task": str(task).rpartition("/")[2], "seed": seed, **said}
        self._steps, self.episode = [], None
        await asyncio.sleep(self._scene.reset_s)
        seen = self._look()
        self.images = {seen.image_hash: self._png}
        return seen

    async def step(self, action: Action | Decision) -> Step:
        """Take the step's time; the last one ends the episode."""
        chosen = action if isinstance(action, Decision) else Decision(action)
        number, seen = len(self._steps), self._look()
        await asyncio.sleep(self._scene.steps_s[number])
        took_ms = self._scene.steps_s[number] * 1000
        self._steps.append(StepRecord(seen.image_hash, chosen.action, chosen.text, latency_ms=took_ms))
        if len(self._steps) < len(self._scene.steps_s):
            return Step(seen, 0.0, False, False, {})
        if self._scene.error is not None:
            await self.fail(self._scene.error)
            raise self._scene.error
        score = self._scene.score
        self.episode = self._ended(Stop.DONE, verdict=Verdict(score, score == 1.0))
        return Step(seen, score, True, False, {})

    async def fail(self, error: Exception) -> Episode:
        """End the episode without a verdict."""
        self.episode = self._ended(Stop.ERROR, failure=Failure(cause_of(error), str(error)))
        return self.episode

    def _look(self) -> Observation:
        return Observation(self._png, *self.harness.viewport, "Do it.")

    def _ended(self, stop: Stop, **rest: Any) -> Episode:
        return Episode(
            harness=self.harness.name,
            params={},
            instruction="Do it.",
            steps=self.history,
            stop=stop,
            before=self._scene.before,
            **self._said,
            **rest,
        )


class SimulatedPool(Pool):
    """A pool whose environments are simulated: no product, no browser.

    Args:
        harness: Whose tasks are named; nothing of it is started.
        scenes: How each episode goes.
        png: The picture that is shown.
        slots: Episodes at once.
        options: See `Pool`.
    """

    def __init__(
        self,
        harness: Harness,
        scenes: Scenes,
        png: bytes,
        *,
        slots: int = 4,
        limits: Limits = DEFAULT_LIMITS,
        **options: Any,
    ):
        super().__init__(harness, slots=slots, limits=limits, **options)
        self._browsers = []
        self._envs = [SimulatedEnv(harness, scenes, png, limits) for _ in range(slots)]
