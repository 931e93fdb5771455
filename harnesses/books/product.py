"""The books as a product, and what their tasks and oracles share."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from uigym.apps.books import seed as data
from uigym.apps.books.looks import PARTS
from uigym.harness import Harness, Looks, Running
from uigym.product.state import Sqlite
from uigym.types import Row, State, Upload
from uigym.verifiers.state import Change, only
from uigym.verify import Verifier

Params = Mapping[str, Any]
Page = Any  # Playwright's


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the product the seed's data, by its database file."""
    await asyncio.to_thread(data.write, product.workdir / "books.db", seed, appearance)


BOOKS = Harness(
    name="books",
    asgi="uigym.apps.books.app:create_app",
    ready="/healthz",
    state=Sqlite("{workdir}/books.db"),
    reset=reset,
    viewport=(1280, 720),
    grants=(Upload,),
    looks={
        "theme": Looks(PARTS["theme"][:6], PARTS["theme"][6:]),
        "font": Looks(PARTS["font"][:3], PARTS["font"][2:]),
        "density": Looks(PARTS["density"]),
        "language": Looks(("en", "en", "de", "ko"), ("en", "de", "ko", "ar")),
        "content": Looks(("plain", "alike", "long"), PARTS["content"]),
        "nav": Looks(PARTS["nav"][:3], PARTS["nav"][3:]),
        "columns": Looks(PARTS["columns"][:3], PARTS["columns"][3:]),
        "panel": Looks(PARTS["panel"]),
    },
    logs=("events",),
)


# --- what the instructions speak of -------------------------------------------------------------------------


def just(*changes: Change) -> Verifier:
    """These changes, each for an equal share of the score, and nothing else but lines in the books' own log."""
    return only(*changes, except_="events")


def today(state: State) -> date:
    """The day that the books take for today."""
    now = next(row["value"] for row in state.tables["settings"] if row["key"] == "now")
    return date.fromisoformat(now[:10])


def in_days(state: State, days: int) -> str:
    """An ISO date so many days after today."""
    return (today(state) + timedelta(days=days)).isoformat()


def cents(text: str) -> int:
    """Cents of "1234.50"."""
    return int(Decimal(text) * 100)


def dollars(value: int) -> str:
    """ "1234.50" for cents."""
    return f"{Decimal(value) / 100:.2f}"


def standing(state: State, *statuses: str, paid: bool | None = None) -> list[Row]:
    """Invoices of these statuses as they are shown; those that something (nothing) is paid of, if `paid` is said."""
    now = today(state).isoformat()
    found = []
    for row in state.tables["invoices"]:
        status = "overdue" if row["status"] == "sent" and row["due_on"] < now else row["status"]
        if status in statuses and (paid is None or bool(row["paid"]) is paid):
            found.append({**row, "open": row["total"] - row["paid"]})
    return found


def lines_of(state: State, invoice: Row) -> list[Row]:
    """The lines of an invoice, without their ids."""
    names = ("description", "quantity", "price", "tax")
    rows = [row for row in state.tables["invoice_lines"] if row["invoice_id"] == invoice["id"]]
    return [{name: row[name] for name in names} for row in rows]


def following(state: State, table: str) -> int:
    """The id that the next row of a table gets."""
    return max((row["id"] for row in state.tables[table]), default=0) + 1


def referenced(state: State, table: str) -> list[Row]:
    """Rows that have a reference which no other row has."""
    count = Counter(row["reference"] for row in state.tables[table])
    return [row for row in state.tables[table] if row["reference"] and count[row["reference"]] == 1]


# --- how a person does it -----------------------------------------------------------------------------------


async def visit(page: Page, place: str) -> None:
    """Open a part of the books."""
    await page.get_by_test_id(f"nav-{place}").click()


async def press(page: Page, *names: str) -> None:
    """Click one control after the other."""
    for name in names:
        await page.get_by_test_id(name).click()


async def type_in(page: Page, **fields: str) -> None:
    """Fill fields; dates are ISO dates. A _ in a name stands for - in the control's."""
    for name, value in fields.items():
        await page.get_by_test_id(name.replace("_", "-")).fill(value)


async def look_for(page: Page, text: str, field: str = "top-search") -> None:
    """Search."""
    await page.get_by_test_id(field).fill(text)
    await page.get_by_test_id(field).press("Enter")


async def open_invoice(page: Page, number: str) -> None:
    """Find an invoice by its number and open it."""
    await look_for(page, number)
    await page.get_by_role("link", name=number, exact=True).click()


async def open_expense(page: Page, expense: Row) -> None:
    """Find an expense by its reference and open it."""
    await visit(page, "expenses")
    await look_for(page, expense["reference"])
    await page.get_by_test_id(f"open-{expense['id']}").click()
