"""The help desk as a product, and the words that its tasks share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from uigym.apps.desk import seed as desk_data
from uigym.apps.desk.looks import PARTS
from uigym.harness import Harness, Looks, Running
from uigym.product.state import Sqlite
from uigym.types import Row, State, Upload
from uigym.verifiers.state import Change
from uigym.verifiers.state import only as only_these
from uigym.verify import Verifier

Params = Mapping[str, Any]
Page = Any  # Playwright's
UNFINISHED = ("open", "pending")


async def reset(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Give the product the seed's data, by its database file."""
    await asyncio.to_thread(desk_data.write, product.workdir / "desk.db", seed, appearance)


desk = Harness(
    name="desk",
    asgi="uigym.apps.desk.app:create_app",
    ready="/healthz",
    state=Sqlite("{workdir}/desk.db"),
    reset=reset,
    viewport=(1280, 720),
    grants=(Upload,),
    looks={
        "theme": Looks(PARTS["theme"][:6], PARTS["theme"][6:]),
        "font": Looks(PARTS["font"][:3], PARTS["font"][2:]),
        "density": Looks(PARTS["density"]),
        "language": Looks(("en", "en", "en", "de", "ko"), ("en", "de", "ko", "ar")),
        "content": Looks(("plain", "alike", "long"), ("plain", "alike", "long", "hostile")),
        "nav": Looks(PARTS["nav"][:3], PARTS["nav"][3:]),
        "columns": Looks(PARTS["columns"][:3], PARTS["columns"][3:]),
        "panel": Looks(PARTS["panel"]),
    },
    logs=("events",),
)


# --- what the instructions speak of -------------------------------------------------------------------------


def tickets(state: State, **columns: Any) -> list[Row]:
    """The tickets that have these values in these columns."""
    return [row for row in state.tables["tickets"] if all(row[key] == value for key, value in columns.items())]


def tags_of(state: State, ticket: int) -> set[str]:
    """The tags of a ticket."""
    return {row["tag"] for row in state.tables["ticket_tags"] if row["ticket_id"] == ticket}


def owner(state: State, ticket: Row) -> Row:
    """Whose ticket it is."""
    return next(row for row in state.tables["customers"] if row["id"] == ticket["customer_id"])


def today(state: State) -> str:
    """The desk's day, YYYY-MM-DD."""
    return next(str(row["value"])[:10] for row in state.tables["settings"] if row["key"] == "now")


def is_overdue(state: State, ticket: Row) -> bool:
    """Whether a ticket is unfinished and was due before today."""
    return ticket["status"] in UNFINISHED and ticket["due_on"] is not None and ticket["due_on"] < today(state)


def other_agents(row: Row, params: Params) -> bool:
    """Whether an agent is not the one who has the ticket."""
    return bool(row["id"] != params["ticket"]["assignee_id"])


def only(*changes: Change) -> Verifier:
    """These changes, each for an equal share of the score, and nothing else but lines in the desk's own log."""
    return only_these(*changes, except_="events")


# --- how a person does it: by what is the same in every language ---------------------------------------------


async def search(page: Page, text: str) -> None:
    """Look for tickets by number, subject or customer."""
    await page.get_by_test_id("search").fill(text)
    await page.get_by_test_id("search").press("Enter")


async def open_ticket(page: Page, number: int) -> None:
    """Find a ticket by its number and open it."""
    await search(page, str(number))
    await page.get_by_role("link", name=f"#{number}", exact=True).click()


async def open_customer_page(page: Page, name: str) -> None:
    """Find a customer by name and open the page."""
    await page.get_by_test_id("nav-customers").click()
    await page.get_by_test_id("search-customers").fill(name)
    await page.get_by_test_id("search-customers").press("Enter")
    await page.get_by_role("link", name=name, exact=True).click()


async def choose(page: Page, menu: str, value: Any) -> None:
    """Open a menu and take an entry, by the value that it stands for."""
    await page.get_by_test_id(menu).click()
    await page.get_by_test_id(f"{menu}-{value}").click()


async def show_tickets(page: Page, **filters: Any) -> None:
    """Open the list of tickets and filter it."""
    await page.get_by_test_id("nav-tickets").click()
    for name, value in filters.items():
        await choose(page, f"filter-{name}", value)
