"""The pages of the back office."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from ..kit.numbers import number
from ..kit.pages import ordered
from ..kit.store import connect, record, settings
from ..kit.web import found
from . import queries, running
from .queries import Chosen
from .schema import DELIVERIES, FULFILMENTS, LOW_STOCK, PAYMENTS, STOCK_REASONS
from .site import Act, Asked, Face

NAV = {
    "home": ("Home", "/office", "home"),
    "orders": ("Orders", "/office/orders", "inbox"),
    "products": ("Products", "/office/products", "tag"),
    "inventory": ("Inventory", "/office/inventory", "box"),
    "discounts": ("Discounts", "/office/discounts", "star"),
    "customers": ("Customers", "/office/customers", "people"),
    "categories": ("Categories", "/office/categories", "folder"),
}
COLUMNS = {
    "number": "Order",
    "date": "Date",
    "customer": "Customer",
    "payment": "Payment",
    "fulfilment": "Fulfilment",
    "total": "Total",
    "tags": "Tags",
}
ORDER_FILTERS = ("q", "fulfilment", "payment", "tag", "sort", "dir")
FILE = ("order", "date", "customer", "email", "company", "items", "payment", "fulfilment", "total", "refunded", "tags")


def shell(db: sqlite3.Connection) -> dict[str, Any]:
    """What every page of the back office shows."""
    looks = settings(db)
    return {
        "nav": ordered(NAV, looks["nav"]),
        "columns": ordered(COLUMNS, looks["columns"]),
        "me": {"name": looks["staff"]},
        "LOW_STOCK": LOW_STOCK,
    }


def add_pages(face: Face) -> None:
    """The pages that the staff sees."""
    face.page("/office", "office/home.html", lambda asked: {"place": "home", **queries.overview(asked.db, asked.today)})
    face.page("/office/orders", "office/orders.html", _orders, {"fulfil": _fulfil_many})
    face.page("/office/orders/{id:int}", "office/order.html", _order, _ORDER)
    face.page("/office/products", "office/products.html", _products, {"prices": _change_prices})
    face.page("/office/products/{id:int}", "office/product.html", _product, {"": _edit_product})
    face.page("/office/inventory", "office/inventory.html", _inventory)
    face.page("/office/inventory/{id:int}", "office/variant.html", _variant, {"": _adjust})
    face.page("/office/discounts", "office/discounts.html", _discounts)
    face.page("/office/discounts/new", "office/discount.html", _new_discount, {"": _create_discount})
    face.page(
        "/office/discounts/{id:int}",
        "office/discount.html",
        _discount,
        {"": _edit_discount, "delete": _delete_discount},
    )
    face.page("/office/customers", "office/customers.html", _customers)
    face.page("/office/customers/{id:int}", "office/customer.html", _customer, {"": _customer_note})
    face.page(
        "/office/categories", "office/categories.html", _categories, {"up": _move_category, "down": _move_category}
    )

    @face.app.get("/office/orders.csv")
    async def orders_file(request: Request) -> Response:
        with connect(face.database) as db:
            rows = queries.all_orders(db, Chosen("", request.query_params, *ORDER_FILTERS))
        headers = {"Content-Disposition": 'attachment; filename="orders.csv"'}
        return Response(_csv(rows), media_type="text/csv; charset=utf-8", headers=headers)


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(FILE)
    for row in rows:
        money = {key: f"{row[key] / 100:.2f}" for key in ("total", "refunded")}
        line = {**row, **money, "order": row["id"], "date": row["created_at"][:10], "tags": row["tags"] or ""}
        writer.writerow([_plain(line[key]) for key in FILE])
    return text.getvalue()


def _plain(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value


# --- orders --------------------------------------------------------------------------------------------------


def _orders(asked: Asked) -> dict[str, Any]:
    chosen = Chosen("/office/orders", asked.query, *ORDER_FILTERS)
    return {
        "place": "orders",
        "chosen": chosen,
        "q": chosen["q"],
        "page": queries.orders(asked.db, chosen, asked.query, asked.settings["density"]),
        "menus": {"fulfilment": FULFILMENTS, "payment": PAYMENTS, "tag": queries.tags(asked.db)},
        "file": Chosen("/office/orders.csv", chosen, *ORDER_FILTERS).url(),
    }


def _fulfil_many(asked: Asked) -> tuple[str, str]:
    ids = [number(value) for name, value in asked.fields if name == "id"]
    running.fulfil_many(asked.db, ids)
    return "/office/orders", "Orders fulfilled"


def _order(asked: Asked) -> dict[str, Any]:
    return {"place": "orders", "order": found(queries.order(asked.db, asked.id)), "deliveries": DELIVERIES}


def _on_order(change: Callable[[sqlite3.Connection, int, Mapping[str, str]], None], said: str) -> Act:
    def act(asked: Asked) -> tuple[str, str]:
        change(asked.db, asked.id, asked.form)
        return f"/office/orders/{asked.id}", said

    return act


_ORDER: dict[str, Act] = {
    "fulfil": _on_order(lambda db, id, form: running.fulfil(db, id), "Order fulfilled"),
    "refund": _on_order(running.refund, "Money refunded"),
    "note": _on_order(running.note, "Note saved"),
    "tag": _on_order(running.add_tag, "Tag added"),
    "untag": _on_order(running.remove_tag, "Tag removed"),
    "return": _on_order(running.settle_return, "Return saved"),
}


# --- products ------------------------------------------------------------------------------------------------


def _products(asked: Asked) -> dict[str, Any]:
    chosen = Chosen("/office/products", asked.query, "q", "category", "visibility")
    return {
        "place": "products",
        "chosen": chosen,
        "q": chosen["q"],
        "page": queries.goods(asked.db, chosen, asked.query, asked.settings["density"]),
        "categories": queries.categories(asked.db),
    }


def _change_prices(asked: Asked) -> tuple[str, str]:
    running.change_prices(asked.db, asked.form)
    return "/office/products", "Prices saved"


def _product(asked: Asked) -> dict[str, Any]:
    product = found(queries.product(asked.db, asked.id))
    return {"place": "products", "product": product, "events": queries.events(asked.db, "product", asked.id)}


def _edit_product(asked: Asked) -> tuple[str, str]:
    running.edit_product(asked.db, asked.id, asked.form)
    return f"/office/products/{asked.id}", "Product saved"


def _inventory(asked: Asked) -> dict[str, Any]:
    chosen = Chosen("/office/inventory", asked.query, "q", "low")
    page = queries.inventory(asked.db, chosen, asked.query, asked.settings["density"])
    return {"place": "inventory", "chosen": chosen, "q": chosen["q"], "page": page}


def _variant(asked: Asked) -> dict[str, Any]:
    return {"place": "inventory", "variant": found(queries.variant(asked.db, asked.id)), "reasons": STOCK_REASONS}


def _adjust(asked: Asked) -> tuple[str, str]:
    running.adjust(asked.db, asked.id, asked.form)
    return f"/office/inventory/{asked.id}", "Stock saved"


def _categories(asked: Asked) -> dict[str, Any]:
    return {"place": "categories", "categories": queries.categories(asked.db)}


def _move_category(asked: Asked) -> tuple[str, str]:
    running.move_category(asked.db, asked.form)
    return "/office/categories", "Order saved"


# --- discounts and customers ---------------------------------------------------------------------------------


def _discounts(asked: Asked) -> dict[str, Any]:
    return {"place": "discounts", "discounts": queries.discounts(asked.db, asked.today)}


def _new_discount(asked: Asked) -> dict[str, Any]:
    entered = {"code": "", "kind": "percent", "value": "", "minimum": "", "starts_on": asked.today, "ends_on": ""}
    return {"place": "discounts", "entered": {**entered, **asked.form}, "code": ""}


def _create_discount(asked: Asked) -> tuple[str, str]:
    running.create_discount(asked.db, asked.form)
    return "/office/discounts", "Discount saved"


def _discount(asked: Asked) -> dict[str, Any]:
    discount = found(record(asked.db, "SELECT * FROM discounts WHERE id = ?", [asked.id]))
    fixed = discount["kind"] == "fixed"
    value = f"{discount['value'] / 100:.2f}" if fixed else str(discount["value"])
    least = f"{discount['minimum'] / 100:.2f}" if discount["minimum"] else ""
    entered = {**discount, "value": value, "minimum": least, "ends_on": discount["ends_on"] or ""}
    return {"place": "discounts", "entered": {**entered, **asked.form}, "code": discount["code"]}


def _edit_discount(asked: Asked) -> tuple[str, str]:
    running.edit_discount(asked.db, asked.id, asked.form)
    return "/office/discounts", "Discount saved"


def _delete_discount(asked: Asked) -> tuple[str, str]:
    running.delete_discount(asked.db, asked.id)
    return "/office/discounts", "Discount deleted"


def _customers(asked: Asked) -> dict[str, Any]:
    chosen = Chosen("/office/customers", asked.query, "q")
    page = queries.customers(asked.db, chosen, asked.query, asked.settings["density"])
    return {"place": "customers", "chosen": chosen, "q": chosen["q"], "page": page}


def _customer(asked: Asked) -> dict[str, Any]:
    return {
        "place": "customers",
        "customer": found(queries.customer(asked.db, asked.id)),
        "orders": queries.orders_of(asked.db, asked.id),
        "addresses": queries.addresses(asked.db, asked.id),
    }


def _customer_note(asked: Asked) -> tuple[str, str]:
    running.customer_note(asked.db, asked.id, asked.form)
    return f"/office/customers/{asked.id}", "Note saved"
