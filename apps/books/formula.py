"""Formulas of a sheet: numbers, texts, references, ranges, + - * / ( ), comparisons and a few functions.

`static/formula.js` says the same in the page's language; a test holds the two against each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .schema import COLUMNS, ROWS

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:COLUMNS]
MAX_LENGTH, MAX_DEPTH = 300, 30
MOST = 1e12
"""A number beyond is an error."""
_TOKEN = re.compile(
    r"[ \t]*(?:(\d+(?:\.\d*)?|\.\d+)|\"([^\"]*)\"|(\$?[A-Za-z]\$?\d{1,3})(?![A-Za-z0-9(])|([A-Za-z]+)|(<=|>=|<>|[-+*/(),:<>=%]))",
    re.ASCII,
)
_NUMBER = re.compile(r"-?\$?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?%?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fault:
    """What a cell shows where it has no value."""

    sign: str


ERROR, REF, DIV, CYCLE, NAME, VALUE, NUM = (
    Fault(sign) for sign in ("#ERROR!", "#REF!", "#DIV/0!", "#CYCLE!", "#NAME?", "#VALUE!", "#NUM!")
)
Value: TypeAlias = float | str | bool | Fault | None
Node: TypeAlias = tuple[Any, ...]  # (kind, ...), as `_Parser` makes them
Token = tuple[str, str]


class Failed(Exception):
    """A formula comes to a fault."""

    def __init__(self, fault: Fault):
        super().__init__(fault.sign)
        self.fault = fault


def typed(raw: str) -> Value:
    """What a cell that holds no formula is: a number, a yes or no, a text, or nothing."""
    text = raw.strip()
    if not text:
        return None
    if text.upper() in ("TRUE", "FALSE"):
        return text.upper() == "TRUE"
    if _NUMBER.fullmatch(text) and re.search("[0-9]", text):
        number = float(re.sub(r"[$,%]", "", text))
        number = number / 100 if text.endswith("%") else number
        return number if abs(number) <= MOST else NUM
    return raw


def evaluate(raws: Mapping[str, str]) -> dict[str, Value]:
    """The values of a sheet's cells; a cell that depends on itself, and what depends on it, is #CYCLE!."""
    trees = {cell: parsed(raw) for cell, raw in raws.items() if raw.startswith("=")}
    values: dict[str, Value] = {cell: typed(raw) for cell, raw in raws.items() if cell not in trees}
    needs = {cell: {each for each in _cells(tree) if each in trees} for cell, tree in trees.items()}
    waiting = {cell: len(each) for cell, each in needs.items()}
    users: dict[str, list[str]] = {cell: [] for cell in trees}
    for cell, each in needs.items():
        for other in each:
            users[other].append(cell)
    ready = [cell for cell, count in waiting.items() if not count]
    while ready:
        cell = ready.pop()
        values[cell] = _outcome(trees[cell], values)
        for user in users[cell]:
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    return {cell: values.get(cell, CYCLE) for cell in raws}


def shown(value: Value, form: str = "") -> str:
    """A value as a cell shows it in a format of `schema.FORMATS`."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, Fault):
        return value.sign
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if form == "percent":
        return _decimals(value * 100, 2, False) + "%"
    if form in ("number", "money"):
        text = _decimals(abs(value), 2, True)
        sign = "-" if value < 0 and text.strip("0.,") else ""
        whole, _, part = text.partition(".")
        return f"{sign}{'$' if form == 'money' else ''}{int(whole):,}.{part}"
    return _decimals(value, 6 if abs(value) < 1e9 else 2, False)


def canonical(raw: str) -> str:
    """A formula as a sheet keeps it: names and references in capitals, no spaces; any other text as it is."""
    if not raw.startswith("="):
        return raw
    try:
        return "=" + "".join(f'"{text}"' if kind == "text" else text for kind, text in _tokens(raw[1:]))
    except Failed:
        return raw


def shifted(raw: str, columns: int, rows: int) -> str:
    """A formula as it is when it is copied so far; what leaves the sheet becomes #REF!."""
    if not raw.startswith("="):
        return raw
    try:
        parts = [_moved(text, columns, rows) if kind == "cell" else f'"{text}"' if kind == "text" else text for kind, text in _tokens(raw[1:])]  # fmt: skip
    except Failed:
        return raw
    return "=" + "".join(parts)


def cell_name(column: int, row: int) -> str:
    """A1 for (0, 0)."""
    return f"{LETTERS[column]}{row + 1}"


def is_cell(name: str) -> bool:
    """Whether a sheet has such a cell."""
    return _place(name) is not None and "$" not in name and name == name.upper() and name[1] != "0"


def parsed(raw: str) -> Node:
    """The tree of a formula; of one that cannot be read, a fault."""
    try:
        if len(raw) > MAX_LENGTH:
            raise Failed(ERROR)
        return _Parser(list(_tokens(raw[1:]))).whole()
    except Failed as failed:
        return ("fault", failed.fault)


