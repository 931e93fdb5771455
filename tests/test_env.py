"""The environment: what ends an episode, what is scored, and whose fault it is when nothing can be."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

import uigym.slot
from uigym.browser import Browser
from uigym.env import Env, Limits
from uigym.errors import BrowserError, HarnessError, ProductError, VerifierError
from uigym.harness import Harness
from uigym.params import computed, one_of
from uigym.registry import load
from uigym.report import Clip
from uigym.report.film import frames, png_size
from uigym.surroundings import Surroundings
from uigym.types import Answer, Cause, Click, Decision, Done, Invalid, Key, Stop, Type, Verdict, Wait
from uigym.verify import passed

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAD_FILE = Path(__file__).parent / "gyms" / "pad.py"
PAD = load(str(PAD_FILE))
FIELD, ADD = Click(60, 16), Click(155, 16)


def pad(**changes: Any) -> Harness:
    """A pad of its own, to which a test adds tasks."""
    return replace(PAD, **changes)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(browser: Browser) -> AsyncIterator[Env]:
    async with Env(PAD, browser) as env:
        yield env


async def test_work_is_rewarded_at_the_end_only(env: Env) -> None:
    observation = await env.reset("add", 3)
    assert (observation.width, observation.height) == (320, 240)
    assert observation.instruction == env.instance.instruction
    assert observation.pointer is None
    text = env.instance.params["text"]
    for action in (FIELD, Type(text), ADD):
        observation, reward, terminated, truncated, info = await env.step(action)
        assert (reward, terminated, truncated, info) == (0.0, False, False, {})
    assert observation.pointer == (ADD.x, ADD.y)
    step = await env.step(Done())
    assert (step.reward, step.terminated, step.truncated) == (1.0, True, False)
    assert step.info["success"]
    assert step.info["stop"] is Stop.DONE
    episode = env.episode
    assert episode is not None and episode.verdict == step.info["verdict"] and episode.failure is None
    assert [record.action for record in episode.steps] == [FIELD, Type(text), ADD, Done()]
    assert {record.image for record in episode.steps} | {episode.final_image} == set(env.images)
    assert episode.appearance == PAD.appearance(3)
    assert len(episode.after.tables["notes"]) == len(episode.before.tables["notes"]) + 1


async def test_the_record_says_how_dense_the_pictures_are(browser: Browser) -> None:
    harness = pad(surroundings=Surroundings(scale=1.25))

    @harness.task("Do.", max_steps=3)
    def do() -> Any:
        return lambda episode: passed("done")

    async with Env(harness, browser) as env:
        observation = await env.reset("do", 1)
        assert (observation.width, observation.height, observation.scale) == (320, 240, 1.25)
        assert png_size(observation.png) == (400, 300)
        await env.step(FIELD)
        await env.step(Done())
        assert env.episode is not None and env.episode.scale == 1.25
        strip = frames(Clip("dense", env.episode, env.images))
        assert (strip[0].width, strip[0].height) == (320, 240) and 'viewBox="0 0 320 240"' in strip[0].marks


@pytest.mark.parametrize(("said", "reward"), [("3", 1.0), ("4", 0.0)])
async def test_answer_is_judged(env: Env, said: str, reward: float) -> None:
    await env.reset("pad/count", 3)
    step = await env.step(Decision(Answer(said), text="I count"))
    assert (step.reward, step.terminated) == (reward, True)
    assert env.episode is not None
    assert (env.episode.stop, env.episode.answer, env.episode.steps[0].text) == (Stop.ANSWERED, said, "I count")


async def test_last_step_truncates_and_is_judged(env: Env) -> None:
    await env.reset("count", 1)
    for _ in range(3):
        assert not (await env.step(Wait(0))).truncated
    step = await env.step(Wait(0))
    assert (step.terminated, step.truncated, step.info["stop"]) == (False, True, Stop.MAX_STEPS)
    assert env.episode is not None and env.episode.verdict is not None


async def test_time_budget_truncates(browser: Browser, env: Env) -> None:
    short = Env(PAD, browser, env.product, limits=Limits(episode_s=0.001))
    await short.reset("add", 0)
    step = await short.step(Key("Tab"))
    assert (step.truncated, step.info["stop"], step.reward) == (True, Stop.TIMEOUT, 0.0)
    await short.close()
    await env.reset("add", 0)  # a product that was given runs on


NONSENSE = [None, "click", 7, {"action": "click"}, Click(float("nan"), 1), Click("a", 3), Click(999, 3)]  # type: ignore[arg-type]
NONSENSE += [Type(None), Answer(5), Key("Hyper+X"), Invalid("uh", "no action found"), Click(1, 2, modifiers=5)]  # type: ignore[arg-type]


async def test_nonsense_is_refused_and_changes_nothing(browser: Browser, env: Env) -> None:
    patient = Env(PAD, browser, env.product, limits=Limits(max_invalid=99, max_steps=99))
    first = await patient.reset("add", 2)
    for number, action in enumerate(NONSENSE, 1):
        step = await patient.step(action)  # type: ignore[arg-type]
        assert step.observation.error, action
        assert step.observation.png == first.png
        assert not (step.terminated or step.truncated)
        assert len(patient.history) == number
    assert (await patient.step(Wait(0))).observation.error is None
    await patient.step(Done())
    assert patient.episode is not None and patient.episode.after == patient.episode.before
    await patient.close()


async def test_refusals_in_a_row_end_the_episode(browser: Browser, env: Env) -> None:
    strict = Env(PAD, browser, env.product, limits=Limits(max_invalid=2))
    await strict.reset("add", 2)
    for action in (Click(-1, 0), Wait(0), Click(-1, 0)):
        assert not (await strict.step(action)).truncated
    step = await strict.step(Invalid("", "empty"))
    assert (step.truncated, step.info["stop"], step.reward) == (True, Stop.INVALID_ACTIONS, 0.0)
    await strict.close()


async def test_step_needs_a_running_episode(browser: Browser) -> None:
    fresh = Env(PAD, browser)
    with pytest.raises(RuntimeError, match="call reset"):
        await fresh.step(Done())
    with pytest.raises(RuntimeError, match="call reset"):
        _ = fresh.session
    await fresh.reset("count", 0)
    await fresh.step(Done())
    with pytest.raises(RuntimeError, match=r"pad-count-0 has ended \(done\): call reset"):
        await fresh.step(Done())
    await fresh.close()
    await fresh.close()


async def test_wrong_names_and_seeds_are_told(env: Env) -> None:
    with pytest.raises(HarnessError, match='no task "cout"'):
        await env.reset("cout", 0)
    with pytest.raises(ValueError, match="seeds go from 0"):
        await env.reset("count", -1)
    with pytest.raises(ValueError, match="step_s must be positive"):
        Limits(step_s=0)


async def test_parameters_must_be_json_values(browser: Browser, env: Env) -> None:
    harness = pad()

    @harness.task("Do {it}.", max_steps=2)
    def odd(it: object = computed(lambda state, params: {1, 2})):  # type: ignore[no-untyped-def]
        return lambda episode: passed("odd")

    own = Env(harness, browser, env.product)
    with pytest.raises(HarnessError, match=r"task pad/odd, seed 0.*not JSON values"):
        await own.reset(odd, 0)
    assert own.episode is not None and own.episode.failure is not None
    assert own.episode.failure.cause is Cause.HARNESS
    await own.close()


def faulty(judge: Any) -> Harness:
    """A pad that opens on the page of faults, with one task."""
    harness = pad(home="/faults")

    @harness.task("Break {it}.", max_steps=9)
    def broken(it: str = one_of("it")):  # type: ignore[no-untyped-def]
        return judge

    return harness


def fail_count(episode: Any) -> Verdict:
    """A verifier that a test may reach only with what was frozen."""
    return passed("frozen") if not episode.after.tables["notes"] else Verdict(0.0, False)


HANG, SOON, FOREVER = Click(30, 16), Click(85, 16), Click(140, 16)


async def test_state_is_frozen_when_the_policy_says_done(browser: Browser, env: Env) -> None:
    own = Env(faulty(fail_count), browser, env.product)
    await own.reset("broken", 0)
    await own.step(SOON)
    step = await own.step(Done())
    assert step.reward == 1.0
    await own.close()


async def test_an_old_page_cannot_write_into_the_next_episode(browser: Browser, env: Env) -> None:
    own = Env(faulty(fail_count), browser, env.product)
    await own.reset("broken", 0)
    await own.step(FOREVER)
    assert (await own.step(Wait(0.1))).observation.error is None
    await own.reset("broken", 0)
    await asyncio.sleep(0.2)
    assert (await own.step(Done())).reward == 1.0
    await own.close()


@pytest.mark.parametrize("wrong", [lambda episode: 1 / 0, lambda episode: 0.5])
async def test_a_wrong_verifier_gives_no_reward(browser: Browser, env: Env, wrong: Any) -> None:
    own = Env(faulty(wrong), browser, env.product)
    await own.reset("broken", 0)
    with pytest.raises(VerifierError, match="verifier of pad/broken"):
        await own.step(Done())
    episode = own.episode
    assert episode is not None and episode.failure is not None
    assert (episode.stop, episode.failure.cause, episode.verdict, episode.reward) == (
        Stop.ERROR,
        Cause.VERIFIER,
        None,
        None,
    )
    assert [record.action for record in episode.steps] == [Done()]
    await own.close()


async def test_a_hung_page_ends_the_step_and_not_the_environment(browser: Browser, env: Env) -> None:
    own = Env(faulty(fail_count), browser, env.product, limits=Limits(step_s=1.0))
    await own.reset("broken", 0)
    began = time.monotonic()
    with pytest.raises(ProductError, match="hung"):
        await own.step(HANG)
    assert time.monotonic() - began < 8
    assert own.episode is not None and own.episode.failure is not None
    assert own.episode.failure.cause is Cause.PRODUCT
    assert own.episode.steps[-1].action == HANG
    await own.reset("broken", 0)
    assert (await own.step(Done())).reward == 1.0
    await own.close()


async def test_a_killed_browser_is_the_browsers_fault_and_is_launched_anew() -> None:
    async with Env(PAD) as own:
        await own.reset("count", 2)
        browser = own._slot._own_browser
        assert browser is not None
        os.kill(browser.pid, signal.SIGKILL)
        with pytest.raises(BrowserError):
            await own.step(Click(5, 5))
        assert own.episode is not None and own.episode.failure is not None
        assert own.episode.failure.cause is Cause.BROWSER
        await own.reset("count", 2)
        assert (await own.step(Answer("2"))).reward == 1.0


def served() -> Harness:
    """The pad as a process of its own."""
    return pad(asgi="", start=f"{{python}} '{PAD_FILE}' --port {{port}} --workdir {{workdir}}")


async def kill_product(env: Env) -> None:
    """Kill it, and wait until the system has taken its port away."""
    os.kill(int((env.product.workdir / "pid").read_text()), signal.SIGKILL)
    while listens(env.product.base_url):  # noqa: ASYNC110  the kernel has no event for it
        await asyncio.sleep(0.01)


def listens(address: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", urlsplit(address).port or 80)) == 0


async def test_a_killed_product_is_the_products_fault_and_is_started_anew(browser: Browser) -> None:
    harness = served()
    harness.tasks.update(PAD.tasks)
    async with Env(harness, browser) as own:
        await own.reset("count", 2)
        await kill_product(own)
        with pytest.raises(ProductError):
            await own.step(Answer("2"))
        assert own.episode is not None and own.episode.failure is not None
        assert own.episode.failure.cause is Cause.PRODUCT
        await own.reset("count", 2)
        assert (await own.step(Answer("2"))).reward == 1.0


async def test_a_product_that_hangs_is_not_scored(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uigym.slot, "ANSWER_S", 0.5)
    harness = served()
    harness.tasks.update(PAD.tasks)
    async with Env(harness, browser) as own:
        await own.reset("add", 2)
        os.kill(int((own.product.workdir / "pid").read_text()), signal.SIGSTOP)
        await own.step(FIELD)
        assert not (await own.step(ADD)).observation.settled
        with pytest.raises(ProductError, match="pad hangs"):
            await own.step(Done())
        assert own.episode is not None and own.episode.reward is None
        await own.reset("count", 2)


async def test_blame_is_moved_to_the_product_that_died(browser: Browser) -> None:
    harness = served()
    harness.tasks.update(PAD.tasks)
    async with Env(harness, browser) as own:
        await own.reset("count", 2)
        await kill_product(own)
        episode = await own.fail(HarnessError("the oracle saw nothing"))
        assert episode.failure is not None and episode.failure.cause is Cause.PRODUCT
        assert "the oracle saw nothing" in episode.failure.message


async def test_same_seed_same_pixels(env: Env) -> None:
    first = [await env.reset("count", 3), (await env.step(FIELD)).observation]
    again = [await env.reset("count", 3), (await env.step(FIELD)).observation]
    assert [seen.image_hash for seen in first] == [seen.image_hash for seen in again]
