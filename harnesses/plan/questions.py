"""What the calendar, the boards and the people say: looked up, counted, compared."""

from __future__ import annotations

from datetime import date, time
from itertools import pairwise

from uigym.harnesses.plan.events import coming_days
from uigym.harnesses.plan.product import (
    FREE,
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
    minutes,
    new_event,
    occurrences,
    only,
    open_board,
    own_titles,
    rows_of,
    today,
)
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import unchanged
from uigym.verify import Verifier, all_of


def answered(value: str | int | time) -> Verifier:
    """This answer, and nothing changed."""
    return all_of(equals(value), unchanged(except_=FREE))


def cards_of(state: State, board: int, **columns: object) -> list[Row]:
    """The cards of a board that are not archived and have these values."""
    mine = {row["id"] for row in rows_of(state, "columns", board_id=board)}
    return [row for row in rows_of(state, "cards", archived=0, **columns) if row["column_id"] in mine]


# --- the calendar --------------------------------------------------------------------------------------------


@PLAN.task(
    "Open the calendar's day view of {on[said]}.",
    "Show {on[said]} as a single day in the calendar.",
    heldout_wordings=("Bring up the day view for {on[said]}.",),
    max_steps=15,
    expected_steps=5,
    tags=("navigate", "date", "easy"),
)
def open_day(on: Row = one_from(coming_days)) -> Verifier:
    return all_of(url_matches(f"/calendar/day/{on['day']}"), unchanged(except_=FREE))


@open_day.oracle
async def _(page: Page, on: Row) -> None:
    await click(page, "nav-calendar", "view-day")
    await go_to(page, on["day"])


@PLAN.task(
    'At what time does "{event[title]}" begin? Answer with the time.',
    'Look up the event "{event[title]}" and answer with the time at which it begins.',
    heldout_wordings=('When, at what time of day, does "{event[title]}" start? Answer with that time.',),
    max_steps=15,
    expected_steps=5,
    tags=("find", "answer", "easy"),
)
def when_it_begins(event: Row = one_from(lambda state, _: own_titles(state))) -> Verifier:
    return answered(time.fromisoformat(event["starts"][11:]))


@when_it_begins.oracle
async def _(page: Page, event: Row) -> str:
    await find(page, "event", event)
    return str(event["starts"][11:])


def full_days(state: State, params: Params) -> list[Row]:
    """Days of the next three weeks on which a calendar has two to seven events, with their number."""
    found = []
    for day in coming_days(state, params):
        shown = occurrences(state, day["day"], day["day"])
        for calendar in state.tables["calendars"]:
            count = sum(each["calendar_id"] == calendar["id"] for each in shown)
            if 2 <= count <= 7:
                found.append({**day, "calendar": calendar["name"], "count": count})
    return found


@PLAN.task(
    "How many events does the calendar {busy[calendar]} have on {busy[said]}, all-day ones included? Answer with a number.",
    "Count the events of the calendar {busy[calendar]} on {busy[said]}, with those that last all day, and answer with the number.",
    heldout_wordings=("{busy[said]}: how many events, all-day or not, are there in the calendar {busy[calendar]}? Answer with a number.",),
    max_steps=20,
    expected_steps=4,
    tags=("navigate", "answer", "medium"),
)  # fmt: skip
def count_events(busy: Row = one_from(full_days)) -> Verifier:
    return answered(busy["count"])


@count_events.oracle
async def _(page: Page, busy: Row) -> str:
    await go_to(page, busy["day"])
    await click(page, "view-agenda")
    return str(busy["count"])


def longest_days(state: State, params: Params) -> list[Row]:
    """Days on which one timed event is longer than all others, with its title."""
    found = []
    for day in coming_days(state, params):
        timed = [each for each in occurrences(state, day["day"], day["day"]) if not each["all_day"]]
        timed = [each for each in timed if each["starts"][:10] == day["day"] == each["ends"][:10]]
        lengths = sorted(
            ((minutes(each["ends"]) - minutes(each["starts"]), each["title"]) for each in timed), reverse=True
        )
        if len(lengths) > 2 and lengths[0][0] > lengths[1][0]:
            found.append({**day, "title": lengths[0][1]})
    return found  # fmt: skip


@PLAN.task(
    "Which event on {long[said]} lasts longest, all-day events aside? Answer with its title.",
    "Leave all-day events out: answer with the title of the longest event on {long[said]}.",
    heldout_wordings=("Compare the events of {long[said]} that have a time. What is the title of the longest? Answer with it.",),
    max_steps=20,
    expected_steps=4,
    tags=("navigate", "compare", "answer", "medium"),
)  # fmt: skip
def longest_event(long: Row = one_from(longest_days)) -> Verifier:
    return answered(long["title"])


