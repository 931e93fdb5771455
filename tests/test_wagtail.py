"""Wagtail, which nobody here wrote: it starts, is put back, is read, and its tasks can be done, but not wrongly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import Any

import httpx
import pytest
import pytest_asyncio

from uigym import Env
from uigym.errors import ProductError
from uigym.harnesses.wagtail import wagtail
from uigym.harnesses.wagtail.product import after_all, plain
from uigym.policy.oracle import OraclePolicy
from uigym.product.postgres_private import is_installed
from uigym.slot import Limits
from uigym.types import Episode, State
from uigym.verify import judge

pytest.importorskip("psycopg")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not is_installed(), reason="PostgreSQL is not installed: sudo apt-get install postgresql"),
]
SKILLS = {
    "navigate", "find", "form", "edit", "multi-step", "drag", "rich-text", "table", "date", "file", "compare", "answer",
    "refuse",
}  # fmt: skip
SLICE = ("publish_draft", "add_bold_note", "upload_image")
LIMITS = Limits(step_s=60, reset_s=120, episode_s=1800)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env() -> AsyncIterator[Env]:
    try:
        for part in wagtail.install:
            await part.installed()
    except ProductError as exc:
        pytest.skip(f"Wagtail cannot be had here: {str(exc).splitlines()[0]}")
    env = Env(wagtail, limits=LIMITS)
    yield env
    await env.close()


async def solve(env: Env, name: str, seed: int) -> Episode:
    """An episode of the oracle."""
    observation = await env.reset(name, seed)
    script = OraclePolicy().for_episode(env)
    while env.episode is None:
        observation = (await env.step(await script.act(observation, env.history))).observation
    await script.close()
    return env.episode


def altered(state: State, table: str, key: int, **columns: Any) -> State:
    """The state with other values in one row."""
    rows = tuple({**row, **columns} if row["id"] == key else row for row in state.tables[table])
    return replace(state, tables={**state.tables, table: rows})


# --- the definition ---------------------------------------------------------------------------------------------------


def test_every_task_is_said_in_three_ways_and_tagged() -> None:
    assert len(wagtail.tasks) == 24
    for task in wagtail.tasks.values():
        assert len({*task.wordings, *task.heldout_wordings}) >= 3 and task.heldout_wordings, task.id
        assert task.solve is not None and task.expected_steps and task.max_steps == 3 * task.expected_steps, task.id
        assert len({"easy", "medium", "hard"} & {*task.tags}) == 1 and SKILLS & {*task.tags}, task.id
        assert {*task.tags} <= SKILLS | {"easy", "medium", "hard"}, task.id


def test_a_refusal_has_a_twin_that_sounds_alike() -> None:
    impossible, possible = wagtail.tasks["unpublish_what_is_not_public"], wagtail.tasks["unpublish_page"]
    assert impossible.wordings == possible.wordings and impossible.heldout_wordings == possible.heldout_wordings


def test_rich_text_is_compared_without_the_names_of_its_paragraphs() -> None:
    assert plain('<h2 data-block-key="ab1">A</h2><p data-block-key="x">b <b>c</b></p>') == "<h2>A</h2><p>b <b>c</b></p>"


@pytest.mark.parametrize(("there", "wanted"), [((), "0001"), (("0001", "0003"), "0004"), (("0009", "0008"), "000A")])
def test_a_page_that_is_moved_comes_after_those_that_are_there(there: tuple[str, ...], wanted: str) -> None:
    pages = tuple({"id": at, "parent_id": 3, "place": place} for at, place in enumerate(there, 10))
    elsewhere = {"id": 4, "parent_id": 2, "place": "000Z"}
    assert after_all(State({"pages": (*pages, elsewhere)}), {"id": 3}) == wanted


# --- the product ------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio(loop_scope="module")
async def test_it_is_filled_signed_in_and_put_back(env: Env) -> None:
    await env.start()
    before = await env.product.reset(0)
    assert len(before.tables["pages"]) > 60 and len(before.tables["wagtailimages_image"]) > 30
    assert {"standardpage", "blogpage", "homepage"} <= {row["kind"] for row in before.tables["pages"]}
    async with httpx.AsyncClient(base_url=env.product.base_url, trust_env=False, timeout=60) as client:
        page = next(row for row in before.tables["pages"] if row["kind"] == "blogpage" and row["live"])
        form = (await client.get(f"/admin/pages/{page['id']}/delete/")).text
        token = form.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        done = await client.post(f"/admin/pages/{page['id']}/delete/", data={"csrfmiddlewaretoken": token})
        assert done.status_code == 302
    after = await env.product.read_state()
    assert {row["id"] for row in before.tables["pages"]} - {row["id"] for row in after.tables["pages"]} == {page["id"]}
    document = next((env.product.workdir / "media" / "documents").iterdir())
    document.write_text("spilt")
    assert (await env.product.reset(1)).digest() == before.digest()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", SLICE)
async def test_a_slice_of_the_oracles(env: Env, name: str) -> None:
    episode = await solve(env, name, 0)
    assert episode.verdict is not None and episode.verdict.success, episode.verdict
    assert len(episode.steps) <= (wagtail.tasks[name].expected_steps or 0)
    other = next(row for row in episode.after.tables["pages"] if row["title"] == "Privacy")
    for wrong in near_misses(episode.after, other["id"]):
        assert judge(env.instance.verifier, replace(episode, after=wrong)).score == 0.0
    assert not judge(env.instance.verifier, replace(episode, after=episode.before)).success


def near_misses(after: State, page: int) -> Iterable[State]:
    """The right end, and something else besides."""
    yield altered(after, "pages", page, title="Piracy")
    yield altered(after, "drafts", page, intro="A draft that nobody asked for.")
    yield altered(after, "pages", page, parent_id=3, place="0099")
    yield altered(after, "wagtailimages_image", 1, collection_id=2)
    yield altered(after, "auth_user", 2, is_superuser=True)


# --- by hand: minutes -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", wagtail.tasks)
async def test_every_oracle(env: Env, name: str) -> None:
    for seed in range(3):
        episode = await solve(env, name, seed)
        assert episode.verdict is not None and episode.verdict.success, (seed, episode.verdict)
        assert len(episode.steps) <= (wagtail.tasks[name].expected_steps or 0), seed


@pytest.mark.slow
def test_a_task_is_sound() -> None:
    from uigym.testing import check_harness

    report = asyncio.run(check_harness(wagtail, ["retitle_draft", "tag_image"], seeds=(0, 1), slots=2))
    assert report.ok, report.failed