def rounded(number: float, digits: int) -> float:
    """Half away from zero; what is half but for the last binary digits counts as half."""
    power = float(f"1e{abs(digits)}")
    scaled = abs(number) * power if digits >= 0 else abs(number) / power
    whole = float(int(scaled + 0.5 + 1e-9))
    result = whole / power if digits >= 0 else whole * power
    return -result if number < 0 else result


# --- reading -----------------------------------------------------------------------------------------------------


def _tokens(text: str) -> Iterator[Token]:
    at, text = 0, text.rstrip()
    while at < len(text):
        if text.startswith("#REF!", at):
            yield "ref", "#REF!"
            at += 5
            continue
        found = _TOKEN.match(text, at)
        if not found:
            raise Failed(ERROR)
        at = found.end()
        for kind, part in zip(("number", "text", "cell", "name", "sign"), found.groups(), strict=True):
            if part is not None:
                yield kind, part if kind in ("text", "number", "sign") else part.upper()


class _Parser:
    """Reads tokens: comparisons over sums over products over signs."""

    def __init__(self, tokens: list[Token]):
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def whole(self) -> Node:
        tree = self.comparison()
        if self.at < len(self.tokens):
            raise Failed(ERROR)
        return tree

    def sign(self, *signs: str) -> str:
        """The next token if it is one of these signs, taken; else nothing."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def must(self, sign: str) -> None:
        if not self.sign(sign):
            raise Failed(ERROR)

    def comparison(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Failed(ERROR)
        tree = self.chain(self.product, "+", "-")
        while sign := self.sign("=", "<>", "<", ">", "<=", ">="):
            tree = (sign, tree, self.chain(self.product, "+", "-"))
        self.depth -= 1
        return tree

    def product(self) -> Node:
        return self.chain(self.signed, "*", "/")

    def chain(self, part: Callable[[], Node], *signs: str) -> Node:
        tree = part()
        while sign := self.sign(*signs):
            tree = (sign, tree, part())
        return tree

    def signed(self) -> Node:
        minus = False
        while sign := self.sign("-", "+"):
            minus ^= sign == "-"
        tree = self.primary()
        while self.sign("%"):
            tree = ("/", tree, ("number", 100.0))
        return ("minus", tree) if minus else tree

    def primary(self) -> Node:
        if self.sign("("):
            tree = self.comparison()
            self.must(")")
            return tree
        if self.at == len(self.tokens):
            raise Failed(ERROR)
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return ("number", float(text))
        if kind == "text":
            return ("text", text)
        if kind == "cell":
            return self.cells(text)
        if kind == "ref":
            return ("fault", REF)
        if kind == "name":
            return self.call(text)
        raise Failed(ERROR)

    def cells(self, first: str) -> Node:
        last = None
        if self.sign(":"):
            if self.at == len(self.tokens) or self.tokens[self.at][0] not in ("cell", "ref"):
                raise Failed(ERROR)
            last = self.tokens[self.at][1]
            self.at += 1
        start, end = _place(first), _place(last or first)
        if start is None or end is None:
            return ("fault", REF)
        if last is None:
            return ("cell", cell_name(*start))
        columns, rows = sorted((start[0], end[0])), sorted((start[1], end[1]))
        return (
            "range",
            [cell_name(c, r) for r in range(rows[0], rows[1] + 1) for c in range(columns[0], columns[1] + 1)],
        )

    def call(self, name: str) -> Node:
        if not self.sign("("):
            return ("bool", name == "TRUE") if name in ("TRUE", "FALSE") else ("fault", NAME)
        parts = []
        if not self.sign(")"):
            parts.append(self.comparison())
            while self.sign(","):
                parts.append(self.comparison())
            self.must(")")
        if name not in _FUNCTIONS:
            return ("fault", NAME)
        least, most = _FUNCTIONS[name]
        return ("call", name, parts) if least <= len(parts) <= most else ("fault", ERROR)


_FUNCTIONS = {"SUM": (1, 30), "AVERAGE": (1, 30), "MIN": (1, 30), "MAX": (1, 30), "COUNT": (1, 30), "IF": (2, 3), "ROUND": (1, 2)}  # fmt: skip


def _place(name: str) -> tuple[int, int] | None:
    """Column and row from 0; None outside the sheet."""
    plain = name.replace("$", "")
    if not re.fullmatch(r"[A-Z][0-9]{1,3}", plain):
        return None
    column, row = LETTERS.find(plain[0]), int(plain[1:]) - 1
    return (column, row) if column >= 0 and 0 <= row < ROWS else None


def _moved(name: str, columns: int, rows: int) -> str:
    found = re.fullmatch(r"(\$?)([A-Z])(\$?)(\d+)", name)
    place = _place(name)
    if not found or place is None:
        return "#REF!"
    column = place[0] if found[1] else place[0] + columns
    row = place[1] if found[3] else place[1] + rows
    if not (0 <= column < COLUMNS and 0 <= row < ROWS):
        return "#REF!"
    return f"{found[1]}{LETTERS[column]}{found[3]}{row + 1}"


def _cells(tree: Node) -> Iterator[str]:
    kind = tree[0]
    if kind == "cell":
        yield tree[1]
    elif kind == "range":
        yield from tree[1]
    elif kind == "call":
        for part in tree[2]:
            yield from _cells(part)
    elif kind not in ("number", "text", "bool", "fault"):
        for part in tree[1:]:
            yield from _cells(part)


# --- working out -------------------------------------------------------------------------------------------------


def _outcome(tree: Node, values: Mapping[str, Value]) -> Value:
    try:
        value = _value(tree, values)
    except Failed as failed:
        return failed.fault
    return 0.0 if value is None else value


def _value(tree: Node, values: Mapping[str, Value]) -> Value:
    """What a part of a formula comes to; raises Failed for a fault."""
    kind = tree[0]
    if kind == "number":
        return _within(tree[1])
    if kind in ("text", "bool"):
        return tree[1]
    if kind == "fault":
        raise Failed(tree[1])
    if kind == "cell":
        return _sound(values.get(tree[1]))
    if kind == "range":
        raise Failed(VALUE)
    if kind == "call":
        return _call(tree[1], tree[2], values)
    if kind == "minus":
        return -_number(_value(tree[1], values))
    left, right = _value(tree[1], values), _value(tree[2], values)
    if kind in "+-*/":
        return _reckoned(kind, _number(left), _number(right))
    return _compared(kind, left, right)


def _sound(value: Value) -> Value:
    if isinstance(value, Fault):
        raise Failed(value)
    return value


def _number(value: Value) -> float:
    if isinstance(value, str):
        value = typed(value)
    if isinstance(value, Fault):
        raise Failed(value)
    if isinstance(value, str):
        raise Failed(VALUE)
    return 0.0 if value is None else float(value)


def _reckoned(sign: str, left: float, right: float) -> float:
    if sign == "/" and right == 0:
        raise Failed(DIV)
    result = (
        left + right if sign == "+" else left - right if sign == "-" else left * right if sign == "*" else left / right
    )
    return _within(result)


def _within(result: float) -> float:
    if not abs(result) <= MOST:
        raise Failed(NUM)
    return result


def _compared(sign: str, left: Value, right: Value) -> bool:
    if left is None or right is None:
        other = right if left is None else left
        empty: Value = "" if isinstance(other, str) else False if isinstance(other, bool) else 0.0
        left, right = (empty if left is None else left), (empty if right is None else right)
    one, two = _rank(left), _rank(right)
    return {"=": one == two, "<>": one != two, "<": one < two, ">": one > two, "<=": one <= two, ">=": one >= two}[sign]


def _rank(value: Value) -> tuple[int, float, str]:
    if isinstance(value, bool):
        return 2, float(value), ""
    if isinstance(value, str):
        return 1, 0.0, re.sub("[A-Z]+", lambda found: found[0].lower(), value)
    assert isinstance(value, float)
    return 0, value, ""


def _call(name: str, parts: list[Node], values: Mapping[str, Value]) -> Value:
    if name == "IF":
        return _if(parts, values)
    if name == "ROUND":
        number = _number(_value(parts[0], values))
        digits = int(_number(_value(parts[1], values))) if len(parts) > 1 else 0
        return _within(rounded(number, max(-9, min(9, digits))))
    numbers = list(_numbers(parts, values, name == "COUNT"))
    if name == "COUNT":
        return float(len(numbers))
    if name == "AVERAGE" and not numbers:
        raise Failed(DIV)
    if name in ("MIN", "MAX"):
        return (min(numbers) if name == "MIN" else max(numbers)) if numbers else 0.0
    total = 0.0
    for number in numbers:
        total += number
    return _within(total / len(numbers) if name == "AVERAGE" else total)


def _if(parts: list[Node], values: Mapping[str, Value]) -> Value:
    test = _value(parts[0], values)
    if isinstance(test, str) and test.upper() in ("TRUE", "FALSE"):
        test = test.upper() == "TRUE"
    if _number(test) if not isinstance(test, bool) else test:
        return _value(parts[1], values)
    return _value(parts[2], values) if len(parts) > 2 else False


def _numbers(parts: list[Node], values: Mapping[str, Value], tolerant: bool) -> Iterator[float]:
    """The numbers of a list of parts; of cells, texts and the empty ones are left out, and faults if `tolerant`."""
    for part in parts:
        if part[0] not in ("cell", "range"):
            yield _number(_value(part, values))
            continue
        for cell in part[1] if part[0] == "range" else [part[1]]:
            value = values.get(cell)
            if isinstance(value, Fault) and not tolerant:
                raise Failed(value)
            if isinstance(value, float):
                yield value


def _decimals(number: float, digits: int, whole: bool) -> str:
    """A number with so many decimals; without `whole`, no zeros at the end."""
    power = 10**digits
    scaled = int(abs(number) * power + 0.5 + 1e-9)
    text = f"{scaled // power}.{scaled % power:0{digits}d}"
    text = text if whole else text.rstrip("0").rstrip(".")
    return f"-{text}" if number < 0 and scaled else text
