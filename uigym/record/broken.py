"""At which step a demonstration broke, by its pictures."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from PIL import Image, ImageChops

from uigym.errors import StoreError
from uigym.record.alike import pictures, refused_at
from uigym.types import Episode

JUMP = 0.05
"""A picture is taken for another page if so much more of it differs than of any before: what differs from the first
picture on is how the product looks now."""


def shares(
    recorded: Episode, found: Episode, old: Callable[[str], bytes], new: Callable[[str], bytes]
) -> tuple[float, ...]:
    """Which share of each picture's pixels differs, as far as both episodes have pictures.

    Args:
        recorded, found: The demonstration, and how it went this time.
        old, new: Give the PNG of a hash of the one and the other.
    """
    pairs = zip(pictures(recorded), pictures(found), strict=False)
    return tuple(0.0 if mine == theirs else _share(mine, theirs, old, new) for mine, theirs in pairs)


def broke_at(recorded: Episode, found: Episode, differing: Sequence[float]) -> int | None:
    """The step, from 0, before or at which it went another way; the number of steps for the end; None if none shows it.

    The first action that was refused; else the first picture that differs much more than those before it; else the
    first that differs at all.
    """
    if (number := refused_at(recorded, found)) is not None:
        return number
    worst = differing[0] if differing else 0.0
    for number, share in enumerate(differing):
        if share > worst + JUMP:
            return number
        worst = max(worst, share)
    return next((number for number, share in enumerate(differing) if share), None)


def _share(mine: str, theirs: str, old: Callable[[str], bytes], new: Callable[[str], bytes]) -> float:
    try:
        one, other = old(mine), new(theirs)
    except StoreError:  # a picture that was not kept
        return 1.0
    if not one or not other:
        return 1.0
    return difference(one, other)


def difference(one: bytes, other: bytes) -> float:
    """Which share of the pixels of two PNGs differs; all of them if they are not of one size."""
    with Image.open(io.BytesIO(one)) as a, Image.open(io.BytesIO(other)) as b:
        if a.size != b.size:
            return 1.0
        bands = ImageChops.difference(a.convert("RGB"), b.convert("RGB")).split()
    lit = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
    same = lit.histogram()[0]
    return 1 - same / (lit.width * lit.height)
