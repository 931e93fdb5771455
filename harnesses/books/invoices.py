"""Tasks about invoices."""

from __future__ import annotations

from collections import Counter

from uigym.apps.books.amounts import sums
from uigym.harnesses.books.product import (
    BOOKS,
    Page,
    Params,
    cents,
    following,
    in_days,
    just,
    lines_of,
    look_for,
    open_invoice,
    press,
    referenced,
    standing,
    type_in,
    visit,
)  # fmt: skip
from uigym.params import between, computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.match import money
from uigym.verifiers.state import added, changed, only
from uigym.verify import Verifier

WORK = (
    "Garden signs",
    "Menu cards",
    "Shop window",
    "Photo retouching",
    "Name badges",
    "Annual report",
    "Trade fair wall",
)


def heads(state: State, params: Params) -> list[Row]:
    """What the head of a new invoice says: reference, dates."""
    id = following(state, "invoices")
    head = {"id": id, "reference": f"Order {40_000 + id}", "issued": in_days(state, -1)}
    return [{**head, "due": in_days(state, days)} for days in (10, 20, 29, 45)]


def first_lines(state: State, params: Params) -> list[Row]:
    """Lines of several pieces."""
    prices = ("35.00", "48.50", "120.00", "210.25")
    return [{"what": what, "count": n, "price": price, "tax": tax} for what in WORK for n in range(2, 10) for price in prices for tax in (5, 20)]  # fmt: skip


def second_lines(state: State, params: Params) -> list[Row]:
    """Lines of one piece of something else."""
    prices = ("60.00", "75.00", "99.90", "140.00")
    return [{"what": what, "price": price} for what in WORK if what != params["first"]["what"] for price in prices]


@BOOKS.task(
    'Create an invoice for {customer[name]} with the reference "{head[reference]}", issued {head[issued]}, due {head[due]}, with two lines: '
    "{first[what]}, quantity {first[count]}, unit price {first[price]}, tax {first[tax]}%; and {second[what]}, quantity 1, unit price "
    "{second[price]}, tax 10%.",
    "Bill {customer[name]}: {first[count]} x {first[what]} at {first[price]} each with {first[tax]}% tax, and 1 x {second[what]} at "
    '{second[price]} with 10% tax. The reference is "{head[reference]}", the issue date {head[issued]}, the due date {head[due]}. Save the '
    "invoice; do not send it.",
    heldout_wordings=(
        'Draft an invoice to {customer[name]} (reference "{head[reference]}", issue date {head[issued]}, due date {head[due]}) for '
        "{first[what]}, {first[count]} at {first[price]} plus {first[tax]}% tax, and {second[what]}, 1 at {second[price]} plus 10% tax.",
    ),
    max_steps=105,
    expected_steps=35,
    tags=("form", "date", "multi-step", "hard"),
)
def create_invoice(
    customer: Row = rows("customers"),
    head: Row = one_from(heads),
    first: Row = one_from(first_lines),
    second: Row = one_from(second_lines),
) -> Verifier:
    one = {
        "description": first["what"],
        "quantity": first["count"],
        "price": cents(first["price"]),
        "tax": first["tax"],
    }
    lines = (one, {"description": second["what"], "quantity": 1, "price": cents(second["price"]), "tax": 10})
    total = sums(lines)
    invoice = added(
        "invoices", customer_id=customer["id"], reference=head["reference"], issued_on=head["issued"], due_on=head["due"],
        currency="USD", status="draft", kind="invoice", net=total.net, tax=total.tax, total=total.total, recurring="never",
        notes="", paid=0, credits_id=None,
    )  # fmt: skip
    return just(invoice, added("invoice_lines", *lines, invoice_id=head["id"]))


