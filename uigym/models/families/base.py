"""What the families share: pieces of a conversation as ids, and rows as a batch."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn
from transformers import AutoModelForImageTextToText

from uigym.errors import ConfigError
from uigym.models.families.pictures import Pictures, resized
from uigym.models.families.safe import SAFE_WEIGHTS, check_weights, why
from uigym.models.families.tokens import Tokens
from uigym.policy.codecs.language import language, recalled
from uigym.train.windows import Picture, Window


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object of a checkpoint folder.

    Raises:
        ConfigError: It is not there, or is none.
    """
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as exc:
        raise ConfigError(f"{path} cannot be read: {exc}; expected a checkpoint folder of transformers") from exc
    if not isinstance(found, dict):
        raise ConfigError(f"{path} holds a {type(found).__name__}, expected an object")
    return found


def read_processor(folder: Path) -> dict[str, Any]:
    """How a checkpoint cuts pictures: a file of its own, or a part of the processor's.

    Raises:
        ConfigError: Neither is there.
    """
    own = folder / "preprocessor_config.json"
    if own.is_file() or not (folder / "processor_config.json").is_file():
        return read_json(own)
    return dict(read_json(folder / "processor_config.json").get("image_processor") or {})


class Base(ABC):
    """A family: see `family.Family`; subclasses lay out turns and pictures.

    Args:
        folder: Of the checkpoint.
        codec: That replies are read with.
    """

    name: str
    banned: tuple[int, ...]
    end: int
    placeholder: int
    """Id that stands for a part of a picture."""
    resample = Image.Resampling.BICUBIC
    packs = True
    """Whether rows can share one sequence."""

    def __init__(self, folder: Path, codec: str):
        self.folder, self.codec = folder, codec
        self.words = language(codec)
        self.config = read_json(folder / "config.json")
        self.tokens = Tokens(folder)
        self.pad = self.tokens.tokenizer.pad_token_id
        self._shown = Pictures(self.prepare, self.resample)

    # --- a conversation ---

    def opening(self, instruction: str) -> list[int]:
        """The system's words with the action language, then the instruction."""
        words = self.tokens.trusted(f"{self.words}\n\nThe task: ")
        return self.turn("system", [*words, *self.tokens.plain(instruction)])

    def fresh(self, instruction: str, past: Sequence[str], text: str, pictures: Sequence[Picture]) -> list[int]:
        """A window from its beginning to its first reply."""
        return [*self.opening(instruction), *self.asking(recalled(past) + text, pictures)]

    def reply(self, text: str) -> list[int]:
        """Ids of a reply that says a text, its end included."""
        return [*self.tokens.spoken(text), self.end]

    def text(self, ids: Sequence[int]) -> str:
        """The text of a reply's ids, without its end."""
        return self.tokens.text(ids[:-1] if ids and ids[-1] == self.end else ids)

    @abstractmethod
    def turn(self, role: str, ids: Sequence[int]) -> list[int]:
        """A whole turn that says these ids."""

    @abstractmethod
    def asking(self, text: str, pictures: Sequence[Picture]) -> list[int]:
        """A user's turn: pictures, then text; ends with the mark that the reply begins."""

    @abstractmethod
    def closing(self, reply: Sequence[int]) -> list[int]:
        """What the template puts between a sampled reply and the next turn."""

    # --- pictures ---

    @abstractmethod
    def picture(self, hash: str, width: int, height: int) -> Picture:
        """How a screenshot of that size, px, is shown."""

    def shown(self, picture: Picture, png: bytes) -> bytes:
        """The PNG at the size that the model is shown: the same bytes where it has that size."""
        return resized(png, picture.width, picture.height, self.resample)

    @abstractmethod
    def prepare(self, image: Image.Image) -> Tensor:
        """uint8 values of a picture, as they are kept until a forward pass."""

    @abstractmethod
    def pixels(self, prepared: Sequence[Tensor], device: str, dtype: torch.dtype) -> dict[str, Tensor]:
        """The family's pixel arguments for pictures in the order of their placeholders."""

    @abstractmethod
    def blank(self) -> tuple[list[int], Tensor]:
        """A smallest picture: its ids, and its values as `prepare` gives them."""

    @abstractmethod
    def runs(self, picture: Picture) -> list[int]:
        """Lengths of the unbroken runs of placeholders that stand for a picture."""

    # --- batches ---

    def load(self, folder: Path, dtype: torch.dtype, device: str, *, attention: str = "sdpa") -> nn.Module:
        """The model, in evaluation mode.

        Raises:
            ConfigError: The folder cannot be loaded.
        """
        check_weights(folder)
        try:
            model = AutoModelForImageTextToText.from_pretrained(
                folder, dtype=dtype, attn_implementation=attention, **SAFE_WEIGHTS
            )
        except Exception as exc:  # whatever transformers makes of a broken folder
            raise ConfigError(f"the model in {folder} cannot be loaded: {why(exc)}") from exc
        module: nn.Module = model
        return module.to(device).eval()

    def check(self, row: Window) -> None:
        """Whether placeholders and pictures of a row fit, and its replies can have been sampled.

        Raises:
            ValueError: They do not.
        """
        found = [len(list(run)) for pad, run in groupby(i == self.placeholder for i in row.ids) if pad]
        wanted = [length for picture in row.pictures for length in self.runs(picture)]
        if found != wanted:
            raise ValueError(
                f"a row of {len(row.ids)} ids has runs of {found} placeholders, expected {wanted} for its"
                f" {len(row.pictures)} pictures: it was cut, or a placeholder was sampled"
            )
        banned = [row.ids[at] for at in row.positions if row.ids[at] in self.banned]
        if banned or any(start < 1 for start, _ in row.replies):
            raise ValueError(f"a reply holds ids {banned} that are never sampled, or has no prompt before it")

    def inputs(
        self, rows: Sequence[Window], pngs: Mapping[str, bytes], device: str, dtype: torch.dtype
    ) -> dict[str, Any]:
        """Keyword arguments of the model's forward pass for a batch, padded on the right."""
        images, blank = self._images(rows, pngs)
        longest = max(len(row.ids) for row in rows)
        ids = torch.full((len(rows), longest + len(blank)), self.pad)
        mask = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row.ids)] = torch.tensor(row.ids)
            mask[number, : len(row.ids)] = 1
        ids[0, longest:] = torch.tensor(blank, dtype=torch.long)  # in the padding, where nothing looks
        return {
            "input_ids": ids.to(device),
            "attention_mask": mask.to(device),
            **self.marks(ids, device),
            **self.pixels(images, device, dtype),
        }

    def packed(
        self, rows: Sequence[Window], pngs: Mapping[str, bytes], device: str, dtype: torch.dtype
    ) -> dict[str, Any]:
        """The same rows one after the other in one sequence, kept apart by their positions.

        Pass `use_cache=False` with it: with a cache, transformers does not see where a row ends.

        Raises:
            ValueError: The family cannot, or placeholders and pictures of a row do not fit.
        """
        if not self.packs:
            raise ValueError(f"rows of {self.name} cannot share a sequence: its layers carry a state along it")
        images, blank = self._images(rows, pngs)
        parts = [list(row.ids) for row in rows] + ([blank] if blank else [])
        ids = torch.tensor([[i for part in parts for i in part]])
        shown: list[Sequence[Picture]] = [row.pictures for row in rows]
        positions = [self.positions(part, shown[n] if n < len(rows) else []) for n, part in enumerate(parts)]
        return {
            "input_ids": ids.to(device),
            "position_ids": torch.cat(positions, -1).to(device),
            **self.marks(ids, device),
            **self.pixels(images, device, dtype),
        }

    def _images(self, rows: Sequence[Window], pngs: Mapping[str, bytes]) -> tuple[list[Tensor], list[int]]:
        """Pictures of all rows; where there are none a blank one, and its ids."""
        for row in rows:
            self.check(row)
        images = [self._shown.get(picture, pngs) for row in rows for picture in row.pictures]
        if images:
            return images, []
        ids, image = self.blank()
        return [image], ids

    def marks(self, ids: Tensor, device: str) -> dict[str, Tensor]:
        """Arguments that say which ids are pictures, where a family wants them."""
        return {}

    def positions(self, ids: Sequence[int], pictures: Sequence[Picture]) -> Tensor:
        """int64 [A, 1, n] or [1, n]: positions of one row."""
        return torch.arange(len(ids))[None]

    # --- parts ---

    @abstractmethod
    def vision(self, model: nn.Module) -> nn.Module:
        """The vision tower, to freeze it."""

    @abstractmethod
    def layers(self, model: nn.Module) -> list[nn.Module]:
        """Decoder layers of the language part and blocks of the vision tower."""


def bare(model: Any) -> Any:
    """The transformers model inside adapters."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def banned_ids(tokens: Tokens, names: Sequence[str], end: int) -> tuple[int, ...]:
    """Ids of those of the names that the vocabulary has, without the end of a reply."""
    found = (tokens.find(name) for name in names)
    return tuple(sorted({i for i in found if i is not None and i != end}))
