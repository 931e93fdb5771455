"""Fills the shop with data: the same seed gives the same rows, always."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..kit.looks import whole
from ..kit.people import People, host
from ..kit.store import Rows, fill
from . import catalogue
from .looks import PARTS
from .schema import DELIVERIES, FREE_FROM, RETURN_REASONS, SCHEMA, STOCK_REASONS

HISTORY = timedelta(days=84)
Row = tuple[Any, ...]


def write(db_path: Path | str, seed: int, appearance: Mapping[str, str]) -> None:
    """Replace all data by the seed's, in one transaction; parts of the appearance left out take their default.

    Raises:
        ValueError: The appearance has a part or a value that the shop does not know.
    """
    looks = whole(PARTS, appearance)
    tables, me = _records(seed, looks["content"])
    settings = {**looks, "now": clock(seed).isoformat(" "), "me": str(me), "staff": "Robin Vale"}
    fill(Path(db_path), SCHEMA, tables, settings)


def clock(seed: int) -> datetime:
    """The seed's moment: everything that happens in an episode happens then."""
    rng = random.Random(f"shop:clock:{seed}")
    return datetime(2026, 2, 2, 9) + timedelta(days=rng.randrange(300), minutes=rng.randrange(540))


@lru_cache(maxsize=64)
def _records(seed: int, content: str) -> tuple[Mapping[str, Rows], int]:
    rng = random.Random(f"shop:{seed}:{content}")
    making = _Making(rng, clock(seed), People(rng, content))
    making.goods()
    making.write_reviews()
    making.add_customers()
    making.add_discounts()
    making.add_orders()
    making.add_aftermath()
    making.fill_cart()
    return {name: tuple(rows) for name, rows in making.tables.items()}, making.me


