"""Two products in one gym: the books, where episodes begin, and the shop beside them."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uigym.apps.books import seed as books_data
from uigym.apps.kit.store import connect, lead_to, records
from uigym.apps.kit.web import introduce
from uigym.apps.shop import seed as shop_data
from uigym.harness import Running
from uigym.harnesses.books.product import BOOKS
from uigym.harnesses.shop.product import SHOP
from uigym.types import Row, State
from uigym.verifiers.state import Change, only
from uigym.verify import Verifier

Page = Any  # Playwright's
Params = Mapping[str, Any]
LOGS = ("events", "shop.events")
"""What only tells what happened, in both."""
LINKED = 8
"""Invoices that name an order of the shop."""


async def reset_shop(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the shop the seed's data, and a way to the books."""
    path = product.workdir / "shop.db"
    await asyncio.to_thread(shop_data.write, path, seed, appearance)
    await asyncio.to_thread(lead_to, path, ["books"])


async def reset_books(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the books the seed's data, with some invoices that name orders of the shop, and a way there."""
    path, held = product.workdir / "books.db", await SHOP.state(product.beside["shop"])
    await asyncio.to_thread(books_data.write, path, seed, appearance)
    await asyncio.to_thread(link, path, seed, [row["id"] for row in held.tables["orders"] if row["total"] >= 4_000])
    await asyncio.to_thread(lead_to, path, ["shop"])


def link(path: Path, seed: int, orders: list[int]) -> None:
    """Let invoices that wait for money refer to orders of the shop; no other invoice refers to an order."""
    rng = random.Random(f"link:{seed}")
    with connect(path) as db:
        db.execute("UPDATE invoices SET reference = '' WHERE reference LIKE 'Order %'")
        waiting = [
            row["id"]
            for row in records(db, "SELECT id FROM invoices WHERE kind = 'invoice' AND status = 'sent' AND paid = 0")
        ]
        chosen = rng.sample(waiting, min(LINKED, len(waiting)))
        for invoice, order in zip(chosen, rng.sample(orders, len(chosen)), strict=True):
            db.execute("UPDATE invoices SET reference = ? WHERE id = ?", [f"Order {order}", invoice])


async def meet(products: Mapping[str, Running]) -> None:
    """Tell each where the other is."""
    introduce({"books": products["backroom"], "shop": products["shop"]})


backroom = dataclasses.replace(
    BOOKS,
    name="backroom",
    reset=reset_books,
    beside={"shop": dataclasses.replace(SHOP, reset=reset_shop)},
    meet=meet,
    logs=("events",),
)


def just(*changes: Change) -> Verifier:
    """These changes, each for an equal share of the score, and nothing else in either product but lines in its log."""
    return only(*changes, except_=LOGS)


def pairs(state: State, params: Params) -> list[Row]:
    """Invoices in dollars that name an order of the shop, each with that `order` and its `customer` there."""
    orders = {f"Order {row['id']}": row for row in state.tables["shop.orders"]}
    customers = {row["id"]: row for row in state.tables["shop.customers"]}
    return [
        {**row, "order": orders[row["reference"]], "customer": customers[orders[row["reference"]]["customer_id"]]}
        for row in state.tables["invoices"]
        if row["reference"] in orders and row["currency"] == "USD"
    ]


async def open_shop_order(page: Page, id: int) -> None:
    """From the books to an order in the shop's back office."""
    await page.get_by_test_id("go-shop").click()
    await page.get_by_test_id("to-office").click()
    await page.get_by_test_id("search").fill(str(id))
    await page.get_by_test_id("search").press("Enter")
    await page.get_by_test_id(f"order-{id}").click()


async def open_referring(page: Page, invoice: Row) -> None:
    """In the books, open the invoice that refers to the order."""
    await page.get_by_test_id("top-search").fill(invoice["reference"])
    await page.get_by_test_id("top-search").press("Enter")
    await page.get_by_role("link", name=invoice["number"], exact=True).click()
