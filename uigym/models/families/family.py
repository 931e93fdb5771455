"""What everything else needs to know of a family of vision-language models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from uigym.train.windows import Picture, Window


class Family(Protocol):
    """One checkpoint's family, with its tokenizer. Made by `families.open(folder)`.

    A context is: `opening`, then for each turn `asking` and the sampled reply; where a reply did not sample its end,
    or the template puts something after it, `closing(reply)` comes before the next `asking`. All ids are made here,
    piece by piece, and never from text that holds special tokens: what a page or a model says cannot become one.
    """

    name: str
    """Such as "qwen3_vl"; `config.model_type` of its checkpoints."""
    codec: str
    """Name of the codec in `uigym.policy.codecs` that its replies are read with."""
    end: int
    """Id that ends a reply."""
    banned: tuple[int, ...]
    """Ids that are never sampled: placeholders of pictures, marks of vision, starts of turns."""
    packs: bool
    """Whether rows can share one sequence."""

    def picture(self, hash: str, width: int, height: int) -> Picture:
        """How a screenshot of that size, px, is shown: resized to the family's grid only where it does not fit it."""

    def shown(self, picture: Picture, png: bytes) -> bytes:
        """The PNG at the size that the model is shown: the same bytes where it has that size."""

    def opening(self, instruction: str) -> list[int]:
        """The system's words with the action language, and nothing that changes within an episode but the instruction."""

    def fresh(self, instruction: str, past: Sequence[str], text: str, pictures: Sequence[Picture]) -> list[int]:
        """A window from its beginning to its first reply: `opening` and `asking`, unless a family has another order.

        Args:
            instruction: What is to be done.
            past: Texts of the policy's own replies that are no longer shown, oldest first.
            text: What else the first turn says.
            pictures: Those that the first turn shows.
        """

    def asking(self, text: str, pictures: Sequence[Picture]) -> list[int]:
        """A user's turn: pictures, then text; ends with the mark that the reply begins."""

    def closing(self, reply: Sequence[int]) -> list[int]:
        """What the template puts between a sampled reply and the next turn."""

    def reply(self, text: str) -> list[int]:
        """Ids of a reply that says a text, its end included: for demonstrations, never for what was sampled."""

    def text(self, ids: Sequence[int]) -> str:
        """The text of a reply's ids, without its end."""

    def load(self, folder: Path, dtype: torch.dtype, device: str) -> nn.Module:
        """The model, in evaluation mode."""

    def inputs(
        self, rows: Sequence[Window], pngs: Mapping[str, bytes], device: str, dtype: torch.dtype
    ) -> dict[str, Any]:
        """Keyword arguments of the model's forward pass for a batch, padded on the right.

        `input_ids`, `attention_mask`, the family's pixel tensors in `dtype`, and whatever its positions need; rows without a
        picture get a dummy one whose features do not count, so that every batch runs the vision tower.

        Raises:
            ValueError: Placeholders and pictures of a row do not fit.
        """

    def packed(
        self, rows: Sequence[Window], pngs: Mapping[str, bytes], device: str, dtype: torch.dtype
    ) -> dict[str, Any]:
        """The same rows one after the other in one sequence, kept apart by their positions alone.

        Pass `use_cache=False` with it: with a cache, transformers does not see where a row ends, and rows attend to
        each other without a word.

        Raises:
            ValueError: The family cannot, or placeholders and pictures of a row do not fit.
        """

    def vision(self, model: nn.Module) -> nn.Module:
        """The vision tower, to freeze it."""

    def layers(self, model: nn.Module) -> list[nn.Module]:
        """Decoder layers of the language part and blocks of the vision tower, to shard and checkpoint them."""
