"""What is painted at a point is what a click there hits: every density, window, zoom, transform and frame."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from uigym.browser import Browser, Frame, Session
from uigym.policy.codecs import CODECS, Screen
from uigym.surroundings import Surroundings
from uigym.types import Click, Drag, Key, Move, Observation, Scroll, Type

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
PAINTED = {
    "drawn": (0, 150, 150),
    "turned": (200, 0, 0),
    "zoomed": (0, 150, 0),
    "fixed": (0, 0, 200),
    "inside": (200, 200, 0),
}
"""The elements of screen.html by the colour they are painted in."""


def pixels(png: bytes) -> np.ndarray[Any, np.dtype[np.int16]]:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(np.int16)


def centre(png: bytes, colour: tuple[int, int, int]) -> tuple[float, float]:
    """Of what is painted in a colour, px of the picture."""
    rows, columns = np.nonzero((abs(pixels(png) - colour) <= 2).all(axis=2))
    assert len(rows), f"nothing is painted in {colour}"
    return float(columns.mean()) + 0.5, float(rows.mean()) + 0.5


async def hits(session: Session) -> list[str]:
    return [e["on"] for e in await session.page.evaluate("log.splice(0)") if e["type"] == "click"]


@pytest.mark.parametrize("scale", [1.0, 1.25, 2.0])
@pytest.mark.parametrize("family", ["anthropic", "qwen3"])
async def test_the_painted_centre_is_hit_at_every_scale(
    browser: Browser, pages: Any, scale: float, family: str
) -> None:
    """A model says where it sees a target, in the picture's own pixels or on its grid."""
    around = Surroundings(scale=scale)
    session = await browser.session(base_url=pages.url, viewport=(320, 256), surroundings=around)
    frame = await session.open("/screen.html")
    high, wide, _ = pixels(frame.png).shape
    assert (wide, high) == (320 * scale, 256 * scale)
    screen = Screen.of(Observation(frame.png, 320, 256, "", scale=scale))
    assert screen.picture == (wide, high)
    for name, colour in PAINTED.items():
        x, y = centre(frame.png, colour)
        said = {
            "coordinate": [round(x), round(y)]
            if family == "anthropic"
            else [round(x / wide * 1000), round(y / high * 1000)]
        }
        reply = {"name": "left_click", "input": said}
        if family == "qwen3":
            reply = {"name": "computer_use", "arguments": {"action": "left_click", **said}}
        (click,) = CODECS[family].decode(reply, screen)
        await session.step(click)
        assert await hits(session) == [name]
        assert session.pointer is not None and abs(session.pointer[0] - x / scale) <= 1
    assert await session.page.evaluate("[innerWidth, devicePixelRatio]") == [320, scale]
    await session.close()


async def test_new_pages_and_windows_are_as_dense(browser: Browser, pages: Any) -> None:
    around = Surroundings(scale=2.0)
    session = await browser.session(base_url=pages.url, viewport=(320, 256), surroundings=around)
    await session.open("/hover.html")
    frames = [await session.step(Click(120, 98)), await session.step(Key("Enter"))]
    await session.open("/beside.html")
    frames.append(await session.step(Click(50, 110)))
    assert [event.kind for event in frames[-1].events] == ["tab"]
    assert [pixels(frame.png).shape for frame in frames] == [(512, 640, 3)] * 3
    assert (pixels(frames[-1].png)[500, 600] == (0, 128, 0)).all()
    await session.close()


async def test_every_window_fills_the_screen(opened: Opener) -> None:
    """A picture of another size would be another space of actions."""
    session, _ = await opened("/input.html")
    await session.page.evaluate(
        "pad.onclick = () => pad.requestFullscreen(); drop.onclick = () => open('/screen.html', '', 'width=200,height=150'); null"
    )
    await session.step(Click(60, 150))
    await session.page.wait_for_function("document.fullscreenElement?.id === 'pad'")
    full = await session.look()
    await session.step(Key("Escape"))
    popup = await session.step(Click(250, 150))
    assert [event.text for event in popup.events] == ["screen"]
    assert [pixels(frame.png).shape for frame in (full, popup)] == [(256, 320, 3)] * 2
    await session.step(Click(*centre(popup.png, PAINTED["fixed"])))
    assert await hits(session) == ["fixed"]


async def test_dragging_and_scrolling_at_another_scale(browser: Browser, pages: Any) -> None:
    around = Surroundings(scale=1.25)
    session = await browser.session(base_url=pages.url, viewport=(320, 256), surroundings=around)
    await session.open("/draw.html")
    path = tuple((40.0 + 10 * n, 60.0 + 4 * (n % 3)) for n in range(12))
    frame = await session.step(Drag(path))
    assert [tuple(point) for point in await session.page.evaluate("points")] == list(path)
    red = pixels(frame.png)[round(60 * 1.25), round(100 * 1.25)]
    assert red[0] > 190 and red[1] < 90
    await session.open("/scrollers.html")
    await session.step(Scroll(280, 200, dy=300))
    assert (await session.page.evaluate("places()"))["main"] == 300
    await session.close()


