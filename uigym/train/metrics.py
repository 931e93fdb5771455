"""The numbers of an update, under the names that the page of a run and docs/training.md use."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from uigym.harness import Split
from uigym.types import Episode


def of_episodes(episodes: Sequence[Episode]) -> dict[str, float]:
    """Rewards, success and failures of some episodes; what nobody was judged for is not there.

    Episodes that the machinery lost count under failures/CAUSE and nowhere else.
    """
    judged = [episode for episode in episodes if episode.verdict is not None]
    numbers: dict[str, float] = {"episodes": len(judged), "steps": sum(len(e.steps) for e in episodes)}
    lost = Counter(str(e.failure.cause) for e in episodes if e.failure is not None)
    numbers |= {f"failures/{cause}": count for cause, count in sorted(lost.items())}
    return numbers | _rewards(judged) | _success(judged) if judged else numbers


def _rewards(judged: Sequence[Episode]) -> dict[str, float]:
    rewards = sorted(e.verdict.score for e in judged if e.verdict is not None)
    return {
        "reward/mean": statistics.fmean(rewards),
        "reward/p10": quantile(rewards, 0.1),
        "reward/p90": quantile(rewards, 0.9),
        "episode/steps": statistics.fmean(len(e.steps) for e in judged),
        "episode/refused": statistics.fmean(sum(step.error is not None for step in e.steps) for e in judged),
    }


def _success(judged: Iterable[Episode]) -> dict[str, float]:
    found: dict[str, list[bool]] = defaultdict(list)
    for episode in judged:
        succeeded = episode.verdict is not None and episode.verdict.success
        task = episode.task.rpartition("/")[2]
        for key in ("all", f"task/{task}", f"split/{Split.of(episode.seed)}"):
            found[f"success/{key}"].append(succeeded)
    return {key: sum(values) / len(values) for key, values in found.items()}


def quantile(ordered: Sequence[float], share: float) -> float:
    """Of sorted values, by linear interpolation between neighbours.

    Example:
        >>> quantile([0.0, 1.0], 0.1), quantile([3.0], 0.9)
        (0.1, 3.0)
    """
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def rounded(numbers: dict[str, float]) -> dict[str, float]:
    """Six significant digits: a line of metrics is read by people too."""
    return {key: value if isinstance(value, int) else float(f"{value:.6g}") for key, value in numbers.items()}
