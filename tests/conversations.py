"""Random checkpoints of every family, screenshots of noise, and windows of conversations about them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from PIL import Image

from uigym.models import families
from uigym.models.families.random import KINDS, random_checkpoint
from uigym.train.windows import Picture, Turn, Window, windows

SIZES = {"qwen2_5_vl": (84, 56), "qwen3_vl": (96, 64), "qwen3_5": (96, 64), "smolvlm": (256, 128), "idefics3": (128, 256), "tiny": (64, 48)}  # fmt: skip
"""Viewports that each family shows as they are, px."""
ALL = (*KINDS, "tiny")
PACKING = tuple(kind for kind in ALL if kind != "qwen3_5")
WORDS = ("hello", "hell", "click left", "answer 7", "wait", "é ü")
_FOLDERS = TemporaryDirectory(prefix="uigym-families-", ignore_cleanup_errors=True)


@cache
def folder(kind: str) -> Path | str:
    """Of a checkpoint; one a process."""
    return kind if kind == "tiny" else random_checkpoint(Path(_FOLDERS.name) / kind, kind)


@cache
def family(kind: str) -> Any:
    return families.open(folder(kind))


@cache
def model(kind: str) -> Any:
    """Not to be changed."""
    torch.set_num_threads(1)
    return family(kind).load(family(kind).folder, torch.float32, "cpu")


def noise(seed: int, width: int, height: int) -> np.ndarray:
    """uint8 [height, width, 3]."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def as_png(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


@dataclass
class Conversations:
    """Windows of one family, and the screenshots in them."""

    kind: str
    pngs: dict[str, bytes] = field(default_factory=dict)

    @property
    def family(self) -> Any:
        return family(self.kind)

    def picture(self, pixels: np.ndarray) -> Picture:
        png = as_png(pixels)
        key = hashlib.sha256(png).hexdigest()
        self.pngs[key] = png
        return self.family.picture(key, pixels.shape[1], pixels.shape[0])

    def screenshot(self, seed: int) -> Picture:
        return self.picture(noise(seed, *SIZES[self.kind]))

    def window(self, pictures: Sequence[Picture | None], say: Callable[[int], str] = lambda n: WORDS[n % 6]) -> Window:
        """A window with a turn for each picture, or without one where it is None."""
        turns: list[Turn] = []
        for number, picture in enumerate(pictures):
            shown = [picture] if picture else []
            prompt = (
                [*self.family.closing(turns[-1].reply), *self.family.asking(f"step {number}", shown)]
                if turns
                else self.family.fresh("Save it", ["click"], "", shown)
            )
            reply = [*self.family.tokens.plain(say(number)), self.family.end]
            turns.append(Turn(not turns, tuple(prompt), tuple(shown), tuple(reply), (-1.0,) * len(reply)))
        return windows(turns)[0]

    def rows(self, *lengths: int) -> list[Window]:
        """Windows of that many turns, a screenshot each."""
        return [self.window([self.screenshot(100 * n + i) for i in range(n)]) for n in lengths]
