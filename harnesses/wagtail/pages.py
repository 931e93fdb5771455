"""Tasks about pages: written, published, moved, copied, unpublished, deleted."""

from __future__ import annotations

import datetime
from typing import Any

from uigym.harnesses.wagtail.product import (
    Page,
    after_all,
    choose,
    choose_parent,
    draft,
    edit,
    leaf,
    others,
    post,
    published,
    save,
    section,
    wagtail,
)
from uigym.params import between, computed, one_from, one_of, rows
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verifiers.state import added, changed, only, removed, unchanged
from uigym.verify import Verifier, all_of

TITLES = ("Spring tides", "The salt loft", "A day in the archive", "Rigging for beginners", "Boats of the bay")
INTROS = (
    "Open again from the first of May.",
    "With new pictures from the archive.",
    "Free for everybody under twelve.",
    "Please book a week ahead.",
)
NOTES = ("Closed on Mondays.", "The lift is out of order.", "Dogs may come in.", "No flash, please.")
IF_NOT = " If that is not possible, answer: impossible."


def days(first: int, end: int) -> list[str]:
    """Every day from the beginning of one year to that of another, as Wagtail writes them."""
    begin = datetime.date(first, 1, 1)
    return [f"{begin + datetime.timedelta(days=n)}" for n in range((datetime.date(end, 1, 1) - begin).days)]


@wagtail.task(
    "Change the intro of the page “{item[title]}” to “{intro}” and publish it.",
    "The page “{item[title]}” needs another intro: “{intro}”. Put it there and publish the page.",
    heldout_wordings=("Let the public read “{intro}” as the intro of the page “{item[title]}”.",),
    max_steps=42,
    expected_steps=14,
    tags=("edit", "form", "easy"),
)
def change_intro(item: Row = rows("pages", where=leaf), intro: str = one_of(*INTROS)) -> Verifier:
    return only(*published(item, intro=intro))


@change_intro.oracle
async def _(page: Page, item: Row, intro: str) -> None:
    await edit(page, item["title"])
    await page.get_by_role("textbox", name="Intro").fill(intro)
    await save(page)


@wagtail.task(
    "Give the page “{item[title]}” the title “{title}”, but save it as a draft only: do not publish it.",
    "Prepare a new title for the page “{item[title]}”: “{title}”. Save the draft; the public must not see it yet.",
    heldout_wordings=("In a draft of the page “{item[title]}”, call it “{title}”. What is public stays as it is.",),
    max_steps=39,
    expected_steps=13,
    tags=("edit", "form", "easy"),
)
def retitle_draft(item: Row = rows("pages", where=leaf), title: str = one_of(*TITLES)) -> Verifier:
    waiting = changed("pages", key=item["id"], draft_title=title, has_unpublished_changes=True)
    return only(waiting, changed("drafts", key=item["id"], title=title))


@retitle_draft.oracle
async def _(page: Page, item: Row, title: str) -> None:
    await edit(page, item["title"])
    await page.get_by_role("textbox", name="Title*").fill(title)
    await page.get_by_role("button", name="Save draft").click()


@wagtail.task(
    "Publish the page “{item[title]}”, which is a draft.",
    "The draft “{item[title]}” is ready: publish it.",
    heldout_wordings=("Let the public see the page “{item[title]}”, as its draft is.",),
    max_steps=33,
    expected_steps=11,
    tags=("find", "easy"),
)
def publish_draft(item: Row = rows("pages", where=draft)) -> Verifier:
    return only(changed("pages", key=item["id"], live=True, has_unpublished_changes=False))


@publish_draft.oracle
async def _(page: Page, item: Row) -> None:
    await edit(page, item["title"])
    await save(page)


@wagtail.task(
    "Unpublish the page “{item[title]}”." + IF_NOT,
    "The public should no longer see the page “{item[title]}”: unpublish it, but do not delete it." + IF_NOT,
    heldout_wordings=("Take the page “{item[title]}” off the public site; keep it as a draft." + IF_NOT,),
    max_steps=33,
    expected_steps=11,
    tags=("find", "multi-step", "easy"),
)
def unpublish_page(item: Row = rows("pages", where=post)) -> Verifier:
    return only(changed("pages", key=item["id"], live=False, has_unpublished_changes=True))


@unpublish_page.oracle
async def _(page: Page, item: Row) -> None:
    await choose(page, item["title"], "Unpublish")
    await page.get_by_role("button", name="Yes, unpublish it").click()


