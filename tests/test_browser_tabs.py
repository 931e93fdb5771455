"""Windows that pages open and close: shown, counted, told, however briefly they live."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from trials import act

from uigym.browser import Frame, Session, tabs
from uigym.errors import ActionRefused, ProductError
from uigym.types import NOTHING_OPEN, Click, Event, Key, SwitchTab, Wait

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
ACT = Click(40, 20)
OPENED, CLOSED = Event("tab", "green", "opened"), Event("tab", "green", "closed")


@pytest.mark.parametrize(
    "script",
    [
        "window.open('/green.html')",
        "window.open('/green.html', '', 'popup,width=100,height=80,left=5')",
        "window.open('/green.html', '', 'noopener')",
        "const f = document.createElement('form'); f.action = '/green.html'; f.target = '_blank'; document.body.append(f); f.submit()",
        "window.open('/slow/300').name; setTimeout(() => window.open('/green.html', 'second'), 20)",
    ],
)
async def test_a_window_is_shown_at_the_viewports_size_and_driven(opened: Opener, script: str) -> None:
    session, first = await opened("/trial.html", grants=(SwitchTab,))
    frame = await act(session, script)
    assert OPENED in frame.events and frame.settled and session.url.rstrip("?").endswith("/green.html")
    assert frame.png[16:24] == first.png[16:24]  # width and height
    assert frame.open.tabs[0] == "trial" and frame.open.tabs[frame.open.shown] == "green"
    assert await session.page.evaluate("document.hasFocus()") is True
    back = await session.step(SwitchTab(0))
    assert back.open.shown == 0 and session.url.endswith("/trial.html")


async def test_a_window_that_script_writes_is_shown(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    frame = await act(
        session, "const w = window.open(); w.document.write('<title>bill</title><p>7 EUR'); w.document.close()"
    )
    assert frame.events == (Event("tab", "bill", "opened"),) and await session.page.inner_text("p") == "7 EUR"


@pytest.mark.parametrize("life", ["w.close()", "setTimeout(() => w.close(), 30)", "setTimeout(() => w.close(), 90)"])
async def test_a_window_that_lives_briefly_is_told_and_leaves_its_opener_shown(opened: Opener, life: str) -> None:
    session, _ = await opened("/trial.html")
    frame = await act(session, f"const w = window.open('/green.html'); {life}")
    frames = [frame, await session.step(Wait(0.2))]
    assert [event.type for one in frames for event in one.events] == ["opened", "closed"]
    assert session.url.endswith("/trial.html") and frames[1].open == NOTHING_OPEN
    await session.step(Click(80, 60))
    assert await session.page.evaluate("document.activeElement.id") == "one"


async def test_a_window_that_closes_itself_when_it_is_clicked(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    await act(session, "window.open('/trial.html', 'again')")
    frame = await act(session, "window.close()")
    assert frame.events == (Event("tab", "trial", "closed"),) and frame.settled and frame.open == NOTHING_OPEN
    assert await session.page.evaluate("!!window.opener") is False
    await session.page.evaluate("act = () => say('still here'); 0")
    await session.step(ACT)
    assert await session.page.inner_text("#note") == "still here"


async def test_the_tab_that_was_shown_before_takes_the_place_of_a_closed_one(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(SwitchTab,))
    await act(session, "window.open('/form.html')")
    await session.step(SwitchTab(0))
    await act(session, "self.w = window.open('/green.html')")
    await session.step(SwitchTab(1))
    await session.step(SwitchTab(2))
    frame = await session.step(Key("Tab"))
    assert frame.open.tabs == ("trial", "form", "green")
    await session._tabs.open[0].page.evaluate("w.close()")
    frame = await session.look()
    assert frame.events == (CLOSED,) and frame.open.tabs == ("trial", "form") and frame.open.shown == 1
    assert session.url.endswith("/form.html")


async def test_a_popup_navigates_its_opener_and_is_closed_by_it(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    await act(session, "window.open('/trial.html', 'child')")
    frame = await act(session, "opener.location = '/green.html'")
    while frame.open.tabs == ("trial", "trial"):  # what goes on in a tab that is not shown is not waited for
        frame = await session.look()
    assert session.url.endswith("/trial.html") and frame.open.tabs == ("green", "trial")
    frame = await act(session, "const back = opener; window.close()")
    assert session.url.endswith("/green.html") and frame.events == (Event("tab", "trial", "closed"),)


async def test_a_flood_of_windows_is_bounded(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabs, "MAX_TABS", 4)
    session, _ = await opened("/trial.html")
    frame = await act(session, "for (let i = 0; i < 8; i++) window.open('/green.html')")
    kinds = [event.type for event in frame.events]
    assert kinds.count("opened") == 3 and kinds.count("refused") == 5 and len(frame.open.tabs) == 4
    await session.close()


async def test_a_window_without_a_document_is_told_and_not_shown(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabs, "ARRIVAL_S", 0.3)
    session, _ = await opened("/trial.html")
    frame = await act(session, "window.open('/never')")
    assert [event.type for event in frame.events] == ["coming"] and not frame.settled
    assert session.url.endswith("/trial.html")
    assert (await session.step(Wait(0.0))).settled


async def test_the_last_window_closes_and_the_product_is_to_blame(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    await session.page.evaluate("window.open('', '_self'); 0")
    with pytest.raises(ProductError, match="closed itself"):
        await act(session, "window.close()")
        await session.look()


async def test_only_tabs_that_are_there_can_be_shown(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(SwitchTab,))
    with pytest.raises(ActionRefused, match="1 tabs, counted from 0; no tab 1"):
        await session.step(SwitchTab(1))
