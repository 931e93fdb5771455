"""Tasks that can be done, or cannot: the answer must say so, and nothing may be done instead."""

from __future__ import annotations

from uigym.harnesses.books.product import (
    BOOKS,
    Page,
    cents,
    dollars,
    in_days,
    just,
    open_invoice,
    press,
    standing,
    type_in,
)  # fmt: skip
from uigym.params import computed, one_from
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verifiers.state import added, changed, only
from uigym.verify import Verifier

PAY = (
    "Record a card payment of {amount} on invoice {invoice[number]}, paid on {day}. If that is not possible, answer: impossible.",
    "{amount} came in for invoice {invoice[number]} by card on {day}: record the payment. If that is not possible, answer: impossible.",
)
PAY_HELDOUT = "Invoice {invoice[number]} gets a payment of {amount} by card, dated {day}. If that is not possible, answer: impossible."
VOID = (
    "Void invoice {invoice[number]}. If that is not possible, answer: impossible.",
    "Invoice {invoice[number]} shall count no more: void it. If that is not possible, answer: impossible.",
)
VOID_HELDOUT = "Make {invoice[number]} void. If that is not possible, answer: impossible."


async def pay(page: Page, invoice: Row, amount: str, day: str) -> None:
    """Fill in the dialog of a payment and confirm it."""
    await open_invoice(page, invoice["number"])
    await press(page, "pay")
    await type_in(page, pay_amount=amount, pay_date=day)
    await page.get_by_test_id("pay-method").select_option("card")
    await press(page, "pay-go")


@BOOKS.task(*PAY, heldout_wordings=(PAY_HELDOUT,), max_steps=57, expected_steps=19, tags=("form", "date", "medium"))
def pay_what_is_due(
    invoice: Row = one_from(lambda state, p: standing(state, "sent", "overdue")),
    amount: str = computed(lambda state, p: dollars(p["invoice"]["open"])),
    day: str = one_from(lambda state, p: [in_days(state, -days) for days in (1, 3, 5)]),
) -> Verifier:
    paid = changed("invoices", key=invoice["id"], paid=invoice["total"], status="paid")
    row = {"invoice_id": invoice["id"], "amount": cents(amount), "paid_on": day, "method": "card", "bank_line_id": None}
    return just(paid, added("payments", row))


@pay_what_is_due.oracle
async def _(page: Page, invoice: Row, amount: str, day: str) -> None:
    await pay(page, invoice, amount, day)


@BOOKS.task(*PAY, heldout_wordings=(PAY_HELDOUT,), max_steps=57, expected_steps=19, tags=("refuse", "form", "medium"))
def pay_more_than_is_due(
    invoice: Row = one_from(lambda state, p: standing(state, "sent", "overdue")),
    amount: str = one_from(lambda state, p: [dollars(p["invoice"]["open"] + more) for more in (1_000, 5_000, 12_000)]),
    day: str = one_from(lambda state, p: [in_days(state, -days) for days in (1, 3, 5)]),
) -> Verifier:
    return only(equals("impossible"))


@pay_more_than_is_due.oracle
async def _(page: Page, invoice: Row, amount: str, day: str) -> str:
    await pay(page, invoice, amount, day)
    return "impossible"


@BOOKS.task(*VOID, heldout_wordings=(VOID_HELDOUT,), max_steps=27, expected_steps=9, tags=("find", "easy"))
def void_invoice(
    invoice: Row = one_from(lambda state, p: standing(state, "draft", "sent", "overdue", paid=False)),
) -> Verifier:
    return just(changed("invoices", key=invoice["id"], status="void"))


@void_invoice.oracle
async def _(page: Page, invoice: Row) -> None:
    await open_invoice(page, invoice["number"])
    await press(page, "void", "void-go")


@BOOKS.task(*VOID, heldout_wordings=(VOID_HELDOUT,), max_steps=27, expected_steps=9, tags=("refuse", "find", "easy"))
def void_paid_invoice(
    invoice: Row = one_from(lambda state, p: standing(state, "paid", "overdue", paid=True)),
) -> Verifier:
    return only(equals("impossible"))


@void_paid_invoice.oracle
async def _(page: Page, invoice: Row) -> str:
    await open_invoice(page, invoice["number"])
    await press(page, "void", "void-go")
    return "impossible"
