"""How an episode ends where a model has no word for it: it says something and calls no tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from uigym.exchange.conversation import Reply, told
from uigym.exchange.demonstration import Taken
from uigym.exchange.told import Told, ToldStep
from uigym.exchange.words import Unsayable
from uigym.types import Action, Answer, Done

DONE = "Done."
"""What is said where the task asks for no answer."""


def closing(taken: Taken) -> str:
    """The last words for a step that ends the episode; empty for any other.

    Raises:
        Unsayable: The answer is empty.
    """
    match taken.action:
        case Answer(""):
            raise Unsayable("no word for an empty answer")
        case Answer(text):
            return text
        case Done():
            return DONE
    return ""


def spoken(about: Mapping[str, Any], replies: Sequence[Reply]) -> Told:
    """A demonstration out of replies of which the last may be words alone.

    Raises:
        ConfigError: It is not said how large the viewport is.
    """
    calls = [reply for reply in replies if not isinstance(reply.words, str)]
    found = told(about, calls)
    ends = [ToldStep(_ending(about, reply.words), reply.png) for reply in replies if isinstance(reply.words, str)]
    return replace(found, steps=(*found.steps, *ends))


def _ending(about: Mapping[str, Any], words: str) -> Action:
    return Answer(words) if about.get("stop") == "answered" else Done()
