"""Events by their dialog: made, changed, taken away."""

from __future__ import annotations

from datetime import date

from uigym.harnesses.plan.product import (
    PLAIN,
    PLAN,
    Page,
    Params,
    add_person,
    choose,
    click,
    clock,
    fill,
    find,
    go_to,
    later,
    minutes,
    named,
    new_event,
    occurrences,
    only,
    own_titles,
    rows_of,
    today,
    unlike,
)
from uigym.params import between, computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier

TITLES = ("Tax adviser", "Photo shoot", "Fire drill", "Printer training", "Salary talk", "Lease renewal", "Team photo")
ZONES = {"Los Angeles": "America/Los_Angeles", "New York": "America/New_York", "London": "Europe/London",
         "Dubai": "Asia/Dubai", "Seoul": "Asia/Seoul", "Sydney": "Australia/Sydney"}  # fmt: skip
DAY_KEYS = {"Monday": "mon", "Tuesday": "tue", "Wednesday": "wed", "Thursday": "thu", "Friday": "fri"}
WRITABLE = {"writable": 1}


def coming_days(state: State, params: Params) -> list[Row]:
    """Working days of the next four weeks."""
    days = [later(today(state), i) for i in range(2, 28)]
    return [named(day) for day in days if date.fromisoformat(day).weekday() < 5]


def weekly(state: State, params: Params) -> list[Row]:
    """Occurrences of the next two weeks of series that come once a week or more often, not named like another."""
    coming = occurrences(state, later(today(state), 1), later(today(state), 13))
    return [each for each in unlike(coming) if each["repeat"] == "weekly" and each["starts"][11:] >= "06:00"]


def strangers(state: State, params: Params) -> list[Row]:
    """People who are not invited yet, without the user."""
    invited = params["event"]["guests"].split(",")
    return [row for row in state.tables["people"] if row["id"] != 1 and str(row["id"]) not in invited]


def others(row: Row, params: Params) -> bool:
    """Everybody but the user and who was drawn already."""
    return bool(row["id"] != 1 and all(row["id"] != p["id"] for name, p in params.items() if name == "first"))


async def save_when(page: Page, day: str, begins: str, ends: str) -> None:
    """Fill in day and times of a new event."""
    await fill(page, start_day=day, start_time=begins, end_time=ends)


@PLAN.task(
    'Put a new event "{title}" into the calendar {calendar[name]}: {on[said]}, from {begins} to {ends}.',
    "Create an event on {on[said]}, {begins} to {ends}, called \"{title}\", in the calendar {calendar[name]}.",
    heldout_wordings=('The calendar {calendar[name]} needs an event "{title}" on {on[said]} that begins at {begins} and ends at {ends}.',),
    max_steps=60,
    expected_steps=20,
    tags=("form", "date", "medium"),
)  # fmt: skip
def create_event(
    title: str = one_of(*TITLES),
    calendar: Row = rows("calendars", where=WRITABLE),
    on: Row = one_from(coming_days),
    begins: str = one_of("08:15", "09:30", "10:00", "12:45", "15:00"),
    ends: str = one_of("16:00", "16:30", "17:15"),
) -> Verifier:
    times = {"starts": f"{on['day']} {begins}", "ends": f"{on['day']} {ends}"}
    return only(new_event(title=title, calendar_id=calendar["id"], **times))


@create_event.oracle
async def _(page: Page, title: str, calendar: Row, on: Row, begins: str, ends: str) -> None:
    await click(page, "new-event")
    await fill(page, title=title)
    await save_when(page, on["day"], begins, ends)
    await choose(page, calendar=calendar["id"])
    await click(page, "save")


@PLAN.task(
    'Invite {first[name]} and {second[name]} to a new event "{title}" in the calendar Work on {on[said]} from 09:00 to 10:00, at "{place}", with a reminder {before} before.',
    'New event in the calendar Work: title "{title}", {on[said]}, 09:00 to 10:00, place "{place}", guests {first[name]} and {second[name]}, reminder {before} before.',
    heldout_wordings=('On {on[said]}, 09:00 to 10:00, "{title}" takes place at "{place}" (calendar Work). Enter it with the guests {second[name]} and {first[name]} and a reminder {before} before.',),
    max_steps=75,
    expected_steps=26,
    tags=("form", "date", "multi-step", "hard"),
)  # fmt: skip
def invite(
    title: str = one_of(*TITLES),
    place: str = one_of("Room Oak", "Town hall", "Dock 4", "Cafe Nord"),
    first: Row = rows("people", where=lambda row, _: row["id"] != 1),
    second: Row = rows("people", where=others),
    on: Row = one_from(coming_days),
    before: str = one_of("10 minutes", "30 minutes", "1 hour", "1 day"),
) -> Verifier:
    guests = ",".join(map(str, sorted((first["id"], second["id"]))))
    times = {"starts": f"{on['day']} 09:00", "ends": f"{on['day']} 10:00"}
    return only(new_event(title=title, place=place, guests=guests, reminder=MINUTES[before], **times))


