"""Events by the pointer, in the grid of the week."""

from __future__ import annotations

from uigym.apps.plan import recur
from uigym.harnesses.plan.product import (
    PLAN,
    Page,
    Params,
    choose,
    click,
    clock,
    fill,
    is_in_sight,
    minutes,
    named,
    new_event,
    occurrences,
    only,
    unlike,
    work_week,
)
from uigym.params import computed, one_from, one_of
from uigym.types import Row, State
from uigym.verifiers.state import changed
from uigym.verify import Verifier, any_of

DAY_MINUTES = 1440


def this_week(state: State, params: Params) -> list[Row]:
    """Single events of the working week that the user may change, not named like another of their day."""
    week = work_week(state)
    shown = unlike(occurrences(state, week[0], week[-1]))
    return [each for each in shown if each["repeat"] == "none" and each["calendar_id"] != 4 and is_in_sight(each)]


def series_of_week(state: State, params: Params) -> list[Row]:
    """Occurrences of this week of series that come once a week."""
    week = work_week(state)
    shown = unlike(occurrences(state, week[0], week[-1]))
    once = [each for each in shown if each["repeat"] == "weekly" and "," not in each["weekdays"]]
    return [each for each in once if is_in_sight(each) and each["zone"] == "Europe/Berlin"]


def other_days(state: State, params: Params) -> list[Row]:
    """The other days of the working week."""
    return [named(day) for day in work_week(state) if day != params["event"]["starts"][:10]]


def gaps(state: State, params: Params) -> list[Row]:
    """Times of the working week, an hour or more, at which nothing is planned."""
    found = []
    for day in work_week(state):
        taken = [
            (minutes(each["starts"]), minutes(each["ends"]))
            for each in occurrences(state, day, day)
            if not each["all_day"]
        ]
        for start in range(9 * 60, 15 * 60 + 1, 30):
            end = start + 60 + start % 60
            if all(end <= begin or start >= stop for begin, stop in taken):
                found.append({**named(day), "begins": clock(start), "ends": clock(end)})
    return found  # fmt: skip


async def drag(page: Page, what: str, day: str, minute: float) -> None:
    """Drag something in the grid to a time of a day."""
    column = page.get_by_test_id(f"day-{day}")
    box = await column.bounding_box()
    to = {"x": box["width"] / 2, "y": box["height"] * minute / DAY_MINUTES}
    await page.get_by_test_id(what).drag_to(column, target_position=to)


def middle(event: Row) -> float:
    """Minutes from its start to its middle, where a person takes hold of it."""
    return (minutes(event["ends"]) - minutes(event["starts"])) / 2


@PLAN.task(
    'Drag on the grid of this week to create "{title}" on {gap[said]} from {gap[begins]} to {gap[ends]}, in the calendar {calendar}.',
    '{gap[said]}, {gap[begins]} to {gap[ends]}: enter "{title}" there, in the calendar {calendar}.',
    heldout_wordings=('There is a gap on {gap[said]} from {gap[begins]} to {gap[ends]}. Fill it with an event "{title}" of the calendar {calendar}.',),
    max_steps=24,
    expected_steps=8,
    tags=("drag", "form", "medium"),
)  # fmt: skip
def drag_to_create(
    title: str = one_of("Focus time", "Read applications", "Prepare slides", "Expense forms"),
    gap: Row = one_from(gaps),
    calendar: str = one_of("Work", "Private"),
) -> Verifier:
    times = {"starts": f"{gap['day']} {gap['begins']}", "ends": f"{gap['day']} {gap['ends']}"}
    return only(new_event(title=title, calendar_id=OWN[calendar], **times))


OWN = {"Work": 1, "Private": 2}


@drag_to_create.oracle
async def _(page: Page, title: str, gap: Row, calendar: str) -> None:
    column = page.get_by_test_id(f"day-{gap['day']}")
    box = await column.bounding_box()
    first, last = (
        {"x": box["width"] / 2, "y": box["height"] * minutes(f"{gap['day']} {gap[end]}") / DAY_MINUTES + nudge}
        for end, nudge in (("begins", 3), ("ends", -3))
    )
    await column.drag_to(column, source_position=first, target_position=last)
    await fill(page, title=title)
    await choose(page, calendar=OWN[calendar])
    await click(page, "save")


