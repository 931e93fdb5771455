"""When events happen: repeats, days left out, time zones. Moments are texts as the database holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from .schema import WEEKDAYS

Event = Mapping[str, Any]
DAY = timedelta(days=1)
MOST = 1000
"""Occurrences of a series that are looked at."""


@lru_cache(maxsize=4096)
def moved(moment: str, zone: str, other: str) -> str:
    """The same moment in another time zone."""
    if zone == other:
        return moment
    there = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo(other))
    return f"{there:%Y-%m-%d %H:%M}"


def later(moment: str, by: timedelta) -> str:
    """A moment, or a day, some time later."""
    if len(moment) == 10:
        return (date.fromisoformat(moment) + by).isoformat()
    return f"{datetime.fromisoformat(moment) + by:%Y-%m-%d %H:%M}"


def between(first: str, second: str) -> timedelta:
    """How long from one moment to another."""
    return datetime.fromisoformat(second) - datetime.fromisoformat(first)


def weekday(day: str) -> str:
    """ "mon" to "sun"."""
    return WEEKDAYS[date.fromisoformat(day[:10]).weekday()]


def days(event: Event) -> Iterator[str]:
    """The days on which an event begins, in its own zone, without regard to those left out."""
    first = date.fromisoformat(event["starts"][:10])
    last = date.fromisoformat(event["until"]) if event["until"] else first + 2 * 366 * DAY
    most = 1 if event["repeat"] == "none" else event["count"] or MOST
    wanted = event["weekdays"].split(",")
    day = first
    while day <= last and most > 0:
        if event["repeat"] != "weekly" or WEEKDAYS[day.weekday()] in wanted:
            yield day.isoformat()
            most -= 1
        day = _month_later(day, first.day) if event["repeat"] == "monthly" else day + DAY


def _month_later(day: date, wanted: int) -> date:
    """The next month that has such a day."""
    year, month = day.year, day.month
    while True:
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
        try:
            return date(year, month, wanted)
        except ValueError:  # no 31st
            continue


def occurrences(event: Event, skipped: Collection[str], first: str, last: str, zone: str) -> Iterator[dict[str, Any]]:
    """An event's occurrences that touch some days, in the viewer's zone.

    Args:
        event: Its row.
        skipped: Days of the series that are left out.
        first: First day to look at.
        last: Last day to look at, included.
        zone: The viewer's.

    Yields:
        `day` (the day in the event's own zone), `starts` and `ends`.
    """
    length = between(event["starts"], event["ends"])
    earliest, latest = later(first, -length - 2 * DAY), later(last, 2 * DAY)
    for day in days(event):
        if day > latest:
            return
        if day < earliest[:10] or day in skipped:
            continue
        starts = day + event["starts"][10:]
        ends = later(starts, length)
        if not event["all_day"]:
            starts, ends = moved(starts, event["zone"], zone), moved(ends, event["zone"], zone)
        if starts[:10] <= last and _last_day(starts, ends) >= first:
            yield {"day": day, "starts": starts, "ends": ends}


def _last_day(starts: str, ends: str) -> str:
    """The last day that it touches: one that ends at midnight does not touch the next."""
    return later(ends, -timedelta(minutes=1))[:10] if len(ends) > 10 and ends > starts else ends[:10]
