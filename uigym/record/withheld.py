"""Texts that a person typed and that were not stored, such as a password: where a replay takes them from.

The notes of a `Demo` say it: `notes["withheld"] = {"3": "params.password", "7": "prompt"}`. The text of step 3 is the
task's parameter of that name, also one inside another (`params.user.password`); that of step 7 only the person knows.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from uigym.errors import ConfigError
from uigym.record.demo import Demo
from uigym.record.spelt import spellings
from uigym.state import Changed
from uigym.types import Action, Dialog, Episode, Type

PROMPT = "prompt"
"""Where a text comes from that only the person knows."""
_PARAMS = "params."


def withheld_texts(episode: Episode, demo: Demo, told: Mapping[int, str] | None = None) -> dict[int, str]:
    """The withheld texts by the number of their step, from 0.

    Args:
        episode: The demonstration.
        demo: Its record, whose notes say where they come from.
        told: What a person has said just now, by step; it goes first.

    Raises:
        ConfigError: One cannot be known, or the notes are no such notes.
    """
    given = demo.notes.get("withheld", {})
    if not isinstance(given, Mapping):
        raise ConfigError(
            f'{episode.id}: notes["withheld"] must map steps to where texts come from, not {given!r:.100}'
        )
    texts = dict(told or {})
    for step, source in given.items():
        number = _step(episode, step)
        if number not in texts:
            texts[number] = _text(episode, number, source)
    return texts


def unknown(demo: Demo) -> list[int]:
    """The steps, from 0, whose text only the person knows."""
    given = demo.notes.get("withheld")
    if not isinstance(given, Mapping):
        return []
    return sorted(int(step) for step, source in given.items() if source == PROMPT and str(step).isdecimal())


def with_texts(episode: Episode, texts: Mapping[int, str]) -> tuple[Action, ...]:
    """The episode's actions, with these texts in their steps."""
    actions = [step.action for step in episode.steps]
    for number, text in texts.items():
        action = actions[number]
        if not isinstance(action, Type | Dialog):
            raise ConfigError(f"{episode.id}, step {number + 1}: a text was withheld, but {action} types none")
        actions[number] = dataclasses.replace(action, text=text)
    return tuple(actions)


def hides(change: Changed, texts: Sequence[str]) -> bool:
    """Whether a row differs only in that the stored one has something else in the place of a withheld text.

    Args:
        change: From the stored state to the replayed one.
        texts: What was withheld, also as addresses and JSON spell it.
    """
    old, new = change.before, change.after
    if old is None or new is None:
        return False
    moved = [column for column in {**old, **new} if old.get(column) != new.get(column)]
    spelt = spellings(texts)
    return bool(spelt) and all(_fits(old.get(column), new.get(column), spelt) for column in moved)


def unhidden(changes: Sequence[Changed], texts: Sequence[str]) -> list[Changed]:
    """The changes that a withheld text does not account for.

    A row that is named by all its columns, or by the text itself, is gone in one state and new in the other.
    """
    left = [change for change in changes if not hides(change, texts)]
    for gone in [change for change in left if change.after is None] if texts else ():
        pairs = ((new, Changed(gone.table, gone.key, gone.before, new.after)) for new in left if new.before is None)
        if pair := next((new for new, both in pairs if new.table == gone.table and hides(both, texts)), None):
            left.remove(gone)
            left.remove(pair)
    return left


def _fits(stored: Any, found: Any, texts: Sequence[str]) -> bool:
    if not (isinstance(stored, str) and isinstance(found, str)):
        return False
    held = [text for text in texts if text and text in found]
    if not held:
        return False
    pieces = re.split("|".join(map(re.escape, sorted(held, key=len, reverse=True))), found)
    return _in_order(pieces, stored)


def _in_order(pieces: Sequence[str], text: str) -> bool:
    """Whether a text is these pieces with anything between them."""
    first, *middle, last = pieces
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _step(episode: Episode, step: object) -> int:
    """Keys are text, as JSON has them."""
    text = str(step)
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number < len(episode.steps):
        raise ConfigError(
            f"{episode.id}: a text was withheld in step {text!r:.40}, counted from 0, of {len(episode.steps)}"
        )
    return number


def _text(episode: Episode, number: int, source: object) -> str:
    where = f"{episode.id}, step {number + 1}: its text was withheld"
    if not isinstance(source, str) or not source.startswith(_PARAMS):
        raise ConfigError(
            f"{where} and only the person who typed it knows it ({source}): record the demonstration again"
        )
    value: Any = episode.params
    for name in source.removeprefix(_PARAMS).split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise ConfigError(
            f"{where} and comes from {source}, which is no text among the parameters {sorted(episode.params)}"
        )
    return str(value)
