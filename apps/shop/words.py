"""What people enter, read: lines, money, dates, cards; and a "no" that can be said in every language."""

from __future__ import annotations

import re
from datetime import date

from ..kit import numbers
from ..kit.web import Refused

MAX_LINE = 200
MAX_TEXT = 2_000
MAX_PRICE = 100_000_000
"""Cents."""


class Denied(Refused):
    """A refusal with values in it: text and values, so that the page can say it in its language."""

    def __init__(self, text: str, **values: object):
        super().__init__(text.format(**values))
        self.text, self.values = text, values


def line(what: str, text: str) -> str:
    """One line of text."""
    found = " ".join(text.split())
    if not found:
        raise Denied("Please fill in: {what}.", what=what)
    if len(found) > MAX_LINE:
        raise Denied("{what} is too long: {n} characters, at most {most}.", what=what, n=len(found), most=MAX_LINE)
    return found


def body(what: str, text: str) -> str:
    """A text, which may be empty."""
    found = text.replace("\r\n", "\n").strip()
    if len(found) > MAX_TEXT:
        raise Denied("{what} is too long: {n} characters, at most {most}.", what=what, n=len(found), most=MAX_TEXT)
    return found


def cents(what: str, text: str) -> int:
    """An amount of money: "12.50", "$1,200"."""
    found = numbers.cents(text)
    if found is None or found >= 1_000_000_000:
        raise Denied("{what}: {value} is no amount; write it like 12.50.", what=what, value=text.strip() or "–")
    return found


def price(what: str, text: str) -> int:
    """A price, from 0.01 to `MAX_PRICE`."""
    found = cents(what, text)
    if not 1 <= found <= MAX_PRICE:
        raise Denied("{what}: a price is from $0.01 to $1,000,000.00.", what=what)
    return found


def number(what: str, text: str, low: int, high: int) -> int:
    """A whole number between two."""
    plain = text.strip()
    if not re.fullmatch(r"[+-]?\d{1,6}", plain, re.ASCII) or not low <= int(plain) <= high:
        raise Denied(
            "{what}: {value} is no whole number from {low} to {high}.",
            what=what,
            value=plain or "–",
            low=low,
            high=high,
        )
    return int(plain)


def day(what: str, text: str) -> str:
    """A date, as a date field sends it."""
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        raise Denied("{what}: {value} is no date.", what=what, value=text.strip() or "–") from None


def choice(what: str, value: str, values: object) -> str:
    """One of the values that are offered."""
    if value not in values:  # type: ignore[operator]
        raise Denied("Please choose: {what}.", what=what)
    return value


def card(text: str) -> str:
    """The last four digits of a card number whose check digit is right."""
    digits = re.sub(r"[ -]", "", text)
    if not re.fullmatch(r"\d{13,19}", digits, re.ASCII) or not luhn(digits):
        raise Denied("This card number is not valid.")
    return digits[-4:]


def luhn(digits: str) -> bool:
    """Whether a number's check digit is right: every second digit from the right is doubled, and all are summed up."""
    doubled = [int(digit) * (1 + i % 2) for i, digit in enumerate(reversed(digits))]
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def expiry(text: str, today: str) -> None:
    """A card's month and year, MM/YY, which is not over."""
    found = re.fullmatch(r"(0[1-9]|1[0-2]) ?/ ?(?:20)?(\d\d)", text.strip(), re.ASCII)
    if not found:
        raise Denied("Write the expiry date like 08/29.")
    if f"20{found[2]}-{found[1]}" < today[:7]:
        raise Denied("This card has expired.")
