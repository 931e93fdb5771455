"""Screenshots on their way into a model: decoded once, kept as bytes, made into floats only before a forward pass.

A screenshot of 1280 x 704 px is 0.2 MB as a PNG, 2.7 MB decoded and 21.6 MB as float32 patches; what is kept is decoded.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from uigym.train.windows import Picture

BUDGET_BYTES = 256 * 2**20
"""Of decoded pictures that are kept."""


def opened(png: bytes, width: int, height: int, resample: Image.Resampling) -> Image.Image:
    """A PNG in RGB; resized only where it has another size."""
    with Image.open(io.BytesIO(png)) as image:
        rgb = image.convert("RGB")
    return rgb if rgb.size == (width, height) else rgb.resize((width, height), resample)


def resized(png: bytes, width: int, height: int, resample: Image.Resampling) -> bytes:
    """The PNG at that size, px: the very same bytes where it has it."""
    with Image.open(io.BytesIO(png)) as image:
        if image.size == (width, height):
            return png
    out = io.BytesIO()
    opened(png, width, height, resample).save(out, "PNG")
    return out.getvalue()


def as_bytes(image: Image.Image) -> Tensor:
    """uint8 [height, width, 3]."""
    return torch.from_numpy(np.array(image))


class Pictures:
    """Decoded pictures, those used last kept within a budget. May be used by several threads.

    Args:
        prepare: (a picture as it is shown) -> uint8 tensor to keep.
        resample: How a screenshot of another size is resized.
        budget: Bytes to keep.
    """

    def __init__(
        self, prepare: Callable[[Image.Image], Tensor], resample: Image.Resampling, budget: int = BUDGET_BYTES
    ):
        self._prepare, self._resample, self._budget = prepare, resample, budget
        self._kept: OrderedDict[tuple[str, int, int], Tensor] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, picture: Picture, pngs: Mapping[str, bytes]) -> Tensor:
        """What `prepare` made of a picture.

        Raises:
            ValueError: Its PNG is not there.
        """
        key = (picture.hash, picture.width, picture.height)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        if picture.hash not in pngs:
            raise ValueError(f"there is no PNG of picture {picture.hash[:12]}, only of {len(pngs)} others")
        made = self._prepare(opened(pngs[picture.hash], picture.width, picture.height, self._resample))
        with self._lock:
            self._keep(key, made)
        return made

    def _keep(self, key: tuple[str, int, int], made: Tensor) -> None:
        if key in self._kept:
            return
        self._kept[key] = made
        self._size += made.nbytes
        while self._size > self._budget and self._kept:
            self._size -= self._kept.popitem(last=False)[1].nbytes
