"""What the back office does with orders."""

from __future__ import annotations

from collections import Counter

from uigym.harnesses.shop.product import (
    IF_NOT,
    SHOP,
    Page,
    Params,
    answered,
    asked,
    dollars,
    find_order,
    found,
    to_office,
)
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.download import downloaded
from uigym.verifiers.state import added, changed, unchanged
from uigym.verify import Verifier, all_of

TAGS = ("gift", "vip", "fragile", "wholesale", "call first", "priority", "repeat")
REASONS = ("late delivery", "damaged in transit", "price match", "missing item")


def missing_tags(state: State, params: Params) -> list[str]:
    """Tags that the order does not have."""
    has = {row["tag"] for row in found(state, "order_tags", order_id=params["order"]["id"])}
    return [tag for tag in TAGS if tag not in has]


def unrefunded(row: Row, params: Params) -> bool:
    """Whether nothing has been paid back of an order that is not cancelled."""
    return bool(row["refunded"] == 0 and row["fulfilment"] != "cancelled" and row["total"] >= 3_000)


def waiting_tags(state: State, params: Params) -> list[Row]:
    """Tags that two to five unfulfilled orders have, with the numbers of those: `tag` and `ids`."""
    waiting = {row["id"] for row in found(state, "orders", fulfilment="unfulfilled")}
    ids: dict[str, list[int]] = {}
    for row in state.tables["order_tags"]:
        if row["order_id"] in waiting:
            ids.setdefault(row["tag"], []).append(row["order_id"])
    return [{"tag": tag, "ids": each} for tag, each in sorted(ids.items()) if 2 <= len(each) <= 5]


@SHOP.task(
    'In the back office, fulfil order #{order[id]} and add the tag "{tag}" to it.',
    'Order #{order[id]} has been sent: mark it as fulfilled and tag it "{tag}".',
    heldout_wordings=(
        'Please take care of #{order[id]} in the back office. It should be fulfilled and carry the tag "{tag}".',
    ),
    max_steps=28,
    expected_steps=11,
    tags=("find", "edit", "multi-step", "medium"),
)
def fulfil_and_tag(
    order: Row = rows("orders", where={"fulfilment": "unfulfilled"}),
    tag: str = one_from(missing_tags),
) -> Verifier:
    return asked(
        changed("orders", key=order["id"], fulfilment="fulfilled"), added("order_tags", order_id=order["id"], tag=tag)
    )


@fulfil_and_tag.oracle
async def _(page: Page, order: Row, tag: str) -> None:
    await find_order(page, order["id"])
    await page.get_by_test_id("fulfil").click()
    await page.get_by_test_id("tag").fill(tag)
    await page.get_by_test_id("add-tag").click()


@SHOP.task(
    'In the back office, fulfil all unfulfilled orders that have the tag "{work[tag]}".',
    'All orders with the tag "{work[tag]}" that are still unfulfilled have been sent: mark them as fulfilled.',
    heldout_wordings=(
        'Nothing with the tag "{work[tag]}" should be left unfulfilled. Fulfil those orders in the back office.',
    ),
    max_steps=36,
    expected_steps=13,
    tags=("find", "table", "multi-step", "hard"),
)
def fulfil_tagged(work: Row = one_from(waiting_tags)) -> Verifier:
    return asked(*(changed("orders", key=id, fulfilment="fulfilled") for id in work["ids"]))


@fulfil_tagged.oracle
async def _(page: Page, work: Row) -> None:
    await to_office(page, "orders")
    await page.get_by_test_id("filter-fulfilment").click()
    await page.get_by_test_id("fulfilment-unfulfilled").click()
    await page.get_by_test_id("filter-tag").click()
    await page.get_by_test_id(f"tag-{work['tag']}").click()
    for id in work["ids"]:
        await page.locator(f"[name=id][value='{id}']").check()
    await page.get_by_test_id("fulfil-selected").click()


async def refund(page: Page, id: int, amount: str, reason: str) -> None:
    """On an order's page in the back office, give money back."""
    await find_order(page, id)
    await page.locator("[name=amount]").fill(amount)
    await page.locator("[name=reason]").fill(reason)
    await page.get_by_test_id("refund").click()


@SHOP.task(
    'In the back office, refund {amount} of order #{order[id]}, with the reason "{reason}".' + IF_NOT,
    'The customer of order #{order[id]} gets {amount} back. Enter the refund in the back office; the reason is "{reason}".'
    + IF_NOT,
    heldout_wordings=(
        'Give back {amount} on order #{order[id]} in the back office and write "{reason}" as the reason.' + IF_NOT,
    ),
    max_steps=30,
    expected_steps=12,
    tags=("find", "form", "medium"),
)
def refund_part(
    order: Row = rows("orders", where=unrefunded),
    cents: int = one_from(lambda state, p: range(500, p["order"]["total"] - 500, 50)),
    amount: str = computed(lambda state, p: dollars(p["cents"])),
    reason: str = one_of(*REASONS),
) -> Verifier:
    return asked(
        changed("orders", key=order["id"], refunded=cents),
        added("refunds", order_id=order["id"], amount=cents, reason=reason),
    )


@refund_part.oracle
async def _(page: Page, order: Row, amount: str, reason: str) -> None:
    await refund(page, order["id"], amount, reason)


