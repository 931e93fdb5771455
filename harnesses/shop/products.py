"""What the back office does with products, stock, prices and discounts."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from uigym.harnesses.shop.product import (
    SHOP,
    Page,
    Params,
    all_variants,
    asked,
    dollars,
    enter,
    find_product,
    found,
    goods,
    to_office,
    today,
)
from uigym.params import between, computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier


def shown_day(iso: str) -> str:
    """A date in an instruction: 24 December 2026."""
    day = date.fromisoformat(iso)
    return f"{day.day} {day:%B %Y}"


def days_ahead(state: State, params: Params) -> list[str]:
    """Days of the next two months, but not of the first week: "2026-12-24"."""
    first = date.fromisoformat(today(state))
    return [(first + timedelta(days=n)).isoformat() for n in range(8, 60)]


# --- products and stock -------------------------------------------------------------------------------------


@SHOP.task(
    "In the back office, open the product {variant[title]} and set the stock of its variant {variant[label]} to {stock} there.",
    "Set the stock of the {variant[title]}, variant {variant[label]}, to {stock} on the product's page in the back office.",
    heldout_wordings=(
        "On the back office's page of the {variant[title]}, the stock of {variant[label]} should read {stock}. Change it there.",
    ),
    max_steps=30,
    expected_steps=12,
    tags=("find", "table", "edit", "medium"),
)
def set_stock(
    variant: Row = one_from(lambda state, _: all_variants(state)),
    stock: int = one_from(lambda state, p: [n for n in range(8, 90) if n != p["variant"]["stock"]]),
) -> Verifier:
    return asked(changed("variants", key=variant["id"], stock=stock))


@set_stock.oracle
async def _(page: Page, variant: Row, stock: int) -> None:
    await find_product(page, variant["product_id"], variant["title"])
    await page.locator(f"[name=stock-{variant['id']}]").fill(str(stock))
    await page.get_by_test_id("save").click()


@SHOP.task(
    'In the inventory of the back office, adjust the stock of the article {variant[sku]} by {delta}, with the reason "{reason}".',
    'Book {delta} on the article {variant[sku]} in the back office\'s inventory; the reason is "{reason}".',
    heldout_wordings=(
        'The stock of article {variant[sku]} has to change by {delta}. Adjust it in the inventory and choose the reason "{reason}".',
    ),
    max_steps=34,
    expected_steps=13,
    tags=("find", "form", "medium"),
)
def adjust_stock(
    variant: Row = rows("variants", where=lambda row, _: row["stock"] >= 10),
    delta: str = one_of("-1", "-2", "-3", "-4", "-5", "-7", "-9", "5", "8", "12", "20", "25", "30"),
    reason: str = one_from(lambda state, p: ("Damaged", "Lost", "Stocktake") if p["delta"] < "0" else ("Received", "Returned", "Stocktake")),
) -> Verifier:
    return asked(
        changed("variants", key=variant["id"], stock=variant["stock"] + int(delta)),
        added("adjustments", variant_id=variant["id"], delta=int(delta), reason=reason.lower()),
    )


@adjust_stock.oracle
async def _(page: Page, variant: Row, delta: str, reason: str) -> None:
    await to_office(page, "inventory")
    await enter(page, "search-inventory", variant["sku"])
    await page.get_by_test_id(f"adjust-{variant['id']}").click()
    await page.get_by_test_id("delta").fill(delta)
    await page.get_by_test_id("reason").select_option(reason.lower())
    await page.get_by_test_id("save").click()


@SHOP.task(
    "In the back office, hide the product {product[title]} from the store.",
    "The {product[title]} should not be sold any more: set its visibility to Hidden in the back office.",
    heldout_wordings=(
        "Take the {product[title]} out of the store by making it hidden in the back office; keep all else.",
    ),
    max_steps=28,
    expected_steps=11,
    tags=("find", "edit", "easy"),
)
def hide_product(product: Row = rows("products", where={"visible": 1})) -> Verifier:
    return asked(changed("products", key=product["id"], visible=0))


@hide_product.oracle
async def _(page: Page, product: Row) -> None:
    await find_product(page, product["id"], product["title"])
    await page.get_by_test_id("visible").select_option("0")
    await page.get_by_test_id("save").click()


def single(state: State, params: Params) -> list[Row]:
    """Products with one variant, which is `variant`."""
    return [{**row, "variant": row["variants"][0]} for row in goods(state) if len(row["variants"]) == 1]


@SHOP.task(
    "Put the {product[title]} on sale in the back office: its price becomes {price}, and its compare-at price {old}.",
    "In the back office, lower the price of the {product[title]} to {price} and enter {old} as its compare-at price.",
    heldout_wordings=(
        "The {product[title]} now costs {price} instead of {old}: set price and compare-at price in the back office.",
    ),
    max_steps=36,
    expected_steps=14,
    tags=("find", "form", "medium"),
)
def put_on_sale(
    product: Row = one_from(single),
    off: int = between(2, 6),
    price: str = computed(lambda state, p: dollars(p["product"]["low"] - p["off"] * 100)),
    more: int = between(1, 9),
    old: str = computed(
        lambda state, p: dollars(max(p["product"]["low"], p["product"]["compare_at"] or 0) + p["more"] * 100)
    ),
) -> Verifier:
    return asked(
        changed("variants", key=product["variant"]["id"], price=cents(price)),
        changed("products", key=product["id"], compare_at=cents(old)),
    )


def cents(shown: str) -> int:
    """Back from "$1,234.50"."""
    return int(shown.strip("$").replace(",", "").replace(".", ""))


@put_on_sale.oracle
async def _(page: Page, product: Row, price: str, old: str) -> None:
    await find_product(page, product["id"], product["title"])
    await page.locator(f"[name=price-{product['variant']['id']}]").fill(price)
    await page.get_by_test_id("compare_at").fill(old)
    await page.get_by_test_id("save").click()


def priced(state: State, params: Params) -> list[Row]:
    """The variants of a category, hidden ones too."""
    mine = {row["id"] for row in found(state, "products", category_id=params["category"]["id"])}
    return [row for row in state.tables["variants"] if row["product_id"] in mine]


@SHOP.task(
    "In the back office, {verb} all prices in the category {category[name]} by {percent} percent.",
    "Change the prices of everything in {category[name]}: {verb} them by {percent} percent, with the form above the back office's products.",
    heldout_wordings=(
        "Prices in {category[name]} have to change. Go to the products of the back office and {verb} them by {percent} %.",
    ),
    max_steps=32,
    expected_steps=11,
    tags=("form", "medium"),
)
def change_prices(
    category: Row = rows("categories"),
    verb: str = one_of("raise", "lower"),
    percent: int = between(3, 15),
    variants: list[Row] = computed(priced),
) -> Verifier:
    share = 100 + percent if verb == "raise" else 100 - percent
    return asked(*(changed("variants", key=row["id"], price=row["price"] * share // 100) for row in variants))


@change_prices.oracle
async def _(page: Page, category: Row, verb: str, percent: int) -> None:
    await to_office(page, "products")
    await page.get_by_test_id("prices-category").select_option(str(category["id"]))
    await page.get_by_test_id("prices-direction").select_option(verb)
    await page.get_by_test_id("percent").fill(str(percent))
    await page.get_by_test_id("change-prices").click()


def movable(state: State, params: Params) -> list[Row]:
    """Categories that have another one before them, or after them."""
    listed = sorted(state.tables["categories"], key=lambda row: row["position"])
    return listed[1:] if params["way"] == "up" else listed[:-1]


def neighbour(state: State, params: Params) -> Row:
    """The category that changes places with the moved one."""
    step = 1 if params["way"] == "down" else -1
    return found(state, "categories", position=params["category"]["position"] + step)[0]


@SHOP.task(
    "In the back office, move the category {category[name]} by one place {way}.",
    "Change the order of the categories in the back office: {category[name]} goes {way} one place.",
    heldout_wordings=(
        "The store should show {category[name]} one place further {way}. Change the order of the categories.",
    ),
    max_steps=15,
    expected_steps=5,
    tags=("navigate", "edit", "easy"),
)
def move_category(
    way: str = one_of("up", "down"),
    category: Row = one_from(movable),
    other: Row = computed(neighbour),
) -> Verifier:
    return asked(
        changed("categories", key=category["id"], position=other["position"]),
        changed("categories", key=other["id"], position=category["position"]),
    )


@move_category.oracle
async def _(page: Page, category: Row, way: str) -> None:
    await to_office(page, "categories")
    await page.get_by_test_id(f"category-{category['id']}").locator(f"[value={way}]").click()


# --- discounts ----------------------------------------------------------------------------------------------


def new_code(state: State, params: Params) -> list[str]:
    """Codes that no discount has."""
    used = {row["code"] for row in state.tables["discounts"]}
    return [
        code for code in ("MOON12", "RIVER18", "CLOUD22", "PINE14", "STONE16", "MAPLE24", "TIDE11") if code not in used
    ]


@SHOP.task(
    "In the back office, create a discount with the code {code}: {percent} percent off, from a purchase of {minimum} on, starting today, ending on {shown}.",
    "Create the discount {code} in the back office. It takes off {percent} percent, needs a minimum purchase of {minimum}, starts today and ends on {shown}.",
    heldout_wordings=(
        "We need a new discount code, {code}: {percent} % from {minimum} on, valid from today up to and including {shown}.",
    ),
    max_steps=45,
    expected_steps=16,
    tags=("form", "date", "hard"),
)
def create_discount(
    code: str = one_from(new_code),
    percent: int = one_of(5, 12, 18, 22, 35, 40),
    least: int = one_of(2_000, 4_000, 5_000, 7_500, 10_000),
    minimum: str = computed(lambda state, p: dollars(p["least"])),
    ends: str = one_from(days_ahead),
    shown: str = computed(lambda state, p: shown_day(p["ends"])),
    starts: str = computed(lambda state, p: today(state)),
) -> Verifier:
    made: dict[str, Any] = {"code": code, "kind": "percent", "value": percent, "minimum": least, "starts_on": starts}
    return asked(added("discounts", **made, ends_on=ends))


@create_discount.oracle
async def _(page: Page, code: str, percent: int, least: int, ends: str) -> None:
    await to_office(page, "discounts")
    await page.get_by_test_id("new-discount").click()
    await page.get_by_test_id("code").fill(code)
    await page.get_by_test_id("value").fill(str(percent))
    await page.get_by_test_id("minimum").fill(f"{least / 100:.2f}")
    await page.get_by_test_id("ends_on").fill(ends)
    await page.get_by_test_id("save").click()


@SHOP.task(
    "In the back office, let the discount {discount[code]} end on {shown}.",
    "Change the end date of the discount {discount[code]} to {shown} in the back office.",
    heldout_wordings=("The discount {discount[code]} should be over after {shown}. Edit it in the back office.",),
    max_steps=26,
    expected_steps=10,
    tags=("edit", "date", "medium"),
)
def end_discount(
    discount: Row = one_from(
        lambda state, _: [row for row in state.tables["discounts"] if row["starts_on"] <= today(state)]
    ),
    ends: str = one_from(lambda state, p: [day for day in days_ahead(state, p) if day != p["discount"]["ends_on"]]),
    shown: str = computed(lambda state, p: shown_day(p["ends"])),
) -> Verifier:
    return asked(changed("discounts", key=discount["id"], ends_on=ends))


@end_discount.oracle
async def _(page: Page, discount: Row, ends: str) -> None:
    await to_office(page, "discounts")
    await page.get_by_test_id(f"discount-{discount['code']}").click()
    await page.get_by_test_id("ends_on").fill(ends)
    await page.get_by_test_id("save").click()
