"""The model families' languages: a click lands where it was aimed, and whatever a model says is an action or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.browser.keys import parse_chord
from uigym.errors import ActionRefused
from uigym.policy.codecs import CODECS, Screen
from uigym.policy.codecs.qwen import smart_resize
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
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    SwitchTab,
    Type,
    Wait,
    action_from_json,
    action_to_json,
)

FAMILIES = sorted(set(CODECS) - {"tiny"})
"""The tiny model's cells are larger than a pixel; tests/test_codec_tiny.py has its property."""
SCREEN = Screen(1280, 720, pointer=(100.0, 50.0))


@st.composite
def screens(draw: st.DrawFn) -> Screen:
    width, height = draw(st.integers(200, 1920)), draw(st.integers(150, 1080))
    scale = draw(st.floats(0.75, 2.0))
    seen = draw(st.sampled_from([None, (round(width * scale), round(height * scale))]))
    return Screen(width, height, seen)


@pytest.mark.parametrize("family", FAMILIES)
@given(screens(), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_click_on_the_middle_of_a_target_lands_within_a_pixel(
    family: str, screen: Screen, left: float, top: float, wide: float, high: float
) -> None:
    w, h = 4 + wide * (screen.width - 8), 4 + high * (screen.height - 8)
    x, y = left * (screen.width - w) + w / 2, top * (screen.height - h) + h / 2
    for action in (Click(x, y), Click(x, y, count=2), Move(x, y)):
        said = CODECS[family].encode(action, screen)
        if not said:
            assert family == "uitars" and isinstance(action, Move)
            continue
        (again,) = CODECS[family].decode(said, screen)
        assert type(again) is type(action) and getattr(again, "count", 1) == getattr(action, "count", 1)
        assert abs(again.x - x) <= 1 and abs(again.y - y) <= 1  # type: ignore[union-attr]
        assert 0 <= again.x < screen.width and 0 <= again.y < screen.height  # type: ignore[union-attr]


@pytest.mark.parametrize("family", FAMILIES)
@given(st.text(max_size=80))
def test_text_comes_back_as_it_was(family: str, text: str) -> None:
    assert CODECS[family].decode(CODECS[family].encode(Type(text), SCREEN), SCREEN) == (Type(text),)


ANSWERS = ("qwen2.5", "qwen3", "pyautogui", "pyautogui_px")


@pytest.mark.parametrize("family", ANSWERS)
@given(st.text(max_size=40))
def test_answers_come_back_as_they_were(family: str, text: str) -> None:
    assert CODECS[family].decode(CODECS[family].encode(Answer(text), SCREEN), SCREEN) == (Answer(text),)
    assert CODECS[family].decode(CODECS[family].encode(Done(), SCREEN), SCREEN) == (Done(),)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("chord", ["Enter", "Control+A", "Control+Shift+ArrowLeft", "+", "PageDown", "Alt+Tab"])
def test_chords_mean_the_same_keys(family: str, chord: str) -> None:
    (again,) = CODECS[family].decode(CODECS[family].encode(Key(chord), SCREEN), SCREEN)
    assert isinstance(again, Key)
    said, meant = parse_chord(again.chord), parse_chord(chord)
    assert said.modifiers == meant.modifiers and said.stroke and meant.stroke and said.stroke.code == meant.stroke.code


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("dx", "dy"), [(0.0, 300.0), (0.0, -300.0), (300.0, 0.0), (-300.0, 0.0)])
def test_scrolling_keeps_its_direction(family: str, dx: float, dy: float) -> None:
    (again,) = CODECS[family].decode(CODECS[family].encode(Scroll(640, 360, dx, dy), SCREEN), SCREEN)
    assert isinstance(again, Scroll) and abs(again.x - 640) <= 1 and abs(again.y - 360) <= 1
    assert (again.dx > 0, again.dx < 0, again.dy > 0, again.dy < 0) == (dx > 0, dx < 0, dy > 0, dy < 0)


