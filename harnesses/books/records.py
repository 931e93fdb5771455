"""Tasks about customers, prices, and files that the books give away."""

from __future__ import annotations

from uigym.apps.books.pdf import invoice_pdf
from uigym.harnesses.books.product import (
    BOOKS,
    Page,
    Params,
    dollars,
    just,
    look_for,
    open_invoice,
    press,
    standing,
    type_in,
    visit,
)  # fmt: skip
from uigym.params import computed, one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.download import downloaded
from uigym.verifiers.state import added, changed, only
from uigym.verify import Verifier


def newcomers(state: State, params: Params) -> list[Row]:
    """People who are no customers yet."""
    names = ("Ingrid Solberg", "Mateo Fuentes", "Wanda Zielinska", "Tobias Reuter")
    companies = ("Solberg Boats", "Fuentes Tiles", "Zielinska Books", "Reuter Optics")
    places = (("12 Mill Road", "Leeds"), ("7 Dock Road", "Bergen"), ("88 High Street", "Porto"))
    return [
        {"name": name, "company": company, "street": street, "city": city, "phone": f"+44 312 555 0{100 + 7 * n}",
         "email": f"{name.split()[0].lower()}@{company.replace(' ', '-').lower()}.example"}
        for name in names for company in companies for n, (street, city) in enumerate(places)
    ]  # fmt: skip


@BOOKS.task(
    "Add the customer {new[name]} of {new[company]}: email {new[email]}, phone {new[phone]}, {new[street]}, {new[city]}.",
    "We have a new customer: {new[name]}, company {new[company]}, email {new[email]}, phone {new[phone]}, street {new[street]}, city "
    "{new[city]}. Add the customer.",
    heldout_wordings=(
        "Enter a new customer named {new[name]} (company {new[company]}, email {new[email]}, phone {new[phone]}, street {new[street]}, "
        "city {new[city]}).",
    ),
    max_steps=57,
    expected_steps=19,
    tags=("form", "easy"),
)
def add_customer(new: Row = one_from(newcomers)) -> Verifier:
    return just(added("customers", **new))


@add_customer.oracle
async def _(page: Page, new: Row) -> None:
    await visit(page, "customers")
    await press(page, "new")
    await type_in(page, **new)
    await press(page, "save")


@BOOKS.task(
    "Change the price of {product[name]} in the price list to {price}.",
    "{product[name]} costs {price} from now on: put that into the price list.",
    heldout_wordings=("In the price list, {product[name]} shall cost {price}.",),
    max_steps=36,
    expected_steps=12,
    tags=("edit", "find", "easy"),
)
def change_price(
    product: Row = rows("products"),
    price: str = computed(lambda state, p: dollars(p["product"]["price"] + 650)),
) -> Verifier:
    return just(changed("products", key=product["id"], price=product["price"] + 650))


@change_price.oracle
async def _(page: Page, product: Row, price: str) -> None:
    await visit(page, "products")
    await look_for(page, product["sku"], "search")
    await press(page, f"edit-{product['id']}")
    await type_in(page, price=price)
    await press(page, "save")


def with_all(state: State, params: Params) -> list[Row]:
    """Invoices with all that their PDF shows."""
    found = []
    for row in standing(state, "sent", "paid", "overdue"):
        customer = next(each for each in state.tables["customers"] if each["id"] == row["customer_id"])
        lines = [each for each in state.tables["invoice_lines"] if each["invoice_id"] == row["id"]]
        found.append({**row, "customer": customer, "lines": lines})
    return found


@BOOKS.task(
    "Download the PDF of invoice {invoice[number]}.",
    "Save invoice {invoice[number]} as a PDF file.",
    heldout_wordings=("A PDF of {invoice[number]} is needed: download it.",),
    max_steps=24,
    expected_steps=8,
    tags=("file", "find", "easy"),
)
def download_pdf(
    invoice: Row = one_from(with_all),
    company: str = computed(
        lambda state, p: next(row["value"] for row in state.tables["settings"] if row["key"] == "company")
    ),
) -> Verifier:
    content = invoice_pdf(invoice, company).decode("cp1252")
    number, total = invoice["number"], content[content.index("(Total)") :]
    return only(downloaded(f"{number}.pdf", contains=(f"({'Invoice'} {number})", total.encode("cp1252"))))


@download_pdf.oracle
async def _(page: Page, invoice: Row) -> None:
    await open_invoice(page, invoice["number"])
    await press(page, "pdf")


def export(state: State, params: Params) -> list[Row]:
    """The lines of the CSV file of the invoices of a status."""
    shown = standing(state, params["status"])
    return [
        {"number": row["number"], "issued": row["issued_on"], "total": dollars(row["total"])} for row in reversed(shown)
    ]


@BOOKS.task(
    "Export the invoices with the status {status}, and no others, as a CSV file.",
    "Download a CSV file of just the {status} invoices.",
    heldout_wordings=("A CSV export is needed that holds every {status} invoice and nothing else.",),
    max_steps=21,
    expected_steps=7,
    tags=("file", "table", "medium"),
)
def export_invoices(status: str = one_of("draft", "overdue", "paid"), lines: list[Row] = computed(export)) -> Verifier:
    ordered = sorted(lines, key=lambda row: -int(row["number"][4:]))
    return only(downloaded("invoices.csv", rows=ordered))


@export_invoices.oracle
async def _(page: Page, status: str) -> None:
    await visit(page, "invoices")
    await press(page, "filter-status", f"status-{status}", "export")
