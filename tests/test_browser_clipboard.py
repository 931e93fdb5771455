"""Copy and paste work within an episode, and nothing that one session copies reaches another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from trials import act

from uigym.browser import Browser, Frame, Session
from uigym.surroundings import Surroundings
from uigym.types import Click, Drag, Event, Key, SwitchTab, Type

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
ACT, ONE, TWO, RICH = (Click(60, y) for y in (20, 60, 100, 140))


async def do(session: Session, *acts: Click | Key | Type | Drag) -> None:
    for one in acts:
        await session.step(one)


async def value(session: Session, selector: str = "#two") -> Any:
    return await session.page.input_value(selector)


async def note(session: Session) -> str:
    return await session.page.inner_text("#note")


@pytest.mark.parametrize(
    ("copy", "paste"), [("Control+C", "Control+V"), ("ctrl+x", "shift+Insert"), ("Control+Insert", "Control+Shift+V")]
)
async def test_what_is_copied_is_pasted_by_trusted_events(opened: Opener, copy: str, paste: str) -> None:
    session, _ = await opened("/trial.html")
    await do(session, ONE, Type("two\nlines €"), Key("Control+A"), Key(copy), TWO, Key(paste), Key(paste))
    assert await value(session) == "two\nlines €" * 2
    assert await value(session, "#one") == ("" if "x" in copy else "two\nlines €")
    log = await session.page.evaluate("log.filter(e => ['copy', 'cut', 'paste'].includes(e.type))")
    assert [e["type"] for e in log] == ["cut" if "x" in copy else "copy", "paste", "paste"]
    assert all(e["trusted"] for e in log)
    assert session._beside.clipboard.content == {"text/plain": "two\nlines €"}


async def test_an_empty_clipboard_pastes_nothing(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    await do(session, TWO, Key("Control+V"))
    assert await value(session) == ""


async def test_formatting_comes_with_the_text(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    await session.page.evaluate("rich.innerHTML = 'a <b>bold</b> <a href=\"/x\">link</a>'; rich.style.height = '30px'")
    await do(session, RICH, Key("Control+A"), Key("Control+C"), TWO, Key("Control+V"))
    assert await value(session) == "a bold link"
    await session.page.evaluate("rich.innerHTML = ''")
    await do(session, RICH, Key("Control+V"))
    assert await session.page.evaluate("[!!rich.querySelector('b'), rich.querySelector('a')?.getAttribute('href'), rich.innerText]") == [True, "/x", "a bold link"]  # fmt: skip


@pytest.mark.parametrize("stop", ["", "event.stopPropagation();", "event.stopImmediatePropagation();"])
async def test_what_a_page_puts_into_its_copies_is_what_is_pasted(opened: Opener, stop: str) -> None:
    session, _ = await opened("/trial.html")
    put = (
        "event.clipboardData.setData('text/plain', 'cell'); event.clipboardData.setData('text/html', '<table></table>')"
    )
    await session.page.evaluate(f"one.addEventListener('copy', (event) => {{ {stop} {put}; event.preventDefault() }})")
    await session.page.evaluate("two.addEventListener('paste', (e) => say(e.clipboardData.getData('text/html')))")
    await do(session, ONE, Type("x"), Key("Control+A"), Key("Control+C"), TWO, Key("Control+V"))
    assert await value(session) == "cell" and await note(session) == "<table></table>"


async def test_a_page_that_copies_by_script(opened: Opener) -> None:
    session, _ = await opened("/trial.html")
    await act(session, "one.value = 'by command'; one.select(); say(document.execCommand('copy'))")
    await do(session, TWO, Key("Control+V"))
    assert await note(session) == "true" and await value(session) == "by command"
    await act(session, "navigator.clipboard.writeText('by promise').then(() => say('written'))")
    await do(session, TWO, Key("Control+A"), Key("Control+V"))
    assert await note(session) == "written" and await value(session) == "by promise"
    html = "new Blob(['<i>7</i>'], {type: 'text/html'}), 'text/plain': new Blob(['7'], {type: 'text/plain'})"
    await act(
        session, f"navigator.clipboard.write([new ClipboardItem({{'text/html': {html}}})]).then(() => say('item'))"
    )
    await do(session, RICH, Key("Control+V"))
    assert await note(session) == "item" and await session.page.inner_html("#rich") == "<i>7</i>"
    await session.page.evaluate("navigator.clipboard.writeText('unasked').catch((error) => say(error.name))")


async def test_reading_by_script_is_a_permission(browser: Browser, pages: Any) -> None:
    for granted, said, decided in (((), "NotAllowedError", "denied"), (("clipboard-read",), "copied", "granted")):
        session = await browser.session(
            base_url=pages.url, viewport=(320, 256), surroundings=Surroundings(permissions=granted)
        )
        await session.open("/trial.html")
        await do(session, ONE, Type("copied"), Key("Control+A"), Key("Control+C"))
        frame = await act(session, "navigator.clipboard.readText().then(say, (error) => say(error.name))")
        assert await note(session) == said and frame.settled
        assert frame.events == (Event("permission", f"clipboard-read: {decided}", decided),)
        await session.close()


async def test_the_next_episode_cannot_paste_what_the_last_one_copied(opened: Opener) -> None:
    first, _ = await opened("/trial.html")
    await do(first, ONE, Type("secret"), Key("Control+A"), Key("Control+C"))
    await first.close()
    second, _ = await opened("/trial.html")
    await do(second, TWO, Key("Control+V"), Click(60, 100, button="middle"))
    assert await value(second) == ""


async def test_sessions_that_copy_and_paste_at_the_same_time(opened: Opener) -> None:
    sessions = [(await opened("/trial.html"))[0] for _ in range(4)]

    async def work(number: int, session: Session) -> str:
        await do(session, ONE, Type(f"<{number}>"), Key("Control+A"), Key("Control+C"), TWO)
        for _ in range(5):
            await do(session, Key("Control+V"))
        return str(await value(session))

    pasted = await asyncio.gather(*(work(number, session) for number, session in enumerate(sessions)))
    assert pasted == [f"<{number}>" * 5 for number in range(4)]


async def test_the_middle_button_does_not_paste_another_sessions_selection(opened: Opener) -> None:
    one, _ = await opened("/trial.html")
    other, _ = await opened("/trial.html")
    await do(one, ONE, Type("secret"), Click(30, 57, count=2))
    await do(other, TWO, Click(60, 100, button="middle"))
    assert await value(other) == ""
    log = await other.page.evaluate("log.filter(e => e.type === 'paste')")
    assert log == []


async def test_copying_in_one_tab_and_frame_and_pasting_in_another(opened: Opener) -> None:
    session, _ = await opened("/trial.html", grants=(SwitchTab,))
    await session.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<iframe src=/trial.html style=\"position:absolute;left:160px;top:0;width:150px;height:200px;border:0\">')")  # fmt: skip
    await session.look()
    await do(session, Click(190, 60), Type("framed"), Key("Control+A"), Key("Control+C"), TWO, Key("Control+V"))
    assert await value(session) == "framed"
    await do(session, Click(190, 100), Key("Control+V"))
    assert await session.page.frame_locator("iframe").locator("#two").input_value() == "framed"
    await act(session, "window.open('/trial.html')")
    await do(session, TWO, Key("Control+V"))
    assert await value(session) == "framed"
