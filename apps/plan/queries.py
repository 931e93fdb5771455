"""What the planner shows, read from its database."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from datetime import timedelta

from ..kit.store import Record, like, record, records, settings
from ..kit.web import found
from .recur import between, later, moved, occurrences

FIRST, LAST = 8 * 60, 18 * 60
"""Minutes after midnight between which a free time is looked for."""
HITS = 30


def tag(row: Record) -> str:
    """Tells whether a record has changed: the same for the same contents."""
    return f"{zlib.crc32(json.dumps(row, sort_keys=True).encode()):08x}"


def session(db: sqlite3.Connection) -> Record:
    """What every page needs: settings, people, calendars, boards, labels."""
    return {
        "settings": settings(db),
        "people": records(db, "SELECT * FROM people ORDER BY name"),
        "calendars": records(db, "SELECT * FROM calendars ORDER BY id"),
        "boards": records(db, "SELECT * FROM boards ORDER BY id"),
        "labels": records(db, "SELECT * FROM labels ORDER BY id"),
    }


def skipped(db: sqlite3.Connection) -> dict[int, set[str]]:
    """Days left out, by series."""
    days: dict[int, set[str]] = {}
    for row in db.execute("SELECT event_id, day FROM skips"):
        days.setdefault(row["event_id"], set()).add(row["day"])
    return days


def between_days(db: sqlite3.Connection, first: str, last: str) -> list[Record]:
    """All occurrences that touch some days, in the user's zone, in order."""
    zone = settings(db)["zone"]
    skips = skipped(db)
    reach = (later(last, timedelta(days=2)), later(first, timedelta(days=-2)))
    rows = records(db, "SELECT * FROM events WHERE starts < ? AND (repeat <> 'none' OR ends >= ?)", reach)
    shown = [
        _shown(row, each) for row in rows for each in occurrences(row, skips.get(row["id"], ()), first, last, zone)
    ]
    return sorted(shown, key=lambda each: (each["starts"], -each["all_day"], each["ends"], each["id"]))


def _shown(row: Record, each: Record) -> Record:
    kept = ("id", "calendar_id", "title", "place", "all_day", "repeat", "colour", "guests", "zone")
    return {**{name: row[name] for name in kept}, **each, "tag": tag(row)}


def shift(db: sqlite3.Connection, day: str) -> int:
    """Minutes from the user's zone to the second one, at noon of a day; 0 if none is shown."""
    chosen = settings(db)
    if not chosen["second_zone"]:
        return 0
    noon = f"{day} 12:00"
    return int(between(noon, moved(noon, chosen["zone"], chosen["second_zone"])).total_seconds()) // 60


def event(db: sqlite3.Connection, id: int, day: str = "") -> Record:
    """An event as its dialog shows it: with the times of one occurrence of the series, in its own zone."""
    row = found(record(db, "SELECT * FROM events WHERE id = ?", [id]))
    shown = {**row, "tag": tag(row), "day": day or row["starts"][:10]}
    if day:
        starts = day + row["starts"][10:]
        shown |= {"starts": starts, "ends": later(starts, between(row["starts"], row["ends"]))}
    return shown


def search(db: sqlite3.Connection, text: str) -> Record:
    """Events and cards that have a text in their title, place or notes."""
    if not text.strip():
        return {"events": [], "cards": []}
    pattern = like(text.strip())
    sql = "SELECT * FROM events WHERE {} ORDER BY starts LIMIT ?"
    where = " OR ".join(f"{name} LIKE ? ESCAPE '\\'" for name in ("title", "place", "notes"))
    zone = settings(db)["zone"]
    events = [_first(row, zone) for row in records(db, sql.format(where), (*[pattern] * 3, HITS))]
    sql = """SELECT cards.id, cards.title, columns.name AS column_name, boards.id AS board_id, boards.name AS board
        FROM cards JOIN columns ON columns.id = column_id JOIN boards ON boards.id = board_id
        WHERE archived = 0 AND (title LIKE ? ESCAPE '\\' OR description LIKE ? ESCAPE '\\') ORDER BY cards.id LIMIT ?"""
    return {"events": events, "cards": records(db, sql, (pattern, pattern, HITS))}


def _first(row: Record, zone: str) -> Record:
    starts, ends = row["starts"], row["ends"]
    if not row["all_day"]:
        starts, ends = moved(starts, row["zone"], zone), moved(ends, row["zone"], zone)
    return _shown(row, {"day": row["starts"][:10], "starts": starts, "ends": ends})


