"""A museum's site on Wagtail and PostgreSQL: how to start it, reset it and read it, and how a person works in it."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from uigym.harness import Harness
from uigym.product import Directory, Files, InOrder, Made, Pip, Postgres, PostgresServer, PostgresTemplate, Together
from uigym.product.postgres_private import programs
from uigym.surroundings import Surroundings
from uigym.types import Row, State, Upload
from uigym.verifiers.state import Change, changed

HERE = Path(__file__).parent
PIP = Pip("wagtail==8.0.1", "django==5.2.19", "psycopg[binary]==3.3.9")
SERVE = HERE / "site-files" / "serve.py"
"""The project; nothing in it is Wagtail's."""


def made(folder: Path) -> None:
    """The site as every episode finds it: its database as SQL, and its uploaded files."""
    (folder / "media").mkdir()
    with PostgresServer(variable="") as dsn:
        _run([PIP.folder / "bin" / "python", SERVE, "fill"], MUSEUM_DSN=dsn, MUSEUM_MEDIA=f"{folder / 'media'}")
        _run([programs() / "pg_dump", "--no-owner", "--no-privileges", "-f", folder / "site.sql", dsn])


def _run(command: list[Path | str], **settings: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]} {command[1]}: {done.stderr.strip()[-1000:]}")


# --- the state ----------------------------------------------------------------------------------------------------

ONE_PAGE = ("wagtailcore_page", "museum_homepage", "museum_standardpage", "museum_blogpage", "museum_blogpagetag")
DROPPED = (
    "path", "depth", "numchild", "url_path", "content_type_id", "translation_key", "first_published_at",
    "last_published_at", "latest_revision_created_at", "latest_revision_id", "live_revision_id",
)  # fmt: skip
"""Of a page: what follows from the rest, times, and names that are drawn."""
TEXTS = {"intro": "", "body": "", "author": "", "date": None, "picture_id": None}
DRAFTED = ("title", "slug", "intro", "body", "author", "date", "picture", "show_in_menus", "go_live_at", "expire_at")
IGNORED = [
    "django_session", "wagtailadmin_editingsession", "wagtailsearch_indexentry", "wagtailcore_referenceindex",
    "wagtailimages_rendition", "wagtailcore_pagelogentry", "wagtailcore_modellogentry", "wagtailcore_uploadedfile",
    "wagtailcore_pagesubscription",
    "auth_permission", "django_migrations", "auth_user.last_login", "auth_user.date_joined", "auth_user.password",
    "wagtailimages_image.created_at", "wagtaildocs_document.created_at", "wagtailredirects_redirect.created_at",
]  # fmt: skip


class Site(Postgres):
    """A probe that reads pages as an editor sees them: `pages` as the public does, `drafts` as they were saved last."""

    def read(self, dsn: str) -> State:
        """All tables, but for those of pages and their versions, which become `pages` and `drafts`."""
        raw = super().read(dsn)
        tables = dict(raw.tables)
        nodes, *kinds, filed = (tables.pop(name) for name in ONE_PAGE)
        names = {row["id"]: row["model"] for row in tables.pop("django_content_type")}
        revisions = {row["id"]: row for row in tables.pop("wagtailcore_revision")}
        known = {row["id"]: row["name"] for row in tables["taggit_tag"]}
        own = {row["page_ptr_id"]: row for rows in kinds for row in rows}
        parents = {row["path"]: row["id"] for row in nodes}
        found = []
        for node in nodes:
            tags = sorted(known[row["tag_id"]] for row in filed if row["content_object_id"] == node["id"])
            parent, kind = parents.get(node["path"][:-4]), names[node["content_type_id"]]
            found.append(_page(node, own.get(node["id"], {}), kind=kind, parent_id=parent, tags=", ".join(tags)))
        tables["pages"] = tuple(found)
        latest = ((node["id"], revisions.get(node["latest_revision_id"])) for node in nodes)
        tables["drafts"] = tuple(_draft(page, revision) for page, revision in latest if revision)
        keys = {name: key for name, key in raw.keys.items() if name in tables}
        return State(tables, {**keys, "pages": ("id",), "drafts": ("id",)}, raw.base)


def _page(node: Row, own: Row, **told: Any) -> Row:
    row = {**{name: value for name, value in node.items() if name not in DROPPED}, **told, "place": node["path"][-4:]}
    row |= {**TEXTS, **{name: value for name, value in own.items() if name != "page_ptr_id"}}
    return {**row, "body": plain(row["body"])}


