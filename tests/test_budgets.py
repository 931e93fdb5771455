"""Sizes and habits that keep the code readable."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("uigym", "apps", "harnesses", "verifiers", "tests", "benchmarks", "scripts")
FILES = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if not any(part.is_symlink() for part in path.parents if part != ROOT and ROOT in part.parents)
)
SHIPPED = [path for path in FILES if path.relative_to(ROOT).parts[0] not in ("tests", "benchmarks", "scripts")]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, Function):
            yield node


def length(function: Function) -> int:
    """Lines from the first statement to the last, docstring excluded."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]


def where(path: Path, node: Function | ast.ClassDef) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def test_files_are_short() -> None:
    long = {str(p.relative_to(ROOT)): n for p in FILES if (n := len(p.read_text().splitlines())) >= 500}
    assert not long


def test_functions_are_short() -> None:
    lengths = {where(p, f): length(f) for p in SHIPPED for f in functions(p)}
    assert not {name: n for name, n in lengths.items() if n > 100}
    assert statistics.median(lengths.values()) <= 10


def test_functions_take_few_parameters() -> None:
    """Commands are exempt: each of their parameters is an option that a person may leave out."""
    wide = [
        where(path, function)
        for path in SHIPPED
        if not str(path.relative_to(ROOT)).startswith("uigym/cli")
        for function in functions(path)
        if len([a for a in [*function.args.args, *function.args.kwonlyargs] if a.arg not in ("self", "cls")]) > 7
        and function.name != "task"  # Harness.task: the options of a decorator
    ]
    assert not wide


def test_what_is_public_is_documented() -> None:
    bare = []
    for path in (p for p in SHIPPED if p.relative_to(ROOT).parts[0] == "uigym"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
                bare += [where(path, node)] if not ast.get_docstring(node) else []
    assert not bare


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_stubs_and_no_swallowed_errors(path: Path) -> None:
    text = path.read_text()
    for word in ("TODO", "FIXME", "XXX", "NotImplementedError"):
        assert word not in text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler):
            broad = node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
            silent = all(isinstance(s, ast.Pass | ast.Continue) for s in node.body)
            assert not (broad and silent), f"{path.name}:{node.lineno} swallows every error"


def test_names_say_what_is_inside() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "processor"}
    assert not [str(p.relative_to(ROOT)) for p in FILES if vague & set(p.stem.split("_"))]
