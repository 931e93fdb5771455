"""Many screens at a glance: one picture of titled tiles."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

_GAP, _MARGIN, _HEAD = 28, 40, 58
_PAPER, _INK, _SOFT, _LINE = "#f4f4f1", "#1d1d1b", "#6c6c66", "#d5d5cf"

_PLAIN = str.maketrans("‘’“”–", "''\"\"-")


@dataclass(frozen=True, slots=True)
class Tile:
    """One screen with its caption."""

    title: str
    text: str
    """Cut off where the tile ends."""
    png: bytes


def sheet(tiles: Sequence[Tile], *, columns: int = 4, width: int = 480, ratio: float = 9 / 16) -> bytes:
    """A PNG with all tiles, row by row.

    Args:
        tiles: At least one.
        columns: Tiles in a row.
        width: Of a screen on the sheet, px; a screen is made to fit.
        ratio: Height by width of the place for a screen.

    Raises:
        ValueError: There is no tile.
    """
    if not tiles:
        raise ValueError("a sheet needs at least one tile")
    columns = min(columns, len(tiles))
    height = round(width * ratio)
    rows = -(-len(tiles) // columns)
    size = (2 * _MARGIN + columns * (width + _GAP) - _GAP, 2 * _MARGIN + rows * (height + _HEAD + _GAP) - _GAP)
    paper = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(paper)
    for i, tile in enumerate(tiles):
        x = _MARGIN + i % columns * (width + _GAP)
        y = _MARGIN + i // columns * (height + _HEAD + _GAP)
        draw.text((x, y), tile.title, _INK, ImageFont.load_default(20))
        font = ImageFont.load_default(14)
        draw.text((x, y + 29), _cut(tile.text, font, width), _SOFT, font)
        _place(paper, tile.png, (x, y + _HEAD, width, height))
    out = io.BytesIO()
    paper.quantize(256).save(out, "PNG", optimize=True)
    return out.getvalue()


def _place(paper: Image.Image, png: bytes, box: tuple[int, int, int, int]) -> None:
    x, y, width, height = box
    with Image.open(io.BytesIO(png)) as screen:
        scale = min(width / screen.width, height / screen.height)
        fitted = screen.convert("RGB").resize(
            (round(screen.width * scale), round(screen.height * scale)), Image.Resampling.LANCZOS
        )
    paper.paste(fitted, (x, y))
    ImageDraw.Draw(paper).rectangle((x - 1, y - 1, x + fitted.width, y + fitted.height), outline=_LINE)


def _cut(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> str:
    """As much of a text as fits; letters that the font lacks are left out."""
    text = " ".join(text.translate(_PLAIN).split()).encode("latin-1", "ignore").decode("latin-1")
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "...") > width:
        text = text[:-1]
    return text.rstrip() + "..."
