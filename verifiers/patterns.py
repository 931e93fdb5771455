"""Regular expressions that a text from a policy cannot hold up.

Python's `re` tries every way in which a pattern may fit, and nothing can stop it meanwhile. What repeats something that
may itself fit in several ways has more ways than anybody can wait for, so it is refused when it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_TEXT = 4_000
"""Characters; a longer text fits no pattern."""
MAX_TEXT_LOOSE = 500
"""The same of a pattern with more than two repetitions that have no end."""
_MANY = 10
"""So many times or more is as good as without end."""
_TOKEN = re.compile(
    r"(?P<atom>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\))"
    r"|(?P<open>\((?:\?(?:P?<[^>=!]*>|P=\w+|P>\w+|<[=!]|[=!>]|\([^)]*\)|[a-zA-Z-]*:?))?)"
    r"|(?P<close>\))"
    r"|(?P<times>[*+?]|\{(?=[0-9,])(?P<least>[0-9]*)(?P<comma>,?)(?P<most>[0-9]*)\})[?+]?"
    r"|(?P<or>\|)"
    r"|(?P<plain>.)",
    re.DOTALL,
)


def safe(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a whole text fits a pattern, and never takes long to say it.

    Raises:
        ValueError: The pattern cannot be read, or a text could be made on which it takes for ever.
    """
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as exc:
        raise ValueError(f"regex({pattern!r}): {exc}") from exc
    if compiled.flags & re.VERBOSE:
        raise ValueError(f"regex({pattern!r}): write it in one line, without (?x)")
    longest = MAX_TEXT if _loops(pattern) <= 2 else MAX_TEXT_LOOSE
    return lambda text: len(text) <= longest and compiled.fullmatch(text) is not None


@dataclass(slots=True)
class _Piece:
    """A part of a pattern: a character, a set, a group."""

    begin: int = 0
    loops: int = 0
    """How many repetitions without end it holds."""
    varies: bool = False
    """The same text may fit it in several ways, or texts of several lengths do."""
    first: str = ""
    """The character that it surely begins with; "" if there is none such."""
    branches: list[str] = field(default_factory=list)
    """Of a group: what each alternative begins with, the last one still open."""

    def add(self, piece: _Piece) -> None:
        self.loops += piece.loops
        self.varies |= piece.varies
        if self.branches and self.branches[-1] == " ":
            self.branches[-1] = piece.first

    def end(self) -> None:
        """An alternative that begins as another one does makes two ways of one text."""
        begins = [first.strip().casefold() for first in self.branches]
        self.varies |= len(begins) > 1 and ("" in begins or len({*begins}) < len(begins))


def _loops(pattern: str) -> int:
    """How many repetitions without end a pattern has.

    Raises:
        ValueError: One repeats what itself varies.
    """
    open_ = [_Piece(branches=[" "])]
    last: _Piece | None = None
    for token in _TOKEN.finditer(pattern):
        if token["times"] and last is not None:
            _repeat(last, token, pattern)
            continue
        if last is not None:
            open_[-1].add(last)
            last = None
        if token["open"]:
            open_.append(_Piece(token.start(), branches=[" "]))
        elif token["or"]:
            open_[-1].branches.append(" ")
        elif token["close"]:
            last = open_.pop()
            last.end()
        else:
            plain = token["plain"] or ""
            last = _Piece(token.start(), first=plain if plain.isalnum() else "")
    if last is not None:
        open_[-1].add(last)
    return open_[0].loops


def _repeat(piece: _Piece, token: re.Match[str], pattern: str) -> None:
    least, most = _bounds(token)
    if piece.varies and (most is None or most >= _MANY):
        raise ValueError(
            f"regex({pattern!r}): {pattern[piece.begin : token.end()]} repeats what may itself fit in several ways, so that"
            " a text can be made on which it takes hours. Repeat a character, a set or a group of fixed length, such as"
            " [A-Z ]+ or (?:[0-9]{3},)+, or use text() or mentions()"
        )
    endless = most is None or most - least >= _MANY
    piece.loops = piece.loops * (most or 1) + endless
    piece.varies |= least != most
    piece.first = piece.first if least else ""


def _bounds(token: re.Match[str]) -> tuple[int, int | None]:
    """How often at least and at most; None is without end."""
    if token["times"] in ("*", "+", "?"):
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[token["times"]]
    least = int(token["least"] or 0)
    return least, (least if not token["comma"] else int(token["most"]) if token["most"] else None)
