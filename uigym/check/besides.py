"""The right end with one change more: made up, so that every table is tried whatever the other tasks do."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from itertools import cycle
from typing import Any

from uigym.state import Changed, Row, State, pair, token
from uigym.types import Episode

_KINDS = ("altered", "added", "removed")


def besides(episode: Episode, logs: Collection[str], full: bool) -> Iterator[tuple[str, Episode]]:
    """(what is wrong, the episode): one more row altered, added or removed in each table that is no log.

    Args:
        episode: Of the oracle.
        logs: Tables, and columns as "table.column", that only tell what happened.
        full: All three in each table, instead of one after the other.
    """
    turn = cycle(_KINDS)
    for table in sorted(episode.after.tables):
        if table in logs or table.startswith("uigym."):
            continue
        for kind in _KINDS if full else (next(turn),):
            change = _change(episode, table, kind, logs) or _change(episode, table, "added", logs)
            if change is not None:
                yield f"although also {change}", dataclasses.replace(episode, after=_with(episode.after, change))


def _change(episode: Episode, table: str, kind: str, logs: Collection[str]) -> Changed | None:
    """Of a row that the oracle left alone; None where there is none to be had."""
    before, after = pair(episode.before, episode.after, table)
    key = episode.after.key(table, after)
    old = {token(row, ()) for row in before}
    row = next((row for row in after if token(row, ()) in old), None)
    if row is None or any(column not in row for column in key):
        return None
    if kind == "removed":
        return Changed(table, key, row, None)
    names = key if kind == "added" else [c for c in row if c not in key and f"{table}.{c}" not in logs]
    if not names:
        return None
    new = {**row, names[-1]: _other(row[names[-1]])}
    taken = {token(each, key) for each in (*before, *after)}
    while kind == "added" and token(new, key) in taken:
        new[names[-1]] = _other(new[names[-1]])
    return Changed(table, key, row if kind == "altered" else None, new)


def _with(state: State, change: Changed) -> State:
    rows = [row for row in state.tables[change.table] if row != change.before]
    if change.after is not None:
        rows.append(change.after)
    return dataclasses.replace(state, tables={**state.tables, change.table: tuple(sorted(rows, key=_order(change)))})


def _order(change: Changed) -> Any:
    def order(row: Row) -> str:
        return token(row, change.key)

    return order


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value} x" if isinstance(value, str) else "x"
