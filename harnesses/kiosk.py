"""The kiosk: how to start, reset and read it, and what an agent must do in it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from uigym.apps.kiosk import looks
from uigym.apps.kiosk import seed as kiosk_data
from uigym.apps.kiosk.catalogue import NOTES
from uigym.harness import Harness, Looks, Running, Task
from uigym.params import computed, one_from, one_of, rows
from uigym.product.state import Sqlite
from uigym.types import Row, State
from uigym.verifiers.kiosk import just, line_of, ordered, said, shown
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier

HELDOUT_THEMES = ("lilac", "coral", "ocean", "plum")
HELDOUT_LAYOUTS = ("harbour", "counter", "tray")
HELDOUT_FONTS = ("Noto Sans Display", "Noto Serif")


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the product the seed's data, by its database file."""
    await asyncio.to_thread(kiosk_data.write, product.workdir / "kiosk.db", seed, appearance)


def _look(names: Mapping[str, Any] | tuple[str, ...], heldout: tuple[str, ...]) -> Looks:
    return Looks(tuple(name for name in names if name not in heldout), heldout)


kiosk = Harness(
    name="kiosk",
    asgi="uigym.apps.kiosk.app:create_app",
    ready="/healthz",
    state=Sqlite("{workdir}/kiosk.db"),
    reset=reset,
    viewport=(320, 256),
    looks={
        "theme": _look(looks.THEMES, HELDOUT_THEMES),
        "layout": _look(looks.LAYOUTS, HELDOUT_LAYOUTS),
        "font": _look(looks.FONTS, HELDOUT_FONTS),
        "corners": Looks(tuple(looks.CORNERS)),
        "cards": Looks(looks.CARDS),
    },
)


def _task(*wordings: str, steps: int, skill: str = "order") -> Callable[[Callable[..., Verifier]], Task]:
    """A task of at most so many actions, the last one (done, answer) counted; short means four or fewer."""
    tags = (skill, "short" if steps <= 4 else "long")
    return kiosk.task(*wordings, max_steps=2 * steps + 2, expected_steps=steps, tags=tags)


# --- what the instructions speak of --------------------------------------------------------------------------

Params = Mapping[str, Any]


def _open(row: Row, params: Params) -> bool:
    return row["status"] in ("sent", "ready")


def _plain(row: Row, params: Params) -> bool:
    """On the ticket at one tap, and no item that the instruction names already."""
    named = [value["id"] for value in params.values() if isinstance(value, dict)]
    return not (row["sold_out"] or row["large_cents"] or row["has_extras"] or row["id"] in named)


def _sized(row: Row, params: Params) -> bool:
    return not row["sold_out"] and row["large_cents"] is not None


def _menu_of(state: State, item: Row) -> str:
    return next(str(row["name"]) for row in state.tables["categories"] if row["id"] == item["category_id"])


def _open_orders(state: State) -> dict[int, Row]:
    return {row["id"]: row for row in state.tables["orders"] if _open(row, {})}


def _open_lines(state: State, params: Params) -> list[Row]:
    """Lines of open orders; no item is in two of those."""
    return [line for line in state.tables["order_lines"] if line["order_id"] in _open_orders(state)]


def _spare_lines(state: State, params: Params) -> list[Row]:
    """Lines of open orders that have another line."""
    count = Counter(line["order_id"] for line in _open_lines(state, params))
    return [line for line in _open_lines(state, params) if count[line["order_id"]] > 1]


ITEM: Row = rows("items", where=_plain)
SIZED: Row = rows("items", where=_sized)
RICH: Row = rows("items", where=lambda row, params: _sized(row, params) and row["has_extras"])
EXTRA: str = rows("extras", "name", where=lambda row, params: row["item_id"] == params["item"]["id"])
IN_STOCK: Row = rows("items", where={"sold_out": 0})
SOLD_OUT: Row = rows("items", where={"sold_out": 1})
CATEGORY: str = rows("categories", "name", where=lambda row, params: row["id"] > 1)
"""Not the first one, which is open when an episode begins."""
MENU: str = computed(lambda state, params: _menu_of(state, params["item"]))
"""Where the item is: it is not known by heart that a Lungo is a coffee."""
TABLE: int = rows("tables", "number")
NOTE: str = one_of(*NOTES)
COUNTS = {"two": 2, "three": 3}
ORDER: Row = rows("orders", where=_open)
NUMBER: int = rows("orders", "id", where=_open)
READY: Row = rows("orders", where={"status": "ready"})
LINE: Row = one_from(_open_lines)
SPARE_LINE: Row = one_from(_spare_lines)
ORDER_OF_LINE: Row = computed(lambda state, params: _open_orders(state)[params["line"]["order_id"]])


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


