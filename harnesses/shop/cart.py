"""Finding goods in the store, the cart, the wish list."""

from __future__ import annotations

from uigym.harnesses.shop.product import (
    IF_NOT,
    SHOP,
    Page,
    Params,
    answered,
    asked,
    choose,
    enter,
    found,
    fresh,
    goods,
    in_cart,
    of_category,
    open_product,
    today,
)
from uigym.params import between, computed, one_from
from uigym.types import Row, State
from uigym.verifiers.match import any_value
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier


def cheapest(state: State, name: str) -> Row:
    """The cheapest product of a category that is in stock, if the cards in the store show it; else empty."""
    stocked = sorted((row for row in of_category(state, name) if row["stock"]), key=lambda row: row["low"])
    if len(stocked) < 3 or stocked[0]["low"] == stocked[1]["low"]:
        return {}
    held = {row["product_id"] for row in (*in_cart(state), *in_cart(state, 1))}
    first = stocked[0]
    buyable = [each["price"] for each in first["variants"] if each["stock"]]
    return first if min(buyable) == first["low"] and first["id"] not in held else {}


def best_rated(state: State, name: str) -> Row:
    """The product of a category that has the best rating, alone, and is not on the wish list; else empty."""
    listed = sorted(of_category(state, name), key=lambda row: -row["rating"])
    wished = {row["product_id"] for row in state.tables["wishes"]}
    alone = len(listed) >= 3 and listed[0]["rating"] > listed[1]["rating"]
    return listed[0] if alone and listed[0]["id"] not in wished else {}


def aisles(state: State) -> list[str]:
    """Names of the categories."""
    return [row["name"] for row in state.tables["categories"]]


def valid_codes(state: State, *, usable: bool) -> list[str]:
    """Coupons that the cart may use now; or those whose time is over."""
    day, subtotal = today(state), sum(row["price"] * row["quantity"] for row in in_cart(state))
    codes = []
    for row in state.tables["discounts"]:
        over = row["ends_on"] is not None and row["ends_on"] < day
        good = not over and row["starts_on"] <= day and row["minimum"] <= subtotal
        if good if usable else over:
            codes.append(row["code"])
    return codes


# --- adding -------------------------------------------------------------------------------------------------


@SHOP.task(
    "Put {quantity} of the {variant[title]} in {variant[label]} into the cart.",
    "Add the {variant[title]}, {variant[label]}, to the cart, quantity {quantity}.",
    heldout_wordings=(
        "Find the product {variant[title]} and put {quantity} of its variant {variant[label]} into my cart.",
    ),
    max_steps=36,
    expected_steps=12,
    tags=("find", "form", "medium"),
)
def add_variant(
    quantity: int = between(2, 4),
    variant: Row = one_from(lambda state, p: [row for row in fresh(state) if row["stock"] >= p["quantity"]]),
) -> Verifier:
    return asked(added("cart_lines", variant_id=variant["id"], quantity=quantity, saved=0))


@add_variant.oracle
async def _(page: Page, quantity: int, variant: Row) -> None:
    await open_product(page, variant["product_id"], variant["title"])
    await choose(page, variant)
    await page.get_by_test_id("quantity").fill(str(quantity))
    await page.get_by_test_id("add").click()


@SHOP.task(
    "Find the cheapest product in the category {category} that is in stock, and put one of it into the cart, in any colour and size.",
    "Of everything in {category} that is in stock, put the cheapest product into the cart: one piece, any variant.",
    heldout_wordings=(
        "I want the least expensive thing that you have in stock under {category}. Add one to the cart; colour and size do not matter.",
    ),
    max_steps=30,
    expected_steps=10,
    tags=("find", "compare", "medium"),
)
def add_cheapest(
    category: str = one_from(lambda state, _: [name for name in aisles(state) if cheapest(state, name)]),
    product: Row = computed(lambda state, p: cheapest(state, p["category"])),
) -> Verifier:
    ids = [row["id"] for row in product["variants"] if row["stock"]]
    return asked(added("cart_lines", variant_id=any_value(*ids), quantity=1, saved=0))


@add_cheapest.oracle
async def _(page: Page, product: Row) -> None:
    await page.get_by_test_id(f"category-{product['category_id']}").click()
    await page.get_by_test_id("in-stock").click()
    await page.get_by_test_id("sort").click()
    await page.get_by_test_id("sort-price").click()
    await page.get_by_test_id(f"product-{product['id']}").click()
    await choose(page, next(row for row in product["variants"] if row["stock"]))
    await page.get_by_test_id("add").click()