@create_invoice.oracle
async def _(page: Page, customer: Row, head: Row, first: Row, second: Row) -> None:
    await press(page, "new-invoice")
    await page.get_by_test_id("customer").select_option(str(customer["id"]))
    await type_in(page, reference=head["reference"], issued_on=head["issued"], due_on=head["due"])
    await type_in(page, description_1=first["what"], quantity_1=str(first["count"]), price_1=first["price"])
    await page.get_by_test_id("tax-1").select_option(str(first["tax"]))
    await press(page, "add-line")
    await type_in(page, description_2=second["what"], price_2=second["price"])
    await page.get_by_test_id("tax-2").select_option("10")
    await press(page, "save")


@BOOKS.task(
    "Create an invoice for {customer[name]} with one line from the price list: {product[name]}, quantity {count}. Leave the rest as proposed.",
    "{customer[name]} bought {count} x {product[name]}: make an invoice of it by the price list, and leave all else as it is proposed.",
    heldout_wordings=(
        "Use the price list to invoice {customer[name]} for {product[name]}, quantity {count}; keep the proposed dates.",
    ),
    max_steps=42,
    expected_steps=14,
    tags=("form", "medium"),
)
def invoice_from_price_list(
    customer: Row = rows("customers"),
    product: Row = rows("products"),
    count: int = between(2, 12),
    id: int = computed(lambda state, p: following(state, "invoices")),
    issued: str = computed(lambda state, p: in_days(state, 0)),
    due: str = computed(lambda state, p: in_days(state, 30)),
) -> Verifier:
    line = {"description": product["name"], "quantity": count, "price": product["price"], "tax": product["tax"]}
    invoice = added(
        "invoices", customer_id=customer["id"], reference="", issued_on=issued, due_on=due, currency="USD", status="draft",
        kind="invoice", total=sums([line]).total, recurring="never", notes="", paid=0, credits_id=None,
    )  # fmt: skip
    return just(invoice, added("invoice_lines", line, invoice_id=id))


@invoice_from_price_list.oracle
async def _(page: Page, customer: Row, product: Row, count: int) -> None:
    await press(page, "new-invoice")
    await page.get_by_test_id("customer").select_option(str(customer["id"]))
    await page.get_by_test_id("product").select_option(str(product["id"]))
    await press(page, "add-product")
    await type_in(page, quantity_1=str(count))
    await press(page, "save")


@BOOKS.task(
    "Change the due date of invoice {invoice[number]} to {due}.",
    "Invoice {invoice[number]} shall be due on {due}.",
    heldout_wordings=("Give {invoice[number]} the due date {due}.",),
    max_steps=39,
    expected_steps=13,
    tags=("edit", "date", "easy"),
)
def change_due_date(
    invoice: Row = one_from(lambda state, p: standing(state, "draft", "sent", "overdue")),
    due: str = one_from(
        lambda state, p: [day for days in (47, 52, 58, 63) if (day := in_days(state, days)) != p["invoice"]["due_on"]]
    ),
) -> Verifier:
    return just(changed("invoices", key=invoice["id"], due_on=due))


@change_due_date.oracle
async def _(page: Page, invoice: Row, due: str) -> None:
    await open_invoice(page, invoice["number"])
    await press(page, "edit")
    await type_in(page, due_on=due)
    await press(page, "save")


@BOOKS.task(
    "Send the draft {invoice[number]}.",
    "Invoice {invoice[number]} is ready: send it.",
    heldout_wordings=("{invoice[number]} can go out to the customer; send it.",),
    max_steps=24,
    expected_steps=8,
    tags=("find", "easy"),
)
def send_draft(invoice: Row = one_from(lambda state, p: standing(state, "draft"))) -> Verifier:
    return just(changed("invoices", key=invoice["id"], status="sent"))


@send_draft.oracle
async def _(page: Page, invoice: Row) -> None:
    await open_invoice(page, invoice["number"])
    await press(page, "send")


