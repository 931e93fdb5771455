"""The pictures of docs/first-harness.md and docs/browser.md, made from the very pages, harness and verifier that they speak of."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from playwright.async_api import async_playwright

from uigym import Env, load
from uigym.browser import Browser, find_chromium
from uigym.report import Clip, render_clips
from uigym.types import Action, Click, Done, Episode, Move, StepRecord, Stop, Verdict

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
SEED = 4
RENT = Click(270, 124)  # the button of the Green Cargo, which this seed asks for
STRAY = Click(270, 90)  # the button of the Red Racer above it
HOVERING = (Move(30, 20), Click(60, 60), Move(120, 20), Click(50, 150, button="right"), Click(70, 160))


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


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        return


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a web server for the files of a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


async def use(title: str, page: str, actions: Sequence[Action]) -> Clip:
    """What these actions do on one of the trial pages of the tests."""
    browser = await Browser.launch()
    with served(ROOT / "tests" / "pages") as url:
        session = await browser.session(base_url=url, viewport=(320, 200))
        frame = await session.open(page)
        images, steps = [frame.png], []
        for action in actions:
            frame = await session.step(action)
            steps.append(StepRecord(_hash(images[-1]), action, events=frame.events))
            images.append(frame.png)
        await browser.close()
    episode = Episode(
        "", "", "", 0, {}, title, tuple(steps), Stop.DONE, Verdict(1.0, True), final_image=_hash(images[-1])
    )
    return Clip(title, episode, {_hash(png): png for png in images})


def _hash(png: bytes) -> str:
    return hashlib.sha256(png).hexdigest()


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
    hovering = await use("a menu, a tooltip, and a menu of the page's own", "/hover.html", HOVERING)
    await shoot(render_clips([hovering]), PICTURES / "hovering.png", ".strip")


if __name__ == "__main__":
    os.chdir(ROOT)
    asyncio.run(main())
