"""The tiny model's action language: what it can say, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uigym.policy.codecs.tiny import ACTION_TOKENS, COLUMNS, ROWS, cell, decode, encode, point
from uigym.types import (
    Action,
    Answer,
    Back,
    Click,
    Done,
    Drag,
    Goto,
    HoldKey,
    Invalid,
    Key,
    Move,
    Scroll,
    Type,
    Wait,
)

SIDES = st.integers(16, 4096)
SHARES = st.floats(0, 1, exclude_max=True)
ROUNDING = 1e-6


@given(SIDES, SIDES, st.integers(0, COLUMNS - 1), st.integers(0, ROWS - 1))
def test_the_middle_of_a_cell_is_said_as_that_cell(width: int, height: int, column: int, row: int) -> None:
    said = encode(Click(*point(column, row, width, height)), width, height)
    assert said == f"<click><x{column}><y{row}>"
    again = decode(said, width, height)
    assert isinstance(again, Click) and cell(again.x, again.y, width, height) == (column, row)


@given(SIDES, SIDES, SHARES, SHARES)
@example(320, 256, 0.0, 0.0)
def test_a_click_comes_back_within_half_a_cell(width: int, height: int, right: float, down: float) -> None:
    x, y = right * width, down * height
    again = decode(encode(Click(x, y), width, height), width, height)
    assert isinstance(again, Click)
    assert abs(again.x - x) <= width / COLUMNS / 2 + ROUNDING and abs(again.y - y) <= height / ROWS / 2 + ROUNDING


@given(SIDES, SIDES, SHARES, SHARES, SHARES, SHARES)
def test_a_target_as_large_as_a_cell_is_hit(
    width: int, height: int, right: float, down: float, wide: float, high: float
) -> None:
    """The click is aimed at the middle of what is painted, as the oracle and the lessons aim it."""
    w = width / COLUMNS + wide * (width - width / COLUMNS)
    h = height / ROWS + high * (height - height / ROWS)
    left, top = right * (width - w), down * (height - h)
    hit = decode(encode(Click(left + w / 2, top + h / 2), width, height), width, height)
    assert isinstance(hit, Click)
    assert left - ROUNDING <= hit.x <= left + w + ROUNDING and top - ROUNDING <= hit.y <= top + h + ROUNDING


@pytest.mark.parametrize("x, y", [(-5, 10), (320, 256), (5000, -1)])
def test_a_point_beside_the_picture_is_said_as_the_nearest_cell(x: float, y: float) -> None:
    hit = decode(encode(Click(x, y), 320, 256), 320, 256)
    assert isinstance(hit, Click) and 0 < hit.x < 320 and 0 < hit.y < 256


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Click(4, 4), "<click><x0><y0>"),
        (Click(316, 252, count=2), "<double><x39><y31>"),
        (Scroll(164, 132, dy=128), "<scroll><x20><y16><down>"),
        (Scroll(164, 132, dy=-128), "<scroll><x20><y16><up>"),
        (Scroll(164, 132, dx=160), "<scroll><x20><y16><right>"),
        (Scroll(164, 132, dx=-160), "<scroll><x20><y16><left>"),
        (Drag(((4, 4), (316, 252))), "<drag><x0><y0><x39><y31>"),
        (Type("no ice"), "<type>no ice"),
        (Type(""), "<type>"),
        (Key("Control+A"), "<key>Control+A"),
        (Answer("12.50"), "<answer>12.50"),
        (Wait(), "<wait>"),
        (Done(), "<done>"),
    ],
)
def test_actions_and_their_words(action: Action, said: str) -> None:
    assert encode(action, 320, 256) == said
    assert decode(said, 320, 256) == action


@given(st.text())
@example("two\nlines\r\n")
@example("<b>1 < 2</b>")
@example("<click><x1><y1>")
@example("<type><done>")
def test_text_is_kept_as_it_is(text: str) -> None:
    for action in (Type(text), Key(text), Answer(text)):
        assert decode(encode(action, 320, 256), 320, 256) == action


@pytest.mark.parametrize(
    "action",
    [
        Move(1, 1),
        Click(1, 1, button="right"),
        Click(1, 1, count=3),
        Click(1, 1, modifiers=("Shift",)),
        Scroll(1, 1),
        Drag(((1, 1),)),
        HoldKey("a", 1.0),
        Goto("/"),
        Back(),
        Invalid("x", "no action"),
    ],
    ids=repr,
)
def test_actions_without_a_word(action: Action) -> None:
    assert encode(action, 320, 256) == ""


NO_ACTION = (
    *("", " ", "click", "NaN", '{"action": "click"}', "<unknown>", "<tap><x1><y1>"),
    *("<click>", "<click><x3>", "<click><y3><x3>", "<click><x1><y1><x2>", "<click> <x1><y1>", "<click><x1><y1>\n"),
    *("<click><x-1><y3>", "<click><xNaN><y3>", "<click><xinf><y3>", "<click><x1.5><y3>", "<click><x100><y1>"),
    *("<click><x٣><y٤>", "<drag><x1><y1>", "<scroll><x1><y1>", "<scroll><x1><y1><in>"),
    *("<wait>1", "<done>!", "a<done>", " <done>", "<done><done>"),
)


@pytest.mark.parametrize("text", NO_ACTION)
def test_what_is_no_action_is_told_what_was_expected(text: str) -> None:
    got = decode(text, 320, 256)
    assert isinstance(got, Invalid) and got.text == text
    assert got.reason.startswith("no action in ") and "expected <click><xN><yN>" in got.reason


@pytest.mark.parametrize(
    "text",
    ["<click><x40><y3>", "<click><x3><y32>", "<double><x99><y99>", "<scroll><x0><y32><up>", "<drag><x1><y1><x1><y32>"],
)
def test_a_cell_that_the_picture_does_not_have(text: str) -> None:
    got = decode(text, 320, 256)
    assert isinstance(got, Invalid) and "outside the 40 x 32 cells" in got.reason


@given(st.one_of(st.text(), st.lists(st.sampled_from([*ACTION_TOKENS, "<", ">", "7", "\n"])).map("".join)))
def test_any_text_is_an_action_or_invalid(text: str) -> None:
    got = decode(text, 320, 256)
    if isinstance(got, Invalid):
        assert got.text == text and 0 < len(got.reason) < 500
    elif isinstance(got, Click | Scroll):
        assert 0 < got.x < 320 and 0 < got.y < 256
