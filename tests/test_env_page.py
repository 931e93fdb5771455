"""Products that live in their page: begun with a seed, read by the controller, over when they say so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from uigym.browser import Browser
from uigym.env import Env, Limits
from uigym.errors import HarnessError, ProductError
from uigym.harness import Harness
from uigym.params import computed, rows
from uigym.product import Product
from uigym.store import RunStore
from uigym.testing import check_harness
from uigym.types import Cause, Click, Dialog, Done, State, Stop
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import changed, only
from uigym.verify import Verifier, all_of

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

GAME = """<!doctype html><meta charset=utf-8>
<style>body { margin: 0 } button { width: 100px; height: 20px; display: block }</style>
<main></main><button onclick="alert('hello')">Greet</button><p id=level></p><script>
const doors = ["red", "blue", "green", "black", "white", "brown", "pink", "gold"], level = "LEVEL";
let over = false, points = 0;
const wanted = doors[Math.floor(draw() * doors.length)];
document.querySelector("#level").textContent = level + ": " + wanted;
const guess = (door) => { if (!over) { over = true; points = door === wanted ? 1 : -1 } };
for (const door of doors) {
  const button = document.createElement("button");
  button.textContent = door;
  button.onclick = () => guess(door);
  document.querySelector("main").append(button);
}
</script>"""
DOORS = ("red", "blue", "green", "black", "white", "brown", "pink", "gold")
GREET = Click(50, 170)
DRAWING = "let state = (seed + 1) * 1234567; window.draw = () => (state = state * 16807 % 2147483647) / 2147483647 % 1;"
READS = {
    "over": "over",
    "points": "points",
    "wanted": "wanted",
    "level": "level",
    "none": "undefined",
}


def game(workdir: Path) -> Starlette:
    def play(request: Request) -> HTMLResponse:
        return HTMLResponse(GAME.replace("LEVEL", request.url.path + "?" + request.url.query))

    return Starlette(routes=[Route("/{path:path}", play)])


async def levels(product: Any) -> State:
    return State({"levels": ({"id": 1, "name": "low"}, {"id": 2, "name": "high"})})


async def nothing(product: Any, seed: int, appearance: Any) -> None:
    return None


def harness(**changes: Any) -> Harness:
    given = {"init": DRAWING, "reads": READS, "until": "over", "home": "/plain", "grants": (Dialog,), **changes}
    made = Harness(name="game", asgi=game, state=levels, reset=nothing, viewport=(200, 240), **given)

    def told(state: State, _: Any) -> str:
        return next(row["value"] for row in state.tables["browser.values"] if row["name"] == "wanted")

    won = only(changed("browser.values", key="points", value=1), except_=[("browser.values", "over")])

    @made.task("Press {wanted}.", max_steps=5)
    def press(wanted: str = computed(told)) -> Verifier:
        return all_of(url_matches("/plain"), won)

    @made.task("Press {wanted} on level {level[name]}.", max_steps=5, home="/level/{level[id]}?seed={seed}")
    def press_on(level: Any = rows("levels"), wanted: str = computed(told)) -> Verifier:
        return all_of(url_matches(f"/level/{level['id']}"), won)

    async def solve(page: Any, wanted: str) -> None:
        await page.get_by_role("button", name=wanted).click()

    press.oracle(solve)
    press_on.oracle(solve)
    return made


def door(name: str) -> Click:
    return Click(50, 20 * DOORS.index(name) + 10)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(browser: Browser) -> AsyncIterator[Env]:
    async with Env(harness(), browser) as env:
        yield env


def values(state: State) -> dict[str, Any]:
    return {row["name"]: row["value"] for row in state.tables["browser.values"]}


async def test_the_page_is_begun_with_the_seed_and_read(env: Env, tmp_path: Path) -> None:
    first = await env.reset("press", 7)
    again = await env.reset("press", 7)
    assert (first.png, first.instruction) == (again.png, again.instruction)
    said = values(env.before)
    assert said == {"over": False, "points": 0, "wanted": said["wanted"], "level": "/plain?", "none": None}
    assert again.instruction == f"Press {said['wanted']}."
    drawn = {(await env.reset("press", seed)).instruction for seed in range(6)}
    assert len(drawn) > 2


async def test_the_page_says_when_the_episode_is_over(env: Env, tmp_path: Path) -> None:
    await env.reset("press", 3)
    wanted = values(env.before)["wanted"]
    step = await env.step(door(wanted))
    assert (step.terminated, step.truncated, step.reward) == (True, False, 1.0), step.info
    episode = env.episode
    assert episode is not None and episode.stop is Stop.OVER and values(episode.after)["points"] == 1
    store = RunStore(tmp_path)
    store.write(episode, env.images)
    assert store.episode(episode.id) == episode
    with pytest.raises(RuntimeError, match="has ended"):
        await env.step(door(wanted))
    await env.reset("press", 3)
    step = await env.step(door(next(other for other in DOORS if other != wanted)))
    assert (step.terminated, step.reward) == (True, 0.0) and step.info["stop"] is Stop.OVER


async def test_an_end_that_the_policy_chooses_is_read_as_well(env: Env) -> None:
    await env.reset("press", 3)
    assert not (await env.step(Click(150, 200))).terminated
    step = await env.step(Done())
    assert step.info["stop"] is Stop.DONE and step.reward == 0.0
    assert env.episode is not None and values(env.episode.after) == values(env.episode.before)


async def test_a_dialog_does_not_end_an_episode_and_is_not_in_the_way_at_its_end(env: Env) -> None:
    await env.reset("press", 3)
    step = await env.step(GREET)
    assert step.observation.open.dialog and not step.terminated
    await env.step(Done())
    assert env.episode is not None and values(env.episode.after)["over"] is False


async def test_a_page_that_hangs_is_no_empty_record(browser: Browser) -> None:
    async with Env(harness(), browser, limits=Limits(step_s=1.0)) as env:
        await env.reset("press", 3)
        await env.session.page.evaluate("setTimeout(() => { while (true) {} }, 0)")
        with pytest.raises(ProductError, match="the page hung"):
            await env.step(Done())
        episode = env.episode
        assert episode is not None and episode.failure and episode.failure.cause is Cause.PRODUCT
        assert episode.verdict is None and not episode.after.tables


@pytest.mark.parametrize("expression", ["missing.value", "over over", "JSON.parse('{')"])
async def test_what_cannot_be_read_is_the_harness_s_mistake(browser: Browser, expression: str) -> None:
    async with Env(harness(reads={**READS, "bad": expression}), browser) as env:
        with pytest.raises(HarnessError, match=r"'bad': .*(ReferenceError|SyntaxError).*expected expressions"):
            await env.reset("press", 3)


async def test_what_json_cannot_hold_is_null(browser: Browser) -> None:
    odd = {"nan": "0/0", "function": "() => 1", "nothing": "null", "list": "[1, undefined]", "big": "String(10n)"}
    async with Env(harness(reads={**READS, **odd}), browser) as env:
        await env.reset("press", 3)
        assert {k: v for k, v in values(env.before).items() if k in odd} == {
            "nan": None, "function": None, "nothing": None, "list": [1, None], "big": "10"
        }  # fmt: skip


async def test_a_page_cannot_change_what_is_read(browser: Browser) -> None:
    sly = "JSON.stringify = () => '[1]'; Object.prototype.toJSON = () => 1; Array.prototype.map = () => [];"
    async with Env(harness(init=DRAWING + sly, reads={**READS, "six": "[6, {a: 1}]"}), browser) as env:
        await env.reset("press", 3)
        assert values(env.before)["six"] == [6, {"a": 1}]


async def test_a_value_without_end_is_the_harness_s_mistake(browser: Browser) -> None:
    async with Env(harness(reads={**READS, "ring": "(() => { const a = []; a.push(a); return a })()"}), browser) as env:
        with pytest.raises(HarnessError, match="expected values that JSON can hold"):
            await env.reset("press", 3)


async def test_every_document_is_begun_with_the_seed(env: Env) -> None:
    await env.reset("press", 5)
    before = values(env.before)
    await env.session.page.reload()
    assert values(await env.session.values(READS)) == before
    async with env.session.page.expect_popup() as popup:
        await env.session.page.evaluate("window.open('/other')")
    assert await (await popup.value).evaluate("typeof draw") == "function"


async def test_a_task_begins_on_its_own_page(env: Env) -> None:
    places = set()
    for seed in range(4):
        await env.reset("press_on", seed)
        level = env.instance.params["level"]
        assert env.instance.home == values(env.before)["level"] == f"/level/{level['id']}?seed={seed}"
        assert env.instance.instruction.endswith(f"{level['name']}.")
        places.add(level["id"])
    assert places == {1, 2}
    await env.reset("press", 0)
    assert env.instance.home == "/plain"


async def test_a_home_that_cannot_be_filled_in(browser: Browser) -> None:
    made = harness()

    @made.task("Go.", max_steps=1, home="/level/{level[number]}")
    def go(level: Any = rows("levels")) -> Verifier:
        return only(changed("levels", key=1, name="x"))

    async with Product(made) as product, Env(made, browser, product) as env:
        with pytest.raises(HarnessError, match=r"game/go: cannot fill in home='/level/\{level\[number\]\}': KeyError"):
            await env.reset("go", 0)


async def test_without_them_nothing_is_read(browser: Browser) -> None:
    made = replace(harness(), reads={}, until="", init="window.draw = () => 0")

    @made.task("Go.", max_steps=2)
    def go() -> Verifier:
        return only(changed("levels", key=1, name="x"))

    async with Env(made, browser) as env:
        await env.reset("go", 0)
        assert not (await env.step(door("red"))).terminated
        assert [*env.before.tables] == ["levels"]


async def test_a_check_knows_first_pages_and_pages_that_end() -> None:
    report = await check_harness(harness(), slots=2, reach=False)
    assert report.ok, report.failed
    assert report.counts.mutants > 20 and report.counts.paid == 0
    found = {finding.check: finding for finding in report.findings}
    assert found["isolation"].ok and "not tried" not in found["isolation"].detail
