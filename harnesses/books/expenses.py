"""Tasks about expenses."""

from __future__ import annotations

import hashlib
from collections import defaultdict

from uigym.apps.books.schema import CATEGORIES
from uigym.harnesses.books.product import (
    BOOKS,
    Page,
    Params,
    cents,
    in_days,
    just,
    open_expense,
    press,
    referenced,
    type_in,
    visit,
)  # fmt: skip
from uigym.params import one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier


def bills(state: State, params: Params) -> list[Row]:
    """Reference and date of a new expense."""
    days = [in_days(state, -days) for days in (1, 3, 6, 12)]
    return [{"day": day, "reference": f"B-{70_000 + 137 * n}"} for day in days for n in range(60)]


THINGS: tuple[Row, ...] = tuple(
    {"what": what, "amount": amount, "tax": tax}
    for what in ("Office plants", "Team lunch", "Window cleaning", "Spare keys", "Coffee beans")
    for amount in ("24.00", "48.60", "72.30", "120.00")
    for tax in ("1.50", "2.00", "4.05")
)


@BOOKS.task(
    'Add an expense: supplier {supplier[name]}, category {category}, description "{thing[what]}", date {bill[day]}, reference '
    '"{bill[reference]}", amount {thing[amount]}, tax included {thing[tax]}.',
    'On {bill[day]} we bought "{thing[what]}" from {supplier[name]} for {thing[amount]} (tax included: {thing[tax]}; reference '
    '"{bill[reference]}"). Enter it under {category}.',
    heldout_wordings=(
        'Enter the expense "{thing[what]}" of {thing[amount]} with {thing[tax]} tax included, dated {bill[day]}, from {supplier[name]}, '
        'category {category}, reference "{bill[reference]}".',
    ),
    max_steps=72,
    expected_steps=24,
    tags=("form", "date", "medium"),
)
def add_expense(
    supplier: Row = rows("suppliers"),
    category: str = one_of(*CATEGORIES),
    thing: Row = one_of(*THINGS),
    bill: Row = one_from(bills),
) -> Verifier:
    row = {"supplier_id": supplier["id"], "category": category, "description": thing["what"], "spent_on": bill["day"]}
    money = {"amount": cents(thing["amount"]), "tax": cents(thing["tax"])}
    return just(added("expenses", {**row, **money, "reference": bill["reference"], "status": "submitted"}))


@add_expense.oracle
async def _(page: Page, supplier: Row, category: str, thing: Row, bill: Row) -> None:
    await visit(page, "expenses")
    await press(page, "new-expense")
    await page.get_by_test_id("supplier").select_option(str(supplier["id"]))
    await page.get_by_test_id("category").select_option(category)
    await type_in(page, description=thing["what"], spent_on=bill["day"], reference=bill["reference"])
    await type_in(page, amount=thing["amount"], tax=thing["tax"])
    await press(page, "save")


