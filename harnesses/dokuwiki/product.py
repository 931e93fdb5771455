"""The wiki of a boatyard in DokuWiki: how to start, reset and read it; and the words that its tasks share."""

from __future__ import annotations

import re
from typing import Any

from uigym.compare import Matcher
from uigym.harness import Harness
from uigym.harnesses.dokuwiki.setup import Seeded
from uigym.harnesses.dokuwiki.state import Wiki
from uigym.params import rows
from uigym.product import Apt
from uigym.types import Dialog, Row, State, Upload
from uigym.verifiers.state import Change, unchanged
from uigym.verify import Verifier, all_of

PHP = (
    "php8.2-cli", "php8.2-common", "php8.2-mbstring", "php8.2-opcache", "php8.2-xml", "php-geshi", "php-phpseclib",
    "libphp-simplepie", "libjs-jquery", "libjs-jquery-cookie", "libjs-jquery-ui",
)  # fmt: skip
LIBRARIES = ("libargon2-1", "libbsd0", "libedit2", "libicu72", "libmd0", "libonig5", "libsodium23", "libxml2")
"""What PHP is linked with and a small system may lack."""
Page = Any  # Playwright's

dokuwiki = Harness(
    name="dokuwiki",
    install=(Apt("dokuwiki=0.0.20220731.a-2", *PHP, *LIBRARIES),),
    start="LD_LIBRARY_PATH={lib} {apt}/usr/bin/php8.2 -c {workdir}/php.ini -S 127.0.0.1:{port} -t {workdir}/www",
    state=Wiki(),
    reset=Seeded("{workdir}/wiki"),
    ready="/doku.php?id=start",
    grants=(Dialog, Upload),
    logs=("revisions",),
)


def only(*changes: Change) -> Verifier:
    """These changes, and nothing else but the history that every saved page leaves."""
    return all_of(*changes, unchanged(except_=[*changes, "revisions"]))


def wiki(wanted: str) -> Matcher:
    """A page's text, however many blank lines and spaces stand where they mean nothing."""
    return Matcher(f"wiki({wanted!r})", lambda found: isinstance(found, str) and plain(found) == plain(wanted))


def plain(text: str) -> str:
    """The text without spaces at the ends of lines and around the cells of tables, and with no two blank lines."""
    lines = (re.sub(r" *([|^]) *", r"\1", line) if line[:1] in ("|", "^") else line for line in text.splitlines())
    return re.sub(r"\n{2,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")


# --- what the instructions speak of -------------------------------------------------------------------------


def _within(namespace: str) -> Any:
    return rows(
        "pages", where=lambda row, _: row["id"].startswith(f"{namespace}:") and not row["id"].endswith(":start")
    )


BOAT, PERSON, SUPPLIER = _within("boats"), _within("people"), _within("suppliers")
"""Samplers: one of the pages of a namespace, but for its start page."""


def detail(text: str, what: str) -> str:
    """What a page's table says of something."""
    found = re.search(rf"^\| {re.escape(what)} \| (.*) \|$", text, re.MULTILINE)
    return found[1] if found else ""


def with_line(text: str, after: str, new: str) -> str:
    """The text with one line more, after the last line that begins with `after`."""
    lines = text.splitlines()
    at = max(number for number, line in enumerate(lines) if line.startswith(after))
    return "\n".join([*lines[: at + 1], new, *lines[at + 1 :]])


def versions(state: State, page: str) -> list[Row]:
    """The saved versions of a page, the oldest first."""
    return [row for row in state.tables["revisions"] if row["page"] == page]


# --- how a person does it -----------------------------------------------------------------------------------


async def open_page(page: Page, name: str) -> None:
    """From the start page by its links."""
    namespace, _, own = name.rpartition(":")
    await page.locator("#dokuwiki__content").get_by_role("link", name=namespace.capitalize(), exact=True).click()
    await page.locator("#dokuwiki__content").get_by_role("link", name=own, exact=True).click()


async def search(page: Page, words: str) -> None:
    """Type into the search field at the top and press Enter."""
    await page.locator("#qsearch__in").fill(words)
    await page.locator("#qsearch__in").press("Enter")


async def begin_page(page: Page, name: str) -> Any:
    """Search for a page that is not there, and follow the link that makes it; returns the text field."""
    await search(page, name)
    await page.locator("#dokuwiki__content a.wikilink2").first.click()
    return page.locator("#wiki__text")


async def edit_page(page: Page) -> Any:
    """Edit all of the page that is shown; returns the text field."""
    await page.get_by_role("link", name="Edit this page").click()
    return page.locator("#wiki__text")


async def edit_section(page: Page, heading: str) -> Any:
    """Press the button Edit below a section; returns the text field."""
    await page.locator(f"form.btn_secedit button[title={heading!r}]").click()
    return page.locator("#wiki__text")


async def to_line(page: Page, area: Any, start: str) -> None:
    """Put the caret into the last line of the text field that begins so."""
    lines = (await area.input_value()).splitlines()
    await area.press("Control+Home")
    for _ in range(max(number for number, line in enumerate(lines) if line.startswith(start))):
        await page.keyboard.press("ArrowDown")


async def save(page: Page) -> None:
    """Save what is edited."""
    await page.get_by_role("button", name="Save", exact=True).click()
