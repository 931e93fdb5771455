"""Verifiers and their algebra.

A verifier is a pure function of a finished episode. It can be run again on a stored episode and gives the same
verdict. The library of ready ones is `uigym.verifiers`; what combines them is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from uigym.errors import VerifierError, attribute
from uigym.types import Episode, Part, Row, State, Stop, Verdict

JUDGE = "judge:"
"""How the names of parts begin that a language model judges: no reward may rest on them alone."""
JUDGE_ALONE = "judge alone:"
"""The same, where the harness says that one may."""
IDLE = ("unchanged", "no ", "not ", "nothing ")
"""How the names of parts begin that hold where nothing was done: they do not speak for any work."""

_ALMOST = math.nextafter(1.0, 0.0)
"""The most that anything but a success is worth, however little is missing."""


class Verifier(Protocol):
    """Judges a finished episode. A plain function will do."""

    def __call__(self, episode: Episode) -> Verdict: ...


def passed(name: str) -> Verdict:
    """The verdict of a single check that holds."""
    return Verdict(1.0, True, (Part(name, 1.0),))


def failed(name: str, reason: str, *, score: float = 0.0, side_effects: Sequence[str] = ()) -> Verdict:
    """The verdict of a single check that does not hold: what was expected, what was found, where."""
    return Verdict(score, False, (Part(name, score, reason),), reason, tuple(side_effects))


def check(name: str, holds: bool, reason: str) -> Verdict:
    """`passed(name)` if it holds, else `failed(name, reason)`."""
    return passed(name) if holds else failed(name, reason)


def all_of(*verifiers: Verifier) -> Verifier:
    """Success if every part succeeds. The score is the product of the parts' scores.

    A product, so that finished work with a side effect is worth nothing: `unchanged` scores 0 or 1.
    """
    _need(verifiers, "all_of")

    def verify(episode: Episode) -> Verdict:
        verdicts = [v(episode) for v in verifiers]
        score = 1.0
        for verdict in verdicts:
            score *= verdict.score
        return _combine(score, all(v.success for v in verdicts), verdicts)

    return verify


def any_of(*verifiers: Verifier) -> Verifier:
    """Success if some part succeeds; the score is that of the best part."""
    _need(verifiers, "any_of")

    def verify(episode: Episode) -> Verdict:
        verdicts = [v(episode) for v in verifiers]
        best = max(verdicts, key=lambda v: (v.success, v.score))
        return best if best.success else _combine(best.score, False, verdicts)

    return verify


def not_(verifier: Verifier) -> Verifier:
    """Success if the part does not succeed; the score is 0 or 1."""

    def verify(episode: Episode) -> Verdict:
        verdict = verifier(episode)
        names = ", ".join(p.name for p in verdict.parts)
        found = check(f"not {names}", not verdict.success, f"expected that this would not hold, but it does: {names}")
        judged = any(map(_judged, verdict.parts))  # whichever part it failed by
        return replace(found, parts=tuple(replace(part, judged=judged) for part in found.parts))

    return verify


def weighted(*parts: Verifier | tuple[float, Verifier]) -> Verifier:
    """Success if every part succeeds; the score is the weighted mean of the parts' scores.

    Args:
        parts: (weight, verifier), or a verifier, whose weight is 1; weights are positive, finite, and need not sum to 1.
    """
    verifiers, shares = _shares(parts, "weighted")

    def verify(episode: Episode) -> Verdict:
        verdicts = [v(episode) for v in verifiers]
        success = all(v.success for v in verdicts)
        score = sum(share * v.score for share, v in zip(shares, verdicts, strict=True))
        return _combine(score, success, verdicts, shares)

    return verify


def ordered(*parts: Verifier | tuple[float, Verifier]) -> Verifier:
    """Parts that must be done one after another: credit stops at the first part that does not succeed.

    The score is the share of the parts that are done without a gap, so later parts earn nothing before earlier ones.

    Args:
        parts: As those of `weighted`.
    """
    verifiers, shares = _shares(parts, "ordered")

    def verify(episode: Episode) -> Verdict:
        verdicts = [v(episode) for v in verifiers]
        run = next((i for i, v in enumerate(verdicts) if not v.success), len(verdicts))
        success = run == len(verdicts)
        return _combine(sum(shares[:run]), success, verdicts, shares)

    return verify


def judge(verifier: Callable[[Episode], Verdict], episode: Episode) -> Verdict:
    """Run a verifier on an episode, attributing whatever it raises to the verifier.

    What a language model alone speaks for is worth nothing.

    Raises:
        VerifierError: The verifier raised, returned something that is no verdict, or has no part but a model's.
    """
    whose = f"the verifier of {episode.harness}/{episode.task}"
    seen = episode.before.digest(), episode.after.digest()
    with attribute(VerifierError, whose):
        verdict = verifier(episode)
        if not isinstance(verdict, Verdict):
            raise VerifierError(f"{whose} returned {verdict!r:.500}, expected a Verdict")
    if (episode.before.digest(), episode.after.digest()) != seen:
        raise VerifierError(f"{whose} changed the states that it was given; it must only read them")
    return _beyond_judges(verdict, whose)


def tried(
    verifier: Verifier,
    *,
    before: Mapping[str, Iterable[Row]],
    after: Mapping[str, Iterable[Row]] | None = None,
    keys: Mapping[str, tuple[str, ...]] | None = None,
    **fields: Any,
) -> Verdict:
    """What a verifier says of an episode that is made up: for trying it out, and for tests of a harness.

    Args:
        verifier: What to try.
        before: Rows by table when the episode began.
        after: The same when it ended; None if nothing changed.
        keys: Primary keys by table; `id`, else the first column, where they are not named.
        fields: Others of the episode, such as answer="12", url="http://127.0.0.1/orders", page=PageView(...).

    Raises:
        VerifierError: As `judge` raises it.
    """
    states = [
        State({table: tuple(rows) for table, rows in tables.items()}, keys or {})
        for tables in (before, before if after is None else after)
    ]
    stop = Stop.DONE if fields.get("answer") is None else Stop.ANSWERED
    episode = Episode("tried", "tried", "tried", 0, {}, "", (), stop, before=states[0], after=states[1], **fields)
    return judge(verifier, episode)


def _beyond_judges(verdict: Verdict, whose: str) -> Verdict:
    """The verdict, worth nothing if no part but those that a language model judges speaks for it."""
    judged = any(map(_judged, verdict.parts))
    others = [part for part in verdict.parts if not _judged(part) and not part.name.startswith(IDLE)]
    if judged and not others:
        raise VerifierError(f"{whose} lets a language model decide alone: add other parts, or say alone=True")
    if not judged or verdict.score == 0 or any(part.score > 0 for part in others):
        return verdict
    return replace(verdict, score=0.0, success=False, reason=f"nothing but a judge speaks for it; {verdict.reason}")


def _judged(part: Part) -> bool:
    return part.judged or part.name.startswith(JUDGE)


def _need(verifiers: Sequence[Verifier], name: str) -> None:
    if not verifiers:
        raise ValueError(f"{name}() needs at least one verifier: without one, every episode would pass")
    for verifier in verifiers:
        if not callable(verifier):
            raise TypeError(f"{name}() expected verifiers, got {verifier!r}")


def _shares(parts: Sequence[Verifier | tuple[float, Verifier]], name: str) -> tuple[list[Verifier], list[float]]:
    """The verifiers, and their shares of the whole."""
    given = [part if isinstance(part, tuple) else (1.0, part) for part in parts]
    _need([verifier for _, verifier in given], name)
    weights = [weight for weight, _ in given]
    if not all(weight > 0 for weight in weights) or not math.isfinite(sum(weights)):
        raise ValueError(f"{name}: weights must be positive and finite, not {weights}")
    return [verifier for _, verifier in given], [weight / sum(weights) for weight in weights]


def _combine(
    score: float, success: bool, verdicts: Sequence[Verdict], weights: Sequence[float] | None = None
) -> Verdict:
    shares = weights or [1.0] * len(verdicts)
    parts = tuple(
        replace(part, weight=part.weight * share)
        for verdict, share in zip(verdicts, shares, strict=True)
        for part in verdict.parts
    )
    reason = "; ".join(v.reason for v in verdicts if v.reason) if not success else ""
    effects = tuple(dict.fromkeys(e for v in verdicts for e in v.side_effects))  # two parts may see the same one
    return Verdict(1.0 if success else min(score, _ALMOST), success, parts, reason, effects)
