"""Reads text that looks like Python calls: click(x=0.5, y=0.5). It is parsed as data and never run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from uigym.policy.codecs.screen import Unreadable

MAX_TEXT = 20_000
"""Characters; a longer reply is no action."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call with literal arguments."""

    name: str
    """With dots: pyautogui.click."""
    positional: tuple[Any, ...]
    named: Mapping[str, Any]

    def bind(self, *names: str) -> dict[str, Any]:
        """Arguments by name, the positional ones named in this order.

        Raises:
            Unreadable: There are too many, one is given twice, or a name is not among these.
        """
        if len(self.positional) > len(names):
            raise Unreadable(f"{self.name} takes at most {len(names)} arguments ({', '.join(names)})")
        found = dict(zip(names, self.positional, strict=False))
        for name, value in self.named.items():
            if name not in names or name in found:
                raise Unreadable(
                    f"{self.name}: argument {name} is not expected, or given twice; takes {', '.join(names)}"
                )
            found[name] = value
        return found


def parse(text: str) -> list[Call]:
    """The calls of a text, one a line or separated by semicolons; imports and comments are passed over.

    Raises:
        Unreadable: Something in it is not a call with literal arguments.
    """
    if len(text) > MAX_TEXT:
        raise Unreadable(f"the reply has {len(text)} characters; expected at most {MAX_TEXT}")
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise Unreadable(f"expected calls such as click(x=1, y=2): {type(exc).__name__}: {exc}") from None
    return [_call(node) for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]


def _call(node: ast.stmt) -> Call:
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        raise Unreadable(f"line {node.lineno} is no call; nothing but calls with literal arguments is read")
    if any(keyword.arg is None for keyword in call.keywords):
        raise Unreadable("** is not read")
    positional = tuple(_literal(argument) for argument in call.args)
    return Call(_name(call.func), positional, {str(k.arg): _literal(k.value) for k in call.keywords})


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=name):
            return f"{_name(inner)}.{name}"
    raise Unreadable("only plain names are called")


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise Unreadable("an argument is not a literal: text, a number, a list") from None
