"""Advantages of the members of a group, and which groups and members count.

Shape letters: G members of a group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uigym.types import Episode

TOLERANCE = 1e-6
"""Rewards closer than this are equal."""


def group_advantages(rewards_G: Sequence[float | None], *, normalise: bool = False, floor: float = 1e-3) -> np.ndarray:
    """Advantage of each episode relative to its group.

    Members without a reward (their episode was lost to the machinery) get 0 and do not vote in the baseline.

    Args:
        rewards_G: Rewards in [0, 1]; None for an episode without a verdict.
        normalise: Divide by the standard deviation of the group.
        floor: Least standard deviation to divide by, so that rounding residue does not explode.

    Returns:
        float64 [G]; all zeros where fewer than two members have a reward, or where all have the same.

    Raises:
        ValueError: A reward is outside [0, 1] or not a number.

    Example:
        >>> group_advantages([1.0, 0.0, None]).tolist()
        [0.5, -0.5, 0.0]

    Source: group-relative advantage of GRPO (Shao et al., 2024); mean only by default (Dr. GRPO, Liu et al., 2025).
    """
    valid = np.array([r is not None for r in rewards_G])
    values = np.array([0.0 if r is None else r for r in rewards_G], dtype=np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError(f"rewards must be in [0, 1], not {list(rewards_G)}")
    out = np.zeros(len(values))
    if valid.sum() < 2 or np.ptp(values[valid]) <= TOLERANCE:
        return out
    out[valid] = values[valid] - values[valid].mean()
    if normalise:
        out[valid] /= max(float(values[valid].std()), floor)
    return out


def rewards(group: Sequence[Episode]) -> list[float | None]:
    """The rewards of a group's episodes; None where the machinery lost the episode."""
    return [episode.reward for episode in group]


def informative(group: Sequence[Episode]) -> bool:
    """True if the group can teach: at least two members have a verdict, and not all the same reward."""
    found = [r for r in rewards(group) if r is not None]
    return len(found) >= 2 and max(found) - min(found) > TOLERANCE
