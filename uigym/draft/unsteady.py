"""What comes out differently each time, such as times and random ids: found by two plays, and left out of the state."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from uigym.draft.text import Part, Plan
from uigym.product import Product
from uigym.product.calls import finished
from uigym.state import Changed

FILES = "files"
"""The table of files, of which only whole rows can be left out."""
_KEYS_STAY = ("Mysql",)
"""Probes that cannot leave out a key."""
_CONTENT = ("size", "sha256", "text")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Parts of a state that nobody can foretell."""

    tables: frozenset[str] = frozenset()
    columns: frozenset[tuple[str, str]] = frozenset()
    """(table, column)."""
    paths: frozenset[str] = frozenset()
    """Of files."""

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns or self.paths)

    @property
    def entries(self) -> list[str]:
        """As `ignore` of a probe takes them, files last."""
        return [*sorted((*self.tables, *(f"{table}.{column}" for table, column in self.columns))), *sorted(self.paths)]

    def ignored_by(self, plan: Plan, owners: Sequence[Collection[str]]) -> Plan:
        """The plan whose probes leave it out.

        Args:
            plan: How the state is read.
            owners: The tables that each of its probes gives.
        """
        state = tuple(self._ignored_by(part, tables) for part, tables in zip(plan.state, owners, strict=True))
        return dataclasses.replace(plan, state=state)

    def _ignored_by(self, part: Part, tables: Collection[str]) -> Part:
        whole = [table for table in self.tables if table in tables]
        some = [f"{table}.{column}" for table, column in self.columns if table in tables]
        more = self.paths if part.name == "Files" else (*whole, *some)
        return dataclasses.replace(part, ignore=(*part.ignore, *sorted(more)))

    def removed_from(self, changes: Iterable[Changed]) -> Iterator[Changed]:
        """The changes that are left without it."""
        for change in changes:
            if change.table in self.tables or (change.table == FILES and _path(change) in self.paths):
                continue
            gone = {column for table, column in self.columns if table == change.table}
            before, after = (
                None if row is None else {column: found for column, found in row.items() if column not in gone}
                for row in (change.before, change.after)
            )
            if before != after:
                yield Changed(change.table, () if gone & {*change.key} else change.key, before, after)


def by_itself(noise: Iterable[Changed]) -> LeftOut:
    """What changed though nobody had done anything."""
    noise = list(noise)
    plain = [change for change in noise if change.table != FILES]
    tables = {change.table for change in plain if change.before is None or change.after is None}
    return LeftOut(
        frozenset(tables),
        frozenset((c.table, column) for c in plain if c.table not in tables for column in _moved(c)),
        frozenset(_path(change) for change in noise if change.table == FILES),
    )


def by_time(
    loose: Collection[tuple[str, str]], first: Sequence[Changed], second: Sequence[Changed], plan: Plan
) -> LeftOut:
    """What two plays of the same acts have made differently, as far as a probe can leave it out.

    A column that names rows stays where the task changes or removes one of the table's rows, which could not be named
    any more. So does a file if nothing else has changed.
    """
    found = {(table, column) for table, column in loose if table != FILES}
    found -= {(c.table, column) for c in first if c.before is not None for column in c.key}
    if any(part.name in _KEYS_STAY for part in plan.state):
        found -= {(change.table, column) for change in first for column in change.key}
    columns = {change.table: {*(change.after or change.before or {})} for change in first}
    tables = {table for table, own in columns.items() if own and all((table, column) in found for column in own)}
    texts = {_path(change): change.after for change in second if change.table == FILES}
    paths = {_path(c) for c in first if c.table == FILES and _content(c.after) != _content(texts.get(_path(c)))}
    left = LeftOut(frozenset(tables), frozenset(entry for entry in found if entry[0] not in tables))
    with_files = dataclasses.replace(left, paths=frozenset(paths))
    return with_files if any(with_files.removed_from(first)) else left


def at_start(differ: Iterable[Changed]) -> frozenset[tuple[str, str]]:
    """(table, column) of rows that are other ones after each start, such as the time at which they were made."""
    return frozenset(
        (change.table, column)
        for change in differ
        if change.before is not None and change.after is not None and change.table != FILES
        for column in _moved(change)
    )


async def owned(state: Any, product: Product) -> list[Collection[str]]:
    """The tables that each of a harness's probes gives."""
    parts = getattr(state, "parts", (state,))
    return [(await finished(part, product)).tables for part in parts]


def _moved(change: Changed) -> list[str]:
    old, new = change.before or {}, change.after or {}
    return [column for column in {**old, **new} if old.get(column) != new.get(column)]


def _path(change: Changed) -> str:
    return str((change.before or change.after or {})["path"])


def _content(row: Any) -> list[Any]:
    return [(row or {}).get(column) for column in _CONTENT]
