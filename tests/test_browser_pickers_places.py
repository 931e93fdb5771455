"""Native lists and pickers in hard places: frames, shadow roots, dialogs, zoom, scale, and pages that change meanwhile."""

from __future__ import annotations

import datetime

import pytest

from uigym.browser import Browser
from uigym.surroundings import Surroundings
from uigym.types import Click, Dialog, Key, Scroll, Type

from .conftest import PageServer
from .test_browser_pickers import BLUE, DATE, LETTER, VIEW, Opener, choose, clear, log, painted, picture, said, value

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.parametrize(
    ("name", "click"), [("plain", (50, 20)), ("open", (230, 20)), ("closed", (330, 20)), ("replaced", (150, 20))]
)
async def test_shadow_roots_policies_and_replacing_handlers(opened: Opener, name: str, click: tuple[int, int]) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    await session.page.evaluate("seen.splice(0)")
    for index, word in ((2, "three"), (1, "two")):
        assert said(await session.step(Click(*click))) == ["opened: list of 3 options"]
        if name != "replaced":
            assert await session.page.evaluate("seen.splice(0)") == []  # nothing of it is in the page
        assert said(await choose(session, index)) == [f"chosen: {word}"]
        found = await session.page.evaluate("id => (ids(id).list || ids(id)).value", name)
        assert found == word
        if name != "replaced":
            assert await log(session) == f"{name}:input={word} {name}:change={word}"


@pytest.mark.parametrize(("frame_id", "left"), [("near", 10), ("far", 160)])
async def test_frames_of_the_same_and_of_another_site(opened: Opener, frame_id: str, left: int) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    inner = await (await session.page.query_selector(f"#{frame_id}")).content_frame()
    await session.step(Click(left + 30, 56))
    first = await session.aim_at_option(0)
    assert left < first["x"] < left + 80 and first["y"] > 70  # drawn beyond the frame's edge
    await inner.evaluate("take()")
    await choose(session, 2)
    assert await inner.evaluate("[list.value, take()]") == ["three", "input=three change=three"]
    await session.step(Click(left + 122, 56))
    assert session.picker == "time"
    await inner.evaluate("take()")
    await session.step(Type("08:05"))
    await session.step(Key("Enter"))
    assert await inner.evaluate("[hour.value, take()]") == ["08:05", "input=08:05 change=08:05"]


async def test_zoomed_scrolled_and_turned_pages(opened: Opener) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    await session.page.evaluate("document.body.className = 'zoomed turned'; scrollTo(0, 700)")
    await session.look()
    await clear(session)
    frame = await session.step(Click(50, 210))
    assert said(frame) == ["opened: list of 3 options"]
    x, y = painted(frame)
    assert 15 < x < 150 and y > 220
    await choose(session, 1)
    assert await value(session, "deep") == "two"
    await session.step(Click(50, 210))
    frame = await session.step(Scroll(500, 200, 0, 100))
    assert said(frame) == ["closed: without a choice"]


async def test_modal_dialog(opened: Opener) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    await session.page.evaluate("ids('modal').showModal()")
    box = await session.page.locator("#inside").bounding_box()
    assert box is not None
    await session.step(Click(box["x"] + 10, box["y"] + 10))
    await choose(session, 1)
    assert await value(session, "inside") == "two" and await session.page.evaluate("ids('modal').open")


async def test_picker_that_a_script_shows(opened: Opener) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    assert said(await session.step(Click(340, 52))) == ["opened: date picker"]
    await session.step(Key("ArrowRight"))
    await session.step(Key("Enter"))
    assert await value(session, "date") == "2026-03-11"
    assert await log(session) == "date:input=2026-03-11 date:change=2026-03-11"


@pytest.mark.parametrize(
    "change", ["ids('plain').remove()", "ids('plain').disabled = true", "location.href = '/green.html'"]
)
async def test_control_that_goes_away_takes_its_picker_along(opened: Opener, change: str) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    await session.step(Click(50, 20))
    await session.page.evaluate(f"setTimeout(() => {{ {change} }})")
    frame = await session.look()
    assert said(frame) == ["closed: without a choice"] and session.picker == ""
    assert not (picture(frame) == BLUE).all(axis=2).any()
    assert (await session.step(Click(50, 50))).settled


async def test_options_that_change_while_the_list_is_open(opened: Opener) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    await session.step(Click(50, 20))
    await session.page.evaluate("ids('plain').replaceChildren(new Option('four'), new Option('five'))")
    await session.look()
    await choose(session, 1)
    assert await value(session, "plain") == "five" and await log(session) == "plain:input=five plain:change=five"


async def test_handler_that_opens_a_dialog(opened: Opener) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW, grants=(Dialog,))
    await session.page.evaluate("ids('plain').addEventListener('change', () => alert('changed'))")
    await session.step(Click(50, 20))
    frame = await choose(session, 1)
    assert [event.kind for event in frame.events] == ["dialog"]
    frame = await session.step(Dialog(True))
    assert said(frame) == ["chosen: two"] and await value(session, "plain") == "two"
    assert await log(session) == "plain:input=two plain:change=two"


async def test_lists_in_a_window_that_a_page_has_opened(opened: Opener) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    await session.step(Click(50, 20))
    await session.page.evaluate("window.open('/pickers.html')")
    frame = await session.look()
    assert "closed" in [event.type for event in frame.events if event.kind == "picker"]
    assert said(await session.step(LETTER)) == ['opened: list of 4 options for "Letter"']
    await choose(session, 3)
    assert await value(session, "one") == "d"


async def test_list_that_a_page_draws_itself_is_left_to_it(opened: Opener) -> None:
    session, _ = await opened("/pickers_hard.html", VIEW)
    await session.page.add_style_tag(content="#plain, #plain::picker(select) { appearance: base-select }")
    frame = await session.step(Click(50, 20))
    assert frame.events == () and await session.page.evaluate("ids('plain').matches(':open')")


async def test_scale_clock_and_locale(browser: Browser, pages: PageServer) -> None:
    clock = datetime.datetime(2031, 5, 6, 12, 0, tzinfo=datetime.UTC)
    surroundings = Surroundings(scale=2.0, clock=clock, locale="de-DE")
    session = await browser.session(base_url=pages.url, viewport=VIEW, surroundings=surroundings)
    try:
        await session.open("/pickers.html")
        frame = await session.step(LETTER)
        x, y = painted(frame)
        density = picture(frame).shape[1] / VIEW[0]
        await session.step(Click(x / density, y / density + 24))
        assert await value(session, "one") == "b"
        await session.page.evaluate("document.getElementById('date').value = ''")
        await session.step(DATE)
        await session.step(Key("Enter"))
        assert await value(session, "date") == "2031-05-06"
        await session.step(DATE)
        await session.step(Type("24.12.2031"))
        await session.step(Key("Enter"))
        assert await value(session, "date") == "2031-12-24"
    finally:
        await session.close()
