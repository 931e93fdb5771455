"""Reading recordings: what each tool's file asks for, and files that mean harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from uigym.errors import ConfigError, UIGymError
from uigym.exchange.importing import READERS, Recording
from uigym.exchange.importing.asked import Cannot, Choose, Do, Fill, Give, Leave, Press, Strike, Target, Turn, Visit
from uigym.exchange.importing.devtools import selector
from uigym.types import Answer, Back, Click, SwitchTab, Type, Wait


def read(kind: str, path: Path, text: str) -> Recording:
    path.write_text(text)
    (recording,) = READERS[kind](path)
    return recording


def devtools(tmp_path: Path, *steps: Any) -> Recording:
    return read("devtools", tmp_path / "flow.json", json.dumps({"title": "t", "steps": list(steps)}))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("#save", "css=#save"),
        (["#host", "#deep"], "css=#host >> css=#deep"),
        (["pierce/#deep"], "css=#deep"),
        (["xpath///*[@id='a']"], "xpath=//*[@id='a']"),
        (["text/Save all"], 'internal:text="Save all"i'),
        (['aria/Save "now"[role="button"]'], 'internal:role=button[name="Save \\"now\\""s]'),
        (
            ['aria/[role="main"]', "aria/[name='It\\'s'][role='button']"],
            'internal:role=main >> internal:role=button[name="It\'s"s]',
        ),
    ],
)
def test_devtools_selectors_are_said_in_playwrights_words(given: Any, meant: str) -> None:
    assert selector(given, "step 1") == meant


def test_a_name_without_a_role_is_looked_for_among_all_roles() -> None:
    way = selector(["aria/Save"], "step 1")
    assert way.startswith('internal:role=button[name="Save"s] >> internal:or=') and way.count("internal:or=") > 30


def test_what_devtools_records_is_read(tmp_path: Path) -> None:
    save = {"selectors": [["#save"]], "offsetX": 1, "offsetY": 2}
    field = {"selectors": [["#name"]]}
    recording = devtools(
        tmp_path,
        {"type": "setViewport", "width": 1200, "height": 700, "deviceScaleFactor": 1, "isMobile": False, "hasTouch": False, "isLandscape": False},
        {"type": "navigate", "url": "https://a.example/", "assertedEvents": [{"type": "navigation", "url": "https://a.example/", "title": "A"}]},
        {"type": "click", "target": "main", **save, **field},
        {"type": "change", "target": "main", "value": "x", **field},
        {"type": "keyDown", "target": "main", "key": "Enter"},
        {"type": "keyUp", "target": "main", "key": "Enter"},
        {"type": "click", "target": "main", "button": "secondary", "frame": [0, 1], **save},
        {"type": "scroll", "x": 0, "y": 300},
    )  # fmt: skip
    name, spot = Target(("css=#name",)), (1.0, 2.0)
    assert recording.size == (1200, 700)
    assert [step.act for step in recording.steps] == [
        Leave("the harness says how large the window is"),
        Visit("https://a.example/"),
        Leave("the next step clicks the field, too"),
        Fill(name, "x"),
        Strike("Enter"),
        Leave("a key that was pressed is released by itself"),
        Press(Target(("css=#save",), (0, 1)), "right", spot=spot),
        Turn(None, (0.0, 300.0)),
    ]
    assert [step.number for step in recording.steps] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_reports_do_not_say_what_was_typed(tmp_path: Path) -> None:
    recording = devtools(tmp_path, {"type": "change", "selectors": ["#password"], "value": "hunter2"})
    assert recording.steps[0].words == "change #password"


def turn(*actions: dict[str, Any], elements: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    state = {
        "url": "https://a.example/",
        "title": "A",
        "interacted_element": elements or [None] * len(actions),
        **more.pop("state", {}),
    }
    return {
        "model_output": {"next_goal": "go on", "action": list(actions)},
        "result": more.pop("result", []),
        "state": state,
        **more,
    }


def browser_use(tmp_path: Path, *turns: Any) -> Recording:
    return read("browser-use", tmp_path / "history.json", json.dumps({"history": list(turns)}))


ELEMENT = {
    "node_name": "BUTTON",
    "attributes": {"id": "save", "class": "wide", "aria-label": 'Save "it"'},
    "x_path": "html/body/div[2]/button",
    "ax_name": "Save it",
}
SAVE = Target(
    (
        'css=button[id="save"][aria-label="Save \\"it\\""]',
        'css=button[id="save"][aria-label="Save \\"it\\""] >> internal:has-text="Save it"s',
        "xpath=/html/body/div[2]/button",
    ),
    anywhere=True,
)


def test_what_browser_use_did_is_read(tmp_path: Path) -> None:
    tabs = [{"url": "u", "title": "A", "tab_id": "AB12"}, {"url": "v", "title": "B", "tab_id": "CD34"}]
    recording = browser_use(
        tmp_path,
        turn({"navigate": {"url": "https://a.example/", "new_tab": False}}),
        turn({"click": {"index": 3}}, {"input": {"index": 4, "text": "x", "clear": False}}, elements=[ELEMENT, ELEMENT]),
        turn({"select_dropdown": {"index": 1, "text": "Red"}}, {"upload_file": {"index": 1, "path": "/tmp/a.txt"}}, elements=[ELEMENT, ELEMENT]),
        turn({"click": {"coordinate_x": 5, "coordinate_y": 6}}, {"scroll": {"down": False, "pages": 0.5}}, {"wait": {"seconds": 2}}),
        turn({"send_keys": {"keys": "Control+a"}}, {"send_keys": {"keys": "Enter"}}, {"send_keys": {"keys": "some words"}}),
        turn({"go_back": {}}, {"switch": {"tab_id": "CD34"}}, state={"tabs": tabs}),
        turn({"extract": {"query": "all"}}, {"evaluate": {"code": "alert(1)"}}, {"click": {"index": 9}}, {"fly": {}}),
        turn({"click": {"index": 3}}, elements=[ELEMENT], result=[{"error": "it was covered"}]),
        turn({"done": {"text": "It costs 5.", "success": True}}),
    )  # fmt: skip
    acts = [step.act for step in recording.steps]
    assert acts == [
        Visit("https://a.example/"),
        Press(SAVE), Fill(SAVE, "x", keep=True),
        Choose(SAVE, ("Red",)), Give(SAVE, ("a.txt",)),
        Do(Click(5, 6)), Turn(None, heights=-0.5), Do(Wait(2)),
        Strike("Control+a"), Strike("Enter"), Do(Type("some words")),
        Do(Back()), Do(SwitchTab(1)),
        Leave("it only reads, or writes the agent's own files"), Cannot("code of a recording is never run"),
        Cannot("the history does not keep which element it was"), Cannot("'fly' is no action of browser-use that a hand can do"),
        Leave("it failed when it was recorded: it was covered"),
        Leave("the end of the run"),
    ]  # fmt: skip
    assert recording.answer == Answer("It costs 5.")
    assert [step.number for step in recording.steps] == [1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7, 7, 7, 7, 8, 9]
    assert recording.steps[0].text == "go on"


def test_a_text_that_a_history_withholds_is_not_typed(tmp_path: Path) -> None:
    recording = browser_use(tmp_path, turn({"input": {"index": 1, "text": "<secret>pw</secret>"}}, elements=[ELEMENT]))
    assert recording.steps[0].act == Cannot("the history withholds the text that was typed")


def test_a_text_that_an_export_withholds_is_not_typed(tmp_path: Path) -> None:
    step = {
        "source": "agent",
        "message": "",
        "tool_calls": [{"tool_call_id": "1", "function_name": "type", "arguments": {"text": "[withheld]"}}],
    }
    record = {"schema_version": "ATIF-v1.7", "steps": [step], "extra": {"width": 100, "height": 100}}
    recording = read("atif", tmp_path / "a.json", json.dumps(record))
    assert [type(step.act) for step in recording.steps] == [Cannot]


def test_windows_of_codegen_count_in_the_order_of_opening(tmp_path: Path) -> None:
    lines = [
        {"name": "click", "selector": "a", "pageGuid": "1", "signals": [{"name": "popup", "popupPageGuid": "2"}]},
        {"name": "click", "selector": "b", "pageGuid": "3", "signals": []},
        {"name": "click", "selector": "c", "pageGuid": "2", "signals": []},
    ]
    recording = read("codegen", tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines)))
    assert [step.tab for step in recording.steps] == [0, 2, 1]


HOSTILE = {
    "empty": "",
    "no JSON": "<html>",
    "not UTF-8": b"\xff\xfe\x00",
    "a number": "7",
    "a list": "[]",
    "deep": "[" * 200_000,
    "deep object": '{"steps": ' * 50_000,
    "no number": '{"steps": [{"type": "scroll", "x": NaN}]}',
    "a huge number": '{"steps": [{"type": "scroll", "x": 1e308}]}',
    "digits": '{"steps": [{"type": "scroll", "x": ' + "9" * 10_000 + "}]}",
    "steps that are none": '{"steps": [1], "history": [1]}',
    "steps that are no list": '{"steps": {"a": 1}, "history": {"a": 1}}',
    "an unknown step": '{"steps": [{"type": "explode"}]}',
    "too many": json.dumps({"steps": [{"type": "close"}] * 5_001, "history": [{}] * 5_001}),
    "a long text": json.dumps({"steps": [{"type": "change", "selectors": ["a"], "value": "x" * 20_001}]}),
    "selectors of another kind": '{"steps": [{"type": "click", "selectors": [[["a"]], {"b": 1}]}]}',
    "no selectors": '{"steps": [{"type": "click", "selectors": []}]}',
    "a frame of another kind": '{"steps": [{"type": "click", "selectors": ["a"], "frame": ["0", -1]}]}',
    "actions of another kind": '{"history": [{"model_output": {"action": ["click", {"a": 1, "b": 2}]}}]}',
    "names of another kind": '{"name": 7}',
    "an unknown name": '{"name": "explode", "pageGuid": "a"}',
    "a click with nothing": '{"name": "click", "selector": null, "pageGuid": "a"}',
    "a click of a kind": '{"name": "click", "selector": "a", "clickCount": 99, "pageGuid": "a"}',
}


@pytest.mark.parametrize("kind", ["devtools", "codegen", "browser-use", "opencua", "atif"])
@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_is_no_recording_is_refused_in_words(kind: str, what: str, tmp_path: Path) -> None:
    text = HOSTILE[what]
    path = tmp_path / "file.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    try:
        recordings = list(READERS[kind](path))
    except UIGymError as exc:
        assert len(str(exc)) < 2_000
    else:
        assert not any(isinstance(step.act, Press | Fill | Do) for recording in recordings for step in recording.steps)


def test_a_file_is_not_read_beyond_its_bounds(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    with path.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    for kind in ("devtools", "codegen", "browser-use"):
        with pytest.raises(ConfigError, match="is larger than 64 MiB"):
            list(READERS[kind](path))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for kind in READERS:
        with pytest.raises(UIGymError, match=r"gone\.json"):
            list(READERS[kind](tmp_path / "gone.json"))
