"""Where a step's time went, and what the pages complained of: kept for people, in every episode."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from uigym.browser import Browser
from uigym.browser.console import MAX_COMPLAINTS, MAX_TEXT, Complaints, Console
from uigym.env import Env
from uigym.errors import ProductError
from uigym.harness import Harness
from uigym.registry import load
from uigym.store import RunStore
from uigym.types import Click, Complaint, Done, Episode, Key, Wait
from uigym.verify import check

PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
BLANK = Click(300, 150)
COMPLAINS = """
console.error('at first', 7, {a: 1}, null); console.log('no error'); console.assert(1 > 2, 'odd');
addEventListener('mousedown', () => {
  console.error('x'.repeat(9000));
  fetch('/nowhere', {method: 'POST'});
  setTimeout(() => { throw new RangeError('late') });
});
addEventListener('keydown', () => open('/'));
"""


def running(init: str) -> Harness:
    harness = replace(PAD, init=init)

    @harness.task("Do nothing.", max_steps=9)
    def nothing() -> Any:
        return lambda episode: check("nothing", True, "")

    return harness


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Episode]:
    async with Env(running(COMPLAINS), browser) as env:
        await env.reset("nothing", 0)
        await env.step(BLANK)
        await env.step(Key("a"))
        await env.step(Wait(0.1))
        await env.step(Done())
        assert env.episode is not None
        store = RunStore(tmp_path_factory.mktemp("run"))
        store.write(env.episode, env.images)
        read = store.episode(env.episode.id)
        assert read == env.episode
        yield read


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
class TestEpisode:
    async def test_it_holds_what_its_pages_complained_of(self, played: Episode) -> None:
        first = [line for line in played.console if line.step == 0]
        assert [(line.kind, line.text) for line in first] == [("error", "at first 7 Object null"), ("error", "odd")]
        later = [line for line in played.console if line.step == 1]
        assert {line.kind for line in later} == {"error", "exception", "network"}
        thrown = next(line for line in later if line.kind == "exception")
        assert "RangeError: late" in thrown.text
        failed = next(line for line in later if line.kind == "network")
        assert failed.url.endswith("/nowhere") and "405" in failed.text
        assert MAX_TEXT in {len(line.text) for line in later}

    async def test_a_window_that_was_opened_complains_too(self, played: Episode) -> None:
        assert [line.text for line in played.console].count("at first 7 Object null") == 2

    async def test_each_step_says_where_its_time_went(self, played: Episode) -> None:
        click, _, wait, done = played.steps
        assert {"think", "act", "settle", "capture"} <= click.phases.keys()
        assert sum(ms for name, ms in click.phases.items() if name != "think") == pytest.approx(
            click.latency_ms, abs=0.1
        )
        assert wait.phases["act"] >= 100 and "judge" not in wait.phases
        assert {"judge"} <= done.phases.keys() <= {"think", "rest", "judge"}


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_a_lost_episode_holds_them_too(browser: Browser) -> None:
    async with Env(running("console.error('before the end')"), browser) as env:
        await env.reset("nothing", 0)
        episode = await env.fail(ProductError("gone"))
        assert [line.text for line in episode.console] == ["before the end"]


def test_complaints_are_bounded() -> None:
    step, console = 0, Console()
    complaints = Complaints(lambda: step)
    for number in range(MAX_COMPLAINTS + 5):
        console._take(Complaint("error", str(number)))
    console.hand_to(complaints.take)
    step = 3
    for number in range(7):
        console._take(Complaint("error", str(number)))
    told = complaints.told()
    assert len(told) == MAX_COMPLAINTS + 1 and told[-1] == Complaint("more", "and 7 more that are not told", "", 3)
