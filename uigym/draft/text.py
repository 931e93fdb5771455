"""The draft as a Python file."""

from __future__ import annotations

import dataclasses
import itertools
import keyword
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from uigym.draft.said import Said, is_unsaid, pattern
from uigym.draft.start import HERE
from uigym.state import Changed

WIDTH = 116
_TAKEN = {"count", "key", "also", "rows", "table"}
"""Parameters of the verifiers, which columns of these names must not be taken for."""
_USED = {
    "HERE",
    "Path",
    "int",
    "float",
    "str",
    "added",
    "all_of",
    "changed",
    "done",
    "equals",
    "one_of",
    "page",
    "removed",
    "unchanged",
}
"""Names of the draft itself."""
_LONG_TEXT = 300
UNSAID = "# DRAFT: the instruction does not say"
"""Marks a line that demands what an agent cannot know."""
HERE_IS = "HERE = Path(__file__).resolve().parent"
"""The line that says where the draft lies."""


@dataclass(frozen=True, slots=True)
class Part:
    """A probe or a reset, as it is written."""

    name: str
    """Of the class in `uigym.product`."""
    arguments: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        given = [from_folder(argument) for argument in self.arguments]
        given += [f"{name}={quoted(found)}" for name, found in self.options.items()]
        given += [f"ignore={_texts(self.ignore)}"] if self.ignore else []
        return f"{self.name}({', '.join(given)})"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is known of the product."""

    name: str
    way: str
    """start or url."""
    value: str
    ready: str
    home: str
    viewport: tuple[int, int]
    state: tuple[Part, ...]
    reset: tuple[Part, ...]
    remarks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Why the state ignores what it does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What the demonstration has shown."""

    instruction: str
    answer: str
    changes: tuple[Changed, ...]
    oracle: tuple[str, ...]
    names: Mapping[Said, str]
    """Parameters by the text or number that they stand for."""
    typed: Collection[str] = ()
    """What was typed, or chosen in a list."""
    loose: Collection[tuple[str, str]] = ()
    """(table, column) of values that come out differently each time."""
    max_steps: int = 20
    remarks: tuple[str, ...] = field(default=())


def harness_text(plan: Plan) -> str:
    """The harness without its task."""
    joined = {"Together": plan.state, "InOrder": plan.reset}
    lines = {
        role: _several(kind, parts) for role, (kind, parts) in zip(("state", "reset"), joined.items(), strict=True)
    }
    fields = [
        f"name={quoted(plan.name)},",
        f"{plan.way}={from_folder(plan.value)},",
        *([f"ready={quoted(plan.ready)},"] if plan.ready != "/" else []),
        *([f"home={quoted(plan.home)},"] if plan.home != "/" else []),
        *(f"# {note}" for note in plan.left_out),
        *(f"{role}={text}," for role, text in lines.items()),
        f"viewport={plan.viewport},",
    ]
    return _wrapped(f"{variable(plan.name)} = Harness(", fields, ")")


def imports(plan: Plan, verifiers: Iterable[str]) -> str:
    """The lines that the rest needs."""
    product = {part.name for part in (*plan.state, *plan.reset)}
    product |= {"Together"} if len(plan.state) > 1 else set()
    product |= {"InOrder"} if len(plan.reset) > 1 else set()
    used, top = set(verifiers), ["Harness", "Verifier", "all_of"]
    lines = [f"from uigym import {', '.join(top)}"]
    lines += ["from uigym.params import one_of"] if "one_of" in used else []
    lines += [f"from uigym.product import {', '.join(sorted(product))}"]
    lines += ["from uigym.verifiers.answer import equals"] if "equals" in used else []
    state = sorted(used & {"added", "changed", "removed", "unchanged"})
    lines += [f"from uigym.verifiers.state import {', '.join(state)}"]
    return "\n".join(["from pathlib import Path", "", *lines, "", HERE_IS] if names_here(plan) else lines)


