"""Tasks about sheets."""

from __future__ import annotations

from collections.abc import Callable

from uigym.apps.books.formula import shifted, typed
from uigym.harnesses.books.product import BOOKS, Page, Params, just, press, visit
from uigym.params import between, computed, one_from, one_of
from uigym.types import Row, State
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier

BUDGET, HOURS, PRICES = 1, 2, 3
PRICES_ROWS = ("Item", "Price", "Stock")


def raws(state: State, sheet: int) -> dict[str, str]:
    """What the cells of a sheet hold."""
    return {row["cell"]: row["raw"] for row in state.tables["cells"] if row["sheet_id"] == sheet}


def last_row(sheet: int) -> Callable[[State, Params], int]:
    """Number of the last row that column A of a sheet fills."""
    return lambda state, p: max(int(cell[1:]) for cell in raws(state, sheet) if cell[0] == "A")


def name_of(sheet: int) -> Callable[[State, Params], str]:
    """A sheet's name."""
    return lambda state, p: next(row["name"] for row in state.tables["sheets"] if row["id"] == sheet)


async def open_sheet(page: Page, sheet: int) -> None:
    """Open a sheet; the first is open already."""
    await visit(page, "sheets")
    if sheet != BUDGET:
        await press(page, f"sheet-{sheet}")


async def choose(page: Page, first: str, last: str) -> None:
    """Choose a range by dragging over it."""
    await page.get_by_test_id(f"cell-{first}").drag_to(page.get_by_test_id(f"cell-{last}"))


@BOOKS.task(
    'In the sheet "{name}", enter {one} in {column}2, {two} in {column}3, {three} in {column}4 and the formula =SUM({column}2:{column}4) in {column}5.',
    'Put the numbers {one}, {two} and {three} into {column}2, {column}3 and {column}4 of the sheet "{name}", and the formula =SUM({column}2:{column}4) below them.',
    heldout_wordings=(
        'The sheet "{name}" needs {one}, {two}, {three} from {column}2 down, and =SUM({column}2:{column}4) in {column}5.',
    ),
    max_steps=42,
    expected_steps=14,
    tags=("table", "edit", "medium"),
)
def enter_values_and_formula(
    name: str = computed(name_of(PRICES)),
    column: str = one_of("E", "F", "G", "H"),
    one: int = between(11, 99),
    two: int = between(101, 499),
    three: int = between(501, 990),
) -> Verifier:
    cells = {2: str(one), 3: str(two), 4: str(three), 5: f"=SUM({column}2:{column}4)"}
    rows = [{"cell": f"{column}{row}", "raw": raw} for row, raw in cells.items()]
    return just(added("cells", *rows, sheet_id=PRICES, bold=0, format=""))


@enter_values_and_formula.oracle
async def _(page: Page, column: str, one: int, two: int, three: int) -> None:
    await open_sheet(page, PRICES)
    await page.get_by_test_id(f"cell-{column}2").click()
    for text in (str(one), str(two), str(three), f"=SUM({column}2:{column}4)"):
        await page.keyboard.type(text)
        await page.keyboard.press("Enter")


@BOOKS.task(
    'In the sheet "Hours", fill the formula of D2 down to D{last}.',
    'The sheet "Hours" works out the amount of the first team only: copy the formula in D2 into the cells below it, down to D{last}.',
    heldout_wordings=(
        'Every team in the sheet "Hours" needs its amount: continue the formula of D2 as far as D{last}.',
    ),
    max_steps=21,
    expected_steps=7,
    tags=("table", "drag", "medium"),
)
def fill_down(last: int = computed(last_row(HOURS))) -> Verifier:
    rows = [{"cell": f"D{row}", "raw": f"=B{row}*C{row}"} for row in range(3, last + 1)]
    return just(added("cells", *rows, sheet_id=HOURS, bold=0, format=""))


@fill_down.oracle
async def _(page: Page, last: int) -> None:
    await open_sheet(page, HOURS)
    await page.get_by_test_id("cell-D2").click()
    await page.get_by_test_id("fill-handle").drag_to(page.get_by_test_id(f"cell-D{last}"))


def wrong_total(state: State, params: Params) -> Row:
    """The total of the budget that leaves rows out: its column, and how it should be."""
    found, last = raws(state, BUDGET), params["last"]
    column = next(each for each in "BCDE" if found[f"{each}{last}"] != f"=SUM({each}2:{each}{last - 1})")
    return {"column": column, "right": f"=SUM({column}2:{column}{last - 1})"}


