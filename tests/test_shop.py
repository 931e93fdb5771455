"""The shop: the app by itself, its pages, its changes, its data."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from markupsafe import escape
from shops import SHOP, Shop, running

from uigym.apps.kit.language import language
from uigym.apps.shop import looks, seed
from uigym.apps.shop.app import HERE
from uigym.apps.shop.words import luhn
from uigym.types import Row

ROOT = Path(__file__).parent.parent
NASTY = "<script>alert('x')</script> & \"quotes\" {{ 7 * 7 }}"
ADDRESS = {"name": "Toni Brandt", "street": "1 Elm", "postal_code": "20095", "city": "Hamburg", "country": "Germany"}
CARD = {"holder": "Toni Brandt", "number": "4242 4242 4242 4242", "expiry": "09/29", "cvc": "737"}


def test_the_app_runs_alone() -> None:
    """It prints its address, serves, and needs nothing of uigym."""
    program = (
        "import sys; sys.modules['uigym'] = None; import runpy; runpy.run_module('apps.shop', run_name='__main__')"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "--port", "0", "--look", "language=de"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert httpx.get(f"{url}/healthz").text == "ok"
        assert "Warenkorb" in httpx.get(url).text
    finally:
        process.terminate()
        process.communicate(timeout=10)


# --- data and pages -----------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_data(tmp_path: Path) -> None:
    for content in looks.PARTS["content"]:
        seed.write(tmp_path / "shop.db", 7, {"content": content})
        first = SHOP.state.read(tmp_path / "shop.db")  # type: ignore[attr-defined]
        seed._records.cache_clear()
        seed.write(tmp_path / "shop.db", 7, {"content": content})
        assert SHOP.state.read(tmp_path / "shop.db") == first  # type: ignore[attr-defined]
        counts = {name: len(rows) for name, rows in first.tables.items()}
        assert counts["products"] >= 55 and counts["customers"] >= 40 and counts["orders"] >= 150
        titles = [row["title"] for row in first.tables["products"]]
        assert len(set(titles)) == len(titles)
    seed.write(tmp_path / "shop.db", 8, {})
    assert SHOP.state.read(tmp_path / "shop.db") != first  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="theme cannot be 'pink'"):
        seed.write(tmp_path / "shop.db", 8, {"theme": "pink"})


def test_sums_of_orders_are_right(tmp_path: Path) -> None:
    seed.write(tmp_path / "shop.db", 3, {})
    tables = SHOP.state.read(tmp_path / "shop.db").tables  # type: ignore[attr-defined]
    for order in tables["orders"]:
        lines = [row for row in tables["order_lines"] if row["order_id"] == order["id"]]
        assert sum(row["price"] * row["quantity"] for row in lines) == order["subtotal"]
        assert order["total"] == order["subtotal"] - order["discount"] + order["shipping"] >= 0
        paid_back = sum(row["amount"] for row in tables["refunds"] if row["order_id"] == order["id"])
        assert paid_back == order["refunded"] <= order["total"]
        assert (order["fulfilment"] == "cancelled") <= (order["refunded"] == order["total"])


LANGUAGES = {
    "en": {},
    "de": {"theme": "slate", "content": "long", "density": "compact", "nav": looks.PARTS["nav"][1]},
    "ko": {"theme": "sand", "content": "alike", "columns": looks.PARTS["columns"][2], "font": "serif"},
    "ar": {"theme": "graphite", "content": "hostile", "panel": "end", "columns": looks.PARTS["columns"][3]},
}


@pytest.mark.parametrize("code", LANGUAGES)
async def test_every_page_answers_in_every_language(tmp_path: Path, code: str) -> None:
    """All links from the first pages, a few of each kind; every text of the interface is known."""
    texts = language(HERE / "languages", code)
    async with running(tmp_path, 1, {**LANGUAGES[code], "language": code}) as shop:
        todo, seen, kinds = ["/", "/office", "/cart"], set(), dict[str, int]()
        while todo:
            path = todo.pop()
            kind = re.sub(r"\d+", "1", path.partition("?")[0])
            kinds[kind] = kinds.get(kind, 0) + 1
            if path in seen or kinds[kind] > 3:
                continue
            seen.add(path)
            answer = await shop.http.get(path)
            assert answer.status_code in (200, 303), path
            links = [link.replace("&amp;", "&") for link in re.findall(r'href="(/[^"]*)"', answer.text)]
            todo += [link for link in links if not link.startswith(("/static", "/office/orders.csv"))]
        assert len(kinds) >= 25
        page = await shop.get("/cart")
    assert f'lang="{code}" dir="{texts.direction}"' in page and texts("Checkout") in page
    assert (code == "en") == (texts("Checkout") == "Checkout")


async def test_what_is_not_there(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        foreign = next(row for row in shop.rows("orders") if row["customer_id"] != shop.me)
        hidden = shop.rows("products", visible=0)
        places = ["/nothing", "/products/1", "/office/orders/1", "/office/customers/99999999999999999999"]
        places += [f"/account/orders/{foreign['id']}", *(f"/products/{row['id']}" for row in hidden)]
        for path in places:
            answer = await shop.http.get(path)
            assert answer.status_code == 404 and "Not found" in answer.text, path


async def test_hostile_text_is_only_text(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        order, customer = shop.rows("orders")[-1], shop.rows("customers")[0]
        product = shop.rows("products", visible=1)[0]
        variants = shop.rows("variants", product_id=product["id"])
        form = {f"price-{row['id']}": "10" for row in variants}
        form |= {f"stock-{row['id']}": "3" for row in variants}
        form |= {"title": NASTY, "description": NASTY, "visible": "1"}
        await shop.changed(f"/office/products/{product['id']}", **form)
        await shop.changed(f"/office/orders/{order['id']}", act="note", note=NASTY)
        await shop.changed(f"/office/customers/{customer['id']}", note=NASTY)
        await shop.changed("/account/addresses", act="add", **{**ADDRESS, "name": NASTY})
        pages = [f"/products/{product['id']}", f"/office/products/{product['id']}", f"/office/orders/{order['id']}"]
        pages += [
            "/account/addresses",
            f"/office/customers/{customer['id']}",
            f"/products?q={NASTY}",
            "/office/orders?q=%25_",
        ]
        for path in pages:
            text = await shop.get(path)
            assert "<script>alert" not in text
        assert str(escape(NASTY)) in await shop.get(pages[0])


# --- the store ----------------------------------------------------------------------------------------------


def shown(page: str) -> list[int]:
    """The products on a page of the store, in its order."""
    return [int(id) for id in re.findall(r'data-testid="product-(\d+)"', page)]


async def test_the_shelf_is_narrowed_and_sorted(tmp_path: Path) -> None:
    async with running(tmp_path, 2) as shop:
        variants = shop.rows("variants")
        low = {
            row["id"]: min(v["price"] for v in variants if v["product_id"] == row["id"])
            for row in shop.rows("products")
        }
        category = shop.rows("categories")[2]
        mine = {row["id"] for row in shop.rows("products", category_id=category["id"], visible=1)}
        listed = shown(await shop.get(f"/products?category={category['id']}&sort=price"))
        assert set(listed) == mine and listed == sorted(listed, key=lambda id: (low[id], id))
        down = shown(await shop.get(f"/products?category={category['id']}&sort=price-down"))
        assert [low[id] for id in down] == sorted((low[id] for id in mine), reverse=True)
        for id in shown(await shop.get("/products?min=40&max=90&colour=Navy&stock=1")):
            own = [row for row in variants if row["product_id"] == id]
            assert (
                4_000 <= low[id] <= 9_000
                and any(row["colour"] == "Navy" for row in own)
                and any(row["stock"] for row in own)
            )
        ratings: dict[int, list[int]] = {}
        for row in shop.rows("reviews"):
            ratings.setdefault(row["product_id"], []).append(row["rating"])
        good = shown(await shop.get("/products?rating=4"))
        assert good and all(sum(ratings[id]) / len(ratings[id]) >= 3.95 for id in good)
        title = shop.rows("products", visible=1)[0]["title"]
        assert shown(await shop.get(f"/products?q={title}")) and "Nothing fits" in await shop.get("/products?q=zzzz")
        await shop.get("/products?min=abc&category=x&page=999&rating=")


def in_stock(shop: Shop) -> Row:
    """A variant in the store of which there are many, not in the cart."""
    held = {row["variant_id"] for row in shop.rows("cart_lines")}
    shown = {row["id"] for row in shop.rows("products", visible=1)}
    return next(
        row
        for row in shop.rows("variants")
        if row["stock"] > 8 and row["id"] not in held and row["product_id"] in shown
    )


async def test_the_cart(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        variant = in_stock(shop)
        page, buy = (
            f"/products/{variant['product_id']}",
            {"colour": variant["colour"], "size": variant["size"], "act": "add"},
        )
        changed = await shop.changed(page, **buy, quantity=2)
        (line,) = changed.pop("cart_lines")
        assert (line["variant_id"], line["quantity"], line["saved"]) == (variant["id"], 2, 0) and not changed
        (line,) = (await shop.changed(page, **buy, quantity=1))["cart_lines"]
        assert line["quantity"] == 3
        assert "only" in await shop.refused(page, **buy, quantity=variant["stock"])
        for wrong in ("0", "-1", "x", "100", ""):
            await shop.refused(page, **buy, quantity=wrong)
        await shop.refused(page, **{**buy, "size": "XXL"}, quantity=1)
        set_to = await shop.changed("/cart", act="quantity", line=line["id"], quantity=5)
        assert set_to == {"cart_lines": [{**line, "quantity": 5}]}
        await shop.refused("/cart", act="quantity", line=line["id"], quantity=variant["stock"] + 1)
        assert (await shop.changed("/cart", act="save", line=line["id"]))["cart_lines"][0]["saved"] == 1
        assert (await shop.changed("/cart", act="move", line=line["id"]))["cart_lines"][0]["saved"] == 0
        assert list(await shop.changed("/cart", act="remove", line=line["id"])) == ["-cart_lines"]
        assert (await shop.post("/cart", act="remove", line=line["id"])).status_code == 404


async def test_coupons(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        today = shop.rows("settings", key="now")[0]["value"][:10]
        coupons = shop.rows("discounts")
        expired = [row for row in coupons if row["ends_on"] and row["ends_on"] < today]
        plain = [row for row in coupons if row not in expired and row["starts_on"] <= today and not row["minimum"]]
        later = [row for row in coupons if row["starts_on"] > today]
        assert len(expired) >= 2 and len(plain) >= 2 and later
        for row in expired:
            assert "expired" in await shop.refused("/cart", act="coupon", code=row["code"])
        assert "not valid yet" in await shop.refused("/cart", act="coupon", code=later[0]["code"])
        assert "no coupon" in await shop.refused("/cart", act="coupon", code="NOPE")
        assert list(await shop.changed("/cart", act="coupon", code=plain[0]["code"].lower())) == ["checkout"]
        assert "One coupon per order" in await shop.refused("/cart", act="coupon", code=plain[1]["code"])
        await shop.changed("/cart", act="drop")
        for line in shop.rows("cart_lines"):
            await shop.changed("/cart", act="remove", line=line["id"])
        dear = next(row for row in coupons if row["minimum"] and row not in expired)
        assert "needs a subtotal" in await shop.refused("/cart", act="coupon", code=dear["code"])


@pytest.mark.parametrize("wrong", [{"postal_code": "ABC"}, {"name": " "}, {"country": "Atlantis"}, {"city": "x" * 201}])
async def test_addresses_are_checked(tmp_path: Path, wrong: dict[str, str]) -> None:
    async with running(tmp_path) as shop:
        await shop.refused("/checkout/address", **{**ADDRESS, **wrong})
        await shop.refused("/account/addresses", act="add", **{**ADDRESS, **wrong})


@pytest.mark.parametrize(
    "wrong",
    [
        {"number": "4242 4242 4242 4241"},
        {"number": "12"},
        {"expiry": "13/29"},
        {"expiry": "01/25"},
        {"cvc": "12"},
        {"holder": ""},
    ],
)
async def test_cards_are_checked(tmp_path: Path, wrong: dict[str, str]) -> None:
    async with running(tmp_path) as shop:
        await shop.changed("/checkout/address", **ADDRESS)
        await shop.changed("/checkout/delivery", delivery="pickup")
        await shop.refused("/checkout/payment", **{**CARD, **wrong})
    assert luhn("79927398713") and not luhn("79927398710")


async def test_an_order_is_placed_step_by_step(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        for step, back in (("delivery", "address"), ("payment", "address"), ("review", "address")):
            assert (await shop.http.get(f"/checkout/{step}")).headers["location"] == f"/checkout/{back}"
        assert (await shop.post("/checkout/review")).headers["location"] == "/checkout/address"
        lines, stock = shop.rows("cart_lines", saved=0), {row["id"]: row["stock"] for row in shop.rows("variants")}
        await shop.changed("/checkout/address", **ADDRESS)
        await shop.refused("/checkout/delivery", delivery="drone")
        await shop.changed("/checkout/delivery", delivery="express")
        await shop.changed("/checkout/payment", **CARD)
        assert "4242" in await shop.get("/checkout/review")
        changed = await shop.changed("/checkout/review")
        (order,) = changed["orders"]
        price = {row["id"]: row["price"] for row in shop.rows("variants")}
        assert order["total"] == sum(price[row["variant_id"]] * row["quantity"] for row in lines) + 1_500
        assert (order["name"], order["postal_code"], order["card"], order["fulfilment"]) == (
            "Toni Brandt",
            "20095",
            "4242",
            "unfulfilled",
        )
        assert order["id"] == max(row["id"] for row in shop.rows("orders"))
        assert {row["id"]: row["stock"] for row in changed["variants"]} == {
            row["variant_id"]: stock[row["variant_id"]] - row["quantity"] for row in lines
        }
        assert len(changed["order_lines"]) == len(lines) == len(changed["-cart_lines"])
        (draft,) = shop.rows("checkout")
        assert {*draft.values()} == {1, ""}
        assert str(order["id"]) in await shop.get(f"/account/orders/{order['id']}/thanks")
        assert (await shop.http.get("/checkout/address")).headers["location"] == "/cart"


async def test_orders_are_cancelled_returned_and_repeated(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        new, old = (shop.rows("orders", customer_id=shop.me, fulfilment=how)[0] for how in ("unfulfilled", "fulfilled"))
        assert "cannot" not in await shop.get(f"/account/orders/{new['id']}")
        changed = await shop.changed(f"/account/orders/{new['id']}", act="cancel")
        assert changed["orders"] == [{**new, "fulfilment": "cancelled", "refunded": new["total"]}]
        assert set(changed) == {"orders", "refunds", "variants"}
        await shop.refused(f"/account/orders/{new['id']}", act="cancel")
        await shop.refused(f"/account/orders/{old['id']}", act="cancel")
        line = shop.rows("order_lines", order_id=old["id"])[0]
        page = f"/account/orders/{old['id']}/return"
        form = {"line": line["id"], f"quantity-{line['id']}": "1", "reason": "damaged", "resolution": "exchange"}
        for wrong in ({"line": ""}, {"reason": "bored"}, {"resolution": ""}, {f"quantity-{line['id']}": "99"}):
            await shop.refused(page, **{**form, **wrong})
        (made,) = (await shop.changed(page, **form))["returns"]
        assert (made["line_id"], made["reason"], made["resolution"], made["status"]) == (
            line["id"],
            "damaged",
            "exchange",
            "requested",
        )
        assert (await shop.http.get(f"/account/orders/{new['id']}/return")).status_code == 303


async def test_wishes_and_addresses(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        wished = {row["product_id"] for row in shop.rows("wishes")}
        product = next(row for row in shop.rows("products", visible=1) if row["id"] not in wished)
        (wish,) = (await shop.changed(f"/products/{product['id']}", act="wish"))["wishes"]
        assert wish["product_id"] == product["id"] and not await shop.changed(f"/products/{product['id']}", act="wish")
        assert list(await shop.changed("/account/wishes", act="unwish", product=product["id"])) == ["-wishes"]
        mine = shop.rows("addresses", customer_id=shop.me)
        default, other = (
            next(row for row in mine if row["is_default"]),
            next(row for row in mine if not row["is_default"]),
        )
        await shop.refused("/account/addresses", act="delete", address=default["id"])
        changed = await shop.changed("/account/addresses", act="default", address=other["id"])
        assert {row["id"]: row["is_default"] for row in changed["addresses"]} == {default["id"]: 0, other["id"]: 1}
        assert list(await shop.changed("/account/addresses", act="delete", address=default["id"])) == ["-addresses"]
        foreign = next(row for row in shop.rows("addresses") if row["customer_id"] != shop.me)
        assert (await shop.post("/account/addresses", act="delete", address=foreign["id"])).status_code == 404


# --- the back office ----------------------------------------------------------------------------------------


async def test_orders_are_worked_on(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        order = next(row for row in shop.rows("orders", fulfilment="unfulfilled") if row["total"] > 3_000)
        page = f"/office/orders/{order['id']}"
        assert await shop.changed(page, act="fulfil") == {"orders": [{**order, "fulfilment": "fulfilled"}]}
        await shop.refused(page, act="fulfil")
        changed = await shop.changed(page, act="refund", amount="$12.50", reason="late")
        assert changed["orders"][0]["refunded"] == 1_250 and changed["refunds"][0]["amount"] == 1_250
        for amount in ("0", "-1", "x", "1.234", f"{order['total'] / 100:.2f}"):
            await shop.refused(page, act="refund", amount=amount, reason="late")
        await shop.refused(page, act="refund", amount="1", reason="")
        assert (await shop.changed(page, act="tag", tag="Very Urgent"))["order_tags"][0]["tag"] == "very urgent"
        await shop.refused(page, act="tag", tag="very urgent")
        await shop.refused(page, act="tag", tag="<b>")
        assert list(await shop.changed(page, act="untag", tag="very urgent")) == ["-order_tags"]
        assert (await shop.changed(page, act="note", note="Hello"))["orders"][0]["note"] == "Hello"
        waiting = [row["id"] for row in shop.rows("orders", fulfilment="unfulfilled")][:3]
        assert len((await shop.changed("/office/orders", act="fulfil", id=waiting))["orders"]) == 3
        await shop.refused("/office/orders", act="fulfil", id=[waiting[0], order["id"]])
        await shop.refused("/office/orders", act="fulfil")
        wanted = shop.rows("returns", status="requested")[0]
        of = next(row["order_id"] for row in shop.rows("order_lines") if row["id"] == wanted["line_id"])
        changed = await shop.changed(
            f"/office/orders/{of}", **{"act": "return", "return": wanted["id"], "status": "accepted"}
        )
        assert changed == {"returns": [{**wanted, "status": "accepted"}]}


async def test_the_file_of_orders(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        answer = await shop.http.get("/office/orders.csv?fulfilment=unfulfilled&sort=total&dir=asc")
        lines = list(csv.DictReader(io.StringIO(answer.text)))
        assert "orders.csv" in answer.headers["content-disposition"]
        assert len(lines) == len(shop.rows("orders", fulfilment="unfulfilled"))
        totals = [float(line["total"]) for line in lines]
        assert totals == sorted(totals) and "@" in lines[0]["email"] and lines[0]["company"]


async def test_products_stock_and_prices(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        product = shop.rows("products", visible=1)[3]
        variants = shop.rows("variants", product_id=product["id"])
        form = {"title": product["title"], "description": product["description"], "visible": "0", "compare_at": "999"}
        form |= {f"price-{row['id']}": f"{row['price'] / 100:.2f}" for row in variants}
        form |= {f"stock-{row['id']}": str(row["stock"]) for row in variants} | {f"stock-{variants[0]['id']}": "77"}
        changed = await shop.changed(f"/office/products/{product['id']}", **form)
        assert changed.pop("products") == [{**product, "visible": 0, "compare_at": 99_900}]
        assert changed == ({"variants": [{**variants[0], "stock": 77}]} if variants[0]["stock"] != 77 else {})
        for wrong in ({"title": ""}, {f"price-{variants[0]['id']}": "free"}, {f"stock-{variants[0]['id']}": "-1"}):
            await shop.refused(f"/office/products/{product['id']}", **{**form, **wrong})
        page = f"/office/inventory/{variants[0]['id']}"
        changed = await shop.changed(page, delta="-7", reason="damaged")
        assert changed["variants"][0]["stock"] == 70 and changed["adjustments"][0]["delta"] == -7
        for wrong in ({"delta": "0"}, {"delta": "-71"}, {"reason": "whim"}):
            await shop.refused(page, **{"delta": "1", "reason": "lost", **wrong})
        category = shop.rows("categories")[0]
        mine = {row["id"] for row in shop.rows("products", category_id=category["id"])}
        old = {row["id"]: row["price"] for row in shop.rows("variants") if row["product_id"] in mine}
        changed = await shop.changed(
            "/office/products", act="prices", category=category["id"], direction="raise", percent="7"
        )
        assert {row["id"]: row["price"] for row in changed["variants"]} == {
            id: price * 107 // 100 for id, price in old.items()
        }
        await shop.refused("/office/products", act="prices", category="all", direction="raise", percent="0")
        places = {row["id"]: row["position"] for row in shop.rows("categories")}
        last = max(places, key=lambda id: places[id])
        await shop.refused("/office/categories", act="down", category=last)
        assert len((await shop.changed("/office/categories", act="up", category=last))["categories"]) == 2


async def test_prices_stay_prices(tmp_path: Path) -> None:
    async with running(tmp_path) as shop:
        product = shop.rows("products")[0]
        variants = shop.rows("variants", product_id=product["id"])
        form = {"title": product["title"], "description": "", "compare_at": "", "visible": "1"}
        form |= {f"stock-{row['id']}": "5" for row in variants} | {f"price-{row['id']}": "9" for row in variants}
        path, field = f"/office/products/{product['id']}", f"price-{variants[0]['id']}"
        for wrong in ("12,50", "0", "1,000,000.01", "١٢", "12.5²"):
            assert wrong in await shop.refused(path, **form | {field: wrong}) or wrong[:1] in "01"
        price = {"act": "prices", "direction": "raise", "percent": "90"}
        assert (await shop.post("/office/products", **price, category="1.0")).status_code == 404
        assert (await shop.post("/office/products", **price, category="9" * 5_000)).status_code == 404
        await shop.changed(path, **form | {field: "$900,000.00"})
        assert "$1,000,000.00" in await shop.refused("/office/products", **price, category="all")
        await shop.changed(path, **form | {field: "0.01"})
        lower = {**price, "direction": "lower"}
        assert "$0.01" in await shop.refused("/office/products", **lower, category="all")
        assert "Nothing fits" in await shop.get("/office/products?category=999")


async def test_discounts_and_customers(tmp_path: Path) -> None:
    form = {
        "code": "new-10",
        "kind": "percent",
        "value": "10",
        "minimum": "",
        "starts_on": "2026-01-01",
        "ends_on": "2026-12-24",
    }
    async with running(tmp_path) as shop:
        (made,) = (await shop.changed("/office/discounts/new", **form))["discounts"]
        assert (made["code"], made["value"], made["minimum"], made["ends_on"]) == ("NEW-10", 10, 0, "2026-12-24")
        used = shop.rows("discounts")[0]["code"]
        for wrong in (
            {"code": used},
            {"code": "?"},
            {"value": "101"},
            {"ends_on": "2025-01-01"},
            {"starts_on": "soon"},
            {"kind": "gift"},
        ):
            await shop.refused("/office/discounts/new", **{**form, "code": "OTHER", **wrong})
        page = f"/office/discounts/{made['id']}"
        changed = await shop.changed(page, **{**form, "kind": "fixed", "value": "12.50", "ends_on": ""})
        assert changed == {"discounts": [{**made, "kind": "fixed", "value": 1_250, "ends_on": None}]}
        assert list(await shop.changed(page, act="delete")) == ["-discounts"]
        customer = shop.rows("customers", note="")[0]
        assert await shop.changed(f"/office/customers/{customer['id']}", note="VIP") == {
            "customers": [{**customer, "note": "VIP"}]
        }
        assert customer["company"] in await shop.get(f"/office/customers?q={customer['email']}")


async def test_names_dates_and_amounts_keep_their_order_in_arabic(tmp_path: Path) -> None:
    async with running(tmp_path, look={"language": "ar"}) as shop:
        product = next(row["product_id"] for row in shop.state().tables["reviews"])
        assert re.search(r"<bdi>[^<]+</bdi> · <bdi>\d+ \S+ \d{4}</bdi>", await shop.get(f"/products/{product}"))
    said = language(HERE / "languages", "ar")("Refunded: {amount}", amount="$12.50")
    assert said.endswith("\u2068$12.50\u2069")