@pytest.mark.parametrize("family", FAMILIES)
def test_drags_come_back(family: str) -> None:
    action = Drag(((100.0, 200.0), (700.0, 300.0)))
    *before, again = CODECS[family].decode(CODECS[family].encode(action, SCREEN), SCREEN)
    assert isinstance(again, Drag) and len(before) <= 1, "some families move there first"
    for point, meant in zip(again.path, action.path, strict=True):
        assert abs(point[0] - meant[0]) <= 1 and abs(point[1] - meant[1]) <= 1


# --- whatever a model says -----------------------------------------------------------------------------------

NAMES = st.sampled_from(
    [
        "name",
        "input",
        "action",
        "actions",
        "type",
        "x",
        "y",
        "coordinate",
        "text",
        "keys",
        "path",
        "arguments",
        "args",
        "target",
    ]
)
WORDS = st.sampled_from(
    [
        "click",
        "left_click",
        "scroll",
        "type",
        "computer_use",
        "computer_call",
        "click_at",
        "drag",
        "key",
        "up",
        "terminate",
    ]
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), WORDS)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=14
)


@pytest.mark.parametrize("family", sorted(CODECS))
@given(JSON)
def test_any_object_is_an_action_or_refused(family: str, said: Any) -> None:
    if family == "tiny":
        said = str(said)
    check(CODECS[family].decode(said, SCREEN))


@pytest.mark.parametrize("family", sorted(CODECS))
@given(st.text(max_size=60) | st.from_regex(r"(Action: |pyautogui\.|<tool_call>)?[a-zA-Z_]{1,9}\([^)]{0,20}\)?"))
def test_any_text_is_an_action_or_refused(family: str, said: str) -> None:
    check(CODECS[family].decode(said, SCREEN))


def check(actions: tuple[Action, ...]) -> None:
    assert actions
    for action in actions:
        assert action_from_json(json.loads(json.dumps(action_to_json(action), allow_nan=False))) == action
        if isinstance(action, Click | Move | Scroll):
            assert 0 <= action.x < SCREEN.width and 0 <= action.y < SCREEN.height
        if isinstance(action, Invalid):
            assert action.reason


@pytest.mark.parametrize("family", FAMILIES)
def test_deep_and_endless_replies_are_refused(family: str) -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    for said in (deep, {"name": deep}, "[" * 90_000, "(" * 50_000, "click(" * 3000, "<tool_call>" + "[" * 50_000):
        (found,) = CODECS[family].decode(said, SCREEN)
        assert isinstance(found, Invalid) and len(found.text) <= 500


# --- each family's own words ---------------------------------------------------------------------------------


def call(**args: Any) -> str:
    return "<tool_call>" + json.dumps({"name": "computer_use", "arguments": args}) + "</tool_call>"