@SHOP.task(
    "Put {quantity} of the {variant[title]} in {variant[label]} into the cart." + IF_NOT,
    "The cart should hold {quantity} of the {variant[title]}, {variant[label]}: add them." + IF_NOT,
    heldout_wordings=("Add {quantity} pieces of the {variant[title]} ({variant[label]}) to my cart." + IF_NOT,),
    max_steps=36,
    expected_steps=12,
    tags=("find", "form", "medium"),
)
def add_many(
    variant: Row = one_from(lambda state, _: [row for row in fresh(state) if row["stock"] >= 7]),
    quantity: int = one_from(lambda state, p: range(5, p["variant"]["stock"] + 1)),
) -> Verifier:
    return asked(added("cart_lines", variant_id=variant["id"], quantity=quantity, saved=0))


@add_many.oracle
async def _(page: Page, quantity: int, variant: Row) -> None:
    await open_product(page, variant["product_id"], variant["title"])
    await choose(page, variant)
    await page.get_by_test_id("quantity").fill(str(quantity))
    await page.get_by_test_id("add").click()


@SHOP.task(
    "Put {quantity} of the {variant[title]} in {variant[label]} into the cart." + IF_NOT,
    "The cart should hold {quantity} of the {variant[title]}, {variant[label]}: add them." + IF_NOT,
    heldout_wordings=("Add {quantity} pieces of the {variant[title]} ({variant[label]}) to my cart." + IF_NOT,),
    max_steps=30,
    expected_steps=8,
    tags=("find", "refuse", "medium"),
)
def add_more_than_stock(
    variant: Row = one_from(lambda state, _: [row for row in fresh(state) if 1 <= row["stock"] <= 40]),
    more: int = between(1, 9),
    quantity: int = computed(lambda state, p: p["variant"]["stock"] + p["more"]),
) -> Verifier:
    return answered("impossible")


@add_more_than_stock.oracle
async def _(page: Page, variant: Row) -> str:
    await open_product(page, variant["product_id"], variant["title"])
    await choose(page, variant)
    return "impossible"


# --- the cart -----------------------------------------------------------------------------------------------


@SHOP.task(
    "Change the quantity of the {line[title]} in the cart to {quantity}.",
    "The cart should hold {quantity} of the {line[title]}: change its quantity.",
    heldout_wordings=("I want {quantity} of the {line[title]} that is in my cart. Set the quantity.",),
    max_steps=16,
    expected_steps=7,
    tags=("edit", "table", "easy"),
)
def change_quantity(
    line: Row = one_from(lambda state, _: in_cart(state)),
    quantity: int = one_from(
        lambda state, p: [n for n in range(2, 7) if n <= p["line"]["stock"] and n != p["line"]["quantity"]]
    ),
) -> Verifier:
    return asked(changed("cart_lines", key=line["line"], quantity=quantity))


@change_quantity.oracle
async def _(page: Page, line: Row, quantity: int) -> None:
    await page.get_by_test_id("cart").click()
    row = page.get_by_test_id(f"line-{line['id']}")
    await row.locator("[name=quantity]").fill(str(quantity))
    await row.locator("[value=quantity]").click()


@SHOP.task(
    "Save the {line[title]} in the cart for later, and take the {other[title]} out of the cart.",
    "In the cart: put the {line[title]} aside for later and remove the {other[title]}.",
    heldout_wordings=(
        "I do not want the {other[title]} any more, remove it from the cart; the {line[title]} I may buy later, so save it.",
    ),
    max_steps=12,
    expected_steps=5,
    tags=("edit", "table", "easy"),
)
def tidy_cart(
    line: Row = one_from(lambda state, _: in_cart(state)),
    other: Row = one_from(lambda state, p: [row for row in in_cart(state) if row["id"] != p["line"]["id"]]),
) -> Verifier:
    return asked(changed("cart_lines", key=line["line"], saved=1), removed("cart_lines", id=other["line"]))


@tidy_cart.oracle
async def _(page: Page, line: Row, other: Row) -> None:
    await page.get_by_test_id("cart").click()
    await page.get_by_test_id(f"line-{line['id']}").locator("[value=save]").click()
    await page.get_by_test_id(f"line-{other['id']}").locator("[value=remove]").click()


