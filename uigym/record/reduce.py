"""From what a hand does to actions: presses become clicks or drags, keys become text, turns of the wheel one scroll.

An action begins with the first movement of the pointer that leads to it, so that its picture shows nothing of where
the hand goes. Movements that no action needs are part of the next one. Where the pointer rested and the page changed,
a hover may have been meant: such a `Move` is kept aside, and whoever asks for the actions says whether it is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from uigym.record.events import MODIFIERS, Raw
from uigym.types import (
    Action,
    Back,
    Click,
    Dialog,
    Drag,
    Goto,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    SwitchTab,
    Type,
    Upload,
    Wait,
)

Point = tuple[float, float]
STILL_PX = 4.0
"""A press that moves no further is a click."""
AGAIN_S = 0.5
"""Within so long after the last, a press at the same place is its second."""
BURST_S = 0.4
"""Turns of the wheel with shorter breaks are one scroll."""
HELD_S = 1.0
"""A button that is held still for longer is held on purpose."""
MAX_TYPED = 4_000
MAX_POINTS = 200
_WAIT_S = 5.0  # the most that one Wait is
_LATE_S = 0.8  # what a page does by itself sooner than that needs no Wait
_NO_TEXT = {"Alt", "Control", "Meta"}


@dataclass(frozen=True, slots=True)
class Act:
    """An action with the events that it was read from."""

    action: Action
    begin: int
    """Number of the first event that belongs to it, from 0."""
    end: int
    """One past the last."""
    at: float
    """Seconds since the demonstration began: its first press, key or turn."""
    until: float
    withheld: bool = False
    """Its text went into a password field."""
    idle: bool = False
    """A wait for what the page does by itself: no event belongs to it."""
    hover: bool = False
    """A movement after which the page changed, and perhaps no more than that."""


@dataclass
class _Press:
    """A button that is down."""

    down: Raw
    begin: int
    """Number of the first event that leads to it."""
    number: int
    """Of its own event."""
    path: list[Point]
    split: bool = False
    """Something else was done meanwhile, so that it is no click and no drag."""

    @property
    def moved(self) -> bool:
        return any(math.dist(self.path[0], point) > STILL_PX for point in self.path)


class Reducer:
    """Takes events one by one; `acts` is what they come to so far."""

    def __init__(self) -> None:
        self.raws: list[Raw] = []
        self._acts: list[Act] = []
        self._press: _Press | None = None
        self._approach: int | None = None  # the first movement since the last act
        self._pointer: Point = (0.0, 0.0)
        self._late: float | None = None
        self._open = False  # whether the last act may still grow

    def acts(self, hovers: int = 0) -> tuple[Act, ...]:
        """The actions; before each, so many of the last movements that may be needed, with the waits that go with them."""
        found: list[Act] = []
        aside: list[Act] = []
        for act in self._acts:
            if act.hover:
                aside.append(act)
                continue
            found += _from_the_first([*_last(aside, hovers), act], aside)
            aside = []
        return (*found, *_last(aside, hovers))

    @property
    def busy(self) -> bool:
        """Whether a button is down."""
        return self._press is not None

    @property
    def pressed(self) -> int:
        """The how-manieth press at its place the button that is down was."""
        return self.count(self._press.down) if self._press is not None else 1

    def joins(self, raw: Raw) -> bool:
        """Whether an event goes on with what was done last, so that no picture is due before it."""
        if self._press is not None or raw.kind in ("up", "keyup"):
            return True
        last = self.raws[-1].kind if self.raws else ""
        if raw.kind in ("move", "down", "wheel") and last == "move":
            return True
        if raw.kind == "down":
            return self.count(raw) > 1
        if raw.kind == "wheel":
            return self._turns_on(raw) is not None
        if raw.kind == "keydown" and (raw.repeat or raw.key in MODIFIERS):
            return True
        return bool(_typed(raw) or raw.kind == "compose") and self._types_on(raw) is not None

    def count(self, raw: Raw) -> int:
        """The how-manieth press at its place this is, 1 to 3."""
        last = self._acts[-1] if self._acts and self._open else None
        if last is None or not isinstance(last.action, Click) or last.action.count > 2:
            return 1
        click = last.action
        near = math.dist((click.x, click.y), (raw.x, raw.y)) <= STILL_PX
        same = (click.button, click.modifiers) == (raw.button, raw.modifiers)
        return click.count + 1 if near and same and raw.at - last.until <= AGAIN_S else 1

    def feed(self, raw: Raw) -> None:
        """Take the next event."""
        self.raws.append(raw)
        match raw.kind:
            case "move":
                self._move(raw)
            case "down":
                self._down(raw)
            case "up":
                self._up(raw)
            case "wheel":
                self._wheel(raw)
            case "compose" if self._approach is None:
                self._approach = len(self.raws) - 1
            case "keyup" | "compose":
                return
            case _ if text := _typed(raw):
                self._type(raw, text)
            case _:
                self._act(raw)

    def rested(self) -> None:
        """The pointer rests, and the page has changed since the last act: a hover may have been meant."""
        if self._approach is None or self._press is not None:
            return
        number, at = len(self.raws), self.raws[-1].at
        before = self._acts[-1].until if self._acts else 0.0
        begin = self._approach
        self._wait(max(at - before, 0.0), begin, hover=True)
        self._acts.append(Act(Move(*self._pointer), begin, number, at, at, hover=True))
        self._approach, self._open = None, False

    def changed_late(self, at: float) -> None:
        """The page has changed by itself at this time, while nobody did anything."""
        self._late = at

    def finish(self) -> None:
        """Nothing comes any more: a wait that was for what the page does last is kept, an unfinished press is not."""
        self._press = None
        self._keep_waiting(len(self.raws))

    # --- the pointer ---------------------------------------------------------------------------------------

    def _move(self, raw: Raw) -> None:
        self._pointer = raw.x, raw.y
        if self._press is not None:
            self._press.path.append(self._pointer)
        elif self._approach is None:
            self._approach = len(self.raws) - 1

    def _down(self, raw: Raw) -> None:
        self._pointer = raw.x, raw.y
        self._split()
        begin = self._begin()
        self._press = _Press(raw, begin, len(self.raws) - 1, [self._pointer])

    def _up(self, raw: Raw) -> None:
        press, self._press = self._press, None
        if press is None:
            return
        press.path.append((raw.x, raw.y))
        down = press.down
        if press.split:
            self._add(MouseUp(raw.x, raw.y, down.button), len(self.raws) - 1, raw.at)
        elif press.moved:
            self._keep_waiting(press.begin)
            drag = Drag(thinned(press.path), down.button, down.modifiers)
            self._add(drag, press.begin, down.at, raw.at)
        elif raw.at - down.at > HELD_S:
            self._keep_waiting(press.begin)
            self._add(MouseDown(down.x, down.y, down.button), press.begin, down.at)
            self._add(Wait(round(min(raw.at - down.at, _WAIT_S), 1)), press.number + 1, down.at)
            self._add(MouseUp(down.x, down.y, down.button), len(self.raws) - 1, raw.at)
        else:
            self._click(press, raw.at)

    def _click(self, press: _Press, until: float) -> None:
        down = press.down
        if (count := self.count(down)) > 1:
            last = self._acts[-1]
            assert isinstance(last.action, Click)
            self._acts[-1] = replace(last, action=replace(last.action, count=count), end=len(self.raws), until=until)
            return
        self._keep_waiting(press.begin)
        self._add(Click(down.x, down.y, down.button, 1, down.modifiers), press.begin, down.at, until)
        self._open = True

    def _split(self) -> None:
        """Something is done while a button is down: it goes down by itself, and comes up by itself."""
        press = self._press
        if press is None or press.split:
            return
        press.split = True
        down = press.down
        self._keep_waiting(press.begin)
        self._add(MouseDown(down.x, down.y, down.button), press.begin, down.at)
        if press.moved:
            self._add(Move(*press.path[-1]), press.number + 1, down.at)

    def _wheel(self, raw: Raw) -> None:
        self._split()
        turn = self._turns_on(raw)
        if turn is not None:
            dx, dy = turn.dx + raw.dx, turn.dy + raw.dy
            last = self._acts[-1]
            grown = replace(turn, dx=dx, dy=dy)
            self._acts[-1] = replace(last, action=grown, end=len(self.raws), until=raw.at)
            return
        begin = self._begin()
        self._keep_waiting(begin)
        self._add(Scroll(raw.x, raw.y, raw.dx, raw.dy, raw.modifiers), begin, raw.at)
        self._open = True

    def _turns_on(self, raw: Raw) -> Scroll | None:
        """The scroll that a turn of the wheel goes on with; one that turns back does not, since a page has an end."""
        last = self._acts[-1] if self._acts and self._open else None
        if last is None or not isinstance(last.action, Scroll) or self._approach is not None:
            return None
        turn = last.action
        back = turn.dx * raw.dx < 0 or turn.dy * raw.dy < 0
        far = max(abs(turn.dx + raw.dx), abs(turn.dy + raw.dy)) > 10_000
        same = turn.modifiers == raw.modifiers and raw.at - last.until <= BURST_S
        return turn if same and not back and not far else None

    # --- the keyboard, and the rest ------------------------------------------------------------------------

    def _type(self, raw: Raw, text: str) -> None:
        self._split()
        typing = self._types_on(raw)
        if typing is not None:
            self._approach = None  # a hand that comes upon the mouse while it types
            last, grown = self._acts[-1], Type(typing.text + text)
            self._acts[-1] = replace(last, action=grown, end=len(self.raws), until=raw.at)
            return
        begin = self._begin()
        self._keep_waiting(begin)
        self._add(Type(text), begin, raw.at, withheld=raw.withheld)
        self._open = True

    def _types_on(self, raw: Raw) -> Type | None:
        """The typing that an event goes on with."""
        last = self._acts[-1] if self._acts and self._open else None
        if last is None or not isinstance(last.action, Type):
            return None
        fits = len(last.action.text) + max(len(raw.text), 1) <= MAX_TYPED
        return last.action if fits and last.withheld == raw.withheld else None

    def _act(self, raw: Raw) -> None:
        action = _whole(raw)
        if action is None:
            return
        self._split()
        begin = self._begin()
        self._keep_waiting(begin)
        self._add(action, begin, raw.at, withheld=raw.withheld)

    def _begin(self) -> int:
        """Number of the event that the next act begins with."""
        begin, self._approach = self._approach, None
        return len(self.raws) - 1 if begin is None else begin

    def _add(
        self, action: Action, begin: int, at: float, until: float | None = None, *, withheld: bool = False
    ) -> None:
        self._open = False
        self._acts.append(Act(action, begin, len(self.raws), at, at if until is None else until, withheld))

    def _keep_waiting(self, begin: int) -> None:
        """The page did something by itself before this act: a policy would have to wait for it, too."""
        late, self._late = self._late, None
        if late is not None:
            self._wait(late - (self._acts[-1].until if self._acts else 0.0), begin)

    def _wait(self, seconds: float, begin: int, hover: bool = False) -> None:
        left = math.ceil(seconds * 2) / 2
        at = self._acts[-1].until if self._acts else 0.0
        while seconds >= _LATE_S and left > 0:
            self._acts.append(Act(Wait(min(left, _WAIT_S)), begin, begin, at, at, idle=True, hover=hover))
            left -= _WAIT_S


def _last(aside: Sequence[Act], moves: int) -> list[Act]:
    """So many of the last movements that were kept aside, each with the waits before it."""
    starts = [number for number, act in enumerate(aside) if isinstance(act.action, Move)]
    if not moves or not starts:
        return []
    first = max(starts[-moves - 1] + 1 if len(starts) > moves else 0, 0)
    return list(aside[first : starts[-1] + 1])


def _from_the_first(acts: list[Act], aside: Sequence[Act]) -> list[Act]:
    """The acts; the first of them begins with the movements that were left out before it."""
    if not aside:
        return acts
    return [replace(acts[0], begin=min(acts[0].begin, aside[0].begin)), *acts[1:]]


def _typed(raw: Raw) -> str:
    """What an event types; empty if it types nothing."""
    if raw.kind in ("text", "paste"):
        return raw.text
    if raw.kind == "keydown" and len(raw.key) == 1 and not _NO_TEXT & set(raw.modifiers):
        return raw.key
    return ""


def _whole(raw: Raw) -> Action | None:
    """The action that an event is by itself."""
    if raw.kind == "keydown":
        return None if raw.key in MODIFIERS else Key(chord(raw))
    return answer(raw)


def answer(raw: Raw) -> Action | None:
    """The action of an event that answers something beside the page, or is the browser's own; None for others."""
    match raw.kind:
        case "dialog":
            return Dialog(raw.accept, raw.text)
        case "upload":
            return Upload(raw.files[0] if len(raw.files) == 1 else raw.files)
        case "back":
            return Back()
        case "goto":
            return Goto(raw.text)
        case "tab":
            return SwitchTab(raw.index)
    return None


