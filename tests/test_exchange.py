"""Demonstrations in other formats: what is written is read back as the same actions, or its loss is counted."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from demonstrations import HEIGHT, PROVEN, WIDTH, folder, prove, put
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from uigym.cli.app import app
from uigym.errors import ConfigError, StoreError
from uigym.exchange import FORMATS, Exported, Options, export, tables
from uigym.exchange.words import Unsayable, difference
from uigym.policy.codecs import CODECS
from uigym.store import RunStore
from uigym.types import (
    Action,
    Answer,
    Back,
    Cause,
    Click,
    Dialog,
    Done,
    Drag,
    Episode,
    Failure,
    Goto,
    HoldKey,
    Invalid,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    Stop,
    SwitchTab,
    Type,
    Upload,
    Verdict,
    Wait,
)

DOCS = Path(__file__).parent.parent / "docs" / "recording.md"
WHOLE = ("hf", "atif", "adp")
"""Formats that hold every action as it is."""

LEFT: dict[str, Any] = {"x": 100.0, "y": 80.0}
KINDS: dict[str, tuple[Action, ...]] = {
    "click": (Click(**LEFT), Click(**LEFT, button="right")),
    "middle click": (Click(**LEFT, button="middle"),),
    "double click": (Click(**LEFT, count=2),),
    "triple click": (Click(**LEFT, count=3),),
    "click with Shift or Control held": (Click(**LEFT, modifiers=("Shift",)), Click(**LEFT, modifiers=("Control",))),
    "moving without pressing": (Move(**LEFT),),
    "drag from a point to another": (Drag(((100.0, 80.0), (300.0, 200.0))),),
    "drag along a path": (Drag(((100.0, 80.0), (200.0, 90.0), (300.0, 200.0))),),
    "drag with a modifier held": (Drag(((100.0, 80.0), (300.0, 200.0)), modifiers=("Shift",)),),
    "drag with another button": (Drag(((100.0, 80.0), (300.0, 200.0)), button="right"),),
    "pressing and releasing apart": (MouseDown(**LEFT), MouseUp(**LEFT)),
    "scroll by 100 px": (Scroll(**LEFT, dy=100.0), Scroll(**LEFT, dx=-100.0)),
    "scroll by 130 px": (Scroll(**LEFT, dy=130.0),),
    "scroll along both axes": (Scroll(**LEFT, dx=100.0, dy=100.0),),
    "scroll with Control held": (Scroll(**LEFT, dy=100.0, modifiers=("Control",)),),
    "typing": (Type('tea, "two"\nsugars \u00fc \u8336 \U0001f375'),),
    "key or chord": (Key("Enter"), Key("Control+A"), Key("Shift+Tab"), Key("+"), Key("ArrowLeft")),
    "holding a key": (HoldKey("Shift", 1.5),),
    "waiting": (Wait(1.0),),
    "answer": (Answer("12.50"),),
    "done": (Done(),),
    "Goto, Back, SwitchTab": (Goto("http://127.0.0.1:8000/orders"), Back(), SwitchTab(1)),
    "Upload": (Upload("a.pdf"), Upload(("a.pdf", "b.pdf")), Upload(())),
    "Dialog": (Dialog(accept=True, text="tea"), Dialog(accept=False)),
}
COLUMNS = {"hf, atif, adp": "hf", "openai": "openai", "anthropic": "anthropic", "qwen": "qwen", "uitars": "uitars", "opencua": "opencua"}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    """Thousands of small files are written here, and none must outlive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


def roundtrip(store: RunStore, out: Path, name: str, **options: Any) -> tuple[Exported, dict[str, tuple[Action, ...]]]:
    """What an export says, and the actions that are read back from it, by demonstration."""
    done = export(store, None, FORMATS[name], out, Options(**options))
    return done, {told.id: told.actions for told in FORMATS[name].read(out)}


def losses(meant: tuple[Action, ...], heard: tuple[Action, ...]) -> set[str]:
    """What differs, which must be nothing but what may."""
    return {difference(a, b, "the format") for a, b in zip(meant, heard, strict=True)} - {""}