@BOOKS.task(
    "Record a payment of {amount} on invoice {invoice[number]}, paid on {day} by {method}.",
    "{invoice[number]} was paid in part: {amount} came by {method} on {day}. Record it.",
    heldout_wordings=("Note that {amount} of invoice {invoice[number]} was received by {method} on {day}.",),
    max_steps=57,
    expected_steps=19,
    tags=("form", "date", "medium"),
)
def record_part_payment(
    invoice: Row = one_from(
        lambda state, p: [row for row in standing(state, "sent", "overdue") if row["open"] > 15_000]
    ),
    amount: str = one_of("50.00", "75.50", "100.00", "120.00"),
    day: str = one_from(lambda state, p: [in_days(state, -days) for days in (1, 2, 4, 6)]),
    method: str = one_of("card", "cash", "cheque"),
) -> Verifier:
    paid = changed("invoices", key=invoice["id"], paid=invoice["paid"] + cents(amount))
    row = {"invoice_id": invoice["id"], "amount": cents(amount), "paid_on": day, "method": method, "bank_line_id": None}
    return just(paid, added("payments", row))


@record_part_payment.oracle
async def _(page: Page, invoice: Row, amount: str, day: str, method: str) -> None:
    await open_invoice(page, invoice["number"])
    await press(page, "pay")
    await type_in(page, pay_amount=amount, pay_date=day)
    await page.get_by_test_id("pay-method").select_option(method)
    await press(page, "pay-go")


@BOOKS.task(
    "Duplicate invoice {invoice[number]}: the copy is issued {issued} and due {due}.",
    "Make a copy of invoice {invoice[number]} with the issue date {issued} and the due date {due}.",
    heldout_wordings=(
        "The customer of {invoice[number]} orders the same again: duplicate it, issue date {issued}, due date {due}.",
    ),
    max_steps=54,
    expected_steps=18,
    tags=("multi-step", "date", "medium"),
)
def duplicate_invoice(
    invoice: Row = one_from(lambda state, p: standing(state, "paid", "sent", "overdue")),
    issued: str = one_from(lambda state, p: [in_days(state, days) for days in (2, 5, 9)]),
    due: str = one_from(lambda state, p: [in_days(state, days) for days in (33, 38, 44)]),
    id: int = computed(lambda state, p: following(state, "invoices")),
    lines: list[Row] = computed(lambda state, p: lines_of(state, p["invoice"])),
) -> Verifier:
    kept = {
        name: invoice[name]
        for name in ("customer_id", "reference", "currency", "recurring", "notes", "net", "tax", "total")
    }
    copy = added("invoices", **kept, id=id, kind="invoice", status="draft", paid=0, issued_on=issued, due_on=due)
    return just(copy, added("invoice_lines", *lines, invoice_id=id))


@duplicate_invoice.oracle
async def _(page: Page, invoice: Row, issued: str, due: str) -> None:
    await open_invoice(page, invoice["number"])
    await press(page, "duplicate")
    await type_in(page, copy_issued=issued, copy_due=due)
    await press(page, "duplicate-go")


@BOOKS.task(
    "Write a credit note over the whole invoice {invoice[number]}.",
    "Invoice {invoice[number]} was wrong: create a credit note for it.",
    heldout_wordings=("Credit the customer the whole of {invoice[number]} by a credit note.",),
    max_steps=27,
    expected_steps=9,
    tags=("find", "multi-step", "easy"),
)
def credit_invoice(
    invoice: Row = one_from(lambda state, p: standing(state, "sent", "overdue")),
    id: int = computed(lambda state, p: following(state, "invoices")),
    lines: list[Row] = computed(
        lambda state, p: [{**row, "price": -row["price"]} for row in lines_of(state, p["invoice"])]
    ),
) -> Verifier:
    note = added(
        "invoices", kind="credit", credits_id=invoice["id"], customer_id=invoice["customer_id"], total=-invoice["total"]
    )
    payment = added("payments", invoice_id=invoice["id"], amount=invoice["open"], method="credit note")
    settled = changed("invoices", key=invoice["id"], paid=invoice["total"], status="paid")
    return just(note, added("invoice_lines", *lines, invoice_id=id), payment, settled)


