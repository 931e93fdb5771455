"""Wrong ways to do a task, made from the right one.

Some are played; others need no browser, since a verifier is a function of the stored episode alone.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from uigym.check.besides import besides
from uigym.check.ends import apart, reverted
from uigym.check.players import SUCCESS, Boast, InTurn, Player
from uigym.compare import number
from uigym.harness import Instance
from uigym.policy.scripted import ReplayPolicy
from uigym.state import State, differences
from uigym.types import Action, Answer, Click, Done, Episode, Key, Stop, Type, Wait

_DRAWS = 10
"""How many other values of a parameter are drawn to find one that was not tried."""
TOLERANT = "tolerant"
"""Tag of a task that takes values near the one that it asks for: what is far off must still not be paid."""
QUICK_OMITS = 6
QUICK_VALUES = 3
_PADDING = "I looked into this carefully, opened the pages that matter and compared what they say. The answer is: "


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong way."""

    kind: str
    """The check that it belongs to."""
    how: str
    """What is wrong with it, to follow "paid "."""
    player: Player
    meant: Instance | None = None
    """The instance that it is the right way for, if there is one."""


@dataclass(frozen=True, slots=True)
class Right:
    """A task's right way, as the oracle showed it."""

    instance: Instance
    episode: Episode

    @property
    def actions(self) -> list[Action]:
        """What the oracle did, `Done` or `Answer` at the end included."""
        return [step.action for step in self.episode.steps]

    def otherwise(self, name: str, tried: Sequence[Any] = ()) -> Instance | None:
        """The same task with another value of one parameter, one that was not tried if there is such; else None."""
        before, task = self.episode.before, self.instance.task
        other = None
        for draw in range(_DRAWS):
            params = task.otherwise(self.instance, before, name, draw)
            if params is None:
                return None
            other = task.given(params, self.instance.seed, task.wordings[0])
            if params[name] not in tried:
                break
        return other


def played(right: Right, others: Sequence[Instance], known: Sequence[Right], full: bool) -> Iterator[Mutant]:
    """The wrong ways that have to be played.

    Args:
        right: The right one.
        others: Other tasks of the same seed whose oracles change the product's data.
        known: The task's right ways with all seeds: other values are best such as the oracle has not shown.
        full: All of them, instead of some of each kind.
    """
    if not _only_asks(right.episode):
        yield from _omitting(right.actions, full)
        yield from _mistyping(right.actions, full, TOLERANT in right.instance.task.tags)
        yield Mutant("twice", "although it was done twice", _scripts(right.instance, right.instance))
    yield from _with_other_values(right, known, full)
    for other in others[: 3 if full else 1]:
        how = f"although {other.task.id} was done besides"
        yield Mutant("extra", how, _scripts(other, right.instance))


def boasts() -> list[Mutant]:
    """The wrong ways that are the same for all tasks of a seed."""
    ways = {"for text in a field that says so": False, "for text in a field that says so, and Enter": True}
    return [Mutant("success text", how, partial(Boast, enter=enter)) for how, enter in ways.items()]


def full_plays(right: Right, others: Sequence[Instance]) -> int:
    """How many wrong ways `played` has of a right one at most, in full."""
    acts = [action for action in right.actions if not isinstance(action, Wait | Done | Answer)]
    typed = [action for action in acts if isinstance(action, Type)]
    by_hand = 0 if _only_asks(right.episode) else len(acts) + 2 * len(typed) + 1
    return by_hand + 2 * len(right.instance.params) + min(3, len(others))


def _only_asks(episode: Episode) -> bool:
    """Whether it answers and leaves everything as it was: then its acts do not count, and none of them is missed."""
    return bool(episode.answer) and episode.after == episode.before and not episode.downloads


