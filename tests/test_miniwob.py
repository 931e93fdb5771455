"""MiniWoB++ as a gym: all pages of the package, their seeds, their rewards, and no clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from uigym.browser import Browser
from uigym.env import Env
from uigym.errors import ProductError
from uigym.harness import Harness, Split
from uigym.policy.scripted import OraclePolicy
from uigym.registry import load
from uigym.rollout import Pool, Request
from uigym.testing import check_harness
from uigym.types import Click, Episode, State, Step, Stop

MINIWOB: Harness = load("miniwob")
SOLVED = [task.name for task in MINIWOB.tasks.values() if task.solve is not None]
SKILLS = {
    "navigate", "find", "form", "edit", "multi-step", "drag", "rich-text", "table", "date", "file", "compare"
}  # fmt: skip


@pytest.fixture(scope="module")
def installed() -> Path:
    """The folder of the package; it is fetched once."""
    try:
        return asyncio.run(MINIWOB.install[0].installed())
    except ProductError as exc:
        pytest.skip(f"MiniWoB cannot be installed here: {exc}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(installed: Path, browser: Browser) -> AsyncIterator[Env]:
    async with Env(MINIWOB, browser) as env:
        yield env


def told(state: State) -> dict[str, Any]:
    return {row["name"]: row["value"] for row in state.tables["browser.values"]}


def last(env: Env) -> Episode:
    assert env.episode is not None and env.episode.verdict is not None, env.episode and env.episode.failure
    return env.episode


async def click(env: Env, selector: str, count: int = 1) -> Step:
    box = await env.session.page.locator(selector).first.bounding_box()
    assert box is not None, selector
    return await env.step(Click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, count=count))


async def played(env: Env, task: str, seed: int) -> Episode:
    seen = await env.reset(task, seed)
    script = OraclePolicy().for_episode(env)
    try:
        while env.episode is None:
            seen = (await env.step(await script.act(seen, env.history))).observation
    finally:
        await script.close()
    return last(env)


# --- what there is ---


def test_every_page_of_the_package_is_a_task(installed: Path) -> None:
    (folder,) = installed.glob("lib/python3*/site-packages/miniwob/html/miniwob")
    assert {page.stem for page in folder.glob("*.html")} == set(MINIWOB.tasks)
    assert not list(installed.glob("lib/python3*/site-packages/selenium*")), "only the pages are needed"


def test_tasks_are_said_in_several_ways_and_have_a_skill_and_a_difficulty() -> None:
    assert len(MINIWOB.tasks) == 130 and len(SOLVED) >= 70
    for task in MINIWOB.tasks.values():
        assert len({*task.wordings, *task.heldout_wordings}) >= 4 and task.heldout_wordings
        assert len({*task.tags} & {"easy", "medium", "hard"}) == 1 and {*task.tags} & SKILLS
        assert task.solve is None or (task.expected_steps and task.max_steps >= 3 * task.expected_steps)


def test_the_first_task_is_a_short_way(request: pytest.FixtureRequest) -> None:
    """Start, reset, state and what adds a page: without imports, blank lines and docstrings."""
    text = (request.config.rootpath / "harnesses" / "miniwob" / "product.py").read_text()
    start = text[text.index("async def no_data") : text.index("def told")]
    assert len([line for line in start.splitlines() if line.strip() and '"""' not in line]) <= 30


# --- seeds ---


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("task", ["click-link", "count-shape", "email-inbox-nl-turk", "use-slider"])
async def test_a_seed_gives_the_same_problem(env: Env, task: str) -> None:
    first, again, other = [await env.reset(task, seed) for seed in (3, 3, 4)]
    assert (first.png, first.instruction) == (again.png, again.instruction)
    assert other.png != first.png
    assert isinstance(env.instance.params["utterance"], str) and env.instance.params["utterance"]


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_held_out_seeds_are_drawn_as_miniwob_draws_for_tests(env: Env) -> None:
    for split, mode in ((Split.TRAIN, "train"), (Split.VALIDATION, "train"), (Split.HELDOUT, "test")):
        seen = await env.reset("click-checkboxes-transfer", split.seed(0))
        assert await env.session.page.evaluate("WOB_DATA_MODE") == mode
        assert env.instance.params["utterance"] in seen.instruction


# --- rewards ---


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_a_near_miss_is_not_paid_and_ends_the_episode(env: Env) -> None:
    await env.reset("click-test-2", 0)
    step = await click(env, "#subbtn2")
    assert (step.terminated, step.reward, last(env).stop) == (True, 0.0, Stop.OVER)
    assert last(env).verdict.reason == "expected a reward above 0: MiniWoB's own reward is -1"  # type: ignore[union-attr]
    await env.reset("click-test-2", 0)
    assert not (await env.step(Click(250, 220))).terminated
    assert (await click(env, "#subbtn")).reward == 1.0


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_success_is_a_reward_above_0_and_the_reward_is_kept(env: Env) -> None:
    await env.reset("click-checkboxes-large", 0)  # five of seven; one of them is left out
    for number in range(7):
        box = env.session.page.locator(f"#ch{number}")
        name = str(await box.locator("..").text_content())
        if name in env.instance.params["utterance"] and name != "nb":
            await click(env, f"#ch{number}")
    assert (await click(env, "#subbtn")).reward == 1.0
    verdict = last(env).verdict
    assert verdict is not None and verdict.success and 0 < told(last(env).after)["raw_reward"] < 1
    assert verdict.parts[0].reason.startswith("MiniWoB's own reward is 0.7")


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_after_its_end_a_page_offers_no_second_try(env: Env) -> None:
    await env.reset("click-test", 0)
    step = await click(env, "#subbtn", count=3)  # the second and third press the cover that says START
    assert step.terminated and step.reward == 1.0
    await env.reset("click-test-2", 0)
    step = await click(env, "#subbtn2", count=3)
    assert step.terminated and step.reward == 0.0


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_time_costs_nothing(env: Env) -> None:
    await env.reset("enter-text", 0)
    page = env.session.page
    assert await page.evaluate("core.EPISODE_MAX_TIME") > 1_000_000_000
    await page.evaluate("core.ept0 -= 60_000")  # as if a minute had passed
    assert not (await env.step(Click(250, 220))).terminated
    assert await page.locator("#reward-display").is_hidden()
    await page.fill("#tt", env.instance.params["utterance"].split('"')[1])
    assert (await click(env, "#subbtn")).reward == 1.0
    assert told(last(env).after)["raw_reward"] == 1


# --- oracles ---


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "task", ["click-tab-2", "choose-list", "email-inbox", "copy-paste", "enter-date", "use-slider"]
)
async def test_some_oracles(env: Env, task: str) -> None:
    episode = await played(env, task, 1)
    expected = MINIWOB.tasks[task].expected_steps
    assert episode.verdict and episode.verdict.success, episode.verdict
    assert expected and len(episode.steps) <= expected


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_a_task_is_sound(installed: Path) -> None:
    report = await check_harness(MINIWOB, ("click-tab-2-hard",), slots=2, reach=False)
    assert report.ok, report.failed


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_all_oracles(installed: Path) -> None:
    requests = [Request(task, seed) for task in SOLVED for seed in range(3)]
    async with Pool(MINIWOB, slots=2) as pool:
        episodes = [finished.episode async for finished in pool.run(OraclePolicy(), requests)]
    assert len(episodes) == len(requests)
    assert not [(e.task, e.seed, e.verdict, e.failure) for e in episodes if not (e.verdict and e.verdict.success)]