MINUTES = {"10 minutes": 10, "30 minutes": 30, "1 hour": 60, "1 day": 1440}


@invite.oracle
async def _(page: Page, title: str, place: str, first: Row, second: Row, on: Row, before: str) -> None:
    await click(page, "new-event")
    await fill(page, title=title, start_day=on["day"], place=place)
    await choose(page, reminder=MINUTES[before])
    await add_person(page, "guest", first)
    await add_person(page, "guest", second)
    await click(page, "save")


@PLAN.task(
    'Mark {days} days as "{title}" in the calendar Private: an all-day event from {on[said]} on.',
    'In the calendar Private, "{title}" lasts {days} whole days, the first of which is {on[said]}. Enter it as one all-day event.',
    heldout_wordings=('Enter one all-day event "{title}" that begins on {on[said]} and covers {days} days, in the calendar Private.',),
    max_steps=45,
    expected_steps=16,
    tags=("form", "date", "medium"),
)  # fmt: skip
def whole_days(
    title: str = one_of("Hiking tour", "Family visit", "Renovation", "Ski trip", "Moving house"),
    on: Row = one_from(coming_days),
    days: int = between(2, 5),
) -> Verifier:
    last = later(on["day"], days - 1)
    return only(new_event(title=title, calendar_id=2, all_day=1, starts=on["day"], ends=last))


@whole_days.oracle
async def _(page: Page, title: str, on: Row, days: int) -> None:
    await click(page, "new-event")
    await fill(page, title=title)
    await page.get_by_test_id("all-day").check()
    await fill(page, start_day=on["day"], end_day=later(on["day"], days - 1))
    await choose(page, calendar=2)
    await click(page, "save")


@PLAN.task(
    'Set up "{title}" in the calendar Work: every {first} and {second} from {hours}, beginning on {on[said]}. It repeats until {until[said]}.',
    'A new series in the calendar Work, "{title}", takes place every week on {first} and {second}, {hours}; it begins on {on[said]} and repeats until {until[said]}. Create it.',
    heldout_wordings=('From {on[said]} on there is "{title}" each {first} and {second}, {hours}, which repeats until {until[said]}. Put the series into the calendar Work.',),
    max_steps=90,
    expected_steps=30,
    tags=("form", "date", "multi-step", "hard"),
)  # fmt: skip
def weekly_until(
    title: str = one_of("Language course", "Pair programming", "Office hours", "Reading group"),
    first: str = one_of("Monday", "Tuesday"),
    second: str = one_of("Wednesday", "Thursday", "Friday"),
    on: Row = one_from(lambda state, p: [day for day in coming_days(state, p) if day["said"].startswith(p["first"])]),
    until: Row = computed(lambda state, p: named(later(p["on"]["day"], 7 * 6 + 4))),
    hours: str = one_of("08:00 to 14:00", "08:30 to 09:45", "13:00 to 14:30", "16:15 to 17:00"),
) -> Verifier:
    starts, ends = (f"{on['day']} {hour}" for hour in hours.split(" to "))
    days = f"{DAY_KEYS[first]},{DAY_KEYS[second]}"
    return only(new_event(title=title, starts=starts, ends=ends, repeat="weekly", weekdays=days, until=until["day"]))


@weekly_until.oracle
async def _(page: Page, title: str, second: str, on: Row, until: Row, hours: str) -> None:
    await click(page, "new-event")
    await fill(page, title=title)
    await save_when(page, on["day"], *hours.split(" to "))
    await choose(page, repeat="weekly", ends="until")
    await fill(page, until=until["day"])
    await click(page, f"on-{DAY_KEYS[second]}", "save")


