"""From a recording to a demonstration: done once in the harness, judged, stored, and played again to be proven."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from uigym.env import Env
from uigym.errors import BrowserError, HarnessError, attribute
from uigym.exchange.importing.act import Actor, EnvHands
from uigym.exchange.importing.asked import Asked, Do, Leave, Recording
from uigym.harness import Harness
from uigym.product.calls import finished
from uigym.record.demo import Demo, write_demo
from uigym.record.prove import prove
from uigym.record.withhold import Withheld, withhold
from uigym.rollout import Pool, Request
from uigym.slot import Limits
from uigym.store import RunStore
from uigym.types import Answer, Dialog, Done, Episode, Stop, Verdict
from uigym.verify import judge

_LIMITS = Limits(max_steps=100_000, episode_s=7200.0)
"""A recording ends by itself; how many steps the task allows is for those who learn from it."""
_GONE = ("TargetClosedError", "Target crashed", "Page crashed", "has been closed")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a recording is to become."""

    task: str
    """Name of the task."""
    seed: int
    source: str = ""
    """Format and file: "devtools order.json"."""
    by: str = "person"
    """Who gave the recording."""
    answer: str | None = None
    """With what to end; None ends with what the recording says, if the task needs it."""
    accept: bool = True
    """What dialogs are told: recordings do not say it."""
    keep_going: bool = False
    """Go on after a step that cannot be done."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What is to be said of a step."""

    number: int
    """As people count the steps of the file: from 1."""
    words: str
    """The step."""
    why: str
    """Why it could not be done, or was left out, or came out otherwise."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import."""

    episode: Episode | None
    """None if a step could not be done, so that nothing was stored."""
    demo: Demo | None
    unresolved: tuple[Remark, ...]
    """Steps that could not be done."""
    left_out: tuple[Remark, ...]
    """Steps in which a hand has nothing to do."""
    remarks: tuple[Remark, ...]
    """Steps that came out otherwise than recorded."""

    @property
    def counts(self) -> bool:
        """Whether it is a demonstration."""
        return self.demo is not None and self.demo.proof is not None and self.demo.proof.counts


class Importer:
    """Turns recordings into demonstrations of one harness; use it as a context manager.

    Example:
        >>> async def bring(harness, recording, plan):  # doctest: +SKIP
        ...     async with Importer(harness, RunStore("data/demos")) as importer:
        ...         return await importer.bring_in(recording, plan)
    """

    def __init__(self, harness: Harness, store: RunStore):
        self.harness, self.store = harness, store
        self._env = Env(harness, limits=_LIMITS)
        self._pool = Pool(harness, slots=1, limits=_LIMITS, max_failure_rate=1.0)
        self._opened = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        try:
            await self._env.close()
        finally:
            await self._pool.close()

    async def bring_in(self, recording: Recording, plan: Plan) -> Imported:
        """Do a recording in the harness, store what came of it as an episode with its record, and prove it.

        Args:
            recording: What is asked for.
            plan: The task, the seed, and what the recording does not say.

        Raises:
            HarnessError: There is no such task.
            ProductError, BrowserError, VerifierError: The machinery failed; what was stored is not proven.
            StoreError: The folder cannot be written.
        """
        done, told, images = await follow(self._env, recording, plan)
        if done.episode is None or done.demo is None:
            return done
        self.store.write(done.episode, images)
        write_demo(self.store, done.episode.id, done.demo)
        if not self._opened:
            await self._pool.__aenter__()
            self._opened = True
        proof = await prove(self.harness, done.episode, done.demo, told=told, pool=self._pool)
        demo = dataclasses.replace(done.demo, proofs=(proof,))
        write_demo(self.store, done.episode.id, demo)
        return dataclasses.replace(done, demo=demo)


async def follow(env: Env, recording: Recording, plan: Plan) -> tuple[Imported, Mapping[int, str], Mapping[str, bytes]]:
    """Do a recording in an environment with room for its steps.

    Returns:
        What came of it, not proven; texts of passwords by step, which were left out of it; its pictures by hash.

    Raises:
        HarnessError: There is no such task.
        ProductError, BrowserError, VerifierError: The machinery failed.
    """
    run = await _Run.begin(env, recording, plan)
    if not await run.all():
        return run.result(None, None), {}, {}
    withheld = withhold(await run.end(), run.secrets, run.secrets.values())
    return run.result(withheld.episode, run.demo(withheld)), withheld.told, dict(env.images)


def episode_id(harness: str, plan: Plan, steps: Iterable[Asked]) -> str:
    """A function of the task, the seed and what the recording asks for: who imports it again replaces it.

    Not of texts that were typed, among which may be a password.
    """
    said = [plan.source, *(f"{step.number} {step.words}" for step in steps)]
    digest = hashlib.sha256("\n".join(said).encode()).hexdigest()[:8]
    return Request(plan.task, plan.seed, f"import-{digest}").id(harness)


