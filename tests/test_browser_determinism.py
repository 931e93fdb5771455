"""Same page, same acts, same surroundings: same pixels, in every browser."""

from __future__ import annotations

import asyncio
import datetime
import random
import re
from typing import Any

import pytest

from uigym import registry
from uigym.browser import Browser
from uigym.errors import UIGymError
from uigym.product import Product
from uigym.surroundings import Surroundings
from uigym.types import Action, Click, Key, Move, Scroll, Type, Wait

pytestmark = pytest.mark.browser
on_loop = pytest.mark.asyncio(loop_scope="module")
ACTS: tuple[Action, ...] = (
    Click(100, 10),
    Type("Grüße 東京"),
    Move(60, 60),
    Scroll(100, 100, dy=150),
    Move(160, 90),
    Key("Tab"),
    Click(200, 120),
    Scroll(100, 100, dy=-60),
)
FIXED = Surroundings(
    locale="de-DE",
    timezone="Asia/Tokyo",
    clock=datetime.datetime(2024, 3, 1, 12, 30, tzinfo=datetime.UTC),
    random_seed=7,
)


async def film(browser: Browser, url: str, surroundings: Surroundings, viewport: tuple[int, int]) -> list[bytes]:
    session = await browser.session(base_url=url, viewport=viewport, surroundings=surroundings)
    frames = [await session.open("/paint.html")]
    for act in ACTS:
        frames.append(await session.step(act))
    await session.close()
    return [frame.png for frame in frames]


@on_loop
async def test_the_same_pixels_in_two_browsers_and_twice_in_one(browser: Browser, pages: Any) -> None:
    other = await Browser.launch()
    try:
        for viewport in ((320, 256), (1280, 720)):
            films = [await film(one, pages.url, FIXED, viewport) for one in (browser, other, browser)]
            assert films[0] == films[1] == films[2]
            assert len(set(films[0])) >= len(ACTS) - 1  # and the acts do show
    finally:
        await other.close()


@on_loop
async def test_clock_locale_and_randomness_are_what_was_asked_for(browser: Browser, pages: Any) -> None:
    session = await browser.session(base_url=pages.url, surroundings=FIXED)
    await session.open("/paint.html")
    said = await session.page.evaluate(
        "[Date.now(), new Date().toLocaleString(), new Date(0).getTime(), new Date() instanceof Date, new Date().constructor === Date,"
        " Date.UTC(2020, 0), typeof Date(), (1.5).toLocaleString(), navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone]"
    )
    assert said == [
        1709296200000,
        "1.3.2024, 21:30:00",
        0,
        True,
        True,
        1577836800000,
        "string",
        "1,5",
        "de-DE",
        "Asia/Tokyo",
    ]
    numbers = await session.page.evaluate("Array.from({length: 1000}, Math.random)")
    assert all(0 <= n < 1 for n in numbers) and len(set(numbers)) == 1000 and 450 < 1000 * sum(numbers) / 1000 < 550
    await session.close()
    session = await browser.session(base_url=pages.url, surroundings=FIXED)
    await session.open("/paint.html")
    assert await session.page.evaluate("Array.from({length: 1000}, Math.random)") == numbers
    await session.close()


@on_loop
async def test_without_being_asked_the_clock_runs(browser: Browser, pages: Any) -> None:
    session = await browser.session(base_url=pages.url)
    await session.open("/paint.html")
    now = datetime.datetime.now(datetime.UTC).timestamp()
    assert abs(await session.page.evaluate("Date.now()") / 1000 - now) < 10
    assert await session.page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone") == "UTC"
    await session.close()


RESETS = 20
STILL: tuple[Action, ...] = (
    Click(40, 10),
    Type("Grüße"),
    Move(50, 40),
    Click(120, 40),
    Key("Tab"),
    Wait(0.15),
    Click(240, 12),
    Key("Shift+Tab"),
    Scroll(100, 200, dy=40),
    Click(200, 70),
)


async def shots(
    browser: Browser, url: str, path: str, acts: tuple[Action, ...], viewport: tuple[int, int]
) -> list[bytes]:
    session = await browser.session(base_url=url, viewport=viewport, surroundings=FIXED)
    frames = [await session.open(path), *[await session.step(act) for act in acts]]
    await session.close()
    return [frame.png for frame in frames]


def differing(films: list[list[bytes]]) -> list[int]:
    """The steps whose pictures are not the same in all films."""
    return [number for number, pictures in enumerate(zip(*films, strict=True)) if len(set(pictures)) > 1]