# --- the table -----------------------------------------------------------------------------------------------


def table(out: Path) -> str:
    """What each format holds of each kind of action, as the documentation has it."""
    store = folder(out / "run", *KINDS.values())
    notes: list[str] = []
    cells: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for title, name in COLUMNS.items():
        _, found = roundtrip(store, out / title, name)
        for number, (kind, actions) in enumerate(KINDS.items()):
            cells[kind].append(_cell(actions, found.get(f"d{number}"), notes))
    head = ["| action | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    rows = [f"| {kind} | {' | '.join(row)} |" for kind, row in cells.items()]
    return "\n".join([*head, *rows, "", *(f"{n}. {note}" for n, note in enumerate(notes, 1))])


def _cell(meant: tuple[Action, ...], heard: tuple[Action, ...] | None, notes: list[str]) -> str:
    if heard is None:
        return "no"
    found = sorted(losses(meant, heard))
    notes.extend(note for note in found if note not in notes)
    return f"nearly ({', '.join(str(notes.index(note) + 1) for note in found)})" if found else "yes"


def test_the_documentation_says_what_each_format_holds(tmp_path: Path) -> None:
    made = table(tmp_path)
    assert made in DOCS.read_text(), f"{DOCS.name} should have this table:\n\n{made}"


# --- round trips ---------------------------------------------------------------------------------------------

X, Y = st.floats(0, WIDTH - 1), st.floats(0, HEIGHT - 1)
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
MODIFIERS = st.sampled_from([(), ("Shift",), ("Control", "Shift")])
BUTTONS = st.sampled_from(["left", "middle", "right"])
CHORDS = st.sampled_from(["Enter", "a", "A", "+", " ", "Control+A", "Control++", "Control+Shift+ArrowLeft", "Alt+F4", "PageDown"])  # fmt: skip
PATHS = st.lists(st.tuples(X, Y), min_size=2, max_size=5).map(tuple)
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(Click, X, Y, BUTTONS, st.integers(1, 3), MODIFIERS), st.builds(Move, X, Y), st.builds(Drag, PATHS, BUTTONS, MODIFIERS),
    st.builds(MouseDown, X, Y, BUTTONS), st.builds(MouseUp, X, Y, BUTTONS),
    st.builds(Scroll, X, Y, st.floats(-900, 900), st.floats(-900, 900), MODIFIERS), st.builds(Type, TEXT), st.builds(Key, CHORDS),
    st.builds(HoldKey, CHORDS, st.floats(0, 9)), st.builds(Wait, st.floats(0, 9)), st.builds(Goto, TEXT), st.just(Back()),
    st.builds(SwitchTab, st.integers(0, 9)), st.builds(Upload, st.one_of(TEXT, st.lists(TEXT, max_size=3).map(tuple))),
    st.builds(Dialog, st.booleans(), TEXT),
)  # fmt: skip
ENDS = st.one_of(st.just(Done()), st.builds(Answer, TEXT))
FOLDERS = itertools.count()


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=6)
@given(st.lists(ACTIONS, max_size=5), ENDS, st.sampled_from([1.0, 2.0]))
def test_whatever_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, actions: list[Action], end: Action, scale: float
) -> None:
    where = tmp_path_factory.getbasetemp() / f"any{next(FOLDERS)}"
    store = RunStore(where / "run")
    for number, action in enumerate([*actions, end]):
        put(store, f"d{number}", (action, end), scale)
    try:
        done, found = roundtrip(store, where / "out", name)
    except ConfigError as exc:
        assert name not in WHOLE and "nothing to export" in str(exc)
        return
    assert len(found) == done.demonstrations and sum(done.left_out.values()) == len(actions) + 1 - done.demonstrations
    lost: set[str] = set()
    for number, action in enumerate([*actions, end]):
        if f"d{number}" in found:
            lost |= losses((action, end), found[f"d{number}"])
            assert name not in WHOLE or found[f"d{number}"] == (action, end)
    assert lost == set(done.nearly)


