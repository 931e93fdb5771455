"""A demonstration as it is given to a format: its episode, its record, its pictures, and which of them count."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from uigym.errors import StoreError
from uigym.policy.chat import told
from uigym.policy.codecs import Screen
from uigym.policy.codecs.screen import moved
from uigym.record import Demo, read_demo
from uigym.splits import Split
from uigym.store import RunStore
from uigym.types import Action, Episode, StepRecord

_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class Taken:
    """One step with what was known when it was taken."""

    index: int
    """From 0."""
    record: StepRecord
    screen: Screen
    """The viewport, the picture, and where the pointer was."""
    told: str
    """What was told in words beside the picture; empty if nothing."""

    @property
    def action(self) -> Action:
        """What was done."""
        return self.record.action


@dataclass(frozen=True, slots=True)
class Demonstration:
    """An episode that is to be written in another format."""

    store: RunStore
    episode: Episode
    demo: Demo | None
    """None for episodes that `uigym run` wrote."""
    screen: Screen
    """The viewport and its pictures; the pointer as before the first movement."""

    @classmethod
    def read(cls, store: RunStore, episode_id: str) -> Demonstration:
        """The demonstration of a run folder with this id.

        Raises:
            StoreError: It is not there, or a file of it is damaged.
        """
        episode = store.episode(episode_id)
        demo = read_demo(store, episode_id)
        first = episode.steps[0].image if episode.steps else episode.final_image
        seen = png_size(store.image(first))
        size = (demo.width, demo.height) if demo else (round(seen[0] / episode.scale), round(seen[1] / episode.scale))
        return cls(store, episode, demo, Screen(*size, seen))

    @property
    def id(self) -> str:
        """Of the episode."""
        return self.episode.id

    @property
    def task(self) -> str:
        """Harness and task: "kiosk/order"."""
        return f"{self.episode.harness}/{self.episode.task}"

    @property
    def split(self) -> Split:
        """That its seed belongs to."""
        return Split.of(self.episode.seed)

    def after(self, index: int) -> str:
        """Hash of the picture after a step; empty if there is none."""
        steps = self.episode.steps
        return steps[index + 1].image if index + 1 < len(steps) else self.episode.final_image

    def steps(self) -> Iterator[Taken]:
        """Every step, in order."""
        screen, said = self.screen, ""
        for index, record in enumerate(self.episode.steps):
            yield Taken(index, record, screen, said)
            if record.error is None:
                screen = moved(screen, record.action)
            said = told(record)

    def about(self) -> dict[str, Any]:
        """What every format carries beside the actions: where it comes from, its coordinate space and its worth."""
        verdict, demo = self.episode.verdict, self.demo
        proof = demo.proof if demo else None
        return {
            "id": self.id,
            "instruction": self.episode.instruction,
            "task": self.task,
            "seed": self.episode.seed,
            "split": str(self.split),
            "by": demo.by if demo else self.episode.policy,
            "way": demo.way if demo else "policy",
            "width": self.screen.width,
            "height": self.screen.height,
            "scale": self.episode.scale,
            "stop": str(self.episode.stop),
            "reward": verdict.score if verdict else None,
            "success": verdict.success if verdict else None,
            "counts": proof.counts if proof else None,
        }

    def refusal(self, *, everything: bool) -> str:
        """Why it is not to be written, without what differs from one to the next; empty if it is.

        Args:
            everything: Failures and what was never proven are written too. What the machinery lost never is, because
                a reader would take it for a failure.
        """
        if self.episode.verdict is None:
            return "lost to the machinery, so it has no verdict"
        if not self.episode.steps:
            return "has no step"
        if everything:
            return ""
        if not self.episode.verdict.success:
            return "not solved"
        if self.demo is None:
            return ""
        if self.demo.proof is None:
            return "never proven: replay it first"
        return "" if self.demo.proof.counts else "did not count when it was last replayed"


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG, px, from its first bytes.

    Raises:
        StoreError: It is no PNG.
    """
    if png[:8] != _PNG or len(png) < 24:
        raise StoreError("a stored picture is no PNG: its first bytes are not those of one")
    width, height = struct.unpack(">II", png[16:24])
    return width, height
