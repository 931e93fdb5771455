"""Tasks about bank lines."""

from __future__ import annotations

from collections import Counter
from datetime import date

from uigym.apps.books.bank import DATES
from uigym.harnesses.books.product import BOOKS, Page, Params, dollars, just, look_for, press, standing, today, visit
from uigym.params import computed, one_from, one_of
from uigym.types import Row, State
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier

FORMS: tuple[Row, ...] = (
    {
        "head": ("Booked", "Details", "Value", "Balance"),
        "dates": "DD.MM.YYYY",
        "mark": ",",
        "between": ";",
        "say": "comma",
        "columns": "Booked, Details, Value, Balance",
    },
    {
        "head": ("Balance", "Amount", "Date", "Description"),
        "dates": "YYYY-MM-DD",
        "mark": ".",
        "between": ",",
        "say": "point",
        "columns": "Balance, Amount, Date, Description",
    },
    {
        "head": ("Payee", "Day", "Balance", "Sum"),
        "dates": "DD/MM/YYYY",
        "mark": ".",
        "between": ",",
        "say": "point",
        "columns": "Payee, Day, Balance, Sum",
    },
)
PAYEES = (
    "Harbour Cafe",
    "Northern Rail",
    "Linden Pharmacy",
    "Studio Rent",
    "Oak Workshop",
    "City Parking",
    "Blue Print Shop",
)


def statement(state: State, params: Params) -> list[Row]:
    """Lines for a file of the chosen form; the third of five cannot be read."""
    first = (len(state.tables["invoices"]) + len(state.tables["expenses"])) % len(PAYEES)
    lines = []
    for i in range(5):
        day = date.fromordinal(today(state).toordinal() - 9 + i)
        amount = (-1) ** i * (1_250 + 377 * (first + i) * (i + 2))
        lines.append({"booked_on": day.isoformat(), "text": PAYEES[(first + i) % len(PAYEES)], "amount": amount})
    return lines


def file(form: Row, lines: list[Row]) -> dict[str, str]:
    """The statement that the task offers."""
    kinds = ["date" if name in ("Booked", "Date", "Day") else "text" if name in ("Details", "Description", "Payee")
             else "balance" if name == "Balance" else "amount" for name in form["head"]]  # fmt: skip
    rows = [form["between"].join(form["head"])]
    for number, line in enumerate(lines):
        day = date.fromisoformat(line["booked_on"]).strftime(DATES[form["dates"]])
        amount = dollars(line["amount"]).replace(".", form["mark"])
        cells = {
            "date": day,
            "text": line["text"],
            "amount": "pending" if number == 2 else amount,
            "balance": f"{5000 + number}{form['mark']}00",
        }
        rows.append(form["between"].join(cells[kind] for kind in kinds))
    return {"statement.csv": "\r\n".join(rows) + "\r\n"}


@BOOKS.task(
    "Import the bank statement statement.csv. Its columns are {form[columns]}; dates are written {form[dates]}, amounts with a "
    "decimal {form[say]}. A line that cannot be read is left out.",
    "The file statement.csv holds new bank lines (columns {form[columns]}, dates as {form[dates]}, decimal {form[say]}). Import all lines that can be read.",
    heldout_wordings=(
        "Bring the lines of statement.csv into the bank list, but for those that cannot be read. Columns: {form[columns]}; dates: {form[dates]}; decimal {form[say]}.",
    ),
    max_steps=63,
    expected_steps=21,
    tags=("file", "multi-step", "table", "hard"),
    files=file,
)
def import_statement(form: Row = one_of(*FORMS), lines: list[Row] = computed(statement)) -> Verifier:
    good = [{**line, "matched": "", "matched_id": None} for number, line in enumerate(lines) if number != 2]
    return just(added("bank_lines", *good))


