"""What the shop knows: goods, carts, orders, customers."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from ..kit.store import Page, Record, like, page_number, paged, record, records
from .looks import CARDS, PAGE_SIZE
from .schema import DELIVERIES, FREE_FROM, LOW_STOCK

SORTS = {
    "featured": ("Featured", "p.id"),
    "price": ("Price: low to high", "price, p.id"),
    "price-down": ("Price: high to low", "price DESC, p.id"),
    "rating": ("Best rated", "coalesce(rating, 0) DESC, ratings DESC, p.id"),
    "newest": ("Newest", "p.created_on DESC, p.id DESC"),
    "title": ("Name", "p.title, p.id"),
}
_GOODS = """
SELECT p.*, c.name AS category, v.price, v.dearest, v.stock, v.colour, v.colours, r.rating, coalesce(r.ratings, 0) AS ratings
FROM products p JOIN categories c ON c.id = p.category_id
JOIN (SELECT product_id, min(price) AS price, max(price) AS dearest, sum(stock) AS stock, min(colour) AS colour,
      count(DISTINCT colour) AS colours, min(id) FROM variants GROUP BY product_id) v ON v.product_id = p.id
LEFT JOIN (SELECT product_id, round(avg(rating), 1) AS rating, count(*) AS ratings FROM reviews GROUP BY product_id) r
ON r.product_id = p.id"""
_PAYMENT = "CASE WHEN o.refunded = 0 THEN 'paid' WHEN o.refunded < o.total THEN 'partly refunded' ELSE 'refunded' END"
_ORDERS = f"""
SELECT o.*, c.name AS customer, c.email, c.phone, c.company, {_PAYMENT} AS payment,
  (SELECT group_concat(tag, ', ') FROM (SELECT tag FROM order_tags WHERE order_id = o.id ORDER BY id)) AS tags,
  (SELECT sum(quantity) FROM order_lines WHERE order_id = o.id) AS items
FROM orders o JOIN customers c ON c.id = o.customer_id"""
ORDER_SORTS = {
    "number": "o.id",
    "date": "o.created_at",
    "customer": "c.name",
    "payment": "payment",
    "fulfilment": "o.fulfilment",
    "total": "o.total",
    "tags": "tags",
}


class Chosen(dict[str, str]):
    """What a list is narrowed to and how it is sorted, as its address says; missing entries are empty."""

    def __init__(self, path: str, query: Mapping[str, str], *names: str):
        super().__init__({name: query.get(name, "").strip() for name in names})
        self.path = path

    def url(self, **other: Any) -> str:
        """The address of the same list with other entries; from its first page, unless `page` is given."""
        query = {name: value for name, value in {**self, **other}.items() if value not in ("", None)}
        return f"{self.path}?{urlencode(query)}" if query else self.path

    @property
    def narrowed(self) -> bool:
        """Whether anything but the order is chosen."""
        return any(value for name, value in self.items() if name not in ("sort", "dir"))


# --- goods ---------------------------------------------------------------------------------------------------


def categories(db: sqlite3.Connection) -> list[Record]:
    """All categories in the shop's order, with the number of products in the store."""
    sql = """SELECT c.*, count(p.id) AS products, min(p.picture) AS picture FROM categories c
             LEFT JOIN products p ON p.category_id = c.id AND p.visible GROUP BY c.id ORDER BY c.position"""
    return records(db, sql)


def shelf(db: sqlite3.Connection, chosen: Chosen, query: Mapping[str, str]) -> Page:
    """What the store shows of its products."""
    parts: list[str] = ["p.visible"]
    values: list[Any] = []
    for name, part in (("category", "p.category_id = ?"), ("rating", "rating >= ?")):
        if chosen[name]:
            parts.append(part)
            values.append(_number(chosen[name]))
    if chosen["colour"]:
        parts.append("EXISTS (SELECT 1 FROM variants x WHERE x.product_id = p.id AND x.colour = ?)")
        values.append(chosen["colour"])
    for name, sign in (("min", ">="), ("max", "<=")):
        if chosen[name]:
            parts.append(f"v.price {sign} ?")
            values.append(_number(chosen[name]) * 100)
    if chosen["stock"]:
        parts.append("v.stock > 0")
    if chosen["q"]:
        parts.append("(p.title LIKE ? ESCAPE '\\' OR p.description LIKE ? ESCAPE '\\')")
        values += [like(chosen["q"])] * 2
    order = SORTS.get(chosen["sort"], SORTS["featured"])[1]
    return paged(db, f"{_GOODS} WHERE {' AND '.join(parts)} ORDER BY {order}", values, page_number(query), CARDS)


