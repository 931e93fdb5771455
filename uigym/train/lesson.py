"""What an update learns from: the windows of complete groups, with an advantage for each of their replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from uigym.train.advantage import group_advantages
from uigym.train.groups import Group, turns
from uigym.train.windows import Window, windows


@dataclass(frozen=True, slots=True)
class Lesson:
    """Rows of an update."""

    windows: Sequence[Window]
    """Exactly as they were sampled."""
    advantages: Sequence[Sequence[float]]
    """For each window one for each of its replies."""
    pngs: Mapping[str, bytes]
    """The windows' pictures by hash."""
    trajectories: int
    """Episodes with a verdict in groups that teach: what a sum over tokens is set against."""

    @property
    def tokens(self) -> int:
        """Reply tokens."""
        return sum(len(window.logprobs) for window in self.windows)


Credit = Callable[[Group], Sequence[Sequence[float]]]
"""Advantages of a group: for each of its members one for each step."""


def by_reward(group: Group) -> list[list[float]]:
    """Every step of a member gets the member's advantage over its group."""
    advantages = group_advantages(group.rewards)
    return [[float(a)] * len(member.samples) for a, member in zip(advantages, group.members, strict=True)]


def lesson(groups: Sequence[Group], credit: Credit = by_reward) -> Lesson:
    """What the groups that teach do teach: all windows of their members.

    One whose replies have no advantage counts too: the loss's mean is over it, and so is the distance from a reference.

    Args:
        groups: Complete ones.
        credit: Who gets how much of it.
    """
    teaching = [group for group in groups if group.informative]
    chosen: list[Window] = []
    advantages: list[list[float]] = []
    pngs: dict[str, bytes] = {}
    for group in teaching:
        for member, steps in zip(group.members, credit(group), strict=True):
            # A step that a script took, or that carried out more of an earlier reply, has no tokens.
            own = [a for a, sample in zip(steps, member.samples, strict=True) if sample is not None]
            for window in windows(list(turns(member))):
                told = own[window.first : window.first + len(window.replies)]
                chosen.append(window)
                advantages.append(told)
                pngs.update({picture.hash: member.images[picture.hash] for picture in window.pictures})
    return Lesson(chosen, advantages, pngs, sum(len(group.done) for group in teaching))