@longest_event.oracle
async def _(page: Page, long: Row) -> str:
    await go_to(page, long["day"])
    await click(page, "view-agenda")
    return str(long["title"])


# --- when people have time -----------------------------------------------------------------------------------


def busy_times(state: State, day: str) -> list[tuple[set[int], int, int]]:
    """Who takes part in what has a time on a day, from when to when, in minutes after midnight."""
    owner = {row["id"]: row["owner_id"] for row in state.tables["calendars"]}
    return [
        (
            {owner[each["calendar_id"]], *(int(id) for id in each["guests"].split(",") if id)},
            _after(day, each["starts"]),
            _after(day, each["ends"]),
        )
        for each in occurrences(state, day, day)
        if not each["all_day"]
    ]


def free_starts(busy: list[tuple[set[int], int, int]], people: set[int], length: int) -> list[int]:
    """Minutes after midnight, every half hour from 8:00, at which all of them have time until 18:00 at the latest."""
    taken = [(begin, end) for who, begin, end in busy if people & who]
    starts = range(8 * 60, 18 * 60 - length + 1, 30)
    return [start for start in starts if not any(begin < start + length and end > start for begin, end in taken)]


def _after(day: str, moment: str) -> int:
    days = (date.fromisoformat(moment[:10]) - date.fromisoformat(day)).days
    return days * 1440 + minutes(moment)


def meetings(state: State, params: Params) -> list[Row]:
    """Pairs of people, days and lengths for which there is a time, but not the first of the day. No hour of them is past."""
    found = []
    everybody = state.tables["people"]
    for day in coming_days(state, params)[:6]:
        busy = busy_times(state, day["day"])
        for first, second in pairwise(everybody[1:]):
            for length in (60, 90, 120):
                starts = free_starts(busy, {1, first["id"], second["id"]}, length)
                if starts and starts[0] > 8 * 60:
                    found.append({**day, "first": first, "second": second, "length": length, "start": clock(starts[0])})
    return found


async def look_for_time(page: Page, meeting: Row) -> None:
    """Fill in the search for a free time."""
    await click(page, "nav-find")
    await fill(page, find_day=meeting["day"])
    await choose(page, minutes=meeting["length"])
    await add_person(page, "who", meeting["first"])
    await add_person(page, "who", meeting["second"])


@PLAN.task(
    "Find a time: what is the earliest start on {meeting[said]} at which you, {meeting[first][name]} and {meeting[second][name]} are all free for {meeting[length]} minutes? Answer with that time.",
    "You want to meet {meeting[first][name]} and {meeting[second][name]} on {meeting[said]} for {meeting[length]} minutes. Which is the first start that Find a time offers for the three of you? Answer with the time.",
    heldout_wordings=("Use Find a time for yourself, {meeting[second][name]} and {meeting[first][name]}: on {meeting[said]}, when does the first free slot of {meeting[length]} minutes begin? Answer with the time.",),
    max_steps=45,
    expected_steps=15,
    tags=("find", "answer", "multi-step", "hard"),
)  # fmt: skip
def first_free_time(meeting: Row = one_from(meetings)) -> Verifier:
    return answered(time.fromisoformat(meeting["start"]))


@first_free_time.oracle
async def _(page: Page, meeting: Row) -> str:
    await look_for_time(page, meeting)
    return str(meeting["start"])


@PLAN.task(
    'Book "{title}" in the calendar Work with {meeting[first][name]} and {meeting[second][name]} on {meeting[said]}: {meeting[length]} minutes, at the first time that Find a time offers for the three of you.',
    'Find the first {meeting[length]} minutes on {meeting[said]} in which you, {meeting[first][name]} and {meeting[second][name]} are free, and create "{title}" then in the calendar Work with both as guests.',
    heldout_wordings=('With Find a time, plan "{title}" (calendar Work, {meeting[length]} minutes) on {meeting[said]} as early as you, {meeting[second][name]} and {meeting[first][name]} can; invite both.',),
    max_steps=60,
    expected_steps=20,
    tags=("find", "form", "multi-step", "hard"),
)  # fmt: skip
def book_free_time(
    meeting: Row = one_from(meetings), title: str = one_of("Roadmap talk", "Offer check", "Hand-over", "Kick-off")
) -> Verifier:
    start = minutes(f"{meeting['day']} {meeting['start']}")
    times = {
        "starts": f"{meeting['day']} {meeting['start']}",
        "ends": f"{meeting['day']} {clock(start + meeting['length'])}",
    }
    guests = ",".join(map(str, sorted((meeting["first"]["id"], meeting["second"]["id"]))))
    return only(new_event(title=title, guests=guests, **times))  # fmt: skip