@PLAN.task(
    'Add a daily event "{title}" to the calendar Private, {begins} to {ends}, for {count} days from {on[said]} on.',
    'For {count} days in a row, the first being {on[said]}, there is "{title}" from {begins} to {ends}. Create it as a series that repeats every day in the calendar Private and ends after so many times.',
    heldout_wordings=('Create "{title}" in the calendar Private: {begins} to {ends}, every day, {count} times, the first time on {on[said]}.',),
    max_steps=80,
    expected_steps=27,
    tags=("form", "date", "hard"),
)  # fmt: skip
def daily_times(
    title: str = one_of("Eye drops", "Water the plants", "Feed the cat", "Knee exercises"),
    on: Row = one_from(coming_days),
    count: int = between(3, 12),
    begins: str = one_of("07:00", "07:30", "20:00"),
    lasts: int = one_of(15, 30, 45, 90, 120),
    ends: str = computed(lambda state, p: clock(minutes(f"{p['on']['day']} {p['begins']}") + p["lasts"])),
) -> Verifier:
    times = {"starts": f"{on['day']} {begins}", "ends": f"{on['day']} {ends}"}
    return only(new_event(title=title, calendar_id=2, repeat="daily", count=count, **times))


@daily_times.oracle
async def _(page: Page, title: str, on: Row, count: int, begins: str, ends: str) -> None:
    await click(page, "new-event")
    await fill(page, title=title)
    await save_when(page, on["day"], begins, ends)
    await choose(page, calendar=2, repeat="daily", ends="count")
    await fill(page, count=str(count))
    await click(page, "save")


@PLAN.task(
    'Create "{title}" in the calendar Work on {on[said]}, from {begins} to 18:00 in the time zone of {city}.',
    'The people in {city} expect "{title}" on {on[said]} from {begins} to 18:00, their time. Put it into the calendar Work, in their time zone.',
    heldout_wordings=('Enter "{title}" (calendar Work) with the time zone {city}: {on[said]}, {begins} to 18:00 there.',),
    max_steps=60,
    expected_steps=21,
    tags=("form", "date", "hard"),
)  # fmt: skip
def other_zone(
    title: str = one_of("Partner call", "Support handover", "Factory tour online"),
    city: str = one_of(*ZONES),
    on: Row = one_from(coming_days),
    begins: str = one_of("14:00", "15:30", "16:45"),
) -> Verifier:
    times = {"starts": f"{on['day']} {begins}", "ends": f"{on['day']} 18:00", "zone": ZONES[city]}
    return only(new_event(title=title, **times))


@other_zone.oracle
async def _(page: Page, title: str, city: str, on: Row, begins: str) -> None:
    await click(page, "new-event")
    await fill(page, title=title)
    await save_when(page, on["day"], begins, "18:00")
    await choose(page, zone=ZONES[city])
    await click(page, "save")


@PLAN.task(
    'Add {guest[name]} to the guests of "{event[title]}".',
    '{guest[name]} should come to the event "{event[title]}", too: add a guest.',
    heldout_wordings=('Invite {guest[name]} to the event called "{event[title]}" as well.',),
    max_steps=33,
    expected_steps=11,
    tags=("find", "edit", "medium"),
)
def add_guest(event: Row = one_from(lambda state, _: own_titles(state)), guest: Row = one_from(strangers)) -> Verifier:
    ids = sorted([*(int(id) for id in event["guests"].split(",") if id), guest["id"]])
    return only(changed("events", key=event["id"], guests=",".join(map(str, ids))))


@add_guest.oracle
async def _(page: Page, event: Row, guest: Row) -> None:
    await find(page, "event", event)
    await add_person(page, "guest", guest)
    await click(page, "save")


@PLAN.task(
    'The event "{event[title]}" takes place at "{place}" now: change the place.',
    'Set the place of "{event[title]}" to "{place}".',
    heldout_wordings=('"{event[title]}" has a new place, "{place}". Correct the event.',),
    max_steps=30,
    expected_steps=10,
    tags=("find", "edit", "easy"),
)
def change_place(
    event: Row = one_from(lambda state, _: own_titles(state)),
    place: str = one_of("Room Willow", "Main hall", "Building 7", "Garden terrace"),
) -> Verifier:
    return only(changed("events", key=event["id"], place=place))


@change_place.oracle
async def _(page: Page, event: Row, place: str) -> None:
    await find(page, "event", event)
    await fill(page, place=place)
    await click(page, "save")