@wagtail.task(
    "Unpublish the page “{item[title]}”." + IF_NOT,
    "The public should no longer see the page “{item[title]}”: unpublish it, but do not delete it." + IF_NOT,
    heldout_wordings=("Take the page “{item[title]}” off the public site; keep it as a draft." + IF_NOT,),
    max_steps=27,
    expected_steps=9,
    tags=("find", "refuse", "medium"),
)
def unpublish_what_is_not_public(item: Row = rows("pages", where=draft)) -> Verifier:
    return all_of(equals("impossible"), unchanged())


@unpublish_what_is_not_public.oracle
async def _(page: Page, item: Row) -> str:
    await edit(page, item["title"])
    await page.get_by_role("textbox", name="Title*").wait_for()
    return "impossible"


@wagtail.task(
    "Move the page “{item[title]}” below “{parent[title]}”.",
    "The page “{item[title]}” belongs in the section “{parent[title]}”: move it there.",
    heldout_wordings=("Make “{item[title]}” a child page of “{parent[title]}”.",),
    max_steps=51,
    expected_steps=17,
    tags=("navigate", "multi-step", "medium"),
)
def move_page(
    item: Row = rows("pages", where=leaf),
    parent: Row = rows("pages", where=others),
    place: str = computed(lambda state, params: after_all(state, params["parent"])),
) -> Verifier:
    return only(changed("pages", key=item["id"], parent_id=parent["id"], place=place))


@move_page.oracle
async def _(page: Page, item: Row, parent: Row, place: str) -> None:
    await choose(page, item["title"], "Move")
    await choose_parent(page, parent["title"])
    await page.get_by_role("button", name="Confirm").click()
    await page.get_by_role("button", name="Yes, move this page").click()


@wagtail.task(
    "Copy the page “{item[title]}” to a new page “{title}” with the slug {slug} in the same section. The copy stays a draft.",
    "Make a copy of the page “{item[title]}” beside it, with the title “{title}” and the slug {slug}; do not publish the copy.",
    heldout_wordings=(
        "There should be a draft “{title}” (slug: {slug}) next to the page “{item[title]}”, copied from it.",
    ),
    max_steps=51,
    expected_steps=17,
    tags=("form", "multi-step", "medium"),
)
def copy_page(
    item: Row = rows("pages", where=leaf),
    title: str = one_of(*TITLES),
    slug: str = computed(lambda state, params: params["title"].lower().replace(" ", "-")),
) -> Verifier:
    same: dict[str, Any] = {name: item[name] for name in ("kind", "parent_id", "intro", "body")}
    same |= {"live": False, "alias_of_id": None, "show_in_menus": False}
    copied = added("pages", title=title, draft_title=title, slug=slug, **same)
    return only(copied, added("drafts", title=title, slug=slug, intro=item["intro"], body=item["body"]))


@copy_page.oracle
async def _(page: Page, item: Row, title: str, slug: str) -> None:
    await choose(page, item["title"], "Copy")
    await page.get_by_role("textbox", name="New title*").fill(title)
    await page.get_by_role("textbox", name="New slug*").fill(slug)
    await page.get_by_role("button", name="Copy this page").click()


@wagtail.task(
    "Delete the page “{item[title]}”.",
    "We need the page “{item[title]}” no longer: delete it.",
    heldout_wordings=("Remove the page “{item[title]}” from the site for good.",),
    max_steps=33,
    expected_steps=11,
    tags=("find", "multi-step", "easy"),
)
def delete_page(item: Row = rows("pages", where=post)) -> Verifier:
    return only(removed("pages", id=item["id"]), removed("drafts", id=item["id"]))


@delete_page.oracle
async def _(page: Page, item: Row) -> None:
    await choose(page, item["title"], "Delete")
    await page.get_by_role("button", name="Yes, delete it").click()


@wagtail.task(
    "Add a standard page “{title}” below “{parent[title]}”, with the intro “{intro}” and an empty body, and publish it.",
    "Below “{parent[title]}” we need a new standard page. Title: “{title}”. Intro: “{intro}”. No body. Publish it.",
    heldout_wordings=(
        "Publish a new standard page in the section “{parent[title]}”: it is called “{title}”, and all it says is the intro “{intro}”.",
    ),
    max_steps=51,
    expected_steps=17,
    tags=("form", "multi-step", "medium"),
)
def add_page(
    parent: Row = rows("pages", where=section), title: str = one_of(*TITLES), intro: str = one_of(*INTROS)
) -> Verifier:
    told: dict[str, Any] = {"title": title, "intro": intro, "body": "", "show_in_menus": False}
    made = added("pages", kind="standardpage", parent_id=parent["id"], live=True, has_unpublished_changes=False, **told)
    return only(made, added("drafts", **told))


@add_page.oracle
async def _(page: Page, parent: Row, title: str, intro: str) -> None:
    await choose(page, parent["title"], "Add child page")
    await page.get_by_role("link", name="Standard page", exact=True).click()
    await page.get_by_role("textbox", name="Title*").fill(title)
    await page.get_by_role("textbox", name="Intro").fill(intro)
    await save(page)