@import_statement.oracle
async def _(page: Page, form: Row) -> None:
    await visit(page, "bank")
    await press(page, "import")
    await page.get_by_test_id("csv-file").set_input_files("statement.csv")
    await press(page, "to-mapping")
    columns = {
        "date": ("Booked", "Date", "Day"),
        "text": ("Details", "Description", "Payee"),
        "amount": ("Value", "Amount", "Sum"),
    }
    for field, names in columns.items():
        at = next(i for i, name in enumerate(form["head"]) if name in names)
        await page.get_by_test_id(f"map-{field}").select_option(str(at))
    await page.get_by_test_id("map-dates").select_option(form["dates"])
    await page.get_by_test_id("map-mark").select_option(form["mark"])
    await press(page, "to-preview", "do-import")


def loose(state: State, params: Params) -> list[Row]:
    """Unmatched lines that pay an open invoice to the cent, whose text and amount no other line has."""
    count = Counter(row["text"] for row in state.tables["bank_lines"])
    due = {row["number"]: row for row in standing(state, "sent", "overdue")}
    amounts = Counter(row["open"] for row in due.values())
    found = []
    for line in state.tables["bank_lines"]:
        fits = [row for row in due.values() if row["open"] == line["amount"]]
        if not line["matched"] and count[line["text"]] == 1 and fits and amounts[line["amount"]] == 1:
            found.append({**line, "dollars": dollars(line["amount"]), "invoice": fits[0]})
    return found


@BOOKS.task(
    'Match the bank line "{line[text]}" of {line[dollars]} to the invoice {line[invoice][number]}.',
    'The {line[dollars]} that came in as "{line[text]}" pay invoice {line[invoice][number]}: match them.',
    heldout_wordings=(
        'In the bank list, say that "{line[text]}" ({line[dollars]}) belongs to invoice {line[invoice][number]}.',
    ),
    max_steps=27,
    expected_steps=9,
    tags=("table", "find", "medium"),
)
def match_line(line: Row = one_from(loose)) -> Verifier:
    invoice = line["invoice"]
    payment = {
        "invoice_id": invoice["id"],
        "amount": line["amount"],
        "paid_on": line["booked_on"],
        "method": "bank transfer",
        "bank_line_id": line["id"],
    }
    return just(
        changed("bank_lines", key=line["id"], matched="invoice", matched_id=invoice["id"]),
        added("payments", **payment),
        changed("invoices", key=invoice["id"], paid=invoice["total"], status="paid"),
    )


@match_line.oracle
async def _(page: Page, line: Row) -> None:
    await visit(page, "bank")
    await look_for(page, line["text"])
    await press(page, f"line-{line['id']}", f"match-{line['invoice']['id']}")


def tied(state: State, params: Params) -> list[Row]:
    """Lines that are matched to an invoice, with the payment that came of it; their texts are their own."""
    count = Counter(row["text"] for row in state.tables["bank_lines"])
    payments = {row["bank_line_id"]: row for row in state.tables["payments"] if row["bank_line_id"]}
    invoices = {row["id"]: row for row in state.tables["invoices"]}
    return [
        {**line, "payment": payments[line["id"]], "invoice": invoices[line["matched_id"]]}
        for line in state.tables["bank_lines"]
        if line["id"] in payments and count[line["text"]] == 1
    ]


@BOOKS.task(
    'Undo the match of the bank line "{line[text]}".',
    'The bank line "{line[text]}" was matched by mistake: take the match back.',
    heldout_wordings=(
        '"{line[text]}" in the bank list does not belong to the invoice that it is matched to. Undo that match.',
    ),
    max_steps=27,
    expected_steps=9,
    tags=("find", "table", "easy"),
)
def undo_match(line: Row = one_from(tied)) -> Verifier:
    left = line["invoice"]["paid"] - line["amount"]
    return just(
        changed("bank_lines", key=line["id"], matched="", matched_id=None),
        removed("payments", id=line["payment"]["id"]),
        changed("invoices", key=line["matched_id"], paid=left, status="sent"),
    )


@undo_match.oracle
async def _(page: Page, line: Row) -> None:
    await visit(page, "bank")
    await look_for(page, line["text"])
    await press(page, f"line-{line['id']}", "undo")
