"""A sound harness of the pantry. Each of the others in this folder differs from it by one fault."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pantry_product import SHELVES, create_app, write

from uigym.harness import Harness, Running
from uigym.params import one_of, rows
from uigym.product.state import Sqlite
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verifiers.state import added, changed, removed, unchanged
from uigym.verify import Verifier, all_of

COUNT: int = one_of(2, 3, 4)
ITEM: Row = rows("items")
SHELF: str = one_of(*SHELVES)
ELSEWHERE: Row = rows("items", where=lambda row, params: row["shelf"] != params["shelf"])
"""An item that is not on the shelf that was drawn before it."""
BUY = "Put {count} {item[brand]} {item[name]} on the shopping list."
MOVE = "Move {item[brand]} {item[name]} to the {shelf}."
PRICE = "What does one {item[brand]} {item[name]} cost?"


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """All data as the seed says."""
    await asyncio.to_thread(write, product.workdir / "pantry.db", seed)


def pantry(**changes: Any) -> Harness:
    """The pantry without tasks."""
    usual: dict[str, Any] = {
        "name": "pantry",
        "asgi": create_app,
        "state": Sqlite("{workdir}/pantry.db"),
        "reset": reset,
        "viewport": (320, 320),
        "logs": ("log",),
    }
    return Harness(**(usual | changes))


def label(item: Row) -> str:
    """What an item is called."""
    return f"{item['brand']} {item['name']}"


def add_buy(harness: Harness) -> Harness:
    """Add the task of putting something on the list."""

    @harness.task(BUY, max_steps=10, expected_steps=6)
    def buy(count: int = COUNT, item: Row = ITEM) -> Verifier:
        line = added("wanted", item=label(item), quantity=count)
        return all_of(line, unchanged(except_=[line, "log"]))

    buy.oracle(put_on_list)
    return harness


def add_move(harness: Harness) -> Harness:
    """Add the task of moving something to another shelf."""

    @harness.task(MOVE, max_steps=8, expected_steps=5)
    def move(shelf: str = SHELF, item: Row = ELSEWHERE) -> Verifier:
        moved = changed("items", key=item["id"], shelf=shelf)
        return all_of(moved, unchanged(except_=[moved, "log"]))

    move.oracle(put_on_shelf)
    return harness


def add_throw_out(harness: Harness) -> Harness:
    """Add the task of throwing something out."""

    @harness.task("Throw out the {item[brand]} {item[name]}.", max_steps=6, expected_steps=3)
    def throw_out(item: Row = ITEM) -> Verifier:
        gone = removed("items", id=item["id"])
        return all_of(gone, unchanged(except_=[gone, "log"]))

    @throw_out.oracle
    async def _(page: Any, item: Row) -> None:
        await open_item(page, item)
        await page.get_by_role("button", name="Throw out").click()

    return harness


def add_price(harness: Harness) -> Harness:
    """Add the question what something costs."""

    @harness.task(PRICE, max_steps=4, expected_steps=2)
    def price(item: Row = ITEM) -> Verifier:
        return all_of(equals(item["price"]), unchanged())

    price.oracle(look_up_price)
    return harness


async def open_item(page: Any, item: Row) -> None:
    """By its link on the first page."""
    await page.get_by_role("link", name=label(item), exact=True).click()


async def put_on_list(page: Any, count: int, item: Row) -> None:
    """The solution of `buy`."""
    await page.get_by_label("Item").fill(label(item))
    await page.get_by_label("Count").fill(str(count))
    await page.get_by_role("button", name="Add").click()


async def put_on_shelf(page: Any, shelf: str, item: Row) -> None:
    """The solution of `move`."""
    await open_item(page, item)
    await page.get_by_label("Shelf").select_option(shelf)
    await page.get_by_role("button", name="Move").click()


async def look_up_price(page: Any, item: Row) -> str:
    """The solution of `price`."""
    await open_item(page, item)
    return str((await page.get_by_text("each").inner_text()).split("$")[1].split()[0])


sound = pantry()
for add in (add_buy, add_move, add_throw_out, add_price):
    add(sound)
