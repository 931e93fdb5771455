"""The ways to a demonstration beside the page itself: from Python, by the command, in a window, for every bundled app."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from persons import Person, person_at, trusting
from playwright.async_api import expect

import uigym.record.window
from uigym.browser import Browser
from uigym.cli.options import find_tasks
from uigym.env import Env
from uigym.errors import BrowserError, ConfigError
from uigym.harness import Harness
from uigym.policy.scripted import OraclePolicy
from uigym.record import read_demo, record
from uigym.record.attempt import Giver
from uigym.record.by_hand import record_by_hand
from uigym.record.withhold import withhold
from uigym.registry import load
from uigym.rollout import Request, rollout
from uigym.store import RunStore
from uigym.types import Cause, Click, Done, Episode, Failure, StepRecord, Stop, Type, Wait

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
HANDS: Harness = load(str(Path(__file__).parent / "gyms" / "hands.py"))
BARE = Episode("e", "hands", "show", 0, {}, "", (), Stop.ERROR, failure=Failure(Cause.POLICY, ""))
APPS = ("desk", "shop", "mail", "plan", "books", "frontdesk", "backroom")


async def middle(env: Env, selector: str) -> Click:
    box = await env.session.page.locator(selector).bounding_box()
    assert box is not None
    return Click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


async def test_what_is_done_in_a_block_is_a_demonstration(browser: Browser, tmp_path: Path) -> None:
    async with Env(HANDS, browser) as env:
        with pytest.raises(RuntimeError, match="call reset first"):
            async with record(env):
                pass
        await env.reset("show", 0)
        with pytest.raises(ZeroDivisionError):
            async with record(env, tmp_path):
                _ = 1 / 0
        assert RunStore(tmp_path).ids() == []
        async with record(env, tmp_path, by="ann") as demo:
            await env.step(await middle(env, "#name"))
            await env.step(Type("Bo"))
            await env.step(await middle(env, "#save"))
            with pytest.raises(RuntimeError, match="no proof yet"):
                _ = demo.proof
        assert demo.proof.counts and demo.proof.diverged_at is None
        await env.reset("show", 1)
        async with record(env) as other:
            await env.step(Wait(0.1))
        assert not other.proof.counts and "nothing was done" in other.proof.reason
    store = RunStore(tmp_path)
    (name,) = store.ids()
    stored = read_demo(store, name)
    assert stored == demo.demo and stored is not None and (stored.way, stored.by) == ("python", "ann")
    assert store.episode(name) == demo.episode


async def test_the_command_asks_for_one_task_after_another(tmp_path: Path) -> None:
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    wanted = [Request("show", seed) for seed in range(3)]
    running = asyncio.create_task(record_by_hand(HANDS, wanted, RunStore(tmp_path), told.set_result))
    url = await asyncio.wait_for(told, 60)
    headers = {"Origin": url.rsplit("/", 2)[0]}
    async with httpx.AsyncClient(trust_env=False, base_url=url, headers=headers, timeout=30) as page:

        async def until(phase: str, number: int) -> None:
            state = {"version": ""}
            while (state.get("phase"), state.get("number")) != (phase, number):
                state = (await page.get("state", params={"after": state["version"]})).json()

        await until("showing", 1)
        await page.post("ask", json={"name": "discard"})
        await until("showing", 2)
        await page.post("ask", json={"name": "end"})
        await until("ended", 2)
    tally = await running
    assert (tally.counted, tally.skipped) == (0, 2)
    with pytest.raises(ConfigError, match="nothing to record"):
        await record_by_hand(HANDS, [], RunStore(tmp_path), print)


async def test_a_window_needs_a_screen_and_a_chromium_that_has_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked() -> asyncio.Task[object]:
        wanted = [Request("show", 0)]
        recording = record_by_hand(HANDS, wanted, RunStore(tmp_path), print, giver=Giver("ann", "window"))
        return asyncio.create_task(recording)

    monkeypatch.setattr(uigym.record.window, "has_screen", lambda: False)
    with pytest.raises(ConfigError, match="--headed needs a screen"):
        await asked()
    monkeypatch.setattr(uigym.record.window, "has_screen", lambda: True)
    monkeypatch.setattr(uigym.record.window, "windowed_chromium", lambda: None)
    with pytest.raises(BrowserError, match="has no windows"):
        await asked()


async def test_a_page_that_ends_the_episode_ends_the_attempt(tmp_path: Path) -> None:
    harness = replace(HANDS, reads={"over": "document.querySelector('#name').value === 'stop'"}, until="over")
    harness.task("Write stop.", max_steps=9)(HANDS.find_task("show").function)
    async with person_at(harness, [Request("show", 0)], RunStore(tmp_path)) as (person, _):
        await person.showing()
        await person.click("#save")
        await person.click("#name")
        await person.page.keyboard.type("stop")
        await person.phase("judged")
        result = person.studio.state()["result"]
        assert result["counts"], result["reason"]
    assert RunStore(tmp_path).episode(result["id"]).stop is Stop.OVER


async def test_a_product_that_dies_breaks_the_attempt_and_another_one_may_follow(tmp_path: Path) -> None:
    async with person_at(HANDS, [Request("show", 0)], RunStore(tmp_path), trusting) as (person, _):
        await person.showing()
        await person.click("#save")
        await person.settled()
        end_product(person)
        await person.page.locator("#done").click()
        await person.phase("broken")
        await expect(person.page.locator("#veil p")).to_contain_text("It broke off.")
        await person.page.locator("#again").click()
        await person.phase("showing")
        await person.showing()
        await person.click("#save")
        result = await person.end()
        assert result["counts"], result["reason"]
    assert len(RunStore(tmp_path).ids()) == 1


def end_product(person: Person) -> None:
    os.kill(int((person.studio.env.product.workdir / "pid").read_text()), signal.SIGKILL)


@pytest.mark.parametrize("view", [{"viewport": {"width": 400, "height": 700}}, {"device_scale_factor": 1.5}])
async def test_any_window_and_zoom_will_do(view: dict[str, object], tmp_path: Path) -> None:
    async with person_at(HANDS, [Request("show", 0)], RunStore(tmp_path), trusting, **view) as (person, _):
        await person.showing()
        await person.click("#twice", click_count=2)
        await person.settled()
        await person.page.locator("#zoom").click()
        await person.click("#right", button="right")
        result = await person.end()
        assert result["counts"], result["reason"]
        rows = RunStore(tmp_path).episode(result["id"]).after.tables["did"]
    assert [row["what"] for row in rows] == ["twice", "right"]


async def oracle(harness: Harness, request: Request) -> Episode:
    async for finished in rollout(harness, OraclePolicy(), [request], slots=1):
        return finished.episode
    raise AssertionError("no episode")


async def shown_by_hand(app: str, folder: Path) -> None:
    """What the oracle does, done by hands on the page."""
    harness, tasks = find_tasks(app)
    request = Request(next(task.name for task in tasks if task.solve is not None), 1)
    played = await oracle(harness, request)
    async with person_at(harness, [request], RunStore(folder)) as (person, _):
        await person.showing()
        result = await person.play([step.action for step in played.steps])
        assert result["counts"], result["reason"]


async def test_a_demonstration_of_kiosk(tmp_path: Path) -> None:
    await shown_by_hand("kiosk", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("app", APPS)
async def test_a_demonstration_of_every_app(app: str, tmp_path: Path) -> None:
    await shown_by_hand(app, tmp_path)


async def test_what_is_withheld_is_gone_from_everything(browser: Browser) -> None:
    async with Env(HANDS, browser) as env:
        await env.reset("log_in", 0)
        for action in (await middle(env, "#word"), Type('p&"ss w'), await middle(env, "#save")):
            await env.step(action)
        async with record(env) as demo:
            pass
    assert demo.episode is not None
    held = withhold(demo.episode, [1], ["p&"])
    assert held.told == {1: 'p&"ss w'} and held.notes == {"withheld": {"1": "prompt"}}
    assert 'p&"ss w' not in repr(held.episode)
    known = withhold(replace(demo.episode, params={"user": {"password": 'p&"ss w'}}), [1], [])
    assert known.notes == {"withheld": {"1": "params.user.password"}}
    assert 'p&"ss w' in repr(known.episode.after)  # the task says it anyway
    assert withhold(demo.episode, [], []).episode is demo.episode


async def test_a_password_that_code_types_is_kept_nowhere(browser: Browser, tmp_path: Path) -> None:
    async with Env(HANDS, browser) as env:
        await env.reset("show", 0)
        async with record(env, tmp_path) as demo:
            for action in (await middle(env, "#word"), Type("hunter22"), await middle(env, "#save")):
                await env.step(action)
        assert env.onlooker is None and demo.proof.counts and demo.demo is not None
    assert demo.demo.notes == {"withheld": {"1": "prompt"}}
    kept = b"".join(path.read_bytes() for path in sorted(tmp_path.rglob("*.json*")))  # noqa: ASYNC240
    assert b"hunter22" not in kept and b"[withheld]" in kept


@pytest.mark.parametrize("spelt", ["a*b%20c~%22%C3%BC", "a*b+c%7E%22%C3%BC", 'a*b c~\\"\u00fc', "a*b c~&quot;\u00fc"])
async def test_a_secret_is_found_however_a_page_spells_it(spelt: str) -> None:
    shown = [StepRecord("", Type('a*b c~"\u00fc')), StepRecord("", Done(), error=f"no {spelt}!")]
    held = withhold(replace(BARE, steps=tuple(shown), url=f"/?w={spelt}"), [0], [])
    assert (held.episode.url, held.episode.steps[1].error) == ("/?w=[withheld]", "no [withheld]!")


async def test_a_secret_may_be_one_of_our_own_words() -> None:
    shown = (
        StepRecord("", Click(1, 2)),
        StepRecord("", Type("done")),
        StepRecord("", Type("click")),
        StepRecord("", Done()),
    )
    held = withhold(replace(BARE, steps=shown), [1, 2], [])
    assert [step.action for step in held.episode.steps] == [Click(1, 2), Type("[withheld]"), Type("[withheld]"), Done()]
