"""What is not the same when a demonstration is played again: data by table, key and column, and pictures by step."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from uigym.check.ends import apart
from uigym.record.withheld import unhidden
from uigym.state import Changed, Row, State
from uigym.types import Episode


def unlike(recorded: State, found: State, logs: Collection[str] = (), texts: Sequence[str] = ()) -> list[Changed]:
    """The rows that are not the same, from the recorded state to the one that was found.

    Args:
        recorded, found: Of the two episodes at the same moment.
        logs: Tables, and columns as "table.column", that only tell what happened and do not count.
        texts: What was withheld from the record; another text stands in their place there.
    """
    return unhidden(apart(recorded, found, logs), texts)


def recast(recorded: Episode, found: Episode) -> list[str]:
    """Tables, and columns as "table.column", that only one of the two products has: another build, another schema.

    They are told from the data with which the episodes begin. A table that is empty at the beginning tells no columns.
    """
    one, other = recorded.before.tables, found.before.tables
    tables = set(one) ^ set(other)
    columns = {
        f"{table}.{column}"
        for table in set(one) & set(other)
        if one[table] and other[table]
        for column in _columns(one[table]) ^ _columns(other[table])
    }
    return sorted(tables | columns)


def without(state: State, names: Collection[str]) -> State:
    """The state without these tables, and columns as "table.column"."""
    if not names:
        return state

    def less(tables: dict[str, tuple[Row, ...]]) -> dict[str, tuple[Row, ...]]:
        return {
            table: tuple({c: value for c, value in row.items() if f"{table}.{c}" not in names} for row in rows)
            for table, rows in tables.items()
            if table not in names
        }

    return State(less(dict(state.tables)), state.keys, less(dict(state.base)))


def diverged_at(recorded: Episode, found: Episode, late: Collection[int] = ()) -> int | None:
    """The first step, from 0, whose picture differs; the number of steps for the last picture; None if none does.

    Args:
        recorded, found: The demonstration, and how it went this time.
        late: Steps whose recorded picture came, only later.
    """
    one, other = pictures(recorded), pictures(found)
    for number, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs and number not in late:
            return number
    return None if len(one) == len(other) else min(len(one), len(other))


def pictures(episode: Episode) -> list[str]:
    """Hashes of the pictures before each action, and of the last one."""
    return [*(step.image for step in episode.steps), episode.final_image]


def refused_at(recorded: Episode, found: Episode) -> int | None:
    """The first step, from 0, whose action was refused though it was not when it was recorded."""
    for number, (old, new) in enumerate(zip(recorded.steps, found.steps, strict=False)):
        if new.error and not old.error:
            return number
    return None


def _columns(rows: Sequence[Row]) -> set[str]:
    return {column for row in rows for column in row}