# --- how the oracle works ------------------------------------------------------------------------------------


async def _press(page: Any, name: str) -> None:
    await page.get_by_role("button", name=name, exact=True).click()


async def _open_tab(page: Any, category_id: int) -> None:
    tab = page.get_by_role("tab").nth(category_id - 1)
    if await tab.get_attribute("aria-selected") != "true":
        await tab.click()


async def _tap_items(page: Any, *items: Row) -> None:
    for item in items:
        await _open_tab(page, item["category_id"])
        await page.get_by_role("button", name=re.compile(f"^{re.escape(item['name'])},")).click()


async def _open_section(page: Any, section: str) -> None:
    await page.get_by_role("link", name=section, exact=True).click()


async def _open_order(page: Any, number: int) -> None:
    await _open_section(page, "Orders")
    await _press(page, f"Order {number}")


async def _send_for(page: Any, table: int) -> None:
    await _press(page, "Table ?")
    await _press(page, f"Table {table}")
    await _press(page, "Send")


async def _type_note(page: Any, note: str) -> None:
    await _press(page, "Note")
    await page.get_by_role("textbox").wait_for()
    await page.keyboard.type(note)
    await _press(page, "Save")


# --- finding the way: at most four actions -------------------------------------------------------------------


@_task("Open {category}.", "Show the {category} menu.", steps=2, skill="navigation")
def open_category(category: str = CATEGORY) -> Verifier:
    return shown(f"/menu/{category.lower()}")


@open_category.oracle
async def _(page: Any, category: str) -> None:
    await page.get_by_role("tab", name=category, exact=True).click()


@_task("Open the {section} page.", "Go to {section}.", steps=2, skill="navigation")
def open_section(section: str = one_of("Orders", "Stock")) -> Verifier:
    return shown({"Orders": "/orders", "Stock": "/stock/*"}[section])


open_section.oracle(_open_section)


@_task("Open Orders, then order {number}.", "In Orders: show order {number}.", steps=3, skill="navigation")
def show_order(number: int = NUMBER) -> Verifier:
    return shown(f"/orders/{number}")


show_order.oracle(_open_order)


# --- questions -----------------------------------------------------------------------------------------------


@_task("Open {menu}. How much is {item[name]}?", "In {menu}: what does {item[name]} cost?", steps=2, skill="question")
def item_price(item: Row = ITEM, menu: str = MENU) -> Verifier:
    return said(_money(item["price_cents"]))


@item_price.oracle
async def _(page: Any, item: Row) -> str:
    await _open_tab(page, item["category_id"])
    return _money(item["price_cents"])


@_task(
    "Open {menu}, then {item[name]}. How much is a large one?",
    "In {menu}: what does a large {item[name]} cost?",
    steps=3,
    skill="question",
)
def large_price(item: Row = SIZED, menu: str = MENU) -> Verifier:
    return said(_money(item["large_cents"]))


@large_price.oracle
async def _(page: Any, item: Row) -> str:
    await _tap_items(page, item)
    return _money(item["large_cents"])


@_task(
    "Open Orders. What does table {order[table_no]} owe?",
    "In Orders: how much does table {order[table_no]} owe?",
    steps=2,
    skill="question",
)
def table_owes(order: Row = ORDER) -> Verifier:
    return said(_money(order["total_cents"]))


@table_owes.oracle
async def _(page: Any, order: Row) -> str:
    await _open_section(page, "Orders")
    return _money(order["total_cents"])


