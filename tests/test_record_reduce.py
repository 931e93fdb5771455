"""From events to actions: what belongs together becomes one, and nothing that was typed or turned is lost."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.browser.input import check
from uigym.record.events import Raw, raw_from_json
from uigym.record.reduce import Reducer, thinned
from uigym.types import (
    GRANTED,
    Action,
    Click,
    Drag,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    Type,
    Wait,
    action_from_json,
    action_to_json,
)


def reduced(*raws: Raw, hovers: int = 0) -> list[Action]:
    reducer = Reducer()
    for raw in raws:
        reducer.feed(raw)
    reducer.finish()
    return [act.action for act in reducer.acts(hovers)]


def press(at: float, x: float = 10, y: float = 10, hold: float = 0.1, **more: Any) -> list[Raw]:
    return [Raw("down", at, x, y, **more), Raw("up", at + hold, x, y, **more)]


def keys(at: float, text: str) -> list[Raw]:
    return [
        raw for n, key in enumerate(text) for raw in (Raw("keydown", at + n / 10, key=key), Raw("keyup", at, key=key))
    ]


def test_presses_become_clicks_by_place_and_pace() -> None:
    assert reduced(*press(0), *press(0.3)) == [Click(10, 10, count=2)]
    assert reduced(*press(0), *press(0.3), *press(0.6), *press(0.9)) == [Click(10, 10, count=3), Click(10, 10)]
    assert reduced(*press(0), *press(1.0)) == [Click(10, 10)] * 2
    assert reduced(*press(0), *press(0.3, x=20)) == [Click(10, 10), Click(20, 10)]
    assert reduced(*press(0), *press(0.3, button="right")) == [Click(10, 10), Click(10, 10, "right")]
    held = press(0, modifiers=("Control",))
    assert reduced(Raw("keydown", 0, key="Control", modifiers=("Control",)), *held) == [
        Click(10, 10, modifiers=("Control",))
    ]


def test_a_press_that_moves_is_a_drag_and_one_that_stays_is_held() -> None:
    moves = [Raw("move", 0.1 + n / 100, 10 + n, 10) for n in range(50)]
    assert reduced(Raw("down", 0, 10, 10), *moves, Raw("up", 1, 60, 10)) == [Drag(((10, 10), (60, 10)))]
    assert reduced(*press(0, hold=2.0)) == [MouseDown(10, 10), Wait(2.0), MouseUp(10, 10)]
    assert reduced(Raw("down", 0, 10, 10), Raw("move", 0.1, 12, 11), Raw("up", 0.2, 12, 11)) == [Click(10, 10)]
    down, up = press(0, hold=0.5)
    assert reduced(down, Raw("keydown", 0.2, key="Escape"), up) == [MouseDown(10, 10), Key("Escape"), MouseUp(10, 10)]
    assert reduced(down) == []  # never let go


def test_letters_become_text_and_other_keys_chords() -> None:
    assert reduced(*keys(0, "Tea +1")) == [Type("Tea +1")]
    shifted = Raw("keydown", 0, key="T", modifiers=("Shift",))
    assert reduced(Raw("keydown", 0, key="Shift", modifiers=("Shift",)), shifted, *keys(0, "ea")) == [Type("Tea")]
    chord = Raw("keydown", 1, key="a", modifiers=("Control",))
    assert reduced(*keys(0, "x"), chord, *keys(2, "y")) == [Type("x"), Key("Control+A"), Type("y")]
    assert reduced(Raw("keydown", 0, key=" ", modifiers=("Control",))) == [Key("Control+Space")]
    assert reduced(Raw("keydown", 0, key="+", modifiers=("Control",))) == [Key("Control++")]
    assert reduced(*keys(0, "a"), Raw("compose", 1, text="ni"), Raw("text", 2, text="你")) == [Type("a你")]
    jitter = Raw("move", 0.5, 3, 3)
    assert reduced(*keys(0, "a"), jitter, *keys(1, "b")) == [Type("ab")]
    secret = [Raw("keydown", 1, key="b", withheld=True)]
    assert reduced(*keys(0, "a"), *secret) == [Type("a"), Type("b")]


def test_turns_of_the_wheel_become_one_scroll_until_they_turn_back() -> None:
    turns = [Raw("wheel", n / 10, 5, 5, dy=100) for n in range(4)]
    assert reduced(*turns) == [Scroll(5, 5, 0, 400)]
    assert reduced(*turns, Raw("wheel", 0.5, 5, 5, dy=-50)) == [Scroll(5, 5, 0, 400), Scroll(5, 5, 0, -50)]
    assert reduced(*turns, Raw("wheel", 2, 5, 5, dy=100)) == [Scroll(5, 5, 0, 400), Scroll(5, 5, 0, 100)]


def test_an_act_begins_with_the_way_to_it_and_hovers_are_kept_aside() -> None:
    reducer = Reducer()
    for raw in [Raw("move", 0, 1, 1), Raw("move", 0.1, 5, 5)]:
        reducer.feed(raw)
    reducer.rested()
    for raw in [Raw("move", 1.0, 8, 8), *press(1.1, 10, 10)]:
        reducer.feed(raw)
    (click,) = reducer.acts()
    assert click.begin == 0 and click.end == 5  # its picture shows nothing of the hover that is left out
    assert [act.begin for act in reducer.acts(1)] == [0, 2]
    assert [act.action for act in reducer.acts(9)] == [Move(5, 5), Click(10, 10)]
    for at, x in ((2.0, 20), (2.1, 21)):
        reducer.feed(Raw("move", at, x, 20))
        reducer.rested()
    for raw in press(2.5, 30, 30):
        reducer.feed(raw)
    moves = [[act.action for act in reducer.acts(count) if isinstance(act.action, Move)] for count in range(4)]
    first, second, third = Move(5, 5), Move(20, 20), Move(21, 20)
    assert moves == [[], [first, third], [first, second, third], [first, second, third]]


def test_what_the_page_does_late_is_waited_for() -> None:
    reducer = Reducer()
    for raw in press(0):
        reducer.feed(raw)
    reducer.changed_late(1.7)
    for raw in press(4.0, 30, 30):
        reducer.feed(raw)
    assert [act.action for act in reducer.acts()] == [Click(10, 10), Wait(2.0), Click(30, 30)]


RAWS = st.lists(
    st.one_of(
        st.builds(Raw, st.just("move"), st.just(0.0), st.floats(0, 300), st.floats(0, 200)),
        st.builds(Raw, st.just("down"), st.just(0.0), st.floats(0, 300), st.floats(0, 200), st.sampled_from(["left", "right"])),
        st.builds(Raw, st.just("up"), st.just(0.0), st.floats(0, 300), st.floats(0, 200)),
        st.builds(Raw, st.just("wheel"), st.just(0.0), st.floats(0, 300), st.floats(0, 200), dy=st.floats(-500, 500)),
        st.builds(Raw, st.just("keydown"), st.just(0.0), key=st.sampled_from(["a", "B", " ", "Enter", "Shift"])),
        st.builds(Raw, st.just("text"), st.just(0.0), text=st.text("äß€ x", min_size=1, max_size=9)),
    ),
    max_size=60,
)  # fmt: skip


@given(RAWS, st.lists(st.floats(0, 2), min_size=60, max_size=60))
def test_every_action_can_be_performed_and_nothing_typed_is_lost(raws: list[Raw], pauses: list[float]) -> None:
    at, told = 0.0, []
    for raw, pause in zip(raws, pauses, strict=False):
        at += pause
        told.append(raw_from_json({**raw.to_json(), "button": raw.button}, at))
    reducer = Reducer()
    for raw in told:
        reducer.joins(raw)
        reducer.feed(raw)
    reducer.finish()
    acts = reducer.acts(9)
    for act in acts:
        check(act.action, (400, 300), GRANTED)
        assert action_from_json(json.loads(json.dumps(action_to_json(act.action)))) == act.action
        assert 0 <= act.begin <= act.end <= len(told)
    typed = "".join(raw.text or raw.key for raw in told if raw.kind == "text" or len(raw.key) == 1)
    assert "".join(act.action.text for act in acts if isinstance(act.action, Type)) == typed
    turned = sum(raw.dy for raw in told if raw.kind == "wheel")
    assert math.isclose(sum(a.action.dy for a in acts if isinstance(a.action, Scroll)), turned, abs_tol=1e-6)
    begins = [act.begin for act in acts]
    assert begins == sorted(begins) or any(isinstance(act.action, MouseUp) for act in acts)


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(0, 500)), min_size=2, max_size=400))
def test_a_thinned_path_keeps_its_ends_and_its_size(path: list[tuple[float, float]]) -> None:
    kept = thinned(path)
    assert (kept[0], kept[-1]) == (path[0], path[-1])
    assert 2 <= len(kept) <= 200 and set(kept) <= set(path)


@pytest.mark.parametrize("told", [None, [], {"kind": "x"}, {"kind": "move", "x": "1"}, {"kind": "move", "x": True},
    {"kind": "text", "text": "x" * 5000}, {"kind": "down", "button": "side"}, {"kind": "down", "modifiers": ["Fn"]},
    {"kind": "upload", "files": "a"}, {"kind": "upload", "files": ["a"] * 51}])  # fmt: skip
def test_what_is_no_event_is_refused(told: Any) -> None:
    with pytest.raises(ValueError):
        raw_from_json(told, 0.0)


def test_a_withheld_event_says_neither_key_nor_text() -> None:
    assert Raw("keydown", 1.0, key="x", withheld=True).to_json() == {"kind": "keydown", "at": 1.0, "withheld": True}
