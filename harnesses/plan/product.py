"""The planner: how to start, reset and read it, what its instructions speak of, and how a person finds it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from uigym.apps.plan import recur
from uigym.apps.plan import seed as plan_data
from uigym.apps.plan.looks import PARTS
from uigym.harness import Harness, Looks, Running
from uigym.product.state import Sqlite
from uigym.types import Row, State
from uigym.verifiers.state import only as only_these
from uigym.verify import Verifier

Params = Mapping[str, Any]
Page = Any  # Playwright's


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the product the seed's data, by its database file."""
    await asyncio.to_thread(plan_data.write, product.workdir / "plan.db", seed, appearance)


PLAN = Harness(
    name="plan",
    asgi="uigym.apps.plan.app:create_app",
    ready="/healthz",
    state=Sqlite("{workdir}/plan.db"),
    reset=reset,
    viewport=(1280, 720),
    looks={
        "theme": Looks(PARTS["theme"][:6], PARTS["theme"][6:]),
        "font": Looks(PARTS["font"][:3], PARTS["font"][2:]),
        "density": Looks(PARTS["density"]),
        "language": Looks(("en", "en", "de", "ko"), ("en", "de", "ko", "ar", "ar")),
        "content": Looks(("plain", "alike", "long"), ("plain", "alike", "long", "hostile")),
        "nav": Looks(PARTS["nav"][:3], PARTS["nav"][3:]),
        "columns": Looks(PARTS["columns"][:3], PARTS["columns"][3:]),
        "panel": Looks(PARTS["panel"]),
    },
    logs=("activity", "calendars.visible"),
)
FREE = ("activity", "calendars.visible")
"""What may differ after any task: the log, and which calendars are shown."""
IF_NOT = "If that is not possible, answer: impossible."


def only(*parts: Any) -> Verifier:
    """These changes, each for an equal share of the score, and nothing else."""
    return only_these(*parts, except_=FREE)


# --- what the instructions speak of --------------------------------------------------------------------------


def rows_of(state: State, table: str, **columns: Any) -> list[Row]:
    """The rows of a table that have these values in these columns."""
    return [row for row in state.tables[table] if all(row[key] == value for key, value in columns.items())]


def setting(state: State, key: str) -> str:
    """A value of the table of settings."""
    return str(rows_of(state, "settings", key=key)[0]["value"])


def today(state: State) -> str:
    """The day of the product's clock."""
    return setting(state, "now")[:10]


def later(day: str, days: int) -> str:
    """A day some days later."""
    return recur.later(day, timedelta(days=days))


def said(day: str) -> str:
    """A day as instructions say it: Thursday, 23 April 2026."""
    return f"{date.fromisoformat(day):%A, %-d %B %Y}"


def named(day: str) -> Row:
    """A day, and as it is said."""
    return {"day": day, "said": said(day)}


def work_week(state: State) -> list[str]:
    """Monday to Friday of the present week, which every language shows in one."""
    now = today(state)
    monday = later(now, -date.fromisoformat(now).weekday())
    return [later(monday, i) for i in range(5)]


def occurrences(state: State, first: str, last: str) -> list[Row]:
    """All that the calendar shows of some days, in order, each with its day said."""
    zone = setting(state, "zone")
    found = [
        {**row, "key": row["id"], "first": (row["starts"], row["ends"]), **each, "on": said(each["starts"][:10])}
        for row in state.tables["events"]
        for each in recur.occurrences(row, (), first, last, zone)
    ]
    return sorted(found, key=lambda each: (each["starts"], each["id"]))


def unlike(events: Iterable[Row]) -> list[Row]:
    """Those whose title no other one of the same day has."""
    listed = list(events)
    count = Counter((each["title"], each["starts"][:10]) for each in listed)
    return [each for each in listed if count[each["title"], each["starts"][:10]] == 1]


def own_titles(state: State) -> list[Row]:
    """Events, not of a series and in a calendar that may be written, whose title stands in no other title."""
    titles = [row["title"] for row in state.tables["events"]]
    mine = [row for row in rows_of(state, "events", repeat="none", all_day=0) if row["calendar_id"] != 4]
    return [row for row in mine if sum(row["title"] in title for title in titles) == 1]


def is_in_sight(event: Row) -> bool:
    """Whether the whole of it is seen in the week as it opens, and is tall enough to be taken hold of."""
    if event["all_day"] or minutes(event["ends"]) - minutes(event["starts"]) < 30:
        return False
    return bool(event["starts"][11:] >= "08:00" and event["ends"][11:] <= "17:00")


def minutes(moment: str) -> int:
    """Minutes after midnight."""
    return int(moment[11:13]) * 60 + int(moment[14:16])


def clock(minute: int) -> str:
    """Minutes after midnight as a time of day."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def next_id(state: State, table: str) -> int:
    """What the next row of a table is numbered."""
    return max((row["id"] for row in state.tables[table]), default=0) + 1


# --- how a person does it ------------------------------------------------------------------------------------


async def click(page: Page, *ids: str) -> None:
    """Click one after the other."""
    for each in ids:
        await page.get_by_test_id(each).click()


async def fill(page: Page, **values: str) -> None:
    """Fill fields; an underscore stands for a hyphen."""
    for name, value in values.items():
        await page.get_by_test_id(name.replace("_", "-")).fill(value)


async def choose(page: Page, **values: Any) -> None:
    """Choose from native lists, by value."""
    for name, value in values.items():
        await page.get_by_test_id(name.replace("_", "-")).select_option(str(value))


async def find(page: Page, kind: str, row: Row) -> None:
    """Look for an event or a card by its title and open it."""
    await fill(page, search=row["title"])
    await page.get_by_test_id("search").press("Enter")
    await click(page, f"hit-{kind}-{row['id']}")


async def go_to(page: Page, day: str) -> None:
    """Show a day, in the view that is shown, by the small month."""
    while not await page.get_by_test_id(f"mini-{day}").count():
        await click(page, "mini-ahead")
    await click(page, f"mini-{day}")


async def open_board(page: Page, board: int) -> None:
    """Show a board."""
    await click(page, "nav-boards")
    await choose(page, board=board)


async def add_person(page: Page, field: str, person: Row) -> None:
    """Choose a person by name in a field that offers some."""
    await page.get_by_test_id(field).fill(person["name"])
    await click(page, f"{field}-{person['id']}")
