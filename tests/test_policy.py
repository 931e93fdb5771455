"""Scripted policies, and above all the oracle: Playwright's words in, an agent's actions out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect

import uigym.policy.oracle
from uigym.browser import Browser
from uigym.env import Env
from uigym.errors import BrowserError, HarnessError, PolicyError
from uigym.params import one_of
from uigym.policy import EpisodePolicy, Policy, policy_name
from uigym.policy.scripted import NoOpPolicy, OraclePolicy, RandomPolicy, ReplayPolicy
from uigym.registry import load
from uigym.types import Action, Answer, Click, Done, Drag, Key, Move, Observation, Scroll, Type, Wait
from uigym.verify import passed

PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
SEEN = Observation(b"", 320, 240, "Do it.")


# --- without a browser ---


async def test_noop_is_done_at_once() -> None:
    assert await NoOpPolicy().act(SEEN, ()) == Done()


async def test_random_is_a_function_of_seed_and_step() -> None:
    async def actions(seed: int) -> list[Action]:
        return [await RandomPolicy(seed).act(SEEN, [None] * step) for step in range(200)]  # type: ignore[list-item]

    first = await actions(1)
    assert first == await actions(1)
    assert first != await actions(2)
    assert {type(action) for action in first} == {Click, Key, Type, Scroll}
    points = [action for action in first if isinstance(action, Click | Scroll)]
    assert all(0 <= point.x < 320 and 0 <= point.y < 240 for point in points)
    assert max(point.x for point in points) > 300


async def test_replay_gives_what_was_given_and_then_is_done() -> None:
    policy = ReplayPolicy([Key("Tab"), Wait(0)])
    assert [await policy.act(SEEN, [None] * step) for step in range(3)] == [Key("Tab"), Wait(0), Done()]  # type: ignore[list-item]


async def test_oracle_needs_its_episode() -> None:
    with pytest.raises(HarnessError, match="for_episode"):
        await OraclePolicy().act(SEEN, ())


def test_names_and_kinds() -> None:
    policies: list[Policy] = [NoOpPolicy(), RandomPolicy(), ReplayPolicy(), OraclePolicy()]
    assert [policy_name(policy) for policy in policies] == ["noop", "random", "replay", "oracle"]
    assert [isinstance(policy, EpisodePolicy) for policy in policies] == [False, True, True, True]
    assert policy_name(object()) == "object"


# --- the oracle, on a real page ---


class Bench:
    """Runs oracles on the page of controls, with one product and one browser."""

    def __init__(self, env: Env):
        self.env = env

    async def run(self, solve: Callable[..., Awaitable[str | None]], home: str = "/controls") -> list[Action]:
        """The actions of an oracle from reset to end; `self.settings` has what the page then stored."""
        harness = replace(PAD, home=home)

        @harness.task("Do {it}.", max_steps=60)
        def odd(it: str = one_of("it")):  # type: ignore[no-untyped-def]
            return lambda episode: passed("odd")

        odd.oracle(solve)
        env = Env(harness, self.env._slot._given_browser, self.env.product)
        observation = await env.reset(odd, 0)
        script = OraclePolicy().for_episode(env)
        try:
            while env.episode is None:
                observation = (await env.step(await script.act(observation, env.history))).observation
        finally:
            await script.close()
            await env.close()
        self.settings = {row["key"]: row["value"] for row in env.episode.after.tables["settings"]}
        return [step.action for step in env.episode.steps[:-1]]


pytest_browser = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(browser: Browser) -> AsyncIterator[Bench]:
    async with Env(PAD, browser) as env:
        await env.reset("count", 0)
        yield Bench(env)


def oracle(function: Any) -> Any:
    """A test on the bench."""
    for mark in pytest_browser:
        function = mark(function)
    return function


@oracle
async def test_fill_clicks_selects_all_and_types(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.get_by_label("Memo").fill("new")
        await page.keyboard.press("Tab")

    click, *rest = await bench.run(solve)
    assert isinstance(click, Click)
    assert rest == [Key("Control+A"), Type("new"), Key("Tab")]
    assert bench.settings == {"memo": "new"}


@oracle
async def test_fill_of_an_empty_field_and_emptying_one(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.locator("input").first.fill("tea", timeout=500)
        await page.fill("#text", "")

    kinds = await bench.run(solve, home="/")
    assert [type(action) for action in kinds] == [Click, Type, Click, Key, Key]
    assert kinds[3:] == [Key("Control+A"), Key("Delete")]


@oracle
async def test_native_list_is_opened_and_its_option_clicked(bench: Bench) -> None:
    async def solve(page: Any) -> str:
        chosen = await page.get_by_label("Colour").select_option("blue")
        await page.get_by_label("Colour").select_option(label="blue")  # is chosen already
        return str(chosen)

    opening, choosing = await bench.run(solve)
    assert isinstance(opening, Click) and isinstance(choosing, Click) and choosing.y != opening.y
    assert bench.settings == {"colour": "b"}


@oracle
async def test_dates_and_colours_are_filled_through_their_pickers(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.get_by_label("Tea").fill("gre")
        await page.get_by_label("Day").fill("2026-03-04")  # under the open list of teas
        await page.get_by_label("Paint").fill("#ff8800")

    actions = await bench.run(solve)
    assert [action for action in actions if not isinstance(action, Click)] == [
        Type("gre"),
        Key("Escape"),
        Key("F4"),
        Type("2026-03-04"),
        Key("Enter"),
        Type("#ff8800"),
        Key("Enter"),
    ]
    assert bench.settings == {"tea": "gre", "day": "2026-03-04", "paint": "#ff8800"}


@oracle
async def test_open_list_is_clicked(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.select_option("[aria-label=Size]", "medium")

    (click,) = await bench.run(solve)
    assert isinstance(click, Click)
    assert bench.settings == {"size": "medium"}


@oracle
async def test_hidden_check_box_is_clicked_through_its_label(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        box = page.get_by_label("Agree")
        await box.check()
        await box.check()
        assert await box.is_checked()

    (click,) = await bench.run(solve)
    assert isinstance(click, Click)
    assert bench.settings == {"agree": "true"}


@oracle
async def test_mouse_words(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.get_by_text("Hover").hover()
        await page.get_by_role("button", name="Twice").dblclick()
        await page.get_by_role("button", name="Keys").click(modifiers=["Shift"])
        await page.get_by_role("link").click()
        await page.mouse.move(5, 5)
        await page.mouse.wheel(0, 10)

    actions = await bench.run(solve)
    assert [type(action) for action in actions] == [Move, Click, Click, Click, Move, Scroll]
    assert isinstance(actions[1], Click) and actions[1].count == 2
    assert isinstance(actions[2], Click) and actions[2].modifiers == ("Shift",)
    assert actions[5] == Scroll(5, 5, 0, 10)
    assert bench.settings == {"hovered": "1", "double": "1", "keys": "true", "link": "1"}


@oracle
async def test_held_modifier_goes_with_the_click(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.keyboard.down("Shift")
        await page.locator("button", has_text="Keys").click()
        await page.keyboard.up("Shift")

    (click,) = await bench.run(solve)
    assert isinstance(click, Click) and click.modifiers == ("Shift",)
    assert bench.settings == {"keys": "true"}


@oracle
async def test_wheel_brings_what_is_out_of_sight(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.get_by_text("Bottom").click()
        await page.get_by_role("button", name="Item 27", exact=True).click()

    actions = await bench.run(solve)
    assert {type(action) for action in actions} == {Scroll, Click}
    assert len(actions) <= 6
    assert bench.settings == {"bottom": "1", "item": "27"}


@oracle
async def test_drag_to(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.locator("#card").drag_to(page.locator("#bin"))

    actions = await bench.run(solve)
    assert isinstance(actions[-1], Drag)
    assert bench.settings == {"dropped": "1"}


@oracle
async def test_inside_a_frame(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.mouse.move(160, 200)
        await page.mouse.wheel(0, 200)
        await page.frame_locator("iframe").get_by_role("button").click()

    await bench.run(solve)
    assert bench.settings == {"inside": "1"}


@oracle
async def test_what_comes_late_is_waited_for_and_seen(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page.get_by_role("button", name="Later").click()
        await page.get_by_role("button", name="Late", exact=True).click()

    actions = await bench.run(solve)
    assert [type(action) for action in actions] == [Click, Wait, Click]
    assert bench.settings == {"late": "1"}


@oracle
async def test_reads_and_chains_are_playwrights(bench: Bench) -> None:
    async def solve(page: Any) -> str:
        items = page.get_by_label("Items").get_by_role("button")
        last = items.filter(has_text="Item").nth(29)
        assert await items.count() == 30
        assert await last.inner_text() == await items.last.inner_text() == "Item 30"
        assert [await item.inner_text() for item in await items.all()][1] == "Item 2"
        assert await page.locator("div", has=page.locator("#card")).count() == 1
        assert await page.evaluate("1 + 1") == 2
        await page.locator("#late").wait_for(state="hidden")
        await expect(items).to_have_count(30)
        return "read"

    assert await bench.run(solve) == []


@oracle
@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda page: page.get_by_text("Covered").click(timeout=200), "is covered by div#cover"),
        (lambda page: page.locator("#late").click(timeout=200), "is not visible"),
        (lambda page: page.locator("#nowhere").click(timeout=200), "is not there"),
        (lambda page: page.get_by_role("button").click(timeout=200), "strict mode violation"),
        (lambda page: page.get_by_label("Colour").select_option("mauve"), "no option 'mauve'; options: red, green"),
        (lambda page: page.get_by_label("Colour").select_option("grey"), "option 'grey' is disabled"),
        (lambda page: page.goto("/"), "was refused: goto is not granted"),
        (lambda page: page.mouse.click(999, 1), "was refused: click at"),
        (lambda page: page.locator("#card").dispatch_event("click"), "Locator.dispatch_event is nothing that"),
        (lambda page: page.request.post("/set"), "Page.request is nothing that an agent can do"),
        (lambda page: page.get_by_label("Memo").click(trial=True), "the options trial have no meaning"),
        (lambda page: page.keyboard.down("a"), "'a' is not a modifier key"),
        (lambda page: asyncio.gather(page.mouse.click(1, 1), page.mouse.click(2, 2)), "two acts at once"),
    ],
)
async def test_a_wrong_oracle_is_the_harness_authors_fault(bench: Bench, act: Any, message: str) -> None:
    async def solve(page: Any) -> None:
        await act(page)

    with pytest.raises(HarnessError, match=r"^the oracle of pad/odd, seed 0, test_policy.py line \d+: ") as told:
        await bench.run(solve)
    assert message in str(told.value)


@oracle
async def test_an_oracle_answers_with_text_or_nothing(bench: Bench) -> None:
    async def number(page: Any) -> Any:
        return 5

    def plain(page: Any) -> Any:
        return "not async"

    with pytest.raises(HarnessError, match="returned 5; expected text"):
        await bench.run(number)
    with pytest.raises(HarnessError, match="must be an async function"):
        await bench.run(plain)


@oracle
async def test_an_oracle_that_waits_for_ever_is_told_with_its_line(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uigym.policy.oracle, "PATIENCE_S", 0.2)

    async def solve(page: Any) -> None:
        await asyncio.Event().wait()

    line = solve.__code__.co_firstlineno + 1
    with pytest.raises(HarnessError, match=rf"test_policy.py line {line} gave no action for 0.2 s"):
        await bench.run(solve)


@oracle
async def test_no_coroutine_outlives_its_episode(bench: Bench) -> None:
    ended = []

    async def solve(page: Any) -> None:
        try:
            await page.mouse.click(160, 230)
            await page.mouse.click(160, 230)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    harness = replace(PAD, home="/controls")

    @harness.task("Do {it}.", max_steps=1)
    def short(it: str = one_of("it")):  # type: ignore[no-untyped-def]
        return lambda episode: passed("short")

    short.oracle(solve)
    before = asyncio.all_tasks()
    env = Env(harness, bench.env._slot._given_browser, bench.env.product)
    observation = await env.reset(short, 0)
    script = OraclePolicy().for_episode(env)
    assert (await env.step(await script.act(observation, ()))).truncated
    await script.close()
    assert ended == ["cancelled"]
    await env.close()
    await asyncio.sleep(0.05)
    assert not {task for task in asyncio.all_tasks() - before if "solve" in repr(task)}


@oracle
async def test_a_browser_that_dies_is_not_the_oracles_fault(bench: Bench) -> None:
    async def solve(page: Any) -> None:
        await page._real.context.close()
        await page.locator("button").first.click()

    with pytest.raises(BrowserError, match="went away under the oracle of pad/odd"):
        await bench.run(solve)


@oracle
async def test_replay_finds_its_episode(bench: Bench) -> None:
    env = Env(PAD, bench.env._slot._given_browser, bench.env.product)
    await env.reset("count", 2, episode_id="a")
    await env.step(Answer("2"))
    assert env.episode is not None
    policy = ReplayPolicy(episodes=[env.episode])
    observation = await env.reset("count", 2, episode_id="a")
    assert (await env.step(await policy.for_episode(env).act(observation, ()))).reward == 1.0
    await env.reset("count", 2, episode_id="b")
    with pytest.raises(PolicyError, match="no stored episode b"):
        policy.for_episode(env)
    await env.close()