def names_here(plan: Plan) -> bool:
    """Whether the plan names something that lies where the draft does, or near."""
    given = (plan.value, *(each for part in (*plan.state, *plan.reset) for each in part.arguments))
    return any(HERE in each for each in given)


def from_folder(text: str) -> str:
    """A text as source, with the draft's folder where it stands in it."""
    if HERE not in text:
        return quoted(text)
    return "f" + quoted(text.replace("{", "{{").replace("}", "}}").replace(HERE, "{HERE}"))


def whole_text(plan: Plan, shown: Shown, command: str) -> str:
    """The whole file."""
    checks, loose_rows = _checks(shown)
    used = {check.split("(")[0] for check in checks} | {"unchanged"} | ({"equals"} if shown.answer else set())
    used |= {"one_of"} if shown.names else set()
    return "\n".join(
        [
            _head(plan, shown, command),
            "",
            imports(plan, used),
            "",
            harness_text(plan),
            "",
            "",
            *_task(plan, shown, checks, loose_rows),
        ]
    )


def variable(name: str, taken: Collection[str] = ()) -> str:
    """A name as Python may use it, other than those that the file uses already."""
    found = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "product"
    found = f"n{found}" if found[0].isdigit() else found
    found = f"{found}_" if keyword.iskeyword(found) or found in _USED else found
    others = (f"{found}_{count}" for count in itertools.count(2))
    return next(name for name in itertools.chain([found], others) if name not in taken)


def quoted(text: str) -> str:
    """A text as source, in double quotes where that needs no escapes."""
    return f'"{text}"' if not re.search(r'["\\]', text) and text.isprintable() else repr(text)


def _several(kind: str, parts: Sequence[Part]) -> str:
    return str(parts[0]) if len(parts) == 1 else _call(kind, [str(part) for part in parts])


def _head(plan: Plan, shown: Shown, command: str) -> str:
    notes = [f"* {note[:1].upper()}{note[1:]}." for note in (*plan.remarks, *shown.remarks)]
    lines = [
        f'"""DRAFT of a harness for {plan.name}, written by `uigym new` from one demonstration. Read it before you trust it.',
        "",
        "* Is the instruction clear to somebody who has not seen the demonstration?",
        "* Does the verifier expect what the instruction asks for, no less and no more?",
        "* Which values should differ from seed to seed? Make them parameters: one_of(...), between(...), rows(...).",
        *notes,
        "",
        f"Then delete these lines, and prove it: uigym check {command}",
        '"""',
    ]
    return "\n".join(line.replace("\\", "\\\\") for line in lines)


def _task(plan: Plan, shown: Shown, checks: Sequence[str], loose_rows: Sequence[str]) -> list[str]:
    harness, name = variable(plan.name), task_name(shown.instruction, plan.name)
    said = _with_parameters(shown)
    parameters = [
        f"{parameter}: {type(each).__name__} = one_of({value(each, {})})," for each, parameter in shown.names.items()
    ]
    note = "  # DRAFT: one value each so far; add others" if parameters else ""
    except_ = ", ".join([*(["*done"] if checks else []), *loose_rows])
    lines = [f"@{harness}.task({quoted(said)}, max_steps={shown.max_steps})"]
    if parameters:
        lines += [f"def {name}({note}", *(f"    {line}" for line in parameters), ") -> Verifier:"]
    else:
        lines += [f"def {name}() -> Verifier:"]
    if checks:
        lines += [_indented(_wrapped("done = [", [f"{check}," for check in checks], "]"))]
    parts = [*(["*done"] if checks else []), *([f"equals({quoted(shown.answer)})"] if shown.answer else [])]
    except_ = "except_=done" if except_ == "*done" else f"except_=[{except_}]" if except_ else ""
    lines += [f"    return all_of({', '.join([*parts, f'unchanged({except_})'])})", "", ""]
    given = "".join(f", {parameter}" for parameter in shown.names.values())
    lines += [f"@{name}.oracle", f"async def _(page{given}):"]
    body = [*shown.oracle, *([f"return {quoted(shown.answer)}"] if shown.answer else [])]
    return [*lines, *(f"    {line}" for line in body or ["pass"]), ""]


