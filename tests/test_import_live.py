"""Steps of recordings, done by mouse and keyboard in a page with a field of every kind."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.forms import forms, told
from uigym.browser import Browser
from uigym.env import Env, Limits
from uigym.exchange.importing import READERS, Imported, Plan, Recording, follow, locate
from uigym.exchange.importing.asked import Asked, Do, Fill, Target
from uigym.types import Click, Dialog, Key, Scroll, SwitchTab, Type, Upload, Wait

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
Flow = Callable[..., Awaitable[Imported]]
Step = dict[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(browser: Browser) -> AsyncIterator[Env]:
    async with Env(forms(), browser, limits=Limits(max_steps=500)) as env:
        yield env


@pytest.fixture
def flow(env: Env, tmp_path: Path) -> Flow:
    """Do DevTools' steps in the form."""

    async def run(*steps: Step, **plan: Any) -> Imported:
        path = tmp_path / "flow.json"
        start = {"type": "navigate", "url": "https://forms.example/"}
        path.write_text(json.dumps({"title": "a flow", "steps": [start, *steps]}))
        (recording,) = READERS["devtools"](path)
        done, _, _ = await follow(env, recording, Plan("use", 0, **plan))
        return done

    return run


def step(kind: str, *ways: str | list[str], **fields: Any) -> Step:
    return {
        "type": kind,
        "selectors": [way if isinstance(way, list) else [way] for way in ways],
        "target": "main",
        **fields,
    }


def click(*ways: str | list[str], **fields: Any) -> Step:
    return step("click", *ways, **{"offsetX": 3, "offsetY": 4, **fields})


def done_to(done: Imported) -> dict[str, Any]:
    assert done.unresolved == ()
    assert done.episode is not None
    return told(done.episode)


def actions(done: Imported) -> list[Any]:
    assert done.episode is not None
    return [step.action for step in done.episode.steps]


async def test_fields_are_filled_as_their_kind_wants(flow: Flow) -> None:
    done = await flow(
        click("#name"),
        step("change", "#name", value="new"),
        step("change", "aria/Note", "#note", value="two\nlines"),
        step("change", "#colour", value="b"),
        step("change", "#day", value="2026-03-04"),
        step("change", "#level", value="7"),
        step("change", "#rich", value="bold"),
        click("#canvas"),
    )
    assert done_to(done) == {
        "name": "new", "note": "two\nlines", "colour": "b", "day": "2026-03-04", "level": "7", "rich": "bold", "canvas": "3,4"
    }  # fmt: skip
    first = actions(done)[:3]
    assert [type(action) for action in first] == [Click, Key, Type], (
        "the click that the filling makes by itself is made once"
    )
    assert [one.why for one in done.left_out] == ["the next step clicks the field, too"]
    assert done.remarks == ()


async def test_elements_are_found_by_the_way_that_finds_one_alone(flow: Flow) -> None:
    done = await flow(
        click("text/Row", "aria/Row", ["#no", "button"], ".row:nth-of-type(2)"),
        click(["#host", "#deep"]),
        click("xpath///*[@id='twice']"),
        click("pierce/#agree"),
        click("aria/Styled"),
        click('aria/Count[role="button"]', frame=[0]),
    )
    assert done_to(done) == {"row": 1, "deep": 1, "agree": True, "styled": True, "framed": 1}


async def test_where_no_way_finds_one_alone_the_first_is_taken(flow: Flow) -> None:
    done = await flow(click("text/Row", "aria/Row"))
    assert done_to(done) == {"row": 0}
    assert [one.why for one in done.remarks] == [
        "several elements are as recorded, or none is visible: the first was taken"
    ]


async def test_what_comes_late_or_is_far_down_is_waited_for_and_scrolled_to(flow: Flow) -> None:
    done = await flow(click("#late"), click("aria/Now"), click("#far-button"))
    assert done_to(done) == {"late": 1, "far": 1}
    assert any(isinstance(action, Scroll) for action in actions(done))
    again = await flow(click("#later"), click("aria/Then"))
    assert done_to(again) == {"later": 1}
    assert isinstance(actions(again)[1], Wait), "the page came to rest before it was there"


