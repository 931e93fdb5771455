"""Leaving out what a person typed into a password field: from the actions, the events, the states and all else.

A replay still needs the text. Where it is one of the task's parameters, the demonstration's notes name that parameter;
else they say "prompt", and whoever replays it has to be told (`uigym.record.withheld`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from uigym.record.spelt import WITHHELD as WITHHELD
from uigym.record.spelt import cleared, secret, spellings, texts_in
from uigym.store import episode_from_json, episode_to_json
from uigym.types import Download, Episode, StepRecord, Type

_OURS = ("params", "instruction", "id", "harness", "task", "group", "stop", "watched", "appearance")
"""Fields of an episode that the harness and we have written, whatever a password may be."""
_WORDS = ("action", "kind", "type", "button", "modifiers", "image")
"""Fields of a step that hold one of our own words."""


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
    known = {text: path for path, text in texts_in(episode.params)}
    clean = _without(episode, secret((*told.values(), *held), episode.params))
    stored = [_blank(step) if number in told else step for number, step in enumerate(clean.steps)]
    notes = {"withheld": {str(number): known.get(text, "prompt") for number, text in told.items()}}
    return Withheld(replace(clean, steps=tuple(stored)), told, notes)


def _blank(step: StepRecord) -> StepRecord:
    return replace(step, action=Type(WITHHELD))


def _without(episode: Episode, secrets: Sequence[str]) -> Episode:
    """The episode with every secret replaced, also as addresses and forms spell it."""
    if not secrets:
        return episode
    spelt, record = spellings(secrets), episode_to_json(episode)
    told = {name: value if name in _OURS else cleared(value, spelt) for name, value in record.items()}
    told["steps"] = cleared(record["steps"], spelt, _WORDS)
    return replace(episode_from_json(told), downloads=tuple(_kept(one, spelt) for one in episode.downloads))


def _kept(download: Download, spelt: Sequence[str]) -> Download:
    """A file that the page gave, without what was withheld."""
    content = download.content
    for text in spelt:
        content = content.replace(text.encode(), WITHHELD.encode())
    if content == download.content:
        return download
    return replace(download, content=content, size=len(content), sha256=hashlib.sha256(content).hexdigest())
