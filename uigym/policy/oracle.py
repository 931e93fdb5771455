"""The oracle: a task's scripted solution, played as a policy."""

from __future__ import annotations

import asyncio
import inspect
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from types import CoroutineType, TracebackType
from typing import TYPE_CHECKING, Any

from uigym.errors import BrowserError, HarnessError
from uigym.policy.hands import WAIT_S, by_hand
from uigym.types import Action, Answer, Done, History, Observation, Wait

if TYPE_CHECKING:
    from uigym.env import Env
    from uigym.harness import Instance

_log = logging.getLogger(__name__)
PATIENCE_S = 60.0
"""How long an oracle may think, or wait for the page, between two actions."""
_GONE = ("TargetClosedError", "Target crashed", "Page crashed", "has been closed")


class OraclePolicy:
    """Solves each task by its oracle, one action at a time, as any policy would."""

    name = "oracle"

    async def act(self, observation: Observation, history: History) -> Action:
        """Not possible: an oracle needs its episode's page and parameters.

        Raises:
            HarnessError: Always; use what `for_episode` returns.
        """
        raise HarnessError("the oracle acts through for_episode(env), which gives it the page and the parameters")

    def for_episode(self, env: Env) -> Script:
        """The solution of the episode that `env` was just reset to.

        Raises:
            HarnessError: The task has no oracle.
        """
        return Script(env)


class Script:
    """One run of an oracle: a coroutine that stops at each of its acts until the act was performed."""

    name = "oracle"

    def __init__(self, env: Env, instance: Instance | None = None):
        """
        Args:
            env: Just reset.
            instance: What to solve in it; None is the task that the episode is about.

        Raises:
            HarnessError: The task has no oracle.
        """
        self._instance = instance or env.instance
        task = self._instance.task
        if task.solve is None:
            raise HarnessError(
                f"task {task.id} has no oracle. Write one: @{task.name}.oracle async def _(page, ...): ..."
            )
        self.held: list[str] = []
        self.stale = False
        self.wait_s = WAIT_S
        self._env = env
        self._function: Callable[..., Any] = inspect.unwrap(task.solve)
        self._coroutine: CoroutineType[Any, Any, str | None] | None = None
        self._task: asyncio.Task[str | None] | None = None
        self._offered: asyncio.Queue[Action] = asyncio.Queue()
        self._seen: asyncio.Future[Observation] | None = None

    @property
    def home(self) -> str:
        """Path at which what it solves begins."""
        return self._instance.home

    @property
    def pointer(self) -> tuple[float, float]:
        """Where the mouse is; the top left corner before its first movement."""
        return self._env.session.pointer or (0.0, 0.0)

    @property
    def picker(self) -> str:
        """Kind of the picker that is open; empty if none is."""
        return self._env.session.picker

    async def aim_at_option(self, index: int) -> dict[str, Any]:
        """Where an option of the open list is, or how far to scroll first."""
        return await self._env.session.aim_at_option(index)

    async def act(self, observation: Observation, history: History) -> Action:
        """The oracle's next action; at its end, its answer.

        Raises:
            HarnessError: The oracle raised or waited for too long; the text has its line.
            BrowserError: The browser went away under the oracle.
        """
        if self._task is None:
            self._task = asyncio.create_task(self._solve())
        elif self._seen is not None:
            seen, self._seen = self._seen, None
            seen.set_result(observation)
        offer = asyncio.create_task(self._offered.get())
        try:
            await asyncio.wait([offer, self._task], return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE_S)
            if offer.done():
                return offer.result()
        finally:
            offer.cancel()
        if not self._task.done():
            raise HarnessError(f"{self._where(None)} gave no action for {PATIENCE_S:g} s")
        return self._end(self._task)

    async def take(self, action: Action) -> None:
        """Hand an action over and return once it was performed; called by the page.

        Raises:
            HarnessError: The environment refused it, or another act is under way.
        """
        if self.stale:
            self.stale = False
            await self.take(Wait(0.1))
        if self._seen is not None:
            raise HarnessError("two acts at once: await each act of the page before the next")
        self._seen = asyncio.get_running_loop().create_future()
        self._offered.put_nowait(action)
        observation = await self._seen
        if observation.error is not None:
            raise HarnessError(f"{action} was refused: {observation.error}")

    async def close(self) -> None:
        """End the coroutine, whatever it is waiting for."""
        task = self._task
        for _ in range(3):
            if task is None or task.done():
                break
            task.cancel()
            await asyncio.wait([task], timeout=1.0)
        else:
            _log.warning("%s does not let itself be cancelled", self._where(None))
        if task is not None and task.done() and not task.cancelled():
            task.exception()  # was told by act, or came after the episode's end

    async def _solve(self) -> str | None:
        wanted = inspect.signature(self._function).parameters
        params = {name: value for name, value in self._instance.params.items() if name in wanted}
        result = self._function(by_hand(self._env.session.page, self), **params)
        if not inspect.iscoroutine(result):
            raise HarnessError("an oracle must be an async function: async def _(page, ...)")
        self._coroutine = result
        try:
            return await result
        except SystemExit as exc:  # would end the event loop
            raise HarnessError(f"sys.exit({exc.code!r}) was called") from exc

    def _end(self, task: asyncio.Task[str | None]) -> Action:
        if task.cancelled():
            raise HarnessError(f"{self._where(None)} was cancelled, but not by uigym")
        error = task.exception()
        if error is not None:
            said = f"{type(error).__name__}: {error}"
            if any(sign in said for sign in _GONE):
                raise BrowserError(f"the browser went away under the oracle of {self._instance.id}: {error}")
            message = str(error) if isinstance(error, HarnessError) else said
            raise HarnessError(f"{self._where(error.__traceback__)}: {message}") from error
        answer = task.result()
        if answer is None:
            return Done()
        if not isinstance(answer, str):
            raise HarnessError(f"{self._where(None)} returned {answer!r}; expected text (the answer) or None (done)")
        return Answer(answer)

    def _where(self, trace: TracebackType | None) -> str:
        """The oracle's own line in a traceback; without one, where it is waiting now."""
        instance, code = self._instance, self._function.__code__
        lines = [f.lineno for f in traceback.extract_tb(trace) if f.filename == code.co_filename and f.lineno]
        frame = self._coroutine.cr_frame if self._coroutine else None
        line = lines[-1] if lines else frame.f_lineno if frame else code.co_firstlineno
        return f"the oracle of {instance.id}, seed {instance.seed}, {Path(code.co_filename).name} line {line}"
