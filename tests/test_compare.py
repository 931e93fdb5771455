"""When a value that was found is the value that was expected."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.compare import number, same, words
from uigym.errors import VerifierError


@pytest.mark.parametrize(
    ("expected", "found", "equal"),
    [
        (3, 3.0, True),
        (3, "3", True),
        (3, 4, False),
        (1, True, True),
        (True, 1, True),
        (True, 0, False),
        (True, 2, False),
        (True, "1", False),
        (None, None, True),
        (None, "", False),
        (0, None, False),
        ("", None, False),
        (12.5, "$12.50", True),
        (Decimal("12.50"), 12.5, True),
        (10**17 + 1, 10**17, False),
        (float("nan"), float("nan"), False),
        ("$12.50", 12.5, True),
        ("12.50", 12.5, True),
        ("12", 12, False),
        ("a  b", " a b\n", True),
        ("A", "a", False),
        ("a", "a.", False),
        (1760000000, 1760000001.0, False),
        (5551234567, 5551234568.0, False),
        (5551234567.0, "5551234568", False),
        (2**53 + 1, 2.0**53, False),
        (1e-10, "0", False),
        (0.3, 0.1 + 0.2, True),
        (0.1 * 30, 3, True),
        (12.5, 12.5000000001, False),
        (1.0, 1 + 1e-10, False),
        (1.5, Decimal("1e999999"), False),
        (1e308, "9" * 400, False),
        (12.5, "1" * 1_500_000, False),
        (Decimal("12.5"), "1" * 1_500_000 + ".50", False),
        ("$12.50", "1" * 1_500_000, False),
        ([1, "x"], (1.0, "x"), True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": "1"}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_same(expected: Any, found: Any, equal: bool) -> None:
    assert same(expected, found) is equal


def test_same_refuses_what_it_cannot_compare() -> None:
    with pytest.raises(VerifierError, match="cannot compare with"):
        same(object(), 1)


@pytest.mark.parametrize("text", ["1 2", "1,2", "1,2345", "12,50", "1e3", "$", "", "--1", "-$-1", "$1$", "٣", "1..2"])
def test_texts_that_are_no_number(text: str) -> None:
    assert number(text) is None


@settings(deadline=None)
@given(st.decimals(-(10**9), 10**9, places=2))
def test_an_amount_is_itself_however_it_is_written(amount: Decimal) -> None:
    minus = "-" if amount < 0 else ""
    for text in (f"{amount}", f"{amount:,}", f"{minus}${abs(amount):,}", f"${amount}", f"{amount} EUR"):
        assert number(text) == amount and same(amount, text)


@settings(deadline=None)
@given(st.integers(), st.integers())
def test_numbers_are_same_exactly_if_equal(a: int, b: int) -> None:
    assert same(a, b) is same(a, str(b)) is (a == b)


@settings(deadline=None)
@given(st.text(), st.text())
def test_texts_are_same_exactly_if_their_words_are(a: str, b: str) -> None:
    if number(a) is None or number(b) is None:
        assert same(a, b) is (words(a) == words(b))
    assert same(a, f"  {a}\n") and same(a, a.upper(), fold_case=True) is (
        words(a, fold_case=True) == words(a.upper(), fold_case=True)
    )
