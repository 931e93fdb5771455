"""Text as ids, in two ways: ours, in which special tokens count, and everybody else's, in which they are letters."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import AutoTokenizer

from uigym.errors import ConfigError
from uigym.models.families.safe import SAFE, why


class Tokens:
    """The tokenizer of a checkpoint folder.

    Raises:
        ConfigError: There is none that can be read.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        if not (folder / "tokenizer.json").is_file():
            raise ConfigError(
                f"no tokenizer.json in {folder}: copy it from where the model is from, beside its weights"
            )
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, **SAFE)
            self._whole = json.loads(self.tokenizer.backend_tokenizer.to_str())
        except Exception as exc:  # whatever transformers makes of a broken folder
            raise ConfigError(f"the tokenizer of {folder} cannot be loaded: {why(exc)}") from exc
        # A token of one letter is that letter, whoever says it.
        self.added = frozenset(t["id"] for t in self._whole["added_tokens"] if len(t["content"]) > 1)

    @cached_property
    def _bare(self) -> Tokenizer:
        """The same tokenizer without any added token."""
        parts = {**self._whole, "added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
        return Tokenizer.from_str(json.dumps(parts))

    def plain(self, text: str) -> list[int]:
        """Text of a page, a person or a model: what looks like a special token stays letters."""
        ids = self._bare.encode(text, add_special_tokens=False).ids
        if self.added.isdisjoint(ids):
            return list(ids)
        # A vocabulary that lists special tokens among its words may find one in a text; letter by letter it cannot.
        return [i for letter in text for i in self._bare.encode(letter, add_special_tokens=False).ids]

    @cached_property
    def _words(self) -> dict[str, int]:
        """Added tokens that a model may say, such as <tool_call>, and no special one."""
        own = (token for token in self._whole["added_tokens"] if not token["special"])
        return {token["content"]: token["id"] for token in own if token["id"] in self.added}

    def spoken(self, text: str) -> list[int]:
        """Text as a model says it: <tool_call> is a token, what looks like the end of a turn stays letters."""
        names = "|".join(map(re.escape, sorted(self._words, key=len, reverse=True)))
        parts = re.split(f"({names})", text) if names else [text]
        return [i for part in parts for i in ([self._words[part]] if part in self._words else self.plain(part))]

    def trusted(self, text: str) -> list[int]:
        """Text of ours, in which <tool_call> and the like are the tokens that they look like."""
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def find(self, name: str) -> int | None:
        """The id of a token, None where the vocabulary lacks it."""
        found = self.tokenizer.backend_tokenizer.token_to_id(name)
        return None if found is None else int(found)

    def need(self, name: str) -> int:
        """The id of a token.

        Raises:
            ConfigError: The vocabulary lacks it.
        """
        found = self.find(name)
        if found is None:
            raise ConfigError(
                f"the tokenizer of {self.folder} has no {name}: it is not of the family that config.json says"
            )
        return found

    def text(self, ids: Sequence[int]) -> str:
        """Text of ids, special tokens by their names."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def mark(self, thinking: bool) -> str:
        """What the chat template puts before a reply, such as "<|im_start|>assistant" and a line break.

        Args:
            thinking: Whether a template that can ask for thinking does so.

        Raises:
            ConfigError: There is no template, or it cannot be used.
        """
        said = [{"role": "user", "content": [{"type": "text", "text": "?"}]}]
        try:
            short, long = (
                self.tokenizer.apply_chat_template(
                    said, tokenize=False, add_generation_prompt=asked, enable_thinking=thinking
                )
                for asked in (False, True)
            )
        except Exception as exc:  # templates are programs
            raise ConfigError(f"the chat template of {self.folder} fails: {type(exc).__name__}: {exc}") from exc
        if not long.startswith(short) or long == short:
            raise ConfigError(f"the chat template of {self.folder} has no mark before a reply; expected one at its end")
        return str(long[len(short) :])
