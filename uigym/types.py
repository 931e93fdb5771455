"""The records that everything else speaks in: actions, observations, episodes, verdicts.

Frozen and without behaviour beyond checking and (de)serialising themselves. Coordinates are CSS pixels of the
viewport with the origin at the top left, everywhere; times are seconds unless the name says otherwise.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from uigym.beside import NOTHING_OPEN as NOTHING_OPEN
from uigym.beside import Download as Download
from uigym.beside import Event as Event
from uigym.beside import Open as Open
from uigym.beside import open_from_json as open_from_json
from uigym.state import Row as Row
from uigym.state import State as State
from uigym.state import state_from_json as state_from_json
from uigym.state import state_to_json as state_to_json
from uigym.watched import Complaint as Complaint
from uigym.watched import Exchange as Exchange
from uigym.watched import Node as Node
from uigym.watched import PageView as PageView
from uigym.watched import Refusal as Refusal

Button: TypeAlias = Literal["left", "middle", "right"]
Modifier: TypeAlias = Literal["Alt", "Control", "Meta", "Shift"]


# --- actions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Click:
    """Press and release a mouse button at a point; `count` 2 or 3 is a double or triple click."""

    x: float
    y: float
    button: Button = "left"
    count: int = 1
    modifiers: tuple[Modifier, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """Move the pointer without pressing."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Drag:
    """Press at the first point of the path, move through the others, release at the last."""

    path: tuple[tuple[float, float], ...]
    button: Button = "left"
    modifiers: tuple[Modifier, ...] = ()


@dataclass(frozen=True, slots=True)
class MouseDown:
    """Press a mouse button and keep it pressed."""

    x: float
    y: float
    button: Button = "left"


@dataclass(frozen=True, slots=True)
class MouseUp:
    """Release a mouse button."""

    x: float
    y: float
    button: Button = "left"


@dataclass(frozen=True, slots=True)
class Scroll:
    """Turn the wheel over a point; positive `dy` shows what is further down, in CSS px."""

    x: float
    y: float
    dx: float = 0.0
    dy: float = 0.0
    modifiers: tuple[Modifier, ...] = ()


@dataclass(frozen=True, slots=True)
class Type:
    """Type text into whatever has the focus."""

    text: str


@dataclass(frozen=True, slots=True)
class Key:
    """Press and release a key or a chord, such as "Enter" or "Control+A"."""

    chord: str


@dataclass(frozen=True, slots=True)
class HoldKey:
    """Hold a key or chord down for some seconds."""

    chord: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Let the page run for some seconds."""

    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """End the episode with an answer to the instruction's question."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """End the episode: the task is finished."""


@dataclass(frozen=True, slots=True)
class Goto:
    """Open a URL, where the harness grants it."""

    url: str


@dataclass(frozen=True, slots=True)
class Back:
    """Go back in the history, where the harness grants it."""


@dataclass(frozen=True, slots=True)
class SwitchTab:
    """Show another open tab, counted from 0 in the order of opening, where the harness grants it."""

    index: int


@dataclass(frozen=True, slots=True)
class Upload:
    """Answer an open file chooser with some of the episode's files, by name, where the harness grants it."""

    file: str | tuple[str, ...]
    """One name; or several, where the chooser takes several; or (), which cancels it."""


@dataclass(frozen=True, slots=True)
class Dialog:
    """Answer an open alert, confirm, prompt or beforeunload, where the harness grants it."""

    accept: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class Invalid:
    """What a policy said where no action could be read from it; refused with `reason`, never performed."""

    text: str
    reason: str


Action: TypeAlias = (
    Click | Move | Drag | MouseDown | MouseUp | Scroll | Type | Key | HoldKey | Wait | Answer | Done
    | Goto | Back | SwitchTab | Upload | Dialog | Invalid
)  # fmt: skip
GRANTED: tuple[type, ...] = (Goto, Back, SwitchTab, Upload, Dialog)
"""The members that only work where the harness grants them."""

_ACTIONS: dict[str, type] = {cls.__name__.lower(): cls for cls in get_args(Action)}


def action_to_json(action: Action) -> dict[str, Any]:
    """The action as a JSON object whose "action" names the member.

    Example:
        >>> action_to_json(Key("Enter"))
        {'action': 'key', 'chord': 'Enter'}
    """
    return {"action": type(action).__name__.lower(), **dataclasses.asdict(action)}


