"""Verifiers of what the policy answered."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from uigym.compare import same, words
from uigym.errors import VerifierError
from uigym.types import Episode, State, Verdict
from uigym.verify import Verifier, check, failed

Value = str | bool | int | float | Decimal
_MAX_SHOWN = 120


def equals(expected: Value | Callable[[State], Value]) -> Verifier:
    """The answer is this value and nothing else.

    A number may be written in any usual way ("1250", "1,250", "$12.50"), a bool as yes or no, a text in any case and
    spacing, with a full stop or in quotes. An answer that holds more than the value, such as several guesses, fails.

    Args:
        expected: The value, or a function of the product's state when the episode began.

    Raises:
        TypeError: `expected` is neither.
    """
    if not callable(expected) and not isinstance(expected, Value):
        raise TypeError(f"equals({expected!r}): expected a text, a number, a bool or a function of the state")

    def verify(episode: Episode) -> Verdict:
        value: Any = expected(episode.before) if callable(expected) else expected
        if not isinstance(value, Value):
            raise VerifierError(f"equals: the expected answer is {value!r}; expected a text, a number or a bool")
        if episode.answer is None:
            return failed("answer", f"expected the answer {value!r}, but the episode ended without an answer")
        shown = episode.answer if len(episode.answer) <= _MAX_SHOWN else episode.answer[:_MAX_SHOWN] + "…"
        return check("answer", _says(value, episode.answer), f"expected the answer {value!r}, found {shown!r}")

    return verify


def _says(value: Any, answer: str) -> bool:
    bare = _bare(answer)
    if isinstance(value, bool):
        return words(bare, fold_case=True) in (("yes", "true") if value else ("no", "false"))
    return same(value, answer, fold_case=True) or same(value, bare, fold_case=True)


def _bare(answer: str) -> str:
    """Without the quotes around it, the full stop after it and the # before a number."""
    text = answer.strip().removesuffix(".").rstrip()
    if len(text) > 1 and (text[0], text[-1]) in {('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("`", "`")}:
        text = text[1:-1].strip().removesuffix(".")
    return re.sub(r"^#(?=[0-9]+$)", "", text)