def _with_parameters(shown: Shown) -> str:
    """The instruction as the task has it."""
    names = {_escaped(str(each)): name for each, name in shown.names.items()}
    said = _escaped(shown.instruction)
    if not names:
        return said
    every = "|".join(pattern(each) for each in sorted(names, key=len, reverse=True))
    return re.sub(every, lambda found: f"{{{names[found[0]]}}}", said)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def expected(shown: Shown) -> list[str]:
    """What the verifier expects, a line each, with the values that the parameters have so far."""
    checks, _ = _checks(dataclasses.replace(shown, names={}))
    flat = (" ".join(line.partition(f"  {UNSAID}")[0].strip() for line in check.split("\n")) for check in checks)
    return [line.replace("( ", "(").replace(", )", ")") for line in flat]


def unsaid(shown: Shown) -> list[str]:
    """Values that the verifier demands though the instruction does not say them."""
    found: dict[str, None] = {}
    for change in shown.changes:
        row = _told(change, shown) if change.before is None else _firm(change, shown) if change.after else {}
        found |= dict.fromkeys(f"{column}={value(row[column], {})}" for column in _unsaid(change.table, row, shown))
    return [*found]


def _unsaid(table: str, row: Mapping[str, Any], shown: Shown) -> list[str]:
    if table == "files":  # they are the product's work, whatever is in them
        return []
    return [
        column
        for column, found in row.items()
        if value(found, shown.names) == value(found, {}) and is_unsaid(shown.instruction, found, shown.typed)
    ]


def _checks(shown: Shown) -> tuple[list[str], list[str]]:
    """(the expected changes, rows that changed in ways which nobody can foretell)."""
    checks: list[str] = []
    loose_rows: list[str] = []
    tables = dict.fromkeys(change.table for change in shown.changes)
    for table in tables:
        changes = [change for change in shown.changes if change.table == table]
        new = [change for change in changes if change.before is None]
        gone = [change for change in changes if change.after is None]
        for kind, several in (("added", new), ("removed", gone)):
            rows = [_told(change, shown) for change in several]
            checks += [_listed(kind, table, rows, shown)] if rows else []
        for change in changes:
            if change.before is not None and change.after is not None:
                text = _moved(change, shown)
                (checks if text.startswith("changed") else loose_rows).append(text)
    return checks, loose_rows


def _told(change: Changed, shown: Shown) -> dict[str, Any]:
    """What is said of a row that is new or gone."""
    row = change.after if change.after is not None else change.before or {}
    if change.table == "files":
        text = row.get("text")
        by_text = text is not None and len(text) <= _LONG_TEXT
        return {"path": row["path"], **({"text": text} if by_text else {"sha256": row.get("sha256")})}
    if change.after is None and change.key:
        return {column: row[column] for column in change.key}
    numbered = {column for column in change.key if isinstance(row[column], int)}
    kept = {c: v for c, v in row.items() if c not in numbered and (change.table, c) not in shown.loose}
    return kept if kept else {c: v for c, v in row.items() if (change.table, c) not in shown.loose}


def _listed(kind: str, table: str, rows: Sequence[Mapping[str, Any]], shown: Shown) -> str:
    names = shown.names if kind == "added" else _texts_of(shown.names)
    missing = [_unsaid(table, row, shown) if kind == "added" else [] for row in rows]
    if len(rows) == 1 and all(_is_plain(column) for column in rows[0]):
        given = [f"{column}={value(found, names)}" for column, found in rows[0].items()]
        notes = {1 + at: "this" for at, column in enumerate(rows[0]) if column in missing[0]}
    elif not any(rows):
        given, notes = [f"count={len(rows)}"], {}
    else:
        given = ["{" + ", ".join(f"{quoted(c)}: {value(v, names)}" for c, v in row.items()) + "}" for row in rows]
        notes = {1 + at: ", ".join(columns) for at, columns in enumerate(missing) if columns}
    return _call(kind, [quoted(table), *given], notes)


