"""Tasks that hold books and shop against each other."""

from __future__ import annotations

from uigym.harnesses.backroom.product import LOGS, Page, Params, backroom, just, open_referring, open_shop_order, pairs
from uigym.harnesses.shop.product import dollars
from uigym.params import one_from, one_of
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.match import money
from uigym.verifiers.state import added, changed, unchanged
from uigym.verify import Verifier, all_of

IF_NOT = " If that is not possible, answer: impossible."
REFUND = (
    'Refund on the order in the shop exactly the {what} of the invoice with the reference "{invoice[reference]}", with the reason "{reason}".'
    + IF_NOT,
    'The {what} of the invoice with the reference "{invoice[reference]}" has to be paid back: refund that amount on its order in the shop, with "{reason}" '
    "as the reason." + IF_NOT,
)
REFUND_HELDOUT = (
    'Give back in the shop the {what} of the invoice with the reference "{invoice[reference]}"; the reason is "{reason}".'
    + IF_NOT,
)
REASONS = ("invoice credited", "goodwill", "double payment")


@backroom.task(
    'By how much do the total of the invoice with the reference "{invoice[reference]}" in the books and the total of that order in the shop differ? Answer '
    "with the amount, without a sign.",
    'Compare the invoice with the reference "{invoice[reference]}" with its order in the shop: answer with the difference of their totals, as a positive amount.',
    heldout_wordings=(
        'What is the difference between what the books invoiced for "{invoice[reference]}" and what the shop took for it? Answer with a positive amount.',
    ),
    max_steps=45,
    expected_steps=15,
    tags=("navigate", "compare", "answer", "hard"),
)
def difference_of_totals(invoice: Row = one_from(pairs)) -> Verifier:
    difference = abs(invoice["total"] - invoice["order"]["total"])
    return all_of(equals(money(difference / 100)), unchanged(except_=LOGS))


@difference_of_totals.oracle
async def _(page: Page, invoice: Row) -> str:
    await open_referring(page, invoice)
    await open_shop_order(page, invoice["order"]["id"])
    return dollars(abs(invoice["total"] - invoice["order"]["total"]))


def left(invoice: Row) -> int:
    """What can still be paid back of an invoice's order, cents."""
    order = invoice["order"]
    return 0 if order["fulfilment"] == "cancelled" else int(order["total"] - order["refunded"])


def small(state: State, params: Params) -> list[Row]:
    """Invoices whose tax is less than what is left of their order."""
    return [row for row in pairs(state, params) if 0 < row["tax"] < left(row)]


def large(state: State, params: Params) -> list[Row]:
    """Invoices that come to more than their order."""
    return [row for row in pairs(state, params) if row["total"] > row["order"]["total"]]


@backroom.task(
    *REFUND,
    heldout_wordings=REFUND_HELDOUT,
    max_steps=72,
    expected_steps=24,
    tags=("navigate", "find", "form", "multi-step", "hard"),
)
def refund_as_the_books_say(
    invoice: Row = one_from(small), reason: str = one_of(*REASONS), what: str = one_of("amount of tax", "tax amount")
) -> Verifier:
    order, amount = invoice["order"], invoice["tax"]
    return just(
        changed("shop.orders", key=order["id"], refunded=order["refunded"] + amount),
        added("shop.refunds", order_id=order["id"], amount=amount, reason=reason),
    )


@refund_as_the_books_say.oracle
async def _(page: Page, invoice: Row, reason: str) -> None:
    await open_referring(page, invoice)
    await open_shop_order(page, invoice["order"]["id"])
    await page.locator("[name=amount]").fill(dollars(invoice["tax"]))
    await page.locator("[name=reason]").fill(reason)
    await page.get_by_test_id("refund").click()


@backroom.task(
    *REFUND,
    heldout_wordings=REFUND_HELDOUT,
    max_steps=60,
    expected_steps=18,
    tags=("navigate", "find", "refuse", "multi-step", "hard"),
)
def refund_more_than_was_paid(
    invoice: Row = one_from(large), reason: str = one_of(*REASONS), what: str = one_of("total", "total amount")
) -> Verifier:
    return all_of(equals("impossible"), unchanged(except_=LOGS))


@refund_more_than_was_paid.oracle
async def _(page: Page, invoice: Row) -> str:
    await open_referring(page, invoice)
    await open_shop_order(page, invoice["order"]["id"])
    return "impossible"
