"""Small pictures, made when somebody looks and kept in a bounded place: the run folder is never written to."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from pathlib import Path

from PIL import Image

WIDTH_PX = 320
ROOM_BYTES = 24 * 2**20
_AT_ONCE = 2
"""Pictures that are decoded at the same time, so that a page full of them takes neither all cores nor much memory."""


class Thumbnails:
    """WebP of screenshots, the latest ones kept.

    Args:
        room: Bytes that they may take in all.
    """

    def __init__(self, room: int = ROOM_BYTES):
        self._room = room
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._decoders = threading.BoundedSemaphore(_AT_ONCE)

    def of(self, path: Path) -> bytes:
        """The small picture of a PNG.

        Raises:
            OSError: It is not there, or no picture.
        """
        name = path.name
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        with self._decoders:
            small = shrunk(path)
        with self._lock:
            if name not in self._kept:
                self._kept[name] = small
                self._size += len(small)
            while self._size > self._room:
                self._size -= len(self._kept.popitem(last=False)[1])
        return small


def shrunk(path: Path, width: int = WIDTH_PX, quality: int = 80) -> bytes:
    """WebP of a PNG, at most so many px wide.

    Raises:
        OSError: It is not there, or no picture.
    """
    out = io.BytesIO()
    try:
        with Image.open(path, formats=("PNG",)) as image:
            small = image.convert("RGB") if image.mode != "RGB" else image
            small.thumbnail((width, 4 * width), Image.Resampling.BILINEAR, reducing_gap=2.0)
            small.save(out, "WEBP", quality=quality, method=2)
    except (ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise OSError(f"{path.name} cannot be shown: {error}") from error
    return out.getvalue()