def _firm(change: Changed, shown: Shown) -> dict[str, Any]:
    """The new values of a row that has changed, as far as they can be foretold."""
    after = change.after or {}
    loose = _loose(change, shown)
    return {column: after[column] for column in _moved_columns(change) if column not in loose and column in after}


def _moved_columns(change: Changed) -> list[str]:
    before, after = change.before or {}, change.after or {}
    return [column for column in {**before, **after} if before.get(column) != after.get(column)]


def _loose(change: Changed, shown: Shown) -> list[str]:
    unnamable = {"key", "also"}  # parameters of `changed`
    moved = _moved_columns(change)
    loose = [column for column in moved if (change.table, column) in shown.loose or column in unnamable]
    if change.table == "files" and "text" in moved and (change.after or {}).get("text"):
        loose += [column for column in ("size", "sha256") if column in moved]
    return loose


def _moved(change: Changed, shown: Shown) -> str:
    after, firm, loose = change.after or {}, _firm(change, shown), _loose(change, shown)
    key = [value(after[column], _texts_of(shown.names)) for column in change.key]
    named = key[0] if len(key) == 1 else f"({', '.join(key)})"
    if not firm:
        return f"({quoted(change.table)}, {named})"
    also = [f"also={_texts(loose)}"] if loose else []
    odd = {column: found for column, found in firm.items() if not column.isidentifier() or keyword.iskeyword(column)}
    plain = [column for column in firm if column not in odd]
    given = [f"{column}={value(firm[column], shown.names)}" for column in plain]
    given += [f"**{odd!r}"] if odd else []
    missing = _unsaid(change.table, firm, shown)
    notes = {2 + at: "this" for at, column in enumerate(plain) if column in missing}
    notes |= {2 + len(plain): ", ".join(c for c in odd if c in missing)} if {*odd} & {*missing} else {}
    return _call("changed", [quoted(change.table), f"key={named}", *given, *also], notes)


def _texts_of(names: Mapping[Said, str]) -> dict[Said, str]:
    """Without the numbers: a key may be equal by chance."""
    return {each: name for each, name in names.items() if isinstance(each, str)}


def value(found: Any, names: Mapping[Said, str]) -> str:
    """A value as source: the parameter where it is one."""
    if isinstance(found, str | int | float) and not isinstance(found, bool) and found in names:
        return names[found]
    return quoted(found) if isinstance(found, str) else repr(found)


def _texts(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def task_name(instruction: str, harness: str = "") -> str:
    """A name for the task, from what it says."""
    words = re.findall(r"[a-z0-9]+", instruction.lower().replace("'", ""))
    return variable("_".join(words[:5]) or "task", {variable(harness)})


def _is_plain(column: str) -> bool:
    return column.isidentifier() and not keyword.iskeyword(column) and column not in _TAKEN


def _call(name: str, given: Sequence[str], notes: Mapping[int, str] = MappingProxyType({})) -> str:
    """A call; `notes` say which of its arguments the instruction does not say."""
    lines = [f"{each}," + (f"  {UNSAID} {notes[at]}" if at in notes else "") for at, each in enumerate(given)]
    return _wrapped(f"{name}(", lines, ")", is_flat=not notes)


def _wrapped(head: str, lines: Sequence[str], tail: str, *, is_flat: bool = True) -> str:
    """On one line if it fits, else a line each."""
    flat = f"{head}{' '.join(lines).removesuffix(',')}{tail}"
    if is_flat and len(flat) <= WIDTH - 12 and "\n" not in flat and not head.endswith("Harness("):
        return flat
    return "\n".join([head, *(_indented(line) for line in lines), tail])


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))
