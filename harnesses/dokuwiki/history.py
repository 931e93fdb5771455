"""Tasks about old revisions: restore one, compare two; and one that cannot be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uigym.harnesses.dokuwiki.product import BOAT, Page, detail, dokuwiki, only, open_page, versions, wiki
from uigym.harnesses.dokuwiki.seed import USERS
from uigym.params import computed, one_from, rows
from uigym.types import Row, State
from uigym.verifiers.answer import equals
from uigym.verifiers.state import changed, unchanged
from uigym.verify import Verifier, all_of

NAMES = {login: name for login, name, _ in USERS}
OR_SAY = "If that is not possible, answer: impossible."


async def show_revision(page: Page, name: str, said: str) -> None:
    """Open an old revision by its edit summary."""
    await open_page(page, name)
    await page.get_by_role("link", name="Old revisions").click()
    await page.locator("#page__revisions li").filter(has_text=said).locator("a.wikilink1").click()


async def restore(page: Page) -> None:
    """Make the old revision that is shown the current one, and say yes to the question whether that is meant."""
    async with page.expect_event("dialog") as asked:
        await page.get_by_role("link", name="Restore", exact=True).click()
    await (await asked.value).accept()


def old_versions(state: State, kinds: tuple[str, ...] = ("boats", "howto")) -> list[Row]:
    """Versions of pages that have a later one, of which no two have the same author."""
    found = []
    for page in {row["page"]: None for row in state.tables["revisions"]}:
        saved = versions(state, page)
        authors = [row["author"] for row in saved]
        if page.startswith(kinds) and len(set(authors)) == len(saved):
            found += [{**row, "name": NAMES[row["author"]]} for row in saved[:-1]]
    return found


def strangers(state: State, params: Mapping[str, Any]) -> list[str]:
    """Names of users who never saved the page."""
    authors = {row["author"] for row in versions(state, params["boat"]["id"])}
    return [name for login, name in NAMES.items() if login not in authors]


def before_the_fee(state: State, boat: str) -> str:
    """What a boat's page said before its yearly fee was changed."""
    return str(versions(state, boat)[1]["text"])


@dokuwiki.task(
    'Restore the old revision of the page {old[page]} that has the edit summary "{old[said]}".',
    'Put the page {old[page]} back to how it was after the edit "{old[said]}".',
    'In the history of the page {old[page]} there is a revision with the summary "{old[said]}": make it the current one.',
    heldout_wordings=('The page {old[page]} must be again what it was in its revision "{old[said]}".',),
    max_steps=20,
    expected_steps=7,
    tags=("navigate", "multi-step", "medium"),
)
def restore_revision(old: Row = one_from(lambda state, _: old_versions(state))) -> Verifier:
    return only(changed("pages", key=old["page"], text=wiki(old["text"])))


@restore_revision.oracle
async def _(page: Page, old: Row) -> None:
    await show_revision(page, old["page"], old["said"])
    await restore(page)


@dokuwiki.task(
    "By how many EUR did the last edit of the page {boat[id]} raise the yearly fee? Answer with a number.",
    "Compare the current page {boat[id]} with the revision before it: by how many EUR is the yearly fee higher now? "
    "Answer with a number.",
    "How many EUR more than in the previous revision is the yearly fee on the page {boat[id]}? Answer with a number.",
    heldout_wordings=(
        "The yearly fee on {boat[id]} was raised by the last edit. By how many EUR? Answer with a number.",
    ),
    max_steps=20,
    expected_steps=8,
    tags=("compare", "answer", "medium"),
)
def fee_rise(
    boat: Row = BOAT,
    rise: int = computed(lambda state, p: fee(p["boat"]["text"]) - fee(before_the_fee(state, p["boat"]["id"]))),
) -> Verifier:
    return all_of(equals(rise), unchanged())


def fee(text: str) -> int:
    """EUR a year."""
    return int(detail(text, "Yearly fee").partition(" ")[0])


@fee_rise.oracle
async def _(page: Page, boat: Row, rise: int) -> str:
    await open_page(page, boat["id"])
    await page.get_by_role("link", name="Old revisions").click()
    await page.locator("#page__revisions li").nth(1).locator("a.diff_link").click()
    return str(rise)


@dokuwiki.task(
    "Restore the page {old[page]} as {old[name]} left it. " + OR_SAY,
    "Put the page {old[page]} back to the revision that was saved by {old[name]}. " + OR_SAY,
    "What {old[name]} once saved as the page {old[page]} must be its text again. " + OR_SAY,
    heldout_wordings=("Go back to {old[name]}'s revision of the page {old[page]}. " + OR_SAY,),
    max_steps=20,
    expected_steps=7,
    tags=("navigate", "find", "medium"),
)
def restore_by_author(old: Row = one_from(lambda state, _: old_versions(state))) -> Verifier:
    return only(changed("pages", key=old["page"], text=wiki(old["text"])))


@restore_by_author.oracle
async def _(page: Page, old: Row) -> None:
    await show_revision(page, old["page"], old["name"])
    await restore(page)


@dokuwiki.task(
    "Restore the page {boat[id]} as {name} left it. " + OR_SAY,
    "Put the page {boat[id]} back to the revision that was saved by {name}. " + OR_SAY,
    "What {name} once saved as the page {boat[id]} must be its text again. " + OR_SAY,
    heldout_wordings=("Go back to {name}'s revision of the page {boat[id]}. " + OR_SAY,),
    max_steps=20,
    expected_steps=6,
    tags=("refuse", "find", "medium"),
)
def restore_by_stranger(
    boat: Row = rows(
        "pages", where=lambda row, _: row["id"].startswith(("boats:", "howto:")) and ":start" not in row["id"]
    ),
    name: str = one_from(strangers),
) -> Verifier:
    return all_of(equals("impossible"), unchanged())


@restore_by_stranger.oracle
async def _(page: Page, boat: Row) -> str:
    await open_page(page, boat["id"])
    await page.get_by_role("link", name="Old revisions").click()
    return "impossible"
