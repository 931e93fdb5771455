"""From rows to what is written on the screen."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import jinja2

from .looks import LAYOUTS, style
from .store import Row

HERE = Path(__file__).parent
PAGE_LINES = 4
PAGE_ORDERS = 6
PAGE_ITEMS = 6

_ROW_CHARS = {"DejaVu Sans": 11}
"""What surely fits in one row of the narrow ticket; 12 in the other fonts."""
_SIDE_HEIGHT_PX = 105
_T = TypeVar("_T")


def money(cents: int) -> str:
    """Cents as a price: 340 -> 3.40."""
    return f"{cents // 100}.{cents % 100:02d}"


def label(line: Mapping[str, Any]) -> str:
    """A line as staff read it: "2 Latte large + Oat milk"."""
    words = [str(line["quantity"]), line["item"], line["size"]]
    extras = f" + {line['extras']}" if line["extras"] else ""
    return " ".join(word for word in words if word) + extras


def paged(rows: Sequence[_T], page: int, size: int) -> tuple[Sequence[_T], int]:
    """The rows of a page, and the number of the page after it: the first again after the last, 0 if all fit."""
    pages = max(1, -(-len(rows) // size))
    page = min(max(page, 1), pages)
    return rows[(page - 1) * size : page * size], (page % pages + 1 if pages > 1 else 0)


def shown_lines(ticket: Row, looks: Mapping[str, str]) -> tuple[list[Row], int]:
    """The newest lines that fit in the ticket panel, and how many older ones do not.

    Each has `text`, and `wide` if it needs the whole width of a panel above or below the menu.
    """
    chars = _ROW_CHARS.get(looks["font"], 12)
    lines = [{**line, "text": label(line), "rows": _rows(label(line), chars)} for line in ticket["lines"]]
    flat = LAYOUTS[looks["layout"]].ticket in ("top", "bottom")
    for line in lines:
        line["wide"] = flat and line["rows"] > 2
    room = 2 if flat else _SIDE_HEIGHT_PX
    need = _slots if flat else _height_px
    if ticket["note"]:
        room -= 1 if flat else _rows(ticket["note"], chars) * 14 + 5
    fits = 0
    while fits < len(lines):
        taken = lines[-fits - 1 :]
        rest = 29 if len(taken) < len(lines) and not flat else 0
        if sum(need(line) for line in taken) + rest > room:
            break
        fits += 1
    return lines[len(lines) - fits :], len(lines) - fits


def _rows(text: str, chars: int) -> int:
    return len(textwrap.wrap(text, chars, break_long_words=False, break_on_hyphens=False))


def _slots(line: Row) -> int:
    return 2 if line["wide"] else 1


def _height_px(line: Row) -> int:
    return int(max(26, line["rows"] * 14 + 4) + 3)


def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(HERE / "templates")
    env = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, auto_reload=False)
    env.undefined = jinja2.StrictUndefined
    env.filters["money"] = money
    env.filters["label"] = label
    return env


_ENV = _environment()
_CSS = (HERE / "kiosk.css").read_text(encoding="utf-8")
_JS = (HERE / "kiosk.js").read_text(encoding="utf-8")


def fragment(template: str, context: Mapping[str, Any], settings: Mapping[str, str]) -> str:
    """What stands inside #app."""
    layout = LAYOUTS[settings["layout"]]
    return _ENV.get_template(template).render(**context, looks=settings, layout=layout, style=style(dict(settings)))


def page(inner: str) -> str:
    """A whole page around a fragment; style and script are part of it, so that it is one request."""
    return _ENV.get_template("page.html").render(inner=inner, css=_CSS, js=_JS)