def action_from_json(record: Mapping[str, Any]) -> Action:
    """The inverse of `action_to_json`.

    Raises:
        ValueError: The object names no action, or has a field that the action does not have.
    """
    fields = {k: _as_tuples(v) for k, v in record.items() if k != "action"}
    name = record.get("action")
    cls = _ACTIONS.get(name) if isinstance(name, str) else None
    if cls is None:
        raise ValueError(f"no action {name!r}; expected one of {', '.join(sorted(_ACTIONS))}")
    try:
        return cls(**fields)
    except TypeError as exc:
        raise ValueError(f"a {name} action cannot have the fields {sorted(fields)}; {_expected(cls)}") from exc


def _expected(cls: type) -> str:
    """The fields of an action, in words."""
    own = dataclasses.fields(cls)
    needed = [each.name for each in own if each.default is dataclasses.MISSING]
    others = [each.name for each in own if each.name not in needed]
    told = [", ".join(needed)] if needed else []
    told += [f"if wanted {', '.join(others)}"] if others else []
    return f"expected {' and '.join(told) or 'none'}"


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(v) for v in value) if isinstance(value, list | tuple) else value


# --- what a policy sees ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Observation:
    """All that a policy may see: never the page's source, its address or the product's state."""

    png: bytes
    """Lossless screenshot of the viewport, `scale` times as wide and high."""
    width: int
    """Of the viewport, CSS px."""
    height: int
    """Of the viewport, CSS px."""
    instruction: str
    """What the agent is told to do."""
    pointer: tuple[float, float] | None = None
    """Where the mouse is, CSS px; None before the first movement."""
    error: str | None = None
    """Why the last action was refused; None if it was performed."""
    events: tuple[Event, ...] = ()
    """What happened during the last step beside the picture."""
    settled: bool = True
    """False if the page was still at work when the picture was taken."""
    open: Open = NOTHING_OPEN
    """What is open beside the picture, and how it is answered."""
    scale: float = 1.0
    """Pixels of the picture per CSS px."""

    @property
    def image_hash(self) -> str:
        """sha256 of the PNG, hex."""
        return hashlib.sha256(self.png).hexdigest()


class Step(NamedTuple):
    """What `Env.step` returns; unpacks as Gymnasium's five values."""

    observation: Observation
    reward: float
    """0 until the episode ends; then the verdict's score."""
    terminated: bool
    """The policy ended the episode by answering or by saying that it is done, or the page did."""
    truncated: bool
    """The gym ended the episode: step or time budget, or too many refused actions."""
    info: dict[str, Any]


# --- episodes ----------------------------------------------------------------------------------------------


class Stop(StrEnum):
    """Why an episode ended. Only `ERROR` goes without a verdict; `OVER` is what the page said (`Harness.until`)."""

    ANSWERED = "answered"
    DONE = "done"
    OVER = "over"
    MAX_STEPS = "max_steps"
    TIMEOUT = "timeout"
    INVALID_ACTIONS = "invalid_actions"
    ERROR = "error"


class Cause(StrEnum):
    """Whose fault it was that an episode has no verdict.

    A page that hangs or closes itself is the product's, if the browser can still show another.
    """

    PRODUCT = "product"
    BROWSER = "browser"
    POLICY = "policy"
    VERIFIER = "verifier"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True)
class Failure:
    """The one attributed error of an episode that has no verdict."""

    cause: Cause
    message: str


@dataclass(frozen=True, slots=True)
class Part:
    """One verifier's share in a verdict."""

    name: str
    score: float
    reason: str = ""
    weight: float = 1.0
    judged: bool = False
    """A language model had its say in it, so that no reward may rest on it alone."""

    def __post_init__(self) -> None:
        _need(self, "name", str)
        _need(self, "score", float, int)
        _need(self, "reason", str)
        _need(self, "weight", float, int)
        _need(self, "judged", bool)


