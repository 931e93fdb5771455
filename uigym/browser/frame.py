"""What a session says of its page: a picture with what came beside it, and where the page stands."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from PIL import Image

from uigym.types import NOTHING_OPEN, Event, Open


class Spent(NamedTuple):
    """Where a step's time went, ms of wall clock."""

    input_ms: float = 0.0
    """Until the page had handled the last event."""
    settle_ms: float = 0.0
    """Until what the events had caused was over."""
    capture_ms: float = 0.0
    """Until the picture was here."""

    def phases(self, think_ms: float, latency_ms: float) -> dict[str, float]:
        """The phases of a `StepRecord`; those that took no time are left out.

        Example:
            >>> Spent(10.0, 20.0, 30.0).phases(500.0, 62.5)
            {'think': 500.0, 'act': 10.0, 'settle': 20.0, 'capture': 30.0, 'rest': 2.5}
        """
        rest = round(latency_ms - sum(self), 3)
        named = {"think": think_ms, "act": self.input_ms, "settle": self.settle_ms, "capture": self.capture_ms}
        return {name: ms for name, ms in (*named.items(), ("rest", rest)) if ms > 0}


UNTIMED = Spent()


@cache
def blank(viewport: tuple[int, int], scale: float) -> bytes:
    """A white picture: what is there before the first page is drawn."""
    out = io.BytesIO()
    Image.new("RGB", (round(viewport[0] * scale), round(viewport[1] * scale)), "white").save(out, "PNG")
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class Frame:
    """What came of an action."""

    png: bytes
    """The viewport, lossless, at the surroundings' scale."""
    settled: bool
    """False if the page was still at work when the picture was taken."""
    events: tuple[Event, ...] = ()
    """What happened beside the page."""
    spent: Spent = UNTIMED
    open: Open = NOTHING_OPEN
    """What is open beside the page."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a page stands."""

    url: str
    """Address of the document; chrome-error: where none has come."""
    status: int
    """HTTP status of the document's answer; 0 where it is not known."""
    leaving: bool = False
    """Whether the page has asked for another document that has not come yet."""
    settled: bool = True
    """Whether the page was at rest in its last picture."""
    documents: int = 0
    """How many it has shown so far."""
    missing: str = ""
    """Address of the document that was asked for and did not come, while none is shown."""
