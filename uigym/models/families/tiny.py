"""The tiny model that ships: a Qwen3-VL with an action language and prompts of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from uigym.models.families.qwen import Qwen
from uigym.models.prompt import MAX_INSTRUCTION_BYTES, Prompts
from uigym.train.windows import Picture


class Tiny(Qwen):
    """A checkpoint that speaks the tiny model's action language.

    It was made on windows of one turn: picture, instruction, past actions, reply. `fresh` gives exactly that.
    """

    def __init__(self, folder: Path):
        super().__init__(folder, "tiny")
        self.name = "tiny"
        self.prompts = Prompts(self.tokens.tokenizer)
        self.end, self.banned = self.prompts.end, tuple(sorted(self.prompts.banned))

    def opening(self, instruction: str) -> list[int]:
        """The instruction and a line break; the model knows its language."""
        spoken = instruction.encode()[:MAX_INSTRUCTION_BYTES].decode(errors="ignore")
        return self.prompts.text(f"{spoken}\n")

    def fresh(self, instruction: str, past: Sequence[str], text: str, pictures: Sequence[Picture]) -> list[int]:
        """A window of the form that the model was made on; `text` is left out."""
        shown = [i for picture in pictures for i in self._standing(picture.tokens)][:-1]
        return [*shown, *self.prompts.prompt(instruction, past)]

    def asking(self, text: str, pictures: Sequence[Picture]) -> list[int]:
        """Pictures, the text and the mark that the reply begins."""
        shown = [i for picture in pictures for i in self._standing(picture.tokens)]
        return [*shown, *self.prompts.text(f"{text}\n" if text else ""), self.prompts.start]

    def closing(self, reply: Sequence[int]) -> list[int]:
        """The end of a reply that did not sample it."""
        return [] if reply and reply[-1] == self.end else [self.end]

    def reply(self, text: str) -> list[int]:
        """Ids of a reply that says a text, its end included."""
        return self.prompts.reply(text)

    def text(self, ids: Sequence[int]) -> str:
        """The text of a reply's ids, without its end."""
        return self.prompts.read(ids)
