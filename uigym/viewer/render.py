"""Templates, what they may call, and where their links lead."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined

from uigym.report.charts import percent
from uigym.report.page import duration, signed

STATIC = Path(__file__).with_name("static")


class Links:
    """Addresses of the server's pages."""

    home = "/"

    def static(self, name: str) -> str:
        """Of a file that ships with the viewer; it changes when the file does."""
        return f"/static/{name}?v={_version(name)}"


class Renderer:
    """Fills in templates; everything that is put into them is escaped.

    Args:
        links: Where links lead.
        live: Whether the pages link to the wall of running browsers.
    """

    def __init__(self, links: Any, *, live: bool = False):
        self.pages = Environment(
            loader=PackageLoader("uigym.viewer", "pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.pages.filters.update(percent=percent, duration=duration, thousands="{:,}".format, signed=signed)
        self.pages.globals.update(links=links, live=live, query=query)

    def page(self, template: str, **values: Any) -> str:
        """A template as text.

        Args:
            template: Its file, below `pages`.
            values: What it asks for; a page that extends base.html.jinja needs `title`.
        """
        return self.pages.get_template(template).render(**values)


def query(values: dict[str, Any]) -> str:
    """Values as the query of an address, with its question mark; empty values are left out."""
    given = [(name, value) for name, value in values.items() if value not in ("", None, False)]
    return f"?{urlencode(given)}" if given else ""


def part(name: str) -> str:
    """A name as one part of an address's path."""
    return quote(name, safe="")


@cache
def _version(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
