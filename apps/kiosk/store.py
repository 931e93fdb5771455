"""What the terminal can look up and do, as plain functions over its database."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]

MAX_QUANTITY = 99
MAX_NOTE = 24


class Missing(LookupError):
    """Something was asked for that the database does not hold."""


def every(db: sqlite3.Connection, query: str, *values: Any) -> list[Row]:
    """All rows of a query."""
    return [dict(row) for row in db.execute(query, values)]


def one(db: sqlite3.Connection, query: str, *values: Any) -> Row:
    """The first row of a query.

    Raises:
        Missing: There is none.
    """
    row = db.execute(query, values).fetchone()
    if row is None:
        raise Missing(f"nothing found for {values}")
    return dict(row)


# --- looking up --------------------------------------------------------------------------------------------


def settings(db: sqlite3.Connection) -> dict[str, str]:
    """The terminal's settings, its appearance among them."""
    return {row["key"]: row["value"] for row in every(db, "SELECT * FROM settings")}


def category(db: sqlite3.Connection, slug: str) -> Row:
    """A category by its slug; the first one for an empty slug."""
    if not slug:
        return one(db, "SELECT * FROM categories ORDER BY id")
    return one(db, "SELECT * FROM categories WHERE slug = ?", slug)


def items(db: sqlite3.Connection, category_id: int) -> list[Row]:
    """The items of a category, in the menu's order."""
    return every(db, "SELECT * FROM items WHERE category_id = ? ORDER BY id", category_id)


def item(db: sqlite3.Connection, key: int) -> Row:
    """An item with its `extras` and the `slug` of its category."""
    found = one(db, "SELECT items.*, slug FROM items JOIN categories c ON c.id = category_id WHERE items.id = ?", key)
    return {**found, "extras": every(db, "SELECT * FROM extras WHERE item_id = ? ORDER BY id", key)}


def ticket(db: sqlite3.Connection) -> Row:
    """The ticket in progress: table_no, note, lines, total_cents."""
    lines = every(db, "SELECT * FROM ticket_lines ORDER BY id")
    return {**one(db, "SELECT * FROM ticket"), "lines": lines, "total_cents": total(lines)}


def open_orders(db: sqlite3.Connection) -> list[Row]:
    """Orders that are neither paid nor cancelled, oldest first."""
    return every(db, "SELECT * FROM orders WHERE status IN ('sent', 'ready') ORDER BY id")


def order(db: sqlite3.Connection, key: int) -> Row:
    """An order with its `lines`."""
    found = one(db, "SELECT * FROM orders WHERE id = ?", key)
    return {**found, "lines": every(db, "SELECT * FROM order_lines WHERE order_id = ? ORDER BY id", key)}


def tables(db: sqlite3.Connection) -> list[Row]:
    """All tables, each with `busy`: whether an order is open there."""
    busy = "number IN (SELECT table_no FROM orders WHERE status IN ('sent', 'ready'))"
    return every(db, f"SELECT number, {busy} AS busy FROM tables ORDER BY number")


def total(lines: list[Row]) -> int:
    """Sum of the lines, cents."""
    return sum(line["quantity"] * line["unit_cents"] for line in lines)


# --- doing -------------------------------------------------------------------------------------------------


def add(db: sqlite3.Connection, key: int, size: str, extra_ids: list[int]) -> None:
    """Put one more of an item on the ticket; an equal line grows instead of a second one appearing.

    Raises:
        Missing: The item does not exist or is sold out.
    """
    wanted = item(db, key)
    if wanted["sold_out"]:
        raise Missing(f"{wanted['name']} is sold out")
    large = size == "large" and wanted["large_cents"] is not None
    chosen = [extra for extra in wanted["extras"] if extra["id"] in extra_ids]
    base = wanted["large_cents"] if large else wanted["price_cents"]
    line = {
        "item_id": key,
        "item": wanted["name"],
        "size": ("large" if large else "small") if wanted["large_cents"] is not None else "",
        "extras": ", ".join(extra["name"] for extra in chosen),
        "unit_cents": base + sum(extra["price_cents"] for extra in chosen),
    }
    same = db.execute(
        "UPDATE ticket_lines SET quantity = min(quantity + 1, ?) WHERE item_id = ? AND size = ? AND extras = ?",
        (MAX_QUANTITY, key, line["size"], line["extras"]),
    )
    if not same.rowcount:
        _insert(db, "ticket_lines", {**line, "quantity": 1})


