"""What models say, and the actions that it means: one file per model family; coordinates are converted here only.

    CODECS["qwen3"].decode(reply, Screen(1280, 720))     -> (Click(655.4, 216.0),)
    CODECS["qwen3"].encode(Click(655, 216), screen)      -> "<tool_call>..."

What cannot be read is an `Invalid` that says what was expected; nothing that a model says is ever run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uigym.policy.codecs import anthropic, gemini, openai, pyautogui, qwen, smolvlm, tiny, uitars
from uigym.policy.codecs.screen import Screen as Screen
from uigym.types import Action


@dataclass(frozen=True, slots=True)
class Codec:
    """One family's language."""

    decode: Callable[[Any, Screen], tuple[Action, ...]]
    """(what the model said, the screen) -> the actions that it means, at least one; `Invalid` for what cannot be read."""
    encode: Callable[[Action, Screen], Any]
    """(action, the screen) -> how the family says it; empty or None where it has no word for it."""


CODECS: dict[str, Codec] = {
    "anthropic": Codec(anthropic.decode, anthropic.encode),
    "gemini": Codec(gemini.decode, gemini.encode),
    "openai": Codec(openai.decode, openai.encode),
    "pyautogui": Codec(pyautogui.decode, pyautogui.encode),
    "pyautogui_px": Codec(pyautogui.decode_px, pyautogui.encode_px),
    "qwen2.5": Codec(qwen.decode_px, qwen.encode_px),
    "qwen3": Codec(qwen.decode, qwen.encode),
    "smolvlm": Codec(smolvlm.decode, smolvlm.encode),
    "tiny": Codec(
        lambda said, s: (tiny.decode(said, s.width, s.height),), lambda a, s: tiny.encode(a, s.width, s.height)
    ),
    "uitars": Codec(uitars.decode, uitars.encode),
}
"""By name, as run files say it."""
