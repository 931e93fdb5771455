"""A demonstration as a conversation of screenshots and replies: the one that a policy of `uigym.policy` would have had.

A model that is trained on it is asked in the same words when it plays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from uigym.errors import ConfigError
from uigym.exchange.demonstration import Demonstration
from uigym.exchange.formats import Options, Wording
from uigym.exchange.told import Told, ToldStep, screen_of
from uigym.exchange.words import hear
from uigym.policy import contexts
from uigym.policy.codecs import CODECS, Screen
from uigym.policy.codecs.language import language, recalled
from uigym.policy.codecs.screen import moved
from uigym.types import Invalid

_BEFORE = {"uitars": "Action: "}
"""Codec -> what a reply says before its call."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message."""

    role: Literal["system", "user", "assistant"]
    text: str
    image: str = ""
    """Hash of the screenshot that stands before the text; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a trainer has before it at once."""

    messages: tuple[Message, ...]
    step: int | None = None
    """Index of the step whose reply is to be learnt, the last message; None where all of them are."""

    @property
    def images(self) -> list[str]:
        """Hashes of the screenshots, in order."""
        return [message.image for message in self.messages if message.image]


def rows(demonstration: Demonstration, options: Options, wording: Wording) -> Iterator[Row]:
    """The rows of a demonstration: one for each step, or one in all.

    Raises:
        ConfigError: No local model speaks the codec, or the context is neither "full" nor "window(k)".
        Unsayable: The family has no word for an action.
    """
    shown = window(options.context)
    system = Message("system", f"{language(options.codec)}\n\nThe task: {demonstration.episode.instruction}".strip())
    taken = list(demonstration.steps())
    words = [_text(options.codec, wording.say(options.codec, one)) for one in taken]
    turns = [
        (Message("user", one.told, one.record.image), Message("assistant", said))
        for one, said in zip(taken, words, strict=True)
    ]
    if shown is None:
        yield Row((system, *(message for turn in turns for message in turn)))
        return
    for index in range(len(turns)):
        begin = max(0, index + 1 - shown)
        yield Row((system, *_window(turns[begin : index + 1], words[:begin])), index)


def window(context: str) -> int | None:
    """Screenshots in a row; None for all.

    Raises:
        ConfigError: A row cannot be cut so.
    """
    parsed = contexts.parse(context)
    if parsed.most is not None and parsed.most != parsed.least:
        raise ConfigError(f'--context "{context}": rows hold "full" episodes or a "window(k)" of screenshots')
    return parsed.most


def _window(turns: Sequence[tuple[Message, Message]], dropped: Sequence[str]) -> Iterator[Message]:
    (asked, said), *rest = turns
    yield Message("user", recalled(contexts.digest(dropped)) + asked.text, asked.image)
    yield said
    for turn in rest:
        yield from turn


def _text(codec: str, words: Any) -> str:
    if not isinstance(words, str):
        raise ConfigError("the assistant's words must be text: choose a codec of a local model, such as qwen3")
    return _BEFORE.get(codec, "") + words


# --- reading ---


@dataclass(frozen=True, slots=True)
class Reply:
    """What an assistant said, and what it saw."""

    step: int
    words: Any
    png: bytes | None


def gathered(rows: Iterator[tuple[Mapping[str, Any], list[Reply]]]) -> Iterator[Told]:
    """Demonstrations out of rows.

    Args:
        rows: What the export says about a row's demonstration, and the replies to be learnt in it.
    """
    found: dict[str, list[Reply]] = defaultdict(list)
    abouts: dict[str, Mapping[str, Any]] = {}
    for about, replies in rows:
        name = str(about.get("id"))
        abouts[name] = about
        found[name].extend(replies)
    for name, replies in found.items():
        yield told(abouts[name], sorted(replies, key=lambda reply: reply.step))


def told(about: Mapping[str, Any], replies: Sequence[Reply]) -> Told:
    """A demonstration out of its replies.

    Raises:
        ConfigError: It is not said in which codec, or how large the viewport is.
    """
    codec = about.get("codec")
    if codec not in CODECS:
        raise ConfigError(f"the file does not say how its replies are read: codec {codec!r}, of {', '.join(CODECS)}")
    screen = begin = screen_of(about, next((reply.png for reply in replies if reply.png), None))
    steps = []
    for reply in replies:
        action = hear(codec, reply.words, screen)
        screen = moved(screen, action)
        steps.append(ToldStep(action, reply.png, reply.words if isinstance(action, Invalid) else ""))
    return tell(about, begin, steps)


def tell(about: Mapping[str, Any], screen: Screen, steps: Sequence[ToldStep]) -> Told:
    """What a file tells, with what our own exports say about it."""
    name, instruction, task, seed = (about.get(key) for key in ("id", "instruction", "task", "seed"))
    return Told(
        str(name or ""),
        instruction if isinstance(instruction, str) else "",
        screen,
        tuple(steps),
        task if isinstance(task, str) else "",
        seed if isinstance(seed, int) else None,
        about,
    )