@book_free_time.oracle
async def _(page: Page, meeting: Row, title: str) -> None:
    await look_for_time(page, meeting)
    await click(page, f"free-{meeting['start']}")
    await fill(page, title=title)
    await click(page, "save")


# --- boards --------------------------------------------------------------------------------------------------


def labelled(state: State, params: Params) -> list[Row]:
    """Labels that two or more cards of the board have, with their number."""
    mine = {row["id"] for row in cards_of(state, params["board"]["id"])}
    marks = [row["label_id"] for row in state.tables["card_labels"] if row["card_id"] in mine]
    counted = [{**label, "count": marks.count(label["id"])} for label in state.tables["labels"]]
    return [label for label in counted if label["count"] >= 2]


@PLAN.task(
    'How many cards of the board {board[name]} have the label "{label[name]}"? Answer with a number.',
    'Count the cards with the label "{label[name]}" on the board {board[name]} and answer with the number.',
    heldout_wordings=('On the board {board[name]}, how many cards carry the label "{label[name]}"? Answer with a number.',),
    max_steps=15,
    expected_steps=6,
    tags=("navigate", "answer", "easy"),
)  # fmt: skip
def count_label(board: Row = rows("boards"), label: Row = one_from(labelled)) -> Verifier:
    return answered(label["count"])


@count_label.oracle
async def _(page: Page, board: Row, label: Row) -> str:
    await open_board(page, board["id"])
    await choose(page, filter_label=label["id"])
    return str(label["count"])


def loads(state: State, params: Params) -> list[Row]:
    """Pairs of people of whom the first has more cards of a board, and how many more."""
    found = []
    for board in state.tables["boards"]:
        count = {
            person["id"]: len(cards_of(state, board["id"], assignee_id=person["id"]))
            for person in state.tables["people"]
        }
        names = {person["id"]: person["name"] for person in state.tables["people"]}
        found += [
            {
                "board": board,
                "first": {"id": a, "name": names[a]},
                "second": {"id": b, "name": names[b]},
                "more": count[a] - count[b],
            }
            for a in count
            for b in count
            if count[a] > count[b] > 0
        ]
    return found  # fmt: skip


@PLAN.task(
    "Compare the load of two people on the board {load[board][name]}, all columns counted: how many cards more does {load[first][name]} have than {load[second][name]}? Answer with a number.",
    "On the board {load[board][name]}, {load[first][name]} has more cards than {load[second][name]} in all columns together. How many more? Answer with a number.",
    heldout_wordings=("By how many cards does what is assigned to {load[first][name]} exceed what is assigned to {load[second][name]} on the whole board {load[board][name]}? Answer with a number.",),
    max_steps=24,
    expected_steps=8,
    tags=("compare", "answer", "hard"),
)  # fmt: skip
def compare_load(load: Row = one_from(loads)) -> Verifier:
    return answered(load["more"])


@compare_load.oracle
async def _(page: Page, load: Row) -> str:
    await open_board(page, load["board"]["id"])
    await choose(page, filter_who=load["first"]["id"])
    await choose(page, filter_who=load["second"]["id"])
    return str(load["more"])


def late_cards(state: State, params: Params) -> int:
    """How many cards of the board were due before today and are not in its last column."""
    board = params["board"]["id"]
    done = next(row["id"] for row in rows_of(state, "columns", board_id=board, name="Done"))
    due = [row for row in cards_of(state, board) if row["due"] and row["due"] < today(state)]
    return sum(row["column_id"] != done for row in due)


@PLAN.task(
    "How many cards of the board {board[name]} are late, that is, were due before today and are not in the column Done? Answer with a number.",
    "Count the late cards of the board {board[name]}: their due date is before today, and they are in another column than Done. Answer with the number.",
    heldout_wordings=("On the board {board[name]}, how many cards outside the column Done have a due date that has passed (before today)? Answer with a number.",),
    max_steps=24,
    expected_steps=5,
    tags=("compare", "answer", "medium"),
)  # fmt: skip
def count_late(board: Row = rows("boards"), late: int = computed(late_cards)) -> Verifier:
    return answered(late)


@count_late.oracle
async def _(page: Page, board: Row, late: int) -> str:
    await open_board(page, board["id"])
    return str(late)
