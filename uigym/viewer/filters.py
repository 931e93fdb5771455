"""Which episodes of a run are listed, and in what order: all of it is in the page's address."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uigym.viewer.index import Entry

PER_PAGE = 100
OUTCOMES = ("success", "partial", "failed", "lost", "damaged")
ORDERS: Mapping[str, Callable[[Entry], Any]] = {
    "id": lambda e: e.id,
    "newest": lambda e: (-e.at, e.id),
    "worst": lambda e: (-1.0 if e.score is None else e.score, e.task, e.seed, e.id),
    "best": lambda e: (1.0 if e.score is None else -e.score, e.task, e.seed, e.id),
    "longest": lambda e: (-e.steps, e.id),
    "slowest": lambda e: (-e.wall_s, e.id),
}
"""By name, what episodes are sorted by."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What is asked for; an empty value asks for nothing."""

    task: str = ""
    policy: str = ""
    outcome: str = ""
    cause: str = ""
    stop: str = ""
    seed: str = ""
    demo: str = ""
    """counts, fails, unproven, or any."""
    effects: str = ""
    """"1": only those with side effects."""
    flaky: str = ""
    """"1": only tasks and seeds that the same policy solved once and did not another time."""
    q: str = ""
    """Words that instruction, reason or id must have."""
    order: str = "id"
    page: str = "1"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filters:
        """From an address; what is not known is left out."""
        names = {field.name for field in dataclasses.fields(cls)}
        found = cls(**{name: value.strip()[:200] for name, value in query.items() if name in names})
        return found if found.order in ORDERS else dataclasses.replace(found, order="id")

    def change(self, **values: str) -> dict[str, str]:
        """Its values with some of them changed, for another address; a change of what is listed leads to page 1."""
        changed = {**dataclasses.asdict(self), **({} if "page" in values else {"page": "1"}), **values}
        return {name: value for name, value in changed.items() if value and (name, value) not in _USUAL}

    @property
    def number(self) -> int:
        """Of the page, from 1."""
        return max(1, int(self.page)) if self.page.isdecimal() and len(self.page) < 9 else 1

    @property
    def given(self) -> dict[str, str]:
        """What narrows the list, by name."""
        return self.change(order="", page="")

    def chosen(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries that are asked for, in order."""
        wavering = flaky(entries) if self.flaky else set()
        words = self.q.lower().split()
        found = [
            entry for entry in entries if self._fits(entry, words) and (not self.flaky or attempt(entry) in wavering)
        ]
        return found if self.order == "id" else sorted(found, key=ORDERS[self.order])

    def _fits(self, entry: Entry, words: Sequence[str]) -> bool:
        wanted = (
            (self.task, entry.task), (self.policy, entry.policy), (self.outcome, entry.outcome), (self.cause, entry.cause),
            (self.stop, entry.stop), (self.seed, str(entry.seed)),
        )  # fmt: skip
        if any(asked and asked != there for asked, there in wanted):
            return False
        if self.demo and (not entry.proven if self.demo == "any" else entry.proven != self.demo):
            return False
        if self.effects and not entry.effects:
            return False
        text = f"{entry.instruction}\n{entry.reason}\n{entry.id}".lower() if words else ""
        return all(word in text for word in words)


_USUAL = {("order", "id"), ("page", "1")}


def attempt(entry: Entry) -> tuple[str, str, int]:
    """What is the same in several tries at the same thing."""
    return entry.policy, entry.task, entry.seed


def flaky(entries: Iterable[Entry]) -> set[tuple[str, str, int]]:
    """Tries of which some succeeded and others did not."""
    seen: dict[tuple[str, str, int], set[bool]] = defaultdict(set)
    for entry in entries:
        if entry.success is not None:
            seen[attempt(entry)].add(entry.success)
    return {each for each, outcomes in seen.items() if len(outcomes) > 1}


def choices(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """The values that each filter could have here, sorted."""
    found: dict[str, set[str]] = {name: set() for name in ("task", "policy", "outcome", "cause", "stop", "demo")}
    for entry in entries:
        for name in ("task", "policy", "outcome", "cause", "stop"):
            found[name].add(getattr(entry, name))
        found["demo"].add(entry.proven)
    return {name: sorted(values - {""}) for name, values in found.items()}
