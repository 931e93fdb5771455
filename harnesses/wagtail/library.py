"""Tasks about pictures and documents: uploaded, named, filed, removed."""

from __future__ import annotations

import io
import random
from collections.abc import Mapping
from typing import Any

from PIL import Image, ImageDraw

from uigym.harnesses.wagtail.product import Page, wagtail
from uigym.params import one_from, one_of, rows
from uigym.types import Row, State
from uigym.verifiers.match import regex
from uigym.verifiers.state import added, changed, only, removed
from uigym.verify import Verifier

PICTURES = ("Lamp room", "Grey seal", "Diving bell", "Rusty crane", "Paper boat")


def tags_of(state: State, image: Row) -> set[str]:
    """The tags of a picture."""
    known = {row["id"]: row["name"] for row in state.tables["taggit_tag"]}
    filed = state.tables["taggit_taggeditem"]
    kind = min(row["content_type_id"] for row in filed)  # only pictures have any
    return {known[row["tag_id"]] for row in filed if row["object_id"] == image["id"] and row["content_type_id"] == kind}


def missing_tags(state: State, params: Mapping[str, Any]) -> list[Row]:
    """Tags that the picture does not have."""
    has = tags_of(state, params["item"])
    return [row for row in state.tables["taggit_tag"] if row["name"] not in has]


def drawn(title: str) -> dict[str, bytes]:
    """A picture to upload, another one for each title."""
    rng = random.Random(title)
    image = Image.new("RGB", (320, 200), tuple(rng.randrange(256) for _ in range(3)))
    ImageDraw.Draw(image).ellipse((60, 30, 260, 170), fill=tuple(rng.randrange(256) for _ in range(3)))
    out = io.BytesIO()
    image.save(out, "PNG")
    return {"picture.png": out.getvalue()}


async def open_item(page: Page, where: str, title: str) -> None:
    """Search for a picture or a document and open it."""
    await page.get_by_role("link", name=where, exact=True).click()
    await page.get_by_role("main").get_by_role("textbox", name="Search term").fill(title)
    await page.get_by_role("main").get_by_role("link", name=title, exact=True).click()


@wagtail.task(
    "Upload the picture picture.png to the images and give it the title “{title}”.",
    "There is a file picture.png. Add it to the site's images, titled “{title}”.",
    heldout_wordings=("The image library should have a new image “{title}”: it is in the file picture.png.",),
    max_steps=42,
    expected_steps=14,
    tags=("file", "form", "medium"),
    files=drawn,
)
def upload_image(title: str = one_of(*PICTURES)) -> Verifier:
    image = added("wagtailimages_image", title=title, collection_id=1, description="", width=320, height=200)
    return only(image, added("files", path=regex(r"original_images/picture.*\.png")))


@upload_image.oracle
async def _(page: Page, title: str) -> None:
    await page.get_by_role("link", name="Images", exact=True).click()
    await page.get_by_role("link", name="Add an image").click()
    await page.locator("#fileupload").set_input_files("picture.png")
    await page.get_by_role("textbox", name="Title*").fill(title)
    await page.get_by_role("button", name="Update").click()


@wagtail.task(
    "Change the title of the image “{item[title]}” to “{title}”.",
    "The image “{item[title]}” should be called “{title}”.",
    heldout_wordings=("Rename the image “{item[title]}”: its title is “{title}”.",),
    max_steps=39,
    expected_steps=13,
    tags=("find", "edit", "easy"),
)
def rename_image(item: Row = rows("wagtailimages_image"), title: str = one_of(*PICTURES)) -> Verifier:
    return only(changed("wagtailimages_image", key=item["id"], title=title))


@rename_image.oracle
async def _(page: Page, item: Row, title: str) -> None:
    await open_item(page, "Images", item["title"])
    await page.get_by_role("textbox", name="Title*").fill(title)
    await page.get_by_role("button", name="Save", exact=True).click()


@wagtail.task(
    "Add the tag “{tag[name]}” to the image “{item[title]}”; the tags that it has stay.",
    "File the image “{item[title]}” under one more tag: “{tag[name]}”.",
    heldout_wordings=("The image “{item[title]}” should be found under the tag “{tag[name]}”, too.",),
    max_steps=39,
    expected_steps=13,
    tags=("find", "edit", "medium"),
)
def tag_image(item: Row = rows("wagtailimages_image"), tag: Row = one_from(missing_tags)) -> Verifier:
    return only(added("taggit_taggeditem", tag_id=tag["id"], object_id=item["id"]))


@tag_image.oracle
async def _(page: Page, item: Row, tag: Row) -> None:
    await open_item(page, "Images", item["title"])
    await page.locator(".tagit-new input").click()
    await page.keyboard.type(tag["name"])
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Save", exact=True).click()


@wagtail.task(
    "Move the document “{item[title]}” to the collection “{collection[name]}”.",
    "The document “{item[title]}” belongs in the collection “{collection[name]}”.",
    heldout_wordings=("File the document “{item[title]}” in “{collection[name]}”.",),
    max_steps=36,
    expected_steps=12,
    tags=("find", "form", "easy"),
)
def file_document(
    item: Row = rows("wagtaildocs_document"),
    collection: Row = rows("wagtailcore_collection", where=lambda row, params: row["depth"] > 1),
) -> Verifier:
    return only(changed("wagtaildocs_document", key=item["id"], collection_id=collection["id"]))


@file_document.oracle
async def _(page: Page, item: Row, collection: Row) -> None:
    await open_item(page, "Documents", item["title"])
    field = page.get_by_role("combobox", name="Collection*")
    labels = await field.locator("option").all_inner_texts()
    await field.select_option(label=next(label for label in labels if collection["name"] in label))
    await page.get_by_role("button", name="Save", exact=True).click()


@wagtail.task(
    "Delete the document “{item[title]}”.",
    "Remove the document “{item[title]}” from the site's documents.",
    heldout_wordings=("The document “{item[title]}” is out of date and should be gone.",),
    max_steps=36,
    expected_steps=12,
    tags=("find", "file", "easy"),
)
def delete_document(item: Row = rows("wagtaildocs_document")) -> Verifier:
    return only(removed("wagtaildocs_document", id=item["id"]), removed("files", path=item["file"]))


@delete_document.oracle
async def _(page: Page, item: Row) -> None:
    await open_item(page, "Documents", item["title"])
    await page.get_by_role("main").get_by_role("button", name="Actions").click()
    await page.locator("[data-tippy-root]").get_by_role("link", name="Delete").click()
    await page.get_by_role("button", name="Yes, delete").click()
