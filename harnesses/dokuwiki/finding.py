"""Tasks that end with an answer found by the wiki's search."""

from __future__ import annotations

from collections import Counter

from uigym.harnesses.dokuwiki.product import Page, detail, dokuwiki, search
from uigym.harnesses.dokuwiki.seed import GEAR
from uigym.params import computed, one_from, one_of
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.state import unchanged
from uigym.verify import Verifier, all_of


def boats(state: State) -> list[Row]:
    """The pages of boats, with their berths."""
    pages = [row for row in state.tables["pages"] if row["id"].startswith("boats:") and row["id"] != "boats:start"]
    return [{**row, "berth": detail(row["text"], "Berth"), "name": row["id"][6:].capitalize()} for row in pages]


def alone(state: State) -> list[Row]:
    """Boats that no other shares the berth with."""
    count = Counter(boat["berth"] for boat in boats(state))
    return [boat for boat in boats(state) if count[boat["berth"]] == 1]


@dokuwiki.task(
    "Which boat lies at berth {boat[berth]}? Answer with its name.",
    "Find out the name of the boat that has the berth {boat[berth]} and answer with it.",
    "One boat of the wiki lies at berth {boat[berth]}. Answer with that boat's name.",
    heldout_wordings=("What is the boat at berth {boat[berth]} called? Answer with the name.",),
    max_steps=40,
    expected_steps=6,
    tags=("find", "answer", "medium"),
)
def boat_at_berth(boat: Row = one_from(lambda state, _: alone(state))) -> Verifier:
    return all_of(equals(boat["name"]), unchanged())


@boat_at_berth.oracle
async def _(page: Page, boat: Row) -> str:
    await search(page, f'"Berth | {boat["berth"]} |"')
    await page.locator("#dokuwiki__content .search_fullpage_result a.wikilink1").first.click()
    return str(await page.locator("#dokuwiki__content h1").inner_text())


@dokuwiki.task(
    'How many boats in the namespace "boats" have a page that lists "{gear}" as equipment? Answer with a number.',
    'Count the pages of boats on which "{gear}" is in the list Equipment, and answer with the number.',
    'On how many boats\' pages does the list Equipment contain "{gear}"? Answer with a number.',
    heldout_wordings=('How many of the boats have "{gear}" among their equipment? Answer with a number.',),
    max_steps=40,
    expected_steps=5,
    tags=("find", "answer", "easy"),
)
def count_equipment(
    gear: str = one_of(*GEAR),
    count: int = computed(lambda state, p: sum(f"  * {p['gear']}\n" in boat["text"] for boat in boats(state))),
) -> Verifier:
    return all_of(equals(count), unchanged())


@count_equipment.oracle
async def _(page: Page, gear: str) -> str:
    await search(page, f'"{gear}"')
    return str(await page.locator("#dokuwiki__content .search_fullpage_result dt").count())
