"""Windows as a policy would have sampled them, with random screenshots and random replies."""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Sequence

import numpy as np
from PIL import Image

from uigym.models.families.family import Family
from uigym.train.windows import Turn, Window, windows


def screenshot(seed: int, width: int, height: int) -> bytes:
    """A PNG of noise."""
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def sampled(
    family: Family, pictures: Sequence[int], *, size: tuple[int, int] = (128, 64), seed: int = 0, reply: int = 6
) -> tuple[list[Window], dict[str, bytes]]:
    """A window for each number of pictures, and the pictures by hash; a picture a turn, one turn where there is none."""
    draw = random.Random(seed)
    pngs: dict[str, bytes] = {}
    found: list[Window] = []
    for count in pictures:
        turns: list[Turn] = []
        for step in range(max(count, 1)):
            shown = []
            if count:
                png = screenshot(draw.randrange(10**6), *size)
                name = hashlib.sha256(png).hexdigest()
                pngs[name] = png
                shown = [family.picture(name, *size)]
            before = family.closing(turns[-1].reply) if turns else []
            asked = family.asking(f"Step {step}.", shown) if turns else family.fresh("Do it.", (), "Go.", shown)
            ids = [i for i in (draw.randrange(3, 250) for _ in range(reply)) if i not in family.banned]
            turns.append(Turn(not turns, (*before, *asked), tuple(shown), tuple(ids), (-5.0,) * len(ids)))
        found += windows(turns)
    return found, pngs