def conflicts(db: sqlite3.Connection, starts: str, ends: str, zone: str, except_: int) -> list[Record]:
    """The user's own events at a time that is given in some zone."""
    here = settings(db)["zone"]
    starts, ends = moved(starts, zone, here), moved(ends, zone, here)
    me = int(settings(db)["me"])
    return [
        each
        for each in between_days(db, starts[:10], ends[:10])
        if each["id"] != except_ and not each["all_day"] and each["starts"] < ends and each["ends"] > starts
        and me in busy_people(db, each)
    ]  # fmt: skip


def busy_people(db: sqlite3.Connection, each: Record) -> set[int]:
    """Who takes part in an event: its guests and the owner of its calendar."""
    owner = db.execute("SELECT owner_id FROM calendars WHERE id = ?", [each["calendar_id"]]).fetchone()[0]
    return {owner, *ids(each["guests"])}


def ids(text: str) -> list[int]:
    """People of a list such as "3,7"."""
    return [int(part) for part in text.split(",") if part]


def free(db: sqlite3.Connection, people: Iterable[int], day: str, minutes: int) -> Record:
    """When people are busy on a day, and when all of them are free for so long, from 8:00 to 18:00 and not past."""
    wanted = list(dict.fromkeys(people))
    busy: dict[int, list[Record]] = {person: [] for person in wanted}
    for each in between_days(db, day, day):
        if not each["all_day"]:
            for person in busy_people(db, each) & busy.keys():
                busy[person].append({"starts": _minute(each["starts"], day), "ends": _minute(each["ends"], day)})
    taken = [(slot["starts"], slot["ends"]) for slots in busy.values() for slot in slots]
    earliest = _minute(settings(db)["now"], day)
    return {"busy": busy, "free": list(_free(taken, minutes, earliest)) if wanted else []}


def _minute(moment: str, day: str) -> int:
    return min(max(int(between(f"{day} 00:00", moment).total_seconds()) // 60, 0), 1440)


def _free(taken: list[tuple[int, int]], minutes: int, earliest: int) -> Iterator[int]:
    for start in range(FIRST, LAST - minutes + 1, 30):
        if start >= earliest and not any(begin < start + minutes and end > start for begin, end in taken):
            yield start


def board(db: sqlite3.Connection, id: int, archived: bool = False) -> Record:
    """A board with its columns and cards, each in order."""
    shown = found(record(db, "SELECT * FROM boards WHERE id = ?", [id]))
    columns = records(db, "SELECT * FROM columns WHERE board_id = ? ORDER BY position, id", [id])
    sql = """SELECT cards.* FROM cards JOIN columns ON columns.id = column_id
        WHERE board_id = ? AND archived = ? ORDER BY cards.position, cards.id"""
    cards = [card_face(db, row) for row in records(db, sql, (id, int(archived)))]
    return {**shown, "columns": columns, "cards": cards}


def card_face(db: sqlite3.Connection, row: Record) -> Record:
    """What a board shows of a card."""
    one = [row["id"]]
    sql = "SELECT count(*) AS steps, coalesce(sum(done), 0) AS done FROM items WHERE card_id = ?"
    return {
        **row,
        "tag": tag(row),
        "labels": [each["label_id"] for each in records(db, "SELECT label_id FROM card_labels WHERE card_id = ? ORDER BY 1", one)],
        "comments": db.execute("SELECT count(*) FROM comments WHERE card_id = ?", one).fetchone()[0],
        **(record(db, sql, one) or {}),
    }  # fmt: skip


def card(db: sqlite3.Connection, id: int) -> Record:
    """A card as its dialog shows it: with its checklist and comments."""
    sql = """SELECT cards.*, columns.name AS column_name, board_id FROM cards JOIN columns ON columns.id = column_id
        WHERE cards.id = ?"""
    row = found(record(db, sql, [id]))
    said = "SELECT comments.*, people.name AS author FROM comments JOIN people ON people.id = author_id WHERE card_id = ? ORDER BY at, comments.id"
    return {
        **card_face(db, found(record(db, "SELECT * FROM cards WHERE id = ?", [id]))),
        "column_name": row["column_name"],
        "board_id": row["board_id"],
        "items": records(db, "SELECT * FROM items WHERE card_id = ? ORDER BY id", [id]),
        "talk": records(db, said, [id]),
    }
