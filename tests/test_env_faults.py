"""The one invariant, against machinery that fails in every way: a verdict or one attributed failure."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.browser import Frame
from uigym.env import Env, Limits
from uigym.errors import ActionRefused, BrowserError, ProductError, UIGymError, VerifierError
from uigym.harness import Harness
from uigym.offer import Offer
from uigym.params import one_of
from uigym.store import episode_from_json, episode_to_json
from uigym.types import Action, Answer, Cause, Click, Done, Download, Invalid, Key, State, Step, Stop, Type, Verdict

FAULTS: list[Exception | None] = [
    BrowserError("the page crashed"),
    ProductError("connection refused"),
    RuntimeError("a bug"),
    OSError("a pipe broke"),
    TimeoutError(),
]
CAUSES = {
    "HarnessError": Cause.HARNESS,
    "BrowserError": Cause.BROWSER,
    "ProductError": Cause.PRODUCT,
    "VerifierError": Cause.VERIFIER,
}
STATE = State({"notes": ({"id": 1},)})


class Script:
    """What each call into the machinery does: None is right, an exception is raised."""

    def __init__(self, faults: Sequence[Exception | None]):
        self.faults = list(faults)

    def __call__(self) -> None:
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault


class FakeSession:
    """Draws a picture of what was done."""

    pointer = None
    url = "http://127.0.0.1/"

    def __init__(self, script: Script):
        self.script, self.done = script, ""
        self.guard = SimpleNamespace(step=0, refusals=())

    def complaints(self) -> tuple[Any, ...]:
        return ()

    async def open(self, path: str, timeout_s: float) -> Frame:
        return await self.look()

    async def step(self, action: Action, timeout_s: float) -> Frame:
        if isinstance(action, Key):
            raise ActionRefused("unknown key")
        self.done += repr(action)
        return await self.look()

    async def look(self) -> Frame:
        self.script()
        return Frame(self.done.encode(), True)

    def offer(self, files: Offer) -> None:
        self.script()

    async def downloads(self) -> tuple[Download, ...]:
        self.script()
        return ()

    async def close(self) -> None:
        self.script()


class FakeMachinery:
    """Browser and product in one."""

    port, base_url = 0, "http://127.0.0.1:1"

    def __init__(self, script: Script):
        self.script = script
        self.beside: dict[str, Any] = {}
        self.all: tuple[Any, ...] = ()  # nobody is asked for a page

    async def session(self, **wanted: Any) -> FakeSession:
        self.script()
        return FakeSession(self.script)

    async def reset(self, seed: int) -> State:
        return await self.read_state()

    async def read_state(self) -> State:
        self.script()
        return STATE


def harness(judge: Any) -> Harness:
    async def nothing(*_: Any) -> Any:
        return None

    made = Harness(name="fake", state=nothing, reset=nothing, url="http://127.0.0.1:1", viewport=(10, 10))

    @made.task("Do {it}.", max_steps=4)
    def odd(it: str = one_of("it")):  # type: ignore[no-untyped-def]
        return judge

    return made


def judge_with(fault: Exception | None) -> Any:
    def judge(episode: Any) -> Verdict:
        if fault is not None:
            raise fault
        return Verdict(0.25, False, reason="partly")

    return judge


actions = st.one_of(
    st.just(Click(1, 1)), st.just(Key("Hyper")), st.just(Invalid("?", "no action")), st.text().map(Type), st.none()
)
endings = st.lists(st.sampled_from([Done(), Answer("a")]), max_size=1)
faults = st.lists(st.one_of(st.none(), st.none(), st.none(), st.sampled_from(FAULTS)), max_size=12)


@given(faults, st.lists(actions, max_size=6), endings, st.sampled_from([None, ValueError("x"), VerifierError("y")]))
@settings(max_examples=150, deadline=None)
def test_an_episode_has_a_verdict_or_one_attributed_failure(
    script: list[Exception | None], acts: list[Action], ending: list[Action], wrong: Exception | None
) -> None:
    machinery: Any = FakeMachinery(Script(script))
    env = Env(harness(judge_with(wrong)), machinery, machinery, limits=Limits(max_invalid=2))
    env._slot.check = answers  # type: ignore[method-assign]  # no port to look at
    steps, raised = asyncio.run(play(env, [*acts, *ending]))
    episode = env.episode
    assert [step.reward for step in steps[:-1]] == [0.0] * len(steps[:-1])
    if episode is None:  # it goes on
        assert raised is None and not any(step.terminated or step.truncated for step in steps)
        return
    assert (episode.verdict is None) != (episode.failure is None)
    assert episode_from_json(json.loads(json.dumps(episode_to_json(episode)))) == episode
    if episode.failure is not None:
        assert raised is not None and episode.stop is Stop.ERROR and episode.reward is None
        assert episode.failure.cause is CAUSES[type(raised).__name__]
        assert all(step.reward == 0.0 for step in steps)
    else:
        assert raised is None and wrong is None
        assert steps[-1].reward == episode.reward == 0.25
        assert steps[-1].terminated == (episode.stop in (Stop.DONE, Stop.ANSWERED)) != steps[-1].truncated
        assert (episode.answer is not None) == (episode.stop is Stop.ANSWERED)
        assert len(episode.steps) == len(steps) <= 4
    for before, after in zip(episode.steps, episode.steps[1:], strict=False):
        if before.error is not None:
            assert before.image == after.image
    assert all(hashlib.sha256(png).hexdigest() == name for name, png in env.images.items())


async def answers(**_: bool) -> None:
    """The product is there."""


async def play(env: Env, acts: Sequence[Action]) -> tuple[list[Step], UIGymError | None]:
    """What the steps gave until the end, and what ended them from outside."""
    steps: list[Step] = []
    try:
        await env.reset("odd", 0)
        for action in acts:
            if env.episode is not None:
                break
            steps.append(await env.step(action))
    except UIGymError as exc:
        return steps, exc
    finally:
        await env.close()
    return steps, None
