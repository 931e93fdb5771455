"""Run folders with demonstrations that nobody had to play."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from uigym.record import Demo, Proof, write_demo
from uigym.store import RunStore
from uigym.types import Action, Answer, Episode, StepRecord, Stop, Verdict

WIDTH, HEIGHT = 640, 400
PROVEN = Proof(same_state=True, passes=True, idle_fails=True)


def png(number: int, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """A picture unlike the others."""
    out = io.BytesIO()
    colour = (number * 37 % 256, number * 91 % 256, number // 256 % 256)
    Image.new("RGB", (width, height), colour).save(out, "PNG")
    return out.getvalue()


def put(store: RunStore, name: str, actions: Sequence[Action], scale: float = 1.0, **more: Any) -> Episode:
    """Store a demonstration with these actions, each before a picture of its own, and give its episode."""
    size = round(WIDTH * scale), round(HEIGHT * scale)
    start = int(hashlib.sha256(name.encode()).hexdigest()[:4], 16)
    pngs = [png(start + number, *size) for number in range(len(actions) + 1)]
    hashes = [hashlib.sha256(one).hexdigest() for one in pngs]
    last = actions[-1] if actions else None
    said = last.text if isinstance(last, Answer) else None
    kept = {"stop": Stop.ANSWERED if said is not None else Stop.DONE, "verdict": Verdict(1.0, True), **more}
    steps = tuple(StepRecord(hashes[number], action) for number, action in enumerate(actions))
    whole = {"seed": 1, "params": {}, "instruction": f"Do {name}.", "steps": steps, "answer": said, **kept}
    episode = Episode(name, "kiosk", "order", final_image=hashes[-1], scale=scale, **whole)
    store.write(episode, dict(zip(hashes, pngs, strict=True)))
    return episode


def prove(store: RunStore, name: str, *proofs: Proof, scale: float = 1.0) -> None:
    """Store the record that a person's demonstration has."""
    write_demo(store, name, Demo("Ada", "web", WIDTH, HEIGHT, scale, proofs=proofs))


def folder(where: Path, *demonstrations: Sequence[Action]) -> RunStore:
    """A run folder with these demonstrations, called d0, d1 and so on."""
    store = RunStore(where)
    for number, actions in enumerate(demonstrations):
        put(store, f"d{number}", actions)
    return store
