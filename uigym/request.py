"""What a rollout is asked for, and what it gives back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from uigym.env import Env
from uigym.types import Action, Episode


@dataclass(frozen=True, slots=True)
class Request:
    """One episode to run."""

    task: str
    """Name of the task, with or without the harness's name before it."""
    seed: int
    group: str = ""
    """Episodes of one group must begin in the same state; empty for an episode on its own."""
    member: int = 0
    """Which one of its group."""

    def id(self, harness: str) -> str:
        """The episode's id: a function of the request alone, and fit to be the name of a folder.

        Example:
            >>> Request("kiosk/order", 7, "g3", 1).id("kiosk")
            'kiosk-order-7-g3-1'
        """
        plain = f"{harness}-{self.task.removeprefix(f'{harness}/')}-{self.seed}-{self.group}-{self.member}"
        safe = re.sub(r"[^A-Za-z0-9_.-]", "_", plain)[:150]
        return safe if safe == plain else f"{safe}-{hashlib.sha256(plain.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Finished:
    """An episode that is over, with what training needs of it."""

    episode: Episode
    samples: tuple[Any, ...] = ()
    """`Decision.sample` of each step; None for policies that have none."""
    images: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    """PNG by hash: every picture of the episode."""


class Guest(Protocol):
    """A person who may take the policy's place in one slot (`Pool.guests`).

    What they have had a hand in is no episode of the policy's: it is given to `keep`, and the request is played again.
    """

    @property
    def present(self) -> bool:
        """Whether they act now."""

    async def act(self, env: Env) -> Action | None:
        """What they do next; None if they let go."""

    async def keep(self, env: Env) -> None:
        """Take the episode, which is over."""
