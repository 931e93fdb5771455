"""One step as its page shows it, and the list of all steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uigym.report.film import caption, told
from uigym.types import Answer, StepRecord, Type, action_to_json
from uigym.viewer.marks import KINDS, mark
from uigym.viewer.reading import Recorded, States, step_of

CHUNK = 100
"""Rows of the list that are read at once."""
FRAMES = 120
"""Pictures of the film strip at most; of a longer episode, some of them."""
MOST_TEXT = 60_000
"""Characters of a policy's words, or of an action, that are shown."""
_AROUND = 61
"""Steps that are read to draw one: typed text is drawn where the pointer was before."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list of steps."""

    number: int
    """From 0."""
    kind: str
    """Name of its drawing."""
    words: str
    error: str
    events: tuple[str, ...]
    settled: bool
    ms: float
    """Of all phases that are known."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture, what was done there, and what came of it; the last one has a picture alone."""

    number: int
    """From 0; the number of steps for the picture after the last one."""
    total: int
    image: str
    after: str
    """The next picture; empty for the last."""
    width: int
    """CSS px; 0 if the picture is not there."""
    height: int
    row: Row | None
    mark: Mapping[str, Any] | None
    action: str
    """As JSON, for people."""
    text: str
    """The policy's own words."""
    typed: str
    """What was typed or answered, in full."""
    open: tuple[str, ...]
    phases: tuple[tuple[str, float], ...]
    """(name, ms)."""
    console: tuple[Mapping[str, Any], ...] = ()
    network: tuple[Mapping[str, Any], ...] = ()
    refusals: tuple[Mapping[str, Any], ...] = ()

    @property
    def same(self) -> bool:
        """Whether the next picture is this one."""
        return bool(self.after) and self.after == self.image


def rows(recorded: Recorded, begin: int = 0, count: int = CHUNK) -> list[Row]:
    """Some lines of the list."""
    chosen = recorded.steps[begin : begin + count]
    return [row(begin + at, step_of(record), list(phases(record))) for at, record in enumerate(chosen)]


def row(number: int, step: StepRecord, spent: Sequence[tuple[str, float]]) -> Row:
    """One line of the list."""
    words = caption(step)
    return Row(
        number=number,
        kind=KINDS[type(step.action)],
        words=words if len(words) <= 300 else f"{words[:300]}…",
        error=step.error or "",
        events=tuple(told(event)[:600] for event in step.events),
        settled=step.settled,
        ms=sum(ms for _, ms in spent),
    )


def scene(recorded: Recorded, number: int, states: States | None = None) -> Scene:
    """One step; a number beyond the last is the picture after it."""
    total = len(recorded.steps)
    number = max(0, min(number, total))
    image = recorded.image(number)
    width, height = recorded.size(image)
    beside = _beside(recorded, number, states)
    if number == total:
        return Scene(number, total, image, "", width, height, None, None, "", "", "", (), (), **beside)
    around = [step_of(record) for record in recorded.steps[max(0, number + 1 - _AROUND) : number + 1]]
    step, spent = around[-1], tuple(phases(recorded.steps[number]))
    return Scene(
        number=number,
        total=total,
        image=image,
        after=recorded.image(number + 1),
        width=width,
        height=height,
        row=row(number, step, spent),
        mark=mark(around),
        action=_cut(_json(action_to_json(step.action))),
        text=_cut(step.text),
        typed=_cut(step.action.text) if isinstance(step.action, Type | Answer) else "",
        open=step.open.words,
        phases=spent,
        **beside,
    )


def phases(record: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """How long each phase of a step took, in ms; of older records only the time from the action to the next picture."""
    found = record.get("phases")
    timed = found.items() if isinstance(found, dict) and found else [("act and settle", record.get("latency_ms"))]
    for name, ms in timed:
        if isinstance(ms, int | float) and ms > 0:
            yield str(name)[:40], float(ms)


def film(recorded: Recorded) -> list[tuple[int, str]]:
    """(number, hash) of the pictures of the film strip, the last one included."""
    every = [*range(len(recorded.steps)), len(recorded.steps)]
    if len(every) > FRAMES:
        every = [round(at * every[-1] / (FRAMES - 1)) for at in range(FRAMES)]
    return [(number, image) for number in every if (image := recorded.image(number))]


def troubles(recorded: Recorded) -> list[int]:
    """Numbers of the steps whose action was refused."""
    return [at for at, record in enumerate(recorded.steps) if record.get("error") is not None]


def _beside(recorded: Recorded, number: int, states: States | None) -> dict[str, Any]:
    """What happened beside the page while this action was the newest."""
    begun = number + 1
    manifest = recorded.manifest

    def own(records: Any) -> tuple[Mapping[str, Any], ...]:
        return tuple(each for each in records or () if isinstance(each, dict) and each.get("step") == begun)

    return {
        "console": own(manifest.get("console")),
        "refusals": own(manifest.get("refusals")),
        "network": own(states.network) if states else (),
    }


def _json(record: Mapping[str, Any]) -> str:
    """An action as a person would write it: whole numbers without a point, and nothing that is as usual."""
    usual = {"button": "left", "count": 1, "modifiers": (), "dx": 0.0}
    said = {name: value for name, value in record.items() if name not in usual or value != usual[name]}
    return json.dumps(_whole(said), ensure_ascii=False)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}… (cut: {len(text) - MOST_TEXT} more characters)"
