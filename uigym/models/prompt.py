"""The tiny model's prompts as token ids.

Text is encoded byte by byte, so that nothing in an instruction can pass for an action word or a picture token; past
actions are encoded with their whole-word tokens, because they are the policy's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from uigym.policy.codecs.tiny import ACTION_TOKENS

MAX_PAST = 10
"""How many past actions a prompt holds, the latest ones."""
MAX_INSTRUCTION_BYTES = 160
_WORDS = re.compile("|".join(re.escape(token) for token in ACTION_TOKENS))


class Prompts:
    """Encodes prompts and replies with the tiny model's tokenizer."""

    def __init__(self, tokenizer: Any):
        ids = tokenizer.convert_tokens_to_ids
        self.vision_end, self.start, self.end = ids("<|vision_end|>"), ids("<|im_start|>"), ids("<|im_end|>")
        self.banned = tuple(
            ids(f"<|{n}|>") for n in ("vision_start", "vision_end", "image_pad", "video_pad", "im_start", "endoftext")
        )
        self._words = dict(zip(ACTION_TOKENS, ids(list(ACTION_TOKENS)), strict=True))
        alphabet = tokenizer.backend_tokenizer
        self._byte = {b: _byte_id(alphabet, b) for b in range(256)}
        self._names = {i: w for w, i in self._words.items()}
        self._values = {i: b for b, i in self._byte.items()}

    def text(self, text: str) -> list[int]:
        """Plain text, a token a byte."""
        return [self._byte[b] for b in text.encode()]

    def action(self, text: str) -> list[int]:
        """An action's text: words in angle brackets as whole tokens, the rest byte by byte."""
        out: list[int] = []
        at = 0
        for found in _WORDS.finditer(text):
            out += self.text(text[at : found.start()])
            out.append(self._words[found[0]])
            at = found.end()
        return out + self.text(text[at:])

    def prompt(self, instruction: str, past: Iterable[str]) -> list[int]:
        """What follows the picture: the instruction, the latest actions, and the mark that the reply begins."""
        spoken = instruction.encode()[:MAX_INSTRUCTION_BYTES]
        out = [self.vision_end, *(self._byte[b] for b in spoken), *self.text("\n")]
        for action in list(past)[-MAX_PAST:]:
            out += [*self.action(action), *self.text("\n")]
        return [*out, self.start]

    def reply(self, action: str) -> list[int]:
        """An action's text and the end of the turn."""
        return [*self.action(action), self.end]

    def read(self, ids: Iterable[int]) -> str:
        """The text of a reply's ids, without the end of the turn; bytes that are no UTF-8 are replaced."""
        out = b""
        for i in ids:
            if i == self.end:
                break
            out += (
                self._names[i].encode() if i in self._names else bytes([self._values[i]]) if i in self._values else b"?"
            )
        return out.decode(errors="replace")


def _byte_id(tokenizer: Any, byte: int) -> int:
    """The id of one byte: byte-level tokenizers name bytes by printable letters."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letter = chr(byte) if byte in printable else chr(256 + [b for b in range(256) if b not in printable].index(byte))
    return int(tokenizer.token_to_id(letter))
