"""Both ways to take a picture give the same one, never an old one or another page's; frames also have to be drawn."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from uigym.browser import Browser, Frame, Session, frames
from uigym.browser.capture import PAUSES_S, Screenshot
from uigym.browser.wire import WireError, WireGone
from uigym.errors import BrowserError, ConfigError, UIGymError
from uigym.surroundings import Surroundings
from uigym.types import Click, Dialog, Move, Scroll, SwitchTab, Type

pytestmark = pytest.mark.browser
on_loop = pytest.mark.asyncio(loop_scope="module")
VIEWPORT = (320, 256)
NEXT, HANG, ASK = Click(20, 20), Click(120, 20), Click(220, 20)


def colour(frame: Frame, x: int = 20, y: int = 200) -> tuple[int, int, int]:
    return Image.open(io.BytesIO(frame.png)).convert("RGB").getpixel((x, y))  # type: ignore[return-value]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def drawing() -> AsyncIterator[Browser]:
    """A browser that draws frame by frame."""
    browser = await Browser.launch(capture="frames")
    yield browser
    await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def drawn(drawing: Browser, pages: Any) -> AsyncIterator[Callable[..., Awaitable[Session]]]:
    sessions = []

    async def open_page(path: str, grants: tuple[type, ...] = ()) -> Session:
        for _ in range(4):  # Chromium loses a frame after some navigations, as frames.py says
            sessions.append(await drawing.session(base_url=pages.url, viewport=VIEWPORT, grants=grants))
            with suppress(UIGymError):
                await sessions[-1].open(path)
                return sessions[-1]
        raise AssertionError(f"{path} was lost four times in a row")

    yield open_page
    for session in sessions:
        await session.close()


# --- a picture that fails ----------------------------------------------------------------------------------


class Failing:
    """A channel whose first answers are errors, by a list; then it is the channel that it was made of."""

    def __init__(self, errors: list[Exception], channel: Any = None):
        self.errors: Iterator[Exception] = iter(errors)
        self.channel = channel
        self.asked = 0

    async def send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        self.asked += 1
        for error in self.errors:
            raise error
        return (
            await self.channel.send(method, parameters) if self.channel else {"data": base64.b64encode(b"x").decode()}
        )


UNABLE = WireError("Unable to capture screenshot")


@pytest.mark.parametrize("times", [1, len(PAUSES_S)])
async def test_a_picture_that_fails_at_first_is_taken_again(times: int) -> None:
    channel = Failing([UNABLE] * times)
    assert await Screenshot(channel).picture() == b"x" and channel.asked == times + 1


async def test_a_picture_that_always_fails_is_an_error_that_says_why() -> None:
    channel = Failing([UNABLE] * 99)
    with pytest.raises(BrowserError, match=r"8 times in 1\.5 s: Unable to capture screenshot"):
        await Screenshot(channel).picture()
    assert channel.asked == len(PAUSES_S) + 1


async def test_a_page_that_is_gone_is_not_asked_again() -> None:
    channel = Failing([WireGone("the page was closed")])
    with pytest.raises(WireGone):
        await Screenshot(channel).picture()
    assert channel.asked == 1


@on_loop
async def test_a_step_survives_failed_pictures_but_not_for_ever(pages: Any) -> None:
    browser = await Browser.launch(capture="screenshot")
    session = await browser.session(base_url=pages.url, viewport=VIEWPORT)
    await session.open("/drawn.html?9")
    tab = session._shown
    tab.camera = Screenshot(Failing([UNABLE], tab.channel))
    assert colour(await session.step(NEXT)) == (9, 1, 7)
    tab.camera = Screenshot(Failing([UNABLE] * 99, tab.channel))
    with pytest.raises(BrowserError, match=r"click action.*took no picture.*8 times"):
        await session.step(NEXT)
    assert await session.page.evaluate("clicks") == 2  # the act itself was done
    await browser.close()


async def test_a_way_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match=r'called "frame". Did you mean "frames"'):
        await Browser.launch(capture="frame")


# --- frame by frame ----------------------------------------------------------------------------------------


@on_loop
async def test_both_ways_give_the_same_picture(drawing: Browser, pages: Any) -> None:
    other = await Browser.launch(capture="screenshot")
    films = []
    for one in (other, drawing):
        session = await one.session(base_url=pages.url, viewport=VIEWPORT)
        acts = (Click(60, 20), Type("é"), Scroll(100, 200, dy=40), Move(60, 60))
        films.append([(await session.open("/input.html")).png, *[(await session.step(act)).png for act in acts]])
        await session.close()
    await other.close()
    assert films[0] == films[1]


@on_loop
async def test_another_scale_is_refused(drawing: Browser, pages: Any) -> None:
    with pytest.raises(ConfigError, match=r"one pixel per CSS px, not 1.25"):
        await drawing.session(base_url=pages.url, surroundings=Surroundings(scale=1.25))


@on_loop
async def test_no_picture_is_old_or_of_another_page(drawn: Callable[..., Awaitable[Session]]) -> None:
    """With one browser for all, which would end if two of its pages drew at once."""
    sessions = [await drawn(f"/drawn.html?{number}") for number in range(4)]

    async def drive(number: int) -> None:
        for count in range(1, 16):
            frame = await sessions[number].step(NEXT)
            assert colour(frame) == (number, count, 7) and frame.settled

    await asyncio.gather(*map(drive, range(4)))


@on_loop
async def test_what_waits_for_a_frame_gets_one(drawn: Callable[..., Awaitable[Session]]) -> None:
    session = await drawn("/drawn.html")
    assert colour(await session.step(Move(230, 90)), 230, 90) == (200, 100, 50)
    await session.step(Scroll(100, 150, dy=30))
    assert await session.page.evaluate("scrollY") == 30


@on_loop
async def test_the_page_goes_on_while_nobody_looks(drawn: Callable[..., Awaitable[Session]]) -> None:
    session = await drawn("/drawn.html")
    before = await session.page.evaluate("frames")
    await session.page.wait_for_function(f"frames > {before + 3}")  # which itself waits for frames
    await session.page.locator("#next").click()
    assert colour(await session.look()) == (0, 1, 7)


@on_loop
async def test_a_window_that_the_page_opens_is_drawn(drawn: Callable[..., Awaitable[Session]]) -> None:
    session = await drawn("/drawn.html", grants=(SwitchTab,))
    await session.page.evaluate("addEventListener('click', () => open('/drawn.html?50'), {once: true})")
    await session.step(Click(20, 150))
    assert session.url.endswith("?50")
    assert colour(await session.step(NEXT)) == (50, 1, 7)
    assert colour(await session.step(SwitchTab(0))) == (0, 0, 0)
    assert colour(await session.step(NEXT)) == (0, 1, 7)


@on_loop
async def test_a_page_that_never_ends_its_frame_stops_nobody_else(
    drawn: Callable[..., Awaitable[Session]], drawing: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "FRAME_LIMIT_S", 0.5)
    hanging, other = await drawn("/drawn.html?1"), await drawn("/drawn.html?2")

    async def hang() -> None:
        with pytest.raises(BrowserError, match=r"during a click action .*hung: it did not finish a frame"):
            await hanging.step(HANG)

    async def work() -> None:
        for count in range(1, 31):
            assert colour(await other.step(NEXT)) == (2, count, 7)

    await asyncio.gather(hang(), work())
    assert drawing.alive


@on_loop
async def test_a_dialog_from_within_a_frame(drawn: Callable[..., Awaitable[Session]]) -> None:
    session = await drawn("/drawn.html")
    frame = await session.step(ASK)
    assert [event.text for event in frame.events] == ["sure?"]
    assert await session.page.title() == "answered false"


@on_loop
async def test_who_waits_for_an_answer_lets_no_frame_be_drawn(drawn: Callable[..., Awaitable[Session]]) -> None:
    session, other = await drawn("/drawn.html?1", grants=(Dialog,)), await drawn("/drawn.html?2")
    await session.page.evaluate(
        "addEventListener('click', () => (document.body.style.background = confirm('?') ? '#010203' : ''))"
    )
    await session.step(Click(20, 150))
    assert colour(await other.step(NEXT)) == (2, 1, 7)
    assert colour(await session.step(Dialog(True))) == (1, 2, 3)


@on_loop
async def test_a_step_that_is_given_up_leaves_its_frame_to_end(
    drawn: Callable[..., Awaitable[Session]], drawing: Browser
) -> None:
    given_up, other = await drawn("/drawn.html?1"), await drawn("/drawn.html?2")
    for count in range(1, 9):
        step = asyncio.create_task(given_up.step(NEXT))
        await asyncio.sleep(0.001 * count)
        step.cancel()
        assert colour(await other.step(NEXT)) == (2, count, 7)
    assert drawing.alive and (await given_up.look()).settled


@on_loop
async def test_a_page_that_crashes_while_it_is_drawn(
    drawn: Callable[..., Awaitable[Session]], drawing: Browser
) -> None:
    session, other = await drawn("/drawn.html?1"), await drawn("/drawn.html?2")
    with pytest.raises(BrowserError, match="crash"):
        await asyncio.gather(session.page.goto("chrome://crash"), session.step(NEXT), return_exceptions=True)
        await session.step(NEXT)
    assert drawing.alive and colour(await other.step(NEXT)) == (2, 1, 7)
