"""The product behind the tasks of the shop, what the instructions speak of, and how a person gets to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from uigym.apps.shop import seed as shop_data
from uigym.apps.shop.looks import PARTS
from uigym.harness import Harness, Looks, Running
from uigym.product.state import Sqlite
from uigym.types import Row, State
from uigym.verifiers.answer import Value, equals
from uigym.verifiers.state import Change, only, unchanged
from uigym.verify import Verifier, all_of

Params = Mapping[str, Any]
Page = Any  # Playwright's
IF_NOT = " If that is not possible, answer: impossible."
"""The end of instructions of which some can be followed and some cannot."""


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the product the seed's data, by its database file."""
    await asyncio.to_thread(shop_data.write, product.workdir / "shop.db", seed, appearance)


SHOP = Harness(
    name="shop",
    asgi="uigym.apps.shop.app:create_app",
    ready="/healthz",
    state=Sqlite("{workdir}/shop.db"),
    reset=reset,
    viewport=(1280, 720),
    looks={
        "theme": Looks(PARTS["theme"][:6], PARTS["theme"][6:]),
        "font": Looks(PARTS["font"][:3], PARTS["font"][2:]),
        "density": Looks(PARTS["density"]),
        "language": Looks(("en", "en", "en", "de", "ko"), ("en", "de", "ko", "ar")),
        "content": Looks(PARTS["content"][:3], PARTS["content"]),
        "nav": Looks(PARTS["nav"][:3], PARTS["nav"][3:]),
        "columns": Looks(PARTS["columns"][:3], PARTS["columns"][3:]),
        "panel": Looks(PARTS["panel"]),
    },
    logs=("events",),
)


def asked(*changes: Change) -> Verifier:
    """These changes, each for an equal share of the score, and nothing else but lines in the shop's own log."""
    return only(*changes, except_="events")


def answered(value: Value) -> Verifier:
    """This answer, and nothing changed."""
    return all_of(equals(value), unchanged(except_="events"))


# --- what the instructions speak of -------------------------------------------------------------------------


def found(state: State, table: str, **columns: Any) -> list[Row]:
    """The rows of a table that have these values in these columns."""
    return [row for row in state.tables[table] if all(row[key] == value for key, value in columns.items())]


def me(state: State) -> int:
    """The customer in the store."""
    return int(found(state, "settings", key="me")[0]["value"])


def today(state: State) -> str:
    """The shop's day, "2026-10-13"."""
    return str(found(state, "settings", key="now")[0]["value"])[:10]


def dollars(cents: int) -> str:
    """An amount as the shop writes it: $1,234.50."""
    return f"${cents // 100:,}.{cents % 100:02d}"


def goods(state: State) -> list[Row]:
    """The products in the store, each with its category, `variants`, lowest and highest price, stock and rating."""
    variants: dict[int, list[Row]] = {}
    for row in state.tables["variants"]:
        variants.setdefault(row["product_id"], []).append(row)
    stars: dict[int, list[int]] = {}
    for row in state.tables["reviews"]:
        stars.setdefault(row["product_id"], []).append(row["rating"])
    names = {row["id"]: row["name"] for row in state.tables["categories"]}
    listed = []
    for row in found(state, "products", visible=1):
        mine, given = variants[row["id"]], stars.get(row["id"], [])
        prices = [each["price"] for each in mine]
        listed.append({
            **row, "category": names[row["category_id"]], "variants": mine, "low": min(prices), "high": max(prices),
            "stock": sum(each["stock"] for each in mine), "ratings": len(given),
            "rating": round(sum(given) / len(given), 1) if given else 0.0,
        })  # fmt: skip
    return listed


def named(variant: Row, product: Row) -> Row:
    """A variant with its product's title and the name that the shop gives it: "Navy / M"."""
    return {**variant, "title": product["title"], "label": shop_data.variant_name(variant["colour"], variant["size"])}


def in_cart(state: State, saved: int = 0) -> list[Row]:
    """The lines of the cart, or those saved for later: variants with `line` and `quantity`."""
    products = {row["id"]: row for row in state.tables["products"]}
    variants = {row["id"]: row for row in state.tables["variants"]}
    return [
        {
            **named(variant := variants[row["variant_id"]], products[variant["product_id"]]),
            "line": row["id"],
            "quantity": row["quantity"],
        }
        for row in found(state, "cart_lines", saved=saved)
    ]


def fresh(state: State) -> list[Row]:
    """Variants of products in the store that are neither in the cart nor saved for later."""
    held = {row["variant_id"] for row in state.tables["cart_lines"]}
    return [named(each, product) for product in goods(state) for each in product["variants"] if each["id"] not in held]


def all_variants(state: State) -> list[Row]:
    """Every variant, hidden products included."""
    products = {row["id"]: row for row in state.tables["products"]}
    return [named(row, products[row["product_id"]]) for row in state.tables["variants"]]


def of_category(state: State, name: str) -> list[Row]:
    """The products of a category in the store."""
    return [row for row in goods(state) if row["category"] == name]


def my_orders(state: State, **columns: Any) -> list[Row]:
    """The orders of the customer in the store, each with its `lines`."""
    mine = found(state, "orders", customer_id=me(state), **columns)
    return [{**row, "lines": found(state, "order_lines", order_id=row["id"])} for row in mine]


# --- how a person gets there --------------------------------------------------------------------------------


async def enter(page: Page, field: str, text: str) -> None:
    """Type into a field with this test id and press Enter."""
    await page.get_by_test_id(field).fill(text)
    await page.get_by_test_id(field).press("Enter")


async def open_product(page: Page, id: int, title: str) -> None:
    """Search the store for a product and open its page."""
    await enter(page, "search", title)
    await page.get_by_test_id(f"product-{id}").click()


async def choose(page: Page, variant: Row) -> None:
    """On a product's page, choose colour and size."""
    await page.get_by_test_id(f"colour-{variant['colour']}").click()
    if variant["size"] != "One size":
        await page.get_by_test_id(f"size-{variant['size']}").click()


async def open_order(page: Page, id: int) -> None:
    """In the account, open an order."""
    await page.get_by_test_id("account").click()
    await page.get_by_test_id(f"order-{id}").click()


async def to_office(page: Page, place: str) -> None:
    """Go to a page of the back office by its sidebar."""
    await page.get_by_test_id("to-office").click()
    await page.get_by_test_id(f"nav-{place}").click()


async def find_order(page: Page, id: int) -> None:
    """In the back office, find an order by its number and open it."""
    await page.get_by_test_id("to-office").click()
    await enter(page, "search", str(id))
    await page.get_by_test_id(f"order-{id}").click()


async def find_product(page: Page, id: int, title: str) -> None:
    """In the back office, find a product and open it."""
    await to_office(page, "products")
    await enter(page, "search-products", title)
    await page.get_by_test_id(f"product-{id}").click()
