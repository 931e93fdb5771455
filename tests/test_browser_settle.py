"""A picture is taken when what the action caused is over, and not later."""

from __future__ import annotations

import io
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from PIL import Image

from uigym.browser import Frame, Session
from uigym.errors import ProductError
from uigym.types import Back, Click, Key, Scroll, Type

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
GO = Click(50, 25)
GREEN, RED = (0, 128, 0), (255, 0, 0)


def colour(frame: Frame, x: int = 60, y: int = 110) -> tuple[int, int, int]:
    return Image.open(io.BytesIO(frame.png)).convert("RGB").getpixel((x, y))  # type: ignore[return-value]


CASES = [
    "sync",
    "fetch",
    "body",
    "refused",
    "xhr",
    "timer",
    "chained",
    "interval",
    "cancelled",
    "frames",
    "css",
    "keyframes",
    "ended",
    "spinner",
    "polling",
    "socket",
    "chain",
    "slices",
    "image",
    "navigation",
    "lateNavigation",
    "pushed",
]


@pytest.mark.parametrize("kind", CASES)
async def test_what_a_click_causes_is_over(opened: Opener, kind: str) -> None:
    session, before = await opened(f"/settle.html?{kind}")
    assert before.settled and colour(before) == RED
    frame = await session.step(GO)
    assert colour(frame) == GREEN
    assert frame.settled


async def test_an_application_that_is_long_in_coming_is_there_on_the_first_picture(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uigym.browser.session.LIMIT_S", 0.25)
    _, frame = await opened("/boots.html")
    assert frame.settled and colour(frame) == GREEN


@pytest.mark.parametrize("kind", ["nothing", "polling", "endless", "never", "rearmed", "loop", "nocontent", "download"])
async def test_what_goes_on_for_ever_does_not_hang(opened: Opener, kind: str) -> None:
    """Polls, streams, frame loops: the tracker lets go of them, at the latest at its cap, and then for good."""
    session, _ = await opened(f"/settle.html?{kind}")
    began = time.monotonic()
    frame = await session.step(GO)
    assert time.monotonic() - began < 4.5
    assert colour(frame) == (RED if kind == "nothing" else GREEN)
    if kind == "never":
        assert not frame.settled
    await session.step(GO) if kind == "nothing" else await session.step(Key("Tab"))
    began = time.monotonic()
    await session.step(Key("Tab"))
    assert time.monotonic() - began < 2.5


async def test_a_polling_page_settles_quickly(opened: Opener) -> None:
    session, _ = await opened("/settle.html?polling")
    for _ in range(3):
        began = time.monotonic()
        frame = await session.step(Key("Tab"))
        assert frame.settled and time.monotonic() - began < 2.5  # it never gets quiet


async def test_endless_animations_play_on_and_short_ones_are_finished(opened: Opener) -> None:
    session, _ = await opened("/settle.html?spinner")
    frame = await session.step(GO)
    assert frame.settled and colour(frame) == GREEN


async def test_a_slow_page_is_awaited_and_a_hopeless_one_is_shown_unsettled(opened: Opener) -> None:
    session, frame = await opened("/slow/400")
    assert frame.settled and colour(frame) == GREEN
    began = time.monotonic()
    session, frame = await opened("/never-image.html")
    assert not frame.settled and 2.5 < time.monotonic() - began < 5
    frame = await session.step(Key("Tab"))  # what hangs since before this step is not its doing
    assert frame.settled


async def test_history(opened: Opener) -> None:
    session, _ = await opened("/settle.html?navigation", grants=(Back,))
    frame = await session.step(GO)
    assert session.url.endswith("/green.html") and colour(frame) == GREEN
    frame = await session.step(Back())
    assert "settle.html" in session.url and colour(frame) == RED and frame.settled
    session, _ = await opened("/settle.html?sync")
    await session.page.goto(session.url.replace("sync", "back"))
    frame = await session.step(GO)
    assert session.url.endswith("?sync") and frame.settled


async def test_what_a_scroll_loads(opened: Opener) -> None:
    session, frame = await opened("/scroll.html")
    assert colour(frame) != GREEN
    frame = await session.step(Scroll(100, 100, dy=500))
    assert frame.settled and colour(frame) == GREEN
    assert await session.page.evaluate("scrollY") == 500


async def test_work_in_a_frame_of_the_page(opened: Opener) -> None:
    session, _ = await opened("/framed.html")
    frame = await session.step(Click(60, 35))
    assert frame.settled and colour(frame, 70, 120) == GREEN


async def test_a_form_that_is_sent(opened: Opener) -> None:
    """Again and again: the navigation begins in a task of its own, some time after the click."""
    session, frame = await opened("/form.html")
    for number in range(8):
        frame = await session.step(Click(40, 20) if number % 2 else Key("Enter"))
        assert session.url.endswith(f"n={number + 1}")
        assert colour(frame, 100 + number, 200) == GREEN
        assert await session.page.evaluate("document.readyState") == "complete"


async def test_a_page_can_neither_see_nor_break_the_tracker(opened: Opener) -> None:
    session, frame = await opened("/hostile.html")
    assert frame.settled and colour(frame) == RED
    frame = await session.step(GO)
    assert colour(frame) == GREEN
    await session.step(GO)
    assert await session.page.title() == "hostile"  # else it lists what it saw


async def test_a_page_that_hangs_is_an_error_and_not_a_wait(opened: Opener, pages: Any) -> None:
    session, _ = await opened("/settle.html?hang")
    began = time.monotonic()
    with pytest.raises(ProductError, match=r"hung.*click.*1 s"):
        await session.step(GO, timeout_s=1.0)
    with pytest.raises(ProductError, match="hung"):
        await session.step(GO, timeout_s=30.0)
    with pytest.raises(ProductError, match="hung"):
        await session.look()
    await session.close()
    assert time.monotonic() - began < 8
    session, _ = await opened("/settle.html?sync")  # the browser itself is as good as before
    assert colour(await session.step(GO)) == GREEN


async def test_the_caret_does_not_blink(opened: Opener) -> None:
    session, _ = await opened("/input.html")
    frame = await session.step(Click(60, 20))
    assert (await session.step(Type("ab"))).png != frame.png
    pictures = set()
    for _ in range(8):
        pictures.add((await session.look()).png)
        await session.page.wait_for_timeout(170)
    assert len(pictures) == 1
