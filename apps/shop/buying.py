"""What a customer does in the store."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from ..kit.pages import money
from ..kit.store import Record, record
from ..kit.web import found
from . import queries, words
from .journal import log, me, now
from .schema import COUNTRIES, DELIVERIES, RESOLUTIONS, RETURN_REASONS
from .seed import variant_name
from .words import Denied

Form = Mapping[str, str]
MOST = 99
"""Of one variant in a cart."""
ADDRESS = ("name", "street", "city", "postal_code", "country")


def add_to_cart(db: sqlite3.Connection, product: int, form: Form) -> None:
    """Put a variant of a product into the cart."""
    sql = """SELECT v.* FROM variants v JOIN products p ON p.id = v.product_id
             WHERE p.id = ? AND p.visible AND colour = ? AND size = ?"""
    variant = record(db, sql, [product, form.get("colour", ""), form.get("size", "")])
    if variant is None:
        raise Denied("Please choose: {what}.", what="Size")
    put(db, variant["id"], words.number("Quantity", form.get("quantity", "1"), 1, MOST))


def put(db: sqlite3.Connection, variant: int, quantity: int) -> None:
    """Put so many of a variant into the cart, to those that are in it."""
    line = record(db, "SELECT * FROM cart_lines WHERE variant_id = ? AND NOT saved", [variant])
    wanted = quantity + (line["quantity"] if line else 0)
    _in_stock(db, variant, wanted)
    if line:
        db.execute("UPDATE cart_lines SET quantity = ? WHERE id = ?", [wanted, line["id"]])
    else:
        db.execute("INSERT INTO cart_lines (variant_id, quantity, saved) VALUES (?, ?, 0)", [variant, quantity])
    log(db, "customer", "cart", variant, "added to cart")


def _in_stock(db: sqlite3.Connection, variant: int, wanted: int) -> None:
    stock = db.execute("SELECT stock FROM variants WHERE id = ?", [variant]).fetchone()["stock"]
    if stock == 0:
        raise Denied("This is out of stock.")
    if wanted > stock:
        raise Denied("You asked for {wanted}, but only {stock} are in stock.", wanted=wanted, stock=stock)


def _line(db: sqlite3.Connection, form: Form) -> Record:
    return found(record(db, "SELECT * FROM cart_lines WHERE id = ?", [form.get("line", "")]))


def set_quantity(db: sqlite3.Connection, form: Form) -> None:
    """Ask for another quantity of what is in the cart."""
    line = _line(db, form)
    quantity = words.number("Quantity", form.get("quantity", ""), 1, MOST)
    _in_stock(db, line["variant_id"], quantity)
    db.execute("UPDATE cart_lines SET quantity = ? WHERE id = ?", [quantity, line["id"]])
    log(db, "customer", "cart", line["variant_id"], "changed the quantity")


def remove(db: sqlite3.Connection, form: Form) -> None:
    """Take a line from the cart, or from what is saved for later."""
    line = _line(db, form)
    db.execute("DELETE FROM cart_lines WHERE id = ?", [line["id"]])
    log(db, "customer", "cart", line["variant_id"], "removed from cart")


def save_for_later(db: sqlite3.Connection, form: Form) -> None:
    """Put a line of the cart aside, to those of the same variant."""
    _move(db, _line(db, form), 1)


def move_to_cart(db: sqlite3.Connection, form: Form) -> None:
    """Put a line that was saved for later back into the cart."""
    _move(db, _line(db, form), 0)


def _move(db: sqlite3.Connection, line: Record, saved: int) -> None:
    same = "SELECT * FROM cart_lines WHERE variant_id = ? AND saved = ? AND id != ?"
    other = record(db, same, [line["variant_id"], saved, line["id"]])
    quantity = line["quantity"] + (other["quantity"] if other else 0)
    if not saved:
        _in_stock(db, line["variant_id"], quantity)
    if other:
        db.execute("DELETE FROM cart_lines WHERE id = ?", [other["id"]])
    db.execute("UPDATE cart_lines SET saved = ?, quantity = ? WHERE id = ?", [saved, quantity, line["id"]])
    log(db, "customer", "cart", line["variant_id"], "saved for later" if saved else "moved to cart")


def use_coupon(db: sqlite3.Connection, form: Form) -> None:
    """Use a coupon for the order; one at a time."""
    code = words.line("Coupon", form.get("code", "")).upper()
    used = queries.checkout(db)["code"]
    if used:
        raise Denied("One coupon per order: remove {code} first.", code=used)
    coupon = record(db, "SELECT * FROM discounts WHERE code = ?", [code])
    check_coupon(db, coupon, code)
    db.execute("UPDATE checkout SET code = ?", [code])
    log(db, "customer", "cart", 0, "used a coupon")


def check_coupon(db: sqlite3.Connection, coupon: Record | None, code: str) -> None:
    """Refuse a coupon that is not there, not yet or no longer valid, or needs a larger order."""
    if coupon is None:
        raise Denied("There is no coupon {code}.", code=code)
    today = now(db)[:10]
    if coupon["ends_on"] and coupon["ends_on"] < today:
        raise Denied("The coupon {code} has expired.", code=code)
    if coupon["starts_on"] > today:
        raise Denied("The coupon {code} is not valid yet.", code=code)
    if queries.cart(db)["subtotal"] < coupon["minimum"]:
        raise Denied("The coupon {code} needs a subtotal of {amount}.", code=code, amount=money(coupon["minimum"]))


def drop_coupon(db: sqlite3.Connection, form: Form) -> None:
    """Do without the coupon."""
    db.execute("UPDATE checkout SET code = ''")
    log(db, "customer", "cart", 0, "removed the coupon")


# --- checkout ------------------------------------------------------------------------------------------------


def read_address(form: Form) -> list[str]:
    """Name, street, city, postal code and country of a form.

    Raises:
        Denied: One is missing, the shop does not deliver there, or the postal code is none of that country.
    """
    labels = {"name": "Full name", "street": "Street and number", "city": "City", "postal_code": "Postal code"}
    values = {key: words.line(label, form.get(key, "")) for key, label in labels.items()}
    country = words.choice("Country", form.get("country", ""), COUNTRIES)
    code = values["postal_code"].upper()
    if not re.fullmatch(COUNTRIES[country], code, re.ASCII):
        raise Denied("{code} is no postal code of this country: {country}.", code=code, country=country)
    return [values["name"], values["street"], values["city"], code, country]


def enter_address(db: sqlite3.Connection, form: Form) -> None:
    """Say where the order goes."""
    values = read_address(form)
    db.execute("UPDATE checkout SET name = ?, street = ?, city = ?, postal_code = ?, country = ?", values)


def choose_delivery(db: sqlite3.Connection, form: Form) -> None:
    """Say how the order comes."""
    method = words.choice("Delivery", form.get("delivery", ""), DELIVERIES)
    db.execute("UPDATE checkout SET delivery = ?", [method])


def enter_payment(db: sqlite3.Connection, form: Form) -> None:
    """Give a card; the shop keeps its last four digits."""
    words.line("Name on card", form.get("holder", ""))
    last = words.card(form.get("number", ""))
    words.expiry(form.get("expiry", ""), now(db))
    if not re.fullmatch(r"\d{3,4}", form.get("cvc", "").strip(), re.ASCII):
        raise Denied("The security code has three or four digits.")
    db.execute("UPDATE checkout SET card = ?", [last])


def place(db: sqlite3.Connection) -> int:
    """Place the order: the stock goes down, the cart is empty, and the draft is forgotten. Returns its number."""
    cart, draft = queries.cart(db), queries.checkout(db)
    for line in cart["lines"]:
        _in_stock(db, line["variant_id"], line["quantity"])
    if draft["code"]:
        check_coupon(db, record(db, "SELECT * FROM discounts WHERE code = ?", [draft["code"]]), draft["code"])
    row = {
        "customer_id": me(db), **{key: draft[key] for key in (*ADDRESS, "delivery", "card")},
        "subtotal": cart["subtotal"], "code": draft["code"], "discount": cart["discount"], "shipping": cart["shipping"],
        "total": cart["total"], "refunded": 0, "fulfilment": "unfulfilled", "note": "", "created_at": now(db),
    }  # fmt: skip
    order = _insert(db, "orders", row)
    for line in cart["lines"]:
        shown = variant_name(line["colour"], line["size"])
        bought = {"order_id": order, "variant_id": line["variant_id"], "title": line["title"], "variant": shown}
        _insert(db, "order_lines", {**bought, "price": line["price"], "quantity": line["quantity"]})
        db.execute("UPDATE variants SET stock = stock - ? WHERE id = ?", [line["quantity"], line["variant_id"]])
        db.execute("DELETE FROM cart_lines WHERE id = ?", [line["id"]])
    blank = ", ".join(f"{key} = ''" for key in ("code", *ADDRESS, "delivery", "card"))
    db.execute(f"UPDATE checkout SET {blank}")
    log(db, "customer", "order", order, "placed the order")
    return order


def _insert(db: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> int:
    marks = ", ".join("?" * len(row))
    added = db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values())).lastrowid
    assert added is not None  # an INSERT has one
    return added


# --- orders --------------------------------------------------------------------------------------------------


def my_order(db: sqlite3.Connection, id: Any) -> Record:
    """An order of the customer in the store.

    Raises:
        Missing: There is none of that number, or it is somebody else's.
    """
    order = queries.order(db, id)
    return found(order if order and order["customer_id"] == me(db) else None)


def cancel(db: sqlite3.Connection, id: int) -> None:
    """Cancel an order that has not been sent: the money goes back, and so do the goods."""
    order = my_order(db, id)
    if order["fulfilment"] != "unfulfilled":
        raise Denied("Only an order that has not been sent can be cancelled.")
    back = order["total"] - order["refunded"]
    db.execute("UPDATE orders SET fulfilment = 'cancelled', refunded = total WHERE id = ?", [id])
    if back:
        refund = {"order_id": id, "amount": back, "reason": "cancelled", "created_at": now(db)}
        _insert(db, "refunds", refund)
    for line in order["lines"]:
        db.execute("UPDATE variants SET stock = stock + ? WHERE id = ?", [line["quantity"], line["variant_id"]])
    log(db, "customer", "order", id, "cancelled the order")


def order_again(db: sqlite3.Connection, id: int) -> None:
    """Put everything from an order into the cart."""
    for line in my_order(db, id)["lines"]:
        put(db, line["variant_id"], line["quantity"])


def send_back(db: sqlite3.Connection, id: int, fields: Sequence[tuple[str, str]]) -> None:
    """Ask for a return of some lines of an order that has come."""
    order, form = my_order(db, id), dict(fields)
    if order["fulfilment"] != "fulfilled":
        raise Denied("Only what has been delivered can be returned.")
    chosen = {value for name, value in fields if name == "line"}
    picked = [line for line in order["lines"] if str(line["id"]) in chosen]
    if not picked:
        raise Denied("Please choose: {what}.", what="Items")
    reason = words.choice("Reason", form.get("reason", ""), RETURN_REASONS)
    resolution = words.choice("Refund or exchange", form.get("resolution", ""), RESOLUTIONS)
    for line in picked:
        quantity = words.number(
            "Quantity", form.get(f"quantity-{line['id']}", ""), 1, line["quantity"] - line["returned"]
        )
        row = {"line_id": line["id"], "quantity": quantity, "reason": reason, "resolution": resolution}
        _insert(db, "returns", {**row, "status": "requested", "created_at": now(db)})
    log(db, "customer", "order", id, "asked for a return")


# --- account -------------------------------------------------------------------------------------------------


def wish(db: sqlite3.Connection, product: int) -> None:
    """Put a product on the wish list, once."""
    found(record(db, "SELECT id FROM products WHERE id = ?", [product]))
    if not queries.is_wish(db, product):
        db.execute("INSERT INTO wishes (product_id) VALUES (?)", [product])
        log(db, "customer", "product", product, "added to the wish list")


def unwish(db: sqlite3.Connection, product: int) -> None:
    """Take a product from the wish list."""
    if db.execute("DELETE FROM wishes WHERE product_id = ?", [product]).rowcount:
        log(db, "customer", "product", product, "removed from the wish list")


def _address(db: sqlite3.Connection, form: Form) -> Record:
    sql = "SELECT * FROM addresses WHERE id = ? AND customer_id = ?"
    return found(record(db, sql, [form.get("address", ""), me(db)]))


def add_address(db: sqlite3.Connection, form: Form) -> None:
    """Add an address to the account."""
    values = dict(zip(ADDRESS, read_address(form), strict=True))
    id = _insert(db, "addresses", {"customer_id": me(db), **values, "is_default": 0})
    log(db, "customer", "address", id, "added an address")


def make_default(db: sqlite3.Connection, form: Form) -> None:
    """Let an address be the one that a checkout begins with."""
    id = _address(db, form)["id"]
    db.execute("UPDATE addresses SET is_default = (id = ?) WHERE customer_id = ?", [id, me(db)])
    log(db, "customer", "address", id, "changed the default address")


def delete_address(db: sqlite3.Connection, form: Form) -> None:
    """Delete an address that is not the default one."""
    address = _address(db, form)
    if address["is_default"]:
        raise Denied("Choose another default address first.")
    db.execute("DELETE FROM addresses WHERE id = ?", [address["id"]])
    log(db, "customer", "address", address["id"], "deleted an address")
