"""Ordering what is in the cart, and what becomes of orders: in the store."""

from __future__ import annotations

from collections import Counter
from typing import Any

from uigym.apps.shop.queries import delivery_price, worth
from uigym.apps.shop.schema import DELIVERIES
from uigym.harnesses.shop.cart import valid_codes
from uigym.harnesses.shop.product import SHOP, Page, Params, asked, enter, found, in_cart, me, my_orders, open_order
from uigym.params import computed, one_from, one_of
from uigym.types import Row, State
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import Change, added, changed, removed, unchanged
from uigym.verify import Verifier, all_of

CARDS = (
    "4242 4242 4242 4242",
    "5555 5555 5555 4444",
    "4111 1111 1111 1111",
    "4000 0566 5566 5556",
    "2223 0031 2200 3222",
)
SENT = [method for method in DELIVERIES if method != "pickup"]
"""Delivery methods that bring the goods to an address."""
ADDRESS = ("name", "street", "city", "postal_code", "country")
PLACES = (
    ["Hamburg", "20095", "Germany"],
    ["Aarhus", "8000", "Denmark"],
    ["Marseille", "13002", "France"],
    ["Valencia", "46001", "Spain"],
    ["Chicago", "60614", "United States"],
    ["Bergen", "5003", "Norway"],
)


def addresses(state: State, params: Params) -> list[Row]:
    """The customer's addresses, of which one is the default, each of its own street."""
    return found(state, "addresses", customer_id=me(state))


def others(state: State, params: Params) -> list[Row]:
    """Those that are not the default one."""
    return [row for row in addresses(state, params) if not row["is_default"]]


def placed(state: State, address: Row, delivery: str, card: str, code: str = "") -> Row:
    """The order that comes of the cart, with its `lines`."""
    lines = in_cart(state)
    subtotal = sum(line["price"] * line["quantity"] for line in lines)
    off = worth(found(state, "discounts", code=code)[0], subtotal) if code else 0
    shipping = delivery_price(delivery, subtotal - off)
    return {
        **{key: address[key] for key in ADDRESS}, "id": max(row["id"] for row in state.tables["orders"]) + 1,
        "customer_id": me(state), "delivery": delivery, "card": card[-4:], "code": code, "subtotal": subtotal, "discount": off,
        "shipping": shipping, "total": subtotal - off + shipping, "refunded": 0, "fulfilment": "unfulfilled", "note": "",
        "lines": lines,
    }  # fmt: skip


def placing(order: Row) -> list[Change]:
    """What placing that order changes: the order, its lines, the stock, the cart."""
    lines = order["lines"]
    columns = {key: value for key, value in order.items() if key != "lines"}
    bought = [
        {"order_id": order["id"], "variant_id": line["id"], "quantity": line["quantity"], "price": line["price"]}
        for line in lines
    ]
    return [
        added("orders", **columns),
        added("order_lines", *bought),
        *(changed("variants", key=line["id"], stock=line["stock"] - line["quantity"]) for line in lines),
        removed("cart_lines", *({"id": line["line"]} for line in lines)),
    ]


async def pay(page: Page, delivery: str, card: str, holder: str) -> None:
    """From the step of the delivery to the end."""
    await page.locator(f"[name=delivery][value={delivery}]").click()
    await page.get_by_test_id("continue").click()
    await page.locator("[name=holder]").fill(holder)
    await page.locator("[name=number]").fill(card)
    await page.locator("[name=expiry]").fill("09/29")
    await page.locator("[name=cvc]").fill("737")
    await page.get_by_test_id("continue").click()
    await page.get_by_test_id("place").click()


def title_of(method: str) -> str:
    """How the store calls a delivery method."""
    return DELIVERIES[method][0]


# --- ordering -----------------------------------------------------------------------------------------------


@SHOP.task(
    "Order what is in the cart. Deliver to {address[street]}, {address[city]}, by {title} delivery, and pay with the card {card} "
    "of {address[name]}, valid until 09/29, security code 737.",
    "Buy everything in the cart: address {address[street]} in {address[city]}, delivery {title}, card number {card}, "
    "name on card {address[name]}, expiry date 09/29, security code 737.",
    heldout_wordings=(
        "Check out with what is in my cart. It goes to my address {address[street]}, {address[city]}, by {title}. "
        "My card: {address[name]}, {card}, 09/29, code 737.",
    ),
    max_steps=60,
    expected_steps=18,
    tags=("form", "multi-step", "hard"),
)
def order_cart(
    address: Row = one_from(others),
    delivery: str = one_of(*SENT),
    title: str = computed(lambda state, p: title_of(p["delivery"])),
    card: str = one_of(*CARDS),
    order: Row = computed(lambda state, p: placed(state, p["address"], p["delivery"], p["card"])),
) -> Verifier:
    return asked(*placing(order))


