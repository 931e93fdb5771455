"""How the terminal may look: palettes, arrangements, fonts, corners and cards, kept by name in the settings table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import astuple, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of a theme. Every text colour has a contrast of at least 4.5 on what it stands on."""

    bg: str
    card: str
    ink: str
    muted: str
    line: str
    accent: str
    on_accent: str
    danger: str = "#b3261e"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of a screen are."""

    nav: Literal["top", "bottom"]
    tabs: Literal["top", "bottom", "left", "right"]
    ticket: Literal["left", "right", "top", "bottom"]
    menu: Literal["grid", "list"]


_DARK_DANGER = "#ff9a90"
THEMES: dict[str, Palette] = {
    "linen": Palette("#f4eee2", "#fffdf8", "#2b2118", "#6b5d4e", "#d9ccb6", "#8a4b1f", "#ffffff"),
    "mint": Palette("#eaf5ef", "#ffffff", "#10261c", "#4a6357", "#c6dfd2", "#0f7347", "#ffffff"),
    "sky": Palette("#e9f1fa", "#ffffff", "#13233a", "#4f6077", "#c7d8eb", "#1d5fc4", "#ffffff"),
    "rose": Palette("#faecf0", "#ffffff", "#35131f", "#75515f", "#e8c8d2", "#b3234f", "#ffffff"),
    "honey": Palette("#fbf5dc", "#fffef7", "#2c2708", "#645c30", "#e3d8a0", "#f0bd00", "#211b00"),
    "slate": Palette("#eef0f2", "#ffffff", "#1a1f24", "#57626c", "#d0d6db", "#37434f", "#ffffff"),
    "night": Palette("#12161c", "#1f2731", "#eef2f6", "#a9b5c3", "#364351", "#4ea1ff", "#06121f", _DARK_DANGER),
    "espresso": Palette("#1d1512", "#2e221d", "#f7eee7", "#c7b1a3", "#4d3b31", "#e8a25c", "#20130a", _DARK_DANGER),
    "forest": Palette("#0f1a15", "#1b2b23", "#eaf5ee", "#a6c1b2", "#30493b", "#5fd39a", "#06170e", _DARK_DANGER),
    "contrast": Palette("#000000", "#181818", "#ffffff", "#c4c4c4", "#4a4a4a", "#ffd400", "#1a1500", _DARK_DANGER),
    "lilac": Palette("#f2edfa", "#ffffff", "#241a3a", "#5f5676", "#d7cbec", "#6a3fc0", "#ffffff"),
    "coral": Palette("#fff0ea", "#ffffff", "#3a1a10", "#7a5446", "#efcdbf", "#bf3a12", "#ffffff"),
    "ocean": Palette("#0b1c22", "#16303a", "#e6f5f8", "#a2c3cb", "#2a4c57", "#3cc8dc", "#04191d", _DARK_DANGER),
    "plum": Palette("#1c1222", "#2d1f37", "#f5ecfa", "#c5aed1", "#4c3757", "#d98cf0", "#210a29", _DARK_DANGER),
}
LAYOUTS: dict[str, Layout] = {
    "classic": Layout("top", "top", "right", "grid"),
    "mirror": Layout("top", "top", "left", "list"),
    "rail": Layout("top", "left", "bottom", "grid"),
    "dock": Layout("bottom", "top", "right", "list"),
    "shelf": Layout("top", "bottom", "left", "grid"),
    "harbour": Layout("bottom", "right", "top", "grid"),
    "counter": Layout("top", "bottom", "right", "list"),
    "tray": Layout("bottom", "left", "bottom", "grid"),
}
FONTS = ("Liberation Sans", "Noto Sans", "DejaVu Sans", "Liberation Serif", "Noto Sans Display", "Noto Serif")
CORNERS: dict[str, int] = {"square": 1, "soft": 6, "round": 12}
"""Radius of buttons, px."""
CARDS = ("outline", "flat", "raised")

DEFAULTS = {"theme": "linen", "layout": "classic", "font": FONTS[0], "corners": "soft", "cards": "outline"}
KNOWN: dict[str, Collection[str]] = {
    "theme": THEMES,
    "layout": LAYOUTS,
    "font": FONTS,
    "corners": CORNERS,
    "cards": CARDS,
}


def complete(appearance: dict[str, str]) -> dict[str, str]:
    """Every part of the appearance, the missing ones at their defaults.

    Raises:
        ValueError: A part or a value is not one that this app has.
    """
    for part, value in appearance.items():
        if part not in KNOWN:
            raise ValueError(f"no part {part!r} of the appearance; expected one of {', '.join(KNOWN)}")
        if value not in KNOWN[part]:
            raise ValueError(f"no {part} {value!r}; expected one of {', '.join(KNOWN[part])}")
    return {**DEFAULTS, **appearance}


def style(appearance: dict[str, str]) -> str:
    """The CSS variables of an appearance."""
    names = ("bg", "card", "ink", "muted", "line", "accent", "on-accent", "danger")
    colours = zip(names, astuple(THEMES[appearance["theme"]]), strict=True)
    variables = [f"--{name}:{value}" for name, value in colours]
    return ";".join([*variables, f"--font:'{appearance['font']}'", f"--radius:{CORNERS[appearance['corners']]}px"])
