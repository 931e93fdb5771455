"""What a demonstration has beside its episode: who gave it, how, and the proof that it counts.

    RUN/episodes/ID/demo.json       this record
    RUN/episodes/ID/events.jsonl    what the person did, event by event, where a person did

A demonstration is an episode like any other, so that everything that reads runs reads demonstrations. It *counts*
once it was proven: its actions, played again from the same seed, end in the same state of the product, the verifier
passes, and doing nothing does not.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from uigym.errors import StoreError, attribute
from uigym.store import RunStore, digest

SCHEMA = 1
"""Of the record."""
Way = Literal["web", "window", "python", "import", "policy", "takeover"]


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of playing a demonstration again."""

    same_state: bool
    """The product's state at the end is the recorded one."""
    passes: bool
    """The verifier calls the replayed episode a success."""
    idle_fails: bool
    """The verifier calls an episode in which nothing is done no success."""
    diverged_at: int | None = None
    """First step, from 0, whose picture differs from the recorded one; the number of steps for the last picture;
    None if none does. Pictures alone break no demonstration."""
    reason: str = ""
    """Why it does not count: what was expected, what was found; empty if it does."""
    product_version: str = ""
    """Of the product that it was played on; empty if nobody said."""
    at: str = ""
    """When, ISO 8601 in UTC."""
    played: bool = True
    """Whether it was itself played again. If not, enough others of its task were, and all of them ended as recorded."""

    @property
    def counts(self) -> bool:
        """Whether the demonstration counts."""
        return self.same_state and self.passes and self.idle_fails


CHANGED = Proof(False, False, False, reason="the episode's files are not those that were proven: replay it")
"""What a proof of other files is worth."""


@dataclass(frozen=True, slots=True)
class Demo:
    """How a demonstration came to be, and its proofs, the newest last."""

    by: str
    """Who: a person's name or "person"; else the policy's."""
    way: Way
    """Through which door it was recorded."""
    width: int
    """Of the viewport, CSS px; actions are in CSS px."""
    height: int
    """Of the viewport, CSS px."""
    scale: float = 1.0
    """Pixels of the pictures per CSS px."""
    source: str = ""
    """Where an import came from: the format and the file's name."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What else is known, such as events that were withheld and why."""
    proofs: tuple[Proof, ...] = ()

    @property
    def proof(self) -> Proof | None:
        """The newest."""
        return self.proofs[-1] if self.proofs else None


def write_demo(store: RunStore, episode_id: str, demo: Demo) -> None:
    """Write the record beside its episode, in one piece.

    Raises:
        StoreError: The folder cannot be written.
    """
    path = _path(store, episode_id)
    with attribute(StoreError, f"cannot write {path}"):
        told = {"schema": SCHEMA, "of": digest(path.parent), **dataclasses.asdict(demo)}
        spare = path.with_name(f".{path.name}.{os.getpid()}")
        spare.write_text(json.dumps(told) + "\n", encoding="utf-8")
        spare.replace(path)


def read_demo(store: RunStore, episode_id: str) -> Demo | None:
    """The record beside an episode; None if it has none, as those that `uigym run` wrote.

    Proofs are of the episode as it was written: where its files are others by now, the newest one says so.

    Raises:
        StoreError: It is damaged, or of a newer version.
    """
    path = _path(store, episode_id)
    if not path.is_file():
        return None
    with attribute(StoreError, f"{path} is no record of a demonstration"):
        told = json.loads(path.read_text(encoding="utf-8"))
        if told.pop("schema") != SCHEMA:
            raise ValueError("another version of uigym wrote it")
        proofs, of = tuple(Proof(**proof) for proof in told["proofs"]), told.pop("of", None)
        if proofs and of not in (None, digest(path.parent)):
            proofs += (CHANGED,)
        return Demo(**{**told, "proofs": proofs})


def _path(store: RunStore, episode_id: str) -> Path:
    return store.directory / "episodes" / episode_id / "demo.json"
