"""Draws an app's pages: the frame of the kit, filled by the app's own templates, in the appearance of its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined

from .language import Language, language
from .looks import FONTS, THEMES

HERE = Path(__file__).parent


class Pages:
    """The templates of one app. They extend "kit/frame.html" and import "kit/parts.html"."""

    def __init__(self, folder: Path, filters: Mapping[str, Callable[..., Any]] | None = None, **known: Any):
        """Read the templates.

        Args:
            folder: The app's folder, with `templates/` and `languages/`.
            filters: Filters of the app's own.
            known: What every template knows.
        """
        self.folder = folder
        own = FileSystemLoader(folder / "templates")
        self._templates = Environment(
            loader=ChoiceLoader([own, PrefixLoader({"kit": FileSystemLoader(HERE / "templates")})]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.filters |= {"initials": initials, "hue": hue, "money": money, **(filters or {})}
        self._templates.globals |= known

    def language(self, settings: Mapping[str, str]) -> Language:
        """The language of an appearance."""
        return language(self.folder / "languages", settings["language"])

    def draw(self, name: str, settings: Mapping[str, str], **told: Any) -> str:
        """A page's HTML.

        Templates know the `settings`, and `t` (the language: t("Save"), t.when(moment), t.day(date)).
        """
        shell = {
            "palette": THEMES[settings["theme"]],
            "font": FONTS[settings["font"]],
            "settings": settings,
            "t": self.language(settings),
            "said": "",
            "error": "",
            "q": "",
            "place": "",
        }
        return self._templates.get_template(name).render({**shell, **told})


def ordered(entries: Mapping[str, Any], order: str) -> dict[str, Any]:
    """Entries in the order that a part of the appearance gives: "home-tickets-customers"."""
    return {key: entries[key] for key in order.split("-")}


def initials(name: str) -> str:
    """Two letters for a person's picture."""
    words = name.split()
    return (words[0][:1] + words[-1][:1]).upper() if words else "?"


def hue(name: str) -> int:
    """A colour of its own for each name, degrees."""
    return sum(ord(letter) * (i + 7) for i, letter in enumerate(name)) % 360


def money(cents: int, sign: str = "$") -> str:
    """An amount as a person writes it: $1,234.50."""
    return f"{'-' if cents < 0 else ''}{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"