@pytest.mark.parametrize("codec", sorted(set(CODECS) - {"anthropic", "openai", "gemini"}))
@pytest.mark.parametrize("context", ["full", "window(1)", "window(2)"])
@pytest.mark.parametrize("name", ["trl", "llamafactory"])
def test_rows_for_trainers_are_read_back_in_any_words(tmp_path: Path, codec: str, context: str, name: str) -> None:
    actions = (Click(**LEFT), Type("tea"), Key("Enter"), Drag(((9.0, 9.0), (100.0, 100.0))), Answer("2"))
    store = folder(tmp_path / "run", actions, actions[:2])
    done, found = roundtrip(store, tmp_path / "out", name, codec=codec, context=context)
    assert done.demonstrations == len(found) == 2
    assert losses(actions, found["d0"]) | losses(actions[:2], found["d1"]) == set(done.nearly)


def test_formats_for_models_that_are_served_elsewhere_are_no_words_of_a_row(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Click(**LEFT), Done()))
    for codec in ("openai", "nothing"):
        with pytest.raises(ConfigError, match="no local model speaks"):
            export(store, None, FORMATS["trl"], tmp_path / "out", Options(codec=codec))
    with pytest.raises(ConfigError, match="window"):
        export(store, None, FORMATS["trl"], tmp_path / "out", Options(context="hysteresis(1, 6)"))
    assert [path.name for path in tmp_path.iterdir()] == ["run"], "nothing is left behind"


def test_what_is_told_and_seen_stays_with_its_step(tmp_path: Path) -> None:
    actions = (Click(**LEFT), Type("tea"), Done())
    store = folder(tmp_path / "run", actions)
    episode = store.episode("d0")
    for name in FORMATS:
        export(store, None, FORMATS[name], tmp_path / name)
        (told,) = FORMATS[name].read(tmp_path / name)
        assert (told.instruction, told.task, told.seed) == ("Do d0.", "kiosk/order", 1), name
        assert [step.png for step in told.steps] == [store.image(step.image) for step in episode.steps], name
        assert (told.screen.width, told.screen.height) == (WIDTH, HEIGHT), name


# --- which are written ---------------------------------------------------------------------------------------


def mixed(where: Path) -> RunStore:
    """Of everything that a run folder may hold, one."""
    store = RunStore(where)
    ends: dict[str, dict[str, Any]] = {
        "failed": {"verdict": Verdict(0.5, False)},
        "lost": {"verdict": None, "failure": Failure(Cause.BROWSER, "crashed"), "stop": Stop.ERROR},
    }
    for name in ("played", "proven", "unproven", "broken", "failed", "lost"):
        put(store, name, (Click(**LEFT), Done()), **ends.get(name, {}))
    prove(store, "proven", PROVEN)
    prove(store, "unproven")
    prove(store, "broken", PROVEN, type(PROVEN)(same_state=False, passes=True, idle_fails=True))
    put(store, "empty", ())
    return store


def test_only_what_counts_is_written_unless_all_is_asked_for(tmp_path: Path) -> None:
    store = mixed(tmp_path / "run")
    done, found = roundtrip(store, tmp_path / "out", "atif")
    assert set(found) == {"played", "proven"}
    assert sorted(done.left_out) == [
        "did not count when it was last replayed",
        "has no step",
        "lost to the machinery, so it has no verdict",
        "never proven: replay it first",
        "not solved",
    ]
    done, found = roundtrip(store, tmp_path / "all", "atif", everything=True)
    assert set(found) == {"played", "proven", "unproven", "broken", "failed"}, "a failure of machinery is no failure"
    (told,) = [told for told in FORMATS["atif"].read(tmp_path / "all") if told.id == "failed"]
    assert (told.about["reward"], told.about["success"], told.about["counts"]) == (0.5, False, None)


