"""The pages of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from ..kit.numbers import number
from ..kit.store import Record
from ..kit.web import found
from . import buying, queries
from .journal import me
from .queries import Chosen
from .schema import COUNTRIES, DELIVERIES, RESOLUTIONS, RETURN_REASONS
from .site import Act, Asked, Elsewhere, Face

FILTERS = ("category", "q", "sort", "colour", "rating", "min", "max", "stock")
STEPS = {"address": "Address", "delivery": "Delivery", "payment": "Payment", "review": "Review"}


def shell(db: sqlite3.Connection) -> dict[str, Any]:
    """What the head of every page of the store shows."""
    return {
        "categories": queries.categories(db),
        "cart": queries.cart(db),
        "customer": found(queries.customer(db, me(db))),
        "chosen": Chosen("/products", {}, *FILTERS),
    }


def add_pages(face: Face) -> None:
    """The pages that a customer sees."""
    face.page("/", "store/home.html", _home)
    face.page("/products", "store/shelf.html", _shelf)
    face.page("/products/{id:int}", "store/product.html", _product, _PRODUCT)
    face.page("/cart", "store/cart.html", _cart, _CART)
    face.page("/checkout/address", "store/address.html", _address, {"": _enter_address})
    face.page("/checkout/delivery", "store/delivery.html", _delivery, {"": _choose_delivery})
    face.page("/checkout/payment", "store/payment.html", _payment, {"": _enter_payment})
    face.page("/checkout/review", "store/review.html", _review, {"": _place})
    face.page(
        "/account/orders", "store/orders.html", lambda asked: {"orders": queries.orders_of(asked.db, me(asked.db))}
    )
    face.page("/account/orders/{id:int}", "store/order.html", _order, _ORDER)
    face.page("/account/orders/{id:int}/thanks", "store/thanks.html", _order)
    face.page("/account/orders/{id:int}/return", "store/return.html", _return, {"": _send_back})
    face.page(
        "/account/wishes",
        "store/wishes.html",
        lambda asked: {"wishes": queries.wishes(asked.db)},
        {"unwish": _unwish_listed},
    )
    face.page("/account/addresses", "store/addresses.html", _addresses, _ADDRESSES)


def _home(asked: Asked) -> dict[str, Any]:
    return {"best": queries.best(asked.db, 4), "reduced": queries.reduced(asked.db, 4)}


def _shelf(asked: Asked) -> dict[str, Any]:
    chosen = Chosen("/products", asked.query, *FILTERS)
    names = {str(each["id"]): each["name"] for each in queries.categories(asked.db)}
    return {
        "chosen": chosen,
        "page": queries.shelf(asked.db, chosen, asked.query),
        "heading": names.get(chosen["category"], ""),
        "colours": queries.colours(asked.db),
        "sorts": {key: title for key, (title, _) in queries.SORTS.items()},
    }


def _product(asked: Asked) -> dict[str, Any]:
    product = found(queries.product(asked.db, asked.id))
    if not product["visible"]:
        found(None)
    wanted = {**asked.query, **asked.form}
    colours = list(dict.fromkeys(each["colour"] for each in product["variants"]))
    colour = wanted.get("colour") if wanted.get("colour") in colours else colours[0]
    variants = [each for each in product["variants"] if each["colour"] == colour]
    named = [each for each in variants if each["size"] == wanted.get("size")]
    variant = named[0] if named else variants[0] if len(variants) == 1 else None
    reviews = queries.reviews(asked.db, asked.id)
    return {
        "product": product, "all_colours": colours, "colour": colour, "sizes": variants, "variant": variant,
        "reviews": reviews, "wished": queries.is_wish(asked.db, asked.id),
        "stars_count": {n: sum(review["rating"] == n for review in reviews) for n in range(5, 0, -1)},
    }  # fmt: skip


def _add(asked: Asked) -> tuple[str, str]:
    buying.add_to_cart(asked.db, asked.id, asked.form)
    return "/cart", "Added to cart"


def _wish(asked: Asked) -> tuple[str, str]:
    buying.wish(asked.db, asked.id)
    return f"/products/{asked.id}", "Added to your wish list"


def _unwish(asked: Asked) -> tuple[str, str]:
    buying.unwish(asked.db, asked.id)
    return f"/products/{asked.id}", "Removed from your wish list"


def _unwish_listed(asked: Asked) -> tuple[str, str]:
    buying.unwish(asked.db, number(asked.form["product"]))
    return "/account/wishes", "Removed from your wish list"


_PRODUCT: dict[str, Act] = {"add": _add, "wish": _wish, "unwish": _unwish}


# --- cart and checkout ---------------------------------------------------------------------------------------


def _cart(asked: Asked) -> dict[str, Any]:
    return {"place": "cart"}


def _on_cart(change: Callable[[sqlite3.Connection, Mapping[str, str]], None], said: str) -> Act:
    def act(asked: Asked) -> tuple[str, str]:
        change(asked.db, asked.form)
        return "/cart", said

    return act


_CART: dict[str, Act] = {
    "quantity": _on_cart(buying.set_quantity, "Quantity saved"),
    "remove": _on_cart(buying.remove, "Removed from cart"),
    "save": _on_cart(buying.save_for_later, "Saved for later"),
    "move": _on_cart(buying.move_to_cart, "Moved to cart"),
    "coupon": _on_cart(buying.use_coupon, "Coupon applied"),
    "drop": _on_cart(buying.drop_coupon, "Coupon removed"),
}


def _step(asked: Asked, step: str) -> dict[str, Any]:
    """What a step of the checkout shows; it comes after all steps before it."""
    draft = queries.checkout(asked.db)
    if not queries.cart(asked.db)["lines"]:
        raise Elsewhere("/cart")
    for before, needed in (("address", "street"), ("delivery", "delivery"), ("payment", "card")):
        if before == step:
            break
        if not draft[needed]:
            raise Elsewhere(f"/checkout/{before}")
    return {"step": step, "steps": STEPS, "draft": draft, "countries": list(COUNTRIES), "deliveries": DELIVERIES}


def _address(asked: Asked) -> dict[str, Any]:
    told = _step(asked, "address")
    known = queries.addresses(asked.db, me(asked.db))
    default = next((each for each in known if each["is_default"]), told["draft"])
    wanted = next((each for each in known if str(each["id"]) == asked.query.get("address")), None)
    entered = wanted or (told["draft"] if told["draft"]["street"] else default)
    return {**told, "known": known, "entered": {**entered, **asked.form}}


def _enter_address(asked: Asked) -> tuple[str, str]:
    buying.enter_address(asked.db, asked.form)
    return "/checkout/delivery", ""


def _delivery(asked: Asked) -> dict[str, Any]:
    cart = queries.cart(asked.db)
    left = cart["subtotal"] - cart["discount"]
    return {**_step(asked, "delivery"), "prices": {key: queries.delivery_price(key, left) for key in DELIVERIES}}


def _choose_delivery(asked: Asked) -> tuple[str, str]:
    buying.choose_delivery(asked.db, asked.form)
    return "/checkout/payment", ""


def _payment(asked: Asked) -> dict[str, Any]:
    return _step(asked, "payment")


def _enter_payment(asked: Asked) -> tuple[str, str]:
    buying.enter_payment(asked.db, asked.form)
    return "/checkout/review", ""


def _review(asked: Asked) -> dict[str, Any]:
    return _step(asked, "review")


def _place(asked: Asked) -> tuple[str, str]:
    _step(asked, "review")
    return f"/account/orders/{buying.place(asked.db)}/thanks", "Order placed"


# --- account -------------------------------------------------------------------------------------------------


def _order(asked: Asked) -> dict[str, Any]:
    return {"order": buying.my_order(asked.db, asked.id), "deliveries": DELIVERIES}


def _cancel(asked: Asked) -> tuple[str, str]:
    buying.cancel(asked.db, asked.id)
    return f"/account/orders/{asked.id}", "Order cancelled"


def _again(asked: Asked) -> tuple[str, str]:
    buying.order_again(asked.db, asked.id)
    return "/cart", "Added to cart"


_ORDER: dict[str, Act] = {"cancel": _cancel, "again": _again}


def _return(asked: Asked) -> dict[str, Any]:
    order: Record = buying.my_order(asked.db, asked.id)
    if order["fulfilment"] != "fulfilled":
        raise Elsewhere(f"/account/orders/{asked.id}")
    lines = {value for name, value in asked.fields if name == "line"}
    return {"order": order, "reasons": RETURN_REASONS, "resolutions": RESOLUTIONS, "picked": lines}


def _send_back(asked: Asked) -> tuple[str, str]:
    buying.send_back(asked.db, asked.id, asked.fields)
    return f"/account/orders/{asked.id}", "Return requested"


def _addresses(asked: Asked) -> dict[str, Any]:
    return {"addresses": queries.addresses(asked.db, me(asked.db)), "countries": list(COUNTRIES)}


def _on_addresses(change: Callable[[sqlite3.Connection, Mapping[str, str]], None], said: str) -> Act:
    def act(asked: Asked) -> tuple[str, str]:
        change(asked.db, asked.form)
        return "/account/addresses", said

    return act


_ADDRESSES: dict[str, Act] = {
    "add": _on_addresses(buying.add_address, "Address saved"),
    "default": _on_addresses(buying.make_default, "Default address saved"),
    "delete": _on_addresses(buying.delete_address, "Address deleted"),
}
