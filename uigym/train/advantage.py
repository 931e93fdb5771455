"""Advantages of the members of a group and of their steps, and which groups and members count.

Shape letters: G members of a group, S steps of one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from uigym.types import Episode

TOLERANCE = 1e-6
"""Rewards closer than this are equal."""


def group_advantages(
    rewards_G: Sequence[float | None],
    *,
    normalise: bool = False,
    leave_one_out: bool = False,
    floor: float = 1e-3,
) -> np.ndarray:
    """Advantage of each episode relative to its group.

    Members without a reward (their episode was lost to the machinery) get 0 and do not vote in the baseline.

    Args:
        rewards_G: Rewards in [0, 1]; None for an episode without a verdict.
        normalise: Divide by the standard deviation of the group, the member itself included.
        leave_one_out: Compare each member with the mean of the others, without itself.
        floor: Least standard deviation to divide by, so that rounding residue does not explode.

    Returns:
        float64 [G]; all zeros where fewer than two members have a reward, or where all have the same.

    Raises:
        ValueError: A reward is outside [0, 1] or not a number.

    Example:
        >>> group_advantages([1.0, 0.0, None]).tolist()
        [0.5, -0.5, 0.0]

    Source: group-relative advantage of GRPO (Shao et al., 2024); mean only by default (Dr. GRPO, Liu et al., 2025);
    leave-one-out (RLOO, Ahmadian et al., 2024).
    """
    valid = np.array([r is not None for r in rewards_G], dtype=bool)
    values = np.array([0.0 if r is None else r for r in rewards_G], dtype=np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError(f"rewards must be in [0, 1], not {list(rewards_G)}")
    out = np.zeros(len(values))
    if disagree(rewards_G):
        out[valid] = _relative(values[valid], normalise=normalise, floor=floor)
        if leave_one_out:
            out *= valid.sum() / (valid.sum() - 1)
    return out


@dataclass(frozen=True, slots=True)
class Credit:
    """How an episode's advantage and that of its steps make one.

    Source: GiGPO (Feng et al., 2025).
    """

    normalise: bool = False
    """Divide advantages by the standard deviation of what is compared."""
    leave_one_out: bool = False
    """Compare an episode with the others of its group, without itself."""
    step_weight: float = 0.0
    """Of a step's advantage over steps that began in the same state, beside the episode's; 0 leaves it out."""
    discount: float = 0.95
    """Of the reward, for each step that comes before it; in (0, 1]."""
    floor: float = 1e-3
    """Least standard deviation to divide by."""


def credits(
    rewards_G: Sequence[float | None], states_G: Sequence[Sequence[Hashable]], credit: Credit = Credit()
) -> list[np.ndarray]:
    """The advantage of each step of each member of a group.

    Args:
        rewards_G: Rewards in [0, 1]; None for an episode without a verdict.
        states_G: Of each member: what says in which state each of its steps began, such as a hash of the picture or of the
            product's state. Only compared for equality.
        credit: How.

    Returns:
        float64 [S] a member, all zeros for one without a reward.

    Raises:
        ValueError: Not one sequence of states a member, or what `group_advantages` raises.

    Example:
        >>> [c.tolist() for c in credits([1.0, 0.0], [["home", "cart"], ["home"]])]
        [[0.5, 0.5], [-0.5]]
    """
    if len(rewards_G) != len(states_G):
        raise ValueError(f"{len(rewards_G)} rewards with the states of {len(states_G)} members")
    whole_G = group_advantages(
        rewards_G, normalise=credit.normalise, leave_one_out=credit.leave_one_out, floor=credit.floor
    )
    out = [np.full(len(states), whole) for whole, states in zip(whole_G, states_G, strict=True)]
    if credit.step_weight:
        for own_S, step_S in zip(out, step_advantages(rewards_G, states_G, credit), strict=True):
            own_S += credit.step_weight * step_S
    return out


def step_advantages(
    rewards_G: Sequence[float | None], states_G: Sequence[Sequence[Hashable]], credit: Credit = Credit()
) -> list[np.ndarray]:
    """Advantage of each step over the steps of the group that began in the same state, whichever member took them.

    What a step is worth is the episode's reward, discounted by the steps that still came after it.

    Returns:
        float64 [S] a member; 0 for a step whose state no other step shares, or whose member has no reward.
    """
    out = [np.zeros(len(states)) for states in states_G]
    places: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for member, (reward, states) in enumerate(zip(rewards_G, states_G, strict=True)):
        for step, state in enumerate(states if reward is not None else ()):
            places[state].append((member, step))
    for shared in places.values():
        worth = [_worth(rewards_G[m], len(states_G[m]) - 1 - s, credit.discount) for m, s in shared]
        if max(worth) - min(worth) > TOLERANCE:
            found = _relative(np.array(worth), normalise=credit.normalise, floor=credit.floor)
            for (member, step), advantage in zip(shared, found, strict=True):
                out[member][step] = advantage
    return out


def rewards(group: Sequence[Episode]) -> list[float | None]:
    """The rewards of a group's episodes; None where the machinery lost the episode."""
    return [episode.reward for episode in group]


def disagree(rewards_G: Sequence[float | None]) -> bool:
    """True if the rewards can teach: there are at least two, and not all are the same."""
    found = [r for r in rewards_G if r is not None]
    return len(found) >= 2 and max(found) - min(found) > TOLERANCE


def informative(group: Sequence[Episode]) -> bool:
    """True if the group can teach: at least two members have a verdict, and not all the same reward."""
    return disagree(rewards(group))


def _relative(values: np.ndarray, *, normalise: bool, floor: float) -> np.ndarray:
    centred: np.ndarray = values - values.mean()
    return centred / max(float(values.std()), floor) if normalise else centred


def _worth(reward: float | None, later: int, discount: float) -> float:
    return float(reward or 0.0) * discount**later
