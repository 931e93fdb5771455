"""How much of an episode a model has before it: all of it, the last screenshots, or something that grows and shrinks.

Screenshots are most of a context. `full` keeps them all; `window(k)` shows the last k and so begins a new context at
every step; `hysteresis(k_min, k_max)` lets the context grow to k_max screenshots and then begins anew with the last
k_min, so that most steps only append: the sampler's cache stays of use, and an episode makes few rows for training.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from uigym.errors import ConfigError

_LETTERS = 200
"""Of a dropped turn's reply in the digest."""
_TURNS = 40
"""Dropped turns that the digest tells, the latest ones."""
_SAID = re.compile(r"\s*(full|window|hysteresis)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*(without digest)?\s*")


@dataclass(frozen=True, slots=True)
class Context:
    """How many screenshots a context holds. Made by `full`, `window`, `hysteresis` or `parse`.

    Raises:
        ConfigError: The numbers do not fit each other.
    """

    least: int
    """Screenshots that a new context begins with, the newest included, as far as the episode has them."""
    most: int | None = None
    """Screenshots at which the next step begins a new context; None appends to the end."""
    digest: bool = True
    """Whether a new context tells the replies of the turns that it no longer shows."""

    def __post_init__(self) -> None:
        if self.least < 1 or (self.most is not None and self.most < self.least):
            raise ConfigError(
                f"a context keeps at least 1 screenshot and at most as many as it grows to, not {self.least} of {self.most}"
            )

    def past(self, shown: int, turns: int) -> int | None:
        """How many past turns a new context begins with; None to go on with the present one.

        Args:
            shown: Screenshots in the present context; 0 where there is none.
            turns: Turns of the episode up to now.

        Example:
            >>> [hysteresis(2, 3).past(shown, 9) for shown in (1, 2, 3)]
            [None, None, 1]
        """
        if shown and (self.most is None or shown < self.most):
            return None
        return min(self.least - 1, turns)


def full() -> Context:
    """Everything since the episode began; where that is longer than the model bears, a new context begins."""
    return Context(1, None)


def window(k: int, *, digest: bool = True) -> Context:
    """The last `k` screenshots."""
    return Context(k, k, digest)


def hysteresis(k_min: int = 1, k_max: int = 6, *, digest: bool = True) -> Context:
    """Grows to `k_max` screenshots, then begins anew with the last `k_min`."""
    return Context(k_min, k_max, digest)


DEFAULT = hysteresis()
"""Most steps append, and an episode of 15 steps makes three rows."""


def parse(text: str) -> Context:
    """A context as a run file says it.

    Raises:
        ConfigError: It is none.

    Example:
        >>> parse("hysteresis(1, 6) without digest")
        Context(least=1, most=6, digest=False)
        >>> parse("window(4)") == window(4), parse("full") == full()
        (True, True)
    """
    found = _SAID.fullmatch(text)
    kind, *said = (found[1], found[2], found[3]) if found else ("", None, None)
    numbers = [int(number) for number in said if number is not None]
    digest = not (found and found[4])
    match kind, numbers:
        case "full", []:
            return Context(1, None, digest)
        case "window", [k]:
            return window(k, digest=digest)
        case "hysteresis", ([] | [_, _]):
            return hysteresis(*numbers, digest=digest)
    raise ConfigError(
        f'no context {text!r}: expected "full", "window(k)" or "hysteresis(k_min, k_max)"; each may end in "without digest"'
    )


def digest(replies: Sequence[str]) -> list[str]:
    """What is told of the replies that a context no longer shows: the latest ones, long ones cut."""
    return [said if len(said) <= _LETTERS else f"{said[:_LETTERS]}..." for said in replies[-_TURNS:]]
