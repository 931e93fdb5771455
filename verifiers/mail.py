"""Verifiers of the mails that the product sent, as the probe `Mail` tells them: table `mails`, one row for each.

Each is an expected change, so that `only` and `unchanged` see to it that no other mail was sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uigym.compare import Matcher
from uigym.types import Episode, Verdict
from uigym.verifiers.match import pairing
from uigym.verifiers.rows import Diff, cut, misfits, need_table, value_shown
from uigym.verifiers.state import Change, added, needs
from uigym.verify import Verifier, check

TABLE = "mails"
_PROBE = "Mail()"
_COLUMNS = ("sender", "subject", "text", "html")


def sent(
    to: str | Matcher | Sequence[str | Matcher] | None = None,
    *,
    attachments: Sequence[str | Mapping[str, Any]] | None = None,
    count: int = 1,
    **columns: Any,
) -> Change:
    """Just one such mail was sent, and no other: twice is not once.

    Args:
        to: Who got it, blind copies included: just these addresses, in any order and case. None takes any.
        attachments: Just these, in any order, by name or by some of name, type, size and sha256. None takes any.
        count: How many such mails.
        columns: Of sender, subject, text and html; values may be matchers, such as `mentions("order 12")`.

    Raises:
        ValueError: There is no such column, or `count` is not at least 1.

    Example:
        >>> sent("ada@acme.test", subject="Order 12", attachments=["invoice.pdf"]).name
        'added mails'
    """
    for column in columns:
        if column not in _COLUMNS:
            raise ValueError(f"sent(): mails have no {column!r}; expected some of {', '.join(_COLUMNS)}")
    wanted = dict(columns)
    if to is not None:
        wanted["recipients"] = _recipients([to] if isinstance(to, str | Matcher) else to)
    if attachments is not None:
        wanted["attachments"] = _attachments(attachments)
    return needs(added(TABLE, wanted) if count == 1 else added(TABLE, count=count, **wanted), _PROBE)


def nothing_sent() -> Verifier:
    """The product sent no mail at all."""

    def verify(episode: Episode) -> Verdict:
        need_table(episode, TABLE, _PROBE)
        diff = Diff.of(episode, TABLE)
        told = cut([diff.label(row) + f" to {', '.join(row['recipients'])}" for row in diff.new.values()])
        return check("no mail", not told, f"expected no mail, found {'; '.join(told)}")

    return verify


def _recipients(wanted: Sequence[str | Matcher]) -> Matcher:
    def fits(found: Any) -> bool:
        return _each_is(found, [[i for i, one in enumerate(found) if _is_address(who, one)] for who in wanted])

    return Matcher(f"to {', '.join(map(value_shown, wanted)) or 'nobody'}", fits)


def _is_address(wanted: str | Matcher, found: str) -> bool:
    return wanted(found) if isinstance(wanted, Matcher) else wanted.casefold() == found.casefold()


def _attachments(wanted: Sequence[str | Mapping[str, Any]]) -> Matcher:
    kinds = [{"name": one} if isinstance(one, str) else one for one in wanted]

    def fits(found: Any) -> bool:
        return _each_is(found, [[i for i, one in enumerate(found) if not misfits(one, kind)] for kind in kinds])

    return Matcher(f"just {', '.join(map(value_shown, wanted)) or 'none'}", fits)


def _each_is(found: Sequence[Any], choices: Sequence[Sequence[int]]) -> bool:
    return len(found) == len(choices) and None not in pairing(choices)
