"""Files through an episode: offered to the agent, taken by the product, given back, judged, stored."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from uigym.beside import OpenChooser, OpenDialog
from uigym.browser import Browser
from uigym.env import Env
from uigym.errors import HarnessError
from uigym.harness import Harness
from uigym.params import one_of
from uigym.policy.scripted import OraclePolicy
from uigym.registry import load
from uigym.store import RunStore
from uigym.types import Click, Dialog, Done, Event, Upload
from uigym.verify import judge, passed

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
OFFICE: Harness = load(str(Path(__file__).parent / "gyms" / "office.py"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(browser: Browser) -> AsyncIterator[Env]:
    async with Env(OFFICE, browser) as env:
        yield env


async def centre(env: Env, selector: str) -> Click:
    box = await env.session.page.locator(selector).bounding_box()
    assert box is not None
    return Click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


async def solve(env: Env, task: Any, seed: int = 0) -> None:
    observation = await env.reset(task, seed)
    script = OraclePolicy().for_episode(env)
    while env.episode is None:
        observation = (await env.step(await script.act(observation, env.history))).observation
    await script.close()


async def test_an_oracle_uploads_and_downloads_and_the_stored_episode_is_judged_alike(env: Env, tmp_path: Path) -> None:
    await solve(env, "take")
    episode, name = env.episode, env.instance.params["name"]
    assert episode is not None and episode.verdict is not None and episode.verdict.success, episode.verdict
    assert Upload(f"{name}.txt") in [step.action for step in episode.steps]
    (download,) = episode.downloads
    assert download.content == f"name,text\n{name}.txt,from {name}\n".encode()
    assert episode.steps[0].open.chooser == OpenChooser(("rules.txt", f"{name}.txt", "noise.txt"), several=True)
    store = RunStore(tmp_path)
    store.write(episode, env.images)
    stored = store.episode(episode.id)
    assert stored == episode and judge(env.instance.verifier, stored) == episode.verdict


@pytest.mark.parametrize(
    ("links", "reason"), [((), "found none"), (("#old",), "rows"), (("#export", "#export"), "2 times")]
)
async def test_near_misses_are_not_rewarded(env: Env, links: tuple[str, ...], reason: str) -> None:
    await env.reset("take", 0)
    name = env.instance.params["name"]
    await env.step(await centre(env, "#pick"))
    await env.step(Upload(f"{name}.txt"))
    for link in links:
        await env.step(await centre(env, link))
    step = await env.step(Done())
    assert step.reward == 0.0 and reason in step.info["verdict"].reason


async def test_what_is_open_is_seen_and_a_refusal_changes_nothing_of_it(env: Env) -> None:
    await env.reset("take", 1)
    step = await env.step(await centre(env, "#clear"))
    assert step.observation.open.dialog == OpenDialog("confirm", "Remove all?")
    assert step.observation.events == (Event("dialog", "Remove all?", "confirm"),)
    refused = await env.step(Click(5, 5))
    assert refused.observation.error and refused.observation.open == step.observation.open
    assert refused.observation.events == ()
    closed = await env.step(Dialog(False))
    assert closed.observation.open.dialog is None
    await env.step(Done())
    assert env.episode is not None and env.episode.steps[0].open.dialog == OpenDialog("confirm", "Remove all?")


async def test_a_chooser_opened_by_another_button_is_answered_in_playwrights_words(env: Env) -> None:
    office = replace(OFFICE)

    @office.task("Take {it}.", max_steps=9, files={"a.txt": "1", "b.txt": "2"})
    def both(it: str = one_of("both")):  # type: ignore[no-untyped-def]
        return lambda episode: passed("both")

    @both.oracle
    async def _(page: Any) -> None:
        async with page.expect_file_chooser() as info:
            await page.click("#pick")
        await (await info.value).set_files(["a.txt", "b.txt"])
        await page.get_by_text("2 taken").wait_for()

    ours = Env(office, env._slot._given_browser, env.product)
    await solve(ours, both)
    assert ours.episode is not None
    assert [row["name"] for row in ours.episode.after.tables["files"]] == ["a.txt", "b.txt"]
    await ours.close()


@pytest.mark.parametrize("accepted", [True, False])
async def test_a_dialog_is_answered_in_playwrights_words(env: Env, accepted: bool) -> None:
    office = replace(OFFICE)

    @office.task("Take {it}, then clear.", max_steps=9, files={"a.txt": "1"})
    def clear(it: str = one_of("it")):  # type: ignore[no-untyped-def]
        return lambda episode: passed("clear")

    @clear.oracle
    async def _(page: Any) -> None:
        with pytest.raises(HarnessError, match='no other event than a "dialog"'):
            async with page.expect_event("popup"):
                pass
        await page.locator("#pick").click()
        await page._hands.take(Upload("a.txt"))
        async with page.expect_event("dialog") as info:
            await page.click("#clear")
        dialog = await info.value
        await (dialog.accept() if accepted else dialog.dismiss())

    ours = Env(office, env._slot._given_browser, env.product)
    await solve(ours, clear)
    assert ours.episode is not None
    assert len(ours.episode.after.tables["files"]) == (0 if accepted else 1)
    await ours.close()


@pytest.mark.parametrize(
    ("files", "message"),
    [({"../x": "a"}, "name is like"), ({"/x": "a"}, "name is like"), ({"a\nb": ""}, "name is like"), ({"x": 5}, "must be text"), ("x", "names with contents")],
)  # fmt: skip
async def test_what_cannot_be_offered_is_told_where_it_is_written(files: Any, message: str) -> None:
    with pytest.raises(HarnessError, match=f"harness office: .*{message}"):
        replace(OFFICE, files=files)
    with pytest.raises(HarnessError, match=f"task 'odd' of harness 'office': .*{message}"):

        @replace(OFFICE).task("Do {it}.", max_steps=1, files=files)
        def odd(it: str = one_of("it")):  # type: ignore[no-untyped-def]
            return lambda episode: passed("odd")


async def test_a_file_that_is_not_there_is_the_harness_authors_fault(env: Env, tmp_path: Path) -> None:
    ours = Env(replace(OFFICE, files={"x": tmp_path / "absent"}), env._slot._given_browser, env.product)
    ours.harness.tasks.update(OFFICE.tasks)
    with pytest.raises(HarnessError, match="file 'x' that the harness offers"):
        await ours.reset(replace(OFFICE.tasks["take"], harness=ours.harness), 0)
    assert ours.episode is not None and ours.episode.failure is not None
    await ours.close()