@credit_invoice.oracle
async def _(page: Page, invoice: Row) -> None:
    await open_invoice(page, invoice["number"])
    await press(page, "credit", "credit-go")


@BOOKS.task(
    'Set the notes of the invoice with the reference "{invoice[reference]}" to "{note}"',
    'The invoice for "{invoice[reference]}" needs these notes and no others: "{note}"',
    heldout_wordings=('Find the invoice that refers to "{invoice[reference]}" and make its notes say "{note}"',),
    max_steps=36,
    expected_steps=12,
    tags=("find", "edit", "medium"),
)
def note_by_reference(
    invoice: Row = one_from(
        lambda state, p: [row for row in referenced(state, "invoices") if row["status"] in ("draft", "sent")]
    ),
    note: str = one_of("Deliver to the back door.", "Second copy to the tax adviser.", "Call before delivery."),
) -> Verifier:
    return just(changed("invoices", key=invoice["id"], notes=note))


@note_by_reference.oracle
async def _(page: Page, invoice: Row, note: str) -> None:
    await look_for(page, invoice["reference"])
    await page.get_by_role("link", name=invoice["number"], exact=True).click()
    await press(page, "edit")
    await type_in(page, notes=note)
    await press(page, "save")


def debtors(state: State, params: Params) -> list[Row]:
    """Customers with two to five overdue invoices, and what those come to."""
    late = standing(state, "overdue")
    count = Counter(row["customer_id"] for row in late)
    owed = {id: sum(row["open"] for row in late if row["customer_id"] == id) for id in count}
    return [{**row, "owed": owed[row["id"]]} for row in state.tables["customers"] if 2 <= count[row["id"]] <= 5]


@BOOKS.task(
    "What is the sum of the amounts due of the overdue invoices of {customer[name]}? Answer with the amount.",
    "How much money is overdue from {customer[name]} altogether? Count what is still due of the overdue invoices, and answer with the amount.",
    heldout_wordings=("Add up what {customer[name]} still owes on invoices that are overdue. Answer with the amount.",),
    max_steps=24,
    expected_steps=8,
    tags=("answer", "find", "compare", "medium"),
)
def overdue_sum(customer: Row = one_from(debtors)) -> Verifier:
    return only(equals(money(f"{customer['owed'] / 100:.2f}", "USD")))


@overdue_sum.oracle
async def _(page: Page, customer: Row) -> str:
    await visit(page, "invoices")
    await press(page, "filter-status", "status-overdue", "filter-customer", f"customer-{customer['id']}")
    return f"{customer['owed'] / 100:.2f}"


@BOOKS.task(
    "Which invoice of {customer[name]} has the highest total? Answer with its number.",
    "Find the largest invoice, by total, that {customer[name]} ever got, and answer with its number.",
    heldout_wordings=(
        "Answer with the number of the invoice with the greatest total among those of {customer[name]}.",
    ),
    max_steps=27,
    expected_steps=9,
    tags=("answer", "compare", "table", "medium"),
)
def largest_invoice(
    customer: Row = one_from(lambda state, p: [row for row in state.tables["customers"] if _largest(state, row)]),
    number: str = computed(lambda state, p: _largest(state, p["customer"])),
) -> Verifier:
    return only(equals(number))


def _largest(state: State, customer: Row) -> str:
    """Number of the customer's largest invoice; empty where there are fewer than three, or two are as large."""
    mine = [row for row in state.tables["invoices"] if row["customer_id"] == customer["id"]]
    ranked = sorted(mine, key=lambda row: -row["total"])
    return ranked[0]["number"] if len(mine) > 2 and ranked[0]["total"] > ranked[1]["total"] else ""


@largest_invoice.oracle
async def _(page: Page, customer: Row, number: str) -> str:
    await visit(page, "invoices")
    await press(page, "filter-customer", f"customer-{customer['id']}", "sort-total", "sort-total")
    return number
