"""What the page asks for: the JSON of its requests, checked."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .looks import ZONES
from .schema import WEEKDAYS

YEARS = range(1970, 2101)
"""That the planner knows."""


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    if day.year not in YEARS:
        raise ValueError(f"expected a year from {YEARS[0]} to {YEARS[-1]}")
    return day.isoformat()


def _moment(text: str) -> str:
    """A day, or a day and a time."""
    if len(text) == 10:
        return _day(text)
    moment = datetime.fromisoformat(text)
    return f"{_day(moment.date().isoformat())} {moment:%H:%M}"


def _days(text: str) -> str:
    wanted = text.split(",") if text else []
    if not set(wanted) <= set(WEEKDAYS):
        raise ValueError(f"expected some of {', '.join(WEEKDAYS)}")
    return ",".join(day for day in WEEKDAYS if day in wanted)


def _zone(text: str) -> str:
    if text not in ZONES:
        raise ValueError(f"expected one of {', '.join(ZONES)}")
    return text


Moment = Annotated[str, AfterValidator(_moment)]
Day = Annotated[str, AfterValidator(_day)]
Zone = Annotated[str, AfterValidator(_zone)]
Title = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=2000)]


class Body(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Which(Body):
    """Which of a series, and what the page had seen of the record."""

    scope: Literal["one", "all"] = "all"
    day: Day
    tag: str


class Moved(Which):
    """An event after a drag, in the user's zone."""

    starts: Moment
    ends: Moment


class Written(Body):
    """The fields of an event, times in its own zone."""

    calendar_id: int
    title: Title
    place: Title = ""
    starts: Moment
    ends: Moment
    all_day: bool = False
    zone: Zone
    repeat: Literal["none", "daily", "weekly", "monthly"] = "none"
    weekdays: Annotated[str, AfterValidator(_days)] = ""
    until: Day | None = None
    count: Annotated[int, Field(ge=1, le=500)] | None = None
    reminder: Annotated[int, Field(ge=0, le=10_080)] | None = None
    notes: Text = ""
    colour: Literal["", "blue", "green", "violet", "amber", "red", "teal"] = ""
    guests: list[int] = []


class Edited(Which):
    """An event, or one of a series, after its dialog."""

    fields: Written


class Shown(Body):
    """Whether a calendar is shown."""

    visible: bool


class Chosen(Body):
    """Settings of the user."""

    zone: Zone | None = None
    second_zone: Zone | Literal[""] | None = None


class Named(Body):
    """A name."""

    name: Title


class Column(Body):
    """What may change of a column; `before` is the column that it shall stand before, 0 for the end."""

    name: Title | None = None
    before: int | None = None
    wip_limit: Annotated[int, Field(ge=0, le=99)] | None = None
    """0 lifts it."""


class NewCard(Body):
    """A new card, at the end of a column."""

    title: Title
    description: Text = ""
    assignee_id: int | None = None
    due: Day | None = None
    labels: list[int] = []
    items: Annotated[list[Title], Field(max_length=50)] = []


class CardFields(Body):
    """A card after its dialog."""

    tag: str
    title: Title
    description: Text = ""
    assignee_id: int | None = None
    due: Day | None = None


class CardMove(Body):
    """Where a card goes: before another card of the column, 0 for the end."""

    tag: str
    column_id: int
    before: int = 0


class Ticked(Body):
    """Whether something is so."""

    on: bool


class Said(Body):
    """A text."""

    text: Annotated[str, Field(max_length=2000)]
