"""How the shop may look."""

from __future__ import annotations

from ..kit.looks import SHARED, Parts

PAGE_SIZE = {"comfortable": 12, "compact": 16}
"""Rows of a list's page in the back office, by density."""
CARDS = 12
"""Products on a page of the store."""
# fmt: off
PARTS: Parts = {
    **SHARED,
    "nav": ("home-orders-products-inventory-discounts-customers-categories", "orders-products-customers-discounts-inventory-categories-home",
            "home-products-inventory-categories-orders-customers-discounts", "customers-home-discounts-orders-inventory-products-categories"),
    "columns": ("number-date-customer-payment-fulfilment-total-tags", "number-customer-total-date-payment-fulfilment-tags",
                "number-fulfilment-payment-date-customer-tags-total", "date-number-total-customer-fulfilment-payment-tags"),
    "panel": ("start", "end"),
}
"""The parts of an appearance; `panel` is the side of the store's filters and of a record's details."""
# fmt: on
