"""Qwen2.5-VL, Qwen3-VL and Qwen3.5: pictures are cut into patches, positions have three axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from uigym.errors import ConfigError
from uigym.models.families.base import Base, banned_ids, bare, read_processor
from uigym.models.families.pictures import as_bytes
from uigym.policy.codecs.qwen import smart_resize
from uigym.train.windows import Picture

KINDS = {"qwen2_5_vl": "qwen2.5", "qwen3_vl": "qwen3", "qwen3_5": "qwen3"}
"""`config.model_type`, and the codec that its replies are read with."""
MAX_CELLS = 1280
"""Placeholders of the largest picture; a larger screenshot is shown smaller. The codecs count on it."""
_BANNED = ("<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<|im_start|>", "<|endoftext|>")  # fmt: skip


class Qwen(Base):
    """A checkpoint of Qwen2.5-VL, Qwen3-VL or Qwen3.5.

    Args:
        folder: Of the checkpoint.
        codec: That replies are read with.
        thinking: Whether a model that can think aloud is asked to.

    Raises:
        ConfigError: Its tokenizer or its processor is not of the family.
    """

    def __init__(self, folder: Path, codec: str, *, thinking: bool = False):
        super().__init__(folder, codec)
        self.name = str(self.config["model_type"])
        self.packs = self.name != "qwen3_5"
        self._start, self.end = self.tokens.need("<|im_start|>"), self.tokens.need("<|im_end|>")
        self.placeholder = self.tokens.need("<|image_pad|>")
        self._around = self.tokens.need("<|vision_start|>"), self.tokens.need("<|vision_end|>")
        self.banned = banned_ids(self.tokens, _BANNED, self.end)
        self._line = self.tokens.plain("\n")
        self._mark = self.tokens.trusted(self.tokens.mark(thinking))
        self._read_processor()

    def _read_processor(self) -> None:
        cut = read_processor(self.folder)
        try:
            self.patch, self.merge, self.temporal = (
                int(cut[name]) for name in ("patch_size", "merge_size", "temporal_patch_size")
            )
            size = cut.get("size") or {}
            self._least = int(size.get("shortest_edge") or cut["min_pixels"])
            self._most = int(size.get("longest_edge") or cut["max_pixels"])
            self._mean, self._std = (torch.tensor(cut[name]).view(3, 1, 1) for name in ("image_mean", "image_std"))
        except (KeyError, TypeError, ValueError) as exc:
            raise ConfigError(
                f"the processor of {self.folder} does not say how pictures are cut: {type(exc).__name__}: {exc}"
            ) from exc
        self.cell = self.patch * self.merge
        self._most = min(self._most, MAX_CELLS * self.cell**2)

    # --- a conversation ---

    def turn(self, role: str, ids: Sequence[int]) -> list[int]:
        """A whole turn that says these ids."""
        return [self._start, *self.tokens.plain(f"{role}\n"), *ids, self.end, *self._line]

    def asking(self, text: str, pictures: Sequence[Picture]) -> list[int]:
        """A user's turn: pictures, then text; ends with the mark that the reply begins."""
        said = [i for picture in pictures for i in self._standing(picture.tokens)]
        return [*self.turn("user", [*said, *self.tokens.plain(text)]), *self._mark]

    def closing(self, reply: Sequence[int]) -> list[int]:
        """The end of a reply that did not sample it, and a line break."""
        return [*([] if reply and reply[-1] == self.end else [self.end]), *self._line]

    def _standing(self, count: int) -> list[int]:
        return [self._around[0], *[self.placeholder] * count, self._around[1]]

    # --- pictures ---

    def picture(self, hash: str, width: int, height: int) -> Picture:
        """How a screenshot of that size, px, is shown."""
        fits = not (width % self.cell or height % self.cell) and self._least <= width * height <= self._most
        if not fits:
            limits = {"min_pixels": self._least, "max_pixels": self._most}
            width, height = smart_resize(width, height, factor=self.cell, **limits)
        return Picture(hash, width, height, (width // self.cell) * (height // self.cell))

    def runs(self, picture: Picture) -> list[int]:
        """One run for each picture."""
        return [picture.tokens]

    def prepare(self, image: Image.Image) -> Tensor:
        """uint8 [height, width, 3]."""
        return as_bytes(image)

    def blank(self) -> tuple[list[int], Tensor]:
        """One black cell."""
        return self._standing(1), torch.zeros(self.cell, self.cell, 3, dtype=torch.uint8)

    def pixels(self, prepared: Sequence[Tensor], device: str, dtype: torch.dtype) -> dict[str, Tensor]:
        """`pixel_values` [patches, values] and `image_grid_thw` [pictures, 3]."""
        patches = [self._patches(image.to(device), dtype) for image in prepared]
        grids = [[1, image.shape[0] // self.patch, image.shape[1] // self.patch] for image in prepared]
        return {"pixel_values": torch.cat(patches), "image_grid_thw": torch.tensor(grids, device=device)}

    def _patches(self, image: Tensor, dtype: torch.dtype) -> Tensor:
        """uint8 [H, W, 3] -> [patches, 3 * temporal * patch * patch], merged cells together."""
        mean, std = self._mean.to(image.device), self._std.to(image.device)
        x = ((image.permute(2, 0, 1).float() * (1 / 255) - mean) / std).to(dtype)
        m, p = self.merge, self.patch
        high, wide = x.shape[1] // (m * p), x.shape[2] // (m * p)
        x = x.reshape(3, high, m, p, wide, m, p).permute(1, 4, 2, 5, 0, 3, 6).unsqueeze(5)
        x = x.expand(*x.shape[:5], self.temporal, p, p)
        return x.reshape(high * wide * m * m, 3 * self.temporal * p * p)

    # --- batches ---

    def marks(self, ids: Tensor, device: str) -> dict[str, Tensor]:
        """Without `mm_token_type_ids` Qwen2.5-VL takes wrong positions and says nothing."""
        return {"mm_token_type_ids": (ids == self.placeholder).int().to(device)}

    def positions(self, ids: Sequence[int], pictures: Sequence[Picture]) -> Tensor:
        """int64 [4, 1, n]: the place in the row, by which attention tells rows apart, then time, height and width.

        Three axes alone let packed rows see each other without a word.
        """
        sizes = [(p.height // self.cell, p.width // self.cell) for p in pictures] or [(1, 1)]
        axes: list[Tensor] = []
        at = now = 0
        for high, wide in sizes if self.placeholder in ids else []:
            start = ids.index(self.placeholder, at)
            axes.append(torch.arange(now, now + start - at).expand(3, -1))
            now += start - at
            cell = torch.arange(high * wide)
            axes.append(torch.stack([torch.zeros_like(cell), cell // wide, cell % wide]) + now)
            at, now = start + high * wide, now + max(high, wide)
        axes.append(torch.arange(now, now + len(ids) - at).expand(3, -1))
        return torch.cat([torch.arange(len(ids))[None], torch.cat(axes, 1)])[:, None]

    # --- parts ---

    def vision(self, model: nn.Module) -> nn.Module:
        """The vision tower, with what merges its patches."""
        tower: nn.Module = bare(model).model.visual
        return tower

    def layers(self, model: nn.Module) -> list[nn.Module]:
        """Decoder layers, then blocks of the vision tower."""
        inner: Any = bare(model).model
        return [*inner.language_model.layers, *inner.visual.blocks]
