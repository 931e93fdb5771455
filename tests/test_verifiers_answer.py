"""What counts as the answer: every right form of it, and no list of guesses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import VerifierError
from uigym.types import Episode, State, Stop
from uigym.verifiers.answer import Value, equals, equals_list, equals_set
from uigym.verifiers.match import any_value, close, mentions, money, other_than, regex, similar, text, unordered, when
from uigym.verify import Verifier


def answered(answer: str | None) -> Episode:
    before = State({"orders": ({"id": 1, "who": "Ada"}, {"id": 2, "who": "Bob"})})
    stop = Stop.DONE if answer is None else Stop.ANSWERED
    return Episode("e", "h", "t", 0, {}, "Say.", (), stop, answer=answer, before=before, after=before)


NAMES = ["Ada Lovelace", "Bob"]
CASES: list[tuple[Verifier, list[str], list[str]]] = [
    (equals(date(2026, 3, 5)), ["2026-03-05", "March 5, 2026.", "5 Mar 2026", "Thursday, March 5, 2026"],
     ["2026-03-06", "5 or 6 March 2026", "2026-03-05, 2026-03-06", "March 2026", "2026-05-03", "Friday, March 5, 2026"]),
    (equals(time(14, 30)), ["14:30", "2:30 pm", '"2:30 PM"'], ["2:30", "14:31", "between 14:00 and 15:00", "14:30 14:31"]),
    (equals(datetime(2026, 3, 5, 14, 30)), ["2026-03-05 14:30", "Mar 5, 2026, 2:30 pm"], ["2026-03-05", "14:30"]),
    (equals(when("2026-03-05", order="mdy")), ["03/05/2026", "3/5/2026."], ["05/03/2026"]),
    (equals(close(71.4, 0.1)), ["71.5", "71.35."], ["71.51", "71.4 or 71.5", "about 71.4", "0 to 100"]),
    (equals(money("12.50", "USD")), ["$12.50", "12.5", "12.50 USD."], ["€12.50", "$12.50 or $13", "1250", "$112.50"]),
    (equals(text("It's ready")), ["it’s ready", '"It\'s ready"'], ["It's ready, or not", "ready"]),
    (equals(similar("Meeting at noon", 0.9)), ["meeting at noon!"], ["Meeting at noon or at nine", "noon"]),
    (equals(regex("INV-[0-9]{4}")), ["INV-0012", "`INV-0012`", "INV-0012."], ["INV-0012 INV-0013", "the INV-0012"]),
    (equals(any_value("colour", "color")), ["Colour", "color.", '"color"'], ["colour color", "colours", "colour, color"]),
    (equals("Ada Lovelace"), ["**Ada Lovelace**", "**Ada Lovelace.**", '*"Ada Lovelace"*', "Ada Lovelace."],
     ["**Ada** Lovelace", "**Ada Lovelace** **Bob**", "*", "****", "**Bob**", "* Ada Lovelace\n* Bob"]),
    (equals("Acme Inc."), ["Acme Inc.", "acme inc.", '"Acme Inc."', "**Acme Inc.**", '**"Acme Inc."**', '"Acme Inc.".', "Acme Inc.."],
     ["Acme Inc...", "Acme", "Acme. Inc.", '"Acme Inc." "Bob"', '"Acme Inc.']),
    (equals("#12"), ["#12", '"#12"'], ["12", "##12"]),
    (equals(12), ["#12", "**#12**", '"12".'], ["##12", "# 12", "#12a"]),
    (equals_list(["Beta", "Acme Inc."]), ["Beta, Acme Inc.", "Beta and Acme Inc.", "- Beta\n- Acme Inc.", "Beta; Acme Inc.", "1) Beta\n2) Acme Inc."],
     ["Acme Inc., Beta", "Beta, Acme", "Beta, Acme Inc., Bob"]),
    (equals_list(["Acme Inc.", "Beta"]), ["Acme Inc., Beta", "Acme Inc. and Beta."], ["Beta, Acme Inc."]),
    (equals_list([5, 3]), ["- 5\n- 3", "* 5\n* 3", "1. 5\n2. 3", "5\n3", " - 5\n - 3\n"], ["-5\n-3", "- 5\n3", "5\n- 3", "- 3\n- 5"]),
    (equals_list([-5, -3]), ["-5\n-3", "-5, -3", "- -5\n- -3", "1. -5\n2. -3", "• -5\n• -3"], ["- 5\n- 3", "• 5\n• 3", "5\n3"]),
    (equals_list([-5, 3]), ["-5\n3", "- 5\n3"], ["- 5\n- 3", "5\n3"]),
    (equals(True), ["yes", "True.", "YES"], ["yes and no", "yes, no", "maybe", "1", ""]),
    (equals_list(NAMES), ["Ada Lovelace, Bob", "ada lovelace and bob.", "1. Ada Lovelace\n2. Bob", '["Ada Lovelace", "Bob"]',
      "- Ada Lovelace\n- Bob\n", "Ada Lovelace; Bob", "Ada Lovelace\nBob", "Ada Lovelace, and Bob"],
     ["Bob, Ada Lovelace", "Ada Lovelace", "Ada Lovelace, Bob, Eve", "Ada Lovelace, Bob, Bob", "Ada, Bob", "Ada Lovelace Bob",
      "Ada Lovelace or Bob", "Ada Lovelace, Bob or Eve", "[]", '["Ada Lovelace", ["Bob"]]', "none", "", "Ada Lovelace,, Bob",
      "Ada Lovelace, Bob\nBob, Ada Lovelace", '{"a": "Ada Lovelace"}', "[" * 5000]),
    (equals_set(NAMES), ["Bob, Ada Lovelace", "Ada Lovelace, Bob", "Bob and Ada Lovelace"],
     ["Bob", "Bob, Bob", "Bob, Ada Lovelace, Bob", "Bob, Ada Lovelace, Eve", "everybody", "Bob and"]),
    (equals_list([1250, 3]), ["1,250, 3", "1250,3", "$1,250; 3", "[1250, 3]", "1250 and 3."], ["1, 250, 3", "3, 1250", "1250"]),
    (equals_list([1, 250, 3]), ["1, 250, 3", "1,250,3"], ["1,250, 4", "1, 250, 3, 4"]),
    (equals_list(["Salt and pepper", "Tea, green"]), ["Salt and pepper\nTea, green", "Salt and pepper; Tea, green"],
     ["Salt, pepper, Tea, green", "Salt and pepper"]),
    (equals_list(["Salt and pepper", "Tea"]), ["Salt and pepper, Tea"], ["Salt, pepper, Tea"]),
    (equals_set([date(2026, 3, 5), date(2026, 3, 6)]), ["2026-03-06, 2026-03-05", "March 6, 2026; March 5, 2026"], ["2026-03-05"]),
    (equals_set([close(1, 1), 1]), ["1, 2", "2, 1"], ["2, 2", "1"]),
    (equals_set(["a", "a"]), ["a, a"], ["a", "a, a, a"]),
    (equals_list(["Bob"]), ["Bob", "Bob.", '["Bob"]'], ["Bob, Bob", "Bobby", "none"]),
    (equals_list([]), ["none", "None.", "[]"], ["", "nothing to see", "Bob", "no"]),
    (equals_list(lambda state: [row["who"] for row in state.tables["orders"]]), ["Ada, Bob"], ["Bob, Ada"]),
]  # fmt: skip


@pytest.mark.parametrize(("verify", "right", "wrong"), CASES)
def test_answers(verify: Verifier, right: list[str], wrong: list[str]) -> None:
    assert [answer for answer in right if not verify(answered(answer)).success] == []
    assert [answer for answer in wrong if verify(answered(answer)).success] == []
    for answer in (*wrong, None):
        verdict = verify(answered(answer))
        assert verdict.score == 0.0 and verdict.reason.startswith("expected the answer ") and len(verdict.reason) < 400


@pytest.mark.parametrize(
    "verify", [equals(12), equals(regex(".*")), equals_list(NAMES), equals(similar("x" * 900, 0.6)), equals("Ada")]
)
def test_an_answer_that_is_too_long_is_none(verify: Verifier) -> None:
    for long in ("12 " * 1000, "Ada Lovelace, Bob" + " " * 3000, "x" * 2001):
        verdict = verify(answered(long))
        assert not verdict.success and f"found {len(long)} characters" in verdict.reason and len(verdict.reason) < 1200


def test_a_long_text_may_be_asked_for() -> None:
    assert equals("word " * 1000)(answered("word " * 1000)).success
    many = [f"customer number {i}" for i in range(300)]
    assert equals_list(many)(answered("\n".join(many))).success


def test_reasons_show_what_was_expected() -> None:
    assert equals(date(2026, 3, 5))(answered("x")).reason == "expected the answer 2026-03-05, found 'x'"
    assert equals(close(1, 0.5))(answered("x")).reason == "expected the answer close(1, 0.5), found 'x'"
    expected = "expected the answer 'Ada Lovelace', 'Bob' (in any order), found 'x'"
    assert equals_set(NAMES)(answered("x")).reason == expected


@pytest.mark.parametrize(
    "build",
    [
        lambda: equals(mentions("a")),
        lambda: equals(other_than("a")),
        lambda: equals(unordered("a")),
        lambda: equals(any_value("a", mentions("b"))),
        lambda: equals(None),  # type: ignore[arg-type]
        lambda: equals_list("Ada"),
        lambda: equals_list([None]),  # type: ignore[list-item]
        lambda: equals_set([mentions("a")]),
        lambda: equals_set({"a"}),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_answer_is_caught_when_written(build: Any) -> None:
    with pytest.raises(TypeError):
        build()


@pytest.mark.parametrize(
    "verify",
    [
        equals(lambda state: None),
        equals(lambda state: mentions("a")),
        equals_list(lambda state: "Ada"),
        equals_set(lambda state: 3),
    ],
)
def test_what_a_function_gives_must_be_an_answer(verify: Verifier) -> None:
    with pytest.raises(VerifierError, match="the expected answer is"):
        verify(answered("Ada"))


VALUES = st.lists(st.sampled_from(["Ada", "Bob", "Eve", 7, 12, Decimal("2.50")]), min_size=2, max_size=4)
WAYS = [", ".join, "; ".join, "\n".join, lambda items: json.dumps(list(items)), lambda items: "- " + "\n- ".join(items)]


@settings(deadline=None)
@given(VALUES, VALUES, st.sampled_from(WAYS))
def test_a_list_is_itself_in_every_way_of_writing(values: Sequence[Value], others: Sequence[Value], way: Any) -> None:
    written = answered(way([str(value) for value in values]))
    assert equals_list(values)(written).success and equals_set(values)(written).success
    assert equals_list(others)(written).success is (list(values) == list(others))
    assert equals_set(others)(written).success is any(
        list(order) == list(values) for order in itertools.permutations(others)
    )
