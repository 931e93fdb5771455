"""What the tests of the stream and of the loop over it share: a policy with tokens, and simulated environments."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from uigym.bench.simulated import Scene, SimulatedPool
from uigym.registry import load
from uigym.train.groups import Group, turns
from uigym.train.windows import Picture, Turn
from uigym.types import Decision, History, Observation, Wait

PAD = load(str(Path(__file__).parent / "gyms" / "pad.py"))
PNG = b"\x89PNG simulated"


class Speaks:
    """Says one token a step, with the version that it is told to have."""

    name = "speaks"

    def __init__(self, version: Callable[[], int] = lambda: 0):
        self.version = version

    async def act(self, observation: Observation, history: History) -> Decision:
        picture = Picture(observation.image_hash, observation.width, observation.height, 1)
        turn = Turn(not history, (7, len(history)), (picture,), (3,), (-0.5,), self.version())
        return Decision(Wait(0), "wait", turn)


class Tasks:
    """(task, seed) pairs without end, or so many; notes what it hears."""

    def __init__(self, count: int = 10**9):
        self.count, self.drawn = count, 0
        self.heard: list[tuple[str, float]] = []

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return self

    def __next__(self) -> tuple[str, int]:
        if self.drawn == self.count:
            raise StopIteration
        self.drawn += 1
        return "count", self.drawn - 1

    def hear(self, task: str, success: float) -> None:
        self.heard.append((task, success))

    def state(self) -> dict[str, Any]:
        return {"drawn": self.drawn, "heard": self.heard}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.drawn, self.heard = state["drawn"], [tuple(pair) for pair in state["heard"]]


def numbers(episode: str) -> tuple[int, int]:
    """Group and member of an episode's id."""
    group, member = episode.split("-")[-2:]
    return int(group.removeprefix("g")), int(member)


def mixed(episode: str, seed: int, attempt: int) -> Scene:
    """Every other member succeeds; lengths and times differ from episode to episode and not from run to run."""
    rng = random.Random(f"{episode}:{attempt}")
    steps = [rng.uniform(0, 0.004) for _ in range(rng.randint(1, 4))]
    return Scene(reset_s=rng.uniform(0, 0.004), steps_s=steps, score=float(numbers(episode)[1] % 2))


def simulated(scenes: Any = mixed, *, slots: int = 4, **options: Any) -> SimulatedPool:
    return SimulatedPool(PAD, scenes, PNG, slots=slots, **options)


def versions(group: Group) -> set[int]:
    return {turn.version for member in group.members for turn in turns(member)}
