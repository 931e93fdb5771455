"""What can be done to boards. Each function is one change within the caller's transaction, or raises Refused."""

from __future__ import annotations

import sqlite3

from ..kit.store import Record, record, records, settings
from ..kit.web import found
from .asked import CardFields, CardMove, Column, NewCard
from .cards import GAP
from .changes import Refused, insert, log, same, update


def new_board(db: sqlite3.Connection, name: str) -> int:
    """A board with three columns; its id."""
    id = insert(db, "boards", {"name": _named(name)})
    for i, column in enumerate(("To do", "In progress", "Done"), 1):
        insert(db, "columns", {"board_id": id, "name": column, "position": i * GAP})
    log(db, "created", "board", id)
    return id


def new_column(db: sqlite3.Connection, board: int, name: str) -> int:
    """A column at the end of a board; its id."""
    found(record(db, "SELECT id FROM boards WHERE id = ?", [board]))
    last = db.execute("SELECT coalesce(max(position), 0) FROM columns WHERE board_id = ?", [board]).fetchone()[0]
    id = insert(db, "columns", {"board_id": board, "name": _named(name), "position": last + GAP})
    log(db, "created", "column", id)
    return id


def edit_column(db: sqlite3.Connection, id: int, asked: Column) -> None:
    """Rename a column, move it, or set how many cards it may hold."""
    row = _column(db, id)
    if asked.name is not None:
        update(db, "columns", id, {"name": _named(asked.name)})
    if asked.wip_limit is not None:
        update(db, "columns", id, {"wip_limit": asked.wip_limit or None})
    if asked.before is not None and asked.before != id:
        others = records(db, "SELECT * FROM columns WHERE board_id = ? ORDER BY position", [row["board_id"]])
        update(db, "columns", id, {"position": _place([each for each in others if each["id"] != id], asked.before)})
    log(db, "changed", "column", id)


def new_card(db: sqlite3.Connection, column: int, asked: NewCard) -> int:
    """A card at the end of a column; its id."""
    if not asked.title:
        raise Refused("Give it a title.")
    _known(db, asked.assignee_id)
    row = _column(db, column)
    _room(db, row)
    last = db.execute("SELECT coalesce(max(position), 0) FROM cards WHERE column_id = ?", [column]).fetchone()[0]
    fields = asked.model_dump(include={"title", "description", "assignee_id", "due"})
    id = insert(db, "cards", {**fields, "column_id": column, "position": last + GAP, "archived": 0})
    for label in asked.labels:
        set_label(db, id, label, True)
    for text in asked.items:
        new_item(db, id, text)
    log(db, "created", "card", id)
    return id


def edit_card(db: sqlite3.Connection, id: int, asked: CardFields) -> None:
    """Title, description, assignee and due date."""
    same(_card(db, id), asked.tag)
    if not asked.title:
        raise Refused("Give it a title.")
    _known(db, asked.assignee_id)
    update(db, "cards", id, asked.model_dump(exclude={"tag"}))
    log(db, "changed", "card", id)


def move_card(db: sqlite3.Connection, id: int, asked: CardMove) -> None:
    """To another place in its column, or into another column of the board if that has room."""
    row = _card(db, id)
    same(row, asked.tag)
    column = _column(db, asked.column_id)
    if column["board_id"] != _column(db, row["column_id"])["board_id"]:
        raise Refused("That column is on another board.")
    if column["id"] != row["column_id"]:
        _room(db, column)
    sql = "SELECT * FROM cards WHERE column_id = ? AND archived = 0 AND id <> ? ORDER BY position"
    place = _place(records(db, sql, (column["id"], id)), asked.before)
    update(db, "cards", id, {"column_id": column["id"], "position": place})
    log(db, "moved", "card", id)


def archive(db: sqlite3.Connection, id: int, on: bool) -> None:
    """Put a card away, or back into its column if that has room."""
    row = _card(db, id)
    if not on and row["archived"]:
        _room(db, _column(db, row["column_id"]))
    update(db, "cards", id, {"archived": int(on)})
    log(db, "archived" if on else "restored", "card", id)


def archive_column(db: sqlite3.Connection, id: int) -> None:
    """Put all cards of a column away."""
    for row in records(db, "SELECT id FROM cards WHERE column_id = ? AND archived = 0", [_column(db, id)["id"]]):
        archive(db, row["id"], True)


def set_label(db: sqlite3.Connection, card: int, label: int, on: bool) -> None:
    """Give a card a label, or take it away."""
    _card(db, card)
    found(record(db, "SELECT id FROM labels WHERE id = ?", [label]))
    sql = (
        "INSERT OR IGNORE INTO card_labels VALUES (?, ?)"
        if on
        else "DELETE FROM card_labels WHERE card_id = ? AND label_id = ?"
    )
    db.execute(sql, (card, label))
    log(db, "labelled", "card", card)


def new_item(db: sqlite3.Connection, card: int, text: str) -> int:
    """A line of the checklist; its id."""
    _card(db, card)
    if not text:
        raise Refused("Write something first.")
    id = insert(db, "items", {"card_id": card, "text": text, "done": 0})
    log(db, "changed", "card", card)
    return id


def tick(db: sqlite3.Connection, id: int, on: bool) -> None:
    """Tick a line of a checklist, or take the tick away."""
    row = found(record(db, "SELECT * FROM items WHERE id = ?", [id]))
    update(db, "items", id, {"done": int(on)})
    log(db, "changed", "card", row["card_id"])


def drop_item(db: sqlite3.Connection, id: int) -> None:
    """Take a line off a checklist."""
    row = found(record(db, "SELECT * FROM items WHERE id = ?", [id]))
    db.execute("DELETE FROM items WHERE id = ?", [id])
    log(db, "changed", "card", row["card_id"])


def comment(db: sqlite3.Connection, card: int, text: str) -> int:
    """A comment of the user; its id."""
    _card(db, card)
    if not text:
        raise Refused("Write something first.")
    known = settings(db)
    id = insert(db, "comments", {"card_id": card, "author_id": int(known["me"]), "body": text, "at": known["now"]})
    log(db, "commented", "card", card)
    return id


# --- parts of a change ---------------------------------------------------------------------------------------


def _card(db: sqlite3.Connection, id: int) -> Record:
    return found(record(db, "SELECT * FROM cards WHERE id = ?", [id]))


def _column(db: sqlite3.Connection, id: int) -> Record:
    return found(record(db, "SELECT * FROM columns WHERE id = ?", [id]))


def _named(name: str) -> str:
    if not name:
        raise Refused("Give it a name.")
    return name


def _known(db: sqlite3.Connection, person: int | None) -> None:
    """Refuse somebody whom nobody knows."""
    if person is not None and not record(db, "SELECT id FROM people WHERE id = ?", [person]):
        raise Refused("There is no such person.")


def _room(db: sqlite3.Connection, column: Record) -> None:
    """Refuse a card more than the column may hold."""
    held = db.execute("SELECT count(*) FROM cards WHERE column_id = ? AND archived = 0", [column["id"]]).fetchone()[0]
    if column["wip_limit"] and held >= column["wip_limit"]:
        raise Refused("{name} is full: it holds at most {n} cards.", name=column["name"], n=column["wip_limit"])


def _place(others: list[Record], before: int) -> float:
    """A position before one of the others, or after all of them."""
    at = next((i for i, other in enumerate(others) if other["id"] == before), len(others))
    low = others[at - 1]["position"] if at else 0.0
    return float((low + others[at]["position"]) / 2 if at < len(others) else low + GAP)
