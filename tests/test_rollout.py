"""Many episodes at once: what is lost is tried again, told once, and never scored."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from uigym.env import Env
from uigym.errors import ConfigError, HarnessError, PolicyError, ProductError, StoreError, VerifierError
from uigym.harness import Running
from uigym.params import one_of
from uigym.policy.scripted import NoOpPolicy, OraclePolicy, RandomPolicy, ReplayPolicy
from uigym.registry import load
from uigym.rollout import Finished, Pool, Request, rollout
from uigym.slot import Limits, SteadyBrowser
from uigym.store import RunStore
from uigym.types import Action, Answer, Cause, Decision, Done, Observation, StepRecord, Stop, Verdict, Wait

PAD_FILE = Path(__file__).parent / "gyms" / "pad.py"
PAD = replace(load(str(PAD_FILE)))
PAD.tasks.update(load(str(PAD_FILE)).tasks)


@PAD.task("Do {it}.", max_steps=3)
def odd(it: str = one_of("it")):  # type: ignore[no-untyped-def]
    def judge(episode: Any) -> Verdict:
        raise KeyError("orders")

    return judge


@odd.oracle
async def _(page: Any) -> None:
    raise RuntimeError("I do not know")


browser_test = pytest.mark.browser
shared_loop = pytest.mark.asyncio(loop_scope="module")


# --- requests ---


@given(
    st.lists(st.builds(Request, st.text(), st.integers(0, 2), st.text(), st.integers(0, 2)), max_size=6, unique=True)
)
def test_ids_are_unique_and_fit_to_be_folders(requests: list[Request]) -> None:
    ids = [request.id("pad") for request in requests]
    plain = {f"{r.task.removeprefix('pad/')}-{r.seed}-{r.group}-{r.member}" for r in requests}
    assert len(set(ids)) == len(plain)
    assert all(Path(name).name == name and len(name) < 200 and name.isascii() for name in ids)


def test_an_id_reads_as_what_was_asked_for() -> None:
    assert Request("order", 7).id("kiosk") == Request("kiosk/order", 7).id("kiosk") == "kiosk-order-7--0"
    assert Request("order", 7, "g/1", 2).id("kiosk").startswith("kiosk-order-7-g_1-2-")


async def test_a_pool_that_cannot_work_is_refused() -> None:
    with pytest.raises(ConfigError, match="slots >= 1"):
        Pool(PAD, slots=0)
    with pytest.raises(ConfigError, match="2 slots would share its data"):
        Pool(replace(PAD, asgi="", url="http://127.0.0.1:9"), slots=2)
    with pytest.raises(RuntimeError, match="the pool is not open"):
        await anext(Pool(PAD).run(NoOpPolicy(), requests(1)))


# --- policies that misbehave ---


class Answers:
    """Answers as told, some calls in; counts how many calls are under way at once."""

    def __init__(self, text: str = "2", steps: int = 1):
        self.text, self.steps, self.now, self.most = text, steps, 0, 0

    async def act(self, observation: Observation, history: Sequence[StepRecord]) -> Action | Decision:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1
        return Decision(Answer(self.text) if len(history) == self.steps - 1 else Wait(0), "words", len(history))


class Raises:
    """Raises, a number of times."""

    def __init__(self, error: Exception, times: int = 99):
        self.error, self.times = error, times

    async def act(self, observation: Observation, history: Sequence[StepRecord]) -> Action:
        if self.times:
            self.times -= 1
            raise self.error
        return Answer("2")


class Kills:
    """Does something drastic to the machinery of the first episodes, then answers."""

    name = "kills"

    def __init__(self, kill: Any, times: int = 1):
        self.kill, self.times = kill, times

    def for_episode(self, env: Env) -> Kills:
        self.env = env
        return self

    async def act(self, observation: Observation, history: Sequence[StepRecord]) -> Action:
        if len(history) == 1 and self.times:
            self.times -= 1
            self.kill(self.env)
        return Wait(0.05) if len(history) < 3 else Answer("2")


def requests(number: int, task: str = "count", seed: int = 2) -> list[Request]:
    return [Request(task, seed, member=member) for member in range(number)]


async def all_of_run(pool: Pool, policy: Any, wanted: Any, store: RunStore | None = None) -> list[Finished]:
    return [finished async for finished in pool.run(policy, wanted, store)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def warm() -> AsyncIterator[Pool]:
    async with Pool(PAD, slots=3) as pool:
        yield pool


@pytest.fixture
def pool(warm: Pool) -> Pool:
    """The warm pool, which forgets what earlier tests have broken."""
    warm._recent.clear()
    return warm


# --- running ---


@browser_test
@shared_loop
async def test_every_request_gives_one_episode(pool: Pool) -> None:
    policy = Answers(steps=3)
    wanted = [Request("count", seed) for seed in range(7)]
    finished = await all_of_run(pool, policy, iter(wanted))
    episodes = {done.episode.id: done.episode for done in finished}
    assert sorted(episodes) == sorted(request.id("pad") for request in wanted)
    assert all(episode.policy == "Answers" and episode.attempt == 0 for episode in episodes.values())
    assert {e.seed for e in episodes.values() if e.verdict and e.verdict.success} == {2}
    assert [done.samples for done in finished] == [(0, 1, 2)] * 7
    assert all(step.text == "words" for done in finished for step in done.episode.steps)
    for done in finished:
        assert {step.image for step in done.episode.steps} | {done.episode.final_image} == set(done.images)
    assert policy.most >= 2  # slots ask at the same time, so a policy may answer them as one batch


@browser_test
@shared_loop
async def test_what_an_episode_is_does_not_depend_on_its_slot(pool: Pool) -> None:
    wanted = [Request("add", seed) for seed in range(4)]
    first = await all_of_run(pool, RandomPolicy(), wanted)
    again = await all_of_run(pool, RandomPolicy(), reversed(wanted))
    for one, other in zip(*(sorted(run, key=lambda done: done.episode.id) for run in (first, again)), strict=True):
        assert one.episode.after == other.episode.after
        assert [step.action for step in one.episode.steps] == [step.action for step in other.episode.steps]
        assert [step.image for step in one.episode.steps] == [step.image for step in other.episode.steps]


@browser_test
@shared_loop
async def test_two_runs_share_a_pool(pool: Pool) -> None:
    runs = await asyncio.gather(
        all_of_run(pool, NoOpPolicy(), requests(4)), all_of_run(pool, OraclePolicy(), requests(4))
    )
    assert [len(run) for run in runs] == [4, 4]
    assert all(done.episode.reward == 1.0 for done in runs[1])


@browser_test
@shared_loop
async def test_unknown_tasks_and_seeds_stop_the_run(pool: Pool) -> None:
    with pytest.raises(HarnessError, match='no task "cuont"'):
        await all_of_run(pool, NoOpPolicy(), [Request("cuont", 0)])
    with pytest.raises(ValueError, match="seeds go from"):
        await all_of_run(pool, NoOpPolicy(), [Request("count", -1)])

    def broken() -> Iterator[Request]:
        yield Request("count", 0)
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        await all_of_run(pool, NoOpPolicy(), broken())
    assert len(await all_of_run(pool, NoOpPolicy(), requests(4))) == 4


@browser_test
@shared_loop
async def test_leaving_early_stops_the_rest_and_frees_the_slots(pool: Pool) -> None:
    taken = []

    def endless() -> Iterator[Request]:
        for seed in range(10_000):
            taken.append(seed)
            yield Request("count", seed)

    async with aclosing(pool.run(NoOpPolicy(), endless())) as running:
        async for _ in running:
            break
    assert len(taken) < 20
    assert len(await all_of_run(pool, NoOpPolicy(), requests(4))) == 4


# --- losses ---


@browser_test
@shared_loop
async def test_a_policy_that_raises_is_tried_three_times_and_told_once(pool: Pool) -> None:
    (lost,) = await all_of_run(pool, Raises(ZeroDivisionError("by nought")), requests(1))
    assert lost.episode.failure is not None
    assert lost.episode.failure.cause is Cause.POLICY
    assert lost.episode.failure.message == "Raises.act: ZeroDivisionError: by nought"
    assert (lost.episode.attempt, lost.episode.verdict, lost.episode.stop) == (2, None, Stop.ERROR)


@browser_test
@shared_loop
@pytest.mark.parametrize("error", [PolicyError("endpoint away"), TimeoutError(), KeyError("x")])
async def test_what_fails_once_is_not_lost(pool: Pool, error: Exception) -> None:
    (done,) = await all_of_run(pool, Raises(error, times=1), requests(1))
    assert (done.episode.reward, done.episode.attempt) == (1.0, 1)


@browser_test
@shared_loop
async def test_an_oracle_that_raises_is_not_tried_again(pool: Pool) -> None:
    (lost,) = await all_of_run(pool, OraclePolicy(), [Request("odd", 0)])
    assert lost.episode.failure is not None and lost.episode.failure.cause is Cause.HARNESS
    assert lost.episode.attempt == 0
    assert "test_rollout.py line" in lost.episode.failure.message


@browser_test
@shared_loop
async def test_what_takes_too_long_has_failed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        async def act(self, observation: Observation, history: Sequence[StepRecord]) -> Action:
            await asyncio.sleep(60)
            return Done()

    for limits, cause, message in (
        (Limits(act_s=0.2), Cause.POLICY, "Silent.act gave no decision within 0.2 s"),
        (Limits(attempt_s=2), Cause.POLICY, "not over after 2 s and 0 steps"),
        (Limits(attempt_s=0.001), Cause.BROWSER, "not over after 0.001 s and 0 steps, of which the policy took 0.0 s"),
    ):
        monkeypatch.setattr(pool, "limits", limits)
        monkeypatch.setattr(pool, "retries", 0)
        (lost,) = await all_of_run(pool, Silent(), requests(1))
        assert lost.episode.failure is not None
        assert lost.episode.failure.cause is cause
        assert message in lost.episode.failure.message


def kill_browser(env: Env) -> None:
    browser = env._slot._given_browser
    assert isinstance(browser, SteadyBrowser) and browser._shift is not None
    os.kill(browser._shift.browser.pid, signal.SIGKILL)


def kill_product(env: Env) -> None:
    os.kill(int((env.product.workdir / "pid").read_text()), signal.SIGKILL)


@browser_test
@shared_loop
async def test_a_browser_killed_in_mid_episode_costs_one_attempt(pool: Pool) -> None:
    finished = await all_of_run(pool, Kills(kill_browser), requests(5))
    assert [done.episode.reward for done in finished] == [1.0] * 5
    assert 1 <= sum(done.episode.attempt for done in finished) <= pool.slots


@browser_test
@shared_loop
async def test_a_browser_that_is_killed_every_time_is_told_as_such(pool: Pool) -> None:
    (lost,) = await all_of_run(pool, Kills(kill_browser, times=9), requests(1))
    assert lost.episode.failure is not None and lost.episode.failure.cause is Cause.BROWSER
    assert (lost.episode.attempt, lost.episode.reward) == (2, None)


@browser_test
@shared_loop
async def test_a_product_killed_in_mid_episode_costs_one_attempt() -> None:
    harness = replace(PAD, asgi="", start=f"{{python}} '{PAD_FILE}' --port {{port}} --workdir {{workdir}}")
    harness.tasks.update(PAD.tasks)
    async with Pool(harness, slots=1) as own:
        finished = await all_of_run(own, Kills(kill_product), requests(2))
        assert sorted((done.episode.reward, done.episode.attempt) for done in finished) == [(1.0, 0), (1.0, 1)]
        (lost,) = await all_of_run(own, Kills(kill_product, times=9), requests(1))
        assert lost.episode.failure is not None and lost.episode.failure.cause is Cause.PRODUCT
        assert (lost.episode.attempt, lost.episode.reward) == (2, None)


@browser_test
@shared_loop
async def test_members_of_a_group_must_begin_alike() -> None:
    resets = iter(range(99))

    async def drifting(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        await PAD.reset(product, seed + min(next(resets), 2) // 2, appearance)

    harness = replace(PAD, reset=drifting)
    harness.tasks.update(PAD.tasks)
    async with Pool(harness, slots=1) as own:
        group = [Request("count", 1, "g", member) for member in range(4)]
        finished = await all_of_run(own, NoOpPolicy(), group)
    failures = [done.episode.failure for done in finished]
    assert [failure is None for failure in failures] == [True, True, False, False]
    assert failures[3] is not None and failures[3].cause is Cause.HARNESS
    assert "began with different data in notes (this one: seed 1)" in failures[3].message


@browser_test
@shared_loop
async def test_too_many_losses_stop_the_run(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Often:
        def __init__(self) -> None:
            self.calls = 0

        async def act(self, observation: Observation, history: Sequence[StepRecord]) -> Action:
            self.calls += 1
            if self.calls % 2:
                raise OSError("no route")
            return Done()

    with pytest.raises(
        PolicyError, match=r"stopped: .* of the last 20 attempts at pad were lost, .* to the policy.*no route"
    ):
        await all_of_run(pool, Often(), requests(200))
    monkeypatch.setattr(pool, "max_failure_rate", 1.0)
    monkeypatch.setattr(pool, "retries", 0)
    finished = await all_of_run(pool, Often(), requests(8))
    assert sum(done.episode.failure is None for done in finished) == 4


@browser_test
@shared_loop
async def test_a_wrong_verifier_stops_the_run_in_its_own_name(pool: Pool) -> None:
    with pytest.raises(VerifierError, match="KeyError"):
        await all_of_run(pool, NoOpPolicy(), requests(50, "odd"))


# --- machinery ---


@browser_test
@shared_loop
async def test_a_browser_is_relieved_once_its_sessions_are_closed() -> None:
    steady = SteadyBrowser(max_sessions=2)
    sessions = [await steady.session(base_url="http://127.0.0.1:9") for _ in range(3)]
    assert steady._shift is not None
    new, old = steady._shift.browser, sessions[0].page.context.browser
    assert old is not None
    await sessions[0].close()
    assert old.is_connected()
    await sessions[1].close()
    await asyncio.gather(*steady._leaving)
    assert not old.is_connected()
    assert new.alive
    await steady.close()
    assert not new.alive
    await sessions[2].close()


@browser_test
@shared_loop
async def test_a_browser_that_keeps_failing_is_relieved_though_it_runs() -> None:
    steady = SteadyBrowser(max_failures=2)
    pids = []
    for _ in range(3):
        await steady.start()
        assert steady._shift is not None
        pids.append(steady._shift.browser.pid)
        steady.doubt()
    assert pids[0] == pids[1] != pids[2]
    await steady.close()


@browser_test
@shared_loop
async def test_a_start_that_fails_is_told_at_once_and_leaves_nothing() -> None:
    harness = replace(PAD, asgi="", start="{python} -c 'print(17); raise SystemExit(3)' {port}")
    own = Pool(harness, slots=2)
    with pytest.raises(ProductError, match="17"):
        async with own:
            pass
    assert all(browser._shift is None for browser in own._browsers)


def is_running(pid: int) -> bool:
    """A process that is dead but not yet waited for does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@browser_test
