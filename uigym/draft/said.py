"""What an instruction says, and what a draft demands beyond that."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, TypeAlias

Said: TypeAlias = str | int | float
"""A value that a person typed and said."""
_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WHOLE = re.compile(r"-?(0|[1-9]\d*)")
_DECIMAL = re.compile(r"-?\d+\.\d+")
_USUAL = (None, "", 0, 1)
"""What a product fills in where nobody says anything."""


def number(text: str) -> int | float | None:
    """The number that a text writes just as Python would.

    Example:
        >>> number("12"), number("2.5"), number("012"), number("1e3")
        (12, 2.5, None, None)
    """
    if _WHOLE.fullmatch(text) and text != "-0":
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) and str(float(text)) == text else None


def pattern(value: Said) -> str:
    """A pattern of a value as a word of its own: 2 is neither in 12 nor in 2.5, Ann not in Annual."""
    text = str(value)
    head = r"(?<!\w)(?<!\d[.,])" if re.match(r"\w", text[:1]) else ""
    tail = r"(?!\w)(?![.,]\d)" if re.match(r"\w", text[-1:]) else ""
    return f"{head}{re.escape(text)}{tail}"


def says(instruction: str, value: Said) -> bool:
    """Whether an instruction holds a value as it is.

    Example:
        >>> says("Add 12 spades.", 12), says("Add 12 spades.", 2)
        (True, False)
    """
    return bool(str(value)) and re.search(pattern(value), instruction) is not None


def is_unsaid(instruction: str, value: Any, typed: Collection[str]) -> bool:
    """Whether somebody who has only the instruction could not know a value, nor finds it there by himself.

    Args:
        instruction: Its words.
        value: Of a column.
        typed: What the demonstrator has typed and chosen: such a value is none that the product fills in.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    if value in _USUAL and str(value) not in typed:
        return False
    words = " ".join(instruction.casefold().split())
    if isinstance(value, str):
        return not says(words, " ".join(value.casefold().split()))
    if value in range(len(_COUNTS)) and says(words, _COUNTS[int(value)]):
        return False
    return not says(words, int(value) if value == int(value) else value)
