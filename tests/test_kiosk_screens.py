"""The kiosk in a real Chromium: every look can be read and tapped, every task can be done by mouse and keyboard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright, expect

from uigym.apps.kiosk import looks, seed, store
from uigym.apps.kiosk.catalogue import CATEGORIES
from uigym.browser import find_chromium
from uigym.harness import Split
from uigym.harnesses.kiosk import kiosk
from uigym.product import Product
from uigym.testing import check_harness

pytestmark = pytest.mark.browser

CHECK = (Path(__file__).parent / "pages" / "kiosk_screen.js").read_text()
NAMES = [name for category in CATEGORIES.values() for name in category.names]
LONGEST_NOTE = "less milk, extra sugar it"[: store.MAX_NOTE]
SWEEP = f"""async ([paths, names]) => {{
  const check = {CHECK.strip()};
  const app = document.getElementById("app"), found = [];
  const look = (what) => found.push(...check().map((problem) => what + ": " + problem));
  const get = async (path) => (await fetch(path, {{ headers: {{ "X-Fragment": "1" }} }})).text();
  for (const [i, screen] of (await Promise.all(paths.map(get))).entries()) {{
    app.innerHTML = screen;
    look(paths[i]);
  }}
  const cells = [...document.querySelectorAll(".item b")];
  for (let i = 0; i < names.length; i += cells.length) {{
    cells.forEach((cell, j) => (cell.textContent = names[(i + j) % names.length]));
    look("names");
  }}
  return found;
}}"""


@dataclass
class Shown:
    """A running kiosk and a page that shows it."""

    page: Page
    path: Path
    """Of the database."""

    def write(self, number: int, look: dict[str, str]) -> None:
        seed.write(self.path, number, look)

    def every(self, query: str) -> list[store.Row]:
        with closing(seed.connect(self.path)) as db:
            return store.every(db, query)


@asynccontextmanager
async def shown() -> AsyncIterator[Shown]:
    async with Product(kiosk) as product, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        try:
            width, height = kiosk.viewport
            page = await browser.new_page(base_url=product.base_url, viewport={"width": width, "height": height})
            yield Shown(page, product.workdir / "kiosk.db")
        finally:
            await browser.close()


def combinations() -> list[dict[str, str]]:
    """Every layout with every font; themes, corners and cards take turns."""
    themes, corners = list(looks.THEMES), list(looks.CORNERS)
    pairs = [(layout, font) for layout in looks.LAYOUTS for font in looks.FONTS]
    return [
        {
            "layout": layout,
            "font": font,
            "theme": themes[i % len(themes)],
            "cards": looks.CARDS[i % len(looks.CARDS)],
            "corners": corners[i // 3 % len(corners)],
        }
        for i, (layout, font) in enumerate(pairs)
    ]


def fill_ticket(db: Any, count: int) -> None:
    """The longest lines there are, large and with all extras first."""
    items = store.every(db, "SELECT * FROM items WHERE NOT sold_out ORDER BY large_cents IS NULL, has_extras DESC")
    for item in items[:count]:
        store.add(db, item["id"], "large", [extra["id"] for extra in store.item(db, item["id"])["extras"]])
    store.choose_table(db, 3)
    store.write_note(db, LONGEST_NOTE)


def busy_paths(path: Path) -> list[str]:
    """Send a long order, begin a long ticket; the screens that show them."""
    with closing(seed.connect(path)) as db, db:
        fill_ticket(db, 6)
        number = store.send(db)
        fill_ticket(db, 5)
        choices = store.one(db, "SELECT id FROM items WHERE NOT sold_out AND large_cents AND has_extras")["id"]
    order = f"/orders/{number}"
    orders = [order, f"{order}?page=2", f"{order}/cancel", "/orders", "/orders?page=2"]
    return [
        "/tables",
        "/ticket",
        "/ticket/note",
        "/ticket/lines/1",
        f"/items/{choices}",
        "/stock",
        *orders,
        "/nowhere",
        "/",
    ]


async def test_every_look_can_be_read_and_tapped() -> None:
    problems: dict[str, list[str]] = {}
    async with shown() as kiosk_page:
        for i, look in enumerate(combinations()):
            kiosk_page.write(i, look)
            await kiosk_page.page.goto("/")
            found = await kiosk_page.page.evaluate(SWEEP, [["/orders", f"/orders/{_newest(kiosk_page)}", "/"], NAMES])
            for count in (2, 3):
                with closing(seed.connect(kiosk_page.path)) as db, db:
                    db.execute("DELETE FROM ticket_lines")
                    fill_ticket(db, count)
                found += await kiosk_page.page.evaluate(SWEEP, [["/"], []])
            kiosk_page.write(i, look)
            found += await kiosk_page.page.evaluate(SWEEP, [busy_paths(kiosk_page.path), []])
            if found:
                problems[str(look)] = found
    assert not problems


def _newest(kiosk_page: Shown) -> int:
    return int(kiosk_page.every("SELECT max(id) AS id FROM orders")[0]["id"])


FAULTS = {
    ".item b { font-size: 30px }": "cut off",
    ".send { margin-left: -30px }": "overlap",
    ".tabs a { line-height: 18px; flex: none; height: 18px }": "is only",
    ".total { font-size: 9px }": "px small",
    ".item span { color: var(--line) }": "contrast",
}


async def test_the_check_of_screens_sees_faults() -> None:
    async with shown() as kiosk_page:
        for css, said in FAULTS.items():
            await kiosk_page.page.goto("/")
            assert await kiosk_page.page.evaluate(CHECK) == []
            await kiosk_page.page.add_style_tag(content=css)
            assert any(said in problem for problem in await kiosk_page.page.evaluate(CHECK)), css


async def test_each_screen_has_its_address_and_back_works() -> None:
    async with shown() as kiosk_page:
        page = kiosk_page.page
        await page.goto("/")
        second = kiosk_page.every("SELECT * FROM categories")[1]
        await page.get_by_role("tab", name=second["name"]).click()
        await expect(page).to_have_url(f"http://127.0.0.1:{_port(page)}/menu/{second['slug']}")
        await page.get_by_role("link", name="Orders").click()
        await expect(page.get_by_role("heading")).to_contain_text("open orders")
        await page.go_back()
        await expect(page.get_by_role("tab", selected=True)).to_have_text(second["name"])
        await page.reload()
        await expect(page.get_by_role("tab", selected=True)).to_have_text(second["name"])


def _port(page: Page) -> str:
    return page.url.split(":")[2].split("/")[0]


async def test_quick_taps_all_count() -> None:
    async with shown() as kiosk_page:
        await kiosk_page.page.goto("/")
        plain = "SELECT * FROM items WHERE category_id = 1 AND NOT sold_out AND large_cents IS NULL AND NOT has_extras"
        item = kiosk_page.every(plain)[0]
        await kiosk_page.page.evaluate(
            "name => { for (let i = 0; i < 5; i++) document.querySelector(`[aria-label^='${name},']`).click(); }",
            item["name"],
        )
        await expect(kiosk_page.page.get_by_role("button", name=f"5 {item['name']}")).to_be_visible()


async def test_an_order_by_keyboard_alone() -> None:
    async with shown() as kiosk_page:
        page = kiosk_page.page
        plain = "SELECT * FROM items WHERE category_id = 1 AND NOT sold_out AND large_cents IS NULL AND NOT has_extras"
        name = kiosk_page.every(plain)[0]["name"]
        await page.goto("/")
        await tab_to(page, f"{name},")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name=f"1 {name}")).to_be_visible()
        await page.keyboard.press("Enter")  # the focus stays on the item
        await expect(page.get_by_role("button", name=f"2 {name}")).to_be_visible()
        await tab_to(page, "Note")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("textbox")).to_be_focused()
        await page.keyboard.type("to go")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("to go")).to_be_visible()
        await tab_to(page, "Table ?")
        await page.keyboard.press("Enter")
        await tab_to(page, "Table 2")
        await page.keyboard.press("Enter")
        await tab_to(page, "Send")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("sent")


async def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element of that name (or one whose name begins so) has the focus."""
    await page.locator(f"[aria-label^='{name}']").or_(page.get_by_role("button", name=name)).first.wait_for()
    for _ in range(60):
        at = await page.evaluate(
            "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()"
        )
        if at.startswith(name) and len(at) < 40:
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"{name!r} cannot be reached by Tab")


async def test_escape_closes_a_sheet() -> None:
    async with shown() as kiosk_page:
        page = kiosk_page.page
        number = kiosk_page.every("SELECT id FROM orders WHERE status = 'sent'")[0]["id"]
        await page.goto(f"/orders/{number}")
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()
        assert kiosk_page.every(f"SELECT status FROM orders WHERE id = {number}") == [{"status": "sent"}]


async def test_the_harness_is_sound() -> None:
    """One task of each skill; `uigym check kiosk` takes all."""
    skills = {task.tags[0]: task.name for task in kiosk.tasks.values()}
    report = await check_harness(kiosk, skills.values(), seeds=[Split.HELDOUT.seed(1)], slots=4, reach=False)
    assert report.ok, report.failed