@pytest.mark.parametrize("wrong", [0.0, -1.0, 5.0, float("nan")])
async def test_a_scale_that_no_screen_has(wrong: float) -> None:
    with pytest.raises(ValueError, match="scale must be from"):
        Surroundings(scale=wrong)


async def test_a_policy_that_sees_a_smaller_picture_hits_the_corners(opened: Opener) -> None:
    """Of a screen of 1920 x 1080 it is shown 1024 x 576."""
    session, frame = await opened("/input.html", viewport=(1920, 1080))
    screen = Screen.of(Observation(frame.png, 1920, 1080, ""), seen=(1024, 576))
    for said, wanted in (((0, 0), (0, 0)), ((1023, 0), (1919, 0)), ((0, 575), (0, 1079)), ((1023, 575), (1919, 1079))):
        (click,) = CODECS["anthropic"].decode({"name": "left_click", "input": {"coordinate": list(said)}}, screen)
        await session.step(click)
        (event,) = [e for e in await session.page.evaluate("log.splice(0)") if e["type"] == "click"]
        assert abs(event["x"] - wanted[0]) <= 1 and abs(event["y"] - wanted[1]) <= 1
        assert session.pointer == (click.x, click.y)  # type: ignore[union-attr]


@pytest.mark.parametrize("viewport", [(100, 100), (390, 844), (2560, 1440)])
async def test_windows_of_other_sizes(opened: Opener, viewport: tuple[int, int]) -> None:
    session, frame = await opened("/screen.html", viewport=viewport)
    width, height = viewport
    assert pixels(frame.png).shape == (height, width, 3)
    assert await session.page.evaluate("[innerWidth, innerHeight, visualViewport.width, visualViewport.scale]") == [
        width,
        height,
        width,
        1,
    ]
    x, y = centre(frame.png, PAINTED["fixed"])
    await session.step(Click(x, y))
    await session.step(Click(width - 8, height - 10))
    assert await hits(session) == ["fixed", "fixed"]


async def test_a_scrolled_page(opened: Opener) -> None:
    session, _ = await opened("/screen.html")
    frame = await session.step(Scroll(100, 200, dx=20, dy=400))
    assert await session.page.evaluate("[scrollX, scrollY]") == [20, 400]
    for colour in ((150, 0, 150), PAINTED["fixed"]):
        await session.step(Click(*centre(frame.png, colour)))
    assert await hits(session) == ["far", "fixed"]


@pytest.mark.parametrize(
    "zoom", ["zoom: 1.5", "zoom: 0.8", "transform: scale(1.2) translate(9px, 7px); transform-origin: 0 0"]
)
async def test_a_page_that_zooms_itself(opened: Opener, zoom: str) -> None:
    session, _ = await opened("/screen.html")
    await session.page.evaluate(f"document.body.style = '{zoom}'")
    frame = await session.step(Move(300, 10))
    for name in ("drawn", "turned", "zoomed"):
        await session.step(Click(*centre(frame.png, PAINTED[name])))
        assert await hits(session) == [name]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_frame_of_another_origin(browser: Browser, pages: Any, host: str) -> None:
    """Another host is another site: where Chromium isolates sites, the frame has a process of its own."""
    other = pages.url.replace("127.0.0.1", host)
    session = await browser.session(base_url=pages.url, viewport=(640, 480), allow=(other,))
    await session.open(f"/screen.html?frame={other}/place.html")
    frame = await session.step(Move(600, 400))
    await session.step(Click(*centre(frame.png, (250, 120, 0))))
    await session.step(Type("tour de force, déjà vu"))
    inner = session.page.frames[1]
    assert await inner.evaluate("document.activeElement.id + ': ' + document.getElementById('inner').value") == (
        "inner: tour de force, déjà vu"
    )
    (click,) = [e for e in await inner.evaluate("log.splice(0)") if e["type"] == "click"]
    assert (click["on"], click["x"], click["y"]) == ("inner", 60, 40)
    assert await hits(session) == []
    await session.step(Scroll(450, 400, dy=15))
    assert [await at.evaluate("scrollY") for at in session.page.frames] == [0, 15]
    await session.step(Key("ctrl+a"))
    await session.step(Key("Delete"))
    assert await inner.evaluate("document.getElementById('inner').value") == ""
    await session.close()


async def test_a_click_beside_the_frame_takes_the_focus_away(opened: Opener, pages: Any) -> None:
    session, _ = await opened(f"/screen.html?frame={pages.url}/place.html", viewport=(640, 480))
    await session.step(Click(360, 340))
    await session.step(Type("in"))
    await session.step(Click(100, 200))
    await session.step(Type("out"))
    assert await session.page.frames[1].evaluate("document.getElementById('inner').value") == "in"
    assert [e["key"] for e in await session.page.evaluate("log.splice(0)") if e["type"] == "keydown"] == ["o", "u", "t"]
