"""A person's way through the tasks that are to be shown: one attempt after another, each proven as it ends."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from uigym.env import Env, Limits
from uigym.errors import ConfigError, UIGymError
from uigym.record.attempt import Attempt, Giver, Prove, conclude
from uigym.record.events import Raw
from uigym.record.live import Live
from uigym.record.words import words
from uigym.rollout import Request
from uigym.store import RunStore
from uigym.types import NOTHING_OPEN, Answer, Done

LIMITS = Limits(episode_s=86_400, max_steps=10_000, max_invalid=10_000)
"""For the environment that a person plays in: they take their time."""
_MOST_SHOWN = 300
Phase = Literal["starting", "showing", "undoing", "checking", "judged", "broken", "ended"]
COMMANDS = ("done", "answer", "undo", "again", "discard", "next", "end")


@dataclass(frozen=True, slots=True)
class Command:
    """What a person asks for beside the product."""

    name: str
    text: str = ""
    """Of an answer."""


@dataclass(slots=True)
class Tally:
    """What came of it."""

    counted: int = 0
    """Demonstrations that count."""
    others: int = 0
    """Attempts that were kept and do not count."""
    skipped: int = 0
    """Tasks for which nothing was kept."""
    steps: int = 0
    """Actions in those that count."""


class Studio:
    """Goes through the requests with a person. Give it to a page, and await `run`."""

    def __init__(self, env: Env, wanted: Sequence[Request], store: RunStore, giver: Giver, prove: Prove):
        """
        Args:
            env: Made with `LIMITS`.
            wanted: What is to be shown.
            store: Where it goes.
            giver: Who gives it.
            prove: Says whether an attempt counts.
        """
        if not wanted:
            raise ConfigError(f"nothing to record: {env.harness.name} has no such task")
        self.env = env
        self.tally = Tally()
        self.live: Live | None = None
        self.version = 0
        """Grows with every change that the page shows."""
        self.began = 0
        """Attempts begun so far."""
        self._wanted, self._store, self._giver, self._prove = tuple(wanted), store, giver, prove
        self._number = 0
        self._phase: Phase = "starting"
        self._result: Attempt | None = None
        self._trouble = self._instruction = ""
        self._commands: asyncio.Queue[Command] = asyncio.Queue()
        self._working: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    # --- for the page --------------------------------------------------------------------------------------

    def put(self, raws: Sequence[Raw]) -> None:
        """Take what the person did in the product."""
        if self._phase == "showing" and self.live is not None:
            self.live.put(raws)

    def ask(self, command: Command) -> None:
        """Take what the person asks for.

        Raises:
            ValueError: There is no such command, or not now.
        """
        if command.name not in _ALLOWED[self._phase]:
            raise ValueError(f"{command.name!r:.40} cannot be asked for now")
        self._commands.put_nowait(command)

    def leave(self) -> None:
        """The person has gone, without a word."""
        self._commands.put_nowait(Command("end"))

    async def changed(self, version: int, patience_s: float) -> None:
        """Returns once there is another version, or after so long."""
        if version == self.version:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), patience_s)

    def state(self) -> dict[str, Any]:
        """All that the page shows beside the picture, as JSON values."""
        live, request = self.live, self._request
        harness = self.env.harness
        task = harness.find_task(request.task)
        acts = live.reducer.acts() if live else ()
        there = live.open if live else NOTHING_OPEN
        showing = live is not None and self._phase in ("showing", "checking", "judged")
        return {
            "version": self.version,
            "phase": self._phase,
            "harness": harness.name,
            "task": task.name,
            "seed": request.seed,
            "number": self._number + 1,
            "total": len(self._wanted),
            "counted": self.tally.counted,
            "instruction": self._instruction,
            "limit": task.max_steps,
            "width": harness.viewport[0],
            "height": harness.viewport[1],
            "steps": [words(act) for act in acts[-_MOST_SHOWN:]],
            "count": len(acts),
            "note": live.note if live else "",
            "open": dataclasses.asdict(there),
            "grants": [grant.__name__.lower() for grant in harness.grants],
            "clipboard": live.hand.clipboard if live and showing else "",
            "result": _told(self._result) if self._result else None,
            "trouble": self._trouble,
        }

    # --- the way through -----------------------------------------------------------------------------------

    async def run(self) -> Tally:
        """Go through all of it; returns when the person has ended it, or nothing is left.

        Raises:
            StoreError: The folder cannot be written.
        """
        try:
            while self._number < len(self._wanted):
                if not await self._one():
                    break
                self._number += 1
        finally:
            await self._stop_live()
        self._number = min(self._number, len(self._wanted) - 1)
        self._to("ended")
        return self.tally

    @property
    def _request(self) -> Request:
        return self._wanted[min(self._number, len(self._wanted) - 1)]

    async def _one(self) -> bool:
        """One task, until it is left; False if all is to end."""
        await self._begin()
        while True:
            command = await self._commands.get()
            if command.name not in (*_ALLOWED[self._phase], "end"):
                continue  # asked for twice, or as things changed
            match command.name:
                case "done" | "answer":
                    await self._conclude(Answer(command.text) if command.name == "answer" else Done())
                case "undo":
                    await self._undo()
                case "again":
                    self._take_back()
                    await self._begin()
                case "discard" | "next":
                    self._count(dropped=command.name == "discard")
                    return True
                case _:
                    self._count(dropped=False)
                    return False

    async def _begin(self, undone: Live | None = None) -> None:
        """A new attempt; with `undone`, what was done in that one but for its last act is done again."""
        self._to("undoing" if undone else "starting")
        await self._stop_live()
        self._result, self._trouble, self._instruction = None, "", ""
        request = self._request
        name = _free_name(self._store, request.id(self.env.harness.name))
        try:
            seen = await self.env.reset(request.task, request.seed, episode_id=name, group=name, policy=self._giver.by)
            live = Live(self.env, seen.png, self.tell)
            if undone is not None:
                acts = undone.reducer.acts()
                await live.replay(undone.reducer.raws[: acts[-1].begin], acts[:-1])
        except UIGymError as error:
            await self._break(error)
            return
        self.live, self.began, self._instruction = live, self.began + 1, seen.instruction
        self._working = asyncio.create_task(live.run())
        self._to("showing")

    async def _undo(self) -> None:
        if self.live is not None:
            await self.live.idle()
            if self.live.reducer.acts():
                await self._begin(self.live)

    async def _conclude(self, ending: Answer | Done) -> None:
        live = self.live
        assert live is not None
        await live.idle()
        if live.failure is not None:
            await self._break(live.failure)
            return
        self._to("checking")
        await self._stop_live()
        try:
            self._result = await conclude(live, ending, self._store, self._giver, self._prove, tell=self.tell)
        except UIGymError as error:
            await self._break(error)
            return
        self._to("judged")

    async def _break(self, error: UIGymError) -> None:
        """The machinery failed: nothing of this attempt counts."""
        await self._stop_live()
        if self.env.episode is None and self.env.episode_id:
            await self.env.fail(error)
        self._trouble = str(error)
        self._to("broken")

    def _take_back(self) -> None:
        """An attempt that is stored already is taken out again."""
        if self._result is not None:
            shutil.rmtree(self._store.directory / "episodes" / self._result.episode.id, ignore_errors=True)
            self._result = None

    def _count(self, *, dropped: bool) -> None:
        if dropped:
            self._take_back()
        if self._result is None:
            self.tally.skipped += 1
        elif self._result.proof.counts:
            self.tally.counted += 1
            self.tally.steps += len(self._result.episode.steps)
        else:
            self.tally.others += 1

    async def _stop_live(self) -> None:
        if self.live is not None:
            self.live.close()
        working, self._working = self._working, None
        if working is not None:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    def _to(self, phase: Phase) -> None:
        self._phase = phase
        self.tell()

    def tell(self) -> None:
        """Something that the page shows has changed."""
        live = self.live
        ended = live is not None and (live.over or live.failure is not None)
        if self._phase == "showing" and ended and self._commands.empty():
            self._commands.put_nowait(Command("done"))
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()


_ALLOWED: dict[Phase, tuple[str, ...]] = {
    "starting": ("end",),
    "showing": ("done", "answer", "undo", "again", "discard", "end"),
    "undoing": ("end",),
    "checking": (),
    "judged": ("again", "discard", "next", "end"),
    "broken": ("again", "discard", "end"),
    "ended": (),
}


def _free_name(store: RunStore, name: str) -> str:
    """The episode's id, or that with a number if there is one of it already."""
    taken, number = set(store.ids()), 1
    while (named := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return named


def _told(attempt: Attempt) -> dict[str, Any]:
    """Whether an attempt counts, and why not, as the page shows it."""
    verdict, proof = attempt.episode.verdict, attempt.proof
    assert verdict is not None
    return {
        "counts": proof.counts,
        "reason": proof.reason,
        "checks": [
            {"what": "The verifier passes", "holds": verdict.success},
            {"what": "Played again, it passes and ends in the same state", "holds": proof.passes and proof.same_state},
            {"what": "Doing nothing does not pass", "holds": proof.idle_fails},
        ]
        if verdict.success
        else [{"what": "The verifier passes", "holds": False}],
        "steps": len(attempt.episode.steps),
        "id": attempt.episode.id,
    }
