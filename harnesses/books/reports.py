"""Tasks that read reports and answer."""

from __future__ import annotations

from collections import Counter

from uigym.harnesses.books.product import BOOKS, Page, Params, standing, today, visit
from uigym.params import computed, one_from, one_of
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.match import money
from uigym.verifiers.state import only
from uigym.verify import Verifier


def months(state: State, params: Params) -> list[str]:
    """The last twelve months, this one left out."""
    n = today(state).year * 12 + today(state).month - 1
    return [f"{m // 12}-{m % 12 + 1:02d}" for m in range(n - 9, n)]


def figures(state: State, month: str) -> dict[str, int]:
    """Income, expenses and profit of a month, as the report has them."""
    invoices = [
        row
        for row in state.tables["invoices"]
        if row["status"] in ("sent", "paid") and row["issued_on"].startswith(month)
    ]
    expenses = [
        row for row in state.tables["expenses"] if row["status"] == "approved" and row["spent_on"].startswith(month)
    ]
    income, spent = sum(row["net"] for row in invoices), sum(row["amount"] - row["tax"] for row in expenses)
    owed = sum(row["tax"] for row in invoices) - sum(row["tax"] for row in expenses)
    return {"income": income, "expenses": spent, "profit": income - spent, "tax": owed}


async def show(page: Page, report: str, first: str, last: str) -> None:
    """Open a report on a period."""
    await visit(page, "reports")
    if report != "profit":
        await page.get_by_test_id(f"tab-{report}").click()
    await page.get_by_test_id("from").select_option(first)
    await page.get_by_test_id("to").select_option(last)
    await page.get_by_test_id("apply").click()


@BOOKS.task(
    "According to the report Profit and loss, what was the {what} of {month}? Answer with the amount.",
    "Read the {what} of the month {month} in the profit and loss report, and answer with the amount.",
    heldout_wordings=("Answer with the {what} that the profit and loss report shows for {month}.",),
    max_steps=27,
    expected_steps=9,
    tags=("answer", "navigate", "medium"),
)
def read_profit_and_loss(
    what: str = one_of("income", "profit"),
    month: str = one_from(months),
    value: str = computed(lambda state, p: f"{figures(state, p['month'])[p['what']] / 100:.2f}"),
) -> Verifier:
    return only(equals(money(value, "USD")))


@read_profit_and_loss.oracle
async def _(page: Page, month: str, value: str) -> str:
    await show(page, "profit", month, month)
    return value


@BOOKS.task(
    "Compare the months {one} and {two} in the profit and loss report: how much was the {what} in the better of the two? Answer with the amount.",
    "The {what} of {one} or that of {two}, whichever is higher: answer with that amount, by the profit and loss report.",
    heldout_wordings=(
        "One of the months {one} and {two} had the higher {what}. Answer with the amount of that month's {what}.",
    ),
    max_steps=27,
    expected_steps=9,
    tags=("answer", "compare", "medium"),
)
def compare_months(
    what: str = one_of("income", "profit"),
    one: str = one_from(months),
    two: str = one_from(
        lambda state, p: [
            month
            for month in months(state, p)
            if figures(state, month)[p["what"]] != figures(state, p["one"])[p["what"]]
        ]
    ),
    higher: str = computed(
        lambda state, p: f"{max(figures(state, p[month])[p['what']] for month in ('one', 'two')) / 100:.2f}"
    ),
) -> Verifier:
    return only(equals(money(higher, "USD")))


@compare_months.oracle
async def _(page: Page, one: str, two: str, higher: str) -> str:
    await show(page, "profit", min(one, two), max(one, two))
    return higher


@BOOKS.task(
    "How much tax is owed for the months from {first} to {last} together, by the tax summary? Answer with the amount.",
    "Look up in the tax summary what is owed in total for {first} to {last}, and answer with the amount.",
    heldout_wordings=("Answer with the total of the tax owed that the tax summary shows for {first} to {last}.",),
    max_steps=30,
    expected_steps=10,
    tags=("answer", "navigate", "medium"),
)
def tax_owed(
    first: str = one_from(lambda state, p: months(state, p)[:-3]),
    last: str = one_from(lambda state, p: [month for month in months(state, p) if month > p["first"]]),
    value: str = computed(
        lambda state, p: (
            f"{sum(figures(state, m)['tax'] for m in months(state, p) if p['first'] <= m <= p['last']) / 100:.2f}"
        )
    ),
) -> Verifier:
    return only(equals(money(value, "USD")))


@tax_owed.oracle
async def _(page: Page, first: str, last: str, value: str) -> str:
    await show(page, "tax", first, last)
    return value


AGES = {"1-30 days": (1, 30), "31-60 days": (31, 60), "more than 90 days": (91, 9999)}


def oldest(state: State, params: Params) -> list[Row]:
    """Ranges of days overdue, with the one customer who owes most in them."""
    names = {row["id"]: row["name"] for row in state.tables["customers"]}
    found = []
    for title, (least, most) in AGES.items():
        owed: Counter[int] = Counter()
        for row in standing(state, "overdue"):
            days = today(state).toordinal() - today(state).fromisoformat(row["due_on"]).toordinal()
            owed[row["customer_id"]] += row["open"] if least <= days <= most else 0
        first, second = [*owed.most_common(2), (0, 0), (0, 0)][:2]
        if first[1] > second[1]:
            found.append({"title": title, "name": names[first[0]]})
    return found


@BOOKS.task(
    "Which customer owes the most that is {age[title]} overdue? Answer with the name.",
    "By the report Aged receivables, who owes the greatest amount that is overdue by {age[title]}? Answer with the customer's name.",
    heldout_wordings=(
        "Answer with the name of the customer whose debt that is {age[title]} overdue is the largest of all.",
    ),
    max_steps=15,
    expected_steps=5,
    tags=("answer", "compare", "table", "hard"),
)
def largest_debtor(age: Row = one_from(oldest)) -> Verifier:
    return only(equals(age["name"]))


@largest_debtor.oracle
async def _(page: Page, age: Row) -> str:
    await visit(page, "reports")
    await page.get_by_test_id("tab-aged").click()
    return str(age["name"])
