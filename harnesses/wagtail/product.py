"""A museum's site on Wagtail and PostgreSQL: how to start it, reset it and read it, and how a person works in it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uigym.harness import Harness
from uigym.product import Directory, Files, InOrder, Made, Pip, Postgres, PostgresServer, PostgresTemplate, Together
from uigym.product.postgres_private import programs
from uigym.types import Row, State, Upload

HERE = Path(__file__).parent
PIP = Pip("wagtail==8.0.1", "django==5.2.19", "psycopg[binary]==3.3.9")
SERVE = HERE / "site-files" / "serve.py"
"""The project; nothing in it is Wagtail's."""


def made(folder: Path) -> None:
    """The site as every episode finds it: its database as SQL, and its uploaded files."""
    (folder / "media").mkdir()
    server = PostgresServer(variable="")
    try:
        dsn = server.begin()
        settings = {"MUSEUM_DSN": dsn, "MUSEUM_MEDIA": f"{folder / 'media'}"}
        _run([f"{PIP.folder / 'bin' / 'python'}", f"{SERVE}", "fill"], settings)
        _run([f"{programs() / 'pg_dump'}", "--no-owner", "--no-privileges", "-f", f"{folder / 'site.sql'}", dsn], {})
    finally:
        server.end()


def _run(command: list[str], settings: dict[str, str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{Path(command[-1]).name}: {done.stderr.strip()[-1000:]}")


# --- the state ----------------------------------------------------------------------------------------------------

ONE_PAGE = ("wagtailcore_page", "museum_homepage", "museum_standardpage", "museum_blogpage", "museum_blogpagetag")
PLACE = ("path", "depth", "numchild", "url_path")
TIMES = (
    "first_published_at",
    "last_published_at",
    "latest_revision_created_at",
    "latest_revision_id",
    "live_revision_id",
)
DRAFTED = ("title", "slug", "intro", "body", "author", "date", "picture", "show_in_menus", "go_live_at", "expire_at")
IGNORED = [
    "django_session", "wagtailadmin_editingsession", "wagtailsearch_indexentry", "wagtailcore_referenceindex",
    "wagtailimages_rendition", "wagtailcore_pagelogentry", "wagtailcore_modellogentry", "wagtailcore_uploadedfile",
    "auth_permission", "django_content_type", "django_migrations", "auth_user.last_login",
]  # fmt: skip


class Site(Postgres):
    """A probe that reads pages as an editor sees them: `pages` as the public does, `drafts` as they were saved last."""

    def read(self, dsn: str) -> State:
        """All tables, but for those of pages and their versions, which become `pages` and `drafts`."""
        raw = super().read(dsn)
        tables, keys = dict(raw.tables), dict(raw.keys)
        nodes, *kinds, filed = (tables.pop(name) for name in ONE_PAGE)
        revisions = {row["id"]: row for row in tables.pop("wagtailcore_revision")}
        tag_names = {row["id"]: row["name"] for row in tables["taggit_tag"]}
        tags: dict[Any, list[str]] = {}
        for row in filed:
            tags.setdefault(row["content_object_id"], []).append(tag_names[row["tag_id"]])
        own = {row["page_ptr_id"]: row for rows in kinds for row in rows}
        by_path = {row["path"]: row["id"] for row in nodes}
        tables["pages"] = tuple(
            _page(row, by_path, own.get(row["id"], {}), sorted(tags.get(row["id"], []))) for row in nodes
        )
        tables["drafts"] = tuple(_draft(row["id"], revisions[row["latest_revision_id"]]) for row in nodes
                                 if row["latest_revision_id"] in revisions)  # fmt: skip
        for name in (*ONE_PAGE, "wagtailcore_revision"):
            keys.pop(name, None)
        return State(tables, {**keys, "pages": ("id",), "drafts": ("id",)}, raw.base)


def _page(node: Row, by_path: Mapping[str, int], own: Row, tags: list[str]) -> Row:
    row = {name: value for name, value in node.items() if name not in (*PLACE, *TIMES)}
    row |= {"parent_id": by_path.get(node["path"][:-4]), "place": node["path"][-4:]}
    row |= {"intro": "", "body": "", **{name: value for name, value in own.items() if name != "page_ptr_id"}}
    return {**row, "body": plain(row["body"]), "tags": ", ".join(tags)}


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
    grants=(Upload,),
    logs=("wagtailcore_pagelogentry", "taggit_tag"),
)

# --- what the instructions speak of ----------------------------------------------------------------------------------

Params = Mapping[str, Any]
Page = Any  # Playwright's
