"""Templates, what they may call, and where their links lead."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from uigym.report.charts import percent
from uigym.report.page import duration, signed

STATIC = Path(__file__).with_name("static")


class Links:
    """Addresses of the server's pages and pictures."""

    home = "/"
    compares = True
    """Whether pages can be asked for that were not made before: comparisons, other filters."""

    def static(self, name: str) -> str:
        """Of a file that ships with the viewer; it changes when the file does."""
        return f"/static/{name}?v={_version(name)}"

    def run(self, run: str, /, **asked: str) -> str:
        """Of a run, with filters."""
        return f"/runs/{part(run)}{query(asked)}"

    def brief(self, run: str) -> str:
        """Of a run's line in the list of runs."""
        return f"/runs/{part(run)}/brief"

    def events(self, run: str, known: str) -> str:
        """Of what tells that a run, or with an empty name the list of them, is no longer as it is known."""
        return f"/events{query({'run': run, 'known': known})}"

    def episode(self, run: str, episode: str, /, **asked: str) -> str:
        """Of an episode's page, with the filters of the list that it was opened from."""
        return f"/runs/{part(run)}/episodes/{part(episode)}{query(asked)}"

    def step(self, run: str, episode: str) -> str:
        """What the number of a step is put behind, for its part of the page."""
        return f"{self.episode(run, episode)}/steps/"

    def rows(self, run: str, episode: str, begin: int) -> str:
        """Of some lines of the list of steps."""
        return f"{self.episode(run, episode)}/rows/{begin}"

    def state(self, run: str, episode: str) -> str:
        """Of what an episode changed."""
        return f"{self.episode(run, episode)}/state"

    def network(self, run: str, episode: str) -> str:
        """Of what an episode's pages sent."""
        return f"{self.episode(run, episode)}/network"

    def export(self, run: str, episode: str) -> str:
        """Of an episode's page as one file."""
        return f"{self.episode(run, episode)}/export"

    def compare(self, run: str, episode: str, other_run: str, other: str) -> str:
        """Of two episodes side by side."""
        return f"/compare{query({'a': f'{run}/{episode}', 'b': f'{other_run}/{other}'})}"

    def file(self, run: str, name: str, title: Any) -> str:
        """Of a downloaded file."""
        return f"/runs/{part(run)}/files/{part(name)}/{part(str(title or 'file'))}"

    def picture(self, run: str, image: str) -> Markup:
        """Attributes of an `img` that shows a picture."""
        return Markup(f'src="{escape(self._picture(run, image))}"')

    def later(self, run: str, image: str) -> Markup:
        """Attributes of an `img` that shows a picture once it is asked for."""
        return Markup(f'data-later="{escape(self._picture(run, image))}"')

    def small(self, run: str, image: str) -> Markup:
        """Attributes of an `img` that shows a thumbnail."""
        return Markup(f'src="/runs/{escape(part(run))}/thumbs/{escape(part(image))}.webp"')

    def kept(self, run: str, image: str) -> Markup:
        """Attributes of an `img` that shows a thumbnail which training has kept."""
        return Markup(f'src="/runs/{escape(part(run))}/kept/{escape(part(image))}.webp"')

    def _picture(self, run: str, image: str) -> str:
        return f"/runs/{part(run)}/pictures/{part(image)}.png"


class Renderer:
    """Fills in templates; everything that is put into them is escaped.

    Args:
        links: Where links lead.
        live: Whether the pages link to the wall of running browsers.
    """

    def __init__(self, links: Links, *, live: bool = False):
        self.pages = Environment(
            loader=PackageLoader("uigym.viewer", "pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.links = links
        self.pages.filters.update(
            percent=percent,
            duration=duration,
            thousands="{:,}".format,
            signed=signed,
            ago=ago,
            stamp=stamp,
            cut=cut,
            told_line=told_line,
            title_of=lambda name: name.replace("~", " / "),
        )
        self.pages.globals.update(links=links, live=live, query=query, filled=self._filled)

    def _filled(self, template: str, values: Mapping[str, Any]) -> Markup:
        """A template inside of another one, with values of its own."""
        return Markup(self.page(template, **values))

    def page(self, template: str, **values: Any) -> str:
        """A template as text.

        Args:
            template: Its file, below `pages`.
            values: What it asks for; a page that extends base.html.jinja needs `title`.
        """
        return self.pages.get_template(template).render(**values)


def query(values: Mapping[str, Any]) -> str:
    """Values as the query of an address, with its question mark; empty values are left out."""
    given = [(name, value) for name, value in values.items() if value not in ("", None, False)]
    return f"?{urlencode(given)}" if given else ""


def part(name: str) -> str:
    """A name as one part of an address's path."""
    return quote(name, safe="~")


def ago(at: float, now: float | None = None) -> str:
    """How long ago a moment is.

    Example:
        >>> ago(0, 30), ago(0, 7300), ago(0, 200_000)
        ('just now', '2 h ago', '2 days ago')
    """
    seconds = (time.time() if now is None else now) - at
    if seconds < 90:
        return "just now"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min ago"
    return f"{seconds / 3600:.0f} h ago" if seconds < 129_600 else f"{seconds / 86400:.0f} days ago"


def stamp(at: float) -> str:
    """A moment as ISO 8601 in the local time zone."""
    return datetime.fromtimestamp(at).astimezone().isoformat(timespec="seconds")


def cut(text: Any, most: int) -> str:
    """A text, cut if it is longer."""
    said = str(text)
    return said if len(said) <= most else f"{said[:most]}… (cut: {len(said) - most} more characters)"


def told_line(line: Mapping[str, Any]) -> str:
    """A message of the console, or an error of a page, in one line."""
    kind = line.get("kind") or line.get("type") or ""
    where = line.get("url") or line.get("where") or ""
    said = str(line.get("text") or line.get("message") or "")
    return cut(": ".join(str(each) for each in (kind, said) if each) + (f" ({where})" if where else ""), 2000)


@cache
def _version(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
