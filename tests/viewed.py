"""Runs to look at: every kind of action and end, hostile text, side effects, flaky seeds, demonstrations, damage."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from uigym.state import State
from uigym.store import RunStore
from uigym.types import (
    Action,
    Answer,
    Cause,
    Click,
    Done,
    Download,
    Drag,
    Episode,
    Event,
    Exchange,
    Failure,
    Invalid,
    Key,
    Part,
    Refusal,
    Scroll,
    StepRecord,
    Stop,
    Type,
    Verdict,
)

HOSTILE = """<img src=x onerror="document.title='owned'"><script>alert(1)</script>'"&{{7*7}}</template></script>"""
"""Text that would do something on a page that does not escape it."""
ACTIONS: Sequence[Action] = (
    Click(400, 200, count=2, modifiers=("Control",)), Type("Quarterly figures"), Key("Control+Enter"), Drag(((100, 100), (300, 180), (500, 400))),
    Scroll(640, 400, dy=300), Click(9000, -5), Invalid("click the thing", "no action was found"), Done(),
)  # fmt: skip
GOOD = Verdict(1.0, True, (Part("changed rows 2", 1.0), Part("unchanged", 1.0)))
EFFECT = 'rows id=3: status "open" -> "done"'
BAD = Verdict(
    0.25, False,
    (Part("changed rows 2", 0.25, 'expected rows id=2 to have status="done", found "open"'), Part("unchanged", 0.0, f"expected nothing else to change, found: {EFFECT}", 2.0)),
    'expected rows id=2 to have status="done", found "open"', (EFFECT,),
)  # fmt: skip
BEFORE = State(
    {"rows": tuple({"id": n, "title": f"Row {n}", "status": "open"} for n in (1, 2, 3)), "log": ()}, {"rows": ("id",)}
)


def after(*done: int) -> State:
    """The state in which these rows are done, and something was logged."""
    rows = tuple({**row, "status": "done"} if row["id"] in done else row for row in BEFORE.tables["rows"])
    return State({"rows": rows, "log": ({"id": 1, "text": HOSTILE},)}, BEFORE.keys)


def screen(text: str, size: tuple[int, int] = (1280, 800)) -> bytes:
    """A picture with words on it."""
    image = Image.new("RGB", size, "#f4f1ea")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, size[0], 50), fill="#20443a")
    draw.text((20, 18), text, fill="white")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def add(
    store: RunStore, task: str, seed: int, policy: str, actions: Sequence[Action] = ACTIONS, **more: Any
) -> Episode:
    """Write an episode; its id is of task, seed, policy and what is in `more` as `member`."""
    member = more.pop("member", 0)
    pngs = [screen(f"{task} {seed} {policy} {at}") for at in range(len(actions) + 1)]
    names = [hashlib.sha256(png).hexdigest() for png in pngs]
    error = more.pop("error", "that is outside the viewport")
    steps = [
        StepRecord(
            name, action, text=more.get("text", "I see the row."), latency_ms=40.0 + at, settled=at != 4,
            error=error if isinstance(action, Invalid) or action == Click(9000, -5) else None,
            events=(Event("dialog", "Really?", "confirm"),) if isinstance(action, Key) else (),
        )
        for at, (name, action) in enumerate(zip(names, actions, strict=False))
    ]  # fmt: skip
    more.pop("text", None)
    values: dict[str, Any] = {
        "instruction": f"Set row {seed} to done.", "stop": Stop.DONE, "verdict": GOOD, "before": BEFORE, "after": after(2),
        "wall_s": 1.5, "appearance": {"theme": "plum"}, **more,
    }  # fmt: skip
    episode = Episode(
        id=f"gym-{task}-{seed}-{policy}-{member}", harness="gym", task=task, seed=seed, params={"row": seed}, steps=tuple(steps),
        final_image=names[-1], policy=policy, **values,
    )  # fmt: skip
    store.write(episode, dict(zip(names, pngs, strict=True)))
    return episode


def write_runs(folder: Path) -> Path:
    """A folder with the runs "good" and "bad/mixed"."""
    good = RunStore(folder / "good")
    for seed in (1, 2):
        add(good, "edit", seed, "oracle")
    add(good, "find", 1, "oracle", (Answer("42"),), stop=Stop.ANSWERED, answer="42")
    demo = {
        "schema": 1, "by": "person", "way": "web", "width": 1280, "height": 800, "scale": 1.0, "source": "", "notes": {"withheld": "a password"},
        "proofs": [{"same_state": True, "passes": True, "idle_fails": True, "diverged_at": None, "reason": "", "product_version": "1.2", "at": "2026-12-01T00:00:00Z"}],
    }  # fmt: skip
    (folder / "good" / "episodes" / "gym-edit-1-oracle-0" / "demo.json").write_text(json.dumps(demo))
    mixed = RunStore(folder / "bad" / "mixed")
    add(mixed, "edit", 1, "model", verdict=BAD, after=after(3), network=(Exchange("POST", "http://127.0.0.1/rows?q=1", 500, HOSTILE, 2, "fetch"),), watched=("network",))  # fmt: skip
    add(mixed, "edit", 1, "model", member=1, attempt=1)
    add(mixed, "edit", 2, "model", verdict=None, stop=Stop.ERROR, failure=Failure(Cause.BROWSER, f"the page crashed {HOSTILE}"))  # fmt: skip
    refused = (Refusal(f"https://cdn.example/{HOSTILE}", HOSTILE, "origin", 1),)
    episode = Episode(
        id="gym-evil-7", harness="gym", task=f"evil{HOSTILE}", seed=7, params={HOSTILE: HOSTILE}, policy=HOSTILE, stop=Stop.ANSWERED, answer=HOSTILE,
        instruction=HOSTILE, url=HOSTILE, final_image=mixed.put_image(screen("evil")), refusals=refused, appearance={HOSTILE: HOSTILE},
        steps=tuple(StepRecord(mixed.put_image(screen(f"evil {at}")), action, HOSTILE, HOSTILE, (Event("dialog", HOSTILE, HOSTILE),)) for at, action in enumerate((Type(HOSTILE), Invalid(HOSTILE, HOSTILE)))),
        verdict=Verdict(0.0, False, (Part(HOSTILE, 0.0, f"expected {HOSTILE}, found {HOSTILE}"),), HOSTILE, (HOSTILE,)),
        downloads=(Download.of(f"{HOSTILE}.csv", b"a,b\n"),), before=BEFORE, after=after(),
    )  # fmt: skip
    mixed.write(episode, {})
    return folder
