"""Typing arrives in every kind of field, and what is shown is what the page's own model holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from uigym.browser import Browser, Frame, Session
from uigym.surroundings import Surroundings
from uigym.types import Click, HoldKey, Key, Type

Opener = Callable[..., Awaitable[tuple[Session, Frame]]]
pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
MODEL, RICH, SHORT, MONEY, PHONE, GAME, MAIL, FAST, SHADOW = (
    (30, y) for y in (15, 40, 80, 105, 130, 155, 180, 205, 230)
)
TEXTS = ["hello world", "Grüße, naïve 東京", "😀👩‍👩‍👧 ½", "שלום עולם", "a€b ~`|{}[]<>?", "e\u0301"]


async def events(session: Session, *types: str) -> list[dict[str, Any]]:
    found = await session.page.evaluate("log.splice(0)")
    assert all(event["isTrusted"] for event in found)
    return [event for event in found if event["type"] in types]


async def value(session: Session, name: str) -> str:
    return await session.page.input_value(f"#{name}")


@pytest.mark.parametrize("text", TEXTS)
async def test_an_editor_that_draws_from_its_own_model(opened: Opener, text: str) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*MODEL))
    frame = await session.step(Type(text))
    assert await session.page.evaluate("[text, model.textContent]") == [text, text] and frame.settled
    assert {e["inputType"] for e in await events(session, "beforeinput")} == {"insertText"}
    await session.step(Key("BackSpace"))
    await session.step(Type("!"))
    assert await session.page.evaluate("text === model.textContent && text.endsWith('!')")


async def test_it_takes_newlines_and_words_in_between(opened: Opener) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*MODEL))
    await session.step(Type("one\ntwo"))
    await session.step(Type(" 三"))
    assert await session.page.evaluate("[text, model.textContent]") == ["one\ntwo 三"] * 2


@pytest.mark.parametrize("text", TEXTS)
async def test_contenteditable(opened: Opener, text: str) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*RICH))
    await session.step(Type(text))
    assert await session.page.inner_text("#rich") == text
    await session.step(Key("Enter"))
    await session.step(Type("next"))
    assert (await session.page.inner_text("#rich")).split("\n")[-1] == "next"


async def test_editing_by_chords(opened: Opener) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*RICH))
    await session.step(Type("plain"))
    for chord in ("ctrl+a", "ctrl+b"):
        await session.step(Key(chord))
    assert await session.page.inner_html("#rich") == "<b>plain</b>"
    await session.step(Key("ctrl+z"))
    assert await session.page.inner_html("#rich") == "plain"
    await session.step(Key("ctrl+shift+z"))
    assert await session.page.inner_html("#rich") == "<b>plain</b>"
    await session.step(Key("ctrl+x"))
    await session.step(Click(*MONEY))
    await session.step(Type("7"))
    await session.step(Click(*RICH))
    await session.step(Key("ctrl+v"))
    assert (await session.page.inner_text("#rich")).strip() == "plain"
    assert len(await events(session, "paste")) == 1


async def test_maxlength_holds_for_keys_and_for_what_has_none(opened: Opener) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*SHORT))
    await session.step(Type("abcdefgh"))
    assert await value(session, "short") == "abcde"
    await session.step(Key("ctrl+a"))
    await session.step(Type("東京都千代田区"))
    assert await value(session, "short") == "東京都千代"


async def test_fields_that_reformat_while_one_types(opened: Opener) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*MONEY))
    await session.step(Type("1234567.5"))
    assert await value(session, "money") == "1,234,567.5"
    await session.step(Click(*PHONE))
    await session.step(Type("5551234567"))
    assert await value(session, "phone") == "(555) 123-4567"


async def test_a_game_takes_keys_and_prevents_them(opened: Opener) -> None:
    session, _ = await opened("/editors.html", viewport=(320, 180))
    await session.step(Click(*GAME))
    for action in (Key("Right"), Key("ArrowDown"), Type("dd"), Key("w")):
        await session.step(action)
    assert await session.page.inner_text("#game") == "3,0"
    assert await session.page.evaluate("scrollY") == 0
    await session.step(HoldKey("Right", 0.6))
    downs = await events(session, "keydown")
    assert (
        int((await session.page.inner_text("#game")).split(",")[0])
        == 3 + sum(e["key"] == "ArrowRight" for e in downs) - 1
    )
    assert any(e["repeat"] for e in downs)


async def test_a_form_that_offers_completion_is_filled_as_typed(opened: Opener) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*MAIL))
    await session.step(Type("ada@example.org"))
    assert await value(session, "mail") == "ada@example.org"
    await session.step(Key("Down"))
    assert await value(session, "mail") == "ada@example.org"


async def test_a_field_in_a_shadow_tree(opened: Opener) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*SHADOW))
    await session.step(Type("déjà vu"))
    assert (
        await session.page.evaluate("document.querySelector('x-field').shadowRoot.getElementById('inner').value")
        == "déjà vu"
    )


async def test_what_has_no_key_comes_without_key_events(opened: Opener) -> None:
    session, _ = await opened("/editors.html")
    await session.step(Click(*RICH))
    await events(session)
    await session.step(Type("aé東b"))
    found = await events(session, "keydown", "beforeinput", "input")
    assert [(e["type"], e["key"] or e["data"]) for e in found] == [
        *[("keydown", "a"), ("beforeinput", "a"), ("input", "a")],
        *[("beforeinput", "é東"), ("input", "é東")],
        *[("keydown", "b"), ("beforeinput", "b"), ("input", "b")],
    ]


async def test_the_typing_delay_is_a_setting(browser: Browser, pages: Any) -> None:
    around = Surroundings(typing_delay_s=0.1)
    session = await browser.session(base_url=pages.url, viewport=(320, 256), surroundings=around)
    await session.open("/editors.html")
    await session.step(Click(*FAST))
    frame = await session.step(Type("abçød"))
    assert await value(session, "fast") == "abçød" and frame.spent.input_ms >= 500
    times = await session.page.evaluate("times")
    assert len(times) == 5 and min(late - early for early, late in pairwise(times)) >= 50
    await session.close()


async def test_a_long_text_with_a_delay_is_within_its_limit(browser: Browser, pages: Any) -> None:
    session = await browser.session(
        base_url=pages.url, viewport=(320, 256), surroundings=Surroundings(typing_delay_s=0.02)
    )
    await session.open("/editors.html")
    await session.step(Click(*RICH))
    await session.step(Type("x" * 60), timeout_s=0.9)
    assert await session.page.inner_text("#rich") == "x" * 60
    await session.close()
