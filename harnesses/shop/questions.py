"""Questions that the back office answers."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from uigym.harnesses.shop.product import SHOP, Page, Params, answered, enter, find_order, found, to_office
from uigym.params import computed, one_from, rows
from uigym.types import Row, State
from uigym.verify import Verifier


def tagged(state: State, params: Params) -> list[Row]:
    """Fulfilment and tag that two to nine orders share: `fulfilment`, `tag`, `count`."""
    how = {row["id"]: row["fulfilment"] for row in state.tables["orders"]}
    count = Counter((how[row["order_id"]], row["tag"]) for row in state.tables["order_tags"])
    return [
        {"fulfilment": fulfilment.capitalize(), "tag": tag, "count": number}
        for (fulfilment, tag), number in sorted(count.items())
        if 2 <= number <= 9
    ]


@SHOP.task(
    'How many orders in the back office have the fulfilment {kind[fulfilment]} and the tag "{kind[tag]}"? Answer with a number.',
    'Count the orders with the tag "{kind[tag]}" whose fulfilment is {kind[fulfilment]} and answer with the number.',
    heldout_wordings=(
        'In the back office, filter the orders by the fulfilment {kind[fulfilment]} and the tag "{kind[tag]}". How many are there? Answer with a number.',
    ),
    max_steps=20,
    expected_steps=8,
    tags=("table", "answer", "medium"),
)
def count_orders(kind: Row = one_from(tagged)) -> Verifier:
    return answered(kind["count"])


@count_orders.oracle
async def _(page: Page, kind: Row) -> str:
    await to_office(page, "orders")
    await page.get_by_test_id("filter-fulfilment").click()
    await page.get_by_test_id(f"fulfilment-{kind['fulfilment'].lower()}").click()
    await page.get_by_test_id("filter-tag").click()
    await page.get_by_test_id(f"tag-{kind['tag']}").click()
    return str(kind["count"])


def largest(state: State, params: Params) -> list[Row]:
    """For each fulfilment of which one order has the highest total: `fulfilment` and the `number` of that order."""
    kinds = []
    for fulfilment in ("unfulfilled", "fulfilled", "cancelled"):
        listed = sorted(found(state, "orders", fulfilment=fulfilment), key=lambda row: -row["total"])
        if len(listed) > 1 and listed[0]["total"] > listed[1]["total"]:
            kinds.append({"fulfilment": fulfilment.capitalize(), "number": listed[0]["id"]})
    return kinds


@SHOP.task(
    "Which order with the fulfilment {kind[fulfilment]} has the highest total? Answer with its number.",
    "In the back office, find the largest order by total among those whose fulfilment is {kind[fulfilment]}; answer with its number.",
    heldout_wordings=(
        "Look at the back office's orders whose fulfilment is {kind[fulfilment]}: what is the number of the most expensive one? Answer with it.",
    ),
    max_steps=20,
    expected_steps=8,
    tags=("compare", "table", "answer", "medium"),
)
def largest_order(kind: Row = one_from(largest)) -> Verifier:
    return answered(kind["number"])


@largest_order.oracle
async def _(page: Page, kind: Row) -> str:
    await to_office(page, "orders")
    await page.get_by_test_id("filter-fulfilment").click()
    await page.get_by_test_id(f"fulfilment-{kind['fulfilment'].lower()}").click()
    await page.get_by_test_id("sort-total").click()
    await page.get_by_test_id("sort-total").click()
    return str(kind["number"])


def buyer(state: State, params: Params) -> Row:
    """Whose order it is."""
    return found(state, "customers", id=params["order"]["customer_id"])[0]


@SHOP.task(
    "What is the e-mail address of the customer who placed order #{order[id]}? Answer with it.",
    "Look up order #{order[id]} in the back office and answer with its customer's e-mail address.",
    heldout_wordings=(
        "To which e-mail address would you write about order #{order[id]}? See the back office, and answer with the address.",
    ),
    max_steps=21,
    expected_steps=7,
    tags=("find", "answer", "easy"),
)
def order_email(
    order: Row = rows("orders"), email: str = computed(lambda state, p: buyer(state, p)["email"])
) -> Verifier:
    return answered(email)


@order_email.oracle
async def _(page: Page, order: Row, email: str) -> str:
    await find_order(page, order["id"])
    return email


def spenders(state: State, params: Params) -> list[Row]:
    """Customers with what they have paid for, less what was refunded: `spent`, in dollars."""
    spent: Counter[int] = Counter()
    for row in state.tables["orders"]:
        spent[row["customer_id"]] += row["total"] - row["refunded"]
    return [
        {**row, "spent": f"{spent[row['id']] / 100:.2f}"} for row in state.tables["customers"] if spent[row["id"]] > 0
    ]


@SHOP.task(
    "How much has the customer {customer[name]} spent in the shop? Answer with the amount in dollars.",
    "Find {customer[name]} among the customers of the back office and answer with what this customer has spent, in dollars.",
    heldout_wordings=(
        "What does the back office's list of customers say that {customer[name]} has spent? Answer with the dollar amount.",
    ),
    max_steps=18,
    expected_steps=7,
    tags=("find", "table", "answer", "easy"),
)
def customer_spent(customer: Row = one_from(spenders)) -> Verifier:
    return answered(Decimal(customer["spent"]))


@customer_spent.oracle
async def _(page: Page, customer: Row) -> str:
    await to_office(page, "customers")
    await enter(page, "search-customers", customer["name"])
    return str(customer["spent"])
