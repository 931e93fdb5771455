"""What a check found, and what each check proves."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CHECKS = {
    "reset": "after every reset with a seed the product holds the same data",
    "pixels": "the same seed gives the same first picture, and the same acts the same pictures",
    "replay": "the same acts from the same reset end with the same data",
    "still": "nothing changes while nobody acts",
    "unseen": "the state holds every table of the product's database, but for logs",
    "isolation": "two slots at once do not see each other's changes",
    "seeds": "different seeds give different episodes",
    "sampling": "a seed gives the same parameters and the same instruction every time",
    "noop": "doing nothing is not paid, also not where the goal is reached from the start",
    "random": "doing anything is not paid",
    "oracle": "the oracle passes, in every appearance and wording, and with other values",
    "expected_steps": "the oracle needs no more actions than the task says",
    "verdict": "a verdict is the same when it is run again on the stored episode",
    "omitted": "the oracle's acts without one of them are not paid",
    "wrong value": "another value than the task asks for, or another record, is not paid",
    "twice": "the work done twice is not paid",
    "extra": "the work with another change besides is not paid",
    "undone": "work that was undone is not paid",
    "success text": "saying that it is done, in a field or as an answer, is not paid",
    "guesses": "an answer with more or other than what was asked for is not paid",
    "other task": "what another task's oracle does is not paid",
    "partial": "partial credit never falls along the oracle's way",
    "ambiguous": "the instruction tells apart what the verifier tells apart",
    "leak": "what the policy must find out is not given away where no person would see it",
    "reach": "the page reaches nothing but the product: no other port, file, or control path",
}
"""What each check proves, by its name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of one task and seed."""

    check: str
    """One of `CHECKS`."""
    task: str
    """Empty for a check of the whole harness."""
    seed: int | None
    """None for a check over several seeds."""
    ok: bool
    detail: str = ""
    """What was wrong and what to do; for what is right, a number worth knowing."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was tried."""

    episodes: int = 0
    mutants: int = 0
    """Wrong ways to do the tasks that were judged."""
    equal: int = 0
    """Those that ended exactly as the oracle does, and so are no wrong ways."""
    paid: int = 0
    """Those that were paid though they did not."""
    attacks: int = 0
    """Ways from the page to what it must not reach that were tried."""
    reached: int = 0
    """Those that got through."""
    judged: int = 0
    """Opinions of a language-model judge on wrong ways, and..."""
    fooled: int = 0
    """...those that took one for right."""
    seconds: float = 0.0
    full_seconds: float = 0.0
    """How long the full check would take, by what this one took."""


@dataclass(frozen=True, slots=True)
class Report:
    """What `check_harness` found."""

    harness: str
    findings: tuple[Finding, ...]
    counts: Counts = Counts()

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return bool(self.findings) and not self.failed

    @property
    def failed(self) -> tuple[Finding, ...]:
        """What is wrong."""
        return tuple(finding for finding in self.findings if not finding.ok)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "harness": self.harness,
            "ok": self.ok,
            "counts": dataclasses.asdict(self.counts),
            "findings": [dataclasses.asdict(finding) for finding in self.findings],
        }


def listed(texts: Sequence[object], most: int = 4) -> str:
    """The first few as the part of a sentence, and how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(str(text) for text in texts[:most]) + more
