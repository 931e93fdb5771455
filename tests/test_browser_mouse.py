"""A policy's mouse is a person's, as far as the page can tell: clicks, drags, the wheel, what hovering shows."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from PIL import Image

from uigym.browser import Frame, Session
from uigym.browser.mouse import way
from uigym.errors import ActionRefused
from uigym.types import Action, Click, Dialog, Drag, Event, Key, MouseDown, MouseUp, Move, Scroll, SwitchTab, Type, Wait

Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAD, TEXT = (60, 150), (60, 20)
MOUSE = ("mousedown", "mousemove", "mouseup", "click", "dblclick")


async def log(session: Session, *types: str) -> list[dict[str, Any]]:
    """Events since the last call, all of them trusted; Chromium's own one at the corner left out."""
    events = await session.page.evaluate("log.splice(0)")
    assert all(event["isTrusted"] for event in events)
    events = [event for event in events if (event["x"], event["y"]) != (0, 0)]
    return [event for event in events if not types or event["type"] in types]


async def types(session: Session, *wanted: str) -> list[str]:
    return [event["type"] for event in await log(session, *wanted)]


async def text_of(session: Session, selector: str) -> str:
    return (await session.page.inner_text(selector)).strip()


class TestClicks:
    async def test_click(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        assert session.pointer is None
        await session.step(Click(*PAD))
        assert session.pointer == PAD
        events = await log(session, *MOUSE)
        assert [e["type"] for e in events] == ["mousemove", "mousedown", "mouseup", "click"]
        assert [e["buttons"] for e in events] == [0, 1, 0, 0]
        assert {(e["x"], e["y"]) for e in events} == {PAD}

    async def test_pressure_is_that_of_a_mouse(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*PAD))
        events = await log(session, "pointermove", "pointerdown", "pointerup")
        assert [(e["type"], e["pressure"]) for e in events] == [
            ("pointermove", 0),
            ("pointerdown", 0.5),
            ("pointerup", 0),
        ]

    async def test_double_and_triple_click(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*PAD, count=2))
        assert [(e["type"], e["detail"]) for e in await log(session, "click", "dblclick")] == [
            ("click", 1),
            ("click", 2),
            ("dblclick", 2),
        ]
        await session.step(Click(*PAD, count=3))
        assert [e["detail"] for e in await log(session, "click")] == [1, 2, 3]
        await session.step(Click(*TEXT))
        await session.step(Type("one two three"))
        await session.step(Click(20, 20, count=2))
        await session.step(Type("1"))
        assert await session.page.input_value("#text") == "1 two three"
        await session.step(Click(20, 20, count=3))
        await session.step(Type("all"))
        assert await session.page.input_value("#text") == "all"

    async def test_two_actions_are_two_single_clicks_however_quick(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*PAD))
        await session.step(Click(*PAD))
        assert [(e["type"], e["detail"]) for e in await log(session, "click", "dblclick")] == [
            ("click", 1),
            ("click", 1),
        ]

    async def test_buttons(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*PAD, button="right"))
        assert [(e["type"], e["button"]) for e in await log(session, "mousedown", "contextmenu", "click")] == [
            ("mousedown", 2),
            ("contextmenu", 2),
        ]
        await session.step(Click(*PAD, button="middle"))
        assert [(e["type"], e["button"]) for e in await log(session, "mousedown", "auxclick")] == [
            ("mousedown", 1),
            ("auxclick", 1),
        ]

    async def test_the_middle_button_pastes_nothing(self, opened: Opener) -> None:
        """On Linux it pastes what was last selected: here, or in another session of the same browser."""
        session, _ = await opened("/input.html")
        await session.step(Click(*TEXT))
        await session.step(Type("secret"))
        await session.step(Click(*TEXT, count=3))
        other, _ = await opened("/input.html")
        for at in (session, other):
            await at.step(Click(60, 70, button="middle"))
            assert await at.page.input_value("#area") == ""
            assert [e["on"] for e in await log(at, "auxclick")] == ["area"]

    async def test_a_context_menu_of_the_page_is_seen_and_clicked(self, opened: Opener) -> None:
        session, before = await opened("/hover.html")
        menu = await session.step(Click(30, 140, button="right"))
        assert colours(menu, (86, 157)) == [(0, 0, 255)] and menu.png != before.png
        await session.step(Click(40, 150))
        assert await text_of(session, "#own") == "deleted"

    @pytest.mark.parametrize(
        "click",
        [
            Click(120, 98, button="middle"),
            Click(120, 98, modifiers=("Control",)),
            Click(120, 98, modifiers=("Shift",)),
            Click(120, 98, modifiers=("Control", "Shift")),
        ],
    )
    async def test_what_opens_a_link_elsewhere_opens_a_tab(self, opened: Opener, click: Click) -> None:
        session, _ = await opened("/hover.html", grants=(SwitchTab,))
        frame = await session.step(click)
        assert [event.kind for event in frame.events] == ["tab"] and session.url.endswith("/form.html?n=9")
        await session.step(SwitchTab(0))
        assert session.url.endswith("/hover.html")

    async def test_modifiers_are_held_and_released(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Click(*PAD, modifiers=("Control", "Shift")))
        events = await log(session, "keydown", "click", "keyup")
        assert [(e["type"], e["key"], e["held"]) for e in events] == [
            ("keydown", "Control", "Control"),
            ("keydown", "Shift", "Control+Shift"),
            ("click", None, "Control+Shift"),
            ("keyup", "Shift", "Control"),
            ("keyup", "Control", ""),
        ]
        await session.step(Click(*PAD))
        assert [e["held"] for e in await log(session, "click")] == [""]

    @pytest.mark.parametrize(
        "action", [Click(*PAD, modifiers=("Control",)), Drag((PAD, (90, 180)), modifiers=("Control",))]
    )
    @pytest.mark.parametrize("granted", [(), (Dialog,)])
    async def test_modifiers_are_released_when_a_dialog_comes_between(
        self, opened: Opener, action: Action, granted: tuple[type, ...]
    ) -> None:
        session, _ = await opened("/input.html", grants=granted)
        await session.page.evaluate("pad.addEventListener('mousedown', () => alert('stop'), {once: true})")
        frame = await session.step(action)
        assert [event.text for event in frame.events] == ["stop"]
        if granted:
            await session.step(Dialog(True))
        assert [(e["type"], e["held"]) for e in await log(session, "mouseup", "keyup")] == [
            ("mouseup", "Control"),
            ("keyup", ""),
        ]
        await session.step(Click(*PAD))
        assert {e["held"] for e in await log(session, *MOUSE)} == {""}

    async def test_modifiers_are_released_when_the_page_goes_away(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.page.evaluate("pad.addEventListener('mousedown', () => (location.href = '/drag.html'))")
        await session.step(Click(*PAD, modifiers=("Shift", "Alt")))
        assert session.url.endswith("/drag.html")
        await log(session)
        await session.step(Click(40, 25))
        assert {e["held"] for e in await log(session, *MOUSE)} == {""}

    @pytest.mark.parametrize("handler", ["onmousedown", "onclick"])
    async def test_a_window_may_close_under_the_pointer(self, opened: Opener, handler: str) -> None:
        session, _ = await opened("/input.html")
        await session.page.evaluate(
            f"window.open('about:blank').document.write('<body style=margin:0><button {handler}=window.close() style=\"width:99px;height:50px\">close')"
        )
        await session.step(Wait(0.05))
        frame = await session.step(Click(20, 20))
        assert [event.kind for event in frame.events] == ["tab"] and session.url.endswith("/input.html")


class TestButtonsThatStayDown:
    async def test_down_move_up(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(MouseDown(20, 120))
        await session.step(Move(90, 180))
        await session.step(MouseUp(100, 190))
        assert [(e["type"], e["buttons"], e["x"]) for e in await log(session, *MOUSE)] == [
            ("mousemove", 0, 20),
            ("mousedown", 1, 20),
            ("mousemove", 1, 90),
            ("mousemove", 1, 100),
            ("mouseup", 0, 100),
            ("click", 0, 100),
        ]
        assert session.pointer == (100, 190)

    async def test_nonsense_is_refused(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        with pytest.raises(ActionRefused, match="mouseup: the left button is not down"):
            await session.step(MouseUp(*PAD))
        await session.step(MouseDown(*PAD))
        await log(session)
        for action in (MouseDown(*PAD), Click(*PAD), Drag((PAD, (80, 180)))):
            with pytest.raises(ActionRefused, match="the left button is down; release it"):
                await session.step(action)
        with pytest.raises(ActionRefused, match="the right button is not down"):
            await session.step(MouseUp(*PAD, button="right"))
        assert await log(session) == []
        await session.step(Click(*PAD, button="right"))  # a hand has two fingers
        assert [e["buttons"] for e in await log(session, "mousedown", "mouseup")] == [3, 1]
        await session.step(MouseUp(*PAD))
        with pytest.raises(ActionRefused):
            await session.step(MouseUp(*PAD))

    async def test_a_button_stays_down_while_other_things_happen(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(MouseDown(*PAD))
        await session.step(Key("Shift"))
        await session.step(Scroll(250, 40, dy=50))
        assert await session.page.evaluate("tall.scrollTop") == 50
        await session.page.evaluate("location.href = '/drag.html'")
        await session.step(Wait(0))
        await log(session)
        await session.step(Move(40, 60))
        await session.step(MouseUp(40, 60))
        assert [(e["type"], e["buttons"]) for e in await log(session, "mousemove", "mouseup")] == [
            ("mousemove", 1),
            ("mouseup", 0),
        ]

    async def test_the_next_episode_knows_nothing_of_it(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(MouseDown(*PAD))
        other, _ = await opened("/input.html")
        await other.step(Move(*PAD))
        assert [e["buttons"] for e in await log(other, "mousemove")] == [0]


class TestDrags:
    async def test_drag(self, opened: Opener) -> None:
        session, _ = await opened("/input.html")
        await session.step(Drag(((20, 120), (60, 160), (110, 200)), modifiers=("Alt",)))
        events = await log(session, "mousedown", "mousemove", "mouseup")
        assert [e["type"] for e in events] == ["mousemove", "mousedown", *["mousemove"] * 8, "mouseup"]
        assert {e["held"] for e in events} == {"Alt"} and {e["buttons"] for e in events[1:-1]} == {1}
        await session.step(Click(*PAD))
        assert {e["held"] for e in await log(session, "click")} == {""}

    async def test_a_hand_passes_between_far_points(self) -> None:
        assert list(way(((0, 0), (40, 0)))) == [(10, 0), (20, 0), (30, 0), (40, 0)]
        assert len(list(way(((0, 0), (3, 0))))) == 4  # a page that waits for a threshold sees more than one movement
        fine = tuple((float(x), 0.0) for x in range(0, 50, 5))
        assert tuple(way(fine)) == fine[1:]

    async def test_a_list_that_follows_the_pointer(self, opened: Opener) -> None:
        session, _ = await opened("/drag.html")
        await session.step(Drag(((30, 18), (30, 95))))
        assert (await text_of(session, "#sorted")).split() == ["two", "three", "four", "one"]
        await session.step(MouseDown(30, 18))
        await session.step(Move(30, 30))
        await session.step(MouseUp(30, 60))
        assert (await text_of(session, "#sorted")).split() == ["three", "two", "four", "one"]

    async def test_drag_and_drop(self, opened: Opener) -> None:
        session, _ = await opened("/drag.html")
        await session.step(Drag(((130, 18), (130, 56))))
        assert (await text_of(session, "#native")).split() == ["two", "three", "one"]
        seen = await types(session)
        assert seen.index("dragstart") < seen.index("dragenter") < seen.index("dragover") < seen.index("drop")
        assert seen[-2:] == ["drop", "dragend"] and "mouseup" not in seen and "click" not in seen
        await session.step(Click(130, 18))
        assert [e["buttons"] for e in await log(session, "mousemove", "click")] == [0, 0]

    async def test_drag_and_drop_over_several_steps(self, opened: Opener) -> None:
        session, _ = await opened("/drag.html")
        await session.step(MouseDown(130, 18))
        await session.step(Move(150, 25))
        frame = await session.step(Move(250, 40))
        assert frame.settled and [e["on"] for e in await log(session, "dragenter")][-1] == "zone"
        await session.step(MouseUp(250, 45))
        assert await text_of(session, "#zone") == "one"
        ended = (await log(session, "dragend"))[-1]
        assert ended["effect"] == "copy"

    async def test_escape_ends_a_drag_without_a_drop(self, opened: Opener) -> None:
        session, _ = await opened("/drag.html")
        await session.step(MouseDown(130, 18))
        await session.step(Move(240, 40))
        await session.step(Key("Escape"))
        events = await log(session, "dragleave", "dragend", "drop", "keydown")
        assert [e["type"] for e in events] == ["dragleave", "dragend"] and events[-1]["effect"] == "none"
        await session.step(MouseUp(250, 40))
        assert await text_of(session, "#zone") == "zone"
        await session.step(Key("Escape"))
        assert await types(session, "keydown") == ["keydown"]

    async def test_a_drop_where_nothing_takes_it(self, opened: Opener) -> None:
        session, _ = await opened("/drag.html")
        await session.step(Drag(((130, 18), (240, 95))))
        events = await log(session, "drop", "dragend")
        assert [(e["type"], e["effect"]) for e in events] == [("dragend", "none")]
        assert await text_of(session, "#shut") == "shut"

    @pytest.mark.parametrize("start", [(30, 127), (158, 158)], ids=["link", "picture"])
    async def test_links_and_pictures_can_be_dragged(self, opened: Opener, start: tuple[int, int]) -> None:
        session, _ = await opened("/drag.html")
        await session.step(Drag((start, (250, 40))))
        dropped = await text_of(session, "#zone")
        assert dropped.endswith("/green.html" if start[0] == 30 else "/slow.svg")
        assert session.url.endswith("/drag.html")

    async def test_a_selection_is_made_by_dragging_and_dragged_itself(self, opened: Opener) -> None:
        session, _ = await opened("/drag.html")
        end = await session.page.evaluate("document.getElementById('words').getBoundingClientRect().right")
        await session.step(Drag(((100, 127), (end - 0.5, 127))))
        assert await session.page.evaluate("String(getSelection())") == "some words"
        await session.step(Drag(((120, 127), (250, 40))))
        assert await text_of(session, "#zone") == "some words"
        await session.step(Click(150, 127, count=2))
        await session.step(Drag(((150, 127), (60, 190))))
        assert await session.page.input_value("#field") == "words"

    async def test_a_drop_into_another_frame(self, opened: Opener) -> None:
        session, _ = await opened("/drag.html")
        await session.step(Drag(((130, 18), (240, 170), (250, 180))))
        frame = session.page.frames[1]
        assert (await frame.inner_text("body")).strip() == "one"

    async def test_sliders(self, opened: Opener) -> None:
        session, _ = await opened("/drag.html")
        await session.step(Drag(((18, 158), (70, 158))))
        assert 40 <= int(await session.page.input_value("#range")) <= 60
        assert "input" in await types(session) and await session.page.evaluate("log.length") == 0
        await session.step(Drag(((70, 158), (129, 158))))
        assert await session.page.input_value("#range") == "100"

    @pytest.mark.parametrize("zoom", [1, 1.5])
    async def test_drawing_keeps_every_point_in_order(self, opened: Opener, zoom: float) -> None:
        session, _ = await opened(f"/draw.html?zoom={zoom}")
        path = tuple((40.0 + 10 * n, 60.0 + 4 * (n % 3)) for n in range(12))
        frame = await session.step(Drag(path))
        assert [tuple(point) for point in await session.page.evaluate("points")] == list(path)
        drawn = colours(frame, *((round(x), round(y)) for x, y in path))
        assert all(red > 190 and green < 90 for red, green, _ in drawn)
        await session.page.evaluate("points.length = 0")
        for action in (MouseDown(50, 100), Move(52, 110), Move(58, 112), MouseUp(58, 112)):
            await session.step(action)
        assert await session.page.evaluate("points") == [[50, 100], [52, 110], [58, 112]]

    async def test_a_long_path_takes_its_time(self, opened: Opener) -> None:
        session, _ = await opened("/draw.html")
        path = tuple((20.0 + (n * 3) % 150, 20.0 + n / 2) for n in range(120))
        await session.step(Drag(path), timeout_s=1.0)
        assert await session.page.evaluate("points.length") >= len(path)


class TestWheel:
    async def test_scroll(self, opened: Opener) -> None:
        session, before = await opened("/input.html")
        after = await session.step(Scroll(250, 40, dx=30, dy=120))
        scrolled = await session.page.evaluate("(({scrollLeft, scrollTop}) => [scrollLeft, scrollTop])(tall)")
        assert scrolled == [30, 120] and after.png != before.png
        await session.step(Scroll(250, 40, dy=-500))
        assert await session.page.evaluate("tall.scrollTop") == 0

    async def test_a_page_whose_content_is_in_one_scroller(self, opened: Opener) -> None:
        session, before = await opened("/scrollers.html")
        after = await session.step(Scroll(280, 200, dy=300))
        assert (await session.page.evaluate("places()"))["main"] == 300 and after.png != before.png
        assert await session.page.evaluate("scrollY") == 0

    async def test_the_inner_scroller_first_then_what_is_around_it(self, opened: Opener) -> None:
        session, _ = await opened("/scrollers.html")
        found = []
        for _ in range(3):
            await session.step(Scroll(50, 50, dy=60))
            found.append(await session.page.evaluate("[places().list, places().main]"))
        assert found == [[60, 0], [100, 0], [100, 60]]

    async def test_a_scroller_that_keeps_the_wheel(self, opened: Opener) -> None:
        session, _ = await opened("/scrollers.html")
        for _ in range(3):
            await session.step(Scroll(50, 150, dy=90))
        assert await session.page.evaluate("[places().kept, places().main]") == [100, 0]

    async def test_sideways(self, opened: Opener) -> None:
        session, _ = await opened("/scrollers.html")
        await session.step(Scroll(150, 40, dx=70))
        assert (await session.page.evaluate("places()"))["wide"] == 70
        await session.step(Scroll(150, 40, dy=50, modifiers=("Shift",)))
        assert (await session.page.evaluate("places()"))["wide"] == 120
        assert [(e["held"], e["deltaX"], e["deltaY"]) for e in await log(session, "wheel")][1:] == [("Shift", 50, 0)]
        assert [e["key"] for e in await log(session, "keyup")] == []

    async def test_over_a_frame(self, opened: Opener) -> None:
        session, _ = await opened("/scrollers.html")
        await session.step(Scroll(150, 110, dy=80))
        assert await session.page.frames[1].evaluate("scrollY") == 80
        assert (await session.page.evaluate("places()"))["main"] == 0

    async def test_over_and_beside_a_modal(self, opened: Opener) -> None:
        session, _ = await opened("/scrollers.html")
        await session.page.evaluate("openModal()")
        await session.step(Scroll(260, 60, dy=120))
        assert await session.page.evaluate("[document.querySelector('#modal div').scrollTop, places().main]") == [
            120,
            0,
        ]
        await session.step(Scroll(50, 50, dy=60))  # the veil has nothing to scroll; the list beneath it must not move
        assert await session.page.evaluate("places().list") == 0

    async def test_with_control_the_page_is_told_and_keeps_its_size(self, opened: Opener) -> None:
        session, _ = await opened("/scrollers.html")
        await session.step(Scroll(280, 200, dy=-120, modifiers=("Control",)))
        assert [e["held"] for e in await log(session, "wheel")] == ["Control"]
        assert await session.page.evaluate("[devicePixelRatio, innerWidth, visualViewport.scale]") == [1, 320, 1]


class TestHovering:
    async def test_a_menu_stays_open_for_the_next_step(self, opened: Opener) -> None:
        session, before = await opened("/hover.html")
        open_menu = await session.step(Move(30, 20))
        assert open_menu.png != before.png and colours(open_menu, (60, 65)) == [(0, 128, 0)]
        await session.step(Click(60, 60))
        assert [(e["on"], e["type"]) for e in await log(session, "click")] == [("second", "click")]

    async def test_the_way_to_a_menus_item_may_be_taken_in_steps(self, opened: Opener) -> None:
        session, _ = await opened("/hover.html")
        for point in ((30, 20), (40, 38), (60, 62)):
            frame = await session.step(Move(*point))
            assert colours(frame, (80, 66)) == [(0, 128, 0)]
        frame = await session.step(Move(200, 200))
        assert colours(frame, (80, 66)) != [(0, 128, 0)]

    @pytest.mark.parametrize(
        ("point", "text"),
        [
            ((120, 20), "Saves the <order>\nnow"),
            ((120, 50), ""),
            ((210, 20), "a drawing"),
            ((210, 70), "in a frame"),
            ((210, 120), "in a shadow"),
            ((300, 240), ""),
        ],
    )
    async def test_tooltips_are_told(self, opened: Opener, point: tuple[int, int], text: str) -> None:
        session, _ = await opened("/hover.html")
        frame = await session.step(Move(*point))
        assert frame.events == ((Event("tooltip", text),) if text else ())
        assert (await session.step(Click(*point))).events == ()

    async def test_tooltips_are_told_of_pages_in_quirks_mode(self, opened: Opener) -> None:
        session, _ = await opened("/quirks.html")
        assert (await session.step(Move(40, 15))).events == (Event("tooltip", "a tip"),)

    async def test_what_a_form_complains_of_is_in_the_picture_at_once(self, opened: Opener) -> None:
        """The bubble fades in, and no animation of the page tells."""
        session, _ = await opened("/quirks.html")
        frame = await session.step(Click(255, 70))
        ((red, _, blue),) = colours(frame, (32, 104))
        assert frame.settled and red > 200 and blue < 60  # its sign is orange


def colours(frame: Frame, *points: tuple[int, int]) -> list[tuple[int, ...]]:
    image = Image.open(io.BytesIO(frame.png)).convert("RGB")
    return [image.getpixel(point) for point in points]  # type: ignore[misc]