@BOOKS.task(
    'In the last row of the sheet "{name}", the total of one quarter leaves out some rows. Correct its formula so that it is built like those of the other quarters.',
    'One quarter\'s total in the sheet "{name}" does not add all rows above it. Find it and repair its formula, after the pattern of the other quarters.',
    heldout_wordings=(
        'A formula in the row Total of the sheet "{name}" is wrong: it skips rows that the other quarters\' formulas add. Put it right.',
    ),
    max_steps=27,
    expected_steps=9,
    tags=("table", "find", "compare", "hard"),
)
def fix_formula(
    name: str = computed(name_of(BUDGET)), last: int = computed(last_row(BUDGET)), wrong: Row = computed(wrong_total)
) -> Verifier:
    return just(changed("cells", key=(BUDGET, f"{wrong['column']}{last}"), raw=wrong["right"]))


@fix_formula.oracle
async def _(page: Page, last: int, wrong: Row) -> None:
    await open_sheet(page, BUDGET)
    await page.get_by_test_id(f"cell-{wrong['column']}{last}").click()
    await page.get_by_test_id("formula").fill(wrong["right"])
    await page.get_by_test_id("formula").press("Enter")


def in_order(state: State, params: Params) -> dict[str, str]:
    """The cells that a sorted price list changes, and what they hold then."""
    found, last, down = raws(state, PRICES), params["last"], params["order"] == "largest"
    rows = sorted(range(2, last + 1), key=lambda row: typed(found[f"B{row}"]), reverse=down)  # type: ignore[arg-type,return-value]
    new = {f"{c}{to}": shifted(found[f"{c}{at}"], 0, to - at) for to, at in enumerate(rows, 2) for c in "ABC"}
    return {cell: raw for cell, raw in new.items() if raw != found[cell]}


@BOOKS.task(
    'In the sheet "Prices", sort the rows 2 to {last} (columns A to C) by the price, the {order} first.',
    'Sort the items of the sheet "Prices" (A2 to C{last}) by price so that the {order} comes first.',
    heldout_wordings=(
        'Bring A2:C{last} of the sheet "Prices" into the order of the prices, beginning with the {order}.',
    ),
    max_steps=36,
    expected_steps=12,
    tags=("table", "drag", "multi-step", "medium"),
)
def sort_range(
    order: str = one_of("smallest", "largest"),
    last: int = computed(last_row(PRICES)),
    cells: dict[str, str] = computed(in_order),
) -> Verifier:
    return just(*(changed("cells", key=(PRICES, cell), raw=raw) for cell, raw in cells.items()))


@sort_range.oracle
async def _(page: Page, order: str, last: int) -> None:
    await open_sheet(page, PRICES)
    await choose(page, "A2", f"C{last}")
    await press(page, "sort")
    await page.get_by_test_id("sort-column").select_option("B")
    await page.get_by_test_id("sort-order").select_option("up" if order == "smallest" else "down")
    await press(page, "sort-go")


@BOOKS.task(
    'Show the prices in B2 to B{last} of the sheet "Prices" as money.',
    'Give the cells B2:B{last} of the sheet "Prices" the money format.',
    heldout_wordings=('The prices in the sheet "Prices" (B2 to B{last}) should look like money: set that format.',),
    max_steps=21,
    expected_steps=7,
    tags=("table", "drag", "easy"),
)
def format_as_money(last: int = computed(last_row(PRICES))) -> Verifier:
    return just(*(changed("cells", key=(PRICES, f"B{row}"), format="money") for row in range(2, last + 1)))


@format_as_money.oracle
async def _(page: Page, last: int) -> None:
    await open_sheet(page, PRICES)
    await choose(page, "B2", f"B{last}")
    await press(page, "format-money")


@BOOKS.task(
    'In the sheet "{name}", copy the cells A1 to A{last} to the column {column}, from {column}1 down.',
    'Copy A1:A{last} of the sheet "{name}" and paste it at {column}1.',
    heldout_wordings=('Column {column} of the sheet "{name}" shall hold the same as A1 to A{last}: copy them there.',),
    max_steps=27,
    expected_steps=9,
    tags=("table", "drag", "medium"),
)
def copy_column(
    name: str = computed(name_of(HOURS)),
    column: str = one_from(lambda state, p: ["F", "G", "H", "I"]),
    last: int = computed(last_row(HOURS)),
    cells: dict[str, str] = computed(lambda state, p: raws(state, HOURS)),
) -> Verifier:
    rows = [{"cell": f"{column}{row}", "raw": cells[f"A{row}"], "bold": int(row == 1)} for row in range(1, last + 1)]
    return just(added("cells", *rows, sheet_id=HOURS, format=""))


@copy_column.oracle
async def _(page: Page, column: str, last: int) -> None:
    await open_sheet(page, HOURS)
    await choose(page, "A1", f"A{last}")
    await page.keyboard.press("Control+C")
    await page.get_by_test_id(f"cell-{column}1").click()
    await page.keyboard.press("Control+V")