def best(db: sqlite3.Connection, count: int) -> list[Record]:
    """The best rated products."""
    return records(
        db, f"{_GOODS} WHERE p.visible AND v.stock > 0 ORDER BY rating DESC, ratings DESC, p.id LIMIT ?", [count]
    )


def reduced(db: sqlite3.Connection, count: int) -> list[Record]:
    """Products that cost less than they did."""
    sql = f"{_GOODS} WHERE p.visible AND v.stock > 0 AND p.compare_at > v.price ORDER BY p.compare_at - v.price DESC LIMIT ?"
    return records(db, sql, [count])


def colours(db: sqlite3.Connection) -> list[str]:
    """Every colour in the store, by name."""
    sql = "SELECT DISTINCT colour FROM variants JOIN products p ON p.id = product_id WHERE p.visible ORDER BY colour"
    return [row["colour"] for row in db.execute(sql)]


def product(db: sqlite3.Connection, id: Any) -> Record | None:
    """A product with its variants; None if there is no such product."""
    found = record(db, f"{_GOODS} WHERE p.id = ?", [id])
    if found is not None:
        found["variants"] = records(db, "SELECT * FROM variants WHERE product_id = ? ORDER BY id", [id])
    return found


def reviews(db: sqlite3.Connection, product: Any) -> list[Record]:
    """Reviews of a product, newest first."""
    return records(db, "SELECT * FROM reviews WHERE product_id = ? ORDER BY written_on DESC, id DESC", [product])


def wishes(db: sqlite3.Connection) -> list[Record]:
    """The customer's wish list, newest first."""
    return records(db, f"{_GOODS} JOIN wishes w ON w.product_id = p.id ORDER BY w.id DESC")


def is_wish(db: sqlite3.Connection, product: Any) -> bool:
    """Whether a product is on the wish list."""
    return db.execute("SELECT 1 FROM wishes WHERE product_id = ?", [product]).fetchone() is not None


# --- cart and checkout ---------------------------------------------------------------------------------------


def cart(db: sqlite3.Connection) -> Record:
    """The cart: `lines`, what is `saved` for later, the coupon, and the sums in cents."""
    sql = """SELECT l.*, v.colour, v.size, v.price, v.stock, p.title, p.picture, v.product_id
             FROM cart_lines l JOIN variants v ON v.id = l.variant_id JOIN products p ON p.id = v.product_id ORDER BY l.id"""
    all_lines = records(db, sql)
    lines = [line for line in all_lines if not line["saved"]]
    saved = [line for line in all_lines if line["saved"]]
    draft = checkout(db)
    subtotal = sum(line["price"] * line["quantity"] for line in lines)
    discount = record(db, "SELECT * FROM discounts WHERE code = ?", [draft["code"]]) if draft["code"] else None
    off = worth(discount, subtotal)
    shipping = delivery_price(draft["delivery"], subtotal - off) if draft["delivery"] else None
    return {
        "lines": lines,
        "saved": saved,
        "count": sum(line["quantity"] for line in lines),
        "code": draft["code"],
        "subtotal": subtotal,
        "discount": off,
        "shipping": shipping,
        "total": subtotal - off + (shipping or 0),
    }


