"""What may stand for a value: in a column of a row, in an answer, in a mail or a request.

    added("orders", total=money("12.50", "USD"), note=text("no sugar"), due=when(date(2026, 3, 5)))
    equals(close(71.4, 0.1))

A matcher shows itself in the reasons of verdicts as it was written. A plain value compares as
`uigym.compare.same` says.
"""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from uigym.compare import CURRENCIES, SIGNS, Matcher, amount, apart, decimal, equal, number, same, words
from uigym.errors import did_you_mean
from uigym.moments import Order, same_moment
from uigym.verifiers.patterns import safe

MAX_TEXT = 100_000
"""A longer text is like no other and mentions nothing."""


def exact(value: Any) -> Matcher:
    """This value and no other: the same type, and of a text every space and every letter's case.

    Example:
        >>> exact("Tea")("Tea"), exact("Tea")("Tea "), exact(1)(True), exact(1)(1.0)
        (True, False, False, False)
    """
    return Matcher(f"exact({value!r})", lambda found: _identical(value, found))


def close(value: float | Decimal, tolerance: float | Decimal) -> Matcher:
    """A number, or a text that writes one, at most `tolerance` away.

    Raises:
        ValueError: One of the two is not finite, or the tolerance is negative.

    Example:
        >>> close(71.4, 0.1)("71.5"), close(71.4, 0.1)(71.51)
        (True, False)
    """
    middle, reach = decimal(value), decimal(tolerance)
    if isinstance(value, bool) or middle is None or reach is None or reach < 0:
        raise ValueError(f"close({value!r}, {tolerance!r}): expected a finite number and a tolerance of at least 0")

    def fits(found: Any) -> bool:
        given = _number(found)
        return given is not None and apart(given, middle) <= reach

    return Matcher(f"close({value!r}, {tolerance!r})", fits)


def measure(value: float | Decimal, *units: str, tolerance: float | Decimal = 0, comma: bool = False) -> Matcher:
    """A number alone, or with one of these units after it: 12, "12", "12 km", "12%".

    Args:
        value: The number.
        units: Ways to write the one unit, such as "%" and "percent"; case does not count.
        tolerance: How far off the number may be.
        comma: Texts are written with a comma before the fraction: "1.250,5 km".

    Raises:
        ValueError: As `close` raises it, or a unit is empty or begins with a digit.

    Example:
        >>> measure(12.5, "km")("12.5 km"), measure(12.5, "km")("12.5 m"), measure(12, "%", comma=True)("12,0 %")
        (True, False, True)
    """
    near = close(value, tolerance)
    plain = {words(unit, fold_case=True) for unit in units}
    if not all(plain) or any(unit[0].isdigit() for unit in plain):
        raise ValueError(f"measure({value!r}, {_listed(units)}): a unit is a text that begins with no digit")

    def fits(found: Any) -> bool:
        if not isinstance(found, str):
            return near(found)
        said = words(found, fold_case=True)
        unit = next((one for one in sorted(plain, key=len, reverse=True) if said.endswith(one)), "")
        return near(_dotted(said.removesuffix(unit), comma))

    more = "".join([f", tolerance={tolerance!r}" if tolerance else "", ", comma=True" if comma else ""])
    return Matcher(f"measure({_listed((value, *units))}{more})", fits)


def money(value: str | float | Decimal, currency: str = "", *, comma: bool = False) -> Matcher:
    """An amount of money, to the last digit: as a number, or written as "$1,250.00", "1250.00 USD" or "1250".

    Args:
        value: The amount, as "12.50", 12.5 or Decimal.
        currency: ISO code; what is found must name this one, by code or by a sign that stands for it, or none.
            "" takes any.
        comma: Texts are written with a comma before the fraction: "1.250,00 €".

    Raises:
        ValueError: The amount is no number, or the currency is unknown.

    Example:
        >>> money("12.50", "USD")("$12.50"), money("12.50", "USD")("12.50 EUR"), money("12.50")(12.05)
        (True, False, False)
        >>> money("1250", "EUR", comma=True)("1.250,00 €"), money("1.25", "EUR", comma=True)("1.250 €")
        (True, False)
    """
    try:
        wanted = decimal(Decimal(value) if isinstance(value, str) else value)
    except InvalidOperation:
        wanted = None
    if isinstance(value, bool) or wanted is None:
        raise ValueError(f'money({value!r}): expected an amount such as "12.50"')
    if currency and currency not in CURRENCIES:
        raise ValueError(f"money({value!r}, {currency!r}): no such currency. {did_you_mean(currency, CURRENCIES)}")

    def fits(found: Any) -> bool:
        if not isinstance(found, str):
            return _same_amount(value if isinstance(value, float) else wanted, found)
        said = amount(_dotted(found, comma))
        if said is None or not equal(value if isinstance(value, float) else wanted, said[0]):
            return False
        return not currency or said[1] == "" or currency in SIGNS.get(said[1], (said[1],))

    shown = [repr(value), *([repr(currency)] if currency else []), *(["comma=True"] if comma else [])]
    return Matcher(f"money({', '.join(shown)})", fits)


