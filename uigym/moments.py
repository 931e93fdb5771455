"""Dates and times as products and people write them, and when two of them are the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Any, Literal

Order = Literal["dmy", "mdy", ""]
"""How 03/05/2026 is read: day first, month first, or not at all."""
_MILLISECONDS = 100_000_000_000
"""A number of this size or more counts milliseconds since 1970: as seconds it would lie beyond the year 5000."""

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _any_of(names: list[str]) -> str:
    return "|".join(f"{name[:3]}(?:{name[3:]})?\\.?" if len(name) > 3 else name for name in names)


_YEAR_FIRST = r"(?P<y>[0-9]{4})(?P<sep>[-/])(?P<m>[0-9]{1,2})(?P=sep)(?P<d>[0-9]{1,2})"
_DOTTED = r"(?P<d>[0-9]{1,2})\.\s?(?P<m>[0-9]{1,2})\.\s?(?P<y>[0-9]{4})"
_DAY_NAMED = (
    rf"(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month>{_any_of(_MONTHS)}|sept\.?),?\s(?P<y>[0-9]{{4}})"
)
_MONTH_NAMED = rf"(?P<month>{_any_of(_MONTHS)}|sept\.?)\s(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\s(?P<y>[0-9]{{4}})"
_SLASHED = {
    "": [],
    "dmy": [r"(?P<d>[0-9]{1,2})/(?P<m>[0-9]{1,2})/(?P<y>[0-9]{4})"],
    "mdy": [r"(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})/(?P<y>[0-9]{4})"],
}
_TIME = (
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]{1,9}))?)?)?"
    r"(?:\s?(?P<half>[ap])\.?m\.?)?"
    r"(?:\s?(?P<zone>z|utc|gmt|[+-][0-9]{2}(?::?[0-9]{2})?))?"
)
_WEEKDAY = rf"(?:(?P<weekday>{_any_of(_DAYS)}|tues\.?|thurs?\.?),?\s)?"


@dataclass(frozen=True, slots=True)
class Moment:
    """What a text says of a moment: a date, a time of day, or both, and the offset from UTC where it names one."""

    day: date | None
    time: time | None
    """Without a zone."""
    zone: tzinfo | None = None

    def instant(self, zone: tzinfo) -> datetime | None:
        """The moment itself, in `zone` where it names none; None without a date or a time of day."""
        if self.day is None or self.time is None:
            return None
        return datetime.combine(self.day, self.time, self.zone or zone)


def moment(text: str, order: Order = "") -> Moment | None:
    """The date, the time of day or both that a text writes and nothing else; None if it is none.

    ISO 8601 and what is written in English are read: "2026-03-05", "2026-03-05T14:30:00Z", "March 5, 2026",
    "Thu, 5 Mar 2026 at 2:30 pm", "05.03.2026", "14:30". A weekday must be the right one.

    Args:
        text: The text.
        order: How "03/05/2026" is read; "" does not read it.

    Example:
        >>> moment("Mar 5, 2026, 2:30 pm"), moment("5 or 6 March 2026")
        (Moment(day=datetime.date(2026, 3, 5), time=datetime.time(14, 30), zone=None), None)
    """
    plain = " ".join(text.replace("\N{NARROW NO-BREAK SPACE}", " ").split()).lower()
    if len(plain) > 80:
        return None
    try:
        if found := re.fullmatch(_TIME, plain):
            return Moment(None, _time(found), _zone(found)) if found["minute"] or found["half"] else None
        for form in (_YEAR_FIRST, _DOTTED, _DAY_NAMED, _MONTH_NAMED, *_SLASHED[order]):
            if found := re.fullmatch(rf"{_WEEKDAY}{form}(?:(?:t|,?\s(?:at\s)?){_TIME})?", plain):
                return _dated(found)
    except ValueError:  # the 31st of February, 25:00
        return None
    return None


def same_moment(
    expected: date | time, found: Any, zone: tzinfo = UTC, within: timedelta = timedelta(0), order: Order = ""
) -> bool:
    """Whether a value that was found is the expected date, time of day, or moment.

    Args:
        expected: A date, which any moment of that day fits; a time of day; or a datetime, which only a moment fits.
        found: A text, or seconds or milliseconds since 1970.
        zone: Of whatever names none; the day of a moment is that of this zone. A time of day in a zone whose clocks
            change is none in another zone.
        within: How far off a time may be.
        order: How "03/05/2026" is read; "" does not read it.
    """
    said = _said(found, order)
    if said is None:
        return False
    try:
        if isinstance(expected, datetime):
            instant = said.instant(zone)
            wanted = expected if expected.tzinfo else expected.replace(tzinfo=zone)
            return instant is not None and abs(_between(instant, wanted)) <= within
        if isinstance(expected, date):
            instant = said.instant(zone)
            return (said.day if instant is None else instant.astimezone(zone).date()) == expected
    except OverflowError:  # the last hours of the year 9999
        return False
    if said.day is not None or said.time is None:
        return False
    shift = _shift(expected.tzinfo or zone, said.zone or zone)
    return shift is not None and _apart(expected, said.time, shift) <= within


def _said(found: Any, order: Order) -> Moment | None:
    if isinstance(found, str):
        return moment(found, order)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        instant = datetime.fromtimestamp(found / 1000 if abs(found) >= _MILLISECONDS else found, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return Moment(instant.date(), instant.time(), UTC)


def _dated(found: re.Match[str]) -> Moment | None:
    groups: Mapping[str, str | None] = found.groupdict()
    named = groups.get("month")
    number = _MONTHS.index(_full(named, _MONTHS)) + 1 if named else int(groups.get("m") or 0)
    day = date(int(found["y"]), number, int(found["d"]))
    if found["weekday"] and _DAYS.index(_full(found["weekday"], _DAYS)) != day.weekday():
        return None
    if found["hour"] is None:
        return Moment(day, None)
    return Moment(day, _time(found), _zone(found)) if found["minute"] or found["half"] else None


def _full(short: str, names: list[str]) -> str:
    return next(name for name in names if name[:3] == short[:3])


def _time(found: re.Match[str]) -> time:
    hour = int(found["hour"])
    if found["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(f"no hour {hour} {found['half']}m")
        hour = hour % 12 + (12 if found["half"] == "p" else 0)
    micro = int((found["part"] or "0").ljust(6, "0")[:6])
    return time(hour, int(found["minute"] or 0), int(found["second"] or 0), micro)


def _zone(found: re.Match[str]) -> tzinfo | None:
    said = found["zone"]
    if said is None:
        return None
    if said[0] not in "+-":
        return UTC
    digits = said[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return timezone(-offset if said[0] == "-" else offset)


def _between(a: datetime, b: datetime) -> timedelta:
    """What passes between two moments; of two in one zone, Python would count what the clock on the wall shows."""
    shown = a.replace(tzinfo=None) - b.replace(tzinfo=None)
    return shown - ((a.utcoffset() or timedelta(0)) - (b.utcoffset() or timedelta(0)))


def _shift(here: tzinfo, there: tzinfo) -> timedelta | None:
    """How far the clocks in one zone are ahead of those in another; None where that depends on the day."""
    if here is there:
        return timedelta(0)
    ours, theirs = here.utcoffset(None), there.utcoffset(None)
    return None if ours is None or theirs is None else ours - theirs


def _apart(a: time, b: time, shift: timedelta) -> timedelta:
    """How far apart two times of day are, across midnight if that is shorter; `shift` brings the second to the first."""
    day = timedelta(days=1)
    gap = (_of_day(a) - _of_day(b) - shift) % day
    return min(gap, day - gap)


def _of_day(at: time) -> timedelta:
    return timedelta(hours=at.hour, minutes=at.minute, seconds=at.second, microseconds=at.microsecond)
