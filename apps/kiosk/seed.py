"""The data of a day at the tea house, drawn from a seed: menu, prices, stock, tables and open orders."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from .catalogue import CATEGORIES, NOTES, Range
from .looks import complete

CLOCK = "14:30"
"""The terminal's time of day, always: a new order is sent at this time."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL, slug TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS items (
  id INTEGER PRIMARY KEY, category_id INTEGER NOT NULL, name TEXT NOT NULL, price_cents INTEGER NOT NULL,
  large_cents INTEGER, has_extras INTEGER NOT NULL, sold_out INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS extras (
  id INTEGER PRIMARY KEY, item_id INTEGER NOT NULL, name TEXT NOT NULL, price_cents INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS tables (number INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS ticket (id INTEGER PRIMARY KEY, table_no INTEGER, note TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ticket_lines (
  id INTEGER PRIMARY KEY, item_id INTEGER NOT NULL, item TEXT NOT NULL, size TEXT NOT NULL, extras TEXT NOT NULL,
  quantity INTEGER NOT NULL, unit_cents INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS orders (
  id INTEGER PRIMARY KEY, table_no INTEGER NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL,
  total_cents INTEGER NOT NULL, sent_at TEXT NOT NULL, paid_by TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS order_lines (
  id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, item_id INTEGER NOT NULL, item TEXT NOT NULL,
  size TEXT NOT NULL, extras TEXT NOT NULL, quantity INTEGER NOT NULL, unit_cents INTEGER NOT NULL);
"""

Rows = list[dict[str, Any]]


def connect(path: Path) -> sqlite3.Connection:
    """A connection whose rows are `sqlite3.Row`; the caller closes it."""
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    # Practice data, written anew at every reset: waiting for the disk would only cost time.
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA journal_mode=MEMORY")
    return db


def write(db_path: Path, seed: int, appearance: Mapping[str, str]) -> None:
    """Replace all data in the file by that of a seed, in one transaction.

    Args:
        appearance: theme, layout, font, corners, cards by name; missing ones take their defaults.

    Raises:
        ValueError: The appearance has a part or a value that this app does not have.
    """
    data = draw(seed)
    settings = {**complete(dict(appearance)), "clock": CLOCK}
    data["settings"] = [{"key": key, "value": value} for key, value in settings.items()]
    with closing(connect(db_path)) as db:
        db.executescript(SCHEMA)
        with db:
            for table, rows in data.items():
                _replace(db, table, rows)


def _replace(db: sqlite3.Connection, table: str, rows: Rows) -> None:
    db.execute(f"DELETE FROM {table}")
    if rows:
        marks = ", ".join(f":{column}" for column in rows[0])
        db.executemany(f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({marks})", rows)


def draw(seed: int) -> dict[str, Rows]:
    """All rows of all tables for a seed, the settings left out."""
    rng = random.Random(f"kiosk:{seed}")
    names = rng.sample(list(CATEGORIES), 4)
    categories = [{"id": i, "name": name, "slug": name.lower()} for i, name in enumerate(names, 1)]
    items, extras = _menu(rng, names)
    _sell_out(rng, items)
    tables = [{"number": number} for number in range(1, rng.randint(6, 9) + 1)]
    orders, order_lines = _orders(rng, items, len(tables))
    return {
        "categories": categories,
        "items": items,
        "extras": extras,
        "tables": tables,
        "ticket": [{"id": 1, "table_no": None, "note": ""}],
        "ticket_lines": [],
        "orders": orders,
        "order_lines": order_lines,
    }


def _menu(rng: random.Random, names: list[str]) -> tuple[Rows, Rows]:
    items: Rows = []
    extras: Rows = []
    for category_id, name in enumerate(names, 1):
        stock = CATEGORIES[name]
        chosen = rng.sample(stock.names, rng.randint(4, 6))
        sized = set(rng.sample(chosen, 2)) if stock.sized else set()
        rich = rng.choice(sorted(sized) or chosen)
        for item in chosen:
            row = _item(rng, len(items) + 1, category_id, item, stock)
            row["large_cents"] = row["price_cents"] + rng.randrange(50, 130, 10) if item in sized else None
            row["has_extras"] = int(item == rich)
            items.append(row)
            if item == rich:
                extras += _extras(rng, len(extras), row["id"], stock)
    return items, extras


def _item(rng: random.Random, key: int, category_id: int, name: str, stock: Range) -> dict[str, Any]:
    price = rng.randrange(stock.cheapest_cents, stock.dearest_cents + 1, 10)
    return {
        "id": key,
        "category_id": category_id,
        "name": name,
        "price_cents": price,
        "large_cents": None,
        "has_extras": 0,
        "sold_out": 0,
    }


def _extras(rng: random.Random, before: int, item_id: int, stock: Range) -> Rows:
    return [
        {"id": before + i, "item_id": item_id, "name": name, "price_cents": rng.randrange(30, 100, 10)}
        for i, name in enumerate(rng.sample(stock.extras, 2), 1)
    ]


def _sell_out(rng: random.Random, items: Rows) -> None:
    """One or two plain items run out, never so many that a category has no two plain ones left."""
    plain = [item for item in items if item["large_cents"] is None and not item["has_extras"]]
    for item in rng.sample(plain, rng.randint(1, 2)):
        left = [p for p in plain if p["category_id"] == item["category_id"] and not p["sold_out"]]
        item["sold_out"] = int(len(left) > 2)
    if not any(item["sold_out"] for item in items):
        crowded = [p for p in plain if sum(q["category_id"] == p["category_id"] for q in plain) > 2]
        rng.choice(crowded)["sold_out"] = 1


def _orders(rng: random.Random, items: Rows, tables: int) -> tuple[Rows, Rows]:
    """Two paid orders, then four to six open ones at tables of their own; no item is in two open orders."""
    count = rng.randint(4, 6)
    number = rng.randint(12, 90)
    seats = [rng.randint(1, tables), rng.randint(1, tables), *rng.sample(range(1, tables + 1), count)]
    ready = rng.randrange(2, count + 2)
    noted = rng.sample(range(2, count + 2), 2)
    free = rng.sample(items, len(items))
    sizes = rng.sample([2, 3, *(rng.choice((1, 2, 2)) for _ in range(count - 2))], count)
    orders: Rows = []
    lines: Rows = []
    for i, table_no in enumerate(seats):
        chosen = rng.sample(items, 2) if i < 2 else [free.pop() for _ in range(sizes[i - 2])]
        mine = [_line(rng, item, number + i) for item in chosen]
        status = "paid" if i < 2 else "ready" if i == ready else "sent"
        note = rng.choice(NOTES) if i in noted else ""
        lines += mine
        orders.append(_order(rng, (number + i, table_no, status, note), mine))
    return orders, [{"id": i, **line} for i, line in enumerate(lines, 1)]


def _line(rng: random.Random, item: dict[str, Any], order_id: int) -> dict[str, Any]:
    size = rng.choice(("small", "large")) if item["large_cents"] else ""
    price = item["large_cents"] if size == "large" else item["price_cents"]
    quantity = rng.choice((1, 1, 1, 2, 2, 3))
    return {
        "order_id": order_id,
        "item_id": item["id"],
        "item": item["name"],
        "size": size,
        "extras": "",
        "quantity": quantity,
        "unit_cents": price,
    }


def _order(rng: random.Random, head: tuple[int, int, str, str], lines: Rows) -> dict[str, Any]:
    number, table_no, status, note = head
    return {
        "id": number,
        "table_no": table_no,
        "status": status,
        "note": note,
        "total_cents": sum(line["quantity"] * line["unit_cents"] for line in lines),
        "sent_at": f"{13 if status == 'paid' else 14}:{rng.randint(0, 29):02d}",
        "paid_by": rng.choice(("cash", "card")) if status == "paid" else "",
    }