def change_line(db: sqlite3.Connection, key: int, by: int) -> bool:
    """Change the quantity of a ticket line; at nothing it goes. True if it is still there."""
    line = one(db, "SELECT * FROM ticket_lines WHERE id = ?", key)
    quantity = min(line["quantity"] + by, MAX_QUANTITY)
    if quantity <= 0:
        db.execute("DELETE FROM ticket_lines WHERE id = ?", (key,))
    else:
        db.execute("UPDATE ticket_lines SET quantity = ? WHERE id = ?", (quantity, key))
    return quantity > 0


def choose_table(db: sqlite3.Connection, number: int) -> None:
    """Set the ticket's table."""
    one(db, "SELECT number FROM tables WHERE number = ?", number)
    db.execute("UPDATE ticket SET table_no = ?", (number,))


def write_note(db: sqlite3.Connection, text: str) -> None:
    """Set the ticket's note: spaces collapsed, at most `MAX_NOTE` characters."""
    db.execute("UPDATE ticket SET note = ?", (" ".join(text.split())[:MAX_NOTE].strip(),))


def send(db: sqlite3.Connection) -> int | None:
    """Make the ticket an order and start an empty one. The order's number; None if table or lines are missing."""
    draft = ticket(db)
    if not draft["lines"] or draft["table_no"] is None:
        return None
    head = {
        "table_no": draft["table_no"],
        "status": "sent",
        "note": draft["note"],
        "total_cents": draft["total_cents"],
        "sent_at": settings(db)["clock"],
        "paid_by": "",
    }
    number = _insert(db, "orders", head)
    for line in draft["lines"]:
        _insert(db, "order_lines", {**{k: v for k, v in line.items() if k != "id"}, "order_id": number})
    db.execute("DELETE FROM ticket_lines")
    db.execute("UPDATE ticket SET table_no = NULL, note = ''")
    return number


def close(db: sqlite3.Connection, key: int, status: str, paid_by: str = "") -> None:
    """Mark an open order as paid or cancelled; one that is closed already stays as it is."""
    one(db, "SELECT id FROM orders WHERE id = ?", key)
    db.execute(
        "UPDATE orders SET status = ?, paid_by = ? WHERE id = ? AND status IN ('sent', 'ready')",
        (status, paid_by, key),
    )


def take_off(db: sqlite3.Connection, order_id: int, line_id: int) -> None:
    """Take one piece off a line of an open order; the last piece of all stays (cancel the order instead)."""
    found = order(db, order_id)
    line = next((line for line in found["lines"] if line["id"] == line_id), None)
    if line is None:
        raise Missing(f"order {order_id} has no line {line_id}")
    if found["status"] not in ("sent", "ready") or sum(each["quantity"] for each in found["lines"]) < 2:
        return
    if line["quantity"] > 1:
        db.execute("UPDATE order_lines SET quantity = quantity - 1 WHERE id = ?", (line_id,))
    else:
        db.execute("DELETE FROM order_lines WHERE id = ?", (line_id,))
    left = found["total_cents"] - line["unit_cents"]
    db.execute("UPDATE orders SET total_cents = ? WHERE id = ?", (left, order_id))


def flip_stock(db: sqlite3.Connection, key: int) -> None:
    """An item that is in stock is sold out from now on, and the other way round."""
    item(db, key)
    db.execute("UPDATE items SET sold_out = 1 - sold_out WHERE id = ?", (key,))


def _insert(db: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> int:
    marks = ", ".join(f":{column}" for column in row)
    key = db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", dict(row)).lastrowid
    return int(key or 0)
