"""Tasks that write: sections, lists, tables, new pages, pages that move."""

from __future__ import annotations

from uigym.harnesses.dokuwiki.product import (
    BOAT,
    PERSON,
    SUPPLIER,
    Page,
    begin_page,
    detail,
    dokuwiki,
    edit_page,
    edit_section,
    only,
    open_page,
    save,
    to_line,
    wiki,
    with_line,
)
from uigym.harnesses.dokuwiki.seed import GEAR
from uigym.params import between, computed, one_from, one_of
from uigym.types import Row
from uigym.verifiers.state import added, changed, removed
from uigym.verify import Verifier


@dokuwiki.task(
    "On the page {boat[id]}, change the berth in the table Details to {berth}.",
    "The boat of the page {boat[id]} has moved: its berth is now {berth}. Correct the table on its page.",
    'Edit the section "Details" of the page {boat[id]}: the berth must be {berth}.',
    heldout_wordings=("In the wiki page {boat[id]}, let the table say that the berth is {berth}.",),
    max_steps=45,
    expected_steps=16,
    tags=("edit", "table", "medium"),
)
def change_berth(boat: Row = BOAT, berth: int = between(60, 99)) -> Verifier:
    line = f"| Berth | {detail(boat['text'], 'Berth')} |"
    return only(changed("pages", key=boat["id"], text=wiki(boat["text"].replace(line, f"| Berth | {berth} |"))))


@change_berth.oracle
async def _(page: Page, boat: Row, berth: int) -> None:
    await open_page(page, boat["id"])
    area = await edit_section(page, "Details")
    await to_line(page, area, "| Berth")
    await page.keyboard.press("Home")
    await page.keyboard.press("Shift+End")
    await page.keyboard.type(f"| Berth | {berth} |")
    await save(page)


@dokuwiki.task(
    'Add "{gear}" as the last entry of the list Equipment on the page {boat[id]}.',
    'The boat of the page {boat[id]} has got a new item: add "{gear}" at the end of the list in its section Equipment.',
    'On the page {boat[id]}, append "{gear}" to the list under the heading Equipment.',
    heldout_wordings=('Put "{gear}" at the bottom of the equipment list of the wiki page {boat[id]}.',),
    max_steps=45,
    expected_steps=16,
    tags=("edit", "easy"),
)
def add_equipment(
    boat: Row = BOAT,
    gear: str = one_from(lambda state, p: [each for each in GEAR if each not in p["boat"]["text"]]),
) -> Verifier:
    return only(changed("pages", key=boat["id"], text=wiki(with_line(boat["text"], "  * ", f"  * {gear}"))))


@add_equipment.oracle
async def _(page: Page, boat: Row, gear: str) -> None:
    await open_page(page, boat["id"])
    area = await edit_section(page, "Equipment")
    await to_line(page, area, "  * ")
    await page.keyboard.press("End")
    await page.keyboard.press("Enter")  # the editor begins the new entry by itself
    await page.keyboard.type(gear)
    await save(page)


@dokuwiki.task(
    'Add a row at the end of the table on the page {supplier[id]}: "{what}" in the first column, "{value}" in the second.',
    'The table of the page {supplier[id]} needs one more row at its end, with "{what}" and "{value}" as its two cells.',
    'On the page {supplier[id]}, let a new last row of the table have the cells "{what}" and "{value}".',
    heldout_wordings=(
        'Append a new row with the cells "{what}" and "{value}" to the table on the page {supplier[id]}.',
    ),
    max_steps=45,
    expected_steps=16,
    tags=("edit", "table", "medium"),
)
def add_table_row(
    supplier: Row = SUPPLIER,
    what: str = one_of("Contact", "Minimum order", "Payment", "Customer number"),
    value: str = one_of("see contract", "by agreement", "on request", "HW 4711", "HW 2088"),
) -> Verifier:
    line = f"| {what} | {value} |"
    return only(changed("pages", key=supplier["id"], text=wiki(with_line(supplier["text"], "| ", line))))


@add_table_row.oracle
async def _(page: Page, supplier: Row, what: str, value: str) -> None:
    await open_page(page, supplier["id"])
    area = await edit_section(page, "Terms")
    await to_line(page, area, "| ")
    await page.keyboard.press("End")
    await page.keyboard.press("Enter")
    await page.keyboard.type(f"| {what} | {value} |")
    await save(page)


NEW = ("crane", "slipway", "keys", "orders", "safety", "tools")


@dokuwiki.task(
    'Create the page {name}. Its whole text is: "{text}"',
    'There is no page {name} yet. Make it, with this text and no other: "{text}"',
    'Write a new wiki page {name} that holds just this sentence: "{text}"',
    heldout_wordings=('A new page is needed under the name {name}; all that it says is: "{text}"',),
    max_steps=25,
    expected_steps=9,
    tags=("edit", "navigate", "easy"),
)
def create_page(
    name: str = one_from(
        lambda state, _: [f"{place}:{own}" for place in ("meetings", "howto", "suppliers") for own in NEW]
    ),
    text: str = one_of(
        "The crane is out of order until Friday.",
        "Nobody may use the slipway at low tide.",
        "Keys hang behind the office door.",
        "Ask Amara before you order.",
        "Bring your own gloves and goggles.",
    ),
) -> Verifier:
    return only(added("pages", id=name, text=wiki(text)))


@create_page.oracle
async def _(page: Page, name: str, text: str) -> None:
    area = await begin_page(page, name)
    await area.fill(text)
    await save(page)


@dokuwiki.task(
    "Rename the page {person[id]}: its whole text goes to the new page former:{own}, and the old page is deleted.",
    "Move the page {person[id]} to former:{own}, with all its text. Delete the old page by saving it empty.",
    "{person[id]} has left. Copy the text of this page as it is to a new page former:{own}, then empty the old page.",
    heldout_wordings=("Let the page {person[id]} live on as former:{own} with the same text; delete the old one.",),
    max_steps=50,
    expected_steps=18,
    tags=("multi-step", "edit", "hard"),
)
def move_page(
    person: Row = PERSON, own: str = computed(lambda state, p: p["person"]["id"].partition(":")[2])
) -> Verifier:
    return only(removed("pages", id=person["id"]), added("pages", id=f"former:{own}", text=wiki(person["text"])))


@move_page.oracle
async def _(page: Page, person: Row, own: str) -> None:
    await open_page(page, person["id"])
    area = await edit_page(page)
    await area.press("Control+A")
    await page.keyboard.press("Control+X")
    await save(page)
    area = await begin_page(page, f"former:{own}")
    await area.press("Control+A")
    await page.keyboard.press("Control+V")
    await save(page)