@_task("Open Orders, then the ready one.", "In Orders: show the order that is ready.", steps=3, skill="navigation")
def open_ready(order: Row = READY) -> Verifier:
    return shown(f"/orders/{order['id']}")


@open_ready.oracle
async def _(page: Any, order: Row) -> None:
    await _open_order(page, order["id"])


@_task("Which table ordered {line[item]}?", "Who has {line[item]}? Give the table.", steps=8, skill="question")
def who_ordered(line: Row = LINE, order: Row = ORDER_OF_LINE) -> Verifier:
    return said(order["table_no"])


@who_ordered.oracle
async def _(page: Any, line: Row, order: Row) -> str:
    await _open_section(page, "Orders")
    await page.locator("main a.row").first.click()
    for _ in range(5):
        if await page.get_by_text(re.compile(f"^[0-9]+ {re.escape(line['item'])}( small| large)?$")).count():
            break
        await _press(page, "Next")
    return str(order["table_no"])


# --- the ticket: at most four actions ------------------------------------------------------------------------


@_task(
    "Open {menu}, then add one {item[name]}.", "In {menu}: put one {item[name]} on the ticket.", steps=3, skill="ticket"
)
def add_item(item: Row = ITEM, menu: str = MENU) -> Verifier:
    return just(added("ticket_lines", line_of(item)))


@add_item.oracle
async def _(page: Any, item: Row) -> None:
    await _tap_items(page, item)


@_task("Press Table ?, then table {table}.", "Set the ticket to table {table}.", steps=3, skill="ticket")
def choose_table(table: int = TABLE) -> Verifier:
    return just(changed("ticket", key=1, table_no=table))


@choose_table.oracle
async def _(page: Any, table: int) -> None:
    await _press(page, "Table ?")
    await _press(page, f"Table {table}")


@_task('Type "{note}" into Note, then Save.', 'Write "{note}" in the Note field, then Save.', steps=4, skill="ticket")
def write_note(note: str = NOTE) -> Verifier:
    return just(changed("ticket", key=1, note=note))


write_note.oracle(_type_note)


# --- open orders and stock -----------------------------------------------------------------------------------


@_task(
    "Open Orders, then order {number}, then {by}.", "In Orders: order {number} pays by {by}.", steps=4, skill="orders"
)
def pay_order(number: int = NUMBER, by: str = one_of("cash", "card")) -> Verifier:
    return just(changed("orders", key=number, status="paid", paid_by=by))


@pay_order.oracle
async def _(page: Any, number: int, by: str) -> None:
    await _open_order(page, number)
    await _press(page, by.capitalize())


@_task(
    "Open Orders, then order {line[order_id]}: one {line[item]} less.",
    "In Orders: take one {line[item]} off order {line[order_id]}.",
    steps=4,
    skill="orders",
)
def take_off(line: Row = SPARE_LINE, order: Row = ORDER_OF_LINE) -> Verifier:
    if line["quantity"] > 1:
        piece = changed("order_lines", key=line["id"], quantity=line["quantity"] - 1)
    else:
        piece = removed("order_lines", id=line["id"])
    total = changed("orders", key=order["id"], total_cents=order["total_cents"] - line["unit_cents"])
    return just(piece, total)


@take_off.oracle
async def _(page: Any, line: Row) -> None:
    await _open_order(page, line["order_id"])
    await _press(page, f"Less {line['item']}")


@_task(
    "Open Stock, then {menu}: {item[name]} is sold out.",
    "In Stock, {menu}: mark {item[name]} as sold out.",
    steps=4,
    skill="stock",
)
def sell_out(item: Row = IN_STOCK, menu: str = MENU) -> Verifier:
    return just(changed("items", key=item["id"], sold_out=1))


@_task(
    "Open Stock, then {menu}: {item[name]} is back.",
    "In Stock, {menu}: mark {item[name]} as in stock.",
    steps=4,
    skill="stock",
)
def restock(item: Row = SOLD_OUT, menu: str = MENU) -> Verifier:
    return just(changed("items", key=item["id"], sold_out=0))


@sell_out.oracle
@restock.oracle
async def _(page: Any, item: Row) -> None:
    await _open_section(page, "Stock")
    await _tap_items(page, item)