async def test_keys_go_to_the_page_with_what_is_held(flow: Flow) -> None:
    done = await flow(
        {"type": "keyDown", "key": "Control"}, {"type": "keyDown", "key": "k"}, {"type": "keyUp", "key": "k"}, {"type": "keyUp", "key": "Control"},
        {"type": "keyDown", "key": "Shift"}, step("doubleClick", "#twice", offsetX=1, offsetY=1), {"type": "keyUp", "key": "Shift"},
    )  # fmt: skip
    assert done_to(done) == {"key": "ctrl+k", "twice": "shift"}
    key, twice, _ = actions(done)
    assert key == Key("Control+k") and (twice.count, twice.modifiers) == (2, ("Shift",))


async def test_scrolling_ends_where_it_was_recorded(flow: Flow, env: Env) -> None:
    done = await flow({"type": "scroll", "x": 0, "y": 400}, step("scroll", "#box", x=0, y=50))
    assert done_to(done) == {"box": True}
    assert next(action.dy for action in actions(done)[:-1] if isinstance(action, Scroll)) == 400


async def test_dialogs_are_answered_as_told(flow: Flow) -> None:
    yes, no = await flow(click("#ask"), click("#agree")), await flow(click("#ask"), click("#agree"), accept=False)
    assert (done_to(yes), done_to(no)) == ({"ask": True, "agree": True}, {"ask": False, "agree": True})
    assert actions(yes)[1] == Dialog(True) and actions(no)[1] == Dialog(False)
    assert yes.demo is not None and yes.demo.notes["dialogs"] == ["confirm: Sure?"]


async def test_a_new_window_is_acted_in_and_left(flow: Flow) -> None:
    done = await flow(click("#help"), click("aria/Read", target="https://forms.example/help"), click("#agree"))
    assert done_to(done) == {"help": 1, "agree": True}
    stay = await flow(click("#help"), click("#agree"))
    assert SwitchTab(0) in actions(stay) and done_to(stay) == {"agree": True}


async def test_a_password_is_typed_and_left_out_of_what_is_stored(flow: Flow, env: Env) -> None:
    done = await flow(step("change", "#secret", value="hunter2!"))
    assert done.episode is not None and done.demo is not None
    assert "hunter2!" not in repr(done) and done.demo.notes["withheld"] == {"1": "prompt"}


async def test_a_password_that_comes_as_pixels_is_left_out_too(env: Env) -> None:
    (place,) = [a for a in actions(await follow_secret(env)) if isinstance(a, Click)]
    done, told_, _ = await follow(env, recording_of(place, Type("hunter2!")), Plan("use", 0))
    assert told_ == {1: "hunter2!"} and "hunter2!" not in repr(done)


def recording_of(*acts: Any) -> Recording:
    return Recording(tuple(Asked(number, "", Do(act, (800, 600))) for number, act in enumerate(acts, 1)))


async def follow_secret(env: Env) -> Imported:
    fill = Asked(1, "", Fill(Target(("#secret",)), "x-y-z"))
    done, _, _ = await follow(env, Recording((fill,)), Plan("use", 0))
    return done


async def test_pixels_of_a_larger_picture_of_the_same_page_are_brought_to_scale(env: Env) -> None:
    done = await follow_secret(env)
    (place,) = [a for a in actions(done) if isinstance(a, Click)]
    twice = Asked(1, "", Do(Click(2 * place.x, 2 * place.y), (1600, 1200)))
    found, _, _ = await follow(env, Recording((twice,)), Plan("use", 0))
    assert actions(found)[0] == place
    other, _, _ = await follow(env, Recording((Asked(1, "", Do(place, (1600, 900))),)), Plan("use", 0))
    assert "are for a viewport of 1600 x 900" in other.unresolved[0].why


async def test_what_was_said_otherwise_is_remarked(env: Env) -> None:
    waits = tuple(Asked(number, "", Do(Wait(0.01))) for number in range(1, 45))
    done, _, _ = await follow(env, Recording(waits, about={"instruction": "Do not."}), Plan("use", 0))
    assert [one.why for one in done.remarks] == [
        "the file has 'Do not.' where the task has 'Use the form.'", "it takes 45 actions, and an agent may take 40"
    ]  # fmt: skip


