"""The bank's ledger: a product on PostgreSQL with 50 MB of data, and what an agent must do in it.

The environment variable UIGYM_TEST_POSTGRES names the server, as `python tests/postgres.py COMMAND` sets it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg

from uigym.harness import Harness, Looks, Running
from uigym.params import between, computed, one_from, one_of, rows
from uigym.product import Postgres, PostgresTemplate
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.state import added, changed, unchanged
from uigym.verify import Verifier, all_of

sys.path.append(str(Path(__file__).parent))  # where the app is
from ledger_app import CATEGORIES, ENTRIES, MONTHS, TODAY, counted, create_app, entry, fill

SERVER = os.environ.get("UIGYM_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
Params = Mapping[str, Any]
Page = Any  # Playwright's


def seeded(product: Running, seed: int, appearance: Mapping[str, str]) -> None:
    """Every seed has its balances and its look."""
    with psycopg.connect(product.values["dsn"]) as db:
        db.execute("UPDATE accounts SET balance = 400 + (id * 7919 + %s * 104729) %% 3000", (seed,))
        db.execute("UPDATE settings SET value = %s WHERE name = 'theme'", (appearance["theme"],))


ledger = Harness(
    name="ledger",
    asgi=create_app,
    ready="/healthz",
    state=Postgres(),
    reset=PostgresTemplate(SERVER, fill, seed=seeded),
    viewport=(960, 720),
    looks={"theme": Looks(("light", "dark"))},
)


def others(row: Row, params: Params) -> bool:
    """Whether an account is not the one that gives."""
    return bool(row["id"] != params["giver"]["id"])


def other_categories(state: State, params: Params) -> list[str]:
    """Where an entry is not filed."""
    return [category for category in CATEGORIES if category != entry(params["number"])[4]]


@ledger.task(
    "Transfer {amount}.00 from {giver[owner]} to {taker[owner]}, with the reference {reference}.",
    "{giver[owner]} owes {taker[owner]} {amount}.00: transfer it under the reference {reference}.",
    max_steps=16,
    tags=("forms",),
)
def transfer(
    giver: Row = rows("accounts"),
    taker: Row = rows("accounts", where=others),
    amount: int = between(20, 380, step=5),
    reference: str = one_of("loan", "deposit", "refund", "bonus"),
) -> Verifier:
    sums = {giver["id"]: -amount, taker["id"]: amount}
    booked = added("transfers", source=giver["id"], target=taker["id"], amount=amount, reference=reference)
    lines = added(
        "entries", *({"account": one, "amount": sum_} for one, sum_ in sums.items()), memo=reference, day=f"{TODAY}"
    )
    balances = [
        changed("accounts", key=one["id"], balance=Decimal(one["balance"]) + sums[one["id"]]) for one in (giver, taker)
    ]
    return all_of(booked, lines, *balances, unchanged(except_=[booked, lines, *balances]))


@transfer.oracle
async def _(page: Page, giver: Row, taker: Row, amount: int, reference: str) -> None:
    await page.get_by_role("link", name="Transfers").click()
    await page.get_by_label("From").select_option(giver["owner"])
    await page.get_by_label("To", exact=True).select_option(taker["owner"])
    await page.get_by_label("Amount").fill(f"{amount}")
    await page.get_by_label("Reference").fill(reference)
    await page.get_by_role("button", name="Transfer").click()


@ledger.task("File entry {number} under {category}.", "Entry {number} belongs to {category}: correct it.", max_steps=12)
def refile(number: int = between(1, ENTRIES), category: str = one_from(other_categories)) -> Verifier:
    filed = changed("entries", key=number, category=category)
    return all_of(filed, unchanged(except_=filed))


@refile.oracle
async def _(page: Page, number: int, category: str) -> None:
    await page.get_by_role("link", name="Entries").click()
    await page.get_by_label("Entry number").fill(f"{number}")
    await page.get_by_role("button", name="Open").click()
    await page.get_by_label("Category").select_option(category)
    await page.get_by_role("button", name="Save category").click()


@ledger.task("Close the account of {account[owner]}.", "{account[owner]} leaves us: close their account.", max_steps=8)
def close(account: Row = rows("accounts")) -> Verifier:
    closed = changed("accounts", key=account["id"], status="closed")
    return all_of(closed, unchanged(except_=closed))


@close.oracle
async def _(page: Page, account: Row) -> None:
    await page.get_by_role("link", name=account["code"]).click()
    await page.get_by_role("link", name="Close this account").click()
    await page.get_by_role("button", name="Close account").click()


@ledger.task("Set the credit limit of {account[owner]} to {limit}.", max_steps=8)
def credit(account: Row = rows("accounts"), limit: int = between(600, 9_900, step=100)) -> Verifier:
    raised = changed("accounts", key=account["id"], credit=limit)
    return all_of(raised, unchanged(except_=raised))


@credit.oracle
async def _(page: Page, account: Row, limit: int) -> None:
    await page.get_by_role("link", name=account["code"]).click()
    await page.get_by_label("Credit limit").fill(f"{limit}")
    await page.get_by_role("button", name="Save limit").click()


@ledger.task(
    "How many {category} entries has account {account[code]} in {month}? Answer with the number.",
    max_steps=12,
    tags=("answer",),
)
def count(
    account: Row = rows("accounts"),
    category: str = one_of(*CATEGORIES),
    month: str = one_of(*MONTHS),
    expected: int = computed(
        lambda state, params: counted(params["account"]["id"], params["category"], params["month"])
    ),
) -> Verifier:
    return all_of(equals(expected), unchanged())


@count.oracle
async def _(page: Page, account: Row, category: str, month: str) -> str:
    await page.get_by_role("link", name="Entries").click()
    await page.get_by_label("Account").select_option(account["code"])
    await page.get_by_label("Category").select_option(category)
    await page.get_by_label("Month").select_option(month)
    await page.get_by_role("button", name="Search").click()
    heading = await page.get_by_role("heading", level=2).inner_text()
    return str(heading).removesuffix(" entries")