def _same_amount(wanted: float | Decimal, found: Any) -> bool:
    """Whether a number is an amount: to the last binary digit, and to the cent where those are coarser."""
    given = _number(found)
    if given is None or not equal(wanted, found):
        return False
    if isinstance(wanted, float) or not isinstance(found, float):
        return True
    digits = Decimal(1).scaleb(min(-2, int(wanted.as_tuple().exponent)))
    return apart(given, wanted) < digits / 2


def _dotted(text: str, comma: bool) -> str:
    """A number written with a comma before its fraction, with a dot there."""
    if not comma:
        return text
    spaces = re.sub(r"(?<=[0-9])[\s\N{NARROW NO-BREAK SPACE}'](?=[0-9]{3}(?![0-9]))", ".", text)
    return spaces.translate(str.maketrans(",.", ".,"))


def when(value: date | time | str, zone: str = "UTC", *, within: float = 0, order: Order = "") -> Matcher:
    """A day, a time of day or a moment, however it is written.

    A day fits any moment of that day. What names no zone is in `zone`; what names one is brought there.

    Args:
        value: date, time or datetime; or one of them in ISO form: "2026-03-05", "14:30", "2026-03-05 14:30".
        zone: IANA name, such as "Europe/Berlin".
        within: How far off a time may be, seconds.
        order: How "03/05/2026" is read: "dmy", "mdy", or "" not at all.

    Raises:
        ValueError: The text is no date or time, there is no such zone, or a day is given with `within`.

    Example:
        >>> when("2026-03-05 14:30", "Europe/Berlin")("March 5, 2026, 1:30 pm UTC")
        True
        >>> when("2026-03-05")("5 Mar 2026"), when("2026-03-05")("6 Mar 2026"), when("14:30", within=60)("2:31 pm")
        (True, False, True)
    """
    shown = f"when({str(value)!r}{f', {zone!r}' if zone != 'UTC' else ''}{f', within={within:g}' if within else ''})"
    wanted = _moment(value, shown) if isinstance(value, str) else value
    if not (math.isfinite(within) and within >= 0) or order not in ("", "dmy", "mdy"):
        raise ValueError(f'{shown}: within is seconds, at least 0, and order is "dmy", "mdy" or ""')
    if within and isinstance(wanted, date) and not isinstance(wanted, datetime):
        raise ValueError(f"{shown}: a day is that day; within goes with a time")
    place, reach = _zone(zone, shown), timedelta(seconds=within)
    return Matcher(shown, lambda found: same_moment(wanted, found, place, reach, order))


def text(value: str) -> Matcher:
    """The words of a text: case, spacing, and the kind of quotes, dashes and dots do not count.

    Example:
        >>> text("It's ready")(" it’s  READY "), text("It's ready")("It's ready now")
        (True, False)
    """
    wanted = _plain(value)
    return Matcher(f"text({value!r})", lambda found: isinstance(found, str) and _plain(found) == wanted)


def similar(value: str, at_least: float = 0.9) -> Matcher:
    """A text much like this one: for what an agent had to read and type.

    Args:
        value: The text; case and spacing do not count.
        at_least: Share of characters that must agree, more than 0.5: twice the number of those in common, in order,
            over the number of all.

    Raises:
        ValueError: `at_least` is not in (0.5, 1], or the text is empty.

    Example:
        >>> similar("Meeting at noon")("meeting at noon."), similar("Meeting at noon")("meeting at nine")
        (True, False)
    """
    wanted = _plain(value)
    if not 0.5 < at_least <= 1 or not wanted:
        raise ValueError(f"similar({value!r}, {at_least!r}): expected a text, and a share above 0.5 and up to 1")

    def fits(found: Any) -> bool:
        given = _plain(found) if isinstance(found, str) and len(found) <= MAX_TEXT else ""
        total = len(given) + len(wanted)
        if 2 * min(len(given), len(wanted)) / total < at_least:  # also keeps what a policy typed from taking long
            return False
        return difflib.SequenceMatcher(None, wanted, given, autojunk=False).ratio() >= at_least

    return Matcher(f"similar({value!r}, {at_least:g})", fits)


def regex(pattern: str) -> Matcher:
    """A text that fits a regular expression from its first character to its last.

    Of a text of more than 4,000 characters it holds that it does not fit; of more than 500 where the pattern has more
    than two repetitions without end.

    Raises:
        ValueError: The pattern cannot be read, or repeats what may itself fit in several ways, as in "(a+)+": a policy
            could write a text on which it takes hours.

    Example:
        >>> regex("INV-[0-9]{4}")("INV-0012"), regex("INV-[0-9]{4}")("INV-00123")
        (True, False)
    """
    whole = safe(pattern)
    return Matcher(f"regex({pattern!r})", lambda found: isinstance(found, str) and whole(found))


