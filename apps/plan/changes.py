"""What can be done to the calendar. Each function is one change within the caller's transaction, or raises Refused."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from typing import Any

from ..kit.store import Record, record, settings
from ..kit.web import Refused as _Refused
from ..kit.web import found
from .asked import Chosen, Edited, Moved, Which, Written
from .queries import tag
from .recur import between, days, later, moved, weekday
from .schema import WEEKDAYS


class Refused(_Refused):
    """What was asked for cannot be done; the text says why, in English, with the values that it names."""

    def __init__(self, text: str, **values: Any):
        super().__init__(text)
        self.values = values


LONGEST = timedelta(days=366)
"""That an event lasts."""


def in_order(starts: str, ends: str, all_day: bool = False) -> None:
    """Refuse what ends before it begins, or lasts too long."""
    if ends < starts or (ends == starts and not all_day):
        raise Refused("The end must be after the start.")
    not_too_long(starts, ends)


def not_too_long(starts: str, ends: str) -> None:
    """Refuse what lasts too long."""
    if between(starts, ends) > LONGEST:
        raise Refused("An event may last {n} days at most.", n=LONGEST.days)


def log(db: sqlite3.Connection, what: str, subject: str, id: int) -> None:
    """A line of the activity log."""
    known = settings(db)
    actor = db.execute("SELECT name FROM people WHERE id = ?", [known["me"]]).fetchone()[0]
    db.execute(
        "INSERT INTO activity (at, actor, what, subject, subject_id) VALUES (?, ?, ?, ?, ?)",
        (known["now"], actor, what, subject, id),
    )


def same(row: Record, seen: str) -> None:
    """Refuse to write over what somebody else has changed meanwhile."""
    if tag(row) != seen:
        raise Refused("This was changed meanwhile. Look at it again first.")


def insert(db: sqlite3.Connection, table: str, columns: Record) -> int:
    """A new row; its id."""
    marks = ", ".join("?" * len(columns))
    return int(db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", [*columns.values()]).lastrowid or 0)  # fmt: skip


def update(db: sqlite3.Connection, table: str, id: int, columns: Record) -> None:
    """New values for some columns of a row."""
    names = ", ".join(f"{name} = ?" for name in columns)
    db.execute(f"UPDATE {table} SET {names} WHERE id = ?", [*columns.values(), id])


def create(db: sqlite3.Connection, asked: Written) -> int:
    """A new event; its id."""
    id = insert(db, "events", {**_columns(db, asked), "series_id": None, "series_day": None})
    log(db, "created", "event", id)
    return id


def edit(db: sqlite3.Connection, id: int, asked: Edited) -> None:
    """An event after its dialog; of a series, one occurrence or all of them."""
    row = _event(db, id, asked)
    _on_a_day(db, row, asked.day)
    columns = _columns(db, asked.fields)
    if asked.scope == "one" and row["repeat"] != "none":
        _take_out(db, row, asked.day, {**columns, "repeat": "none", "weekdays": "", "until": None, "count": None})
        return
    if row["repeat"] != "none":
        days = _days_between(asked.day, columns["starts"])
        columns["starts"] = later(row["starts"][:10], days) + columns["starts"][10:]
        columns["ends"] = later(columns["starts"], between(asked.fields.starts, asked.fields.ends))
        if columns["weekdays"] == row["weekdays"] and columns["repeat"] == "weekly":
            columns["weekdays"] = _turned(row["weekdays"], days)
        _move_skips(db, id, days)
    update(db, "events", id, columns)
    log(db, "changed", "event", id)


def move(db: sqlite3.Connection, id: int, asked: Moved) -> None:
    """An event after a drag; of a series, one occurrence or all of them."""
    row = _event(db, id, asked)
    _on_a_day(db, row, asked.day)
    here = settings(db)["zone"]
    starts, ends = asked.starts, asked.ends
    if any((len(moment) == 10) != row["all_day"] for moment in (starts, ends)):
        raise Refused("Give a start and an end.")
    if not row["all_day"]:
        starts, ends = moved(starts, here, row["zone"]), moved(ends, here, row["zone"])
    in_order(starts, ends, row["all_day"])
    if asked.scope == "one" and row["repeat"] != "none":
        _take_out(db, row, asked.day, {**row, "starts": starts, "ends": ends, "repeat": "none", "weekdays": "", "until": None, "count": None})  # fmt: skip
        return
    columns = {"starts": starts, "ends": ends}
    if row["repeat"] != "none":
        days = _days_between(asked.day, starts)
        first = later(row["starts"][:10], days) + starts[10:]
        columns = {
            "starts": first,
            "ends": later(first, between(starts, ends)),
            "weekdays": _turned(row["weekdays"], days),
        }
        _move_skips(db, id, days)
    update(db, "events", id, columns)
    log(db, "moved", "event", id)


def delete(db: sqlite3.Connection, id: int, asked: Which) -> None:
    """An event gone; of a series, one occurrence or all of them."""
    row = _event(db, id, asked)
    if asked.scope == "one" and row["repeat"] != "none":
        _skip(db, row, asked.day)
    else:
        db.execute("DELETE FROM skips WHERE event_id = ?", [id])
        db.execute("DELETE FROM events WHERE id = ?", [id])
    log(db, "deleted", "event", id)


def show_calendar(db: sqlite3.Connection, id: int, visible: bool) -> None:
    """Show a calendar's events, or hide them."""
    found(record(db, "SELECT id FROM calendars WHERE id = ?", [id]))
    update(db, "calendars", id, {"visible": int(visible)})


