"""Frames of other sites settle with their page, in its process or in one of their own."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from uigym.browser import Browser, Frame, Session, launch
from uigym.types import Click, Event, Key, Scroll, Type

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
INSIDE, OUTSIDE, ELSEWHERE = Click(60, 35), Click(260, 25), Click(300, 240)
GREEN, RED, WHITE = (0, 128, 0), (255, 0, 0), (255, 255, 255)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["one process", "own process"])
async def browser(request: Any) -> AsyncIterator[Browser]:
    """Chromium's shell keeps all sites of a page in one process, Chromium itself does not."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "own process":
            patch.setattr(launch, "FLAGS", (*launch.FLAGS, "--site-per-process"))
        browser = await Browser.launch()
    yield browser
    await browser.close()


def is_apart(session: Session) -> bool:
    return len(session.page.frames) > 1 and bool(session._shown.settler._others)


def colours(frame: Frame) -> tuple[Any, Any]:
    """(inside the frame, outside)."""
    picture = Image.open(io.BytesIO(frame.png)).convert("RGB")
    return picture.getpixel((70, 160)), picture.getpixel((260, 110))


@pytest.mark.parametrize(
    "inside", ["fetch", "chain", "css", "image", "navigation", "/inside.html?leave", "/inside.html?out", "/inside.html?nest", "/inside.html?worker"]
)  # fmt: skip
async def test_what_a_click_in_a_frame_causes_is_over(opened: Opener, inside: str) -> None:
    session, before = await opened(f"/outside.html?green,{inside}")
    assert before.settled and colours(before) == (RED, RED)
    frame = await session.step(INSIDE)
    assert frame.settled and colours(frame) == (GREEN, RED)


@pytest.mark.parametrize(
    ("outside", "inside", "click", "then"),
    [
        ("green", "/inside.html?tell", INSIDE, (RED, GREEN)),
        ("ask", "/inside.html?", OUTSIDE, (GREEN, GREEN)),
        ("add", "", OUTSIDE, (GREEN, RED)),
        ("addSlow", "", OUTSIDE, (GREEN, RED)),
        ("home", "fetch", OUTSIDE, (GREEN, RED)),
        ("remove", "spinner", OUTSIDE, (WHITE, GREEN)),
        ("remove", "/never-image.html", OUTSIDE, (WHITE, GREEN)),
    ],
)
async def test_frames_come_go_and_talk(
    opened: Opener, outside: str, inside: str, click: Click, then: tuple[Any, Any]
) -> None:
    session, before = await opened(f"/outside.html?{outside}" + (f",{inside}" if inside else ""))
    assert before.settled == (inside != "/never-image.html")
    frame = await session.step(click)
    assert frame.settled and colours(frame) == then
    assert (await session.step(Key("Tab"))).settled


async def test_a_frame_that_never_comes(opened: Opener) -> None:
    session, _ = await opened("/outside.html?never,fetch")
    frame = await session.step(OUTSIDE)
    assert not frame.settled and colours(frame) == (RED, GREEN)
    frame = await session.step(ELSEWHERE)
    assert frame.spent.settle_ms < 1500
    assert frame.settled != is_apart(session)  # nobody can ask what its old document does


async def test_typing_and_scrolling_in_a_frame(opened: Opener) -> None:
    session, _ = await opened("/outside.html?green,/input.html")
    await session.step(Click(70, 30))
    before = (await session.look()).png
    frame = await session.step(Type("abc"))
    assert frame.settled and frame.png != before
    session, _ = await opened("/outside.html?green,/scroll.html")
    frame = await session.step(Scroll(100, 100, dy=500))
    assert frame.settled and colours(frame)[0] == GREEN


async def test_a_frame_that_hangs_or_crashes(opened: Opener) -> None:
    session, _ = await opened("/outside.html?green,/inside.html?hang")
    if not is_apart(session):
        pytest.skip("in one process the whole page hangs: test_browser_settle")
    frame = await session.step(INSIDE)
    assert not frame.settled and colours(frame) == (GREEN, RED)
    frame = await session.step(OUTSIDE)
    assert not frame.settled and colours(frame) == (GREEN, GREEN)
    assert frame.spent.settle_ms < 1500
    session, _ = await opened("/outside.html?add,fetch")
    (lost,) = session._shown.settler._others.values()
    crashing = lost.channel.send("Page.crash")
    frame = await session.step(ELSEWHERE)
    while not frame.events:
        frame = await session.step(ELSEWHERE)
    assert frame.events == (Event("crash", "a frame of the page crashed"),) and frame.settled
    frame = await session.step(OUTSIDE)
    assert frame.settled and colours(frame)[0] == GREEN  # another one in its place
    crashing.cancel()