async def test_cancellation_leaves_nothing_behind(tmp_path: Path) -> None:
    harness = replace(PAD, asgi="", start=f"{{python}} '{PAD_FILE}' --port {{port}} --workdir {{workdir}}")
    harness.tasks.update(PAD.tasks)
    own = Pool(harness, slots=2)
    pids: list[int] = []
    begun = asyncio.Event()

    class Waits:
        name = "waits"

        def for_episode(self, env: Env) -> Waits:
            pids.append(int((env.product.workdir / "pid").read_text()))
            begun.set()
            return self

        async def act(self, observation: Observation, history: Sequence[StepRecord]) -> Action:
            return Wait(0.2)

    async def run() -> None:
        async with own:
            pids.extend(browser._shift.browser.pid for browser in own._browsers if browser._shift)
            async for _ in own.run(Waits(), requests(9, "add"), RunStore(tmp_path)):
                pass

    running = asyncio.create_task(run())
    await begun.wait()
    await asyncio.sleep(0.3)
    running.cancel()
    await asyncio.sleep(0.01)
    running.cancel()  # as a second Ctrl+C does
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(pids) >= 2
    assert not [pid for pid in pids if is_running(pid)]
    assert RunStore(tmp_path).ids() == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


# --- with a store ---


@browser_test
@shared_loop
async def test_a_run_is_resumed_where_the_machinery_failed(pool: Pool, tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    good, bad = requests(2), [Request("count", 3)]
    first = await all_of_run(pool, Answers(), [*good, *bad], store)
    lost = await all_of_run(pool, Raises(OSError("away")), [Request("count", 4)], store)
    read = {episode.id: episode for episode in store.episodes()}
    assert read == {done.episode.id: done.episode for done in [*first, *lost]}
    for done in first:
        assert all(store.image(name) == png for name, png in done.images.items())
    again = [request for request in [*good, *bad, Request("count", 4)] if request.id("pad") not in store.done()]
    assert again == [Request("count", 4)]  # a policy's failure is a result, the machinery's is not
    (done,) = await all_of_run(pool, Answers("4"), again, store)
    assert store.episode(done.episode.id).reward == 1.0
    replayed = await all_of_run(pool, ReplayPolicy(episodes=store.episodes()), [*good, *bad])
    assert {d.episode.id: d.episode.verdict for d in replayed} == {d.episode.id: d.episode.verdict for d in first}


@browser_test
@shared_loop
async def test_a_store_that_cannot_be_written_stops_the_run(pool: Pool, tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    (tmp_path / "episodes").rmdir()
    (tmp_path / "episodes").write_text("")
    with pytest.raises(StoreError, match=r"cannot write .*steps.jsonl"):
        await all_of_run(pool, NoOpPolicy(), requests(9), store)


@browser_test
async def test_rollout_is_a_pool_for_one_run() -> None:
    finished = [
        done async for done in rollout(PAD, OraclePolicy(), [Request("pad/add", 1), Request("count", 1)], slots=2)
    ]
    assert [done.episode.reward for done in finished] == [1.0, 1.0]