def over(state: State, params: Params) -> list[Row]:
    """Limits that two to four of the submitted expenses are over."""
    waiting = sorted(
        (row for row in state.tables["expenses"] if row["status"] == "submitted"), key=lambda row: -row["amount"]
    )
    found = []
    for count in (2, 3, 4):
        if len(waiting) > count:
            limit = -(-waiting[count]["amount"] // 100)
            if limit * 100 < waiting[count - 1]["amount"]:
                found.append({"limit": limit, "ids": [row["id"] for row in waiting[:count]]})
    return found


@BOOKS.task(
    "Approve all submitted expenses of more than ${work[limit]}.00, and no others.",
    "Every expense that is submitted and comes to more than ${work[limit]}.00 is approved: mark them so.",
    heldout_wordings=("Find the submitted expenses over ${work[limit]}.00 and approve all of them.",),
    max_steps=39,
    expected_steps=13,
    tags=("table", "compare", "multi-step", "hard"),
)
def approve_over(work: Row = one_from(over)) -> Verifier:
    return just(*(changed("expenses", key=id, status="approved") for id in work["ids"]))


@approve_over.oracle
async def _(page: Page, work: Row) -> None:
    await visit(page, "expenses")
    await press(page, "filter-status", "status-submitted", "sort-amount", "sort-amount")
    for id in work["ids"]:
        await page.get_by_test_id(f"pick-{id}").check()
    await press(page, "bulk-approve")


def mixed(state: State, params: Params) -> list[Row]:
    """Supplier and category with two to five expenses."""
    groups: dict[tuple[int, str], list[int]] = defaultdict(list)
    for row in state.tables["expenses"]:
        groups[row["supplier_id"], row["category"]].append(row["id"])
    names = {row["id"]: row for row in state.tables["suppliers"]}
    return [{"supplier": names[id], "category": category, "ids": ids} for (id, category), ids in groups.items() if 2 <= len(ids) <= 5]  # fmt: skip


@BOOKS.task(
    "Move all expenses of the supplier {work[supplier][name]} from the category {work[category]} to the category {new}.",
    "Whatever we spent at {work[supplier][name]} under {work[category]} belongs under {new}: change the category of all those expenses.",
    heldout_wordings=(
        "The {work[category]} expenses from {work[supplier][name]} are really {new}. Recategorise every one of them.",
    ),
    max_steps=42,
    expected_steps=14,
    tags=("table", "multi-step", "hard"),
)
def recategorise(
    work: Row = one_from(mixed),
    new: str = one_from(lambda state, p: [each for each in CATEGORIES if each != p["work"]["category"]]),
) -> Verifier:
    return just(*(changed("expenses", key=id, category=new) for id in work["ids"]))


@recategorise.oracle
async def _(page: Page, work: Row, new: str) -> None:
    await visit(page, "expenses")
    await press(page, "filter-supplier", f"supplier-{work['supplier']['id']}")
    await press(page, "filter-category", f"category-{work['category'].replace(' ', '-')}")
    await page.get_by_test_id("select-all").check()
    await press(page, "bulk-category", f"to-{new.replace(' ', '-')}")


def receipt(expense: Row) -> dict[str, str]:
    """The file that the task offers."""
    return {f"bill-{expense['id']}.txt": f"Bill for {expense['reference']}\n", "old-bill.txt": "Bill of another year\n"}


@BOOKS.task(
    'Add the file bill-{expense[id]}.txt as a receipt to the expense with the reference "{expense[reference]}".',
    'Upload bill-{expense[id]}.txt as the receipt of the expense "{expense[reference]}".',
    heldout_wordings=(
        'The expense with the reference "{expense[reference]}" lacks its receipt: it is the file bill-{expense[id]}.txt.',
    ),
    max_steps=33,
    expected_steps=11,
    tags=("file", "find", "medium"),
    files=receipt,
)
def upload_receipt(expense: Row = one_from(lambda state, p: referenced(state, "expenses"))) -> Verifier:
    name, text = next(iter(receipt(expense).items()))
    return just(
        added("receipts", expense_id=expense["id"], name=name, sha256=hashlib.sha256(text.encode()).hexdigest())
    )


@upload_receipt.oracle
async def _(page: Page, expense: Row) -> None:
    await open_expense(page, expense)
    await page.get_by_test_id("receipt-file").set_input_files(f"bill-{expense['id']}.txt")
    await press(page, "add-receipt")


@BOOKS.task(
    'Split the expense with the reference "{expense[reference]}": {part} of it go to the category {new}.',
    'Of the expense "{expense[reference]}", {part} belong under {new}: split them off.',
    heldout_wordings=(
        'Take {part} out of the expense with the reference "{expense[reference]}" and make them an expense of their own under {new}.',
    ),
    max_steps=42,
    expected_steps=14,
    tags=("form", "multi-step", "medium"),
)
def split_expense(
    expense: Row = one_from(lambda state, p: [row for row in referenced(state, "expenses") if row["amount"] > 4_000]),
    part: str = one_of("10.00", "12.50", "20.00"),
    new: str = one_from(lambda state, p: [each for each in CATEGORIES if each != p["expense"]["category"]]),
) -> Verifier:
    tax = (expense["tax"] * cents(part) * 2 + expense["amount"]) // (expense["amount"] * 2)
    left = changed("expenses", key=expense["id"], amount=expense["amount"] - cents(part), tax=expense["tax"] - tax)
    kept = {name: expense[name] for name in ("supplier_id", "reference", "description", "spent_on", "status")}
    return just(left, added("expenses", **kept, category=new, amount=cents(part), tax=tax))


@split_expense.oracle
async def _(page: Page, expense: Row, part: str, new: str) -> None:
    await open_expense(page, expense)
    await press(page, "split")
    await type_in(page, split_amount=part)
    await page.get_by_test_id("split-category").select_option(new)
    await press(page, "split-go")


@BOOKS.task(
    'Reject the expense with the reference "{expense[reference]}".',
    'The expense "{expense[reference]}" was private: reject it.',
    heldout_wordings=('Set the expense that has the reference "{expense[reference]}" to rejected.',),
    max_steps=27,
    expected_steps=9,
    tags=("find", "easy"),
)
def reject_expense(
    expense: Row = one_from(
        lambda state, p: [row for row in referenced(state, "expenses") if row["status"] == "submitted"]
    ),
) -> Verifier:
    return just(changed("expenses", key=expense["id"], status="rejected"))


@reject_expense.oracle
async def _(page: Page, expense: Row) -> None:
    await open_expense(page, expense)
    await press(page, "reject")
