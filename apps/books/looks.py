"""How the books may look: the kit's parts, the order of the sidebar and of the invoice columns, the side of the details."""

from __future__ import annotations

from ..kit.looks import SHARED

PAGE_SIZE = {"comfortable": 14, "compact": 19}
"""Rows of a list's page, by density."""
PARTS: dict[str, tuple[str, ...]] = {
    **SHARED,
    "nav": ("home-invoices-customers-products-expenses-suppliers-bank-sheets-reports",
            "home-invoices-expenses-bank-reports-sheets-customers-suppliers-products",
            "reports-home-bank-invoices-expenses-customers-products-suppliers-sheets",
            "sheets-reports-home-customers-invoices-products-suppliers-expenses-bank"),
    "columns": ("number-customer-reference-issued-due-status-total-open", "number-status-customer-reference-due-issued-open-total",
                "status-number-issued-due-customer-total-open-reference", "due-customer-number-total-open-status-reference-issued"),
    "panel": ("right", "left"),
}  # fmt: skip
"""The parts of an appearance and the values that each may take; the first is the default."""
