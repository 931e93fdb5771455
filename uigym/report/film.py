"""An episode as a strip of pictures: what the policy saw, and what it did there."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from uigym.types import (
    Action,
    Answer,
    Click,
    Done,
    Drag,
    Episode,
    Event,
    HoldKey,
    Invalid,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    StepRecord,
    Type,
    Wait,
    action_to_json,
)

MAX_FRAMES = 24


@dataclass(frozen=True, slots=True)
class Clip:
    """An episode with its pictures."""

    title: str
    """What the reader should know it by: "before", "after"."""
    episode: Episode
    images: Mapping[str, bytes]
    """PNG by sha256, hex."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a strip, ready for the page."""

    number: int
    """Of the step, from 1; 0 for the picture after the last step."""
    picture: str
    """Data URI."""
    width: int
    """CSS px."""
    height: int
    """CSS px."""
    marks: Markup
    """What the action did with the pointer, as SVG over the picture."""
    caption: str
    note: str = ""
    """Why the action was refused, or what happened beside the page."""


def frames(clip: Clip) -> list[Frame]:
    """The strip of an episode; steps beyond MAX_FRAMES are left out, and pictures that were not kept too."""
    strip = []
    scale = clip.episode.scale
    for number, step in enumerate(clip.episode.steps[:MAX_FRAMES], 1):
        if png := clip.images.get(step.image):
            width, height = _css_size(png, scale)
            note = step.error or ", ".join(told(event) for event in step.events)
            strip.append(
                Frame(number, data_uri(png), width, height, marks(step.action, width, height), caption(step), note)
            )
    last = clip.images.get(clip.episode.final_image)
    if last and len(clip.episode.steps) <= MAX_FRAMES:
        width, height = _css_size(last, scale)
        strip.append(Frame(0, data_uri(last), width, height, Markup(""), f"end: {clip.episode.stop.replace('_', ' ')}"))
    return strip


def told(event: Event) -> str:
    """What happened beside the page.

    Example:
        >>> told(Event("dialog", "Delete?", "confirm")), told(Event("tab", "", "closed"))
        ('dialog (confirm): Delete?', 'tab (closed)')
    """
    kind = f"{event.kind} ({event.type})" if event.type else event.kind
    return f"{kind}: {event.text}" if event.text else kind


def _css_size(png: bytes, scale: float) -> tuple[int, int]:
    width, height = png_size(png)
    return round(width / scale), round(height / scale)


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height in px, from the header."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def data_uri(picture: bytes, kind: str = "png") -> str:
    """The picture as text that a page can hold."""
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def caption(step: StepRecord) -> str:
    """The action in words.

    Example:
        >>> caption(StepRecord("", Click(12.0, 40.5)))
        'click at 12, 40'
    """
    match step.action:
        case Click(x, y, button, count, modifiers):
            how = [*modifiers, *([button] if button != "left" else []), {1: "", 2: "double"}.get(count, "triple")]
            return " ".join([*(word for word in how if word), f"click at {x:.0f}, {y:.0f}"])
        case Drag(path):
            return f"drag from {path[0][0]:.0f}, {path[0][1]:.0f} to {path[-1][0]:.0f}, {path[-1][1]:.0f}"
        case Move(x, y) | MouseDown(x, y) | MouseUp(x, y):
            name = {Move: "move to", MouseDown: "press at", MouseUp: "release at"}[type(step.action)]
            return f"{name} {x:.0f}, {y:.0f}"
        case Scroll(_, _, dx, dy):
            return f"scroll by {dx:.0f}, {dy:.0f}"
        case _:
            return _spoken(step.action)


def _spoken(action: Action) -> str:
    match action:
        case Type(text):
            return f"type “{text}”"
        case Key(chord):
            return f"press {chord}"
        case HoldKey(chord, seconds):
            return f"hold {chord} for {seconds:g} s"
        case Wait(seconds):
            return f"wait {seconds:g} s"
        case Answer(text):
            return f"answer “{text}”"
        case Done():
            return "say: done"
        case Invalid(text):
            return f"no action: “{text}”"
        case _:
            fields = action_to_json(action)
            return " ".join(str(value) for value in fields.values())


def marks(action: Action, width: int, height: int) -> Markup:
    """Rings and paths where the pointer acted, as an SVG of the picture's size."""
    match action:
        case Click(x, y) | MouseDown(x, y) | MouseUp(x, y) | Move(x, y):
            inner = _ring(x, y, width)
        case Drag(path):
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
            inner = f'<polyline points="{points}"/>{_ring(*path[0], width)}{_ring(*path[-1], width)}'
        case Scroll(x, y, dx, dy):
            reach = 0.18 * height
            towards = (
                x + (reach if dx > 0 else -reach if dx < 0 else 0),
                y + (reach if dy > 0 else -reach if dy < 0 else 0),
            )
            inner = f'<polyline points="{x:.1f},{y:.1f} {towards[0]:.1f},{towards[1]:.1f}"/>{_ring(x, y, width)}'
        case _:
            return Markup("")
    return Markup(f'<svg class="marks" viewBox="0 0 {escape(width)} {escape(height)}" aria-hidden="true">{inner}</svg>')


def _ring(x: float, y: float, width: int) -> str:
    size = max(width / 20, 12)
    return (
        f'<circle class="halo" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>'
        f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>'
        f'<circle class="core" cx="{x:.1f}" cy="{y:.1f}" r="{size / 6:.1f}"/>'
    )
