"""The pieces of a draft: commands, locators and texts as source, changes as verifiers."""

from __future__ import annotations

import ast
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from uigym.draft.aim import Target
from uigym.draft.author import Asked, _apart, _loose, _names, _parts, _steady, _typed, _without, check_target
from uigym.draft.demonstration import Act, read_actions
from uigym.draft.explore import Found, with_port
from uigym.draft.oracle import lines, spoken
from uigym.draft.said import is_unsaid
from uigym.draft.start import HERE, names_a_file, rooted
from uigym.draft.text import (
    Part,
    Plan,
    Shown,
    expected,
    harness_text,
    imports,
    quoted,
    task_name,
    unsaid,
    variable,
    whole_text,
)
from uigym.draft.unsteady import by_time
from uigym.errors import ConfigError
from uigym.state import Changed, State, differences
from uigym.types import Click, Drag, Episode, Key, Scroll, Stop, Type
from uigym.verify import Verifier, all_of

PLAN = Plan(
    name="shop", way="start", value="run --port {port}", ready="/", home="/", viewport=(800, 600),
    state=(Part("Sqlite", ("{workdir}/shop.db",)),), reset=(Part("Snapshot", ("{workdir}/shop.db",)),),
)  # fmt: skip


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("serve --port {port}", "serve --port {port}"),
        ("serve --port 8000 --x 9000", "serve --port {port} --x 9000"),
        ("serve --port=8000", "serve --port={port}"),
        ("serve -p 3000", "serve -p {port}"),
        ("serve --bind 127.0.0.1:5000", "serve --bind 127.0.0.1:{port}"),
        ("npm start", "PORT={port} npm start"),
        ("serve --workers 8000", "PORT={port} serve --workers 8000"),
    ],
)
def test_a_command_says_its_port(command: str, told: str) -> None:
    start = with_port(command)
    assert start.command == told and bool(start.remark) is (command != told)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("python app.py --port {port}", "python '@/app.py' --port {port}"),
        ("PORT={port} python 'my app.py' --conf=app.py", "PORT={port} python '@/my app.py' --conf='@/app.py'"),
        ("./app.py --db {workdir}/app.py", "'@/app.py' --db {workdir}/app.py"),
        ("PORT={port} serve sub/ {workdir}", "PORT={port} serve '@/sub' {workdir}"),
        ("serve --port {port} sub other.py", "serve --port {port} sub other.py"),
        ("sh -c 'python app.py'", "sh -c 'python app.py'"),
        ("/bin/sh app.py", "/bin/sh '@/app.py'"),
        ("{python} app.py", "{python} '@/app.py'"),
        ("A='b c' PORT={port} serve app.py", "A='b c' PORT={port} serve '@/app.py'"),
    ],
)
def test_a_command_works_from_anywhere(
    command: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("app.py", "my app.py", "serve"):
        (tmp_path / name).touch()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    assert rooted(command, tmp_path).replace(HERE, "@") == told
    assert rooted("x app.py", tmp_path / "sub").replace(HERE, "@") == "x '@/../app.py'"
    assert rooted("x app.py", tmp_path / "a/b/c/d") == f"x '{tmp_path}/app.py'"
    assert names_a_file(rooted(command, tmp_path)) is ("@" in told or command.startswith("/"))
    plan = dataclasses.replace(PLAN, value=rooted(command, tmp_path))
    place: dict[str, Any] = {
        "__file__": str(tmp_path / "draft.py"),
        "Harness": lambda **given: given,
        "Sqlite": str,
        "Snapshot": str,
    }
    text = imports(plan, ["unchanged"]).partition("HERE =")
    exec(f"from pathlib import Path\n{text[1]}{text[2]}\n{harness_text(plan)}", place)
    assert place["shop"]["start"] == told.replace("@", str(tmp_path))


def test_a_database_of_a_running_product_is_named_from_the_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = Asked(target=tmp_path / "gyms/x.py", url="http://127.0.0.1:1", database="shop.db")
    assert _parts(asked, Found(ready="/"))[0] == (Part("Sqlite", (f"{HERE}/../shop.db",)),)
    assert str(_parts(asked, Found(ready="/"))[0][0]) == 'Sqlite(f"{HERE}/../shop.db")'
    of_command = dataclasses.replace(asked, url="", command="x")
    assert _parts(of_command, Found(ready="/"))[0][0] == Part("Sqlite", ("shop.db",))  # in the work folder


# --- texts -----------------------------------------------------------------------------------------------------------


@given(st.text())
def test_any_text_comes_back_from_its_source(text: str) -> None:
    assert ast.literal_eval(quoted(text)) == text


@given(st.text("ab {}\"'\\\n", max_size=12), st.lists(st.text("ab", min_size=1, max_size=3), max_size=2, unique=True))
def test_a_text_with_parameters_has_their_values(text: str, values: list[str]) -> None:
    names = {value: f"p{number}" for number, value in enumerate(values)}
    source = spoken(text, names)
    assert eval(source, {name: value for value, name in names.items()}) == text  # our own source


@given(st.text())
def test_any_name_becomes_a_variable(text: str) -> None:
    assert variable(text).isidentifier() and task_name(text).isidentifier()


# --- changes as verifiers --------------------------------------------------------------------------------------------

values = st.none() | st.integers(-5, 5) | st.text("ab'\"{\\", max_size=3) | st.booleans()
columns = ("id", "name", "count", "class", "odd name")
rows = st.dictionaries(st.integers(1, 4), st.tuples(*[values] * (len(columns) - 1)), max_size=4)


def state(table: dict[int, tuple[Any, ...]]) -> State:
    found = tuple(dict(zip(columns, (number, *rest), strict=True)) for number, rest in sorted(table.items()))
    return State({"t": found, "other": ()}, {"t": ("id",), "other": ("id",)})


def episode(before: State, after: State) -> Episode:
    record = {"id": "e", "harness": "shop", "task": "t", "seed": 0, "params": {}, "instruction": "", "steps": ()}
    return Episode(**record, stop=Stop.DONE, before=before, after=after)  # type: ignore[arg-type]


def verifier(shown: Shown) -> Verifier:
    """What the drafted task returns."""
    source = whole_text(PLAN, shown, "x.py")
    place: dict[str, Any] = {}
    exec(compile(source, "draft", "exec"), place)
    (task,) = place["shop"].tasks.values()
    return all_of(task.instance(0, State()).verifier)


def shown(changes: Any, **fields: Any) -> Shown:
    given = {"instruction": "Do it.", "answer": "", "changes": tuple(changes), "oracle": (), "names": {}, **fields}
    return Shown(**given)


FEW = settings(max_examples=40, phases=(Phase.explicit, Phase.generate))


@FEW
@given(rows, rows)
def test_a_drafted_verifier_accepts_what_was_shown_and_refuses_nothing(old: Any, new: Any) -> None:
    before, after = state(old), state(new)
    changes = list(differences(before, after))
    drafted = verifier(shown(changes))
    assert drafted(episode(before, after)).success
    if changes:
        assert not drafted(episode(before, before)).success


@FEW
@given(rows, rows, rows)
def test_a_drafted_verifier_refuses_whatever_else_is_removed_or_changed(old: Any, new: Any, odd: Any) -> None:
    before, after, wrong = state(old), state(new), state(odd)
    expected = {str(change) for change in differences(before, after)}
    found = {str(change) for change in differences(before, wrong)}
    if {e for e in expected if "added" not in e} != {f for f in found if "added" not in f}:
        assert not verifier(shown(differences(before, after)))(episode(before, wrong)).success


def test_values_that_come_out_differently_are_not_expected() -> None:
    before = State({"t": ({"id": 1, "read": 0, "at": 1},)}, {"t": ("id",)})
    first = State({"t": ({"id": 1, "read": 1, "at": 2}, {"id": 2, "read": 0, "at": 3})}, {"t": ("id",)})
    second = State({"t": ({"id": 1, "read": 1, "at": 9}, {"id": 2, "read": 0, "at": 8})}, {"t": ("id",)})
    changes = tuple(differences(before, first))
    loose = _loose(changes, tuple(differences(before, second)))
    assert loose == {("t", "at")}
    drafted = verifier(shown(changes, loose=loose))
    assert drafted(episode(before, second)).success
    assert not verifier(shown(changes))(episode(before, second)).success


def test_a_row_of_which_nothing_can_be_foretold_may_change_at_will() -> None:
    before, after = (
        State({"t": ({"id": 1, "at": 1},)}, {"t": ("id",)}),
        State({"t": ({"id": 1, "at": 2},)}, {"t": ("id",)}),
    )
    text = whole_text(PLAN, shown(differences(before, after), loose={("t", "at")}, answer="x"), "x.py")
    assert 'all_of(equals("x"), unchanged(except_=[("t", 1)]))' in text


def test_a_column_that_the_verifier_has_another_word_for_may_change() -> None:
    before, after = State({"t": ({"id": 1, "key": 1, "a b": 1},)}), State({"t": ({"id": 1, "key": 2, "a b": 2},)})
    text = whole_text(PLAN, shown(differences(before, after), instruction="Make it 2."), "x.py")
    assert """changed("t", key=1, **{'a b': 2}, also=["key"])""" in text


def test_files_are_told_by_their_text_or_their_digest() -> None:
    short = {"path": "a.txt", "size": 1, "sha256": "0", "text": "x"}
    old, new = State({"files": (short,)}, {"files": ("path",)}), State({"files": ({**short, "text": "y", "sha256": "1"}, {"path": "b", "size": 9, "sha256": "2", "text": None})}, {"files": ("path",)})  # fmt: skip
    text = whole_text(PLAN, shown(differences(old, new)), "x.py")
    assert 'added("files", path="b", sha256="2")' in text
    assert 'changed("files", key="a.txt", text="y", also=["sha256"])' in text


def test_what_was_typed_and_said_becomes_a_parameter() -> None:
    acts = [
        Act(Type("Per")),
        Act(Type("suasion")),
        Act(Key("Tab")),
        Act(Type("7")),
        Act(Click(1, 1), BUTTON, "poems", "list"),
    ]
    added = Changed("books", ("id",), None, {"id": 7, "title": "Persuasion", "pages": 7, "new": True, "kind": "poems"})
    typed = _typed(acts)
    assert typed == ["Persuasion", "7", "poems"]
    assert _names("Add Persuasion, 7 pages.", typed, [added]) == {"Persuasion": "title", 7: "pages"}
    assert _names("Add Persuasions, 17 pages, 7.5 euros.", typed, [added]) == {}
    alike = dataclasses.replace(added, after={**(added.after or {}), "shelf": 7})
    assert 7 not in _names("Add 7 pages.", typed, [alike])  # which of the two is meant?
    text = whole_text(PLAN, shown([added], instruction="Add {Persuasion}.", names={"Persuasion": "title"}), "x.py")
    assert '"Add {{{title}}}."' in text and 'title: str = one_of("Persuasion")' in text and "title=title" in text


def test_a_number_is_a_parameter_wherever_it_is_meant() -> None:
    added = Changed("tools", ("id",), None, {"id": 12, "name": "Spade", "qty": 12})
    moved = Changed("shelves", ("id",), {"id": 12, "free": 13}, {"id": 12, "free": 1})
    field = lines([Act(Click(1, 2), FIELD), Act(Type("12")), Act(Click(1, 2), BUTTON)], {12: "qty"})
    assert field[0].endswith("fill(str(qty))")
    fields = {"instruction": "Add 12 of Spade on 120 shelves.", "names": {12: "qty"}, "oracle": field, "typed": ["12"]}
    text = whole_text(PLAN, shown([added, moved], **fields), "x.py")
    assert '"Add {qty} of Spade on 120 shelves."' in text and "qty: int = one_of(12)," in text
    assert 'added("tools", name="Spade", qty=qty)' in text and 'changed("shelves", key=12, free=1)' in text
    before, after = State({"tools": (), "shelves": (moved.before or {},)}), State({"tools": (added.after or {},), "shelves": (moved.after or {},)})  # fmt: skip
    assert verifier(shown([added, moved], **fields))(episode(before, after)).success


# --- what the instruction does not say -------------------------------------------------------------------------------


def test_what_the_instruction_does_not_say_is_marked() -> None:
    row = {"id": 3, "name": "Spade", "place": "Garden", "qty": 2, "lent": 0, "note": ""}
    added = Changed("tools", ("id",), None, row)
    silent = shown([added], instruction="Add Spade.", names={"Spade": "name"}, typed=["Spade", "Garden", "2"])
    assert unsaid(silent) == ['place="Garden"', "qty=2"]
    text = whole_text(PLAN, silent, "x.py")
    assert 'place="Garden",  # DRAFT: the instruction does not say this\n' in text
    assert "qty=2,  # DRAFT: the instruction does not say this\n" in text and text.count("not say") == 2
    assert expected(silent) == ['added("tools", name="Spade", place="Garden", qty=2, lent=0, note="")']
    before, after = State({"tools": ()}, {"tools": ("id",)}), State({"tools": (row,)}, {"tools": ("id",)})
    assert verifier(silent)(episode(before, after)).success
    told = shown([added], instruction="Add two of Spade in the garden.")
    assert unsaid(told) == [] and "does not say" not in whole_text(PLAN, told, "x.py")


def test_several_rows_and_changed_ones_are_marked_too() -> None:
    new = [Changed("t", ("id",), None, {"id": number, "name": name}) for number, name in enumerate(("Ann", "Bob"))]
    moved = Changed("t", ("id",), {"id": 9, "odd name": 1, "kind": 1}, {"id": 9, "odd name": 5, "kind": 6})
    draft = shown([*new, moved], instruction="Add Ann.")
    text = whole_text(PLAN, draft, "x.py")
    assert '{"name": "Ann"},\n' in text and '{"name": "Bob"},  # DRAFT: the instruction does not say name\n' in text
    assert "kind=6,  # DRAFT: the instruction does not say this\n" in text
    assert "**{'odd name': 5},  # DRAFT: the instruction does not say odd name\n" in text
    assert unsaid(draft) == ['name="Bob"', "odd name=5", "kind=6"]


@pytest.mark.parametrize(
    ("value", "typed", "is_missing"),
    [("", [], False), (0, [], False), (1, [], False), (1, ["1"], True), (True, [], False), (None, [], False), (2.5, [], True),
     (12, [], False), (2, [], True), (3, [], False), ("GREEN  tea", [], False), ("tea pot", [], True), ("a.b", [], True)],
)  # fmt: skip
def test_what_is_said(value: Any, typed: list[str], is_missing: bool) -> None:
    assert is_unsaid("Order 12 cups of Green tea, three times.", value, typed) is is_missing


# --- oracles ---------------------------------------------------------------------------------------------------------

FIELD = Target((("get_by_role", ("textbox",), {"name": "Title", "exact": True}),), editable=True, empty=True)
FULL = dataclasses.replace(FIELD, empty=False)
BUTTON = Target((("get_by_role", ("button",), {"name": "Add", "exact": True}), ("nth", (2,), {})))


@pytest.mark.parametrize(
    ("acts", "told"),
    [
        ([Act(Click(1, 2), BUTTON)], ['await page.get_by_role("button", name="Add", exact=True).nth(2).click()']),
        ([Act(Click(1, 2.5))], ["await page.mouse.click(1, 2.5)"]),
        ([Act(Click(1, 2, "right", 2))], ['await page.mouse.click(1, 2, button="right", click_count=2)']),
        ([Act(Click(1, 2), FIELD), Act(Type("a")), Act(Type("b"))], ['await page.get_by_role("textbox", name="Title", exact=True).fill("ab")']),
        ([Act(Click(1, 2), FULL), Act(Type("a"))], ['await page.get_by_role("textbox", name="Title", exact=True).click()', 'await page.keyboard.type("a")']),
        ([Act(Click(1, 2), FULL), Act(Key("Control+A")), Act(Type("a"))], ['await page.get_by_role("textbox", name="Title", exact=True).fill("a")']),
        ([Act(Click(1, 2), BUTTON, "poems", "list")], ['await page.get_by_role("button", name="Add", exact=True).nth(2).select_option(label="poems")']),
        ([Act(Scroll(1, 2, 0, 30)), Act(Click(1, 2))], ["await page.mouse.move(1, 2)", "await page.mouse.wheel(0, 30)", "await page.mouse.click(1, 2)"]),
        ([Act(Scroll(1, 2, 0, 30)), Act(Scroll(1, 2, 0, 30)), Act(Click(1, 2), BUTTON), Act(Scroll(1, 2, 0, 9))], ['await page.get_by_role("button", name="Add", exact=True).nth(2).click()']),
        ([Act(Drag(((1, 2), (3, 4))))], ["await page.mouse.move(1, 2)", "await page.mouse.down()", "await page.mouse.move(3, 4)", "await page.mouse.up()"]),
    ],
)  # fmt: skip
def test_acts_in_playwrights_words(acts: list[Act], told: list[str]) -> None:
    assert lines(acts, {}) == told
    by_place = lines(acts, {}, by_place=True)
    assert not any("get_by" in line for line in by_place)
    for line in (*told, *by_place):
        compile(f"async def f(page):\n    {line}", "x", "exec")


# --- what is asked ---------------------------------------------------------------------------------------------------


def test_a_harness_is_written_with_what_it_needs_alone() -> None:
    text = harness_text(PLAN)
    assert "ready=" not in text and "home=" not in text and text.startswith("shop = Harness(\n    name=")
    assert 'ready="/up",' in harness_text(dataclasses.replace(PLAN, ready="/up"))


def test_what_changes_by_itself_is_left_out() -> None:
    plan = dataclasses.replace(PLAN, state=(*PLAN.state, Part("Files", ("{workdir}",), ("shop.db*",))))
    noise = [
        Changed("visits", ("id",), None, {"id": 1}),
        Changed("users", ("id",), {"id": 1, "seen": 1, "name": "x"}, {"id": 1, "seen": 2, "name": "x"}),
        Changed("files", ("path",), None, {"path": "access.txt"}),
    ]
    told: list[str] = []
    quiet = _without(plan, noise, [{"visits", "users"}, {"files"}], told.append)
    assert [part.ignore for part in quiet.state] == [("users.seen", "visits"), ("shop.db*", "access.txt")]
    assert len(told) == 3


STAMPED = {"id": "a", "name": "Spade", "at": 1}


def test_what_comes_out_differently_is_left_out_of_the_state() -> None:
    first = [Changed("tools", ("id",), None, STAMPED), Changed("files", ("path",), None, {"path": "x", "sha256": "1"})]
    again = [
        Changed("tools", ("id",), None, {**STAMPED, "id": "b", "at": 2}),
        Changed("files", ("path",), None, {"path": "x", "sha256": "2"}),
    ]
    plan = dataclasses.replace(PLAN, state=(*PLAN.state, Part("Files", ("{workdir}",))))
    steady, told = _steady(
        plan, shown(first, instruction="Add Spade."), again, frozenset({("tools", "made")}), [{"tools"}, {"files"}]
    )
    assert [part.ignore for part in steady.state] == [("tools.at", "tools.id", "tools.made"), ("x",)]
    assert told.changes == (Changed("tools", (), None, {"name": "Spade"}),)
    text = whole_text(steady, told, "x.py")
    assert "    # tools.at, tools.id, tools.made, x: came out differently the second time" in text
    assert 'added("tools", name="Spade")' in text


def test_what_still_differs_is_a_fault() -> None:
    first, again = (Changed("t", ("id",), None, {**STAMPED, "at": at}) for at in (1, 2))
    assert _apart([first], [first]) == []
    assert _apart([first], [again]) == [
        "played again it left another value in t.at: ignore it, or tell it by what stays the same"
    ]
    assert _apart([first], [first, again]) == ["played again it changed 2 rows, the demonstration 1"]


def test_a_key_stays_where_rows_must_be_named_or_the_probe_needs_it() -> None:
    new, again = Changed("t", ("id",), None, STAMPED), Changed("t", ("id",), None, {**STAMPED, "id": "b"})
    loose = {("t", "id"), ("t", "at")}
    changed = Changed("t", ("id",), {**STAMPED, "id": "c", "at": 0}, {**STAMPED, "id": "c"})
    assert by_time(loose, [new, changed], [again, changed], PLAN).columns == {("t", "at")}
    on_server = dataclasses.replace(PLAN, state=(Part("Mysql"),))
    assert by_time(loose, [new], [again], on_server).columns == {("t", "at")}
    assert by_time({("t", column) for column in STAMPED}, [new], [again], PLAN).tables == {"t"}
    file = Changed("files", ("path",), None, {"path": "x", "text": "1"})
    other = Changed("files", ("path",), None, {"path": "x", "text": "2"})
    assert not by_time({("files", "text")}, [file], [other], PLAN)  # or nothing would be left to expect


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 2: .*expected one action per line"),
        ("[1]", r"line 2: expected an object, got \[1\]"),
        ('{"action": "clik"}', "line 2: no action 'clik'"),
        ('{"action": "click", "z": 1}', "line 2: a click action cannot have"),
    ],
)
def test_a_file_of_actions_that_is_none(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"action": "type", "text": "x"}) + "\n" + line)
    with pytest.raises(ConfigError, match=told):
        read_actions(file)
    file.write_text("\n\n")
    with pytest.raises(ConfigError, match="holds no action"):
        read_actions(file)
    with pytest.raises(ConfigError, match="cannot read the actions"):
        read_actions(tmp_path / "missing.jsonl")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    taken = tmp_path / "taken.py"
    taken.write_text("mine")
    for target, told in [
        (taken, "is there already"),
        (tmp_path / "x.txt", "expected a Python file"),
        (tmp_path / "nowhere/x.py", "is no folder that can be written to"),
    ]:
        with pytest.raises(ConfigError, match=told):
            check_target(Asked(target=target, command="x"))
    for both in ({}, {"command": "x", "url": "http://127.0.0.1"}):
        with pytest.raises(ConfigError, match="a start command or --url, one of the two"):
            check_target(Asked(target=tmp_path / "new.py", **both))  # type: ignore[arg-type]
    assert taken.read_text() == "mine"
