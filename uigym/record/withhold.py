"""Leaving out what a person typed into a password field: from the actions, the events, the states and all else.

A replay still needs the text. Where it is one of the task's parameters, the demonstration's notes name that parameter;
else they say "prompt", and whoever replays it has to be told (`uigym.record.withheld`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, quote_plus

from uigym.store import episode_from_json, episode_to_json
from uigym.types import Download, Episode, StepRecord, Type

WITHHELD = "[withheld]"
"""What is stored in the place of such a text."""
_SHORTEST = 3
"""A shorter text would be found everywhere."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """An episode without the texts, and the texts."""

    episode: Episode
    told: Mapping[int, str]
    """The texts by number of their step; never stored."""
    notes: Mapping[str, Any]
    """For the `Demo`: where a replay takes each from."""


def withhold(episode: Episode, steps: Iterable[int], held: Iterable[str]) -> Withheld:
    """Leave the texts of some steps out of an episode, wherever they are in it.

    What is among the task's parameters is no secret of the person's; it stays in the data and goes from the step.

    Args:
        episode: As it was played.
        steps: Numbers of the steps that typed into password fields.
        held: What the password fields held, at any time.
    """
    told = {number: action.text for number in steps if isinstance(action := episode.steps[number].action, Type)}
    if not told:
        return Withheld(episode, {}, {})
    known = {text: path for path, text in _texts(episode.params, "params")}
    secrets = {text for text in (*told.values(), *held) if len(text) >= _SHORTEST and text not in known}
    clean = _without(episode, sorted(secrets, key=len, reverse=True))
    stored = [_blank(step) if number in told else step for number, step in enumerate(clean.steps)]
    notes = {"withheld": {str(number): known.get(text, "prompt") for number, text in told.items()}}
    return Withheld(replace(clean, steps=tuple(stored)), told, notes)


def _blank(step: StepRecord) -> StepRecord:
    return replace(step, action=Type(WITHHELD))


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The texts among parameters, each with its path."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}")
    elif isinstance(value, str) and value:
        yield path, value


def _without(episode: Episode, secrets: Sequence[str]) -> Episode:
    """The episode with every secret replaced, also as addresses and forms spell it."""
    if not secrets:
        return episode
    kept = ("params", "instruction", "id", "harness", "task")  # the harness's own words
    spelt = [
        form
        for text in secrets
        for form in dict.fromkeys((text, quote(text, safe=""), quote_plus(text), _in_json(text)))
    ]
    told = {
        name: value if name in kept else _replaced(value, spelt) for name, value in episode_to_json(episode).items()
    }
    return replace(episode_from_json(told), downloads=tuple(_cleared(one, spelt) for one in episode.downloads))


def _cleared(download: Download, spelt: Sequence[str]) -> Download:
    """A file that the page gave, without what was withheld."""
    content = download.content
    for text in spelt:
        content = content.replace(text.encode(), WITHHELD.encode())
    if content == download.content:
        return download
    return replace(download, content=content, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _replaced(value: Any, spelt: Sequence[str]) -> Any:
    if isinstance(value, str):
        for text in spelt:
            value = value.replace(text, WITHHELD)
        return value
    if isinstance(value, Mapping):
        return {name: _replaced(inner, spelt) for name, inner in value.items()}
    return [_replaced(inner, spelt) for inner in value] if isinstance(value, list | tuple) else value
