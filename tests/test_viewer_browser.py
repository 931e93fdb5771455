"""The viewer in a real Chromium: keys, marks, filters, comparisons, what is new, narrow and dark, hostile text, one file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright
from viewed import BAD, add, after, write_runs

from uigym.browser import find_chromium
from uigym.store import RunStore
from uigym.types import Click, Done
from uigym.viewer import Catalog, Server, create_app, export_run, write
from uigym.viewer.catalog import Run

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
EPISODE = "/runs/good/episodes/gym-edit-1-oracle-0"
EVIL = "/runs/bad~mixed/episodes/gym-evil-7"
LONG = 1234


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_runs(tmp_path_factory.mktemp("runs"))
    store = RunStore(folder / "long")
    add(store, "edit", 1, "oracle", [Click(10 + at % 900, 100) for at in range(3)])
    steps = folder / "long" / "episodes" / "gym-edit-1-oracle-0" / "steps.jsonl"
    lines = steps.read_bytes().splitlines(keepends=True)
    steps.write_bytes(b"".join(lines[at % 3] for at in range(LONG)))
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(runs: Path) -> AsyncIterator[Server]:
    async with Server(create_app(Catalog([runs]))) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium())
        yield browser
        await browser.close()


class Visit:
    """A page, and everything that went wrong on it."""

    def __init__(self, page: Page, server: Server):
        self.page, self.server = page, server
        self.wrong: list[str] = []
        page.on("console", lambda line: self.wrong.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog {dialog.message}"))
        page.on("request", lambda asked: self.wrong.append(asked.url) if not asked.url.startswith((server.origin, "data:", "file:", "blob:")) else None)  # fmt: skip

    async def open(self, path: str) -> Page:
        await self.page.goto(self.server.url(path))
        return self.page


@pytest_asyncio.fixture(loop_scope="module")
async def visit(chromium: Browser, server: Server) -> AsyncIterator[Visit]:
    context = await chromium.new_context(viewport={"width": 1440, "height": 900})
    visit = Visit(await context.new_page(), server)
    yield visit
    assert visit.wrong == []
    await context.close()


async def place(page: Page) -> str:
    return await page.locator("[data-place]:visible").first.inner_text()


async def at(page: Page, text: str) -> None:
    await page.wait_for_function("(text) => [...document.querySelectorAll('[data-place]')].some((e) => e.offsetParent && e.textContent === text)", arg=text)  # fmt: skip


async def test_an_episode_is_walked_through_by_keys_alone(visit: Visit) -> None:
    page = await visit.open(f"{EPISODE}?step=1")
    assert "token" not in page.url and await place(page) == "2 / 8"
    for key, told in (
        ("ArrowRight", "3 / 8"),
        ("ArrowLeft", "2 / 8"),
        ("End", "end"),
        ("Home", "1 / 8"),
        ("j", "2 / 8"),
    ):
        await page.keyboard.press(key)
        await at(page, told)
    await page.wait_for_function("() => document.querySelector('.did').textContent.includes('Quarterly figures')")
    assert page.url.endswith("step=1")
    assert await page.locator('.actions [aria-current="step"] .n').inner_text() == "2"
    await page.keyboard.press("2")
    await page.wait_for_function("() => document.querySelector('.diff')")
    assert await page.locator(".diff tbody.changed").count() == 1 and not await page.locator(".checks").is_visible()
    now = await page.get_attribute("img.now", "src")
    await page.keyboard.press(" ")
    assert await page.locator("img.then").is_visible() and await page.get_attribute("img.then", "src") != now
    await page.keyboard.press("m")
    assert not await page.locator(".overlay").is_visible()
    await page.keyboard.press("?")
    assert await page.locator("dialog.keys").is_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("]")
    await page.wait_for_url("**/gym-edit-2-oracle-0*")
    await page.keyboard.press("u")
    await page.wait_for_url("**/runs/good")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/episodes/**")


async def test_marks_stand_where_the_action_was_at_any_size(visit: Visit) -> None:
    page = await visit.open(EPISODE)
    for width in (1440, 700, 400):
        await page.set_viewport_size({"width": width, "height": 900})
        await page.wait_for_function(
            "() => Math.abs(document.querySelector('.overlay svg').clientWidth - document.querySelector('.stage').clientWidth) < 2"
        )
        box: dict[str, Any] = await page.evaluate(
            "() => { const s = document.querySelector('.stage').getBoundingClientRect(), c = document.querySelector('.core').getBoundingClientRect();"
            " return { x: (c.x + c.width / 2 - s.x) / s.width, y: (c.y + c.height / 2 - s.y) / s.height, words: document.querySelector('.label').textContent }; }"
        )
        assert box["x"] == pytest.approx(400 / 1280, abs=0.01) and box["y"] == pytest.approx(200 / 800, abs=0.01)
        assert box["words"] == "Controldouble click"
    await page.goto(page.url.partition("?")[0] + "?step=3")
    assert await page.locator(".overlay polyline.line").count() == 2, "a path and its arrow"
    await page.goto(page.url.partition("?")[0] + "?step=5")
    assert (
        "Refused" in await page.locator(".inspect").inner_text()
        and await page.locator(".overlay svg.refused").count() == 1
    )


async def test_filters_change_the_address_and_what_is_chosen_is_compared(visit: Visit) -> None:
    page = await visit.open("/runs/bad~mixed")
    await page.select_option('select[name="outcome"]', "success")
    await page.wait_for_url("**/runs/bad~mixed?outcome=success")
    assert await page.locator(".episodes > li").count() == 1
    await page.click(".given >> text=show all")
    await page.keyboard.press("/")
    await page.keyboard.type("edit-1")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**?q=edit-1")
    for box in await page.locator('input[name="pick"]').all():
        await box.check()
    await page.click(".pick .button")
    await page.wait_for_url("**/compare?**")
    assert await page.locator(".side").count() == 2
    await page.keyboard.press("ArrowRight")
    await page.wait_for_function(
        "() => [...document.querySelectorAll('.did')].every((e) => e.textContent.includes('Quarterly'))"
    )
    await page.locator(".pair").last.scroll_into_view_if_needed()
    await page.wait_for_function("() => document.querySelectorAll('.diff').length === 4")
    assert await page.locator("text=nobody asked for this").count() == 1


async def test_a_long_episode_reads_its_list_as_it_is_scrolled(visit: Visit) -> None:
    page = await visit.open("/runs/long/episodes/gym-edit-1-oracle-0?step=3")
    assert await page.locator(".actions a.step").count() < 300
    await page.keyboard.press("End")
    await at(page, "end")
    await page.keyboard.press("ArrowLeft")
    await page.wait_for_function(
        f"() => document.querySelector('.actions [aria-current] .n')?.textContent === '{LONG}'"
    )
    row = page.locator('.actions [aria-current="step"]')
    inside = await row.evaluate(
        "(e) => { const a = e.getBoundingClientRect(), b = e.closest('.actions').getBoundingClientRect(); return a.top >= b.top - 1 && a.bottom <= b.bottom + 1; }"
    )
    assert inside


@pytest.mark.parametrize(
    "path", ["/", "/runs/bad~mixed", EPISODE, EVIL, "/compare?a=bad~mixed/gym-evil-7&b=good/gym-edit-1-oracle-0"]
)
async def test_a_narrow_dark_page_fits_and_hostile_text_does_nothing(
    chromium: Browser, server: Server, path: str
) -> None:
    context = await chromium.new_context(viewport={"width": 400, "height": 800}, color_scheme="dark")
    visit = Visit(await context.new_page(), server)
    page = await visit.open(path)
    await page.wait_for_load_state()
    for name in await page.locator('[role="tab"]').all():
        await name.click()
    title = await page.title()
    wide: int = await page.evaluate("document.documentElement.scrollWidth")
    colour: str = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert wide <= 400 and title.endswith("uigym") and colour == "rgb(12, 15, 21)"
    await page.click('[data-do="theme"]')
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 247, 249)"
    await page.reload()
    assert await page.evaluate("document.documentElement.dataset.theme") == "light"
    assert visit.wrong == []
    await context.close()


async def test_episodes_appear_as_they_end(visit: Visit, runs: Path) -> None:
    store = RunStore(runs / "growing")
    add(store, "edit", 1, "oracle", (Click(5, 5), Done()))
    page = await visit.open("/runs/growing")
    assert await page.locator(".episodes > li").count() == 1
    await page.locator('input[name="pick"]').check()
    add(store, "edit", 2, "oracle", (Click(5, 5), Done()), verdict=BAD, after=after(3))
    await page.locator(".episodes > li").nth(1).wait_for()
    assert await page.locator('input[name="pick"]').first.is_checked(), "what was chosen stays chosen"


async def test_a_file_opens_from_disk_without_a_server(visit: Visit, runs: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "run.html", export_run(Run("mixed", runs / "bad" / "mixed", "episodes")))
    page = visit.page
    await page.goto(path.as_uri())
    assert await page.locator(".episodes > li").count() == 4
    await page.locator('.episodes a[href="#e:gym-edit-1-model-0"]').click()
    await page.wait_for_function("() => document.querySelector('img.now')?.naturalWidth === 1280")
    await page.keyboard.press("ArrowRight")
    await at(page, "2 / 8")
    await page.wait_for_function("() => document.querySelector('.label.typed')?.textContent === 'Quarterly figures'")
    await page.keyboard.press("2")
    assert await page.locator("text=nobody asked for this").is_visible()
    await page.go_back()
    assert await page.locator(".episodes").is_visible()
    await page.locator('.episodes a[href="#e:gym-evil-7"]').click()
    await page.wait_for_function("() => document.querySelector('[data-view=\"gym-evil-7\"] img.now')?.naturalWidth > 0")
    assert await page.title() == "mixed · uigym"


async def test_without_scripts_there_is_still_everything(chromium: Browser, server: Server) -> None:
    context = await chromium.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(server.url(f"{EPISODE}?step=1"))
    assert await page.locator(".checks").is_visible() and await page.locator("img.now").is_visible()
    await page.click('[data-do="on"]')
    assert page.url.endswith("?step=2") and await place(page) == "3 / 8"
    await context.close()