@PLAN.task(
    'Move "{event[title]}" from {event[on]} to {to[said]}, same time.',
    '"{event[title]}" of {event[on]} takes place on {to[said]} instead, at the same time: move it.',
    heldout_wordings=('Put the event "{event[title]}", now on {event[on]}, on {to[said]} without changing its time.',),
    max_steps=15,
    expected_steps=2,
    tags=("drag", "medium"),
)
def move_to_day(event: Row = one_from(this_week), to: Row = one_from(other_days)) -> Verifier:
    times = {name: f"{to['day']} {event[name][11:]}" for name in ("starts", "ends")}
    return only(changed("events", key=event["id"], **times))


@move_to_day.oracle
async def _(page: Page, event: Row, to: Row) -> None:
    block = f"event-{event['id']}-{event['day']}"
    await drag(page, block, to["day"], minutes(event["starts"]) + middle(event))


def other_starts(state: State, params: Params) -> list[str]:
    """Times at which the event could begin instead, within the working day."""
    event = params["event"]
    length = 2 * middle(event)
    times = [minute for minute in range(8 * 60, 16 * 60, 15) if minute + length <= 17 * 60]
    return [clock(minute) for minute in times if abs(minute - minutes(event["starts"])) >= 30]


@PLAN.task(
    'Move "{event[title]}" of {event[on]} on the same day so that it begins at {begins}. It stays as long as it is.',
    '"{event[title]}" on {event[on]} begins at {begins} that day; its length stays. Move it.',
    heldout_wordings=(
        'Let the event "{event[title]}" of {event[on]} start at {begins} instead, for as long as before.',
    ),
    max_steps=15,
    expected_steps=2,
    tags=("drag", "medium"),
)
def move_to_time(
    event: Row = one_from(this_week),
    begins: str = one_from(other_starts),
    ends: str = computed(lambda _, p: clock(minutes(f"{'':11}{p['begins']}") + int(2 * middle(p["event"])))),
) -> Verifier:
    return only(changed("events", key=event["id"], starts=f"{event['day']} {begins}", ends=f"{event['day']} {ends}"))


@move_to_time.oracle
async def _(page: Page, event: Row, begins: str) -> None:
    block = f"event-{event['id']}-{event['day']}"
    await drag(page, block, event["day"], minutes(f"{event['day']} {begins}") + middle(event))


def other_ends(state: State, params: Params) -> list[str]:
    """Times at which the event could end instead."""
    event = params["event"]
    first, last = minutes(event["starts"]), minutes(event["ends"])
    return [clock(minute) for minute in range(first + 30, min(last + 120, 17 * 60 + 1), 15) if minute != last]


@PLAN.task(
    'Let "{event[title]}" of {event[on]} end at {ends}; its start stays.',
    '"{event[title]}" on {event[on]} lasts until {ends}: drag its lower edge there.',
    heldout_wordings=('The event "{event[title]}" of {event[on]} should be over at {ends}, with the start as it is.',),
    max_steps=15,
    expected_steps=2,
    tags=("drag", "medium"),
)
def resize(event: Row = one_from(this_week), ends: str = one_from(other_ends)) -> Verifier:
    return only(changed("events", key=event["id"], ends=f"{event['day']} {ends}"))


@resize.oracle
async def _(page: Page, event: Row, ends: str) -> None:
    await drag(page, f"resize-{event['id']}-{event['day']}", event["day"], minutes(f"{event['day']} {ends}"))


@PLAN.task(
    'From now on the series "{event[title]}" is on {to[said]} and that day of every week, no longer on {event[on]}: move all of it, at the same time of day.',
    'Move the whole series "{event[title]}" from the day of {event[on]} to that of {to[said]}, same time, all events of it.',
    heldout_wordings=('All events of the series "{event[title]}" move from the weekday of {event[on]} to the weekday of {to[said]}; the time stays.',),
    max_steps=18,
    expected_steps=3,
    tags=("drag", "hard"),
)  # fmt: skip
def move_series(event: Row = one_from(series_of_week), to: Row = one_from(other_days)) -> Verifier:
    days = recur.between(event["starts"][:10], to["day"])
    there = [recur.later(moment, days) for moment in event["first"]]
    wanted = [(event["first"][0], event["first"][1]), (there[0], there[1])]
    whole = {"key": event["key"], "weekdays": to["said"][:3].lower()}
    return any_of(*(only(changed("events", starts=starts, ends=ends, **whole)) for starts, ends in wanted))


@move_series.oracle
async def _(page: Page, event: Row, to: Row) -> None:
    block = f"event-{event['key']}-{event['day']}"
    await drag(page, block, to["day"], minutes(event["starts"]) + middle(event))
    await click(page, "scope-all")