def test_a_withheld_password_is_written_only_if_the_task_knows_it(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    for name, source in (("known", "params.password"), ("unknown", "prompt")):
        put(store, name, (Click(**LEFT), Type("[withheld]"), Done()), params={"password": "open sesame"})
        prove(store, name, PROVEN, notes={"withheld": {"1": source}})
    done, found = roundtrip(store, tmp_path / "out", "qwen")
    assert found["known"][1] == Type("open sesame") and set(found) == {"known"}
    assert done.left_out == {"a password in it was withheld, and the task does not know it": 1}
    _, found = roundtrip(store, tmp_path / "all", "atif", everything=True)
    assert found["unknown"][1] == Type("[withheld]")


def test_exact_leaves_out_what_would_be_held_nearly(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Scroll(**LEFT, dy=130.0), Done()), (Scroll(**LEFT, dy=200.0), Done()))
    done, found = roundtrip(store, tmp_path / "out", "anthropic", exact=True)
    assert set(found) == {"d1"} and done.left_out == {"scrolling goes another distance": 1} and not done.nearly


def test_a_demonstration_that_is_left_out_counts_for_nothing(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Scroll(**LEFT, dy=130.0), HoldKey("a", 1.0), Done()), (Done(),))
    done, _ = roundtrip(store, tmp_path / "out", "openai")
    assert done.nearly == {} and done.left_out == {"openai has no word for HoldKey": 1} and done.steps == 1


def test_an_export_is_whole_or_not_there(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Click(**LEFT), Done()), (Done(),))
    store.image_path(store.episode("d1").steps[0].image).write_bytes(b"damaged")
    for name in FORMATS:
        with pytest.raises(StoreError, match="damaged"):
            export(store, None, FORMATS[name], tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty"):
        export(store, ["d0"], FORMATS["hf"], tmp_path / "out")
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"


def test_a_text_that_stands_for_a_picture_is_refused_where_it_would(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Type("<image>"), Done()), (Type("<b>"), Done()))
    done, found = roundtrip(store, tmp_path / "lf", "llamafactory")
    assert set(found) == {"d1"} and done.left_out == {"its text holds <image>, which would stand for a file there": 1}
    assert set(roundtrip(store, tmp_path / "trl", "trl")[1]) == {"d0", "d1"}


# --- files as their readers want them -----------------------------------------------------------------------


def test_splits_and_shards_are_named_as_datasets_wants_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SHARD_BYTES", 2000)
    monkeypatch.setattr(tables, "GROUP_BYTES", 500)
    store = RunStore(tmp_path / "run")
    for seed in (1, 2, 1_000_001, 2_000_001):
        put(store, f"s{seed}", (Click(**LEFT), Type("tea"), Done()), seed=seed)
    for name in ("hf", "trl"):
        _, found = roundtrip(store, tmp_path / name, name)
        assert len(found) == 4
        files = {path.name.rpartition("-")[0] for path in (tmp_path / name / "data").iterdir()}
        assert files == {"train", "validation", "test"}
        assert len(list((tmp_path / name / "data").glob("train-*"))) > 1


def test_rows_tell_what_they_no_longer_show(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Type("tea"), Key("Enter"), Done()))
    export(store, None, FORMATS["llamafactory"], tmp_path / "out", Options(context="window(1)"))
    rows = [json.loads(line) for line in (tmp_path / "out" / "train.jsonl").read_text().splitlines()]
    assert [len(row["images"]) for row in rows] == [1, 1, 1]
    asked = rows[2]["messages"][1]["content"]
    assert asked.startswith("<image>Your earlier replies:\n") and "tea" in asked and "enter" in asked
    info = json.loads((tmp_path / "out" / "dataset_info.json").read_text())
    assert info["uigym_train"]["file_name"] == "train.jsonl"


def adp_faults(record: dict[str, Any]) -> Iterator[str]:
    """What the Agent Data Protocol 1.2.0 forbids and a record has."""
    fields = {
        "api_action": {"class_", "function", "kwargs", "description", "reasoning_content", "reward", "tool_call_id"},
        "text_observation": {"class_", "content", "name", "source", "tool_call_id", "reward"},
        "image_observation": {"class_", "content", "annotations", "source", "tool_call_id", "reward"},
    }
    root = {"schema_version", "id", "content", "available_custom_tools", "available_code_languages", "details"}
    if extra := set(record) - root:
        yield f"fields {extra}"
    called, answered = [], []
    for item in record["content"]:
        if extra := set(item) - fields[item["class_"]]:
            yield f"{item['class_']}: fields {extra}"
        if name := item.get("tool_call_id"):
            (called if item["class_"] == "api_action" else answered).append(name)
            if item["class_"] != "api_action" and name not in called:
                yield f"{name} is answered before it is called"
    if sorted(called) != sorted(answered) or len(set(called)) != len(called):
        yield f"{called} are not answered once each by {answered}"
    if set(record["available_custom_tools"]) < {i["function"] for i in record["content"] if "function" in i}:
        yield "a tool that is not among the available ones"


