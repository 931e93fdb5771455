"""One environment: a product and a browser session, used for one episode after another.

The only place that sets reward, terminated and truncated. An episode gets a verdict or one attributed failure, never
both, never neither: what a policy does badly is scored, what the machinery does badly is raised and scores nothing.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from uigym.browser import UNTIMED, Frame, Session, Spent
from uigym.errors import (
    ActionRefused,
    BrowserError,
    HarnessError,
    PolicyError,
    ProductError,
    UIGymError,
    VerifierError,
    attribute,
)
from uigym.harness import Harness, Instance, Split, Task
from uigym.product import Product
from uigym.product.calls import finished
from uigym.slot import DEFAULT_LIMITS, GRACE_S, Sessions, Slot, within
from uigym.slot import Limits as Limits
from uigym.sound import plain, sound
from uigym.types import (
    Action,
    Answer,
    Cause,
    Decision,
    Done,
    Episode,
    Failure,
    Invalid,
    Observation,
    State,
    Step,
    StepRecord,
    Stop,
    Verdict,
)
from uigym.verify import judge

CAUSES: dict[type[UIGymError], Cause] = {
    ProductError: Cause.PRODUCT,
    BrowserError: Cause.BROWSER,
    PolicyError: Cause.POLICY,
    VerifierError: Cause.VERIFIER,
    HarnessError: Cause.HARNESS,
}


@dataclass(kw_only=True)
class _Draft:
    """An episode in the making."""

    id: str
    task: Task
    seed: int
    group: str
    policy: str
    attempt: int
    started: float = field(default_factory=time.monotonic)
    instance: Instance | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    before: State = field(default_factory=State)
    appearance: Mapping[str, str] = field(default_factory=dict)
    steps: list[StepRecord] = field(default_factory=list)
    last_image: str = ""
    refused: int = 0
    by_hand: bool = False
    """It does not end by its limits."""
    spent_s: float = 0.0
    seen_at: float = 0.0
    """When the last picture was given to the policy."""
    thought_ms: float = 0.0
    """From that picture to the action."""
    timed: Spent = UNTIMED
    """Where the time of the last action went."""

    def episode(self, stop: Stop, **rest: Any) -> Episode:
        return Episode(
            id=self.id,
            harness=self.task.harness.name,
            task=self.task.name,
            seed=self.seed,
            params=self.params,
            instruction=self.instance.instruction if self.instance else "",
            steps=tuple(self.steps),
            stop=stop,
            before=self.before,
            appearance=self.appearance,
            final_image=self.last_image,
            watched=tuple(self.task.harness.watch),
            scale=self.task.harness.surroundings.scale,
            group=self.group,
            policy=self.policy,
            wall_s=time.monotonic() - self.started,
            attempt=self.attempt,
            **rest,
        )


class Env:
    """`reset` begins an episode, `step` takes one action; when it has ended, `episode` holds the record.

    A browser and a product that are given are used and left running; those that are not given are started when
    first needed and end with `close`.
    """

    def __init__(
        self,
        harness: Harness,
        browser: Sessions | None = None,
        product: Product | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
    ):
        self.harness = harness
        self.limits = limits
        self.episode: Episode | None = None
        """The last episode, once it has ended."""
        self.images: dict[str, bytes] = {}
        """PNG by hash: every picture of the current or last episode."""
        self._slot = Slot(harness, browser, product, limits)
        self.onlooker: Callable[[Action], Awaitable[None]] | None = None
        """Told of every action just before and just after it is performed; for recorders, never for policies."""
        self._draft: _Draft | None = None
        self._observation: Observation | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    # --- what is there ---

    @property
    def session(self) -> Session:
        """The browser session of the running episode; for privileged policies and verifiers' authors."""
        return self._slot.session

    @property
    def product(self) -> Product:
        """The product under use."""
        return self._slot.product

    @property
    def instance(self) -> Instance:
        """The task of the current or last episode with its parameters."""
        if self._draft is None or self._draft.instance is None:
            raise RuntimeError("no task: call reset first")
        return self._draft.instance

    @property
    def episode_id(self) -> str:
        """Of the current or last episode; empty before the first reset."""
        return self._draft.id if self._draft else ""

    @property
    def before(self) -> State:
        """The product's state when the episode began."""
        return self._draft.before if self._draft else State()

    @property
    def history(self) -> tuple[StepRecord, ...]:
        """The steps of the current or last episode so far."""
        return tuple(self._draft.steps) if self._draft else ()

    @property
    def observation(self) -> Observation | None:
        """What was seen last in the current or last episode; for those who look on."""
        return self._observation

    # --- life ---

    async def start(self) -> None:
        """Start the product and the browser, unless they run; `reset` does this too.

        Raises:
            ProductError: The product did not start.
            BrowserError: The browser did not start.
        """
        await self._slot.start()

    async def reset(
        self,
        task: Task | str,
        seed: int,
        *,
        episode_id: str = "",
        group: str = "",
        policy: str = "",
        attempt: int = 0,
    ) -> Observation:
        """Begin an episode: the seed's data in the product, a fresh browser session, the task's instruction.

        Args:
            task: The task, its name, or harness/name.
            seed: Fixes the product's data, its appearance and the task's parameters.
            episode_id, group, policy, attempt: What the episode's record shall say.

        Raises:
            HarnessError: There is no such task, or its parameters cannot be drawn.
            ProductError, BrowserError: The machinery failed; `episode` then holds that failure.
            ValueError: The seed is in no split.
        """
        if not isinstance(task, Task | str):
            raise HarnessError(f"a task is a Task or its name, not {task!r:.200}")
        found = task if isinstance(task, Task) else self.harness.find_task(task.removeprefix(f"{self.harness.name}/"))
        Split.of(seed)
        self._slot.retire()
        name = episode_id or f"{self.harness.name}-{found.name}-{seed}"
        self._draft = draft = _Draft(id=name, task=found, seed=seed, group=group, policy=policy, attempt=attempt)
        self.episode, self.images, self._observation = None, {}, None
        try:
            return await self._begin(draft)
        except UIGymError as exc:
            await self.fail(exc)
            raise

    async def step(self, action: Action | Decision) -> Step:
        """Take one action and see what came of it.

        A refused action is told in the observation's `error`, counts as a step and changes nothing. `Answer`, `Done`,
        the page where the harness lets it (`Harness.until`), and the limits end the episode: the product's state is read at that moment and judged.

        Raises:
            ProductError, BrowserError, VerifierError: The machinery failed: the episode has no verdict and no
                reward, `episode` holds the failure.
            RuntimeError: There is no running episode.
        """
        draft = self._running()
        decision = action if isinstance(action, Decision) else Decision(action)
        chosen = sound(decision.action)
        began = time.monotonic()
        draft.thought_ms = _ms(began - draft.seen_at)
        try:
            observation = await self._perform(chosen)
            over = not observation.open.dialog and await self._slot.is_over()
        except UIGymError as exc:
            draft.steps.append(StepRecord(draft.last_image, chosen, decision.text, error=str(exc)))
            await self.fail(exc)
            raise
        took_s = time.monotonic() - began
        draft.spent_s += took_s
        self._note(draft, chosen, decision.text, observation, took_s)
        stop = self._stop(draft, chosen, over)
        if stop is None:
            return Step(observation, 0.0, False, False, {})
        episode = await self._finish(draft, stop, chosen)
        assert episode.verdict is not None
        ended = stop in (Stop.ANSWERED, Stop.DONE, Stop.OVER)
        info = {"stop": stop, "success": episode.verdict.success, "verdict": episode.verdict}
        return Step(observation, episode.verdict.score, ended, not ended, info)

    async def end_by_hand(
        self, steps: Sequence[StepRecord], images: Mapping[str, bytes], last_image: str, ending: Answer | Done | None
    ) -> Episode:
        """End an episode that a person played in `session` itself, and judge it.

        Args:
            steps: What was done, in place of what `step` has noted.
            images: The pictures that they name.
            last_image: Name of the one at the end.
            ending: None where the page has ended it (`Harness.until`).

        Raises:
            ProductError, BrowserError, VerifierError, RuntimeError: As with `step`.
        """
        draft = self._running()
        draft.steps, draft.last_image = list(steps), last_image
        self.images |= images
        if ending is None:
            return await self._finish(draft, Stop.OVER, Done())
        draft.steps.append(StepRecord(last_image, ending))
        return await self._finish(draft, Stop.ANSWERED if isinstance(ending, Answer) else Stop.DONE, ending)

    async def is_over(self) -> bool:
        """Whether the page says that the episode is over (`Harness.until`); for those who play it in `session` itself.

        Raises:
            ProductError, BrowserError, HarnessError: The page cannot be asked.
        """
        return await self._slot.is_over()

    async def verdict_now(self) -> Verdict:
        """What the running episode would be worth if nothing more were done; it goes on all the same.

        For recorders, never for policies. Where the harness watches the page, an open dialog would be dismissed.

        Raises:
            ProductError, BrowserError, VerifierError: The machinery failed; the episode is not ended by it.
            RuntimeError: There is no running episode.
        """
        return await self._judged(await self._frozen(self._running(), Stop.DONE))

    def hand_over(self, to: str) -> None:
        """Somebody else goes on with the running episode: it is theirs, and they take their time.

        Raises:
            RuntimeError: There is no running episode.
        """
        draft = self._running()
        draft.policy, draft.by_hand = f"{draft.policy}, then {to}", True

    async def fail(self, error: Exception) -> Episode:
        """End the running episode without a verdict because of `error`, and say whose fault it was.

        What is blamed on the policy or the harness is the product's or the browser's where that one is gone.

        Raises:
            RuntimeError: There is no running episode.
        """
        draft = self._running()
        cause = cause_of(error)
        message = str(error) if isinstance(error, UIGymError) else f"{type(error).__name__}: {error}"
        broken = await self._slot.broken() if cause in (Cause.POLICY, Cause.HARNESS) else None
        if broken is not None:
            cause, message = cause_of(broken), f"{broken} (seen as: {message})"
        seen = {"refusals": self._slot.refusals, "console": self._slot.console}
        self.episode = draft.episode(Stop.ERROR, failure=Failure(cause, message), **seen)
        if cause is Cause.BROWSER:
            await self._slot.doubt_browser()
        self._slot.retire()
        if cause is Cause.PRODUCT:
            await self._slot.replace_product()
        return self.episode

    async def close(self) -> None:
        """End the session, and the product and the browser that this environment started."""
        await self._slot.close()

    # --- one episode ---

    async def _begin(self, draft: _Draft) -> Observation:
        await self.start()
        draft.appearance = self.harness.appearance(draft.seed)
        before, frame = await self._slot.begin(draft.seed, lambda state: draft.task.home_for(draft.seed, state))
        draft.before = before.beside(await self._slot.read_browser())
        drawing = finished(draft.task.instance, draft.seed, draft.before)
        instance: Instance = await within(self.limits.judge_s, HarnessError, f"drawing {draft.task.id}", drawing)
        with attribute(BrowserError, "writing the episode's files"):
            self.session.offer(instance.files)
        draft.instance, draft.params = instance, plain(instance)
        draft.started = draft.seen_at = time.monotonic()
        self._observation = self._see(draft, frame)
        return self._observation

    async def _perform(self, action: Action) -> Observation:
        assert self._observation is not None and self._draft is not None
        self._draft.timed = UNTIMED
        unchanged = dataclasses.replace(self._observation, error=None, events=())
        if isinstance(action, Answer | Done):
            return unchanged
        try:
            if isinstance(action, Invalid):
                raise ActionRefused(action.reason)
            step_s = self.limits.step_s
            await self._tell(action)
            self.session.guard.step = len(self._draft.steps)  # a refused action is a step of the episode, too
            acting = self.session.step(action, timeout_s=step_s)
            frame = await within(step_s + GRACE_S, BrowserError, f"performing {action}", acting)
        except ActionRefused as exc:
            return dataclasses.replace(unchanged, error=str(exc))
        await self._tell(action)
        return self._see(self._draft, frame)

    async def _tell(self, action: Action) -> None:
        if self.onlooker is not None:
            await self.onlooker(action)

    def _see(self, draft: _Draft, frame: Frame) -> Observation:
        width, height = self.harness.viewport
        instruction = draft.instance.instruction if draft.instance else ""
        seen = Observation(
            frame.png,
            width,
            height,
            instruction,
            pointer=self.session.pointer,
            events=frame.events,
            settled=frame.settled,
            open=frame.open,
            scale=self.harness.surroundings.scale,
        )
        draft.last_image, draft.timed = seen.image_hash, frame.spent
        self.images[draft.last_image] = frame.png
        return seen

    def _note(self, draft: _Draft, action: Action, text: str, after: Observation, took_s: float) -> None:
        assert self._observation is not None
        latency_ms = _ms(took_s)
        draft.steps.append(
            StepRecord(
                self._observation.image_hash,
                action,
                text,
                error=after.error,
                events=after.events,
                settled=after.settled,
                latency_ms=latency_ms,
                open=after.open,
                phases=draft.timed.phases(draft.thought_ms, latency_ms),
            )
        )
        draft.seen_at = time.monotonic()
        draft.refused = draft.refused + 1 if after.error else 0
        self._observation = after

    def _stop(self, draft: _Draft, action: Action, over: bool) -> Stop | None:
        if isinstance(action, Answer):
            return Stop.ANSWERED
        if isinstance(action, Done):
            return Stop.DONE
        if over:
            return Stop.OVER
        if draft.by_hand:
            return None
        if draft.refused >= self.limits.max_invalid:
            return Stop.INVALID_ACTIONS
        if len(draft.steps) >= (self.limits.max_steps or draft.task.max_steps):
            return Stop.MAX_STEPS
        return Stop.TIMEOUT if draft.spent_s >= self.limits.episode_s else None

    async def _finish(self, draft: _Draft, stop: Stop, action: Action) -> Episode:
        """Freeze the state, then judge it."""
        began = time.monotonic()
        try:
            unjudged = await self._frozen(draft, stop, action)
            verdict = await self._judged(unjudged)
        except UIGymError as exc:
            await self.fail(exc)
            raise
        for last in draft.steps[-1:]:
            draft.steps[-1] = dataclasses.replace(last, phases={**last.phases, "judge": _ms(time.monotonic() - began)})
        self.episode = dataclasses.replace(unjudged, verdict=verdict, steps=tuple(draft.steps))
        self._slot.retire()
        return self.episode

    async def _frozen(self, draft: _Draft, stop: Stop, action: Action | None = None) -> Episode:
        """The episode as it would end now; without an action nothing is asked of the product beside its state."""
        after = await self._slot.read_state()
        url = self.session.url
        if action is not None:
            await self._slot.check()
        downloads = await within(self.limits.step_s + GRACE_S, BrowserError, "downloads", self.session.downloads())
        answer = action.text if isinstance(action, Answer) else None
        seen = await self._slot.read_watched()
        after = after.beside(await self._slot.read_browser())
        seen |= {"url": url, "downloads": downloads, "refusals": self._slot.refusals, "console": self._slot.console}
        return draft.episode(stop, answer=answer, after=after, **seen)

    async def _judged(self, unjudged: Episode) -> Verdict:
        """Its verdict, found in a thread: other slots go on meanwhile."""
        judging = finished(judge, self.instance.verifier, unjudged)
        return await within(self.limits.judge_s, VerifierError, f"judging {unjudged.harness}/{unjudged.task}", judging)

    def _running(self) -> _Draft:
        if self._draft is None:
            raise RuntimeError("no episode: call reset before step")
        if self.episode is not None:
            raise RuntimeError(f"episode {self.episode.id} has ended ({self.episode.stop}): call reset before step")
        return self._draft


def cause_of(error: BaseException) -> Cause:
    """Whose fault an error is; what is not one of uigym's own came out of a policy."""
    return next((cause for kind, cause in CAUSES.items() if isinstance(error, kind)), Cause.POLICY)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
