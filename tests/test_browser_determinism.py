"""Same page, same acts, same surroundings: same pixels, in every browser."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from uigym.browser import Browser
from uigym.surroundings import Surroundings
from uigym.types import Action, Click, Key, Move, Scroll, Type

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


def test_a_clock_needs_a_time_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Surroundings(clock=datetime.datetime(2024, 1, 1))