class _Making:
    """The data of one seed while it is made; each step uses what the steps before have made."""

    def __init__(self, rng: random.Random, now: datetime, people: People):
        self.rng, self.now, self.people = rng, now, people
        names = ("categories", "products", "variants", "reviews", "customers", "addresses", "discounts", "orders",
                 "order_lines", "order_tags", "refunds", "returns", "cart_lines", "checkout", "wishes", "adjustments", "events")  # fmt: skip
        self.tables: dict[str, list[Row]] = {name: [] for name in names}
        self.me = 0

    def add(self, table: str, *values: Any) -> int:
        """A row with the next id."""
        rows = self.tables[table]
        id = rows[-1][0] + 1 if rows else 1
        rows.append((id, *values))
        return int(id)

    def ago(self, most: timedelta = HISTORY, least: int = 1) -> datetime:
        return self.now - timedelta(days=self.rng.randint(least, most.days), minutes=self.rng.randrange(600))

    # --- goods ----------------------------------------------------------------------------------------------

    def goods(self) -> None:
        first = self.rng.randrange(100, 400)
        self.tables["products"].append((first, 0))  # numbers begin here
        names = list(catalogue.CATEGORIES)
        self.rng.shuffle(names)
        for position, name in enumerate(names, 1):
            category = self.add("categories", name, position)
            for kind in catalogue.CATEGORIES[name]:
                for line in self._lines(2 if self.rng.random() < 0.55 else 3):
                    self._product(category, kind, line)
        del self.tables["products"][0]

    def _lines(self, count: int) -> list[str]:
        alike = self.people.content == "alike"
        return self.rng.sample(catalogue.ALIKE if alike else catalogue.LINES, count)

    def _product(self, category: int, kind: catalogue.Kind, line: str) -> None:
        rng = self.rng
        title = f"{line} {kind.name}"
        if self.people.content == "long" and rng.random() < 0.5:
            title += f" {rng.choice(catalogue.LONG)}"
        base = rng.randint(kind.low, kind.high)
        reduced = rng.random() < 0.25
        compare_at = (base + rng.randint(5, 30)) * 100 if reduced else None
        visible = int(rng.random() < 0.94)
        day = f"{self.ago(timedelta(days=700), 90):%Y-%m-%d}"
        product = self.add(
            "products", category, title, self.people.text(kind.about), kind.picture, compare_at, visible, day
        )
        colours = rng.sample(list(catalogue.COLOURS), rng.choice((1, 2, 2, 3)))
        for colour in colours:
            for number, size in enumerate(kind.sizes):
                sku = f"{line[:2].upper()}{product}-{colour[:3].upper()}-{number + 1}"
                price = (base + kind.step * number) * 100
                self.add("variants", product, sku, colour, size, price, self._stock())

    def _stock(self) -> int:
        return self.rng.choices((0, self.rng.randint(1, 5), self.rng.randint(6, 60)), (2, 2, 9))[0]

    def write_reviews(self) -> None:
        authors = self.people.names(40)
        for id, *_ in self.tables["products"]:
            liked = self.rng.random()
            for _ in range(self.rng.choice((0, 1, 3, 4, 5, 6, 8))):
                rating = self.rng.choices((5, 4, 3, 2, 1), (2 + 6 * liked, 4, 2, 1.5 - liked, 1.2 - liked))[0]
                title, body = self.rng.choice(catalogue.REVIEWS[rating])
                day = f"{self.ago(timedelta(days=400)):%Y-%m-%d}"
                self.add("reviews", id, self.rng.choice(authors), rating, title, self.people.text(body), day)

    # --- people ---------------------------------------------------------------------------------------------

    def add_customers(self) -> None:
        rng = self.rng
        names = self.people.names(rng.randint(42, 50))
        companies = self.people.companies(30)
        self.tables["customers"].append((rng.randrange(200, 700), 0))
        for name in names:
            company = rng.choice(companies)
            phone = f"+{rng.choice((1, 33, 44, 45, 49))} {rng.randint(201, 989)} 555 {rng.randint(0, 9999):04d}"
            note = self.people.text("Prefers to be written to.", 0.6) if rng.random() < 0.2 else ""
            since = f"{self.ago(timedelta(days=1200), 120):%Y-%m-%d}"
            mailbox = self.people.mailbox(name, host(company))
            self.add("customers", name, mailbox, phone, company, note, since)
        del self.tables["customers"][0]
        self.me = rng.choice(self.tables["customers"])[0]
        for id, name, *_ in self.tables["customers"]:
            count = 3 if id == self.me else rng.choice((1, 1, 2))
            streets = [self.people.street() for _ in range(count)]
            for number, place in enumerate(rng.sample(catalogue.PLACES, count)):
                city, country, code = place
                self.add("addresses", id, name, streets[number], city, code, country, int(number == 0))

    def add_discounts(self) -> None:
        """Two plain percentages, an amount and a percentage from a minimum on, one to come, two that are over."""
        rng = self.rng
        day = self.now.date()
        codes = rng.sample(catalogue.CODES, 8)
        percents = rng.sample((10, 15, 20, 25, 30), 5)
        ends = [None, day + timedelta(days=rng.randint(5, 40)), None, day + timedelta(days=rng.randint(3, 30)), None]
        ends += [
            day + timedelta(days=60),
            day - timedelta(days=rng.randint(3, 20)),
            day - timedelta(days=rng.randint(30, 60)),
        ]
        for i, code in enumerate(codes):
            fixed = i in (2, 4)
            value = rng.choice((10, 15, 25)) if fixed else percents[i % 5]
            minimum = rng.choice((8_000, 12_000, 15_000)) if i in (2, 3) else 0
            starts = day + timedelta(days=7) if i == 5 else day - timedelta(days=70)
            end = ends[i]
            self.add(
                "discounts",
                f"{code}{value}",
                "fixed" if fixed else "percent",
                value * 100 if fixed else value,
                minimum,
                str(starts),
                str(end) if end else None,
            )

    # --- orders ---------------------------------------------------------------------------------------------

    def add_orders(self) -> None:
        rng = self.rng
        count = rng.randint(150, 190)
        minutes = sorted(rng.sample(range(40, int(HISTORY.total_seconds()) // 60), count), reverse=True)
        buyers = [row[0] for row in self.tables["customers"] for _ in range(rng.choice((3, 4, 5, 8)))]
        buyers = rng.sample([id for id in buyers if id != self.me], count)
        mine = {*rng.sample(range(count - 14, count), 3), *rng.sample(range(20, count - 50), 5)}
        self.tables["orders"].append((rng.randrange(10_100, 19_000), 0))
        for i, age in enumerate(minutes):
            buyer = self.me if i in mine else buyers[i]
            fulfilment = self._fulfilment(i, count)
            if i in mine:
                fulfilment = "unfulfilled" if i >= count - 14 else "fulfilled"
            self._order(buyer, fulfilment, self.now - timedelta(minutes=age))
        del self.tables["orders"][0]

    def _fulfilment(self, i: int, count: int) -> str:
        if self.rng.random() < 0.06:
            return "cancelled"
        return "unfulfilled" if self.rng.random() < (0.8 if i > count * 0.8 else 0.08) else "fulfilled"

    def _order(self, buyer: int, fulfilment: str, at: datetime) -> None:
        rng = self.rng
        address = rng.choice([row for row in self.tables["addresses"] if row[1] == buyer])
        lines = self._lines_of_order()
        subtotal = sum(variant[5] * quantity for variant, quantity in lines)
        usable = [row for row in self.tables["discounts"] if row[4] <= subtotal and row[5] <= f"{at:%Y-%m-%d}"]
        used = rng.choice(usable) if usable and rng.random() < 0.3 else None
        off = 0 if used is None else min(subtotal, used[3] if used[2] == "fixed" else subtotal * used[3] // 100)
        delivery = rng.choice(list(DELIVERIES))
        shipping = 0 if delivery == "standard" and subtotal - off >= FREE_FROM else DELIVERIES[delivery][1]
        total = subtotal - off + shipping
        refunded = total if fulfilment == "cancelled" else 0
        note = self.people.text(rng.choice(catalogue.NOTES), 0.5) if rng.random() < 0.15 else ""
        stamp = at.replace(second=0, microsecond=0).isoformat(" ")
        id = self.add(
            "orders", buyer, *address[2:7], delivery, f"{rng.randrange(10_000):04d}", subtotal,
            used[1] if used else "", off, shipping, total, refunded, fulfilment, note, stamp,
        )  # fmt: skip
        titles = {row[0]: row[2] for row in self.tables["products"]}
        for variant, quantity in lines:
            shown = variant_name(variant[3], variant[4])
            self.add("order_lines", id, variant[0], titles[variant[1]], shown, variant[5], quantity)
        for tag in rng.sample(catalogue.TAGS, rng.choice((0, 0, 0, 1, 1, 2))):
            self.add("order_tags", id, tag)
        if refunded:
            self.add("refunds", id, refunded, "cancelled", stamp)

    def _lines_of_order(self) -> list[tuple[Row, int]]:
        """One to four variants, each of another product."""
        picked = self.rng.sample(self.tables["variants"], self.rng.choice((1, 1, 2, 2, 3, 4)))
        own = {variant[1]: variant for variant in picked}
        return [(variant, self.rng.choice((1, 1, 1, 2, 3))) for variant in own.values()]

    def add_aftermath(self) -> None:
        """Refunds, returns, and corrections of the stock."""
        rng = self.rng
        done = [i for i, row in enumerate(self.tables["orders"]) if row[15] == "fulfilled" and row[1] != self.me]
        for i in sorted(rng.sample(done, 12)):
            order = self.tables["orders"][i]
            amount = order[13] if rng.random() < 0.3 else order[13] // 300 * 100
            if amount:
                self.tables["orders"][i] = (*order[:14], amount, *order[15:])
                self.add("refunds", order[0], amount, "goodwill", order[17])
        chosen = {self.tables["orders"][i][0] for i in rng.sample(done, 10)}
        for line in self.tables["order_lines"]:
            if line[1] in chosen:
                chosen.discard(line[1])
                kind = rng.choice(("refund", "exchange"))
                stamp = self.now.replace(second=0, microsecond=0).isoformat(" ")
                self.add("returns", line[0], 1, rng.choice(RETURN_REASONS), kind, "requested", stamp)
        for variant in rng.sample(self.tables["variants"], 10):
            stamp = self.ago().replace(second=0, microsecond=0).isoformat(" ")
            self.add("adjustments", variant[0], rng.choice((-3, -2, -1, 4, 10)), rng.choice(STOCK_REASONS), stamp)

    def fill_cart(self) -> None:
        """Three things in the cart, one put aside, four wishes."""
        rng = self.rng
        shown = {row[0] for row in self.tables["products"] if row[6]}
        some = {row[1]: row for row in rng.sample(self.tables["variants"], 80) if row[6] >= 6 and row[1] in shown}
        for number, variant in enumerate(list(some.values())[:4]):
            self.add("cart_lines", variant[0], rng.choice((1, 1, 2)), int(number == 3))
        for product in rng.sample(sorted(shown), 4):
            self.add("wishes", product)
        self.add("checkout", *[""] * 8)


def variant_name(colour: str, size: str) -> str:
    """How a variant is called beside its product: "Navy / M", or its colour alone."""
    return colour if size == "One size" else f"{colour} / {size}"
