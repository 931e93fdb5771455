"""What a recording asks for, in words that no tool owns: one act after another, each on an element or on pixels."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from uigym.types import Action, Answer, Button, Modifier


@dataclass(frozen=True, slots=True)
class Target:
    """An element, as a recording names it."""

    ways: tuple[str, ...]
    """Selectors in Playwright's words, the recorder's favourite first; each alone should find it."""
    frame: tuple[int, ...] = ()
    """Way down from the page: the number of the child frame, and so on."""
    anywhere: bool = False
    """The recording does not say which frame it is in."""


@dataclass(frozen=True, slots=True)
class Press:
    """Click an element."""

    target: Target
    button: Button = "left"
    count: int = 1
    modifiers: tuple[Modifier, ...] = ()
    spot: tuple[float, float] | None = None
    """Where on it, CSS px from its top left corner; for elements of which the spot matters, such as a canvas."""


@dataclass(frozen=True, slots=True)
class Hover:
    """Move the pointer onto an element."""

    target: Target


@dataclass(frozen=True, slots=True)
class Fill:
    """Give a field this value, whatever kind of field it is."""

    target: Target
    value: str
    keep: bool = False
    """What is in it stays before the value."""


@dataclass(frozen=True, slots=True)
class Choose:
    """Choose options of a native list, by value or label."""

    target: Target
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """Make a check box or a radio button be as wanted."""

    target: Target
    on: bool


@dataclass(frozen=True, slots=True)
class Give:
    """Give a file field some of the episode's files, by name."""

    target: Target
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Strike:
    """Press a key or chord; with a target, while that has the focus."""

    chord: str
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """Scroll the page or an element to a position, CSS px; or by so many heights of it."""

    target: Target | None = None
    to: tuple[float, float] | None = None
    heights: float = 0.0


@dataclass(frozen=True, slots=True)
class Visit:
    """Have a page open, by its address where it was recorded."""

    url: str


@dataclass(frozen=True, slots=True)
class Do:
    """An action as it is: of the pixels, of the history, of time."""

    action: Action
    size: tuple[int, int] | None = None
    """Viewport that its coordinates are for, CSS px; None for that of the harness."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Nothing that a hand does: why it is left out."""

    why: str


@dataclass(frozen=True, slots=True)
class Cannot:
    """Something that a hand should do and cannot: why."""

    why: str


Act: TypeAlias = Press | Hover | Fill | Choose | Tick | Give | Strike | Turn | Visit | Do | Leave | Cannot


@dataclass(frozen=True, slots=True)
class Asked:
    """One step of a recording."""

    number: int
    """As people count the steps of its file: from 1."""
    words: str
    """The step in a few words, for reports."""
    act: Act
    tab: int | None = None
    """Window that it is for, counted in the order of opening; None if the recording does not say."""
    text: str = ""
    """What whoever acted said with it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What a file asks for."""

    steps: tuple[Asked, ...]
    size: tuple[int, int] | None = None
    """Viewport that it was recorded in, CSS px."""
    answer: Answer | None = None
    """What was said at its end; the end of a task if the task asks for an answer."""
    task: str = ""
    """Harness and task, if the file says it."""
    seed: int | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    """What else the file says and the demonstration's notes should keep."""


def tidy(steps: Sequence[Asked]) -> tuple[Asked, ...]:
    """Without clicks that the next step makes by itself: a hand that fills a field clicks it first."""
    return tuple(_tidied(steps))


def _tidied(steps: Sequence[Asked]) -> Iterator[Asked]:
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        if after is not None and _leads_into(step, after):
            yield dataclasses.replace(step, act=Leave("the next step clicks the field, too"))
        else:
            yield step


def _leads_into(step: Asked, after: Asked) -> bool:
    act, then = step.act, after.act
    return isinstance(act, Press) and isinstance(then, Fill | Choose) and act == Press(then.target, spot=act.spot)
