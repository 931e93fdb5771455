"""MiniWoB++: its pages from PyPI, started with the episode's seed and judged by the reward that they keep.

Each task is a page of its own. The page draws its problem, says in yellow what is wanted, and gives a reward once: its
harness seeds it, leaves out its clock, and reads the reward where the page keeps it, which no picture shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.staticfiles import StaticFiles

from uigym import Harness
from uigym.surroundings import Surroundings
from uigym.types import State


async def nothing(product: Any) -> State:
    """The product keeps no data: all that there is lies in the page."""
    return State({"pages": ({"id": "miniwob", "version": "1.0"},)})


async def as_it_is(product: Any, seed: int, appearance: Any) -> None:
    """Nothing is left behind that could be put back."""


def serve(workdir: Path, pip: str = "/tmp/mw/pip") -> StaticFiles:
    """The pages as they come in the package."""
    return StaticFiles(directory=Path(pip) / "miniwob" / "html")


MINIWOB = Harness(
    name="miniwob",
    asgi=serve,
    state=nothing,
    reset=as_it_is,
    ready="/core/core.js",
    home="/miniwob/click-test.html",
    viewport=(320, 240),
    surroundings=Surroundings(random_seed=0),
    init=Path(__file__).with_name("start.js").read_text(encoding="utf-8"),
    reads={
        "utterance": "core.getUtterance()",
        "done": "WOB_DONE_GLOBAL",
        "raw_reward": "WOB_RAW_REWARD_GLOBAL",
        "reason": "WOB_REWARD_REASON",
    },
    until="done",
)