@SHOP.task(
    "Use the coupon {code} for what is in the cart." + IF_NOT,
    "Apply the coupon code {code} to the cart." + IF_NOT,
    heldout_wordings=("I have the coupon {code}: enter it for my cart." + IF_NOT,),
    max_steps=14,
    expected_steps=6,
    tags=("form", "easy"),
)
def use_coupon(code: str = one_from(lambda state, _: valid_codes(state, usable=True))) -> Verifier:
    return asked(changed("checkout", key=1, code=code))


@use_coupon.oracle
async def _(page: Page, code: str) -> None:
    await page.get_by_test_id("cart").click()
    await enter(page, "coupon", code)


@SHOP.task(
    "Use the coupon {code} for what is in the cart." + IF_NOT,
    "Apply the coupon code {code} to the cart." + IF_NOT,
    heldout_wordings=("I have the coupon {code}: enter it for my cart." + IF_NOT,),
    max_steps=14,
    expected_steps=6,
    tags=("form", "refuse", "easy"),
)
def use_expired_coupon(code: str = one_from(lambda state, _: valid_codes(state, usable=False))) -> Verifier:
    return answered("impossible")


@use_expired_coupon.oracle
async def _(page: Page, code: str) -> str:
    await page.get_by_test_id("cart").click()
    await enter(page, "coupon", code)
    return "impossible"


# --- the wish list ------------------------------------------------------------------------------------------


@SHOP.task(
    "Put the best rated product of the category {category} on the wish list.",
    "Which product in {category} has the best rating? Add it to the wish list.",
    heldout_wordings=("Look through {category} and put the product with the highest rating on my wish list.",),
    max_steps=18,
    expected_steps=7,
    tags=("find", "compare", "medium"),
)
def wish_for_best(
    category: str = one_from(lambda state, _: [name for name in aisles(state) if best_rated(state, name)]),
    product: Row = computed(lambda state, p: best_rated(state, p["category"])),
) -> Verifier:
    return asked(added("wishes", product_id=product["id"]))


@wish_for_best.oracle
async def _(page: Page, product: Row) -> None:
    await page.get_by_test_id(f"category-{product['category_id']}").click()
    await page.get_by_test_id("sort").click()
    await page.get_by_test_id("sort-rating").click()
    await page.get_by_test_id(f"product-{product['id']}").click()
    await page.get_by_test_id("wish").click()


def plain_goods(state: State, params: Params) -> list[Row]:
    """Products in the store with one price for all variants."""
    return [row for row in goods(state) if row["low"] == row["high"]]


@SHOP.task(
    "How many dollars does the {dear[title]} cost more than the {cheap[title]}? Answer with the number.",
    "Compare the prices of the {dear[title]} and the {cheap[title]}: by how many dollars is the first one dearer? Answer with a number.",
    heldout_wordings=(
        "The {dear[title]} costs more than the {cheap[title]}. How much more, in dollars? Answer with that number.",
    ),
    max_steps=24,
    expected_steps=10,
    tags=("compare", "answer", "medium"),
)
def price_difference(
    dear: Row = one_from(lambda state, p: sorted(plain_goods(state, p), key=lambda row: row["low"])[8:]),
    cheap: Row = one_from(lambda state, p: [row for row in plain_goods(state, p) if row["low"] < p["dear"]["low"]]),
    difference: int = computed(lambda state, p: (p["dear"]["low"] - p["cheap"]["low"]) // 100),
) -> Verifier:
    return answered(difference)


@price_difference.oracle
async def _(page: Page, cheap: Row, dear: Row, difference: int) -> str:
    await open_product(page, cheap["id"], cheap["title"])
    await open_product(page, dear["id"], dear["title"])
    return str(difference)


def wished(state: State, params: Params) -> list[Row]:
    """What is on the wish list."""
    ids = {row["product_id"] for row in state.tables["wishes"]}
    return [row for row in found(state, "products") if row["id"] in ids]


@SHOP.task(
    "Take the {product[title]} off the wish list.",
    "Remove the {product[title]} from the wish list.",
    heldout_wordings=("I do not wish for the {product[title]} any more: clear it from my wish list.",),
    max_steps=9,
    expected_steps=4,
    tags=("navigate", "edit", "easy"),
)
def unwish(product: Row = one_from(wished)) -> Verifier:
    return asked(removed("wishes", product_id=product["id"]))


@unwish.oracle
async def _(page: Page, product: Row) -> None:
    await page.get_by_test_id("wishes").click()
    await page.get_by_test_id(f"unwish-{product['id']}").click()
