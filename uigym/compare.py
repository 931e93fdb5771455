"""Whether a value that was found is the value that was expected: typed, strict, never by substring.

Numbers are compared as numbers, amounts of money however they are written, texts by their words.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from uigym.errors import VerifierError

_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "USD": "USD", "EUR": "EUR", "GBP": "GBP", "JPY": "JPY"}
_SIGN = r"[$€£¥]|USD|EUR|GBP|JPY"
_AMOUNT = re.compile(
    rf"(?P<minus>-?)\s?(?P<before>{_SIGN})?\s?(?P<minus2>-?)"
    rf"(?P<digits>[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)(?P<fraction>\.[0-9]+)?\s?(?P<after>{_SIGN})?"
)


def same(expected: Any, found: Any, *, fold_case: bool = False) -> bool:
    """Whether `found` is `expected`.

    A number also equals a text that writes it ("1,250", "$12.50"); True and False also equal 1 and 0; the spaces of a
    text do not count. Money written as text ("$12.50", or with two decimals) equals the same amount written otherwise,
    in the same currency where both name one.

    Args:
        expected: None, bool, number, text, or a list or mapping of those.
        found: What the product or the policy says.
        fold_case: Texts that differ only in case are equal.

    Raises:
        VerifierError: `expected` is of another type.

    Example:
        >>> same(12.5, "$12.50"), same("12", "112"), same("Green tea", " Green  tea")
        (True, False, True)
    """
    if expected is None:
        return found is None
    if isinstance(expected, bool):
        return found in (0, 1) and not isinstance(found, str) and bool(found) is expected
    if isinstance(expected, int | float | Decimal):
        return _same_number(expected, found)
    if isinstance(expected, str):
        return _same_text(expected, found, fold_case)
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping) or expected.keys() != found.keys():
            return False
        return all(same(value, found[key], fold_case=fold_case) for key, value in expected.items())
    if isinstance(expected, Sequence):
        if not isinstance(found, list | tuple) or len(expected) != len(found):
            return False
        return all(same(a, b, fold_case=fold_case) for a, b in zip(expected, found, strict=True))
    raise VerifierError(f"cannot compare with {expected!r}: expected None, a bool, a number or a text")


def number(text: str) -> Decimal | None:
    """The number that a text writes and nothing else; None if it is not one.

    Example:
        >>> number("$1,250.00"), number("1 or 2")
        (Decimal('1250.00'), None)
    """
    amount = _amount(text)
    return None if amount is None else amount[0]


def words(text: str, *, fold_case: bool = False) -> str:
    """The text with single spaces, in one Unicode form, and without case if asked."""
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return plain.casefold() if fold_case else plain


def _same_number(expected: float | Decimal, found: Any) -> bool:
    if isinstance(found, str):
        written = number(found)
        return written is not None and _equal(expected, written)
    return isinstance(found, int | float | Decimal) and _equal(expected, found)


def _equal(a: float | Decimal, b: float | Decimal) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    x, y = _decimal(a), _decimal(b)
    if x is None or y is None:
        return False
    if isinstance(a, float) or isinstance(b, float):  # sums of binary fractions are off by a few last digits
        return abs(x - y) <= Decimal("1e-9") * max(Decimal(1), abs(x), abs(y))
    return x == y


def _decimal(value: float | Decimal) -> Decimal | None:
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    exact = Decimal(value)
    return exact if exact.is_finite() else None


def _same_text(expected: str, found: Any, fold_case: bool) -> bool:
    if isinstance(found, bool) or found is None:
        return False
    if isinstance(found, int | float | Decimal):
        amount = _money(expected)
        return amount is not None and _equal(amount[0], found)
    if not isinstance(found, str):
        return False
    if words(expected, fold_case=fold_case) == words(found, fold_case=fold_case):
        return True
    wanted = _money(expected)
    given = _amount(found) if wanted is not None and wanted[1] else _money(found)
    if wanted is None or given is None:
        return False
    currencies = {wanted[1], given[1]} - {""}
    return len(currencies) < 2 and wanted[0] == given[0]


def _amount(text: str) -> tuple[Decimal, str] | None:
    """(number, currency or "")."""
    match = _AMOUNT.fullmatch(text.strip().replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " "))
    if match is None or (match["before"] and match["after"]) or (match["minus"] and match["minus2"]):
        return None
    value = Decimal(match["digits"].replace(",", "") + (match["fraction"] or ""))
    sign = match["before"] or match["after"] or ""
    negative = bool(match["minus"] or match["minus2"])  # a plain minus would round to 28 digits
    return (value.copy_negate() if negative else value), _SIGNS.get(sign, "")


def _money(text: str) -> tuple[Decimal, str] | None:
    """An amount that is surely money: it names its currency, or has two decimals."""
    amount = _amount(text)
    if amount is None or not (amount[1] or re.search(r"\.[0-9]{2}$", text.strip())):
        return None
    return amount
