"""A product that mails and writes files, judged through a real page: the right way, and those that only look right."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from uigym.browser import Browser
from uigym.env import Env
from uigym.harness import Harness
from uigym.policy.scripted import OraclePolicy
from uigym.registry import load
from uigym.store import RunStore
from uigym.types import Done, Episode
from uigym.verifiers.network import nothing_refused, requested
from uigym.verify import judge

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
POST: Harness = load(str(Path(__file__).parent / "gyms" / "post.py"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(browser: Browser) -> AsyncIterator[Env]:
    async with Env(POST, browser) as env:
        yield env


@pytest.mark.parametrize(("task", "seed"), [("write", 0), ("write", 1), ("begin", 0)])
async def test_the_oracle_is_paid_in_full_and_the_stored_episode_is_judged_alike(
    env: Env, task: str, seed: int, tmp_path: Path
) -> None:
    observation = await env.reset(task, seed)
    script = OraclePolicy().for_episode(env)
    while env.episode is None:
        observation = (await env.step(await script.act(observation, env.history))).observation
    await script.close()
    episode = env.episode
    assert episode.verdict is not None and episode.verdict.success, episode.verdict
    for mail in episode.after.tables["mails"]:
        card = ["card.gif"] if env.instance.params["how"] == "with" else []
        assert mail["recipients"] == [env.instance.params["person"]["address"]]
        assert [one["name"] for one in mail["attachments"]] == card and mail["raw"] is None
    assert len(episode.after.tables["mails"]) == (task == "write")
    store = RunStore(tmp_path)
    store.write(episode, env.images)
    assert judge(env.instance.verifier, store.episode(episode.id)) == episode.verdict


FETCH = "([path, form]) => fetch(path, {method: 'POST', body: new URLSearchParams(form)})"


async def said(env: Env, *requests: tuple[str, dict[str, str]]) -> Episode:
    """The episode in which the page asked the product this, and the agent then said that it is done."""
    await env.reset("write", 0)
    values = {"text": env.instance.params["text"], "person": env.instance.params["person"]["id"], "other": 0}
    values["other"] = values["person"] % 3 + 1
    for path, form in requests:
        filled = {name: value.format(**values) for name, value in form.items() if value}
        await env.session.page.evaluate(FETCH, [path.format(**values), filled])
    await env.step(Done())
    assert env.episode is not None and env.episode.verdict is not None
    return env.episode


FORM = {"text": "{text}", "card": ""}
WITH = {**FORM, "card": "1"}
DRAFT, SEND = "/draft/{person}", "/send/1"


@pytest.mark.parametrize(
    ("requests", "score", "reason"),
    [
        ([], 0.0, "found no new row"),
        ([(DRAFT, "right")], 0.0, "found letters id=1"),
        ([(DRAFT, "right"), (SEND, "right")], 1.0, ""),
        ([(DRAFT, "other card"), (SEND, "right")], 1.0, ""),
        ([(DRAFT, "right"), ("/send/1?x=1", "right")], 1.0, ""),
        ([(DRAFT, "right"), (SEND, "other card")], 0.0, "attachments"),
        ([(DRAFT, "right"), (SEND, "right"), (SEND, "right")], 0.0, "expected 1 new row(s) in mails, found 2"),
        ([(DRAFT, "right"), (DRAFT, "right"), (SEND, "right")], 0.0, "besides: letters id=2"),
        ([("/draft/{other}", "right"), (SEND, "right")], 0.0, "expected people id="),
        ([(DRAFT, "right"), (SEND, "wrong text")], 0.0, "found mails id=1 with text"),
    ],
)
async def test_near_misses(env: Env, requests: list[tuple[str, str]], score: float, reason: str) -> None:
    await env.reset("write", 0)
    right, other = (WITH, FORM) if env.instance.params["how"] == "with" else (FORM, WITH)
    forms: dict[str, Any] = {"right": right, "other card": other, "wrong text": {**right, "text": "{text}!"}}
    episode = await said(env, *((path, forms[kind]) for path, kind in requests))
    verdict = episode.verdict
    assert verdict is not None and verdict.score == score, verdict
    assert reason in verdict.reason


async def test_a_draft_is_no_side_effect(env: Env) -> None:
    verdict = (await said(env, (DRAFT, {"text": "Al"}))).verdict
    assert verdict is not None and verdict.score == 0.0 and verdict.side_effects == ()
    assert [part.name for part in verdict.parts if part.score == 1.0] == [
        "unchanged",
        "no request DELETE **",
        "nothing refused",
    ]


async def test_what_went_elsewhere_is_not_rewarded(env: Env) -> None:
    await env.reset("begin", 0)
    await env.session.page.evaluate("() => fetch('http://elsewhere.test/').catch(() => {})")
    person = env.instance.params["person"]
    await env.session.page.goto(f"{env.product.base_url}/write/{person['id']}")
    await env.step(Done())
    assert env.episode is not None and env.episode.verdict is not None
    reason = env.episode.verdict.reason
    assert 'expected 1 time(s) checkbox name="With a card" checked=true, found it 0 times' in reason
    assert not nothing_refused()(env.episode).success
    assert requested("GET", "/write/*")(env.episode).success and not requested("POST", "**")(env.episode).success
