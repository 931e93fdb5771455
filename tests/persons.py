"""A person at the recorder's page: a second browser that is driven as hands would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Page, async_playwright, expect

from uigym.browser import find_chromium
from uigym.env import Env
from uigym.harness import Harness
from uigym.record import Demo, Proof
from uigym.record.attempt import Giver, Prove
from uigym.record.prove import prove as proves
from uigym.record.serve import Recorder
from uigym.record.studio import LIMITS, Studio, Tally
from uigym.rollout import Request
from uigym.store import RunStore
from uigym.types import (
    Action,
    Answer,
    Back,
    Click,
    Dialog,
    Done,
    Drag,
    Episode,
    Goto,
    Key,
    Move,
    Scroll,
    SwitchTab,
    Type,
    Upload,
    Wait,
)

COMES_MS = 60_000
# A picture that is exchanged for the next meanwhile cannot be decoded: then the next is waited for.
DECODED = """async image => {
  for (let tries = 0; tries < 100; tries++) {
    try { return await image.decode() } catch { await new Promise(done => setTimeout(done, 50)) }
  }
}"""


class Person:
    """Somebody who looks at the recorder's page."""

    def __init__(self, page: Page, studio: Studio, recorder: Recorder):
        self.page, self.studio, self.recorder = page, studio, recorder
        self.errors: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    @property
    def product(self) -> Page:
        """The product's page itself, to find out where things are."""
        return self.studio.env.session.page

    async def phase(self, name: str) -> None:
        await self.page.locator(f"body[data-phase={name}]").wait_for(timeout=COMES_MS)

    async def showing(self) -> None:
        await self.phase("showing")
        # One that is exchanged for the next meanwhile cannot be decoded: then the next is waited for.
        await self.page.locator("#picture").evaluate(DECODED)

    async def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the product is on the page."""
        box = await self.page.locator("#picture").bounding_box()
        assert box is not None
        scale = box["width"] / self.studio.env.harness.viewport[0]
        return box["x"] + x * scale, box["y"] + y * scale

    async def of(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element of the product is in the product."""
        box = await self.product.locator(selector).bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    async def click(self, selector: str, **more: Any) -> None:
        await self.page.mouse.click(*await self.at(*await self.of(selector)), **more)

    async def settled(self) -> None:
        """All that was done has come into the product."""
        await self.page.evaluate("() => new Promise((go) => setTimeout(go, 60))")
        assert self.studio.live is not None
        await self.studio.live.idle()

    def acts(self) -> list[Action]:
        assert self.studio.live is not None
        return [act.action for act in self.studio.live.reducer.acts()]

    async def did(self, action: Action, within_s: float) -> None:
        """Wait until this is what was done last; what is pasted, for one, is asked of the clipboard first."""
        async with asyncio.timeout(within_s):
            while self.acts()[-1:] != [action]:
                await self.settled()

    async def do(self, action: Action) -> None:
        """What a policy does in one go, with the hands."""
        page, mouse = self.page, self.page.mouse
        held = getattr(action, "modifiers", ())
        for name in held:
            await page.keyboard.down(name)
        match action:
            case Click(x=x, y=y, button=button, count=count):
                await mouse.click(*await self.at(x, y), button=button, click_count=count)
            case Move(x=x, y=y):
                await mouse.move(*await self.at(x, y))
            case Drag(path=path, button=button):
                await mouse.move(*await self.at(*path[0]))
                await mouse.down(button=button)
                for point in path[1:]:
                    await mouse.move(*await self.at(*point), steps=4)
                await mouse.up(button=button)
            case Scroll(x=x, y=y, dx=dx, dy=dy):
                await mouse.move(*await self.at(x, y))
                await mouse.wheel(dx, dy)
            case Type(text=text):
                await page.keyboard.type(text)
            case Key(chord=chord):
                await page.keyboard.press(chord)
            case Wait(seconds=seconds):
                await asyncio.sleep(seconds)
            case Dialog(accept=accept, text=text):
                await self.answer(accept, text)
            case Upload(file=file):
                await self.choose(*([file] if isinstance(file, str) else file))
            case Goto(url=url):
                await page.locator("#url").fill(url)
                await page.locator("#url").press("Enter")
            case Back():
                await page.locator("#back").click()
            case SwitchTab(index=index):
                await page.locator("#tabs button").nth(index).click()
            case _:
                raise NotImplementedError(str(action))
        for name in held:
            await page.keyboard.up(name)
        await self.settled()

    async def answer(self, accept: bool, text: str = "") -> None:
        await self.page.locator("#dialog").wait_for()
        if text:
            await self.page.locator("#dialog-input").fill(text)
        await self.page.locator("#dialog-yes" if accept else "#dialog-no").click()
        await self.settled()

    async def choose(self, *names: str) -> None:
        await self.page.locator("#chooser").wait_for()
        for name in names:
            await self.page.get_by_label(name).check()
        await self.page.locator("#chooser-yes" if names else "#chooser-no").click()
        await self.settled()

    async def end(self, ending: Action | None = None) -> dict[str, Any]:
        """Say that it is done, and read whether it counts."""
        if isinstance(ending, Answer):
            await self.page.locator("#answer").fill(ending.text)
            await self.page.locator("#send").click()
        else:
            await self.page.locator("#done").click()
        await self.phase("judged")
        result = self.studio.state()["result"]
        await expect(self.page.locator("#verdict h2")).to_have_text(
            "It counts" if result["counts"] else "It does not count"
        )
        assert isinstance(result, dict)
        return result

    async def play(self, actions: Sequence[Action]) -> dict[str, Any]:
        """Do all of a policy's actions."""
        for action in actions:
            if isinstance(action, Done | Answer):
                return await self.end(action)
            await self.do(action)
        return await self.end()


async def trusting(harness: Harness, episode: Episode, demo: Demo, *, told: Mapping[int, str] | None = None) -> Proof:
    """For tests that are about something else: what passed, counts."""
    passed = episode.verdict is not None and episode.verdict.success
    return Proof(passed, passed, True)


@asynccontextmanager
async def person_at(
    harness: Harness, wanted: Sequence[Request], store: RunStore, prove: Prove = proves, **page: Any
) -> AsyncIterator[tuple[Person, asyncio.Task[Tally]]]:
    """Somebody at the page for some tasks, and the way through them; nothing may go wrong in the page."""
    async with Env(harness, limits=LIMITS) as env:
        studio = Studio(env, wanted, store, Giver("ann"), prove)
        way = asyncio.create_task(studio.run())
        async with Recorder(studio) as recorder, async_playwright() as playwright:
            chromium = await playwright.chromium.launch(executable_path=str(find_chromium()))
            context = await chromium.new_context(**{"viewport": {"width": 1100, "height": 640}, **page})
            await context.grant_permissions(["clipboard-read", "clipboard-write"])
            someone = Person(await context.new_page(), studio, recorder)
            try:
                await someone.page.goto(recorder.url)
                yield someone, way
                assert someone.errors == []
            finally:
                await chromium.close()
                way.cancel()
                await asyncio.gather(way, return_exceptions=True)