@on_loop
async def test_the_same_pixels_at_every_reset(pages: Any) -> None:
    """Gradients, shadows, a web font, carets, animations of all kinds, all clocks, all randomness."""
    browsers = [await Browser.launch(capture="screenshot") for _ in range(2)]

    async def some(browser: Browser) -> list[list[bytes]]:
        return [await shots(browser, pages.url, "/still.html", STILL, (320, 240)) for _ in range(RESETS // 2)]

    try:
        films = [film for part in await asyncio.gather(*map(some, browsers)) for film in part]
    finally:
        await asyncio.gather(*(browser.close() for browser in browsers))
    assert len(films) == RESETS and differing(films) == []
    assert len(set(films[0])) >= 6  # and the acts do show


@on_loop
async def test_the_same_pixels_however_a_picture_is_taken(browser: Browser, pages: Any) -> None:
    """Chromium loses a frame that is drawn on command now and then, as frames.py says: such a film is taken again."""
    films = [await shots(browser, pages.url, "/still.html", STILL, (320, 240))]
    for _ in range(6):
        drawing = await Browser.launch(capture="frames")
        try:
            films.append(await shots(drawing, pages.url, "/still.html", STILL, (320, 240)))
        except UIGymError:
            continue
        finally:
            await drawing.close()
        if len(films) == 3:
            break
    assert len(films) == 3 and differing(films) == []


@on_loop
@pytest.mark.parametrize("name", ["kiosk", "desk"])
async def test_the_bundled_products_look_the_same_at_every_reset(browser: Browser, name: str) -> None:
    harness = registry.load(name)
    width, height = harness.viewport
    draw = random.Random(name)
    acts = tuple(Click(draw.randrange(width), draw.randrange(height)) for _ in range(10))

    async def some() -> list[list[bytes]]:
        async with Product(harness) as product:
            films = []
            for _ in range(RESETS // 4):
                await product.reset(3)
                films.append(await shots(browser, product.base_url, harness.home, acts, harness.viewport))
            return films

    films = [film for part in await asyncio.gather(*(some() for _ in range(4))) for film in part]
    assert len(films) == RESETS and differing(films) == []
    assert len(set(films[0])) >= 3


CLOCKS = """
[
  Date.now(), new Date().getTime(), Date.parse(Date()), performance.timeOrigin, performance.toJSON().timeOrigin,
  new File([], "a").lastModified, Date.parse(document.lastModified), Temporal.Now.instant().epochMilliseconds,
  Temporal.Now.zonedDateTimeISO().epochMilliseconds, Date.parse(`${Temporal.Now.plainDateTimeISO("UTC")}Z`),
  Date.parse(new Intl.DateTimeFormat("en", {dateStyle: "short", timeStyle: "medium"}).format()),
]
"""
OTHERS = """
[
  new Intl.DateTimeFormat("en").format(0), new Intl.DateTimeFormat("en").formatToParts().map((p) => p.value).join(""),
  new File([], "a", {lastModified: 5}).lastModified, String(Temporal.Now.plainDateISO("UTC")), String(Temporal.Now.plainTimeISO("UTC")),
  new Date(2020, 0).getTimezoneOffset(), performance.timing.navigationStart <= Date.now() + 1000, performance.now() < 60000,
  [Date, Date.now, Intl.DateTimeFormat.prototype.formatToParts, Math.random, crypto.getRandomValues].every((f) => /native code/.test(f)),
]
"""


@on_loop
async def test_every_clock_says_the_same(browser: Browser, pages: Any) -> None:
    session = await browser.session(base_url=pages.url, surroundings=FIXED)
    await session.open("/still.html")
    assert set(await session.page.evaluate(CLOCKS)) == {1709296200000}
    said = await session.page.evaluate(OTHERS)
    assert said == ["1/1/1970", "3/1/2024", 5, "2024-03-01", "12:30:00", -540, True, True, True]
    await session.page.evaluate("document.cookie = `a=1; expires=${new Date(Date.now() + 1e7).toUTCString()}`")
    assert await session.page.evaluate("document.cookie") == "a=1"
    await session.page.evaluate("document.cookie = 'a=1; expires=Thu, 01 Jan 1970 00:00:00 GMT'")
    assert await session.page.evaluate("document.cookie") == ""
    await session.close()


@on_loop
async def test_drawn_names_are_the_same_in_every_run_and_differ_within_one(browser: Browser, pages: Any) -> None:
    draw = "[crypto.randomUUID(), crypto.randomUUID(), ...crypto.getRandomValues(new Uint16Array(3))]"
    runs = []
    for _ in range(2):
        session = await browser.session(base_url=pages.url, viewport=(320, 240), surroundings=FIXED)
        await session.open("/green.html")
        names = await session.page.evaluate(draw)
        await session.page.goto(pages.url + "/paint.html")
        await session.page.goto(pages.url + "/green.html")
        runs.append(names + await session.page.evaluate(draw))
        await session.page.reload()
        runs[-1] += await session.page.evaluate(draw)
        await session.close()
    assert runs[0] == runs[1] and len(set(runs[0])) == len(runs[0])
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", runs[0][0])


@on_loop
async def test_endless_animations_stand_still_with_the_clock_and_short_ones_end(browser: Browser, pages: Any) -> None:
    where = "[...document.getAnimations()].map((a) => [a.playState, a.currentTime]).sort()"
    for surroundings, states in ((FIXED, {"paused"}), (Surroundings(), {"running"})):
        session = await browser.session(base_url=pages.url, viewport=(320, 240), surroundings=surroundings)
        await session.open("/still.html")
        assert await session.page.evaluate("document.fonts.check('12px served')")
        found = await session.page.evaluate(where)
        assert {state for state, _ in found} == states and len(found) == 4
        assert await session.page.evaluate("getComputedStyle(brief).marginLeft") == "0px"
        await session.step(Wait(0.1))
        assert (await session.page.evaluate(where) == found) is (surroundings is FIXED)
        await session.close()


def test_a_clock_needs_a_time_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Surroundings(clock=datetime.datetime(2024, 1, 1))
