"""How good a policy is: success rate with its interval, pass@k, a line per task, failures by cause.

Lost episodes say nothing about a policy: they leave numerator and denominator and are counted beside them.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from uigym.rollout import Finished
from uigym.types import Episode

_Z95 = 1.959963984540054
"""Quantile of the normal distribution for a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True)
class Score:
    """Of a set of episodes."""

    episodes: int
    """All, the lost ones too."""
    valid: int
    """Those with a verdict."""
    successes: int
    success_rate: float
    """Successes among the valid; 0 where there are none."""
    low: float
    """Lower end of the 95 % interval of the success rate."""
    high: float
    """Upper end of it."""
    mean_score: float
    """Mean of the verdicts' scores, partial credit included."""
    mean_steps: float
    """Actions in a valid episode."""


@dataclass(frozen=True, slots=True)
class Evaluation(Score):
    """Of a whole evaluation."""

    failures: Mapping[str, int] = field(default_factory=dict)
    """Lost episodes by cause."""
    stops: Mapping[str, int] = field(default_factory=dict)
    """Valid episodes by why they ended."""
    tasks: Mapping[str, Score] = field(default_factory=dict)
    """By harness/task, sorted."""
    pass_at: Mapping[int, float] = field(default_factory=dict)
    """Chance that at least one of k attempts at the same task and seed succeeds, by k."""

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        record = dataclasses.asdict(self)
        record["pass_at"] = {str(k): value for k, value in self.pass_at.items()}
        return record


def evaluate(finished: Iterable[Finished | Episode], *, pass_at: Sequence[int] = ()) -> Evaluation:
    """Sum up episodes.

    Args:
        finished: What a rollout yields, or stored episodes.
        pass_at: The k for which pass@k is wanted; needs tasks and seeds with at least k valid attempts.

    Raises:
        ValueError: No task and seed has k valid attempts.
    """
    episodes = [item.episode if isinstance(item, Finished) else item for item in finished]
    by_task: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        by_task[f"{episode.harness}/{episode.task}"].append(episode)
    return Evaluation(
        **_score(episodes),
        failures=dict(Counter(str(episode.failure.cause) for episode in episodes if episode.failure).most_common()),
        stops=dict(Counter(str(episode.stop) for episode in episodes if episode.verdict).most_common()),
        tasks={name: Score(**_score(by_task[name])) for name in sorted(by_task)},
        pass_at={k: _pass_at(episodes, k) for k in pass_at},
    )


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """95 % interval of a proportion; (0, 1) where nothing was tried.

    Raises:
        ValueError: More successes than trials, or fewer than none.

    Example:
        >>> [round(end, 3) for end in wilson(8, 10)]
        [0.49, 0.943]

    Source: Wilson's score interval (Wilson, 1927).
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"expected 0 <= successes <= trials, not {successes} of {trials}")
    if trials == 0:
        return 0.0, 1.0
    rate, square = successes / trials, _Z95**2
    centre = rate + square / (2 * trials)
    half = _Z95 * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials**2))
    scale = 1 + square / trials
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    return low, 1.0 if successes == trials else min(1.0, (centre + half) / scale)


def _score(episodes: Sequence[Episode]) -> dict[str, Any]:
    verdicts = [(episode.verdict, len(episode.steps)) for episode in episodes if episode.verdict]
    successes, valid = sum(verdict.success for verdict, _ in verdicts), len(verdicts)
    low, high = wilson(successes, valid)
    return {
        "episodes": len(episodes),
        "valid": valid,
        "successes": successes,
        "success_rate": successes / valid if valid else 0.0,
        "low": low,
        "high": high,
        "mean_score": sum(verdict.score for verdict, _ in verdicts) / valid if valid else 0.0,
        "mean_steps": sum(steps for _, steps in verdicts) / valid if valid else 0.0,
    }


def _pass_at(episodes: Iterable[Episode], k: int) -> float:
    """The unbiased estimate from n >= k attempts, averaged over tasks and seeds.

    Source: 1 - C(n - c, k) / C(n, k) (Chen et al., 2021).
    """
    attempts: dict[tuple[str, str, int], list[bool]] = defaultdict(list)
    for episode in episodes:
        if episode.verdict:
            attempts[episode.harness, episode.task, episode.seed].append(episode.verdict.success)
    chances = [
        1 - math.comb(len(tries) - sum(tries), k) / math.comb(len(tries), k)
        for tries in attempts.values()
        if len(tries) >= k > 0
    ]
    if not chances:
        most = max(map(len, attempts.values()), default=0)
        raise ValueError(f"pass@{k} needs {k} valid attempts at some task and seed; there are at most {most}")
    return sum(chances) / len(chances)
