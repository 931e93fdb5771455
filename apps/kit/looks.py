"""How an app may look: palettes, fonts, densities, languages, and kinds of content.

An appearance is one value for each part that an app has. All parts but `content` change where things are and how they
are drawn or said, never what they mean; `content` changes what the records are like (`people.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Parts = Mapping[str, tuple[str, ...]]
"""The parts of an appearance and the values that each may take; the first is the default."""


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one theme."""

    scheme: str
    """"light" or "dark"."""
    page: str
    surface: str
    raised: str
    """Table heads, hovered rows, fields."""
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    side: str
    side_text: str
    side_active: str
    """Behind the current entry of the sidebar."""
    radius: str = "8px"


# fmt: off
THEMES: dict[str, Palette] = {
    "daylight": Palette("light", "#f5f6fa", "#ffffff", "#f3f4f8", "#e2e5ee", "#1d2433", "#667085", "#4f46e5", "#ffffff", "#ffffff", "#475067", "#eeedfd"),
    "harbor": Palette("light", "#eef3f7", "#ffffff", "#f0f5f9", "#d6e0e9", "#10233a", "#5b7083", "#0b6bcb", "#ffffff", "#0f2942", "#b9cbdc", "#1d4063"),
    "sand": Palette("light", "#f6f2ea", "#fffdf9", "#f5efe4", "#e5dccb", "#33291c", "#7d6f5b", "#0f766e", "#ffffff", "#efe7d8", "#5f523f", "#dfd3bd", "4px"),
    "forest": Palette("light", "#f1f6f2", "#ffffff", "#eef5f0", "#d7e4da", "#16281d", "#5f7466", "#15803d", "#ffffff", "#14301f", "#b5cfbe", "#24503a", "10px"),
    "slate": Palette("dark", "#14181f", "#1c222c", "#232b37", "#323c4b", "#e6eaf1", "#95a1b3", "#60a5fa", "#0b1524", "#10141a", "#a3aebf", "#263142"),
    "violet": Palette("dark", "#16132a", "#1f1b37", "#282344", "#3a3460", "#ebe8fb", "#a49dc7", "#a78bfa", "#17112e", "#120f23", "#aaa3cd", "#2c2650", "12px"),
    "rose": Palette("light", "#fbf2f4", "#ffffff", "#fbeff2", "#f0d9df", "#3a1a24", "#8a6470", "#be185d", "#ffffff", "#4a1527", "#e3bcc8", "#6d2440", "14px"),
    "graphite": Palette("dark", "#191919", "#232323", "#2c2c2c", "#3d3d3d", "#eeeeee", "#a5a5a5", "#f59e0b", "#221503", "#121212", "#b0b0b0", "#3a2f1b", "3px"),
    "lagoon": Palette("light", "#eaf6f6", "#fbffff", "#e6f4f4", "#c5e0e0", "#0d3034", "#4f7377", "#c2410c", "#ffffff", "#d7eeee", "#305a5e", "#b9dfdf", "6px"),
}
FONTS: dict[str, str] = {
    "noto": '"Noto Sans", "Liberation Sans", Arial, "NanumGothic", "Noto Sans Arabic", sans-serif',
    "liberation": '"Liberation Sans", Arial, Helvetica, "NanumGothic", "Noto Kufi Arabic", sans-serif',
    "dejavu": '"DejaVu Sans", Verdana, "NanumGothic", "Noto Sans Arabic", sans-serif',
    "serif": '"Noto Serif", "Liberation Serif", Georgia, "NanumMyeongjo", "Noto Naskh Arabic", serif',
}
# fmt: on
DENSITIES = ("comfortable", "compact")
LANGUAGES = ("en", "de", "ko", "ar")
"""English, German, Korean, and Arabic, which runs from right to left."""
CONTENTS = ("plain", "alike", "long", "hostile")
"""Records as they come; many that are easily mistaken for another; long names; texts that tell the reader what to do."""
SHARED: Parts = {
    "theme": tuple(THEMES),
    "font": tuple(FONTS),
    "density": DENSITIES,
    "language": LANGUAGES,
    "content": CONTENTS,
}
"""Parts that every app has."""


def whole(parts: Parts, chosen: Mapping[str, str]) -> dict[str, str]:
    """A whole appearance: the chosen values, and the default of every part that was not chosen.

    Raises:
        ValueError: There is no such part, or it has no such value.
    """
    for part, value in chosen.items():
        if part not in parts:
            raise ValueError(f"there is no part {part!r} of an appearance; expected some of {', '.join(parts)}")
        if value not in parts[part]:
            raise ValueError(f"{part} cannot be {value!r}; expected one of {', '.join(parts[part])}")
    return {part: chosen.get(part, values[0]) for part, values in parts.items()}