@order_cart.oracle
async def _(page: Page, address: Row, delivery: str, card: str) -> None:
    await page.get_by_test_id("cart").click()
    await page.get_by_test_id("checkout").click()
    await page.get_by_test_id(f"use-{address['id']}").click()
    await page.get_by_test_id("continue").click()
    await pay(page, delivery, card, address["name"])


@SHOP.task(
    "Order what is in the cart with the coupon {code}. Deliver to the default address by {title} delivery, and pay with the card {card} "
    "of {address[name]}, valid until 09/29, security code 737.",
    "Use the coupon {code}, then buy everything in the cart: default address, delivery {title}, card number {card}, "
    "name on card {address[name]}, expiry date 09/29, security code 737.",
    heldout_wordings=(
        "Check out with what is in my cart and do not forget my coupon {code}. Send it by {title} to my usual address. "
        "My card: {address[name]}, {card}, 09/29, code 737.",
    ),
    max_steps=64,
    expected_steps=20,
    tags=("form", "multi-step", "hard"),
)
def order_with_coupon(
    code: str = one_from(lambda state, _: valid_codes(state, usable=True)),
    address: Row = computed(lambda state, p: next(row for row in addresses(state, p) if row["is_default"])),
    delivery: str = one_of(*SENT),
    title: str = computed(lambda state, p: title_of(p["delivery"])),
    card: str = one_of(*CARDS),
    order: Row = computed(lambda state, p: placed(state, p["address"], p["delivery"], p["card"], p["code"])),
) -> Verifier:
    return asked(*placing(order))


@order_with_coupon.oracle
async def _(page: Page, code: str, address: Row, delivery: str, card: str) -> None:
    await page.get_by_test_id("cart").click()
    await enter(page, "coupon", code)
    await page.get_by_test_id("checkout").click()
    await page.get_by_test_id("continue").click()
    await pay(page, delivery, card, address["name"])


# --- orders -------------------------------------------------------------------------------------------------


@SHOP.task(
    "In the account, open the page of order #{order[id]}.",
    "Show the order #{order[id]} in the account of the store.",
    heldout_wordings=("Go to my account and bring up order #{order[id]}.",),
    max_steps=15,
    expected_steps=5,
    tags=("navigate", "easy"),
)
def open_my_order(order: Row = one_from(lambda state, _: my_orders(state))) -> Verifier:
    return all_of(url_matches(f"/account/orders/{order['id']}"), unchanged(except_="events"))


@open_my_order.oracle
async def _(page: Page, order: Row) -> None:
    await open_order(page, order["id"])


def cancellable(state: State, params: Params) -> list[Row]:
    """Unsent orders of the customer with a product, `title`, that is in no other of them."""
    waiting = my_orders(state, fulfilment="unfulfilled")
    count = Counter(line["title"] for order in waiting for line in order["lines"])
    stock = {row["id"]: row["stock"] for row in state.tables["variants"]}
    for order in waiting:
        order["lines"] = [{**line, "stock": stock[line["variant_id"]]} for line in order["lines"]]
    return [
        {**order, "title": line["title"]} for order in waiting for line in order["lines"] if count[line["title"]] == 1
    ]


@SHOP.task(
    "Cancel the order that contains the {order[title]} and has not been sent yet (it is unfulfilled).",
    "One unfulfilled order in the account is for the {order[title]}: cancel that order.",
    heldout_wordings=(
        "I ordered the {order[title]} and it is still unfulfilled. Find that order in my account and cancel it.",
    ),
    max_steps=15,
    expected_steps=5,
    tags=("find", "edit", "medium"),
)
def cancel_order(order: Row = one_from(cancellable)) -> Verifier:
    back = [
        changed("variants", key=line["variant_id"], stock=line["stock"] + line["quantity"]) for line in order["lines"]
    ]
    closed = changed("orders", key=order["id"], fulfilment="cancelled", refunded=order["total"])
    return asked(closed, added("refunds", order_id=order["id"], amount=order["total"], reason="cancelled"), *back)


@cancel_order.oracle
async def _(page: Page, order: Row) -> None:
    await open_order(page, order["id"])
    await page.get_by_test_id("cancel").click()


def returnable(state: State, params: Params) -> list[Row]:
    """Lines of the customer's orders that have come."""
    return [line for order in my_orders(state, fulfilment="fulfilled") for line in order["lines"]]


