"""Native lists and pickers: in the picture, worked by coordinates and keys, with the events that a person causes."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable

import numpy as np
import pytest
from PIL import Image

from uigym.browser import Frame, Session
from uigym.types import Click, Drag, Event, Key, MouseDown, MouseUp, Move, Scroll, Type

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
VIEW = (640, 400)
LETTER, GROUPS, MANY, OFF = Click(50, 20), Click(160, 20), Click(280, 20), Click(360, 20)
DATE, TIME, BOTH, MONTH, WEEK = Click(118, 112), Click(238, 112), Click(426, 112), Click(586, 112), Click(146, 152)
COLOUR, WORDS, FIXED, LIMITED, LOW = Click(200, 152), Click(300, 152), Click(478, 152), Click(598, 152), Click(30, 282)
AWAY = Click(620, 380)
BLUE = (25, 103, 210)
"""What the highlighted row of a list is painted in."""


def picture(frame: Frame) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(frame.png)).convert("RGB")).astype(int)


def painted(frame: Frame, colour: tuple[int, int, int] = BLUE) -> tuple[float, float]:
    """Middle of what is painted in a colour, px of the picture."""
    ys, xs = np.where((picture(frame) == colour).all(axis=2))
    assert len(xs), "nothing has this colour"
    return float(xs.min() + xs.max()) / 2, float(ys.min() + ys.max()) / 2


def said(frame: Frame) -> list[str]:
    assert all(event.kind == "picker" for event in frame.events)
    return [f"{event.type}: {event.text}" for event in frame.events]


async def value(session: Session, name: str) -> str:
    return await session.page.evaluate("id => document.getElementById(id).value", name)


async def log(session: Session) -> str:
    return await session.page.evaluate("take()")


async def clear(session: Session) -> None:
    await log(session)


async def choose(session: Session, index: int) -> Frame:
    """Click an option where it is, turning the wheel as needed."""
    while (found := await session.aim_at_option(index))["kind"] == "scroll":
        await session.step(Scroll(found["x"], found["y"], found["dx"], found["dy"]))
    return await session.step(Click(found["x"], found["y"]))


# --- lists -------------------------------------------------------------------------------------------------


async def test_option_is_chosen_by_a_click_where_it_is_painted(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    frame = await session.step(LETTER)
    assert said(frame) == ['opened: list of 4 options for "Letter"'] and session.picker == "list"
    x, y = painted(frame)
    assert 10 < x < 100 and 34 < y < 60  # Alpha is lit, right under the select
    await clear(session)
    hovered = await session.step(Move(x, y + 48))
    assert painted(hovered) == (x, y + 48) and await log(session) == ""  # the page knows nothing of it
    frame = await session.step(Click(x, y + 48))
    assert said(frame) == ["chosen: Gamma"] and await value(session, "one") == "c"
    assert await log(session) == "input:one change:one" and session.picker == ""
    assert not (picture(frame)[34:130, 12:98] == BLUE).all(axis=2).any()


@pytest.mark.parametrize("opening", ["Alt+ArrowDown", "F4", "space", "Enter"])
async def test_list_opens_and_is_worked_by_keys(opened: Opener, opening: str) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.page.evaluate("document.getElementById('one').focus()")
    assert said(await session.step(Key(opening))) == ['opened: list of 4 options for "Letter"']
    await clear(session)
    frame = await session.step(Key("End"))
    assert frame.events == () and await log(session) == ""
    await session.step(Key("ArrowUp"))
    frame = await session.step(Key("Enter"))
    assert said(frame) == ["chosen: Gamma"] and await log(session) == "input:one change:one"


async def test_escape_a_click_elsewhere_and_a_second_click_close_a_list(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(Click(360, 380))
    closed = await session.step(Move(620, 380))
    for action in (Key("Escape"), AWAY, LETTER, Scroll(620, 380, 0, 100)):
        await session.step(LETTER)
        await session.step(Key("ArrowDown"))
        await clear(session)
        frame = await session.step(action)
        assert said(frame) == ["closed: without a choice"] and session.picker == ""
        events = await log(session)
        assert "input" not in events and "change" not in events and "key" not in events
        assert ("click:page" in events) is (action is AWAY) and ("click:one" in events) is (action is LETTER)
        assert await value(session, "one") == "a"
    await session.step(AWAY)
    assert (await session.step(Move(620, 380))).png == closed.png


async def test_same_option_again_changes_nothing(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(LETTER)
    await clear(session)
    await choose(session, 0)
    assert await log(session) == "" and await value(session, "one") == "a"


async def test_groups_disabled_options_rules_and_markup(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    frame = await session.step(GROUPS)
    assert said(frame) == ["opened: list of 6 options"]
    await clear(session)
    for number in (0, 2, 4):  # disabled by itself, and by its group
        await choose(session, number)
        assert await log(session) == "" and session.picker == "list"
    assert (await session.aim_at_option(5))["kind"] == "absent"  # hidden
    assert said(await choose(session, 3)) == ["chosen: <b>cherry</b>"]
    assert await value(session, "groups") == "<b>cherry</b>"
    await session.step(GROUPS)
    await session.step(Type("la"))
    assert said(await session.step(Key("Enter"))) == ["chosen: last"]


async def test_disabled_and_read_only_controls_open_nothing(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    for click in (OFF, FIXED):
        assert (await session.step(click)).events == () and session.picker == ""


async def test_list_of_200_is_scrolled_by_the_wheel(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    first = await session.step(MANY)
    await clear(session)
    later = await session.step(Scroll(280, 200, 0, 240))
    assert first.png != later.png and await log(session) == ""  # the wheel is the list's
    assert said(await choose(session, 150)) == ["chosen: option 150"]
    assert await value(session, "many") == "150" and await log(session) == "input:many change:many"
    await session.step(MANY)
    await session.step(Key("PageUp"))
    await session.step(Key("Enter"))
    assert 130 < int(await value(session, "many")) < 150


async def test_lists_that_chromium_draws_in_the_page(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(Scroll(440, 40, 0, 100))
    frame = await session.step(Click(440, 30))
    assert frame.events == () and int(await value(session, "size")) > 4
    await session.step(Click(530, 19))
    await session.step(Click(530, 51, modifiers=("Control",)))
    assert await session.page.evaluate("[...multiple.selectedOptions].map(o => o.value)") == ["red", "blue"]


async def test_list_near_the_bottom_opens_upward(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", (640, 310))
    frame = await session.step(LOW)
    _, y = painted(frame)
    assert y < 270
    await choose(session, 2)
    assert await value(session, "low") == "3"


async def test_pressed_and_released_by_separate_actions(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    assert said(await session.step(MouseDown(50, 20))) == ['opened: list of 4 options for "Letter"']
    await session.step(MouseUp(50, 20))
    await session.step(MouseDown(50, 70))
    await session.step(MouseUp(50, 70))
    assert await value(session, "one") == "b"
    await clear(session)
    await session.step(Click(50, 300))
    assert "mousedown:page mouseup:page" in await log(session)


# --- dates, times, colours, suggestions --------------------------------------------------------------------


async def test_day_is_chosen_by_a_click(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    frame = await session.step(DATE)
    assert said(frame) == ["opened: date picker"]
    x, y = painted(frame, (0, 117, 255))  # the tenth
    await clear(session)
    frame = await session.step(Click(x + 28, y + 28))
    assert said(frame) == ["chosen: 2026-03-18"] and await value(session, "date") == "2026-03-18"
    assert await log(session) == "input:date change:date"


@pytest.mark.parametrize("text", ["2026-12-04", "12042026", "12/4/2026"])
async def test_date_is_typed_into_its_picker(opened: Opener, text: str) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(DATE)
    await clear(session)
    await session.step(Type(text))
    await session.step(Key("Enter"))
    assert await value(session, "date") == "2026-12-04" and await log(session) == "input:date change:date"


async def test_date_is_typed_into_its_field_in_the_order_of_the_locale(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(Click(20, 112))
    await session.step(Type("03042026"))
    assert await value(session, "date") == "2026-03-04"


async def test_months_are_turned_and_limits_kept(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    frame = await session.step(LIMITED)
    x, y = painted(frame, (0, 117, 255))
    await clear(session)
    await session.step(Click(x, y + 56))  # the 24th, out of range
    assert session.picker == "date" and await log(session) == ""
    await session.step(Key("PageDown"))
    await session.step(Key("Enter"))
    assert session.picker == "date" and await log(session) == ""
    await session.step(Key("PageUp"))
    await session.step(Key("ArrowDown"))
    await session.step(Key("Enter"))
    assert await value(session, "limited") == "2026-03-17"


async def test_time_is_shown_at_once_and_told_when_the_picker_closes(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    frame = await session.step(TIME)
    await clear(session)
    left = painted(frame, (0, 117, 255))[0] - 60
    await session.step(Click(left, 215))  # two hours on
    assert await value(session, "time") == "11:30" and await log(session) == ""
    assert said(await session.step(AWAY)) == ["chosen: 11:30"]
    events = (await log(session)).split()
    assert events[:2] == ["input:time", "change:time"] and events[-1] == "click:page" and len(events) == 6
    await session.step(TIME)
    await session.step(Key("ArrowUp"))
    assert await value(session, "time") == "10:30"
    await session.step(Key("Escape"))
    assert await value(session, "time") == "11:30"


@pytest.mark.parametrize(
    ("name", "click", "text"),
    [
        ("both", BOTH, "2027-01-02T18:45"),
        ("month", MONTH, "2027-01"),
        ("week", WEEK, "2027-W02"),
        ("time", TIME, "18:45"),
    ],
)
async def test_every_kind_takes_its_value_as_text(opened: Opener, name: str, click: Click, text: str) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(click)
    await clear(session)
    await session.step(Type(text))
    frame = await session.step(Key("Enter"))
    assert said(frame) == [f"chosen: {text}"] and await value(session, name) == text
    assert await log(session) == f"input:{name} change:{name}"


async def test_month_and_week_by_a_click(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    x, y = painted(await session.step(MONTH), (0, 117, 255))
    await session.step(Click(x, y + 34))
    assert await value(session, "month") == "2026-07"
    x, y = painted(await session.step(WEEK), (0, 117, 255))
    await session.step(Click(x, y + 28))
    assert await value(session, "week") == "2026-W12"


async def test_cleared_date_is_empty(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(DATE)
    await clear(session)
    await session.step(Key("Delete"))
    assert await value(session, "date") == "" and await log(session) == "input!:date change!:date"


async def test_colour_by_text_and_by_dragging(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(COLOUR)
    await clear(session)
    await session.step(Type("#ff8800"))
    assert said(await session.step(Key("Enter"))) == ["chosen: #ff8800"]
    assert await value(session, "colour") == "#ff8800" and await log(session) == "input!:colour change!:colour"
    await session.step(COLOUR)
    await session.step(Drag(((300, 200), (280, 220), (172, 166))))
    await session.step(AWAY)
    red, green, blue = bytes.fromhex((await value(session, "colour"))[1:])
    assert min(red, green, blue) > 230  # the white corner


async def test_suggestions_follow_what_is_typed(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    assert said(await session.step(WORDS)) == ["opened: list of 3 suggestions"]
    await clear(session)
    frame = await session.step(Type("ap"))
    assert frame.events == () and session.picker == "suggestions" and "input:words" in await log(session)
    assert (await session.aim_at_option(2))["kind"] == "absent"  # cherry
    frame = await choose(session, 1)
    assert said(frame) == ["chosen: apricot"] and await value(session, "words") == "apricot"
    assert await log(session) == "input:words change:words"
    await session.step(AWAY)
    assert "change" not in await log(session)
    await session.step(WORDS)
    await session.step(Type("zzz"))
    assert session.picker == ""


async def test_enter_without_a_suggestion_is_the_pages(opened: Opener) -> None:
    session, _ = await opened("/pickers.html", VIEW)
    await session.step(WORDS)
    await session.step(Type("c"))
    await clear(session)
    await session.step(Key("Enter"))
    assert "keydown:words=Enter" in await log(session) and await value(session, "words") == "c"
    await session.step(Key("ArrowDown"))
    assert session.picker == "suggestions"
    await session.step(Key("Escape"))
    assert session.picker == "" and await value(session, "words") == "c"


async def test_same_acts_give_the_same_pixels(opened: Opener) -> None:
    runs = []
    for _ in range(2):
        session, frame = await opened("/pickers.html", VIEW)
        frames = [frame]
        for action in (MANY, Scroll(280, 200, 0, 480), Key("Escape"), COLOUR, Type("#12"), Key("Escape"), BOTH, AWAY):
            frames.append(await session.step(action))
        runs.append([frame.png for frame in frames])
        await session.close()
    assert runs[0] == runs[1]


async def test_whole_calendar_fits_a_small_viewport(opened: Opener) -> None:
    session, before = await opened("/pickers.html", (320, 256))
    frame = await session.step(DATE)
    changed = (picture(frame) != picture(before)).any(axis=2)
    rows = np.where(changed.any(axis=1))[0]
    assert rows[-1] <= 255 and frame.events == (Event("picker", "date picker", "opened"),)
    await session.step(Key("ArrowRight"))
    await session.step(Key("Enter"))
    assert await value(session, "date") == "2026-03-11"
