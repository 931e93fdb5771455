"""What the staff does in the back office."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence

from ..kit.numbers import number
from ..kit.store import Record, record
from ..kit.web import found
from . import queries, words
from .journal import log, now
from .schema import STOCK_REASONS
from .words import Denied

Form = Mapping[str, str]
MOST_STOCK = 99_999


# --- orders --------------------------------------------------------------------------------------------------


def _order(db: sqlite3.Connection, id: int) -> Record:
    return found(queries.order(db, id))


def fulfil(db: sqlite3.Connection, id: int) -> None:
    """Say that an order has been sent."""
    if _order(db, id)["fulfilment"] != "unfulfilled":
        raise Denied("Order {id} is not waiting to be sent.", id=f"#{id}")
    db.execute("UPDATE orders SET fulfilment = 'fulfilled' WHERE id = ?", [id])
    log(db, "staff", "order", id, "fulfilled the order")


def fulfil_many(db: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Say that several orders have been sent; all of them or none."""
    if not ids:
        raise Denied("Please choose: {what}.", what="Orders")
    for id in ids:
        fulfil(db, id)


def refund(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Give money back, at most what is left of the order's total."""
    order = _order(db, id)
    amount = words.cents("Amount", form.get("amount", ""))
    reason = words.line("Reason", form.get("reason", ""))
    left = order["total"] - order["refunded"]
    if amount == 0 or amount > left:
        raise Denied("The amount must be more than 0 and at most {left}.", left=f"${left / 100:,.2f}")
    db.execute("UPDATE orders SET refunded = refunded + ? WHERE id = ?", [amount, id])
    sql = "INSERT INTO refunds (order_id, amount, reason, created_at) VALUES (?, ?, ?, ?)"
    db.execute(sql, [id, amount, reason, now(db)])
    log(db, "staff", "order", id, "refunded money")


def note(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Write an order's note."""
    _order(db, id)
    db.execute("UPDATE orders SET note = ? WHERE id = ?", [words.body("Note", form.get("note", "")), id])
    log(db, "staff", "order", id, "changed the note")


def add_tag(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Put a tag on an order; tags are lower case."""
    tag = words.line("Tag", form.get("tag", "")).lower()
    if not re.fullmatch(r"[\w -]{1,30}", tag):
        raise Denied("A tag has 1 to 30 letters, digits, spaces and hyphens.")
    if tag in _order(db, id)["tag_list"]:
        raise Denied("The order has the tag {tag} already.", tag=tag)
    db.execute("INSERT INTO order_tags (order_id, tag) VALUES (?, ?)", [id, tag])
    log(db, "staff", "order", id, "added a tag")


def remove_tag(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Take a tag from an order."""
    if db.execute("DELETE FROM order_tags WHERE order_id = ? AND tag = ?", [id, form.get("tag", "")]).rowcount:
        log(db, "staff", "order", id, "removed a tag")


def settle_return(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Accept or refuse a return that was asked for."""
    sql = """SELECT r.* FROM returns r JOIN order_lines l ON l.id = r.line_id WHERE r.id = ? AND l.order_id = ?"""
    wanted = found(record(db, sql, [form.get("return", ""), id]))
    status = words.choice("Status", form.get("status", ""), ("accepted", "refused"))
    db.execute("UPDATE returns SET status = ? WHERE id = ?", [status, wanted["id"]])
    log(db, "staff", "order", id, "decided on a return")


# --- products ------------------------------------------------------------------------------------------------


def edit_product(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Change a product, and price and stock of its variants."""
    product = found(queries.product(db, id))
    compare = form.get("compare_at", "").strip()
    new = {
        "title": words.line("Title", form.get("title", "")),
        "description": words.body("Description", form.get("description", "")),
        "compare_at": words.price("Compare-at price", compare) if compare else None,
        "visible": int(words.choice("Visibility", form.get("visible", ""), ("0", "1"))),
    }
    db.execute(
        "UPDATE products SET title = ?, description = ?, compare_at = ?, visible = ? WHERE id = ?", [*new.values(), id]
    )
    for variant in product["variants"]:
        price = words.price("Price", form.get(f"price-{variant['id']}", ""))
        stock = words.number("Stock", form.get(f"stock-{variant['id']}", ""), 0, MOST_STOCK)
        db.execute("UPDATE variants SET price = ?, stock = ? WHERE id = ?", [price, stock, variant["id"]])
    log(db, "staff", "product", id, "changed the product")


def change_prices(db: sqlite3.Connection, form: Form) -> None:
    """Raise or lower the prices of a category, or of all, by a percentage; to whole cents."""
    percent = words.number("Percent", form.get("percent", ""), 1, 90)
    sign = 1 if words.choice("Raise or lower", form.get("direction", ""), ("raise", "lower")) == "raise" else -1
    category = form.get("category", "")
    id = number(category)
    if category != "all":
        found(record(db, "SELECT id FROM categories WHERE id = ?", [id]))
    sql = """UPDATE variants SET price = CAST(round(price * ? / 100.0) AS INTEGER)
             WHERE ? = 'all' OR product_id IN (SELECT id FROM products WHERE category_id = ?)"""
    db.execute(sql, [100 + sign * percent, category, id])
    lowest, highest = db.execute("SELECT min(price), max(price) FROM variants").fetchone()
    if lowest < 1 or highest > words.MAX_PRICE:
        raise Denied("{what}: a price is from $0.01 to $1,000,000.00.", what="Price")
    log(db, "staff", "category", id, "changed prices")


def adjust(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Correct the stock of a variant by an amount, for a reason."""
    variant = found(queries.variant(db, id))
    delta = words.number("Adjust by", form.get("delta", ""), -MOST_STOCK, MOST_STOCK)
    reason = words.choice("Reason", form.get("reason", ""), STOCK_REASONS)
    if delta == 0:
        raise Denied("The stock would not change.")
    if variant["stock"] + delta < 0:
        raise Denied(
            "There are only {stock} in stock; {delta} would leave less than none.", stock=variant["stock"], delta=delta
        )
    db.execute("UPDATE variants SET stock = stock + ? WHERE id = ?", [delta, id])
    sql = "INSERT INTO adjustments (variant_id, delta, reason, created_at) VALUES (?, ?, ?, ?)"
    db.execute(sql, [id, delta, reason, now(db)])
    log(db, "staff", "variant", id, "adjusted the stock")


def move_category(db: sqlite3.Connection, form: Form) -> None:
    """Move a category up or down by one place."""
    category = found(record(db, "SELECT * FROM categories WHERE id = ?", [number(form.get("category", ""))]))
    place = category["position"]
    to = place + (-1 if form.get("act") == "up" else 1)
    other = record(db, "SELECT * FROM categories WHERE position = ?", [to])
    if other is None:
        raise Denied("It is at the end already.")
    db.execute("UPDATE categories SET position = ? WHERE id = ?", [place, other["id"]])
    db.execute("UPDATE categories SET position = ? WHERE id = ?", [to, category["id"]])
    log(db, "staff", "category", category["id"], "moved the category")


# --- discounts and customers ---------------------------------------------------------------------------------


def _discount(db: sqlite3.Connection, form: Form, own: int = 0) -> list[str | int | None]:
    code = words.line("Code", form.get("code", "")).upper()
    if not re.fullmatch(r"[A-Z0-9-]{3,20}", code):
        raise Denied("A code has 3 to 20 letters, digits and hyphens.")
    if record(db, "SELECT id FROM discounts WHERE code = ? AND id != ?", [code, own]):
        raise Denied("There is a discount {code} already.", code=code)
    kind = words.choice("Type", form.get("kind", ""), ("percent", "fixed"))
    text = form.get("value", "")
    value = words.number("Value", text, 1, 100) if kind == "percent" else words.cents("Value", text)
    least = form.get("minimum", "").strip()
    minimum = words.cents("Minimum purchase", least) if least else 0
    starts = words.day("Starts on", form.get("starts_on", ""))
    ends = words.day("Ends on", form["ends_on"]) if form.get("ends_on", "").strip() else None
    if ends and ends < starts:
        raise Denied("The discount would end before it starts.")
    return [code, kind, value, minimum, starts, ends]


def create_discount(db: sqlite3.Connection, form: Form) -> None:
    """Add a discount."""
    sql = "INSERT INTO discounts (code, kind, value, minimum, starts_on, ends_on) VALUES (?, ?, ?, ?, ?, ?)"
    id = db.execute(sql, _discount(db, form)).lastrowid
    log(db, "staff", "discount", id or 0, "created the discount")


def edit_discount(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Change a discount."""
    found(record(db, "SELECT id FROM discounts WHERE id = ?", [id]))
    sql = "UPDATE discounts SET code = ?, kind = ?, value = ?, minimum = ?, starts_on = ?, ends_on = ? WHERE id = ?"
    db.execute(sql, [*_discount(db, form, id), id])
    log(db, "staff", "discount", id, "changed the discount")


def delete_discount(db: sqlite3.Connection, id: int) -> None:
    """Delete a discount."""
    db.execute("DELETE FROM discounts WHERE id = ?", [id])
    log(db, "staff", "discount", id, "deleted the discount")


def customer_note(db: sqlite3.Connection, id: int, form: Form) -> None:
    """Write the note on a customer."""
    found(queries.customer(db, id))
    db.execute("UPDATE customers SET note = ? WHERE id = ?", [words.body("Note", form.get("note", "")), id])
    log(db, "staff", "customer", id, "changed the note")
