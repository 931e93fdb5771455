"""The events of a seed: series that come every week, and what happens once, never more than two at a time."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from typing import Any

from ..kit.people import CITIES, People
from ..kit.store import Rows
from . import words
from .looks import ZONES
from .recur import days
from .schema import WEEKDAYS

HOME = "Europe/Berlin"
PAST, AHEAD = 21, 35
"""Days around today that have events."""
BLANK: dict[str, Any] = {
    "calendar_id": 1, "title": "", "place": "", "starts": "", "ends": "", "all_day": 0, "zone": HOME, "repeat": "none",
    "weekdays": "", "until": None, "count": None, "reminder": None, "notes": "", "colour": "", "guests": "",
    "series_id": None, "series_day": None,
}  # fmt: skip


class Diary:
    """Events as they are written, and which quarters of an hour are taken."""

    def __init__(self, people: People, today: date, known: Rows):
        self.people, self.rng, self.today, self.known = people, people.rng, today, known
        self.taken: dict[tuple[str, int], int] = defaultdict(int)
        self.companies = people.companies(9)
        self.projects = self.rng.sample(words.PROJECTS, 7)
        self.events: list[dict[str, Any]] = []

    def fill_in(self, text: str) -> str:
        """A title: whom or what it is about."""
        name = self.rng.choice(self.known[1:])[1]
        return text.format(
            company=self.rng.choice(self.companies),
            name=name,
            project=self.rng.choice(self.projects),
            city=self.rng.choice(CITIES),
        )

    def guests(self, most: int = 3) -> str:
        """Some people, by id."""
        ids = self.rng.sample(range(2, len(self.known) + 1), self.rng.randint(0, most))
        return ",".join(map(str, sorted(ids)))

    def add(self, day: str, minute: int, length: int, **columns: Any) -> bool:
        """An event, unless two others are at that time already."""
        event = {**BLANK, "starts": f"{day} {clock(minute)}", "ends": f"{day} {clock(minute + length)}", **columns}
        free = event["zone"] == HOME and not event["all_day"]
        quarters = (
            [(on, q) for on in days(event) for q in range(minute // 15, -(-(minute + length) // 15))] if free else []
        )
        if any(self.taken[quarter] > 1 for quarter in quarters):
            return False
        for quarter in quarters:
            self.taken[quarter] += 1
        self.events.append(event)
        return True

    def series(self) -> None:
        """What comes again and again."""
        start = self.today - timedelta(days=PAST + self.today.weekday() + 7)
        self._weekly(start, ("mon", "tue", "wed", "thu", "fri"), 9 * 60, 15, "Daily stand-up", 3)
        self._weekly(start, ("mon",), 10 * 60, 60, "Weekly planning", 3)
        names = [person[1] for person in self.rng.sample(self.known[1:], 3)]
        for name, day in zip(names, self.rng.sample(WEEKDAYS[:5], 3), strict=True):
            self._weekly(start, (day,), self.rng.choice((11, 13, 14)) * 60, 30, f"1:1 with {name}", 1)
        for project, day in zip(self.projects[:3], self.rng.sample(WEEKDAYS[1:5], 3), strict=True):
            self._weekly(start, (day,), self.rng.choice((10, 15, 16)) * 60 + 30, 45, f"{project} sync", 1)
        self._weekly(start, (self.rng.choice(WEEKDAYS[:5]),), 18 * 60, 60, "Choir", 2)
        self._weekly(start, ("tue", "thu"), 7 * 60, 45, "Swimming", 2)
        self.add(f"{start + timedelta(days=9)}", 13 * 60, 60, title="Expense report", repeat="monthly")
        zone = self.rng.choice([zone for zone in ZONES if zone != HOME])
        self._weekly(
            start,
            (self.rng.choice(WEEKDAYS[:5]),),
            9 * 60,
            60,
            f"Call with the {zone.split('/')[1].replace('_', ' ')} office",
            1,
            zone,
        )

    def _weekly(
        self, start: date, on: tuple[str, ...], minute: int, length: int, title: str, calendar: int, zone: str = HOME
    ) -> None:
        first = start + timedelta(days=WEEKDAYS.index(on[0]))
        end = self.rng.choice((None, (self.today + timedelta(days=self.rng.randint(60, 90))).isoformat()))
        self.add(
            first.isoformat(), minute, length, title=title, calendar_id=calendar, zone=zone, repeat="weekly",
            weekdays=",".join(on), until=end, guests=self.guests() if calendar != 2 else "", place=self.rng.choice(words.ROOMS) if calendar != 2 else "",
        )  # fmt: skip

    def single(self, day: date) -> None:
        """What happens once on a day."""
        kinds = (
            ((1, words.WORK), (1, words.WORK), (3, words.TEAM), (4, words.OTHERS))
            if day.weekday() < 5
            else ((2, words.PRIVATE),)
        )
        for _ in range(self.rng.randint(3, 5) if day.weekday() < 5 else self.rng.randint(0, 2)):
            calendar, titles = self.rng.choice(kinds)
            self._once(day, calendar, titles, self.rng.randrange(9 * 4, 17 * 4, 2) * 15)
        if day.weekday() < 5 and self.rng.random() < 0.4:
            self._once(day, 2, words.PRIVATE, self.rng.choice((8 * 60, 17 * 60, 17 * 60 + 30, 19 * 60)))

    def _once(self, day: date, calendar: int, titles: tuple[tuple[str, int], ...], minute: int) -> None:
        title, length = self.rng.choice(titles)
        notes = self.rng.choice(words.NOTES) if self.rng.random() < 0.3 else ""
        self.add(
            day.isoformat(), minute, length, calendar_id=calendar, title=self.fill_in(title),
            place="" if calendar == 2 else self.rng.choice(words.ROOMS), notes=self.people.text(notes) if calendar != 2 else notes,
            reminder=self.rng.choice((None, None, 10, 30, 60)), guests="" if calendar == 2 else self.guests(),
        )  # fmt: skip

    def seen_only(self, today: date) -> None:
        """One event of the present week in the calendar that belongs to somebody else."""
        day = today - timedelta(days=today.weekday()) + timedelta(days=self.rng.randrange(5))
        while not any(event["calendar_id"] == 4 for event in self.events):
            self._once(day, 4, words.OTHERS[:2], self.rng.randrange(9 * 4, 14 * 4, 2) * 15)

    def whole_days(self) -> None:
        """What lasts all day."""
        for offset in self.rng.sample(range(-14, 30), 9):
            first = self.today + timedelta(days=offset)
            last = first + timedelta(days=self.rng.choice((0, 0, 0, 1, 2)))
            calendar = self.rng.choice((1, 3, 3, 4))
            self.add("", 0, 0, calendar_id=calendar, title=self.fill_in(self.rng.choice(words.ALL_DAY)), all_day=1,
                     starts=first.isoformat(), ends=last.isoformat())  # fmt: skip


def write(people: People, today: date, known: Rows, calendars: Rows) -> Rows:
    """The rows of the table of events: series first, then by day."""
    diary = Diary(people, today, known)
    diary.series()
    diary.seen_only(today)
    for offset in range(-PAST, AHEAD + 1):
        diary.single(today + timedelta(days=offset))
    diary.whole_days()
    return tuple((i, *event.values()) for i, event in enumerate(diary.events, 1))


def clock(minute: int) -> str:
    """Minutes after midnight as a time of day."""
    return f"{minute // 60:02d}:{minute % 60:02d}"
