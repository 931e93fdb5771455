"""How synthetic pages look: colours, fonts, sizes, shapes."""

from __future__ import annotations

import colorsys
import random
from dataclasses import dataclass

FONTS = (
    "Liberation Sans", "Liberation Serif", "Liberation Mono", "Liberation Sans Narrow", "DejaVu Sans", "DejaVu Serif",
    "DejaVu Sans Mono", "DejaVu Sans Condensed", "Noto Sans", "Noto Serif", "Noto Sans Mono", "Noto Sans Display",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Theme:
    """One consistent look; colours are CSS."""

    background: str
    surface: str
    ink: str
    muted: str
    line: str
    accent: str
    on_accent: str
    font: str
    size: int
    """Of labels, CSS px."""
    weight: int
    radius: int
    gap: int
    border: int
    shadow: str


def make_theme(rng: random.Random) -> Theme:
    """A random look of readable contrast, light or dark."""
    dark = rng.random() < 0.35
    hue, hue2 = rng.random(), rng.random()
    tint = rng.choice((0.0, 0.04, 0.1, 0.25))
    if dark:
        background, surface, ink = (
            _hsl(hue, tint * 2, rng.uniform(0.05, 0.16)),
            _hsl(hue, tint * 2, rng.uniform(0.16, 0.28)),
            _hsl(hue, 0.1, rng.uniform(0.88, 1)),
        )
        muted, line = _hsl(hue, 0.1, rng.uniform(0.66, 0.78)), _hsl(hue, tint, rng.uniform(0.3, 0.42))
    else:
        background, surface, ink = (
            _hsl(hue, tint, rng.uniform(0.9, 1)),
            _hsl(hue, tint, rng.uniform(0.95, 1)),
            _hsl(hue, 0.2, rng.uniform(0, 0.2)),
        )
        muted, line = _hsl(hue, 0.1, rng.uniform(0.34, 0.45)), _hsl(hue, tint, rng.uniform(0.75, 0.9))
    light_accent = rng.random() < 0.35
    accent = _hsl(hue2, rng.uniform(0.4, 0.9), rng.uniform(0.7, 0.88) if light_accent else rng.uniform(0.22, 0.4))
    return Theme(
        background, surface, ink, muted, line, accent, "#111" if light_accent else "#fff",
        rng.choice(FONTS), rng.choice((12, 13, 13, 14, 14, 14, 15, 15, 16, 17)), rng.choice((400, 400, 500, 600, 600, 700)),
        rng.choice((0, 2, 4, 6, 8, 12, 16)), rng.choice((2, 3, 4, 5, 6, 8)), rng.choice((0, 1, 1, 1, 2)),
        rng.choice(("none", "none", "0 1px 2px #0004", "0 2px 4px #0003")),
    )  # fmt: skip


def _hsl(hue: float, saturation: float, lightness: float) -> str:
    r, g, b = colorsys.hls_to_rgb(hue, lightness, min(1, saturation))
    return f"#{int(r * 255):02x}{int(g * 255):02x}{int(b * 255):02x}"
