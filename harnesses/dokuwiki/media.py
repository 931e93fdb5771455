"""A task with a file: upload it and show it on a page."""

from __future__ import annotations

import hashlib

from uigym.harnesses.dokuwiki.product import (
    BOAT,
    Page,
    dokuwiki,
    edit_page,
    only,
    open_page,
    save,
    wiki,
    with_line,
)
from uigym.harnesses.dokuwiki.seed import png
from uigym.params import one_of
from uigym.types import Row
from uigym.verifiers.state import added, changed
from uigym.verify import Verifier

PICTURES = {
    "hull.png": png(160, 100, (30, 90, 150)),
    "keel.png": png(160, 100, (150, 60, 40)),
    "rudder.png": png(160, 100, (60, 130, 70)),
    "engine.png": png(160, 100, (120, 120, 60)),
}


@dokuwiki.task(
    "Upload the file {picture} to the media namespace boats. Then edit the section Remarks of the page {boat[id]}: "
    "{{{{boats:{picture}}}}} is its new last line.",
    "Put the picture {picture} into the namespace boats of the Media Manager, and add the line {{{{boats:{picture}}}}} "
    "at the end of the section Remarks of the page {boat[id]}.",
    "The page {boat[id]} shall show {picture}: upload the file to the namespace boats, then write {{{{boats:{picture}}}}} "
    "as a line of its own at the very end of the page's section Remarks.",
    heldout_wordings=(
        "Let the Media Manager take the file {picture} into the namespace boats, and end the section Remarks of the page "
        "{boat[id]} with the line {{{{boats:{picture}}}}}.",
    ),
    max_steps=60,
    expected_steps=22,
    tags=("file", "multi-step", "edit", "hard"),
    files=PICTURES,
)
def show_picture(boat: Row = BOAT, picture: str = one_of(*PICTURES)) -> Verifier:
    digest = hashlib.sha256(PICTURES[picture]).hexdigest()
    text = with_line(boat["text"], "The ", f"{{{{boats:{picture}}}}}")
    return only(
        added("media", path=f"boats:{picture}", sha256=digest), changed("pages", key=boat["id"], text=wiki(text))
    )


@show_picture.oracle
async def _(page: Page, boat: Row, picture: str) -> None:
    await page.get_by_role("link", name="Media Manager").click()
    await page.locator("#media__tree").get_by_role("link", name="boats", exact=True).click()
    await page.get_by_role("link", name="Upload", exact=True).click()
    async with page.expect_file_chooser() as chooser:
        await page.locator(".qq-upload-button").click()
    await (await chooser.value).set_files(picture)
    await page.locator("#mediamanager__upload_button").click()
    await page.locator("#mediamanager__uploader .qq-upload-success").wait_for()
    await page.locator(".breadcrumbs a, .youarehere a").first.click()
    await open_page(page, boat["id"])
    area = await edit_page(page)  # not the section, to which the wiki would scroll while the picture is still to come
    await area.press("Control+End")
    if not (await area.input_value()).endswith("\n"):
        await page.keyboard.press("Enter")
    await page.keyboard.type(f"{{{{boats:{picture}}}}}")
    await save(page)