def _draft(page: int, revision: Row) -> Row:
    content = revision["content"]
    row = {"id": page, "approved_go_live_at": revision["approved_go_live_at"]}
    row |= {name: content.get(name) for name in DRAFTED}
    return {**row, "body": plain(content.get("body") or "")}


def plain(body: str) -> str:
    """Rich text without the names that the editor gives to its paragraphs."""
    return re.sub(r' data-block-key="[^"]*"', "", body)


wagtail = Harness(
    name="wagtail",
    install=(PIP, Made("site", made, PIP, HERE / "site-files" / "museum")),
    start="MUSEUM_DSN={dsn} MUSEUM_MEDIA={workdir}/media MUSEUM_FILLED={site}/media {pip}/bin/python "
    f"'{SERVE}' {{port}}",
    ready="/admin/",
    ready_timeout_s=240,
    home="/admin/",
    state=Together(Site(ignore=IGNORED), Files("{workdir}/media", ["original_images/*", "documents/*"])),
    reset=InOrder(PostgresTemplate(PostgresServer(), "{site}/site.sql"), Directory("{workdir}/media")),
    viewport=(1280, 800),
    surroundings=Surroundings(clock=datetime.datetime(2026, 1, 15, 9, tzinfo=datetime.UTC)),
    grants=(Upload,),
)

# --- what the instructions speak of ----------------------------------------------------------------------------------

Params = Mapping[str, Any]
Page = Any  # Playwright's


def leaf(row: Row, params: Params) -> bool:
    """Whether it is a page of a section, public and with nothing that waits to be published."""
    return bool(
        row["live"] and not row["has_unpublished_changes"] and row["kind"] == "standardpage" and not is_section(row)
    )


def post(row: Row, params: Params) -> bool:
    """Whether it is a post of the news, public and with nothing that waits to be published."""
    return bool(row["live"] and not row["has_unpublished_changes"] and row["kind"] == "blogpage")


def draft(row: Row, params: Params) -> bool:
    """Whether it is a page that the public has never seen."""
    return not row["live"]


def section(row: Row, params: Params) -> bool:
    """Whether it has other pages below it: Visit, About, ..."""
    return is_section(row) and row["title"] != "News"


def is_section(row: Row) -> bool:
    """Whether it is in the menu of the site."""
    return bool(row["show_in_menus"])


def others(row: Row, params: Params) -> bool:
    """Sections that the page is not in."""
    return section(row, params) and row["id"] != params["item"]["parent_id"]


def after_all(state: State, parent: Row) -> str:
    """Where a page comes to lie that is moved below another: after those that are there."""
    places = [row["place"] for row in state.tables["pages"] if row["parent_id"] == parent["id"]]
    return str(np.base_repr(int(max(places, default="0"), 36) + 1, 36)).zfill(4)  # as Wagtail numbers them


def published(page: Row, **columns: Any) -> list[Change]:
    """The page has these values, for the public and in its last version."""
    titled = {"draft_title": columns["title"]} if "title" in columns else {}
    return [changed("pages", key=page["id"], **columns, **titled), changed("drafts", key=page["id"], **columns)]


# --- how a person does it ---------------------------------------------------------------------------------------------


async def find(page: Page, title: str) -> None:
    """Search for a page from the dashboard."""
    box = page.get_by_role("textbox", name="Search term")
    await box.fill(title)
    await box.press("Enter")


async def edit(page: Page, title: str) -> None:
    """Open a page in its editor."""
    await find(page, title)
    await page.get_by_role("main").get_by_role("link", name=title, exact=True).click()


async def choose(page: Page, title: str, act: str) -> None:
    """Choose an act from a page's menu in the list."""
    await find(page, title)
    await page.get_by_role("button", name=f"More options for '{title}'").click()
    await page.locator("[data-tippy-root]").get_by_role("link", name=act, exact=True).click()


async def save(page: Page, how: str = "Publish") -> None:
    """Choose what the menu beside the button "Save draft" offers."""
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("button", name=how, exact=True).click()


async def settings(page: Page, entry: str) -> None:
    """Open an entry of the menu Settings."""
    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("link", name=entry, exact=True).click()


async def choose_parent(page: Page, title: str) -> None:
    """In a form: choose another page that this one goes below."""
    await page.get_by_role("button", name="Actions").click()
    await page.get_by_role("button", name="Choose another page").click()
    await choose_page(page, title)


async def choose_page(page: Page, title: str) -> None:
    """In the dialog that lists pages."""
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Search term").fill(title)
    await dialog.get_by_role("link", name=title, exact=True).click()