class _Run:
    """One recording in one episode."""

    def __init__(self, env: Env, recording: Recording, plan: Plan, hands: EnvHands):
        self._env, self._recording, self._plan, self._hands = env, recording, plan, hands
        self._actor = Actor(env, hands)
        self._unresolved: list[Remark] = []
        self._left_out: list[Remark] = []
        self._remarks: list[Remark] = []
        said, asked = recording.about.get("instruction"), env.instance.instruction
        if said and said != asked:
            self._remarks.append(
                Remark(0, "the instruction", f"the file has {said!r:.300} where the task has {asked!r:.300}")
            )

    @classmethod
    async def begin(cls, env: Env, recording: Recording, plan: Plan) -> _Run:
        """Reset the environment for it."""
        name = episode_id(env.harness.name, plan, recording.steps)
        seen = await env.reset(plan.task, plan.seed, episode_id=name, policy=plan.by)
        asks = any(isinstance(step.act, Do) and isinstance(step.act.action, Dialog) for step in recording.steps)
        return cls(env, recording, plan, EnvHands(env, seen, None if asks else plan.accept))

    @property
    def secrets(self) -> dict[int, str]:
        """What was typed into password fields, by step."""
        return self._actor.secrets

    async def all(self) -> bool:
        """Do every step; whether the episode is worth keeping."""
        for asked in self._recording.steps:
            if isinstance(asked.act, Leave):
                self._left_out.append(Remark(asked.number, asked.words, asked.act.why))
            elif self._env.episode is not None:
                self._unresolved.append(Remark(asked.number, asked.words, self._why_over()))
                break
            elif not await self._one(asked) and not self._plan.keep_going:
                break
        return not self._unresolved or self._plan.keep_going

    async def _one(self, asked: Asked) -> bool:
        try:
            with attribute(HarnessError, "looking at the page"):
                await self._actor.do(asked)
        except HarnessError as exc:
            if any(sign in str(exc) for sign in _GONE):
                raise BrowserError(f"the browser went away in step {asked.number}: {exc}") from exc
            self._unresolved.append(Remark(asked.number, asked.words, str(exc)))
            return False
        self._remarks += [Remark(asked.number, asked.words, remark) for remark in self._actor.remarks]
        return True

    async def end(self) -> Episode:
        """End the episode, unless it is over; what it is worth."""
        said = self._recording.answer if self._plan.answer is None else Answer(self._plan.answer)
        is_open = self._env.episode is None
        if is_open:
            await self._actor.end(said or Done())
        episode = self._env.episode
        assert episode is not None
        allowed = self._env.instance.task.max_steps
        if len(episode.steps) > allowed:
            why = f"it takes {len(episode.steps)} actions, and an agent may take {allowed}"
            self._remarks.append(Remark(len(self._recording.steps), "the end", why))
        if is_open and said is not None and self._plan.answer is None:
            return await self._without_needless_answer(episode)
        return episode

    async def _without_needless_answer(self, episode: Episode) -> Episode:
        """An agent's parting words are no answer where the verifier passes without them."""
        last = dataclasses.replace(episode.steps[-1], action=Done())
        steps = (*episode.steps[:-1], last)
        bare = dataclasses.replace(episode, steps=steps, stop=Stop.DONE, answer=None, verdict=None)
        verdict: Verdict = await finished(judge, self._env.instance.verifier, bare)
        return dataclasses.replace(bare, verdict=verdict) if verdict.success else episode

    def demo(self, withheld: Withheld) -> Demo:
        """The record beside the episode."""
        recording, (width, height) = self._recording, self._env.harness.viewport
        notes = {**recording.about, **withheld.notes}
        if recording.size not in (None, (width, height)):
            notes["recorded_in"] = recording.size
        for name, told in (("unresolved", self._unresolved), ("remarks", self._remarks)):
            if told:
                notes[name] = [f"step {one.number}, {one.words}: {one.why}" for one in told]
        if self._hands.answered:
            notes["dialogs"] = list(self._hands.answered)
        return Demo(self._plan.by, "import", width, height, withheld.episode.scale, self._plan.source, notes)

    def result(self, episode: Episode | None, demo: Demo | None) -> Imported:
        """What is told of it."""
        return Imported(episode, demo, tuple(self._unresolved), tuple(self._left_out), tuple(self._remarks))

    def _why_over(self) -> str:
        episode = self._env.episode
        assert episode is not None
        return f"the episode was over before it: {episode.stop}, after {len(episode.steps)} actions"
