"""Verifiers of what the policy answered: typed, whole, never by a part of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, time
from decimal import Decimal
from typing import Any

from uigym.compare import Matcher, same, words
from uigym.errors import VerifierError
from uigym.types import Episode, State, Verdict
from uigym.verifiers.match import pairing
from uigym.verify import Verifier, check, failed

Value = str | bool | int | float | Decimal | date | time | Matcher
MAX_ANSWER = 2_000
"""Characters; a longer answer is no answer, unless what is expected is long itself."""
_MAX_SHOWN = 120
_KINDS = "a text, a number, a bool, a date, a time or a matcher"


def equals(expected: Value | Callable[[State], Value]) -> Verifier:
    """The answer is this value and nothing else.

    A number may be written in any usual way ("1250", "1,250", "$12.50"), a date or a time too ("5 March 2026",
    "2:30 pm"), a bool as yes or no, a text in any case and spacing, with a full stop or in quotes. An answer that
    holds more than the value, such as several guesses, fails.

    Args:
        expected: The value; a matcher, such as `close(71.4, 0.1)` or `money("12.50", "USD")`; or a function of the
            product's state when the episode began, which gives one of these.

    Raises:
        TypeError: `expected` is neither, or the matcher is too loose for an answer.
    """
    _check(expected, "equals")

    def verify(episode: Episode) -> Verdict:
        value: Any = _value(expected, episode, "equals")
        return _judged(episode, _shown(value), len(value) if isinstance(value, str) else 0, lambda a: _says(value, a))

    return verify


def equals_list(expected: Sequence[Value] | Callable[[State], Sequence[Value]]) -> Verifier:
    """The answer is these values, in this order, and no others.

    They may stand on lines of their own, with bullets or numbers, or be separated by commas, semicolons or "and", or
    be a JSON array. Of no value at all, the answer is "none".

    Args:
        expected: The values, as `equals` takes each; or a function of the product's state when the episode began.

    Raises:
        TypeError: `expected` is no such list.
    """
    return _several(expected, "equals_list", lambda values, items: all(map(_says, values, items)))


def equals_set(expected: Sequence[Value] | Callable[[State], Sequence[Value]]) -> Verifier:
    """The answer is these values, each as often as here, in any order, and no others; written as for `equals_list`.

    Raises:
        TypeError: `expected` is no such list.
    """

    def holds(values: Sequence[Any], items: Sequence[str]) -> bool:
        return None not in pairing([[i for i, item in enumerate(items) if _says(value, item)] for value in values])

    return _several(expected, "equals_set", holds)


def _several(
    expected: Sequence[Value] | Callable[[State], Sequence[Value]],
    name: str,
    holds: Callable[[Sequence[Any], Sequence[str]], bool],
) -> Verifier:
    if not callable(expected):
        _check_list(expected, name, TypeError)

    def verify(episode: Episode) -> Verdict:
        values = expected(episode.before) if callable(expected) else expected
        _check_list(values, name, VerifierError)
        order = "in this order" if name == "equals_list" else "in any order"
        shown = f"{', '.join(map(_shown, values))} ({order})" if values else "none"
        length = sum(len(value) + 8 if isinstance(value, str) else 40 for value in values)

        def right(answer: str) -> bool:
            ways = (items for items in _items(answer) if len(items) == len(values))
            return any(holds(values, items) for items in ways)

        return _judged(episode, shown, length, right)

    return verify


def _judged(episode: Episode, expected: str, length: int, right: Callable[[str], bool]) -> Verdict:
    answer, most = episode.answer, max(MAX_ANSWER, 2 * length)
    if answer is None:
        return failed("answer", f"expected the answer {expected}, but the episode ended without an answer")
    shown = repr(answer if len(answer) <= _MAX_SHOWN else answer[:_MAX_SHOWN] + "…")
    if len(answer) > most:
        return failed("answer", f"expected the answer {expected}, found {len(answer)} characters, which begin {shown}")
    return check("answer", right(answer), f"expected the answer {expected}, found {shown}")


# --- what an answer may be -------------------------------------------------------------------------------------


def _value(expected: Value | Callable[[State], Value], episode: Episode, name: str) -> Any:
    if isinstance(expected, Matcher) or not callable(expected):
        return expected
    value = expected(episode.before)
    if not _is_value(value):
        raise VerifierError(f"{name}: the expected answer is {value!r}; expected {_KINDS}")
    return value


def _check(expected: object, name: str) -> None:
    if isinstance(expected, Matcher) and not expected.answers:
        raise TypeError(f"{name}({expected.shown}): it would take an answer that holds more than the value")
    if not callable(expected) and not _is_value(expected):
        raise TypeError(f"{name}({expected!r}): expected {_KINDS}, or a function of the state")


def _check_list(values: object, name: str, error: type[Exception]) -> None:
    if isinstance(values, str) or not isinstance(values, Sequence) or not all(map(_is_value, values)):
        raise error(f"{name}: the expected answer is {values!r}; expected a list, of which each is {_KINDS}")


def _is_value(value: object) -> bool:
    return isinstance(value, Value) and not (isinstance(value, Matcher) and not value.answers)


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, date | time) else repr(value)


# --- reading an answer -----------------------------------------------------------------------------------------


def _says(value: Any, answer: str) -> bool:
    if isinstance(value, Matcher) and value.values:
        return any(_says(one, answer) for one in value.values)
    forms = _forms(answer)
    if isinstance(value, bool):
        return any(words(form, fold_case=True) in (("yes", "true") if value else ("no", "false")) for form in forms)
    return any(same(value, form, fold_case=True) for form in (answer, *forms))


def _forms(answer: str) -> list[str]:
    """The answer as it is, and without what may be around it: a full stop, stars, quotes, the # before a number.

    With and without each, since "Acme Inc." ends with a full stop of its own.
    """
    forms = _undotted(answer.strip())
    for inside in (_bold, _quoted, _numbered):
        forms += [plain for form in forms if (inner := inside(form)) for plain in _undotted(inner.strip())]
    return list(dict.fromkeys(forms))


def _undotted(text: str) -> list[str]:
    return [text, text.removesuffix(".").rstrip()]


def _bold(text: str) -> str:
    bold = re.fullmatch(r"(\*{1,2})([^*]+)\1", text)
    return bold[2] if bold else ""


def _quoted(text: str) -> str:
    quoted = len(text) > 1 and f"{text[0]}{text[-1]}" in ('""', "''", "“”", "‘’", "``")
    return text[1:-1] if quoted else ""


def _numbered(text: str) -> str:
    return text[1:] if re.fullmatch(r"#[0-9]+", text) else ""


_SEPARATORS = (r";", r",", r",\s", r",\s?(?:and|&)\s|,|\s(?:and|&)\s", r",\s(?:and|&)\s|,\s|\s(?:and|&)\s")
"""Ways to write a list on one line; a number may hold a comma, a name may hold an "and"."""


def _items(answer: str) -> Iterator[list[str]]:
    """The lists that an answer may be: one for each way of writing lists."""
    text = answer.strip()
    if text.startswith("["):
        yield from _json_items(text)
    if any(words(form, fold_case=True) == "none" for form in _forms(text)):
        yield []
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        yield from _lines(lines)
        return
    yield [text]
    for separator in _SEPARATORS:
        yield re.split(separator, text)


def _lines(lines: list[str]) -> Iterator[list[str]]:
    """Lines, without their bullets where each of them has one: "- 5" is -5 only where other lines have none."""
    for bullet in (r"[-*•–]\s+", r"[0-9]{1,3}[.)]\s+"):
        if all(re.match(bullet, line) for line in lines):
            yield [re.sub(bullet, "", line, count=1) for line in lines]
            return
    yield lines


def _json_items(text: str) -> Iterator[list[str]]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(items, list) and all(isinstance(item, str | int | float | bool) for item in items):
        yield [item if isinstance(item, str) else json.dumps(item) for item in items]