def test_adp_is_as_its_schema_wants_it(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", *KINDS.values())
    export(store, None, FORMATS["adp"], tmp_path / "out")
    for line in (tmp_path / "out" / "train.jsonl").read_text().splitlines():
        assert list(adp_faults(json.loads(line))) == []
        assert all((tmp_path / "out" / i["content"]).is_file() for i in json.loads(line)["content"] if i["class_"] == "image_observation")  # fmt: skip


# --- what others wrote ---------------------------------------------------------------------------------------


def test_files_of_others_say_what_they_can(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Done(),))
    image = store.episode("d0").steps[0].image
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(store.image(image))
    codes = ["pyautogui.click(x=0.5, y=0.5)", "pyautogui.keyDown('ctrl')\npyautogui.click(x=0.5, y=0.5)\npyautogui.keyUp('ctrl')", "import os; os.remove('x')", "computer.terminate(status='success')"]  # fmt: skip
    steps = [{"index": n, "image": "a.png", "value": {"code": code}} for n, code in enumerate(codes)]
    (tmp_path / "x.jsonl").write_text(json.dumps({"task_id": "t", "instruction": "Go.", "traj": steps}))
    (told,) = FORMATS["opencua"].read(tmp_path / "x.jsonl")
    assert told.actions[:2] == (Click(320.0, 200.0), Click(320.0, 200.0, modifiers=("Control",)))
    assert isinstance(told.actions[2], Invalid) and told.actions[3] == Done()

    call = {"tool_call_id": "1", "function_name": "left_click", "arguments": {"coordinate": [10, 20]}}
    asked = [{"type": "text", "text": "Go."}, {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}]  # fmt: skip
    agent = {"step_id": 2, "source": "agent", "message": "", "tool_calls": [call, {**call, "function_name": "rm", "arguments": {}}]}  # fmt: skip
    record = {"schema_version": "ATIF-v1.7", "agent": {"name": "x", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": asked}, agent]}  # fmt: skip
    (tmp_path / "x.json").write_text(json.dumps(record))
    (told,) = FORMATS["atif"].read(tmp_path / "x.json")
    assert told.actions[0] == Click(10.0, 20.0) and isinstance(told.actions[1], Invalid)


@pytest.mark.parametrize("name", ["atif", "adp", "opencua", "openai", "anthropic", "qwen", "llamafactory"])
@pytest.mark.parametrize(
    "text", ["", "[", "[" * 100_000, "null", '"x"', "[1]", '{"steps": "x", "traj": 3, "content": 7, "uigym": 1, "messages": 2}', "{}"]
)  # fmt: skip
def test_hostile_files_are_refused_or_tell_nothing(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / ("x.json" if name == "atif" else "x.jsonl")
    path.write_text(text)
    try:
        assert [told.steps for told in FORMATS[name].read(path)] == []
    except (ConfigError, StoreError) as exc:
        assert len(str(exc)) < 2000


@pytest.mark.parametrize(
    "path", ["../secret.png", "/etc/hostname", "images/../../secret.png", "a\0b", "images/link.png"]
)
def test_pictures_outside_of_the_folder_are_not_read(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "in"
    (inside / "images").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(b"secret")
    (inside / "images" / "link.png").symlink_to(tmp_path / "secret.png")
    step = {"index": 0, "image": path, "value": {"code": "pyautogui.click(x=0.5, y=0.5)"}}
    (inside / "x.jsonl").write_text(
        json.dumps({"task_id": "t", "traj": [step], "uigym": {"width": 640, "height": 400}})
    )
    (told,) = FORMATS["opencua"].read(inside)
    assert told.steps[0].png is None


@pytest.mark.parametrize(
    "arguments", [{"x": "a", "y": 1}, {"x": None, "y": 1}, {"x": 1}, {"x": 1, "y": 2, "z": 3}, {"x": 1, "y": 2, "button": "fourth"}, [], "}{", 7]
)  # fmt: skip
def test_calls_with_wrong_arguments_are_no_actions(tmp_path: Path, arguments: Any) -> None:
    call = {"tool_call_id": "1", "function_name": "click", "arguments": arguments}
    extra = {"width": 640, "height": 400}
    record = {"steps": [{"step_id": 1, "source": "agent", "message": "", "tool_calls": [call]}], "extra": extra}
    (tmp_path / "x.json").write_text(json.dumps(record))
    (told,) = FORMATS["atif"].read(tmp_path)
    assert isinstance(told.actions[0], Invalid)


def test_what_is_nothing_like_the_action_is_not_nearly_it() -> None:
    for meant, heard in (
        (Key("a"), Key("b")), (Scroll(1, 1, dy=100), Scroll(1, 1, dy=-100)), (Click(1, 1), Click(1, 1, count=2)),
        (Type("a"), Type("b")), (Click(1, 1), Click(200, 1)), (Click(1, 1), Move(1, 1)), (Drag(((1, 1), (2, 2))), Drag(((1, 1), (300, 2)))),
    ):  # fmt: skip
        with pytest.raises(Unsayable):
            difference(meant, heard, "it")


def test_an_episode_of_this_run_is_a_record_like_any_other(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Click(**LEFT), Done()))
    assert isinstance(store.episode("d0"), Episode)
    with pytest.raises(StoreError):
        export(store, ["nobody"], FORMATS["hf"], tmp_path / "out")


# --- the command ---------------------------------------------------------------------------------------------


def command(*words: str | Path) -> Any:
    """What `uigym export` prints and how it ends."""
    return CliRunner().invoke(app, ["export", *map(str, words)])


def test_a_folder_is_exported_in_a_word(tmp_path: Path) -> None:
    folder(tmp_path / "run", (Scroll(**LEFT, dy=130.0), Done()), (HoldKey("a", 1.0), Done()))
    plain = command(tmp_path / "run", "--to", "openai", "--out", tmp_path / "plain")
    assert plain.exit_code == 0, plain.output
    assert "1 demonstrations with 2 actions" in plain.stdout and "1 x openai has no word for HoldKey" in plain.stdout
    done = command("--to", "anthropic", "--json", "--id", "d0", tmp_path / "run", "--out", tmp_path / "out")
    assert json.loads(done.stdout) == {
        "out": str(tmp_path / "out"), "format": "anthropic", "demonstrations": 1, "steps": 2,
        "nearly": {"scrolling goes another distance": 1}, "left_out": {},
    }  # fmt: skip
    told = command("demos", "--help").stdout
    assert all(re.search(rf"\b{name}\b", told) for name in FORMATS), "the help names every format"
    assert command("--help").stdout.count("demos") >= 2 and command().exit_code != 0


@pytest.mark.parametrize("name", ["demos", "tasks"])
def test_a_folder_may_be_called_like_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / name, (Click(**LEFT), Done()))
    for number, words in enumerate([[name], ["demos", name]]):
        done = command(*words, "--to", "adp", "--out", f"out{number}")
        assert done.exit_code == 0 and "1 demonstrations with 2 actions" in done.stdout, done.output
    assert "HARNESS" in command("tasks", "kiosk", "--help").stdout, "a command that another word follows"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--to", "atiff", "--out", "out"], 'Did you mean "atif"'),
        (["nowhere", "--to", "atif", "--out", "out"], "holds no run"),
        (["run", "--to", "trl", "--codec", "x", "--out", "out"], "no local model speaks"),
        (["run", "--to", "atif", "--id", "nobody", "--out", "out"], "nobody"),
    ],
)
def test_wrong_words_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "run", (Click(**LEFT), Done()))
    found = command(*words)
    assert found.exit_code == 2 or found.exit_code == 1
    assert said in " ".join(found.stderr.split()) and not (tmp_path / "out").exists()