async def test_a_file_field_that_was_filled_is_given_the_episodes_file(flow: Flow) -> None:
    done = await flow(click("#file"), click("#agree"), step("change", "#file", value="C:\\fakepath\\b.txt"))
    assert done_to(done) == {"agree": True, "file": "b.txt"}
    assert actions(done)[1] == Key("Escape"), "the chooser that was opened and left is cancelled"


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (step("change", "#file", value="a.txt"), "a file field takes files"),
        (step("change", "#file", value="C:\\fakepath\\gone.txt"), "was refused"),
        (click("#nowhere"), "no such element on the page"),
        (click("css=>>>nonsense[["), "no such element on the page"),
        (click("#agree", frame=[7]), "no such element on the page"),
        (step("change", "#canvas", value="x"), "a canvas is no field that can be filled"),
        (step("change", "#colour", value="violet"), "the element has no option 'violet'; options: Red, Green, Blue"),
        (step("change", "#level", value="70"), "the slider goes from 0 to 10"),
        (click("#agree", button="back"), "a mouse button 'back' is none"),
        ({"type": "navigate", "url": "https://forms.example/other"}, "does not grant Goto"),
        ({"type": "navigate", "url": "https://evil.example/"}, "was refused"),
        ({"type": "navigate", "url": "javascript:put('x', 1)"}, "is no address of a web page"),
        ({"type": "navigate", "url": "file:///etc/passwd"}, "is no address of a web page"),
        ({"type": "customStep", "name": "mine", "parameters": {}}, "only its own tool knows the step"),
        ({"type": "keyDown", "key": "Nokey"}, "is no key"),
    ],
)
async def test_what_cannot_be_done_is_told_with_its_number(
    flow: Flow, step: Step, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "WAIT_S", 0.2)
    done = await flow(click("#agree"), step, click("#styled"))
    assert done.episode is None and done.demo is None and not done.counts
    (told,) = done.unresolved
    assert told.number == 3 and why in told.why


async def test_steps_that_cannot_be_done_can_be_passed_over(flow: Flow) -> None:
    done = await flow({"type": "customStep", "name": "mine"}, click("#agree"), keep_going=True)
    assert done.episode is not None and told(done.episode) == {"agree": True}
    assert done.demo is not None and "only its own tool knows" in done.demo.notes["unresolved"][0]


async def test_code_of_a_recording_is_never_run(flow: Flow) -> None:
    done = await flow({"type": "waitForExpression", "expression": "put('hacked', 1)"}, click("#agree"))
    assert done_to(done) == {"agree": True}
    assert [one.why for one in done.left_out] == ["code of a recording is never run"]


# --- codegen ---


def line(name: str, selector: str = "", **fields: Any) -> str:
    return json.dumps({"name": name, "selector": selector, "pageGuid": "page@1", "signals": [], **fields})


async def test_what_codegen_writes_is_done(env: Env, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        "\n".join(
            [
                '{"browserName": "chromium"}',
                line("openPage", url="about:blank"),
                line("navigate", url="http://forms.example/"),
                line("check", 'internal:label="I agree"i'),
                line("check", "#styled"),
                line("uncheck", "#styled"),
                line("check", 'internal:label="Plan B"i'),
                line("select", "#tags", options=["one", "three"]),
                line("setInputFiles", "#file", files=["C:\\docs\\a.txt", "b.txt"]),
                line("hover", "#agree"),
                line("fill", 'internal:testid=[data-testid="name"s]', text="new"),
                line("press", 'internal:testid=[data-testid="name"s]', key="Enter", modifiers=0),
                line(
                    "click",
                    "iframe >> internal:control=enter-frame >> button",
                    button="left",
                    modifiers=0,
                    clickCount=1,
                ),
                line("click", "#twice", button="left", modifiers=8, clickCount=2),
                line("assertVisible", "#gone"),
                line("closePage"),
            ]
        )
    )
    (recording,) = READERS["codegen"](tmp_path / "a.jsonl")
    done, _, _ = await follow(env, recording, Plan("use", 0))
    assert done_to(done) == {
        "agree": True, "styled": False, "plan": "b", "tags": "one,three", "file": "a.txt,b.txt", "name": "new", "framed": 1, "twice": "shift"
    }  # fmt: skip
    assert Upload(("a.txt", "b.txt")) in actions(done)
