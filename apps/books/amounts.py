"""Money in cents: reading what people type, and an invoice's sums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ..kit import numbers
from ..kit.web import Refused

MAX_CENTS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Sums:
    """Of an invoice, cents."""

    net: int
    tax: int

    @property
    def total(self) -> int:
        """Net and tax."""
        return self.net + self.tax


def cents(text: str, what: str = "Amount", *, least: int = 1) -> int:
    """An amount as people write it: "1250", "1,250.00", "$12.5".

    Raises:
        Refused: It is no amount, below `least`, or beyond ten million.
    """
    value = numbers.cents(text)
    if value is None:
        raise Refused(f"{what}: Write a number such as 1250.00.")
    if not least <= value <= MAX_CENTS:
        raise Refused(f"{what}: This is too small or too large.")
    return value


def quantity(text: str) -> int | float:
    """A quantity with at most two decimals, above 0.

    Raises:
        Refused: It is none.
    """
    plain = text.strip()
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,2})?", plain) or not float(plain):
        raise Refused("A quantity must be a number above 0, such as 2 or 1.5.")
    return int(float(plain)) if float(plain).is_integer() else float(plain)


def day(text: str, what: str) -> str:
    """An ISO date.

    Raises:
        Refused: It is none.
    """
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        raise Refused(f"{what}: This is no date.") from None


def amount(line: Mapping[str, Any]) -> int:
    """A line's net amount: quantity by price, rounded half up."""
    exact = Decimal(str(line["quantity"])) * line["price"]
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


def sums(lines: Iterable[Mapping[str, Any]]) -> Sums:
    """What an invoice comes to; tax is rounded half up line by line."""
    net = tax = 0
    for line in lines:
        part = amount(line)
        net += part
        tax += int((Decimal(part) * line["tax"] / 100).quantize(Decimal(1), ROUND_HALF_UP))
    return Sums(net, tax)


def plain(value: int) -> str:
    """Cents as a form or a CSV file holds them: 1234.50."""
    return f"{'-' if value < 0 else ''}{abs(value) // 100}.{abs(value) % 100:02d}"