@_task("Cancel order {number}.", "Order {number} is off: cancel it.", steps=5, skill="orders")
def cancel_order(number: int = NUMBER) -> Verifier:
    return just(changed("orders", key=number, status="cancelled"))


@cancel_order.oracle
async def _(page: Any, number: int) -> None:
    await _open_order(page, number)
    await _press(page, "Cancel")
    await _press(page, "Yes")


# --- whole orders --------------------------------------------------------------------------------------------


@_task("Order one {item[name]} for table {table}.", "Table {table} wants one {item[name]}.", steps=6)
def order(item: Row = ITEM, table: int = TABLE) -> Verifier:
    return ordered(table, line_of(item))


@order.oracle
async def _(page: Any, item: Row, table: int) -> None:
    await _tap_items(page, item)
    await _send_for(page, table)


@_task("Order {count} {item[name]} for table {table}.", "Table {table} wants {count} {item[name]}.", steps=8)
def order_several(count: str = one_of(*COUNTS), item: Row = ITEM, table: int = TABLE) -> Verifier:
    return ordered(table, line_of(item, quantity=COUNTS[count]))


@order_several.oracle
async def _(page: Any, count: str, item: Row, table: int) -> None:
    await _tap_items(page, *[item] * COUNTS[count])
    await _send_for(page, table)


@_task(
    "Order {item[name]} and {other[name]} for table {table}.",
    "Table {table} wants {item[name]} and {other[name]}.",
    steps=8,
)
def order_pair(item: Row = ITEM, other: Row = ITEM, table: int = TABLE) -> Verifier:
    return ordered(table, line_of(item), line_of(other))


@order_pair.oracle
async def _(page: Any, item: Row, other: Row, table: int) -> None:
    await _tap_items(page, item, other)
    await _send_for(page, table)


@_task("Order one {size} {item[name]} for table {table}.", "Table {table} wants one {size} {item[name]}.", steps=8)
def order_size(size: str = one_of("small", "large", "large"), item: Row = SIZED, table: int = TABLE) -> Verifier:
    return ordered(table, line_of(item, size=size))


@order_size.oracle
async def _(page: Any, size: str, item: Row, table: int) -> None:
    await _tap_items(page, item)
    if size == "large":
        await page.get_by_role("radio", name="Large").click()
    await _press(page, "Add")
    await _send_for(page, table)


@_task(
    "One large {item[name]} with {extra} for table {table}.",
    "Table {table}: one large {item[name]} with {extra}.",
    steps=9,
)
def order_extra(item: Row = RICH, extra: str = EXTRA, table: int = TABLE) -> Verifier:
    return ordered(table, line_of(item, size="large", extras=extra))


@order_extra.oracle
async def _(page: Any, item: Row, extra: str, table: int) -> None:
    await _tap_items(page, item)
    await page.get_by_role("radio", name="Large").click()
    await page.get_by_role("checkbox", name=extra).click()
    await _press(page, "Add")
    await _send_for(page, table)


@_task(
    "Order {item[name]} for table {table}, note: {note}",
    'Table {table} wants {item[name]}. Write "{note}" on it.',
    steps=9,
)
def order_note(item: Row = ITEM, table: int = TABLE, note: str = NOTE) -> Verifier:
    return ordered(table, line_of(item), note=note)


@order_note.oracle
async def _(page: Any, item: Row, table: int, note: str) -> None:
    await _tap_items(page, item)
    await _type_note(page, note)
    await _send_for(page, table)


@_task(
    "Table {table}: {first[name]}, {second[name]}, {third[name]}.",
    "Order {first[name]}, {second[name]} and {third[name]} for table {table}.",
    steps=10,
)
def order_three(first: Row = ITEM, second: Row = ITEM, third: Row = ITEM, table: int = TABLE) -> Verifier:
    return ordered(table, line_of(first), line_of(second), line_of(third))


@order_three.oracle
async def _(page: Any, first: Row, second: Row, third: Row, table: int) -> None:
    await _tap_items(page, first, second, third)
    await _send_for(page, table)