def chord(raw: Raw) -> str:
    """A key event's chord.

    Example:
        >>> chord(Raw("keydown", 0.0, key="a", modifiers=("Control",)))
        'Control+A'
    """
    key = "Space" if raw.key == " " else raw.key.upper() if len(raw.key) == 1 and raw.modifiers else raw.key
    held = [name for name in raw.modifiers if name != raw.key]
    return "+".join([*held, key])


def thinned(path: Sequence[Point], px: float = 1.0) -> tuple[Point, ...]:
    """A path with no more points than its shape needs: none left out lies further than `px` from what is kept."""
    points = [path[0], *(point for point, before in zip(path[1:], path, strict=False) if point != before)]
    if len(points) < 2:
        points = [path[0], path[-1]]
    kept = _shape(points, px)
    while len(kept) > MAX_POINTS:
        px *= 1.5
        kept = _shape(points, px)
    return tuple(kept)


def _shape(points: Sequence[Point], px: float) -> list[Point]:
    """Ramer, Douglas and Peucker's, without recursion."""
    keep = {0, len(points) - 1}
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        inner = range(first + 1, last)
        if not inner:
            continue
        far = max(inner, key=lambda i: _off(points[i], points[first], points[last]))
        if _off(points[far], points[first], points[last]) > px:
            keep.add(far)
            spans += [(first, far), (far, last)]
    return [points[i] for i in sorted(keep)]


def _off(point: Point, start: Point, end: Point) -> float:
    """How far a point lies from a straight stroke."""
    along = (end[0] - start[0], end[1] - start[1])
    length = math.hypot(*along)
    if not length:
        return math.dist(point, start)
    share = ((point[0] - start[0]) * along[0] + (point[1] - start[1]) * along[1]) / length**2
    share = min(max(share, 0.0), 1.0)
    return math.dist(point, (start[0] + share * along[0], start[1] + share * along[1]))