@wagtail.task(
    "Write a blog page “{title}” below “News”, dated {day}, by {author}. Its body is a heading of level 2, “{heading}”, "
    "and below it a paragraph: “{note}” Save it as a draft.",
    "Save a draft of a new blog page in “News”. Title: “{title}”; post date: {day}; author: {author}; body: “{heading}” as a "
    "heading 2, then a paragraph “{note}”",
    heldout_wordings=(
        "{author} has a piece for “News”, to be kept as a draft blog page “{title}” of {day}. The body begins with the level 2 heading "
        "“{heading}”; one paragraph follows: “{note}”",
    ),
    max_steps=69,
    expected_steps=23,
    tags=("rich-text", "date", "form", "hard"),
)
def write_post(
    title: str = one_of(*TITLES),
    author: str = one_of("Ines Okafor", "Jonas Lindqvist", "Tom Ashby"),
    day: str = one_from(lambda state, params: days(2025, 2028)),
    heading: str = one_of("How it began", "What to see", "Who helped"),
    note: str = one_of(*NOTES),
) -> Verifier:
    told: dict[str, Any] = {"title": title, "author": author, "date": day, "intro": ""}
    told["body"] = f"<h2>{heading}</h2><p>{note}</p>"
    made = added("pages", kind="blogpage", live=False, show_in_menus=False, tags="", picture_id=None, **told)
    return only(made, added("drafts", **told))


@write_post.oracle
async def _(page: Page, title: str, author: str, day: str, heading: str, note: str) -> None:
    await choose(page, "News", "Add child page")
    await page.get_by_role("link", name="Blog page", exact=True).click()
    await page.get_by_role("textbox", name="Title*").fill(title)
    await page.get_by_role("textbox", name="Post date*").fill(day)
    await page.get_by_role("textbox", name="Author*").fill(author)
    await page.get_by_role("region", name="Body").locator("[contenteditable=true]").click()
    await page.keyboard.type("## ")
    await page.keyboard.type(heading)
    await page.keyboard.press("Enter")
    await page.keyboard.type(note)
    await page.get_by_role("button", name="Save draft").click()


@wagtail.task(
    "Add a last paragraph to the body of the page “{item[title]}”: “{note}”, all of it in bold. Publish the page.",
    "At the end of the body of “{item[title]}”, visitors should read “{note}” in bold, as a paragraph of its own. Publish that.",
    heldout_wordings=("Publish “{item[title]}” with one paragraph more, its last: “{note}”, set in bold.",),
    max_steps=48,
    expected_steps=16,
    tags=("rich-text", "edit", "hard"),
)
def add_bold_note(item: Row = rows("pages", where=leaf), note: str = one_of(*NOTES)) -> Verifier:
    return only(*published(item, body=f"{item['body']}<p><b>{note}</b></p>"))


@add_bold_note.oracle
async def _(page: Page, item: Row, note: str) -> None:
    await edit(page, item["title"])
    await page.get_by_role("region", name="Body").locator("[contenteditable=true]").click()
    await page.keyboard.press("Control+End")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Control+B")
    await page.keyboard.type(note)
    await save(page)


@wagtail.task(
    "Schedule the draft page “{item[title]}” to go live on {day} at {hour:02}:00.",
    "The draft “{item[title]}” should be published by itself on {day}, {hour:02}:00. Set that up.",
    heldout_wordings=("Arrange that the draft page “{item[title]}” goes live at {hour:02}:00 on {day}.",),
    max_steps=54,
    expected_steps=18,
    tags=("date", "multi-step", "hard"),
)
def schedule_page(
    item: Row = rows("pages", where=draft),
    day: str = one_from(lambda state, params: days(2041, 2050)),
    hour: int = between(6, 20),
) -> Verifier:
    when = f"{day}T{hour:02}:00:00"
    approved = changed("drafts", key=item["id"], go_live_at=f"{when}Z", approved_go_live_at=f"{when}+00:00")
    return only(changed("pages", key=item["id"], go_live_at=f"{when}+00:00"), approved)


@schedule_page.oracle
async def _(page: Page, item: Row, day: str, hour: int) -> None:
    await edit(page, item["title"])
    await page.get_by_role("button", name="Toggle status").click()
    await page.get_by_role("button", name="Set schedule").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_role("textbox", name="Go live date/time")
    await field.fill(f"{day} {hour:02}:00")
    await dialog.get_by_role("heading", name="Set publishing schedule").click()  # closes the calendar over the button
    await dialog.get_by_role("button", name="Save schedule").click()
    await save(page, "Schedule to publish")
