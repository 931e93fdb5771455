"""What the verifier says, as a table: what it expected, and what it found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SAID = re.compile(r"expected (?P<expected>.+?)(?:, (?:but )?found:? |; found:? )(?P<found>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Check:
    """One part of a verdict."""

    name: str
    score: float
    weight: float
    judged: bool
    expected: str
    """Empty where the reason does not say it in this form."""
    found: str
    reason: str
    """All of it; empty where it holds."""

    @property
    def holds(self) -> bool:
        """Whether nothing is missing."""
        return self.score >= 1.0


@dataclass(frozen=True, slots=True)
class Report:
    """A verdict, or why there is none."""

    checks: Sequence[Check]
    success: bool | None
    score: float | None
    reason: str
    effects: Sequence[str]
    cause: str
    """Whose failure it was; empty if there is a verdict."""
    message: str


def report(manifest: Mapping[str, Any]) -> Report:
    """The verdict of an episode's manifest."""
    verdict, failure = manifest.get("verdict"), manifest.get("failure")
    if not isinstance(verdict, dict):
        told = failure if isinstance(failure, dict) else {}
        return Report((), None, None, "", (), str(told.get("cause") or "unknown"), str(told.get("message") or ""))
    parts = [part for part in verdict.get("parts") or () if isinstance(part, dict)]
    return Report(
        checks=[check(part) for part in parts],
        success=bool(verdict.get("success")),
        score=_number(verdict.get("score"), 0.0),
        reason=str(verdict.get("reason") or ""),
        effects=[str(effect) for effect in verdict.get("side_effects") or ()],
        cause="",
        message="",
    )


def check(part: Mapping[str, Any]) -> Check:
    """One part.

    Example:
        >>> found = check({"name": "changed orders 3", "score": 0.0, "reason": 'expected status="sent", found "draft"'})
        >>> found.expected, found.found
        ('status="sent"', '"draft"')
    """
    reason = str(part.get("reason") or "")
    said = _SAID.fullmatch(reason)
    return Check(
        name=str(part.get("name") or ""),
        score=_number(part.get("score"), 0.0),
        weight=_number(part.get("weight"), 1.0),
        judged=bool(part.get("judged")),
        expected=said["expected"] if said else "",
        found=said["found"] if said else "",
        reason=reason,
    )


def _number(value: Any, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) else otherwise