def _need(record: Any, field_: str, *kinds: type) -> None:
    """Stored records are JSON: a field of another kind would be lost, or come back as something else."""
    value = getattr(record, field_)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{type(record).__name__}: {field_} must be {expected}, not {value!r:.200}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an episode is worth, and why."""

    score: float
    """In [0, 1]."""
    success: bool
    """The whole task was done and nothing else."""
    parts: tuple[Part, ...] = ()
    reason: str = ""
    """Empty on success; else what was expected, what was found and where."""
    side_effects: tuple[str, ...] = ()
    """Changes that the task did not ask for, by table and key."""

    def __post_init__(self) -> None:
        _need(self, "score", float, int)
        _need(self, "success", bool)
        _need(self, "parts", tuple)
        _need(self, "reason", str)
        _need(self, "side_effects", tuple)
        if not all(isinstance(p, Part) for p in self.parts) or not all(isinstance(e, str) for e in self.side_effects):
            raise TypeError(f"a verdict has a tuple of Parts and a tuple of texts, not {self.parts!r:.200}")
        if not (math.isfinite(self.score) and 0.0 <= self.score <= 1.0):
            raise ValueError(f"a verdict's score must be in [0, 1], not {self.score!r}")
        if self.success and self.score < 1.0:
            raise ValueError(f"a success has score 1, not {self.score!r}")


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of a stored episode: the picture the policy saw, what it did, what came of it."""

    image: str
    """sha256 of the PNG before the action, hex."""
    action: Action
    text: str = ""
    """The policy's own words; empty for scripted policies."""
    error: str | None = None
    """Why the action was refused."""
    events: tuple[Event, ...] = ()
    settled: bool = True
    latency_ms: float = 0.0
    """From the action to the next picture, settling included."""
    open: Open = NOTHING_OPEN
    """What was open beside the next picture."""
    phases: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Where its time went, ms: think (from the picture to the action), act, settle, capture, rest (of `latency_ms`);
    judge in an episode's last step. Empty where nobody measured it."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished episode: a verdict, or one attributed failure; never both, never neither."""

    id: str
    harness: str
    task: str
    seed: int
    params: Mapping[str, Any]
    instruction: str
    steps: tuple[StepRecord, ...]
    stop: Stop
    verdict: Verdict | None = None
    failure: Failure | None = None
    answer: str | None = None
    """What the policy answered; None unless `stop` is `answered`."""
    url: str = ""
    """Address of the page when the episode ended; for verifiers, never for policies."""
    before: State = field(default_factory=State)
    """The product's state when the episode began."""
    after: State = field(default_factory=State)
    """The product's state at the moment the episode ended."""
    downloads: tuple[Download, ...] = ()
    """The files that the product gave away, in the order of their beginnings; for verifiers, never for policies."""
    network: tuple[Exchange, ...] = ()
    """What its pages sent, in the order of sending, if the harness watches it; for verifiers, never for policies."""
    refusals: tuple[Refusal, ...] = ()
    """What its pages wanted to reach and were not let to, in that order."""
    console: tuple[Complaint, ...] = ()
    """What its pages complained of, in that order; for people, who look why something failed."""
    page: PageView | None = None
    """The page that was shown at the end, if the harness watches it; for verifiers, never for policies."""
    watched: tuple[str, ...] = ()
    """What was watched of "network", "page" and "storage": an empty `network` says something only if it is named here."""
    appearance: Mapping[str, str] = field(default_factory=dict)
    final_image: str = ""
    """sha256 of the last PNG, hex."""
    scale: float = 1.0
    """Pixels of the pictures per CSS px; actions are in CSS px."""
    group: str = ""
    """Episodes of one group share task, seed and initial state."""
    policy: str = ""
    wall_s: float = 0.0
    attempt: int = 0
    """How many times the machinery had failed before, 0 for the first try."""

    def __post_init__(self) -> None:
        if (self.stop is Stop.ERROR) != (self.failure is not None):
            raise ValueError(
                f"an episode has a failure exactly if it stopped by error (stop={self.stop}, failure={self.failure})"
            )
        if self.verdict is not None and self.failure is not None:
            raise ValueError("an episode cannot have both a verdict and a failure")

    @property
    def reward(self) -> float | None:
        """The verdict's score; None where there is no verdict."""
        return None if self.verdict is None else self.verdict.score


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy chose, with its own words and, if it is trainable, the tokens it was sampled with."""

    action: Action
    text: str = ""
    sample: Any = None
    """The policy's token record (`uigym.train.rows.Row`), opaque to everything but training."""


History: TypeAlias = Sequence[StepRecord]
