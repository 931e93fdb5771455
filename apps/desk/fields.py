"""What may stand in the fields of a form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..kit.web import Refused

MAX_LINE = 200
MAX_TEXT = 5_000


def known(what: str, value: str, values: tuple[str, ...]) -> str:
    """One of the values that a column may hold."""
    if value not in values:
        raise Refused(f"Choose a {what}.")
    return value


def line(what: str, text: str) -> str:
    """One line of text, not empty."""
    found = " ".join(text.split())
    return _sized(what, found, MAX_LINE)


def text(what: str, value: str) -> str:
    """Text of several lines, not empty."""
    return _sized(what, value.replace("\r\n", "\n").strip(), MAX_TEXT)


def tag(value: str) -> str:
    """A tag; tags are lower case, with - between words."""
    found = re.sub(r"[\s-]+", "-", value.strip().lstrip("#").lower())
    if not re.fullmatch(r"[\w-]{1,30}", found):
        raise Refused("A tag has 1 to 30 letters, digits and hyphens.")
    return found


def email(value: str) -> str:
    """An e-mail address."""
    found = line("Email", value)
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", found):
        raise Refused("{x} is no e-mail address.", x=found)
    return found


def phone(value: str) -> str:
    """A telephone number."""
    found = line("Phone", value)
    if not re.fullmatch(r"[+\d][\d\s()./-]{3,29}", found, re.ASCII):
        raise Refused("{x} is no phone number.", x=found)
    return found


def _sized(what: str, found: str, most: int) -> str:
    if not found:
        raise Refused(_EMPTY[what])
    if len(found) > most:
        raise Refused("This is too long: {n} characters; at most {most} are allowed.", n=len(found), most=most)
    return found


_NAMES = (
    "The subject", "The description", "The reply", "The note", "The name", "The text", "Email", "Phone", "Company",
)  # fmt: skip
_EMPTY: Mapping[str, str] = {name: f"{name} is empty." for name in _NAMES}