def choose(db: sqlite3.Connection, asked: Chosen) -> None:
    """Settings of the user: time zones."""
    for name, value in asked.model_dump(exclude_none=True).items():
        db.execute("UPDATE settings SET value = ? WHERE key = ?", (value, name))
    log(db, "changed", "settings", 1)


# --- parts of a change ---------------------------------------------------------------------------------------


def _event(db: sqlite3.Connection, id: int, asked: Which) -> Record:
    """The event, if it may be changed and nobody else has."""
    row = found(record(db, "SELECT * FROM events WHERE id = ?", [id]))
    _writable(db, row["calendar_id"])
    same(row, asked.tag)
    return row


def _writable(db: sqlite3.Connection, id: int) -> None:
    calendar = record(db, "SELECT * FROM calendars WHERE id = ?", [id])
    if calendar is None:
        raise Refused("There is no such calendar.")
    if not calendar["writable"]:
        raise Refused("The calendar {name} belongs to somebody else: you can only look at it.", name=calendar["name"])


def _columns(db: sqlite3.Connection, asked: Written) -> Record:
    """The columns of an event that its dialog fills."""
    _writable(db, asked.calendar_id)
    columns = asked.model_dump()
    if not asked.title:
        raise Refused("Give it a title.")
    if asked.all_day:
        columns |= {"starts": asked.starts[:10], "ends": asked.ends[:10]}
    elif len(asked.starts) == 10 or len(asked.ends) == 10:
        raise Refused("Give a start and an end.")
    in_order(columns["starts"], columns["ends"], asked.all_day)
    known = {row[0] for row in db.execute("SELECT id FROM people")}
    if not set(asked.guests) <= known:
        raise Refused("There is no such person.")
    columns |= {"all_day": int(asked.all_day), "guests": ",".join(str(id) for id in sorted(set(asked.guests)))}
    return {**columns, **_repeat(asked)}


def _repeat(asked: Written) -> Record:
    if asked.repeat == "none":
        return {"weekdays": "", "until": None, "count": None}
    if asked.until and asked.count:
        raise Refused("It ends on a date or after a number of times, not both.")
    if asked.until and asked.until < asked.starts[:10]:
        raise Refused("The last day must not be before the first.")
    wanted = asked.weekdays or weekday(asked.starts)
    return {"weekdays": wanted if asked.repeat == "weekly" else ""}


def _take_out(db: sqlite3.Connection, row: Record, day: str, columns: Record) -> None:
    """One occurrence becomes an event of its own."""
    _skip(db, row, day)
    kept = {name: value for name, value in columns.items() if name != "id"}
    id = insert(db, "events", {**kept, "series_id": row["id"], "series_day": day})
    log(db, "changed", "event", id)


def _happens(db: sqlite3.Connection, row: Record, day: str) -> bool:
    """Whether a series has an event on a day."""
    skipped = record(db, "SELECT id FROM skips WHERE event_id = ? AND day = ?", (row["id"], day))
    return not skipped and day in days(row)


def _on_a_day(db: sqlite3.Connection, row: Record, day: str) -> None:
    """Refuse to change a series by a day on which it is not; the day from which it counts will do."""
    if row["repeat"] != "none" and day != row["starts"][:10] and not _happens(db, row, day):
        raise Refused("The series has no event on that day.")


def _skip(db: sqlite3.Connection, row: Record, day: str) -> None:
    if not _happens(db, row, day):
        raise Refused("The series has no event on that day.")
    insert(db, "skips", {"event_id": row["id"], "day": day})


def _move_skips(db: sqlite3.Connection, id: int, by: timedelta) -> None:
    for skip in db.execute("SELECT id, day FROM skips WHERE event_id = ?", [id]).fetchall() if by else ():
        update(db, "skips", skip["id"], {"day": later(skip["day"], by)})


def _days_between(first: str, second: str) -> timedelta:
    return between(first[:10], second[:10])


def _turned(wanted: str, by: timedelta) -> str:
    """Weekdays, so many days later."""
    later_ = {WEEKDAYS[(WEEKDAYS.index(day) + by.days) % 7] for day in wanted.split(",") if day}
    return ",".join(day for day in WEEKDAYS if day in later_)
