"""The wall of running browsers, in a real browser: seen, enlarged, taken over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, async_playwright, expect
from test_live import Patient, Running, notes, over, running

from uigym.browser import find_chromium
from uigym.record import read_demo
from uigym.store import RunStore
from uigym.viewer import Catalog, Server, create_app

pytestmark = [pytest.mark.browser, pytest.mark.asyncio]
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


@asynccontextmanager
async def looking(folder: Path, path: str = "/live") -> AsyncIterator[tuple[Page, Server]]:
    """A page of the viewer; whatever its console complains of fails the test."""
    complaints: list[str] = []
    async with Server(create_app(Catalog([folder]))) as server, async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=str(find_chromium()))
        page = await chromium.new_page(viewport={"width": 1000, "height": 800})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("request", lambda sent: complaints.append(sent.url) if server.origin not in sent.url else None)
        await page.goto(server.url(path))
        try:
            yield page, server
        finally:
            await chromium.close()
    assert not [said for said in complaints if "404" not in said], complaints


async def at(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a point of the product (320 by 240 px) is in the large picture."""
    box = await page.locator("#large-picture").bounding_box()
    assert box is not None
    return box["x"] + x / 320 * box["width"], box["y"] + y / 240 * box["height"]


async def steps(run: Running, more: int) -> None:
    """Returns once so many actions were done."""
    for _ in range(1000):
        if (await run.slot())["steps"] >= more:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"not {more} steps: {await run.slot()}")


async def test_a_person_sees_what_runs_takes_it_over_and_shows_how_it_is_done(tmp_path: Path) -> None:
    policy = Patient(name=HOSTILE)
    async with running(tmp_path, policy) as run, looking(tmp_path) as (page, _):
        tile = page.locator(".tile")
        await expect(tile).to_have_count(1)
        await expect(page.locator("#count")).to_have_text("1 browser in 1 run")
        await expect(tile.locator(".tile-task")).to_have_text("pad/note, seed 0")
        await expect(tile.locator("img")).to_have_js_property("naturalWidth", 320)
        await tile.click()
        await expect(page.locator("#large-task")).to_have_text("pad/note, seed 0")
        await expect(page.locator("#large-instruction")).to_have_text("Add a note.")
        await page.get_by_role("button", name="Take over").click()
        await expect(page.locator("#large")).to_have_class("large held")
        begun = (await run.slot())["steps"]
        await page.mouse.click(*await at(page, 60, 16))
        await steps(run, begun + 1)
        await page.keyboard.type("milk & eggs")
        await steps(run, begun + 2)
        await page.mouse.click(*await at(page, 155, 16))
        await steps(run, begun + 3)
        await expect(tile.locator(".by-hand")).to_be_visible()
        await page.get_by_role("button", name="Done").click()
        await expect(page.locator("#large")).to_have_class("large")
        await over(run, policy)
        await page.get_by_role("button", name="Close").click()
        assert await page.title() == "Live · uigym"
    store = RunStore(tmp_path)
    shown = store.episode("pad-note-0--0-by-hand")
    demo = read_demo(store, shown.id)
    assert demo is not None and demo.way == "takeover" and shown.reward == 1.0
    assert shown.after.tables["notes"][-1]["text"] == "milk & eggs"


async def test_a_run_that_does_not_allow_it_is_only_looked_at(tmp_path: Path) -> None:
    policy = Patient()
    async with running(tmp_path, policy, takeover=False) as run, looking(tmp_path) as (page, _):
        await page.locator(".tile").click()
        await expect(page.locator("#large-picture")).to_have_js_property("naturalWidth", 320)
        await expect(page.locator("#hand")).to_be_hidden()
        await page.keyboard.press("Escape")
        await expect(page.locator("#large")).to_be_hidden()
        await over(run, policy)
        await run.line.ask({"ask": "slots"})
    await asyncio.sleep(0)


async def test_the_wall_is_empty_once_all_is_over(tmp_path: Path) -> None:
    async with looking(tmp_path) as (page, _):
        await expect(page.locator("#nothing")).to_be_visible()
        await expect(page.locator("#count")).to_have_text("Nothing runs")
        policy = Patient()
        async with running(tmp_path, policy):
            await expect(page.locator(".tile")).to_have_count(1)
        await expect(page.locator("#nothing")).to_be_visible()
        await expect(page.locator(".tile")).to_have_count(0)


async def test_nobody_asks_while_the_page_is_hidden(tmp_path: Path) -> None:
    async with looking(tmp_path) as (page, _):
        await expect(page.locator("#nothing")).to_be_visible()
        asked: list[str] = []
        page.on("request", lambda sent: asked.append(sent.url))
        await page.evaluate(
            "Object.defineProperty(document, 'hidden', {value: true}); document.dispatchEvent(new Event('visibilitychange'))"
        )
        await page.wait_for_timeout(700)
        late = len(asked)
        await page.wait_for_timeout(1200)
        assert len(asked) == late


async def test_only_the_viewers_own_page_may_act(tmp_path: Path) -> None:
    policy = Patient()
    async with running(tmp_path, policy) as run, looking(tmp_path) as (page, server):
        slot = await run.slot()
        address = f"{server.origin}/live/do/{tmp_path.name}/{run.line.place.name}/0"
        cookies = {one["name"]: one["value"] for one in await page.context.cookies()}
        async with httpx.AsyncClient(trust_env=False, cookies=cookies) as client:
            for headers in ({}, {"origin": "http://evil.example"}, {"origin": "null"}):
                answer = await client.post(address, json={"do": "take"}, headers=headers)
                assert answer.status_code == 403
            own = {"origin": server.origin}
            for told in ({"do": "evil"}, [], {"do": "act", "action": {"action": "click", "x": 1, "y": 1}}):
                answer = await client.post(address, json=told, headers=own)
                assert answer.status_code == 400 and answer.json()["error"]
            assert (await client.post(address, content=b"x" * 50_000, headers=own)).status_code == 400
        async with httpx.AsyncClient(trust_env=False) as stranger:
            assert (await stranger.get(f"{server.origin}/live/state")).status_code == 401
        assert not (await run.slot())["taken"] and slot["episode"]
        await over(run, policy)


async def test_it_is_readable_on_a_narrow_screen(tmp_path: Path) -> None:
    policy = Patient()
    async with running(tmp_path, policy, notes()), looking(tmp_path) as (page, _):
        await page.set_viewport_size({"width": 400, "height": 700})
        await page.locator(".tile").click()
        await expect(page.locator("#large-picture")).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") <= 400
