"""The pictures of docs/viewer.md, made from runs that are played for them.

    python scripts/viewer_pictures.py [TRAINING_RUN]

Without the folder of a training run, the picture of its page stays as it is.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from uigym.browser import find_chromium
from uigym.viewer import Catalog, Server, create_app

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
PLAYED = (("kiosk", "oracle", "0:2"), ("kiosk", "tiny", "0:2"), ("desk/close_ticket", "oracle", "0:3"), ("desk/close_ticket", "random", "0:3"))  # fmt: skip


def play(folder: Path) -> None:
    """The runs that are shown."""
    for harness, policy, seeds in PLAYED:
        out = folder / f"{harness.partition('/')[0]}-{policy}"
        words = ["run", harness, "--policy", policy, "--seeds", seeds, "--out", str(out)]
        subprocess.run([sys.executable, "-m", "uigym", *words], check=True, stdout=subprocess.DEVNULL)


async def shoot(browser: Browser, server: Server, name: str, path: str, **look: object) -> None:
    """A picture of a page; `keys` are pressed, and `height` is cut off after."""
    height = int(str(look.get("height", 900)))
    scheme = "dark" if look.get("dark") else "light"
    context = await browser.new_context(viewport={"width": 1440, "height": height}, color_scheme=scheme)
    page = await context.new_page()
    await page.goto(server.url("/grid"))  # so that other tries are known
    await page.goto(server.url(path))
    await page.wait_for_load_state()
    for key in str(look.get("keys", "")).split():
        await page.keyboard.press(key)
    await page.wait_for_function(
        "() => [...document.images].every((i) => i.complete || i.getBoundingClientRect().top > innerHeight)"
    )
    await page.screenshot(path=PICTURES / f"viewer-{name}.png", animations="disabled")
    await context.close()


async def main(training: Sequence[str]) -> None:
    """Write all pictures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "runs"
        play(folder)
        folders = [folder, *map(Path, training)]
        async with Server(create_app(Catalog(folders))) as server, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=find_chromium())
            above = "runs~" if training else ""
            await shoot(browser, server, "runs", "/", height=1000)
            await shoot(browser, server, "episode", f"/runs/{above}desk-oracle/episodes/desk-close_ticket-0--0?step=1", height=960)  # fmt: skip
            await shoot(browser, server, "compare", f"/compare?a={above}kiosk-oracle/kiosk-add_item-0--0&b={above}kiosk-tiny/kiosk-add_item-0--0&step=1", height=1000, dark=True)  # fmt: skip
            for run in training:
                await shoot(browser, server, "training", f"/runs/{Path(run).name}", height=1000)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
