"""Verifiers of what changed in the product's data: the expected rows, and nothing else.

    order = added("orders", table_no=3, status="sent")
    only(order, added("order_lines", item="Tea", quantity=2))

`only` is the whole verdict: each part for its share, nothing for anything that has a side effect. Column values are
compared by `uigym.compare.same`; a matcher (`uigym.verifiers.match`) or a function of the value, such as
`lambda v: v > 3`, may stand for a value. An unknown table or column is a `VerifierError`: the harness is wrong then,
not the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from uigym.compare import same
from uigym.errors import VerifierError
from uigym.types import Episode, Row, Verdict
from uigym.verifiers.rows import (
    Diff,
    columns_shown,
    cut,
    differing,
    known_table,
    misfits,
    need_table,
    pairs,
    value_shown,
)
from uigym.verify import Verifier, all_of, failed, ordered, passed, weighted


@dataclass(frozen=True, slots=True)
class Found:
    """What an expected change found in an episode."""

    rows: frozenset[str]
    """Keys of the rows that it accounts for."""
    problem: str = ""
    """Why it does not hold; empty if it does."""
    extra: tuple[str, ...] = ()
    """Changes of the same kind in the same table that it does not account for."""
    missing: int = 0
    """How many of the rows that it expects are not there."""


@dataclass(frozen=True, slots=True)
class Change:
    """A verifier of an expected change; `unchanged` takes it as an exception for just the rows that it is about."""

    name: str
    table: str
    look: Callable[[Episode], Found]
    key: Any = None
    """Of the one row that it is about; None if it is about others."""
    columns: tuple[str, ...] = ()
    """Of that row, those that may change."""
    allowing: Callable[[Sequence[str]], Change] | None = None
    """The same change where more columns of that row may change."""

    def __call__(self, episode: Episode) -> Verdict:
        """Success if the change was made, exactly."""
        found = self.look(episode)
        return failed(self.name, found.problem, side_effects=found.extra) if found.problem else passed(self.name)


Exception_ = str | tuple[str, Any] | Change


def only(
    *parts: Verifier | tuple[float, Verifier],
    except_: str | Change | Iterable[Exception_] = (),
    in_order: bool = False,
) -> Verifier:
    """These parts, each for its share of the score, and nothing else in the product's data changed.

    The score looks at nothing but what is there at the end: what was done and undone was not done, and whatever has a
    side effect is worth nothing. Several `changed` of one row judge each its own columns. A row that has to be made
    in several steps says how it looks meanwhile (`drafted`), so that the score never falls on the right way.

    Args:
        parts: Changes, and other verifiers such as `equals("12")`; with a weight as (2, part), else 1. A part that
            holds before anything was done would be paid for nothing.
        except_: What else may change, as `unchanged` takes it: logs, counters.
        in_order: Credit stops at the first part that does not hold.

    Raises:
        ValueError: There is no part, or a weight is not positive.
    """
    given = [part if isinstance(part, tuple) else (1.0, part) for part in parts]
    changes = [part for _, part in given if isinstance(part, Change)]
    more = [except_] if isinstance(except_, str | Change) else list(except_)
    settled = [(weight, _among(part, changes, more) if isinstance(part, Change) else part) for weight, part in given]
    score = ordered(*settled) if in_order else weighted(*settled)
    exceptions = [part for _, part in settled if isinstance(part, Change)]
    return all_of(score, unchanged(except_=[*exceptions, *more]))


def _among(change: Change, others: Sequence[Change], free: Sequence[Exception_]) -> Change:
    """The change where the columns that others expect of the same row may change too, since they judge them.

    So may those that are excepted by name.
    """
    if change.allowing is None:
        return change
    rivals = [other for other in others if other.allowing and other.table == change.table]
    beside = [column for other in rivals if same(change.key, other.key) for column in other.columns]
    mine = f"{change.table}."
    beside += [entry.removeprefix(mine) for entry in free if isinstance(entry, str) and entry.startswith(mine)]
    more = [column for column in dict.fromkeys(beside) if column not in change.columns]
    return change.allowing(more) if more else change


def added(table: str, /, *rows: Mapping[str, Any], count: int = 1, **columns: Any) -> Change:
    """Exactly these rows are new in the table, and no others.

    Args:
        table: Name of the table.
        rows: One new row each, by its columns; without any, `count` new rows that all have `columns`.
        count: How many new rows, where no `rows` are given.
        columns: Values that every one of the new rows has. Columns that are not named may have any value.

    Example:
        >>> added("orders", table_no=3, status="sent").name
        'added orders'
        >>> added("lines", {"item": "Tea", "quantity": 2}, {"item": "Cake", "quantity": 1}, order_id=12).name
        'added lines'
    """
    wanted = _wanted("added", rows, count, columns)
    return Change(f"added {table}", table, lambda episode: _listed(episode, table, "new", wanted))


def removed(table: str, /, *rows: Mapping[str, Any], count: int = 1, **columns: Any) -> Change:
    """Exactly these rows of the table are gone, and no others. The arguments are those of `added`."""
    wanted = _wanted("removed", rows, count, columns)
    return Change(f"removed {table}", table, lambda episode: _listed(episode, table, "removed", wanted))


def drafted(change: Change, /, **columns: Any) -> Change:
    """The same `added`, where a row that is not finished yet is no side effect; it is still worth nothing.

    Args:
        change: What shall be added at last.
        columns: How a new row looks meanwhile. As many such rows may be there as finished ones are missing.

    Raises:
        ValueError: No column is named: any new row would be a draft.

    Example:
        >>> drafted(added("orders", table_no=3, status="sent"), status="draft").name
        'added orders'
    """
    if not columns:
        raise ValueError(f"drafted({change.name}): needs at least one column that tells a draft")

    def look(episode: Episode) -> Found:
        found = change.look(episode)
        diff = Diff.of(episode, change.table, columns)
        drafts = [token for token, row in diff.new.items() if token not in found.rows and not misfits(row, columns)]
        drafts = drafts[: found.missing]
        own = {diff.effect(token) for token in drafts}
        extra = tuple(effect for effect in found.extra if effect not in own)
        return replace(found, rows=found.rows | {*drafts}, extra=extra)

    return replace(change, look=look)


def changed(table: str, /, *, key: Any, also: Sequence[str] = (), **columns: Any) -> Change:
    """The row with this key changed to these values and is otherwise as it was.

    It must have had another value before in at least one of the columns: what was so from the start was not done.

    Args:
        table: Name of the table.
        key: The row's primary key; a tuple where that has several columns.
        also: Columns that may change to any value besides, such as "updated_at".
        columns: The new values.

    Raises:
        ValueError: No column is named.
    """
    if not columns:
        raise ValueError(f'changed("{table}", key={key!r}): needs at least one column and its new value')
    free = (*columns, *also)

    def look(episode: Episode) -> Found:
        diff = Diff.of(episode, table, free)
        token = _row(diff, key)
        if token is None:
            return Found(frozenset(), f"expected {table} {key!r} to have {columns_shown(columns)}, found it as it was")
        problem = _not_changed(diff, token, columns)
        if stray := _stray(diff, token, free):
            return Found(frozenset(), f"{problem}; {stray}" if problem else stray, (diff.effect(token),))
        return Found(frozenset({token}), problem)

    def allowing(more: Sequence[str]) -> Change:
        return changed(table, key=key, also=(*also, *more), **columns)

    return Change(f"changed {table} {key}", table, look, key, free, allowing)


def unchanged(*, except_: str | Change | Iterable[Exception_] = ()) -> Verifier:
    """Nothing in the product's data changed, apart from the exceptions.

    Args:
        except_: Any of: an expected change (`added(...)`), which excepts just its own rows and is the strictest; a row
            as (table, key); the name of a table, whose rows may then change at will; "table.column", which may then change
            in rows that stay.

    Raises:
        ValueError: An exception is none of these.
    """
    exceptions = [except_] if isinstance(except_, str | Change) else list(except_)
    for entry in exceptions:
        if not (isinstance(entry, str | Change) or (isinstance(entry, tuple) and len(entry) == 2)):
            raise ValueError(
                f"unchanged: {entry!r} is no exception; expected a table, table.column, (table, key) or added(...)"
            )

    def verify(episode: Episode) -> Verdict:
        known = {*episode.before.tables, *episode.after.tables}
        free, columns = _free(episode, [entry for entry in exceptions if isinstance(entry, str)])
        for name in (entry[0] for entry in exceptions if isinstance(entry, tuple)):
            known_table(episode, name)
        effects = [
            effect
            for table in sorted(known - free)
            for effect in _effects(episode, table, exceptions, columns.get(table, []))
        ]
        if not effects:
            return passed("unchanged")
        listed = cut(effects)
        return failed("unchanged", f"expected nothing else to change, found: {'; '.join(listed)}", side_effects=listed)

    return verify


def needs(change: Change, probe: str) -> Change:
    """The same change; where the state lacks its table, the error says which probe gives it."""

    def look(episode: Episode) -> Found:
        need_table(episode, change.table, probe)
        return change.look(episode)

    return replace(change, look=look)


# --- expected against found ----------------------------------------------------------------------------------


def _wanted(
    name: str, rows: Sequence[Mapping[str, Any]], count: int, columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    if count < 1 or (rows and count != 1):
        raise ValueError(f"{name}: count={count} must be at least 1, and goes without rows given one by one")
    return [{**columns, **row} for row in rows] if rows else [dict(columns)] * count


def _listed(episode: Episode, table: str, kind: str, wanted: Sequence[Mapping[str, Any]]) -> Found:
    diff = Diff.of(episode, table, {column: None for row in wanted for column in row})
    rows = diff.new if kind == "new" else diff.removed
    filled = pairs(wanted, rows)
    spare = {token: row for token, row in rows.items() if token not in filled.values()}
    missing = [row for index, row in enumerate(wanted) if index not in filled]
    problems = [_missing(diff, kind, row, spare) for row in missing]
    if spare and len(rows) > len(wanted):
        labels = "; ".join(cut([diff.label(row) for row in spare.values()]))
        problems.append(f"expected {len(wanted)} {kind} row(s) in {table}, found {len(rows)}; besides: {labels}")
    extra = [diff.effect(token) for token in spare]
    return Found(frozenset(filled.values()), "; ".join(problems), cut(extra), len(missing))


def _missing(diff: Diff, kind: str, columns: Mapping[str, Any], spare: Mapping[str, Row]) -> str:
    expected = f"expected a {kind} row in {diff.table}" + (f" with {columns_shown(columns)}" if columns else "")
    if not spare:
        return f"{expected}, found no other {kind} row" if diff.new else f"{expected}, found no {kind} row"
    nearest = min(spare.values(), key=lambda row: len(misfits(row, columns)))
    wrong = {column: nearest.get(column) for column in misfits(nearest, columns)}
    return f"{expected}, found {diff.label(nearest)} with {columns_shown(wrong)}"


def _row(diff: Diff, key: Any) -> str | None:
    """The token of the row that shall change; None if it is one of those of a large table that nobody touched."""
    token = None if diff.partial and not diff.key else diff.token(key)
    if token is not None and token in diff.before:
        return token
    if diff.partial and token is None:
        return None
    raise VerifierError(f'changed("{diff.table}"): no row had the key {key!r} when the episode began')


def _not_changed(diff: Diff, token: str, columns: Mapping[str, Any]) -> str:
    before, after = diff.before[token], diff.after.get(token)
    label = diff.label(before)
    if after is None:
        return f"expected {label} to have {columns_shown(columns)}"
    if wrong := misfits(after, columns):
        found = columns_shown({column: after.get(column) for column in wrong})
        return f"expected {label} to have {columns_shown({c: columns[c] for c in wrong})}, found {found}"
    if all(before.get(column) == after.get(column) for column in columns):
        return f"expected {label} to change to {columns_shown(columns)}, but it was so from the start"
    return ""


def _stray(diff: Diff, token: str, columns: Iterable[str]) -> str:
    """What happened to a row beside the columns that may change; empty if nothing did."""
    before, after = diff.before[token], diff.after.get(token)
    if after is None:
        return f"found {diff.label(before)} removed"
    moved = [column for column in differing(before, after) if column not in columns]
    if not moved:
        return ""
    found = ", ".join(f"{c} {value_shown(before.get(c))} -> {value_shown(after.get(c))}" for c in moved)
    return f"expected the rest of {diff.label(before)} to stay, found {found}"


def _free(episode: Episode, names: Sequence[str]) -> tuple[set[str], dict[str, list[str]]]:
    """Which tables may change at will, and of others which columns; a name with a dot may be a table's own."""
    known = {*episode.before.tables, *episode.after.tables}
    columns: dict[str, list[str]] = {}
    for name in names:
        table, _, column = name.rpartition(".")
        if name not in known and table in known:
            columns.setdefault(table, []).append(column)
        else:
            known_table(episode, name)
    return known & {*names}, columns


def _effects(episode: Episode, table: str, exceptions: Sequence[Exception_], free: Sequence[str]) -> list[str]:
    diff = Diff.of(episode, table, free)
    excepted: set[str | None] = set()
    for entry in exceptions:
        if isinstance(entry, tuple) and entry[0] == table and (diff.before or diff.after or diff.rest):
            excepted.add(diff.token(entry[1]))
        elif isinstance(entry, Change) and entry.table == table:
            excepted |= entry.look(episode).rows
    moved = [token for token in diff.moved if token not in excepted]
    return [diff.effect(token, free) for token in moved if not diff.moved_only(token, free)]
