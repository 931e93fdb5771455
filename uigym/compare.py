"""Whether a value that was found is the value that was expected: typed, strict, never by substring.

Numbers are compared as numbers, amounts of money however they are written, texts by their words, dates and times as
such. What else may count as the same is said by a `Matcher`; those that come with uigym are in
`uigym.verifiers.match`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

from uigym.errors import VerifierError
from uigym.moments import same_moment

CURRENCIES = [
    "USD",
    "EUR",
    "GBP",
    "JPY",
    "CHF",
    "CAD",
    "AUD",
    "NZD",
    "SGD",
    "HKD",
    "MXN",
    "CNY",
    "INR",
    "KRW",
    "ILS",
    "SEK",
    "NOK",
    "DKK",
    "PLN",
    "CZK",
    "HUF",
    "RON",
    "BGN",
    "TRY",
    "BRL",
    "ZAR",
]
"""ISO codes that an amount of money may name."""
SIGNS = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"), "€": ("EUR",), "£": ("GBP",), "¥": ("JPY", "CNY"),
    "₹": ("INR",), "₩": ("KRW",), "₪": ("ILS",),
}  # fmt: skip
"""What a sign may stand for; the first is meant where nothing else is said."""
MAX_NUMBER = 400
"""Characters; a longer text writes no number."""
_ULPS = 4
"""How many of its last binary digits a fraction may lose in sums."""
_WIDE = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Whatever a product or a policy says has a difference here; the usual context overflows."""
_SIGN = "|".join([*map(re.escape, SIGNS), *CURRENCIES])
_AMOUNT = re.compile(
    rf"(?P<minus>-?)\s?(?P<before>{_SIGN})?\s?(?P<minus2>-?)"
    rf"(?P<digits>[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)(?P<fraction>\.[0-9]+)?\s?(?P<after>{_SIGN})?"
)


@dataclass(frozen=True, slots=True)
class Matcher:
    """What may stand for an expected value: it says which values fit, and shows itself in messages."""

    shown: str
    """As messages show it: close(12.5, 0.1)."""
    fits: Callable[[Any], bool]
    """Whether a value fits. It gets whatever the product or the policy said, of any type."""
    answers: bool = True
    """Whether it is strict enough for what a policy answers."""
    values: tuple[Any, ...] = ()
    """The values of which any one fits; () where it is not made of values."""

    def __call__(self, found: Any) -> bool:
        """Whether the value fits."""
        return self.fits(found)

    def __repr__(self) -> str:
        return self.shown


def same(expected: Any, found: Any, *, fold_case: bool = False) -> bool:
    """Whether `found` is `expected`.

    A number also equals a text that writes it ("1,250", "$12.50"); True and False also equal 1 and 0; the spaces of a
    text do not count. Money written as text ("$12.50", or with two decimals) equals the same amount written otherwise,
    in the same currency where both name one. A date or a time equals a text that writes it; times without a zone are
    in UTC.

    Args:
        expected: None, bool, number, text, date, time, matcher, or a list or mapping of those.
        found: What the product or the policy says.
        fold_case: Texts that differ only in case are equal.

    Raises:
        VerifierError: `expected` is of another type.

    Example:
        >>> same(12.5, "$12.50"), same("12", "112"), same("Green tea", " Green  tea")
        (True, False, True)
    """
    if isinstance(expected, Matcher):
        return expected(found)
    if expected is None:
        return found is None
    if isinstance(expected, date | time):
        return same_moment(expected, found)
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
    raise VerifierError(
        f"cannot compare with {expected!r}: expected None, a bool, a number, a text, a date, a time or a matcher"
    )


def number(text: str) -> Decimal | None:
    """The number that a text writes and nothing else; None if it is not one.

    Example:
        >>> number("$1,250.00"), number("1 or 2")
        (Decimal('1250.00'), None)
    """
    written = amount(text)
    return None if written is None else written[0]


def amount(text: str) -> tuple[Decimal, str] | None:
    """The number that a text writes and nothing else, and the sign or code of the currency that it names or "".

    Example:
        >>> amount("$1,250.00"), amount("12.5 CHF"), amount("12 pieces")
        ((Decimal('1250.00'), '$'), (Decimal('12.5'), 'CHF'), None)
    """
    if len(text) > MAX_NUMBER:
        return None
    match = _AMOUNT.fullmatch(text.strip().replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " "))
    if match is None or (match["before"] and match["after"]) or (match["minus"] and match["minus2"]):
        return None
    value = Decimal(match["digits"].replace(",", "") + (match["fraction"] or ""))
    negative = bool(match["minus"] or match["minus2"])  # a plain minus would round to 28 digits
    return (value.copy_negate() if negative else value), match["before"] or match["after"] or ""


def words(text: str, *, fold_case: bool = False) -> str:
    """The text with single spaces, in one Unicode form, and without case if asked."""
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    return plain.casefold() if fold_case else plain


def _same_number(expected: float | Decimal, found: Any) -> bool:
    if isinstance(found, str):
        written = number(found)
        return written is not None and equal(expected, written)
    return isinstance(found, int | float | Decimal) and equal(expected, found)


def equal(a: float | Decimal, b: float | Decimal) -> bool:
    """Whether two numbers are the same, give or take the last digits that binary fractions lose.

    Whole numbers lose nothing and are compared exactly.
    """
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    x, y = decimal(a), decimal(b)
    if x is None or y is None:
        return False
    floats = [abs(one) for one in (a, b) if isinstance(one, float)]
    if x == y or not floats or (_whole(x) and _whole(y)):
        return x == y
    return apart(x, y) <= _ULPS * Decimal(math.ulp(max(floats)))


def apart(x: Decimal, y: Decimal) -> Decimal:
    """How far apart two finite numbers are."""
    return _WIDE.subtract(x, y).copy_abs()


def _whole(x: Decimal) -> bool:
    return x.adjusted() >= MAX_NUMBER or x == x.to_integral_value()


def decimal(value: float | Decimal) -> Decimal | None:
    """The number as it is written; None for what is not finite."""
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    exact = Decimal(value)
    return exact if exact.is_finite() else None


def _same_text(expected: str, found: Any, fold_case: bool) -> bool:
    if isinstance(found, bool) or found is None:
        return False
    if isinstance(found, int | float | Decimal):
        wanted = _money(expected)
        return wanted is not None and equal(wanted[0], found)
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
    written = amount(text)
    return written and (written[0], SIGNS.get(written[1], (written[1],))[0])


def _money(text: str) -> tuple[Decimal, str] | None:
    """An amount that is surely money: it names its currency, or has two decimals."""
    written = _amount(text)
    if written is None or not (written[1] or re.search(r"\.[0-9]{2}$", text.strip())):
        return None
    return written
