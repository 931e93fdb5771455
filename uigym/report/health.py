"""What ruins a training run without a word, looked for in its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LATEST = 10
"""Updates that count as now."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that was looked at."""

    name: str
    good: bool
    found: str
    """What the numbers say."""
    advice: str
    """What to do if it is not good."""


def signs(rows: Sequence[Mapping[str, float]]) -> list[Sign]:
    """Look at the latest updates; signs whose numbers are not there are left out.

    Args:
        rows: One mapping an update, flat, under the names of docs/training.md.
    """
    latest = rows[-LATEST:]
    found = [look(latest) for look in (_teaching, _gap, _lost, _capped, _stale, _entropy, _refused, _waiting)]
    return [sign for sign in found if sign is not None]


def mean(rows: Sequence[Mapping[str, float]], key: str) -> float | None:
    """Of a number over the updates that have it; None where none has."""
    values = [row[key] for row in rows if key in row]
    return sum(values) / len(values) if values else None


def _teaching(rows: Sequence[Mapping[str, float]]) -> Sign | None:
    kept, silent = mean(rows, "groups/kept"), mean(rows, "groups/zero_variance") or 0.0
    if kept is None:
        return None
    share = kept / (kept + silent) if kept + silent else 0.0
    done = (mean(rows, "success/all") or 0.0) > 0.5
    return Sign(
        "groups teach",
        share >= 0.2,
        f"{share:.0%} of the groups had members with different rewards",
        "Take harder tasks: all succeed." if done else "Train longer on demonstrations, or begin with easier tasks.",
    )


def _gap(rows: Sequence[Mapping[str, float]]) -> Sign | None:
    gap = mean(rows, "gap/mean")
    return gap if gap is None else Sign(
        "sampler and trainer agree",
        gap < 0.05,
        f"log-probabilities differ by {gap:.2g} nats a token",
        "The trainer sees other ids, pictures or positions than the sampler, or another temperature: no reward can mend that.",
    )  # fmt: skip


def _lost(rows: Sequence[Mapping[str, float]]) -> Sign | None:
    if not any("episodes" in row for row in rows):
        return None
    lost = sum(value for row in rows for key, value in row.items() if key.startswith("failures/"))
    whole = sum(row.get("episodes", 0.0) for row in rows) + lost
    share = lost / whole if whole else 0.0
    return Sign(
        "the machinery holds",
        share <= 0.05,
        f"{share:.1%} of the episodes were lost to it",
        "Look at the failures by cause below: episodes that survive are not those that would have been.",
    )


def _capped(rows: Sequence[Mapping[str, float]]) -> Sign | None:
    shares = [mean(rows, key) for key in ("ratio/capped", "ratio/dropped")]
    if shares == [None, None]:
        return None
    share = sum(value or 0.0 for value in shares)
    return Sign(
        "corrections are small",
        share < 0.1,
        f"{share:.1%} of the tokens had their weight capped or dropped",
        "Lower trainer.max_staleness, or look at the gap first.",
    )


def _stale(rows: Sequence[Mapping[str, float]]) -> Sign | None:
    age = mean(rows, "staleness/mean")
    return age if age is None else Sign(
        "what is learned from is fresh",
        age <= 2,
        f"replies are {age:.2g} updates old on average",
        "Lower trainer.max_staleness.",
    )  # fmt: skip


def _entropy(rows: Sequence[Mapping[str, float]]) -> Sign | None:
    entropy = mean(rows, "entropy")
    return entropy if entropy is None else Sign(
        "it still explores",
        entropy > 0.005,
        f"entropy is {entropy:.2g} nats a token",
        "It always does the same: raise the upper clip, lower the learning rate, or stop here.",
    )  # fmt: skip


def _refused(rows: Sequence[Mapping[str, float]]) -> Sign | None:
    refused, steps = mean(rows, "episode/refused"), mean(rows, "episode/steps")
    if refused is None or not steps:
        return None
    return Sign(
        "it speaks the language",
        refused / steps < 0.2,
        f"{refused / steps:.0%} of the actions were refused",
        "Train longer on demonstrations, or look whether policy.codec is the model's own.",
    )


def _waiting(rows: Sequence[Mapping[str, float]]) -> Sign | None:
    busy = {name: mean(rows, f"util/{name}") for name in ("env", "sampler", "trainer")}
    known = {name: value for name, value in busy.items() if value is not None}
    if not known:
        return None
    most = max(known, key=lambda name: known[name])
    return Sign(
        "nothing idles",
        known[most] >= 0.5,
        f"the busiest part, the {most}, works {known[most]:.0%} of the time",
        "More inference.slots, or a larger trainer.max_staleness.",
    )