def tool(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": args}


def item(*actions: dict[str, Any]) -> dict[str, Any]:
    return {"type": "computer_call", "call_id": "c1", "actions": list(actions)}


def function(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


SAID: list[tuple[str, Any, tuple[Action, ...]]] = [
    ("anthropic", tool("left_click", coordinate=[10, 20], text="ctrl+shift"), (Click(10, 20, modifiers=("Control", "Shift")),)),
    ("anthropic", tool("left_click"), (Click(100, 50),)),
    ("anthropic", tool("computer", action="triple_click", coordinate=[10, 20]), (Click(10, 20, count=3),)),
    ("anthropic", {"action": "left_click_drag", "coordinate": [10, 20]}, (Drag(((100, 50), (10, 20))),)),
    ("anthropic", tool("left_click_drag", start_coordinate=[1, 2], coordinate=[3, 4]), (Drag(((1, 2), (3, 4))),)),
    ("anthropic", tool("left_mouse_down"), (MouseDown(100, 50),)),
    ("anthropic", tool("left_mouse_up"), (MouseUp(100, 50),)),
    ("anthropic", tool("scroll", scroll_direction="down", scroll_amount=3, coordinate=[10, 20]), (Scroll(10, 20, dy=300),)),
    ("anthropic", tool("key", text="ctrl+s", repeat=2), (Key("ctrl+s"), Key("ctrl+s"))),
    ("anthropic", tool("key", text="Tab Tab Return"), (Key("Tab"), Key("Tab"), Key("Return"))),
    ("anthropic", tool("hold_key", text="shift", duration=2), (HoldKey("shift", 2),)),
    ("anthropic", tool("wait", duration=1.5), (Wait(1.5),)),
    ("anthropic", tool("screenshot"), (Wait(0.0),)),
    ("anthropic", tool("left_click", target={"type": "coordinate", "x": 10, "y": 20}, modifiers="alt"), (Click(10, 20, modifiers=("Alt",)),)),
    ("anthropic", tool("hover", target={"type": "coordinate", "x": 10, "y": 20}), (Move(10, 20),)),
    ("anthropic", tool("navigate", url="back"), (Back(),)),
    ("anthropic", tool("navigate", url="/orders"), (Goto("/orders"),)),
    ("anthropic", tool("switch_tab", tab_id=1), (SwitchTab(1),)),
    ("openai", item({"type": "click", "x": 10, "y": 20, "button": "wheel"}, {"type": "wait"}), (Click(10, 20, "middle"), Wait(2.0))),
    ("openai", {"type": "computer_call", "action": {"type": "move", "x": 1, "y": 2}}, (Move(1, 2),)),
    ("openai", {"type": "click", "x": 1, "y": 2, "button": "left", "keys": ["SHIFT"]}, (Click(1, 2, modifiers=("Shift",)),)),
    ("openai", {"type": "click", "x": 1, "y": 2, "button": "back"}, (Back(),)),
    ("openai", {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]}, (Drag(((1, 2), (3, 4), (5, 6))),)),
    ("openai", {"type": "keypress", "keys": ["CTRL", "a"]}, (Key("CTRL+a"),)),
    ("openai", {"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 400}, (Scroll(1, 2, dy=400),)),
    ("openai", {"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 9, "keys": ["CTRL"]}, (Scroll(1, 2, 0, 9, ("Control",)),)),
    ("anthropic", tool("scroll", scroll_direction="down", scroll_amount=1, coordinate=[1, 2], text="ctrl"), (Scroll(1, 2, 0, 100, ("Control",)),)),
    ("anthropic", tool("left_click", coordinate=[1, 2], text="Shift_L+control_r"), (Click(1, 2, modifiers=("Shift", "Control")),)),
    ("gemini", function("click_at", x=500, y=500), (Click(640, 360),)),
    ("gemini", function("type_text_at", x=500, y=500, text="hi"), (Click(640, 360), Key("Control+A"), Key("Backspace"), Type("hi"), Key("Enter"))),
    ("gemini", function("type", text="hi", press_enter=True), (Type("hi"), Key("Enter"))),
    ("gemini", function("key_combination", keys="control+c"), (Key("control+c"),)),
    ("gemini", function("hotkey", keys=["ctrl", "c"]), (Key("ctrl+c"),)),
    ("gemini", function("scroll_document", direction="down"), (Scroll(100, 50, dy=576),)),
    ("gemini", function("drag_and_drop", x=0, y=0, destination_x=500, destination_y=500), (Drag(((0, 0), (640, 360))),)),
    ("gemini", [function("go_back"), function("wait_5_seconds")], (Back(), Wait(5.0))),
    ("qwen3", call(action="left_click", coordinate=[500, 500]), (Click(640, 360),)),
    ("qwen3", "I will click.\n" + call(action="left_click", coordinate=["500", 500]), (Click(640, 360),)),
    ("qwen3", call(action="scroll", pixels=-300), (Scroll(100, 50, dy=300),)),
    ("qwen3", call(action="key", keys=["ctrl", "a"]), (Key("ctrl+a"),)),
    ("qwen3", call(action="terminate", status="failure"), (Done(),)),
    ("qwen3", call(action="type", text="</tool_call>"), (Type("</tool_call>"),)),
    ("qwen3", call(action="mouse_move", coordinate=[0, 0]) + call(action="left_click_drag", coordinate=[500, 500]), (Move(0, 0), Drag(((0, 0), (640, 360))))),
    ("qwen2.5", call(action="left_click", coordinate=[644, 364]), (Click(640, 360),)),
    ("uitars", "Thought: I see.\nAction: click(point='<point>644 364</point>')", (Click(640, 360),)),
    ("uitars", "click(start_box='(644,364)')", (Click(640, 360),)),
    ("uitars", "Action: click(start_box='<|box_start|>(644,364)<|box_end|>')", (Click(640, 360),)),
    ("uitars", "left_double(start_box='[600, 300, 688, 428]')", (Click(640, 360, count=2),)),
    ("uitars", "hotkey(key='ctrl c')", (Key("ctrl+c"),)),
    ("uitars", "type(content='it's here\\n')", (Type("it's here\n"),)),
    ("uitars", "scroll(point='<point>644 364</point>', direction='up')", (Scroll(640, 360, dy=-500),)),
    ("uitars", "finished(content='12.50')", (Answer("12.50"),)),
    ("uitars", "finished()", (Done(),)),
    ("smolvlm", "<think>\nThe <code> is there.\n</think>\n<code>\nclick(x=0.5, y=0.5)\n</code>", (Click(640, 360),)),
    ("smolvlm", " move_mouse(0.5, 0.5)\nscroll('up', 3)", (Move(640, 360), Scroll(640, 360, dy=-300))),
    ("smolvlm", "<code>press(keys=['ctrl', 'c'])\npress('enter')</code>", (Key("ctrl+c"), Key("enter"))),
    ("smolvlm", "<code>type(text='</code> it')</code>", (Type("</code> it"),)),
    ("smolvlm", "<code>final_answer(12.5)</code>", (Answer("12.5"),)),
    ("smolvlm", "<code>final_answer()</code>", (Done(),)),
    ("smolvlm", "<code>navigate_back()</code>", (Back(),)),
    ("pyautogui", "import pyautogui\npyautogui.click(x=0.5, y=0.5)", (Click(640, 360),)),
    ("pyautogui", "pyautogui.moveTo(0.5, 0.5)\npyautogui.dragTo(0.25, 0.5, button='left')", (Move(640, 360), Drag(((640, 360), (320, 360))))),
    ("pyautogui", "pyautogui.scroll(-3)", (Scroll(100, 50, dy=300),)),
    ("pyautogui", "pyautogui.press(['tab', 'enter'])", (Key("tab"), Key("enter"))),
    ("pyautogui", "pyautogui.hotkey('ctrl', 'a'); pyautogui.write('x', interval=0.1)", (Key("ctrl+a"), Type("x"))),
    ("pyautogui", "computer.tripleClick(0.5, 0.5)", (Click(640, 360, count=3),)),
    ("pyautogui", "computer.terminate(status='success')", (Done(),)),
    ("pyautogui_px", "pyautogui.click(640, 360, clicks=2)", (Click(640, 360, count=2),)),
]  # fmt: skip


@pytest.mark.parametrize(("family", "said", "meant"), SAID)
def test_what_a_family_says(family: str, said: Any, meant: tuple[Action, ...]) -> None:
    assert CODECS[family].decode(said, SCREEN) == meant


def test_a_picture_of_another_size_than_the_viewport() -> None:
    screen = Screen(1280, 720, seen=(640, 360))
    assert CODECS["anthropic"].decode(tool("left_click", coordinate=[320, 180]), screen) == (Click(640, 360),)
    assert CODECS["openai"].decode({"type": "scroll", "x": 1, "y": 2, "scroll_y": 100}, screen) == (
        Scroll(2, 4, dy=200),
    )
    assert CODECS["qwen3"].decode(call(action="left_click", coordinate=[500, 500]), screen) == (Click(640, 360),)


REFUSED: list[tuple[str, Any, str]] = [
    ("anthropic", tool("left_click", coordinate=[1281, 20]), r"the point \(1281, 20\) is outside of 0 to 1280"),
    ("anthropic", tool("left_click", coordinate=[float("nan"), 20]), "x must be finite"),
    ("anthropic", tool("left_click", coordinate=[10]), r"coordinate must be \[x, y\]"),
    ("anthropic", tool("left_click", target={"type": "ref", "ref": "ref_7"}), "the page's source is not offered"),
    ("anthropic", tool("left_click", coordinate=[1, 2], text="hyper"), "'hyper' is no modifier"),
    ("anthropic", tool("scroll", scroll_direction="sideways", coordinate=[1, 2]), "a direction is up, down, left or right"),
    ("anthropic", tool("key", text="a", repeat=10**9), "repeat must be from 1 to 100"),
    ("anthropic", tool("javascript_exec", text="alert(1)"), "no action javascript_exec; expected one of left_click"),
    ("anthropic", tool("type"), "type needs text; given: nothing"),
    ("openai", {"type": "computer_call"}, "an action or a list of actions"),
    ("openai", item(), "no action was said"),
    ("openai", {"type": "click", "x": "ten", "y": 2}, "x must be a number, not ten"),
    ("openai", {"type": "drag", "path": [{"x": 1, "y": 2}]}, "at least two points"),
    ("openai", {"type": "paste"}, "no action paste; expected one of click"),
    ("gemini", function("click_at", x=1001, y=5), r"outside of 0 to 1000"),
    ("gemini", function("search"), "no action search"),
    ("qwen3", "click the button", "expected <tool_call>"),
    ("qwen3", call(action="left_click", coordinate=[-1, 5]), "outside of 0 to 1000"),
    ("qwen3", '<tool_call>{"name": "shell", "arguments": {"action": "rm"}}</tool_call>', "no action shell; expected one of computer_use"),
    ("qwen3", call(action="terminate"), "status must be success or failure"),
    ("uitars", "Action: click()", "click needs point="),
    ("uitars", "click(point='here')", "a point is '<point>x y</point>'"),
    ("uitars", "open_app(name='x')", "no action open_app"),
    ("smolvlm", "<code>open_app('x')</code>", "no action open_app; expected one of click"),
    ("smolvlm", "<code>drag([0, 0])</code>", r"to_coord must be \[x, y\]"),
    ("smolvlm", "<code>press([])</code>", "press needs keys"),
    ("smolvlm", "<code>click(640, 360)</code>", "outside of 0 to 1"),
    ("pyautogui", "pyautogui.click(x=640, y=360)", "outside of 0 to 1"),
    ("pyautogui", "__import__('os').system('true')", "only plain names are called"),
    ("pyautogui", "x = 1", "line 1 is no call"),
    ("pyautogui", "pyautogui.click(x=f(), y=1)", "an argument is not a literal"),
    ("pyautogui", "os.system('true')", "no action os.system"),
    ("pyautogui", "pyautogui.click(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)", "at most 6 arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "said", "reason"), REFUSED)
def test_what_is_refused_says_what_was_expected(family: str, said: Any, reason: str) -> None:
    found = CODECS[family].decode(said, SCREEN)
    assert len(found) == 1 and isinstance(found[0], Invalid)
    with pytest.raises(ActionRefused, match=reason):
        raise ActionRefused(found[0].reason)


def test_smart_resize_keeps_to_its_grid_and_budget() -> None:
    assert smart_resize(1280, 720) == (1288, 728) and smart_resize(1920, 1080) == (1316, 728)
    for width in range(40, 3000, 97):
        for height in range(40, 2000, 83):
            wide, high = smart_resize(width, height)
            assert wide % 28 == high % 28 == 0 and wide * high <= 14 * 14 * 4 * 1280