@SHOP.task(
    'Return one {line[title]} ({line[variant]}) of order #{line[order_id]}. Reason: "{reason}". Ask for {resolution}.',
    'From order #{line[order_id]}, send back one {line[title]}, {line[variant]}: the reason is "{reason}", and it is for {resolution}.',
    heldout_wordings=(
        'The {line[title]} ({line[variant]}) that came with order #{line[order_id]} goes back, one piece, for {resolution}; give the reason "{reason}".',
    ),
    max_steps=30,
    expected_steps=11,
    tags=("form", "multi-step", "medium"),
)
def return_item(
    line: Row = one_from(returnable),
    reason: str = one_of("Too small", "Too large", "Damaged", "Wrong item", "Changed my mind"),
    resolution: str = one_of("a refund", "an exchange"),
) -> Verifier:
    kind = resolution.split()[-1]
    return asked(
        added("returns", line_id=line["id"], quantity=1, reason=reason.lower(), resolution=kind, status="requested")
    )


@return_item.oracle
async def _(page: Page, line: Row, reason: str, resolution: str) -> None:
    await open_order(page, line["order_id"])
    await page.get_by_test_id("return").click()
    await page.locator(f"[name=line][value='{line['id']}']").check()
    await page.locator("[name=reason]").select_option(reason.lower())
    await page.locator(f"[name=resolution][value={resolution.split()[-1]}]").click()
    await page.get_by_test_id("send").click()


def repeatable(state: State, params: Params) -> list[Row]:
    """Orders of the customer of which everything is in stock and nothing is in the cart or put aside."""
    stock = {row["id"]: row["stock"] for row in state.tables["variants"]}
    held = {row["variant_id"] for row in state.tables["cart_lines"]}
    return [
        order
        for order in my_orders(state)
        if all(
            stock[line["variant_id"]] >= line["quantity"] and line["variant_id"] not in held for line in order["lines"]
        )
    ]


@SHOP.task(
    "Put everything from order #{order[id]} into the cart again.",
    "Buy order #{order[id]} again: all of it should be in the cart. Do not check out.",
    heldout_wordings=(
        "I want the same as in order #{order[id]} once more. Put it into my cart, but do not order yet.",
    ),
    max_steps=12,
    expected_steps=5,
    tags=("navigate", "multi-step", "easy"),
)
def order_again(order: Row = one_from(repeatable)) -> Verifier:
    wanted = [{"variant_id": line["variant_id"], "quantity": line["quantity"], "saved": 0} for line in order["lines"]]
    return asked(added("cart_lines", *wanted))


@order_again.oracle
async def _(page: Page, order: Row) -> None:
    await open_order(page, order["id"])
    await page.get_by_test_id("again").click()


# --- addresses ----------------------------------------------------------------------------------------------


async def open_addresses(page: Page) -> None:
    """Open the addresses of the account."""
    await page.get_by_test_id("account").click()
    await page.get_by_test_id("tab-addresses").click()


@SHOP.task(
    "Make {address[street]}, {address[city]} the default address of the account.",
    "The default address should be {address[street]} in {address[city]}: change it.",
    heldout_wordings=(
        "From now on I want my orders sent to {address[street]}, {address[city]} by default. Set that in my account.",
    ),
    max_steps=12,
    expected_steps=5,
    tags=("navigate", "edit", "easy"),
)
def change_default_address(
    address: Row = one_from(others),
    old: Row = computed(lambda state, p: next(row for row in addresses(state, p) if row["is_default"])),
) -> Verifier:
    return asked(
        changed("addresses", key=address["id"], is_default=1), changed("addresses", key=old["id"], is_default=0)
    )


@change_default_address.oracle
async def _(page: Page, address: Row) -> None:
    await open_addresses(page)
    await page.get_by_test_id(f"address-{address['id']}").locator("[value=default]").click()


@SHOP.task(
    "Add this address to the account: {name}, {street}, {place[1]} {place[0]}, {place[2]}.",
    "The account needs one more address: full name {name}, street {street}, postal code {place[1]}, city {place[0]}, country {place[2]}.",
    heldout_wordings=(
        "Save another address of mine in the account: {name}, {street}, {place[1]} {place[0]} ({place[2]}).",
    ),
    max_steps=42,
    expected_steps=17,
    tags=("form", "medium"),
)
def add_address(
    name: str = one_of("Toni Brandt", "Alex Rivers", "Sam Whitfield", "Kim Lund"),
    street: str = one_of("12 Harbour Lane", "48 Foundry Street", "7 Orchard Row", "130 Castle Road"),
    place: list[str] = one_of(*PLACES),
) -> Verifier:
    city, code, country = place
    wanted: dict[str, Any] = {"name": name, "street": street, "city": city, "postal_code": code, "country": country}
    return asked(added("addresses", **wanted, is_default=0))


@add_address.oracle
async def _(page: Page, name: str, street: str, place: list[str]) -> None:
    await open_addresses(page)
    await page.locator("[name=name]").fill(name)
    await page.locator("[name=street]").fill(street)
    await page.locator("[name=postal_code]").fill(place[1])
    await page.locator("[name=city]").fill(place[0])
    await page.get_by_test_id("country").select_option(place[2])
    await page.get_by_test_id("add-address").click()
