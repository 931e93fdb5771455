"""How an update learns what a lesson says: passes, parts, the loss and its denominator."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Protocol

from uigym.train import advantage, losses
from uigym.train.config import Algorithm
from uigym.train.groups import Group
from uigym.train.lesson import Lesson
from uigym.train.losses import LossSettings, divisor
from uigym.train.windows import Window

OF_STEPS = ("loss", "grad_norm", "rate", "skipped", "tokens", "rows", "replies")
"""Numbers of a step as a whole; the others are means over its reply tokens, or the most of one."""


class Scores(Protocol):
    """Weights that can be asked for log-probabilities: an `Engine`."""

    def score(self, windows: Sequence[Window], pngs: Mapping[str, bytes]) -> list[list[float]]:
        """Of each window's reply tokens."""


class Learns(Scores, Protocol):
    """Weights that learn: an `Engine`."""

    def train(
        self,
        windows: Sequence[Window],
        advantages: Sequence[Sequence[float]],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
        old: Sequence[Sequence[float]] | None = None,
        reference: Sequence[Sequence[float]] | None = None,
        rate: float | None = None,
    ) -> Mapping[str, float]:
        """One step; returns numbers by name."""


def loss_settings(algorithm: Algorithm) -> LossSettings:
    """The loss that a run file asks for.

    Raises:
        ConfigError: Its values do not fit each other.
    """
    own: dict[str, Any] = {
        "kl": algorithm.kl,
        "cap": algorithm.cap,
        "drop": algorithm.drop,
        "k": algorithm.typical_tokens,
    }
    given = {name: getattr(algorithm, name) for name in ("dual_clip", "importance", "normaliser")}
    if algorithm.clip is not None:
        given |= {"clip_low": algorithm.clip[0], "clip_high": algorithm.clip[1]}
    return LossSettings.of(algorithm.name, **own, **{name: value for name, value in given.items() if value is not None})


@dataclass
class Credit:
    """Advantages of a group's steps, as a run file says.

    Args:
        algorithm: For what is compared, and how.
        seed: Of the shuffled rewards of the control.
    """

    algorithm: Algorithm
    seed: int = 0

    def __call__(self, group: Group) -> list[list[float]]:
        """For each member one for each of its steps."""
        rewards = list(group.rewards)
        if self.algorithm.shuffle_rewards:
            random.Random(f"shuffled:{self.seed}:{group.number}").shuffle(rewards)
        how = advantage.Credit(
            normalise=self.algorithm.normalise,
            leave_one_out=self.algorithm.leave_one_out,
            step_weight=self.algorithm.step_weight,
            discount=self.algorithm.discount,
        )
        states = [_states(member) for member in group.members]
        return [credit.tolist() for credit in advantage.credits(rewards, states, how)]


def _states(member: Any) -> list[str]:
    """What each decision of an episode was made on: the hash of the picture."""
    found = [step.image for step in member.episode.steps]
    return (found + [member.episode.final_image] * len(member.samples))[: len(member.samples)]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is the same for all steps of an update."""

    old: Sequence[Sequence[float]] | None
    reference: Sequence[Sequence[float]] | None
    rate: float | None

    def of(self, rows: Sequence[int]) -> dict[str, Any]:
        """That of some rows."""
        scores = {"old": self.old, "reference": self.reference}
        return {"rate": self.rate, **{name: given and [given[i] for i in rows] for name, given in scores.items()}}


@dataclass
class Learning:
    """Teaches a trainer; called once an update.

    Args:
        trainer: Whose weights learn.
        loss: What they learn by.
        algorithm: Passes and minibatches.
        reference: Who knows the policy that reinforcement began with; needed where the loss has a distance from it.
        seed: Of the order of rows.
        rate: Learning rate of the update that begins; None leaves it to the trainer.
    """

    trainer: Learns
    loss: LossSettings
    algorithm: Algorithm
    reference: Scores | None = None
    seed: int = 0
    rate: Callable[[], float] | None = None
    updates: int = 0

    def __call__(self, lesson: Lesson) -> dict[str, float]:
        """All steps of one update; what they say, put together."""
        rng = random.Random(f"rows:{self.seed}:{self.updates}")
        self.updates += 1
        parts = min(self.algorithm.minibatches or 1, len(lesson.windows))
        steps = parts * self.algorithm.passes
        known = _Known(
            old=self.trainer.score(lesson.windows, lesson.pngs) if steps > 1 else None,
            reference=self.reference.score(lesson.windows, lesson.pngs) if self.reference else None,
            rate=self.rate() if self.rate else None,
        )
        told = []
        for _ in range(self.algorithm.passes):
            order = rng.sample(range(len(lesson.windows)), len(lesson.windows))
            for part in range(parts):
                told.append(self._step(lesson, order[part::parts], parts, known))
        return joined(told)

    def _step(self, lesson: Lesson, rows: list[int], parts: int, known: _Known) -> Mapping[str, float]:
        windows = [lesson.windows[i] for i in rows]
        whole = divisor(
            self.loss,
            trajectories=lesson.trajectories,
            rows=len(windows),
            tokens=sum(len(window.logprobs) for window in windows),
        )
        return self.trainer.train(
            windows,
            [lesson.advantages[i] for i in rows],
            lesson.pngs,
            denominator=whole / parts if self.loss.normaliser == "constant" else whole,
            **known.of(rows),
        )


def joined(told: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """What the steps of an update say as one: means over steps or over reply tokens, whichever the number is of, and the most.

    The gap between sampler and trainer is each step's before the first one, so that it is the whole update's.
    """
    of_tokens = losses.joined(told, [int(numbers.get("replies", 1)) for numbers in told])
    return of_tokens | {name: fmean(numbers[name] for numbers in told) for name in OF_STEPS if name in told[0]}
