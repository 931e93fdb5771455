"""What an episode keeps for its verifier beside the product's data, and that a policy sees nothing of it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from uigym.browser import Browser
from uigym.env import Env, Limits
from uigym.errors import ProductError
from uigym.harness import Harness
from uigym.registry import load
from uigym.store import RunStore
from uigym.types import Answer, Cause, Click, Done, Episode, Goto, Invalid, Observation, Type, Verdict
from uigym.verify import check

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
FIELD, ADD, HANG = Click(60, 16), Click(155, 16), Click(30, 16)


def posted(episode: Episode) -> Verdict:
    """The note was sent once, is on the page, and nothing was kept in the browser."""
    sent = [e for e in episode.network if e.method == "POST" and e.url.endswith("/add") and e.status == 200]
    assert episode.page is not None
    shown = "milk" in episode.page.text.splitlines()
    kept = episode.after.tables["browser.local_storage"] == episode.before.tables["browser.local_storage"] == ()
    return check("posted", len(sent) == 1 and sent[0].body == '{"text":"milk"}' and shown and kept, f"{episode.page}")


def watching(**changes: Any) -> Harness:
    harness = replace(PAD, **{"watch": ("network", "page", "storage"), "grants": (Goto,), **changes})

    @harness.task("Add milk.", max_steps=9)
    def milk() -> Any:
        return posted

    return harness


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(browser: Browser) -> AsyncIterator[Env]:
    async with Env(watching(), browser) as env:
        yield env


async def test_an_episode_keeps_what_is_watched(env: Env, tmp_path: Path) -> None:
    await env.reset("milk", 0)
    for action in (FIELD, Type("milk"), ADD):
        await env.step(action)
    step = await env.step(Done())
    assert step.reward == 1.0, step.info["verdict"]
    episode = env.episode
    assert episode is not None and episode.watched == ("network", "page", "storage") and not episode.refusals
    assert [(e.kind, e.step) for e in episode.network if e.method == "POST"] == [("fetch", 3)]
    assert episode.page and episode.page.url == episode.url
    store = RunStore(tmp_path)
    store.write(episode, env.images)
    assert store.episode(episode.id) == episode
    assert posted(store.episode(episode.id)).success  # the verdict is the same when it is run again


async def test_refusals_are_told_with_the_step_that_brought_them(env: Env) -> None:
    await env.reset("milk", 0)
    await env.step(Invalid("?", "no action"))
    assert (await env.step(Goto("http://127.0.0.1:2/secret"))).observation.error
    await env.session.page.evaluate("fetch('http://127.0.0.1:2/secret').catch(() => 0)")
    await env.step(Answer("x"))
    assert env.episode is not None
    assert [(refusal.url, refusal.step) for refusal in env.episode.refusals] == [("http://127.0.0.1:2/secret", 2)] * 2


async def test_an_episode_that_is_lost_keeps_its_refusals(browser: Browser) -> None:
    async with Env(watching(home="/faults"), browser, limits=Limits(step_s=1.0)) as env:
        await env.reset("milk", 0)
        await env.session.page.evaluate("fetch('http://127.0.0.1:2/secret').catch(() => 0)")
        with pytest.raises(ProductError, match="the page hung"):
            await env.step(HANG)
        assert env.episode is not None and env.episode.failure and env.episode.failure.cause is Cause.PRODUCT
        assert [refusal.url for refusal in env.episode.refusals] == ["http://127.0.0.1:2/secret"]


async def test_what_is_not_watched_is_not_there(browser: Browser) -> None:
    async with Env(PAD, browser) as env:
        await env.reset("count", 0)
        await env.step(Answer("0"))
        episode = env.episode
        assert episode is not None and episode.verdict and episode.verdict.success
        assert (episode.watched, episode.network, episode.page) == ((), (), None)
        assert not any(table.startswith("browser.") for table in (*episode.before.tables, *episode.after.tables))


async def test_a_policy_sees_nothing_of_it() -> None:
    fields = {field.name for field in dataclasses.fields(Observation)}
    assert not fields & {"network", "refusals", "page", "watched", "url"}
