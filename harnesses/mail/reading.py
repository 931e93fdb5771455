"""Tasks that are answered: by looking one thing up, or several that have to be compared."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from itertools import pairwise

from uigym.harnesses.mail.product import (
    LOGS,
    Page,
    Params,
    conversations,
    fact,
    files_of,
    known,
    mail,
    search,
)
from uigym.params import one_from
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.download import downloaded
from uigym.verifiers.match import money
from uigym.verifiers.state import unchanged
from uigym.verify import Verifier, all_of

VISIBLE = ("inbox", "archive", "Projects", "Receipts")


def answered(value: object) -> Verifier:
    """This answer, and nothing was changed."""
    return all_of(equals(value), unchanged(except_=LOGS))


def invoices(state: State, params: Params | None = None) -> list[Row]:
    """Conversations about an invoice: its number, its amount in dollars, who sent it."""
    found = []
    for row in conversations(state):
        number, amount = (fact(name, row["mails"][0]["text"]) for name in ("Invoice", "Amount due"))
        if number and amount and row["folder"] in VISIBLE:
            found.append({**known(row), "number": number, "amount": amount.lstrip("$").replace(",", "")})
    return found


def offers(state: State, params: Params | None = None) -> list[Row]:
    """Conversations about an offer: its number and the price of one piece in dollars."""
    found = []
    for row in conversations(state):
        number, price = (fact(name, row["mails"][0]["text"]) for name in ("Offer", "Price of one"))
        if number and price and row["folder"] in VISIBLE:
            found.append({**known(row), "number": number, "price": price.lstrip("$").replace(",", "")})
    return found


def shipped(state: State, params: Params | None = None) -> list[Row]:
    """Orders that have left, with their tracking number."""
    found = []
    for row in conversations(state):
        code = fact("Tracking number", row["mails"][-1]["text"])
        order = re.match(r"Your order (\d+)", row["subject"])
        if code and order and row["folder"] in VISIBLE:
            found.append({**known(row), "order": order[1], "code": code})
    return found


@mail.task(
    "What is the amount due on the invoice {invoice[number]}? Answer with the amount.",
    "Look up how much has to be paid for invoice {invoice[number]} and answer with that amount.",
    heldout_wordings=("Answer with the amount that the invoice {invoice[number]} asks for.",),
    max_steps=18,
    expected_steps=7,
    tags=("find", "answer", "easy"),
)
def amount_due(invoice: Row = one_from(invoices)) -> Verifier:
    return answered(money(invoice["amount"], "USD"))


@amount_due.oracle
async def _(page: Page, invoice: Row) -> str:
    await search(page, invoice["number"])
    await page.get_by_test_id(f"thread-{invoice['id']}").click()
    return f"${Decimal(invoice['amount']):,.2f}"


@mail.task(
    "What is the tracking number of the order {order[order]}? Answer with it.",
    "A mail says how the order {order[order]} can be tracked. Answer with the tracking number.",
    heldout_wordings=("Find the tracking number of order {order[order]} and answer with it.",),
    max_steps=18,
    expected_steps=7,
    tags=("find", "answer", "easy"),
)
def tracking_number(order: Row = one_from(shipped)) -> Verifier:
    return answered(order["code"])


@tracking_number.oracle
async def _(page: Page, order: Row) -> str:
    await search(page, order["order"])
    await page.get_by_test_id(f"thread-{order['id']}").click()
    return str(order["code"])


def pairs(state: State, params: Params) -> list[Row]:
    """Two invoices, the first of which is about more money."""
    ranked = sorted(invoices(state), key=lambda row: Decimal(row["amount"]), reverse=True)
    return [
        {"high": high, "low": low, "more": str(Decimal(high["amount"]) - Decimal(low["amount"]))}
        for high, low in pairwise(ranked)
        if Decimal(high["amount"]) > Decimal(low["amount"])
    ]


@mail.task(
    "By how many dollars is the amount due on invoice {pair[high][number]} higher than that on invoice {pair[low][number]}?"
    " Answer with the difference.",
    "Compare the invoices {pair[high][number]} and {pair[low][number]}: how much more is due on the first? Answer with the"
    " difference in dollars.",
    heldout_wordings=(
        "Answer with the difference, in dollars, between the amounts due on the invoices {pair[high][number]} and"
        " {pair[low][number]}.",
    ),
    max_steps=33,
    expected_steps=12,
    tags=("find", "compare", "answer", "medium"),
)
def difference_of_invoices(pair: Row = one_from(pairs)) -> Verifier:
    return answered(money(pair["more"], "USD"))


@difference_of_invoices.oracle
async def _(page: Page, pair: Row) -> str:
    for invoice in (pair["high"], pair["low"]):
        await search(page, invoice["number"])
        await page.get_by_test_id(f"thread-{invoice['id']}").click()
    return f"${Decimal(pair['more']):,.2f}"


def threes(state: State, params: Params) -> list[Row]:
    """Three offers of different prices, in the order of their numbers, and the lowest price."""
    everything = sorted(offers(state), key=lambda row: row["number"])
    found = []
    for i in range(len(everything) - 2):
        some = everything[i : i + 3]
        prices = {Decimal(row["price"]) for row in some}
        if len(prices) == 3:
            found.append({"offers": some, "lowest": str(min(prices))})
    return found


@mail.task(
    "What is the lowest price of one piece among the offers {trio[offers][0][number]}, {trio[offers][1][number]} and"
    " {trio[offers][2][number]}? Answer with that price.",
    "Compare the prices of one piece in the offers {trio[offers][0][number]}, {trio[offers][1][number]} and"
    " {trio[offers][2][number]} and answer with the lowest.",
    heldout_wordings=(
        "Three offers: {trio[offers][0][number]}, {trio[offers][1][number]}, {trio[offers][2][number]}. Answer with the"
        " price of one piece in the cheapest of them.",
    ),
    max_steps=48,
    expected_steps=17,
    tags=("find", "compare", "answer", "hard"),
)
def lowest_offer(trio: Row = one_from(threes)) -> Verifier:
    return answered(money(trio["lowest"], "USD"))


@lowest_offer.oracle
async def _(page: Page, trio: Row) -> str:
    for offer in trio["offers"]:
        await search(page, offer["number"])
        await page.get_by_test_id(f"thread-{offer['id']}").click()
    return f"${Decimal(trio['lowest']):,.2f}"


def writers(state: State, params: Params) -> list[Row]:
    """People with two or more conversations in the inbox, and how many these are."""
    rows = [row for row in conversations(state) if row["folder"] == "inbox"]
    senders = [{one["sender_name"] for one in row["mails"] if one["status"] == "received"} for row in rows]
    count = Counter(name for names in senders for name in names)
    return [
        {"name": name, "count": number}
        for name, number in sorted(count.items())
        if number >= 2 and sum(name.lower() in other.lower() for other in count) == 1
    ]


@mail.task(
    "How many conversations in the Inbox have a mail from {writer[name]} in them? Answer with a number.",
    "Count the conversations in the Inbox with at least one mail from {writer[name]} and answer with the number.",
    heldout_wordings=("In how many conversations of the Inbox did {writer[name]} write? Answer with a number.",),
    max_steps=15,
    expected_steps=6,
    tags=("find", "table", "answer", "medium"),
)
def count_conversations(writer: Row = one_from(writers)) -> Verifier:
    return answered(writer["count"])


@count_conversations.oracle
async def _(page: Page, writer: Row) -> str:
    await search(page, f'in:inbox from:"{writer["name"]}"')
    return str(writer["count"])


def tables(state: State, params: Params | None = None) -> list[Row]:
    """Invoices with a table of their items: the file."""
    found = []
    for invoice in invoices(state):
        first = next(row for row in conversations(state) if row["id"] == invoice["id"])["mails"][0]
        for file in files_of(state, first["id"]):
            if file["name"].endswith(".csv"):
                pieces = bytes.fromhex(file.pop("content")).decode().splitlines()[-1].split(",")[1]
                found.append({**invoice, "file": file, "pieces": int(pieces)})
    return found


@mail.task(
    "How many pieces does the file {invoice[file][name]}, attached to the mail about invoice {invoice[number]}, list in"
    " total? Answer with a number.",
    "Open the attachment {invoice[file][name]} of the mail with invoice {invoice[number]} and answer with the total quantity.",
    heldout_wordings=(
        "What is the total quantity in {invoice[file][name]}, the file that came with invoice {invoice[number]}? Answer"
        " with a number.",
    ),
    max_steps=21,
    expected_steps=8,
    tags=("find", "file", "answer", "medium"),
)
def total_in_file(invoice: Row = one_from(tables)) -> Verifier:
    return answered(invoice["pieces"])


@total_in_file.oracle
async def _(page: Page, invoice: Row) -> str:
    await search(page, invoice["number"])
    await page.get_by_test_id(f"thread-{invoice['id']}").click()
    await page.get_by_test_id(f"view-{invoice['file']['id']}").click()
    return str(invoice["pieces"])


@mail.task(
    "Download the file {invoice[file][name]} that came with the mail about the invoice {invoice[number]}.",
    "Save the attachment {invoice[file][name]} of the mail with invoice {invoice[number]}: download it.",
    heldout_wordings=(
        "The mail about invoice {invoice[number]} has the file {invoice[file][name]}: download that file.",
    ),
    max_steps=21,
    expected_steps=8,
    tags=("find", "file", "easy"),
)
def download_file(invoice: Row = one_from(tables)) -> Verifier:
    got = downloaded(invoice["file"]["name"], sha256=invoice["file"]["sha256"])
    return all_of(got, unchanged(except_=LOGS))


@download_file.oracle
async def _(page: Page, invoice: Row) -> None:
    await search(page, invoice["number"])
    await page.get_by_test_id(f"thread-{invoice['id']}").click()
    await page.get_by_test_id(f"download-{invoice['file']['id']}").click()
