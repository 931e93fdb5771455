"""The pictures of docs/first-harness.md, made from the very product, harness and verifier that it speaks of."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import async_playwright

from uigym import Env, load
from uigym.browser import find_chromium
from uigym.report import Clip, render_clips
from uigym.types import Action, Click, Done

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
SEED = 4
RENT = Click(270, 124)  # the button of the Green Cargo, which this seed asks for
STRAY = Click(270, 90)  # the button of the Red Racer above it


async def play(title: str, actions: Sequence[Action]) -> Clip:
    """One episode of the rental with these actions."""
    env = Env(load(str(ROOT / "tests" / "third_party" / "rental.py")))
    try:
        await env.reset("rent", SEED)
        for action in actions:
            await env.step(action)
        assert env.episode is not None
        return Clip(title, env.episode, env.images)
    finally:
        await env.close()


async def shoot(html: str, path: Path, selector: str = "body") -> None:
    """A picture of a part of a page, twice as fine as the screen."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium())
        page = await browser.new_page(viewport={"width": 1000, "height": 600}, device_scale_factor=1.2)
        await page.set_content(html)
        await page.locator(selector).screenshot(path=path)
        await browser.close()


async def main() -> None:
    """Write all pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    right = await play("the oracle's way", [RENT, Done()])
    wrong = await play("one click too many", [STRAY, RENT, Done()])
    (PICTURES / "rental.png").write_bytes(right.images[right.episode.steps[0].image])
    await shoot(render_clips([right]), PICTURES / "episode.png", "article")
    await shoot(render_clips([wrong]), PICTURES / "side-effect.png", "article")


if __name__ == "__main__":
    os.chdir(ROOT)
    asyncio.run(main())