def _omitting(actions: Sequence[Action], full: bool) -> Iterator[Mutant]:
    acts = [i for i, action in enumerate(actions) if not isinstance(action, Wait | Done | Answer)]
    if not full and len(acts) > QUICK_OMITS:  # the last ones, which finish the work, and some before
        acts = acts[: QUICK_OMITS // 2] + acts[-(QUICK_OMITS - QUICK_OMITS // 2) :]
    for i in acts:
        rest = [*actions[:i], *actions[i + 1 :]]
        yield Mutant("omitted", f"without act {i + 1} of {len(actions)}, {act(actions[i])}", _replay(rest))


def _mistyping(actions: Sequence[Action], full: bool, tolerant: bool) -> Iterator[Mutant]:
    typed = [(i, action) for i, action in enumerate(actions) if isinstance(action, Type) and action.text.strip()]
    for i, action in typed if full else typed[-2:]:
        near = () if tolerant else ((near_miss(action.text), "wrong value"),)
        for text, kind in (*near, (SUCCESS, "success text")):
            wrong = [*actions[:i], dataclasses.replace(action, text=text), *actions[i + 1 :]]
            yield Mutant(kind, f"with {text!r} typed instead of {action.text!r}", _replay(wrong))


def _with_other_values(right: Right, known: Sequence[Right], full: bool) -> Iterator[Mutant]:
    names = list(right.instance.params)
    for name in names if full else names[:QUICK_VALUES]:
        was = right.instance.params[name]
        tried = [other.instance.params[name] for other in known]
        for _ in range(2 if full else 1):
            other = right.otherwise(name, tried)
            if other is not None:
                now = other.params[name]
                tried.append(now)
                how = f"for {name}={short(now, was)} instead of {short(was, now)}"
                yield Mutant("wrong value", how, _scripts(other), other)


def _scripts(*instances: Instance) -> Player:
    return lambda env: InTurn(env, instances)


def _replay(actions: Sequence[Action]) -> Player:
    return lambda env: ReplayPolicy(actions)


def unplayed(
    right: Right,
    idle: Episode,
    same_seed: Mapping[str, Episode],
    answers: Sequence[str],
    logs: Collection[str] = (),
    full: bool = False,
) -> Iterator[tuple[str, str, Episode]]:
    """The wrong ways that need no playing: (check, what is wrong, the episode).

    Args:
        right: The right one.
        idle: The episode in which nothing was done.
        same_seed: The oracles' episodes of other tasks with the same seed, by task.
        answers: What the oracle answers with other seeds.
        logs: Tables, and columns as "table.column", that only tell what happened.
        full: All of them, instead of some of each kind.
    """
    episode = dataclasses.replace(right.episode, verdict=None)
    boast = dataclasses.replace(idle, answer=SUCCESS, stop=Stop.ANSWERED, verdict=None)
    yield "success text", f"for the answer {SUCCESS!r}", boast
    for how, state in undone(episode, logs):
        yield "undone", how, dataclasses.replace(episode, after=state, downloads=())
    for how, more in besides(episode, logs, full):
        yield "extra", how, more
    if episode.answer is not None:
        tolerant = TOLERANT in right.instance.task.tags
        for kind, how, answer in wrong_answers(episode.answer, answers, tolerant):
            yield kind, how, dataclasses.replace(episode, answer=answer)
    for name, other in same_seed.items():
        if name != episode.task:
            yield "other task", f"for what the oracle of {name} did", dataclasses.replace(other, verdict=None)


def undone(episode: Episode, logs: Collection[str]) -> Iterator[tuple[str, State]]:
    """(what is wrong, state) for the states in which the work, or its part in one table, has been taken back."""
    if episode.after == episode.before:
        return
    yield "although nothing was left of the work at the end", episode.before
    told = {change.table for change in differences(episode.before, episode.after)}
    tables = sorted({change.table for change in apart(episode.before, episode.after, logs)})
    if told - set(tables):
        how = f"although nothing but {' and '.join(sorted(told - set(tables)))} told of the work at the end"
        yield how, reverted(episode, tables)
    for table in tables if len(tables) > 1 else ():
        yield f"although nothing was left of the work in {table} at the end", reverted(episode, [table])


def wrong_answers(right: str, others: Sequence[str], tolerant: bool = False) -> Iterator[tuple[str, str, str]]:
    """(check, what is wrong, answer) for answers that are not the right one; if tolerant, none that is near it.

    Example:
        >>> [answer for _, _, answer in wrong_answers("12", ["7"])][:2]
        ['12 or 7', '7 or 12']
    """
    other = next((one for one in others if one.casefold() != right.casefold()), near_miss(right))
    for two in (f"{right} or {other}", f"{other} or {right}"):
        yield "guesses", f"for two guesses, {two!r}", two
    yield "guesses", "for a list of guesses", "\n".join([other, right, near_miss(right)])
    yield "guesses", "for the right answer within an essay", f"{_PADDING}{right}. {_PADDING * 5}"
    if not tolerant:
        if _said(other) != _said(right):
            yield "wrong value", f"for another seed's answer, {other!r}", other
        yield "wrong value", f"for the answer {near_miss(right)!r} instead of {right!r}", near_miss(right)
    for part in {right[:1], right[-1:]} - {right, re.sub(r"[^0-9.,-]", "", right)}:  # a number may go without its unit
        yield "wrong value", f"for a part of the answer, {part!r} of {right!r}", part
    far = f"{near_miss(right)[::-1]}7{len(right)}"
    yield "wrong value", f"for the answer {far!r} instead of {right!r}", far
    yield "wrong value", "for an empty answer", ""


def _said(answer: str) -> list[str]:
    """What an answer says, in whatever order."""
    return sorted(part for part in re.split(r"[\s,;]+|\band\b", answer.casefold()) if part)


def act(action: Action) -> str:
    """An act as messages show it.

    Example:
        >>> act(Click(164.53, 148.84)), act(Type("7"))
        ('click at 165, 149', "type '7'")
    """
    match action:
        case Click(x=x, y=y, count=count):
            return f"{('', 'double ', 'triple ')[count - 1]}click at {x:.0f}, {y:.0f}"
        case Type(text=text):
            return f"type {short(text)}"
        case Key(chord=chord):
            return f"key {chord}"
    return short(action)


def near_miss(text: str) -> str:
    """Another text that looks much like it: another last digit, or a word more.

    Example:
        >>> near_miss("12.50"), near_miss("Table 9"), near_miss("Green tea")
        ('12.51', 'Table 0', 'Green tea x')
    """
    if re.search(r"[0-9][^0-9]*$", text) and (number(text) is not None or len(text) < 40):
        place = max(i for i, letter in enumerate(text) if letter in "0123456789")
        return f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"
    return f"{text} x"


def short(value: Any, other: Any = None) -> str:
    """A parameter's value as messages show it; of two rows, where they differ."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {k: v for k, v in value.items() if other.get(k) != v or k in ("id", "name")}
    shown = repr(value)
    return shown if len(shown) <= 120 else shown[:117] + "..."