def mentions(*phrases: str) -> Matcher:
    """A text that holds each of these phrases as whole words, besides others.

    For what a person wrote freely, such as a mail; never for an answer, where it would pay for naming everything.

    Raises:
        ValueError: A phrase is missing or empty.

    Example:
        >>> mentions("refund", "order 12")("Your refund for Order 12 is on its way")
        True
        >>> mentions("order 12")("order 125")
        False
    """
    plain = [_plain(phrase) for phrase in phrases]
    if not all(plain) or not plain:
        raise ValueError(f"mentions{phrases!r}: expected at least one phrase, and none that is empty")

    def fits(found: Any) -> bool:
        if not isinstance(found, str) or len(found) > MAX_TEXT:
            return False
        said = _plain(found)
        return all(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", said) for phrase in plain)

    return Matcher(f"mentions({_listed(phrases)})", fits, answers=False)


def any_value(*values: Any) -> Matcher:
    """One of these values or matchers.

    Raises:
        ValueError: There is none.

    Example:
        >>> any_value("cash", "card")("card"), any_value(1, close(5, 1))(6)
        (True, True)
    """
    if not values:
        raise ValueError("any_value() needs at least one value")
    strict = all(value.answers for value in values if isinstance(value, Matcher))
    return Matcher(
        f"any_value({_listed(values)})", lambda found: any(same(one, found) for one in values), strict, values
    )


def other_than(*values: Any) -> Matcher:
    """Anything but these values; also not nothing: null and a text without words do not fit.

    Raises:
        ValueError: There is none.
    """
    if not values:
        raise ValueError("other_than() needs at least one value")

    def fits(found: Any) -> bool:
        empty = found is None or (isinstance(found, str) and not found.strip())
        return not empty and not any(same(one, found) for one in values)

    return Matcher(f"other_than({_listed(values)})", fits, answers=False)


def unordered(*values: Any) -> Matcher:
    """A list of just these values, each as often as here, in any order.

    Example:
        >>> unordered("a", "b")(["b", "a"]), unordered("a", "b")(["a", "b", "b"])
        (True, False)
    """
    return Matcher(f"unordered({_listed(values)})", lambda found: _same_members(values, found), answers=False)


def _same_members(values: Sequence[Any], found: Any) -> bool:
    if not isinstance(found, list | tuple) or len(found) != len(values):
        return False
    return None not in pairing([[i for i, one in enumerate(found) if same(value, one)] for value in values])


def pairing(choices: Sequence[Sequence[Any]]) -> list[Any]:
    """For each the choice that it is given, no choice twice and as many as can be; None for those that go without.

    Source: augmenting paths of bipartite matching (Kuhn, 1955).
    """
    owner: dict[Any, int] = {}

    def place(index: int, tried: set[Any]) -> bool:
        for choice in choices[index]:
            if choice not in tried:
                tried.add(choice)
                if choice not in owner or place(owner[choice], tried):
                    owner[choice] = index
                    return True
        return False

    for index in range(len(choices)):
        place(index, set())
    given = {index: choice for choice, index in owner.items()}
    return [given.get(index) for index in range(len(choices))]


def _identical(value: Any, found: Any) -> bool:
    if isinstance(value, list | tuple) and isinstance(found, list | tuple):  # a stored tuple comes back as a list
        return len(value) == len(found) and all(map(_identical, value, found))
    if isinstance(value, dict) and isinstance(found, dict):
        return value.keys() == found.keys() and all(_identical(one, found[name]) for name, one in value.items())
    return type(value) is type(found) and value == found


def _number(found: Any) -> Decimal | None:
    if isinstance(found, str):
        return number(found)
    if isinstance(found, bool) or not isinstance(found, int | float | Decimal):
        return None
    return decimal(found)


_TYPED = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **{
            chr(code): unicodedata.normalize("NFKC", chr(code))
            for code in (*range(0xFB00, 0xFB07), *range(0xFF01, 0xFFEF))
        },
        "…": "...",
    }
)
"""What word processors and keyboards make of quotes and dashes, dots, letters set as one, and letters of full or half
width. No other form is taken for its letter: 2⁵ is not 25."""


def _plain(value: str) -> str:
    return words(value.translate(_TYPED), fold_case=True)


def _moment(value: str, shown: str) -> date | time:
    for kind in (date, time, datetime):
        try:
            return kind.fromisoformat(value)
        except ValueError:
            continue
    raise ValueError(f'{shown}: expected a date or time such as "2026-03-05", "14:30" or "2026-03-05 14:30"')


def _zone(name: str, shown: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise ValueError(f'{shown}: no time zone {name!r}; expected an IANA name such as "Europe/Berlin"') from exc


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values))