def worth(discount: Record | None, subtotal: int) -> int:
    """What a discount takes off, cents: nothing below its minimum."""
    if discount is None or subtotal < discount["minimum"]:
        return 0
    if discount["kind"] == "fixed":
        return int(min(subtotal, discount["value"]))
    return int(subtotal * discount["value"] // 100)


def delivery_price(method: str, subtotal: int) -> int:
    """What a delivery costs, cents."""
    return 0 if method == "standard" and subtotal >= FREE_FROM else DELIVERIES[method][1]


def checkout(db: sqlite3.Connection) -> Record:
    """What the customer has entered so far."""
    found = record(db, "SELECT * FROM checkout WHERE id = 1")
    assert found is not None  # the seed makes it
    return found


def addresses(db: sqlite3.Connection, customer: Any) -> list[Record]:
    """A customer's addresses, in the order in which they were added."""
    return records(db, "SELECT * FROM addresses WHERE customer_id = ? ORDER BY id", [customer])


# --- orders --------------------------------------------------------------------------------------------------


def orders_of(db: sqlite3.Connection, customer: Any) -> list[Record]:
    """A customer's orders, newest first, each with its lines."""
    found = records(db, f"{_ORDERS} WHERE o.customer_id = ? ORDER BY o.id DESC", [customer])
    for each in found:
        each["lines"] = lines(db, each["id"])
    return found


def order(db: sqlite3.Connection, id: Any) -> Record | None:
    """An order with its lines, tags, refunds and returns; None if there is no such order."""
    found = record(db, f"{_ORDERS} WHERE o.id = ?", [id])
    if found is None:
        return None
    found["lines"] = lines(db, id)
    found["tag_list"] = [
        row["tag"] for row in db.execute("SELECT tag FROM order_tags WHERE order_id = ? ORDER BY id", [id])
    ]
    found["refunds"] = records(db, "SELECT * FROM refunds WHERE order_id = ? ORDER BY id", [id])
    sql = "SELECT r.*, l.title, l.variant FROM returns r JOIN order_lines l ON l.id = r.line_id WHERE l.order_id = ? ORDER BY r.id"
    found["returns"] = records(db, sql, [id])
    found["events"] = events(db, "order", id)
    return found


def lines(db: sqlite3.Connection, order: Any) -> list[Record]:
    """What was ordered; `returned` is how many of it were sent back."""
    sql = """SELECT l.*, p.picture, v.colour, v.product_id,
                    coalesce((SELECT sum(quantity) FROM returns WHERE line_id = l.id), 0) AS returned
             FROM order_lines l JOIN variants v ON v.id = l.variant_id JOIN products p ON p.id = v.product_id
             WHERE l.order_id = ? ORDER BY l.id"""
    return records(db, sql, [order])


def _order_list(chosen: Chosen) -> tuple[str, list[Any]]:
    parts: list[str] = ["1"]
    values: list[Any] = []
    for name, part in (
        ("fulfilment", "o.fulfilment = ?"),
        ("payment", f"{_PAYMENT} = ?"),
        ("tag", "EXISTS (SELECT 1 FROM order_tags g WHERE g.order_id = o.id AND g.tag = ?)"),
    ):
        if chosen[name]:
            parts.append(part)
            values.append(chosen[name])
    if chosen["q"]:
        parts.append(
            "(o.id = ? OR c.name LIKE ? ESCAPE '\\' OR c.email LIKE ? ESCAPE '\\' OR c.company LIKE ? ESCAPE '\\')"
        )
        values += [chosen["q"].lstrip("#"), *[like(chosen["q"])] * 3]
    sort = ORDER_SORTS.get(chosen["sort"], "o.id")
    down = "" if chosen["dir"] == "asc" else "DESC"
    return f"{_ORDERS} WHERE {' AND '.join(parts)} ORDER BY {sort} {down}, o.id DESC", values


def orders(db: sqlite3.Connection, chosen: Chosen, query: Mapping[str, str], density: str) -> Page:
    """A page of the back office's list of orders."""
    return paged(db, *_order_list(chosen), page_number(query), PAGE_SIZE[density])


def all_orders(db: sqlite3.Connection, chosen: Chosen) -> list[Record]:
    """All orders of a list, for a file."""
    return records(db, *_order_list(chosen))


def tags(db: sqlite3.Connection) -> list[str]:
    """Every tag in use, by name."""
    return [row["tag"] for row in db.execute("SELECT DISTINCT tag FROM order_tags ORDER BY tag")]


# --- back office ---------------------------------------------------------------------------------------------


def goods(db: sqlite3.Connection, chosen: Chosen, query: Mapping[str, str], density: str) -> Page:
    """A page of the back office's list of products."""
    parts: list[str] = ["1"]
    values: list[Any] = []
    if chosen["category"]:
        parts.append("p.category_id = ?")
        values.append(chosen["category"])
    if chosen["visibility"]:
        parts.append("p.visible = ?")
        values.append("1" if chosen["visibility"] == "visible" else "0")
    if chosen["q"]:
        parts.append("p.title LIKE ? ESCAPE '\\'")
        values.append(like(chosen["q"]))
    sql = f"{_GOODS} WHERE {' AND '.join(parts)} ORDER BY p.title, p.id"
    return paged(db, sql, values, page_number(query), PAGE_SIZE[density] - 1)


def inventory(db: sqlite3.Connection, chosen: Chosen, query: Mapping[str, str], density: str) -> Page:
    """A page of the variants and their stock."""
    parts: list[str] = ["1"]
    values: list[Any] = []
    if chosen["low"]:
        parts.append(f"v.stock <= {LOW_STOCK}")
    if chosen["q"]:
        parts.append("(p.title LIKE ? ESCAPE '\\' OR v.sku LIKE ? ESCAPE '\\')")
        values += [like(chosen["q"])] * 2
    order = "v.stock, v.id" if chosen["low"] else "p.title, v.id"
    sql = f"""SELECT v.*, p.title, p.picture FROM variants v JOIN products p ON p.id = v.product_id
              WHERE {" AND ".join(parts)} ORDER BY {order}"""
    return paged(db, sql, values, page_number(query), PAGE_SIZE[density])


def variant(db: sqlite3.Connection, id: Any) -> Record | None:
    """A variant, its product's title and the corrections of its stock; None if there is no such variant."""
    sql = "SELECT v.*, p.title, p.picture FROM variants v JOIN products p ON p.id = v.product_id WHERE v.id = ?"
    found = record(db, sql, [id])
    if found is not None:
        sql = "SELECT * FROM adjustments WHERE variant_id = ? ORDER BY id DESC LIMIT 8"
        found["adjustments"] = records(db, sql, [id])
    return found


def discounts(db: sqlite3.Connection, today: str) -> list[Record]:
    """All discounts by code, with their state on a day: active, scheduled or expired."""
    sql = """SELECT *, CASE WHEN ends_on < ? THEN 'expired' WHEN starts_on > ? THEN 'scheduled' ELSE 'active' END AS state
             FROM discounts ORDER BY code"""
    return records(db, sql, [today, today])


def customers(db: sqlite3.Connection, chosen: Chosen, query: Mapping[str, str], density: str) -> Page:
    """A page of the customers by name, with how many orders they have placed and what they have paid for them."""
    sql = """SELECT c.*, count(o.id) AS orders, coalesce(sum(o.total - o.refunded), 0) AS spent
             FROM customers c LEFT JOIN orders o ON o.customer_id = c.id
             WHERE c.name LIKE ? ESCAPE '\\' OR c.email LIKE ? ESCAPE '\\' OR c.company LIKE ? ESCAPE '\\'
             GROUP BY c.id ORDER BY c.name"""
    return paged(db, sql, [like(chosen["q"])] * 3, page_number(query), PAGE_SIZE[density])


def customer(db: sqlite3.Connection, id: Any) -> Record | None:
    """A customer; None if there is no such customer."""
    return record(db, "SELECT * FROM customers WHERE id = ?", [id])


def overview(db: sqlite3.Connection, today: str) -> Record:
    """The numbers of the back office's first page, and what was sold on each of the last fourteen days."""
    day = "date(created_at) > date(?, '-14 days')"
    sql = f"""SELECT count(*) AS orders, coalesce(sum(total - refunded), 0) AS sales,
                     (SELECT count(*) FROM orders WHERE fulfilment = 'unfulfilled') AS waiting,
                     (SELECT count(*) FROM variants WHERE stock <= {LOW_STOCK}) AS low FROM orders WHERE {day}"""
    numbers = record(db, sql, [today])
    assert numbers is not None  # an aggregate has one row
    sql = f"SELECT date(created_at) AS day, sum(total - refunded) AS sales FROM orders WHERE {day} GROUP BY 1"
    sold = {row["day"]: row["sales"] for row in db.execute(sql, [today])}
    days = [row[0] for row in db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 13 UNION ALL SELECT i - 1 FROM n WHERE i > 0) SELECT date(?, '-' || i || ' days') FROM n", [today])]  # fmt: skip
    newest = records(db, f"{_ORDERS} WHERE o.fulfilment = 'unfulfilled' ORDER BY o.id LIMIT 6")
    return {**numbers, "days": [(day, sold.get(day, 0)) for day in days], "oldest": newest}


def events(db: sqlite3.Connection, subject: str, id: Any) -> list[Record]:
    """The last things that were done to a record."""
    sql = "SELECT * FROM events WHERE subject = ? AND subject_id = ? ORDER BY id DESC LIMIT 5"
    return records(db, sql, [subject, id])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