@SHOP.task(
    'In the back office, refund {amount} of order #{order[id]}, with the reason "{reason}".' + IF_NOT,
    'The customer of order #{order[id]} gets {amount} back. Enter the refund in the back office; the reason is "{reason}".'
    + IF_NOT,
    heldout_wordings=(
        'Give back {amount} on order #{order[id]} in the back office and write "{reason}" as the reason.' + IF_NOT,
    ),
    max_steps=30,
    expected_steps=12,
    tags=("find", "form", "refuse", "medium"),
)
def refund_too_much(
    order: Row = rows("orders", where=unrefunded),
    cents: int = one_from(lambda state, p: range(p["order"]["total"] + 500, p["order"]["total"] + 9_000, 50)),
    amount: str = computed(lambda state, p: dollars(p["cents"])),
    reason: str = one_of(*REASONS),
) -> Verifier:
    return answered("impossible")


@refund_too_much.oracle
async def _(page: Page, order: Row, amount: str, reason: str) -> str:
    await refund(page, order["id"], amount, reason)
    return "impossible"


def newest_of(state: State, params: Params) -> list[Row]:
    """Customers with two to six orders, each with the number of the newest of them: `order`."""
    count = Counter(row["customer_id"] for row in state.tables["orders"])
    newest = {
        row["customer_id"]: row["id"] for row in sorted(state.tables["orders"], key=lambda row: row["created_at"])
    }
    return [{**row, "order": newest[row["id"]]} for row in state.tables["customers"] if 2 <= count[row["id"]] <= 6]


@SHOP.task(
    'In the back office, find the newest order of the customer {customer[name]} and replace its note by "{note}"',
    'The latest order of {customer[name]} needs the note "{note}" Write it in the back office, in place of any other.',
    heldout_wordings=(
        'Set the note of the most recent order of {customer[name]} to "{note}" in the back office; nothing else should stand there.',
    ),
    max_steps=30,
    expected_steps=10,
    tags=("find", "form", "medium"),
)
def note_newest_order(
    customer: Row = one_from(newest_of),
    note: str = one_of(
        "Pack it twice.", "Call before delivery.", "Invoice goes to the office.", "Send without a price tag."
    ),
) -> Verifier:
    return asked(changed("orders", key=customer["order"], note=note))


@note_newest_order.oracle
async def _(page: Page, customer: Row, note: str) -> None:
    await page.get_by_test_id("to-office").click()
    await page.get_by_test_id("search").fill(customer["name"])
    await page.get_by_test_id("search").press("Enter")
    await page.get_by_test_id(f"order-{customer['order']}").click()
    await page.get_by_test_id("note").fill(note)
    await page.get_by_test_id("save-note").click()


def open_returns(state: State, params: Params) -> list[Row]:
    """Returns that nobody has decided on, each with the number of its order."""
    order = {row["id"]: row["order_id"] for row in state.tables["order_lines"]}
    return [{**row, "order": order[row["line_id"]]} for row in found(state, "returns", status="requested")]


@SHOP.task(
    "In the back office, {verb} the return that was requested for order #{wanted[order]}.",
    "A return is open on order #{wanted[order]}: {verb} it in the back office.",
    heldout_wordings=("Decide on the return of order #{wanted[order]} in the back office: {verb} it.",),
    max_steps=27,
    expected_steps=9,
    tags=("find", "edit", "easy"),
)
def decide_return(wanted: Row = one_from(open_returns), verb: str = one_of("accept", "refuse")) -> Verifier:
    return asked(changed("returns", key=wanted["id"], status=f"{verb.removesuffix('e')}ed"))


@decide_return.oracle
async def _(page: Page, wanted: Row, verb: str) -> None:
    await find_order(page, wanted["order"])
    await page.get_by_test_id(f"{verb}-{wanted['id']}").click()


def exported(state: State, params: Params) -> list[Row]:
    """What the file of the chosen orders holds, newest first."""
    chosen = found(state, "orders", fulfilment=params["fulfilment"].lower())
    return [{"order": row["id"], "total": row["total"] / 100} for row in sorted(chosen, key=lambda row: -row["id"])]


@SHOP.task(
    "In the back office, export the orders whose fulfilment is {fulfilment} as CSV, newest first, once.",
    "Download one CSV file of all orders with the fulfilment {fulfilment} from the back office, in the order of the list: newest first.",
    heldout_wordings=(
        "I need the back office's CSV file with just the orders whose fulfilment is {fulfilment} (newest first). Download it once.",
    ),
    max_steps=18,
    expected_steps=7,
    tags=("file", "table", "medium"),
)
def export_orders(
    fulfilment: str = one_of("Unfulfilled", "Fulfilled", "Cancelled"),
    lines: list[Row] = computed(exported),
) -> Verifier:
    return all_of(downloaded("orders.csv", rows=lines), unchanged(except_="events"))


@export_orders.oracle
async def _(page: Page, fulfilment: str) -> None:
    await to_office(page, "orders")
    await page.get_by_test_id("filter-fulfilment").click()
    await page.get_by_test_id(f"fulfilment-{fulfilment.lower()}").click()
    await page.get_by_test_id("export").click()
