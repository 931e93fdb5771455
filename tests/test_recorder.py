"""The recorder's page: what hands do in it is done in the product, and comes to actions that can be played again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from persons import Person, person_at, trusting
from playwright.async_api import expect

import uigym.record.live
from uigym.harness import Harness
from uigym.record import read_demo
from uigym.record.withhold import WITHHELD
from uigym.registry import load
from uigym.rollout import Request
from uigym.store import RunStore
from uigym.types import Click, Dialog, Drag, Key, MouseDown, MouseUp, Scroll, SwitchTab, Type, Upload, Wait

pytestmark = [pytest.mark.browser, pytest.mark.asyncio]
HANDS: Harness = load(str(Path(__file__).parent / "gyms" / "hands.py"))


async def test_what_hands_do_is_recorded_as_actions_that_count(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    async with person_at(HANDS, [Request("show", 0)], store) as (person, way):
        await person.showing()
        await expect(person.page.locator("#instruction")).to_have_text("Do anything.")
        await pointer(person)
        await keyboard(person)
        await beside(person)
        result = await person.end()
        assert result["counts"], result["reason"]
        await person.page.locator("#next").click()
        tally = await way
        await person.page.get_by_role("heading", name="That was all").wait_for()
    assert (tally.counted, tally.others, tally.skipped) == (1, 0, 0)
    (name,) = store.ids()
    episode, demo = store.episode(name), read_demo(store, name)
    assert demo is not None and demo.proof is not None and demo.proof.counts
    assert (demo.by, demo.way, demo.width, demo.height) == ("ann", "web", 640, 400)
    assert [row["what"] for row in episode.after.tables["did"]] == [
        "twice", "held", "right", "drawn 20,10,180,10,50", "deep", "archive", "chord",
        "save|Größe 3||green|naïve|one\ntwo", "asked false", "told Bo", "file map.txt", "ready",
    ]  # fmt: skip
    assert demo.proof.diverged_at is None  # each picture is the one that a policy would see at that place
    events = (tmp_path / "episodes" / name / "events.jsonl").read_text().splitlines()
    assert {json.loads(line)["kind"] for line in events} >= {"move", "down", "up", "wheel", "keydown", "text"}


async def pointer(person: Person) -> None:
    mouse = person.page.mouse
    await person.click("#twice", click_count=2)
    await person.settled()
    (twice,) = person.acts()
    assert isinstance(twice, Click) and twice.count == 2
    await mouse.move(*await person.at(*await person.of("#held")))
    await mouse.down()
    await person.page.wait_for_timeout(1200)
    await mouse.up()
    await person.settled()
    down, wait, up = person.acts()[1:]
    assert isinstance(down, MouseDown) and isinstance(wait, Wait) and isinstance(up, MouseUp)
    await person.click("#right", button="right")
    box = await person.product.locator("#canvas").bounding_box()
    assert box is not None
    stroke = [(21, 11), (61, 51), (101, 51), (141, 31), (181, 11)]
    await mouse.move(*await person.at(box["x"] + stroke[0][0], box["y"] + stroke[0][1]))
    await mouse.down()
    for x, y in stroke[1:]:
        await mouse.move(*await person.at(box["x"] + x, box["y"] + y), steps=5)
    await mouse.up()
    await person.settled()
    drawn = person.acts()[-1]
    assert isinstance(drawn, Drag) and len(drawn.path) == 4  # a straight stroke needs its ends alone
    await mouse.move(*await person.at(*await person.of("#list")))
    for _ in range(5):
        await mouse.wheel(0, 100)
    await person.settled()
    assert isinstance(scroll := person.acts()[-1], Scroll) and scroll.dy == 500
    await person.click("#deep")
    await person.settled()
    count = len(person.acts())
    await mouse.move(*await person.at(*await person.of("#menu")))
    await person.settled()
    assert len(person.acts()) == count  # perhaps nothing but a way
    await person.click("#archive")
    await person.settled()


async def keyboard(person: Person) -> None:
    keys = person.page.keyboard
    await person.click("#name")
    await keys.type("Grosse")
    for _ in range(4):
        await keys.press("Backspace")
    await keys.insert_text("ö")  # as an input method gives it
    await keys.type("ße 3")
    await keys.press("Control+k")
    await person.settled()
    assert person.acts()[-4:] == [*[Key("Backspace")] * 2, Type("öße 3"), Key("Control+K")]
    await person.click("#colour")
    await person.page.wait_for_function("document.querySelector('#picture').naturalWidth > 0")
    await person.settled()
    assert person.studio.env.session.picker == "list"
    aim = await person.studio.env.session.aim_at_option(1)
    await person.page.mouse.click(*await person.at(aim["x"], aim["y"]))
    await person.settled()
    await person.click("#edit")
    await composed(person, "naïve")
    await person.click("#memo")
    await person.page.evaluate("navigator.clipboard.writeText('one\\ntwo')")
    await keys.press("Control+v")
    await person.settled()
    assert person.acts()[-1] == Type("one\ntwo")
    await person.click("#save")
    await person.settled()


async def composed(person: Person, text: str) -> None:
    """What an input method does: it shows parts before the whole is chosen."""
    channel = await person.page.context.new_cdp_session(person.page)
    for part in (text[:2], text[:4]):
        await channel.send(
            "Input.imeSetComposition", {"text": part, "selectionStart": len(part), "selectionEnd": len(part)}
        )
    await person.settled()
    assert await person.product.locator("#edit").inner_text() == text[:4]  # seen before it is chosen
    await channel.send("Input.insertText", {"text": text})
    await person.settled()
    assert person.acts()[-1] == Type(text)
    await channel.detach()


async def beside(person: Person) -> None:
    await person.click("#ask")
    await expect(person.page.locator("#dialog-text")).to_have_text("Sure?")
    await person.answer(False)
    await person.click("#prompt")
    await person.answer(True, "Bo")
    assert person.acts()[-1] == Dialog(True, "Bo")
    await person.click("#file")
    await person.choose("map.txt")
    assert person.acts()[-1] == Upload("map.txt")
    await person.click("#later")
    await person.product.locator("#ready").wait_for()
    await person.page.wait_for_timeout(900)
    await person.click("#ready")
    await person.settled()
    assert isinstance(person.acts()[-2], Wait)
    await person.click("a")
    await expect(person.page.locator("#tabs button")).to_have_count(2)
    await person.page.locator("#tabs button").nth(0).click()
    await person.settled()
    assert person.acts()[-1] == SwitchTab(0)


async def test_a_password_is_kept_nowhere(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    async with person_at(HANDS, [Request("log_in", 0)], store) as (person, _):
        await person.showing()
        keys = person.page.keyboard
        await person.click("#name")
        await keys.type("ann")
        await keys.press("Tab")
        await keys.type("hunter22")
        await person.settled()
        assert await person.page.locator("#steps li").last.locator("span").inner_text() == "\u2022" * 8
        assert "hunter22" not in await person.page.content()
        for _ in range(8):
            await keys.press("Backspace")
        await keys.type("sesame open")
        await person.click("#save")
        result = await person.end()
        assert result["counts"], result["reason"]
    (name,) = store.ids()
    episode, demo = store.episode(name), read_demo(store, name)
    assert demo is not None
    typed = {n: step.action.text for n, step in enumerate(episode.steps) if isinstance(step.action, Type)}
    assert list(typed.values()) == ["ann", WITHHELD, WITHHELD]
    first, second = list(typed)[1:]
    assert demo.notes["withheld"] == {str(first): "prompt", str(second): "params.password"}
    kept = b"".join(path.read_bytes() for path in sorted(tmp_path.rglob("*.json*")))  # noqa: ASYNC240
    assert b"hunter22" not in kept and kept.count(b"sesame open") == kept.count(b"Log in as") + kept.count(b"save|")


async def test_what_was_done_last_is_taken_back_and_an_attempt_is_dropped(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    wanted = [Request("show", 0), Request("show", 1)]
    async with person_at(HANDS, wanted, store, trusting) as (person, way):
        await person.showing()
        await person.click("#twice", click_count=2)
        await person.click("#right", button="right")
        await person.click("#save")
        await person.settled()
        before = person.acts()
        await person.page.locator("#undo").click()
        await person.phase("undoing")
        await person.showing()
        assert person.acts() == before[:2]
        await expect(person.page.locator("#steps li")).to_have_count(2)
        result = await person.end()
        assert result["counts"]
        assert [row["what"] for row in store.episode(result["id"]).after.tables["did"]] == ["twice", "right"]
        await person.page.locator("#redo").click()
        await person.phase("starting")
        await person.showing()
        assert store.ids() == []
        result = await person.end()
        assert not result["counts"] and "nothing was done" in result["reason"]
        await person.page.locator("#next").click()
        await person.phase("starting")
        await person.showing()
        assert person.studio.state()["seed"] == 1
        await person.page.locator("#discard").click()
        tally = await way
    assert (tally.counted, tally.others, tally.skipped) == (0, 1, 1)
    assert len(store.ids()) == 1


async def test_only_the_page_itself_may_ask(tmp_path: Path) -> None:
    async with person_at(HANDS, [Request("show", 0)], RunStore(tmp_path)) as (person, _):
        await person.showing()
        url, port = person.recorder.url, person.recorder.port
        origin = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(origin + "/")).status_code == 404
            assert (await client.get(f"{origin}/guess/state")).status_code == 404
            assert (await client.get(url, headers={"Host": f"evil.example:{port}"})).status_code == 404
            assert (await client.get(url, headers={"Origin": "http://evil.example"})).status_code == 404
            done = {"name": "done"}
            for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
                assert (await client.post(url + "ask", headers=headers, json=done)).status_code == 404
            mine = {"Origin": origin, "Content-Type": "application/json"}
            plain = {**mine, "Content-Type": "text/plain"}
            assert (await client.post(url + "ask", headers=plain, content=b"{}")).status_code == 404
            for path, body, told in [
                ("input", b"{", "Expecting"),
                ("input", b"[]", "an object with events"),
                ("input", b'{"events": [{"kind": "eval"}]}', "an event whose kind"),
                ("input", b'{"events": [{"kind": "move", "x": NaN}]}', "x must be a number"),
                ("input", b'{"events": [{"kind": "text", "text": 5}]}', "text must be a text"),
                ("input", b'{"events": ' + b"[" * 100_000, ""),
                ("ask", b'{"name": "next"}', "cannot be asked for now"),
                ("ask", b'{"name": "answer", "text": " "}', "needs a text"),
            ]:
                answer = await client.post(url + path, headers=mine, content=body)
                assert answer.status_code == 400 and told in answer.json()["error"], (body[:80], answer.text)
            page = await client.get(url)
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy
            assert page.headers["x-content-type-options"] == "nosniff"
        assert person.acts() == []


async def test_what_is_copied_in_the_product_can_be_pasted_there_and_elsewhere(tmp_path: Path) -> None:
    async with person_at(HANDS, [Request("show", 0)], RunStore(tmp_path), trusting) as (person, _):
        await person.showing()
        keys = person.page.keyboard
        await person.click("#name")
        await keys.type("Bo")
        await keys.press("Control+a")
        await keys.press("Control+c")
        await person.settled()
        async with asyncio.timeout(20):  # it comes from the product's clipboard into the person's
            while await person.page.evaluate("navigator.clipboard.readText()") != "Bo":  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
        await person.click("#memo")
        await keys.press("Control+v")
        await person.did(Key("Control+V"), 20)  # so that a replay copies and pastes, too
        await person.click("#save")
        result = await person.end()
        assert result["counts"], result["reason"]
        (row,) = RunStore(tmp_path).episode(result["id"]).after.tables["did"]
    assert row["what"] == "save|Bo||red||Bo"


async def test_what_a_harness_does_not_grant_is_told_and_nobody_looking_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uigym.record.live, "IDLE_S", 1.5)
    harness = replace(HANDS, grants=())
    harness.task("Do.", max_steps=9)(HANDS.find_task("show").function)
    async with person_at(harness, [Request("show", 0)], RunStore(tmp_path)) as (person, _):
        await person.showing()
        note, live = person.page.locator("#note"), person.studio.live
        await person.click("#ask")
        await expect(note).to_have_text('The page said: "Sure?"')
        await person.click("#file")
        await expect(note).to_contain_text("asked for a file")
        assert await person.page.locator("#dialog, #chooser").evaluate_all("all => all.every(one => one.hidden)")
        assert live is not None and live.cast.running
        await person.page.goto("about:blank")
        while live.cast.running:
            await person.page.wait_for_timeout(50)
        number = live.cast.number
        await person.product.evaluate("document.body.style.background = 'gold'")
        await person.page.wait_for_timeout(300)
        assert live.cast.number == number and len(live.reducer.acts()) == 2
