"""Numbers as people and addresses write them; digits are those of ASCII alone."""

from __future__ import annotations

import re

_AMOUNT = re.compile(r"[$€£]?\s*([0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,12})(?:\.([0-9]{1,2}))?")
MAX_ID = 999_999_999


def number(text: str) -> int:
    """A whole number above 0 that names a record; 0, which names none, if the text is no such number up to `MAX_ID`."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 0


def cents(text: str) -> int | None:
    """An amount of money in cents: "1250", "1,250.00", "$12.5"; None if the text is none.

    A comma stands between groups of three digits and nowhere else, so that "12,50" is not taken for 1250.
    """
    found = _AMOUNT.fullmatch(text.strip())
    return None if found is None else int(found[1].replace(",", "")) * 100 + int((found[2] or "").ljust(2, "0"))
