"""SmolVLM and Idefics3: a picture is cut into square tiles, and shown once more as a whole in one tile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from uigym.errors import ConfigError
from uigym.models.families.base import Base, banned_ids, bare, read_processor
from uigym.models.families.pictures import as_bytes
from uigym.train.windows import Picture

KINDS = {"smolvlm": "smolvlm", "idefics3": "smolvlm"}
"""`config.model_type`, and the codec that its replies are read with."""
_MOST_ROWS = 6
"""Tiles in a row or a column that the tokenizer has a name for."""
_EDGE = "<fake_token_around_image>"


class Idefics(Base):
    """A checkpoint of SmolVLM or Idefics3.

    Raises:
        ConfigError: Its tokenizer or its processor is not of the family.
    """

    resample = Image.Resampling.LANCZOS

    def __init__(self, folder: Path, codec: str):
        super().__init__(folder, codec)
        self.name = str(self.config["model_type"])
        self.end, self.placeholder = self.tokens.need("<end_of_utterance>"), self.tokens.need("<image>")
        self._begin = [i for i in [self.tokens.tokenizer.bos_token_id] if i is not None]
        places = [f"<row_{r}_col_{c}>" for r in range(1, _MOST_ROWS + 1) for c in range(1, _MOST_ROWS + 1)]
        names = [
            _EDGE,
            "<image>",
            "<video>",
            "<global-img>",
            *places,
            "<|im_start|>",
            "<|begin_of_text|>",
            "<|endoftext|>",
        ]
        self.banned = banned_ids(self.tokens, names, self.end)
        self._line = self.tokens.plain("\n")
        self._read_processor()

    def _read_processor(self) -> None:
        cut, vision = read_processor(self.folder), self.config.get("vision_config", {})
        try:
            self.tile, self._longest = int(cut["max_image_size"]["longest_edge"]), int(cut["size"]["longest_edge"])
            self._splits = bool(cut["do_image_splitting"])
            self._mean, self._std = (torch.tensor(cut[name]).view(3, 1, 1) for name in ("image_mean", "image_std"))
            side = int(vision["image_size"]) // int(vision["patch_size"])
            self._each = side**2 // int(self.config["scale_factor"]) ** 2
        except (KeyError, TypeError, ValueError) as exc:
            raise ConfigError(
                f"the processor of {self.folder} does not say how pictures are cut: {type(exc).__name__}: {exc}"
            ) from exc
        whole = self._longest == self.tile if not self._splits else self._longest % self.tile == 0
        if not whole or self.tile != int(vision["image_size"]) or self._longest > _MOST_ROWS * self.tile:
            raise ConfigError(
                f"the processor of {self.folder} has size {self._longest} px and max_image_size {self.tile} px; expected tiles of {vision['image_size']} px and a size of"
                f" {'1 to 6 of them' if self._splits else 'one of them, since do_image_splitting is off'}"
            )

    # --- a conversation ---

    def opening(self, instruction: str) -> list[int]:
        """The system's words with the action language, then the instruction."""
        return [*self._begin, *super().opening(instruction)]

    def turn(self, role: str, ids: Sequence[int]) -> list[int]:
        """A whole turn that says these ids."""
        return [*self.tokens.plain(f"{role.capitalize()}: "), *ids, self.end, *self._line]

    def asking(self, text: str, pictures: Sequence[Picture]) -> list[int]:
        """A user's turn: pictures, then text; ends with the mark that the reply begins."""
        said = [i for picture in pictures for i in self._standing(picture)]
        ids = self.tokens.plain("User:" if said else f"User: {text}") + said + (self.tokens.plain(text) if said else [])
        return [*ids, self.end, *self.tokens.plain("\nAssistant:")]

    def reply(self, text: str) -> list[int]:
        """Ids of a reply that says a text, after a space as in the template, its end included."""
        return super().reply(f" {text}")

    def closing(self, reply: Sequence[int]) -> list[int]:
        """The end of a reply that did not sample it, and a line break."""
        return [*([] if reply and reply[-1] == self.end else [self.end]), *self._line]

    def _standing(self, picture: Picture) -> list[int]:
        rows, columns = self._grid(picture.width, picture.height)
        pads = "<image>" * self._each
        said = "".join(
            "".join(f"{_EDGE}<row_{r + 1}_col_{c + 1}>{pads}" for c in range(columns)) + "\n" for r in range(rows)
        )
        return self.tokens.trusted(said + ("\n" if rows else "") + f"{_EDGE}<global-img>{pads}{_EDGE}")

    # --- pictures ---

    def picture(self, hash: str, width: int, height: int) -> Picture:
        """How a screenshot of that size, px, is shown: its longer side is always the processor's size."""
        if not self._splits:
            width = height = self.tile
        elif width % self.tile or height % self.tile or max(width, height) != self._longest:
            scale = self._longest / max(width, height)
            width, height = (math.ceil(round(side * scale) / self.tile) * self.tile for side in (width, height))
        picture = Picture(hash, width, height, 0)
        return Picture(hash, width, height, sum(self.runs(picture)))

    def runs(self, picture: Picture) -> list[int]:
        """One run for each tile, and one for the whole."""
        rows, columns = self._grid(picture.width, picture.height)
        return [self._each] * (rows * columns + 1)

    def _grid(self, width: int, height: int) -> tuple[int, int]:
        """Rows and columns of tiles; none where one tile shows the whole."""
        rows, columns = height // self.tile, width // self.tile
        return (rows, columns) if rows * columns > 1 else (0, 0)

    def prepare(self, image: Image.Image) -> Tensor:
        """uint8 [tiles, tile, tile, 3], the whole last."""
        rows, columns = self._grid(*image.size)
        t = self.tile
        boxes = [(c * t, r * t, (c + 1) * t, (r + 1) * t) for r in range(rows) for c in range(columns)]
        whole = image.resize((t, t), self.resample) if boxes else image
        return torch.stack([as_bytes(image.crop(box)) for box in boxes] + [as_bytes(whole)])

    def blank(self) -> tuple[list[int], Tensor]:
        """One black tile."""
        ids = self.tokens.trusted(f"{_EDGE}<global-img>{'<image>' * self._each}{_EDGE}")
        return ids, torch.zeros(1, self.tile, self.tile, 3, dtype=torch.uint8)

    def pixels(self, prepared: Sequence[Tensor], device: str, dtype: torch.dtype) -> dict[str, Tensor]:
        """`pixel_values` [1, tiles, 3, tile, tile]: the model takes them in the order of the placeholders."""
        tiles = torch.cat(list(prepared)).to(device).permute(0, 3, 1, 2).float() * (1 / 255)
        tiles = (tiles - self._mean.to(device)) / self._std.to(device)
        return {"pixel_values": tiles.to(dtype)[None]}

    # --- parts ---

    def vision(self, model: nn.Module) -> nn.Module:
        """The vision tower, without the connector."""
        tower: nn.Module = bare(model).model.vision_model
        return tower

    def layers(self, model: nn.Module) -> list[nn.Module]:
        """Decoder layers, then blocks of the vision tower."""
        inner: Any = bare(model).model
        return [*inner.text_model.layers, *inner.vision_model.encoder.layers]
