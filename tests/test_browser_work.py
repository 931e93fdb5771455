"""Every kind of work that an input can cause is over when the picture is taken; what has no end is let go of."""

from __future__ import annotations

import io
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from PIL import Image

from uigym.browser import Frame, Session
from uigym.types import Click, Key, Scroll

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
GO = Click(50, 25)
GREEN, RED, BLUE = (0, 128, 0), (255, 0, 0), (0, 0, 255)


def colour(frame: Frame, x: int = 60, y: int = 110) -> tuple[int, int, int]:
    return Image.open(io.BytesIO(frame.png)).convert("RGB").getpixel((x, y))  # type: ignore[return-value]


WORKERS = ["worker", "workerSteps", "workerClock", "workerNew", "workerModule", "workerOffspring", "workerHostile", "portAway", "shared", "broadcast", "service"]  # fmt: skip
SERVERS = ["sse", "sseNamed", "sseXhr", "socketQuiet", "stream", "streamLoop"]
CHAINS = ["count", "countFrames", "typed", "idle", "task", "micro", "self"]
STORES = ["database", "cache", "lock", "crypto", "clipboard", "reader", "blob"]
CHANGES = ["observeSize", "observeView", "observeChange", "transition", "transitionAfter", "animation", "dialog", "popover", "glide", "scrolled"]  # fmt: skip
PARTS = ["image", "imageLost", "sheet", "script", "jsonp", "module", "frame", "frameText", "frameBlob", "frameWritten", "frameMute", "font"]  # fmt: skip
WAYS = ["pushed", "chain"]


@pytest.mark.parametrize("kind", [*WORKERS, *SERVERS, *CHAINS, *STORES, *CHANGES, *PARTS, *WAYS])
async def test_what_a_click_causes_is_over(opened: Opener, kind: str) -> None:
    session, before = await opened(f"/work.html?{kind}")
    assert before.settled and colour(before) == RED
    frame = await session.step(GO)
    assert colour(frame) == GREEN
    assert frame.settled


@pytest.mark.parametrize("kind", ["workerMute", "stopwatch", "lockKept", "video", "mail", "animationLoop"])
async def test_what_goes_on_beside_is_not_waited_for(opened: Opener, kind: str) -> None:
    session, _ = await opened(f"/work.html?{kind}")
    frame = await session.step(GO)
    assert frame.settled and colour(frame) == GREEN
    assert frame.spent.settle_ms < 2500


@pytest.mark.parametrize("kind", ["ticker", "canvas"])
async def test_a_loop_is_awaited_once_and_known_from_then_on(opened: Opener, kind: str) -> None:
    """Whether a loop ends nobody can say: the picture is taken after a while, and says that it is not the last word."""
    session, _ = await opened(f"/work.html?{kind}")
    frame = await session.step(GO)
    assert not frame.settled and colour(frame) == GREEN
    first = frame.spent.settle_ms
    for action in (Key("Tab"), GO, GO):
        frame = await session.step(action)
        assert frame.settled and frame.spent.settle_ms < first / 2


NEVER = [
    "never",
    "frameNever",
    "imageNever",
    "scriptNever",
    "sheetNever",
    "streamSilent",
    "streamEndless",
    "workerBusy",
]


@pytest.mark.parametrize("kind", NEVER)
async def test_what_never_comes_is_said_once_and_not_waited_for_again(opened: Opener, kind: str) -> None:
    session, _ = await opened(f"/work.html?{kind}")
    frame = await session.step(GO)
    assert not frame.settled and colour(frame) == GREEN
    frame = await session.step(Key("Tab"))
    assert frame.settled == (kind != "never")  # a document on its way: nobody can ask what the old one does
    assert frame.spent.settle_ms < 1500
    assert (await session.standing()).status in (0, 200)


async def test_a_document_written_anew(opened: Opener) -> None:
    """document.open() takes every listener from the page."""
    session, frame = await opened("/work.html?written")
    frame = await session.step(GO)
    assert frame.settled and colour(frame) == RED
    frame = await session.step(GO)
    assert frame.settled and colour(frame) == GREEN


async def test_a_link_that_nobody_answers(opened: Opener) -> None:
    session, _ = await opened("/work.html?refused")
    frame = await session.step(GO)
    assert frame.settled and session.url.startswith("chrome-error:")


# --- bug reports 1-11 and 1-20 -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "fetch", "end", "view"])
async def test_a_wheel_over_an_inner_scroller_is_applied(opened: Opener, kind: str) -> None:
    session, frame = await opened(f"/scroller.html?{kind}")
    frame = await session.step(Scroll(150, 100, dy=300))
    assert await session.page.evaluate("document.getElementById('inner').scrollTop") == 300
    assert await session.page.evaluate("log.at(-1)") == 300
    assert frame.settled and colour(frame, 150, 100) == BLUE
    assert colour(frame, 150, 230) == (GREEN if kind else RED)
    assert (await session.look()).png == frame.png


async def test_keys_scroll_an_inner_scroller(opened: Opener) -> None:
    session, _ = await opened("/scroller.html?fetch")
    await session.step(Click(150, 100))
    for chord in ("PageDown", "PageDown"):
        frame = await session.step(Key(chord))
        assert frame.settled and colour(frame, 150, 230) == GREEN
    assert colour(frame, 150, 100) == BLUE
    assert (await session.look()).png == frame.png


async def test_a_wheel_over_a_scroller_that_snaps(opened: Opener) -> None:
    session, _ = await opened("/scroller.html?snap")
    frame = await session.step(Scroll(150, 100, dy=300))
    assert frame.settled and colour(frame, 150, 100) == BLUE
    assert (await session.look()).png == frame.png


@pytest.mark.parametrize("source", ["refused", "broken", "missing", "never,swap", "never,block"])
async def test_a_font_that_cannot_be_had(opened: Opener, source: str) -> None:
    began = time.monotonic()
    session, frame = await opened(f"/fonts.html?{source}")
    assert time.monotonic() - began < 8
    assert frame.settled == (not source.startswith("never"))
    hidden = source == "never,block"  # for 3 s, as a person would see it
    assert hidden or colour(frame, 50, 40) == GREEN
    frame = await session.step(Click(215, 20))
    assert frame.settled and colour(frame, 150, 200) == BLUE
    assert frame.spent.settle_ms < 2500


async def test_a_page_in_the_stricter_language(opened: Opener, pages: Any) -> None:
    session, _ = await opened("/strict.xhtml")
    frame = await session.step(GO)
    assert frame.settled and colour(frame) == GREEN