@PLAN.task(
    'Delete the event "{event[title]}".',
    '"{event[title]}" does not take place: take it out of the calendar.',
    heldout_wordings=('Remove "{event[title]}" from the calendar.',),
    max_steps=24,
    expected_steps=7,
    tags=("find", "edit", "easy"),
)
def delete_event(event: Row = one_from(lambda state, _: own_titles(state))) -> Verifier:
    return only(removed("events", id=event["id"]))


@delete_event.oracle
async def _(page: Page, event: Row) -> None:
    await find(page, "event", event)
    await click(page, "delete")


@PLAN.task(
    'Delete the whole series "{series[title]}".',
    '"{series[title]}" is given up for good: delete all events of the series.',
    heldout_wordings=('Take the repeating event "{series[title]}" out of the calendar, all of it.',),
    max_steps=24,
    expected_steps=8,
    tags=("find", "edit", "medium"),
)
def delete_series(series: Row = one_from(lambda state, _: _series(state))) -> Verifier:
    return only(removed("events", id=series["id"]))


def _series(state: State) -> list[Row]:
    """Series whose title no other event has in its own."""
    titles = [row["title"] for row in state.tables["events"]]
    found = rows_of(state, "events", repeat="weekly")
    return [row for row in found if sum(row["title"] in title for title in titles) == 1]


@delete_series.oracle
async def _(page: Page, series: Row) -> None:
    await find(page, "event", series)
    await click(page, "delete", "scope-all")


@PLAN.task(
    '"{event[title]}" is cancelled on {event[on]}, only that once: delete that one event and keep the others of the series.',
    'Take the event "{event[title]}" of {event[on]} out of its series; all others stay.',
    heldout_wordings=('On {event[on]} there is no "{event[title]}". Delete just this one of the series.',),
    max_steps=24,
    expected_steps=7,
    tags=("navigate", "edit", "date", "medium"),
)
def cancel_one(event: Row = one_from(weekly)) -> Verifier:
    return only(added("skips", event_id=event["key"], day=event["day"]))


@cancel_one.oracle
async def _(page: Page, event: Row) -> None:
    await go_to(page, event["starts"][:10])
    await click(page, f"event-{event['key']}-{event['day']}", "delete", "scope-one")


@PLAN.task(
    '"{event[title]}" of {event[on]} begins at {begins} and ends at {ends}, only that once. Change that one event of the series.',
    'Only on {event[on]}, "{event[title]}" is from {begins} to {ends}: change this one and leave the rest of the series.',
    heldout_wordings=('Move just the one "{event[title]}" of {event[on]} to {begins}–{ends}; the series stays as it is.',),
    max_steps=48,
    expected_steps=16,
    tags=("navigate", "edit", "date", "hard"),
)  # fmt: skip
def change_one(
    event: Row = one_from(lambda state, p: [each for each in weekly(state, p) if each["zone"] == "Europe/Berlin"]),
    begins: str = one_of("11:15", "12:15", "14:45"),
    ends: str = one_of("16:15", "17:45"),
) -> Verifier:
    kept = {name: event[name] for name in PLAIN} | {"title": event["title"]}
    times = {"starts": f"{event['day']} {begins}", "ends": f"{event['day']} {ends}"}
    alone = {
        "repeat": "none",
        "weekdays": "",
        "until": None,
        "count": None,
        "series_id": event["key"],
        "series_day": event["day"],
    }
    return only(added("events", {**kept, **times, **alone}), added("skips", event_id=event["key"], day=event["day"]))  # fmt: skip


@change_one.oracle
async def _(page: Page, event: Row, begins: str, ends: str) -> None:
    await go_to(page, event["starts"][:10])
    await click(page, f"event-{event['key']}-{event['day']}")
    await fill(page, start_time=begins, end_time=ends)
    await click(page, "save", "scope-one")


@PLAN.task(
    "Show the time of {city} as second time zone beside the hours of the week.",
    "In the settings, make {city} the second time zone.",
    heldout_wordings=("Beside your own time, the week should show that of {city}: set the second time zone.",),
    max_steps=15,
    expected_steps=5,
    tags=("navigate", "edit", "easy"),
)
def second_zone(city: str = one_of(*ZONES)) -> Verifier:
    return only(changed("settings", key="second_zone", value=ZONES[city]))


@second_zone.oracle
async def _(page: Page, city: str) -> None:
    await click(page, "nav-settings")
    await choose(page, second_zone=ZONES[city])
    await click(page, "save")
