"""Tasks that carry what the shop knows into the books, and back."""

from __future__ import annotations

from uigym.harnesses.backroom.product import (
    Page,
    Params,
    backroom,
    just,
    open_referring,
    open_shop_order,
    pairs,
)
from uigym.harnesses.books.product import dollars, look_for, press, type_in, visit
from uigym.harnesses.shop.product import goods
from uigym.params import one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier


def strangers(state: State, params: Params) -> list[Row]:
    """Orders of the shop whose customer the books do not know, with that `customer`."""
    known = {row["name"] for row in state.tables["customers"]}
    people = {row["id"]: row for row in state.tables["shop.customers"]}
    return [
        {"id": row["id"], "customer": people[row["customer_id"]]}
        for row in state.tables["shop.orders"]
        if people[row["customer_id"]]["name"] not in known and people[row["customer_id"]]["company"]
    ]


@backroom.task(
    "The customer of order #{order[id]} in the shop is missing in the books. Add the customer there with name, company and email as the order shows "
    "them; leave all else empty.",
    "Look up order #{order[id]} in the shop and make its customer a customer of the books: name, company and email, nothing more.",
    heldout_wordings=(
        "Whoever placed order #{order[id]} in the shop should be a customer in the books too, with the same name, company and email and no other details.",
    ),
    max_steps=72,
    expected_steps=24,
    tags=("navigate", "find", "form", "multi-step", "hard"),
)
def add_customer_of_order(order: Row = one_from(strangers)) -> Verifier:
    who = {name: order["customer"][name] for name in ("name", "company", "email")}
    return just(added("customers", **who, phone="", street="", city=""))


@add_customer_of_order.oracle
async def _(page: Page, order: Row) -> None:
    await open_shop_order(page, order["id"])
    await page.get_by_test_id("go-books").click()
    await visit(page, "customers")
    await press(page, "new")
    await type_in(page, **{name: order["customer"][name] for name in ("name", "company", "email")})
    await press(page, "save")


@backroom.task(
    'The invoice with the reference "{invoice[reference]}" was paid in full by card, on the day on which that order was placed in the shop. Record the '
    "payment in the books.",
    'Record that the invoice with the reference "{invoice[reference]}" is paid: the whole amount due, method card, and as its date the day of the order '
    "in the shop.",
    heldout_wordings=(
        'Find out in the shop when the order in "{invoice[reference]}" was placed; on that day its invoice was paid in full by card. Enter this payment.',
    ),
    max_steps=72,
    expected_steps=24,
    tags=("navigate", "date", "form", "multi-step", "hard"),
)
def pay_on_the_day_of_the_order(invoice: Row = one_from(pairs)) -> Verifier:
    day = invoice["order"]["created_at"][:10]
    paid = changed("invoices", key=invoice["id"], paid=invoice["total"], status="paid")
    row = {"paid_on": day, "amount": invoice["total"], "method": "card", "bank_line_id": None}
    return just(paid, added("payments", row, invoice_id=invoice["id"]))


@pay_on_the_day_of_the_order.oracle
async def _(page: Page, invoice: Row) -> None:
    await open_shop_order(page, invoice["order"]["id"])
    await page.get_by_test_id("go-books").click()
    await open_referring(page, invoice)
    await press(page, "pay")
    await type_in(page, pay_amount=dollars(invoice["total"]), pay_date=invoice["order"]["created_at"][:10])
    await page.get_by_test_id("pay-method").select_option("card")
    await press(page, "pay-go")


@backroom.task(
    'An invoice in the books has the reference "{invoice[reference]}". Add its number as a tag to that order in the shop.',
    'In the shop, tag the order of "{invoice[reference]}" with the number of the invoice that has this reference in the books.',
    heldout_wordings=(
        'The order that the books know as "{invoice[reference]}" shall carry the number of its invoice as a tag in the shop.',
    ),
    max_steps=50,
    expected_steps=17,
    tags=("navigate", "find", "edit", "multi-step", "medium"),
)
def tag_order_with_invoice(invoice: Row = one_from(pairs)) -> Verifier:
    return just(added("shop.order_tags", order_id=invoice["order"]["id"], tag=invoice["number"].lower()))


@tag_order_with_invoice.oracle
async def _(page: Page, invoice: Row) -> None:
    await look_for(page, invoice["reference"])
    await open_shop_order(page, invoice["order"]["id"])
    await page.get_by_test_id("tag").fill(invoice["number"])
    await page.get_by_test_id("add-tag").click()


def single(state: State, params: Params) -> list[Row]:
    """Products of the shop that have one price, which the book's product does not have."""
    price = params["product"]["price"]
    return [
        {"id": row["id"], "title": row["title"], "price": row["low"]}
        for row in goods(
            State({name.removeprefix("shop."): held for name, held in state.tables.items() if name.startswith("shop.")})
        )
        if row["low"] == row["high"] != price
    ]


@backroom.task(
    "Set the price of {product[name]} in the price list of the books to what the {goods[title]} costs in the shop.",
    "Look up in the shop what the {goods[title]} costs, and give {product[name]} the same price in the price list of the books.",
    heldout_wordings=(
        "{product[name]} shall cost as much as the {goods[title]} does in the shop: change the price list of the books accordingly.",
    ),
    max_steps=54,
    expected_steps=18,
    tags=("navigate", "find", "edit", "multi-step", "medium"),
)
def price_as_in_shop(product: Row = rows("products"), goods: Row = one_from(single)) -> Verifier:
    return just(changed("products", key=product["id"], price=goods["price"]))


@price_as_in_shop.oracle
async def _(page: Page, product: Row, goods: Row) -> None:
    await page.get_by_test_id("go-shop").click()
    await page.get_by_test_id("search").fill(goods["title"])
    await page.get_by_test_id("search").press("Enter")
    await page.get_by_test_id("to-office").click()
    await page.get_by_test_id("go-books").click()
    await visit(page, "products")
    await look_for(page, product["sku"], "search")
    await press(page, f"edit-{product['id']}")
    await type_in(page, price=dollars(goods["price"]))
    await press(page, "save")


@backroom.task(
    'Write the delivery method of that order in the shop ({methods}) into the notes of the invoice with the reference "{invoice[reference]}": the one word, '
    "nothing else.",
    'The notes of the invoice with the reference "{invoice[reference]}" should be just how the shop delivers the order: {methods}.',
    heldout_wordings=(
        'Look up in the shop how the order of "{invoice[reference]}" is delivered ({methods}), and make that word the notes of its invoice in the books.',
    ),
    max_steps=72,
    expected_steps=24,
    tags=("navigate", "find", "form", "multi-step", "medium"),
)
def note_delivery_method(
    invoice: Row = one_from(pairs),
    methods: str = one_of("Standard, Express or Pick-up", "Express, Pick-up or Standard"),
) -> Verifier:
    return just(changed("invoices", key=invoice["id"], notes=METHODS[invoice["order"]["delivery"]]))


METHODS = {"standard": "Standard", "express": "Express", "pickup": "Pick-up"}


@note_delivery_method.oracle
async def _(page: Page, invoice: Row) -> None:
    await open_shop_order(page, invoice["order"]["id"])
    await page.get_by_test_id("go-books").click()
    await open_referring(page, invoice)
    await press(page, "edit")
    await type_in(page, notes=METHODS[invoice["order"]["delivery"]])
    await press(page, "save")
