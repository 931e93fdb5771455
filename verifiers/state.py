"""Verifiers of what changed in the product's data: the expected rows, and nothing else.

    order = added("orders", table_no=3, status="sent")
    all_of(order, unchanged(except_=[order]))

Column values are compared by `uigym.compare.same`; a function of the value, such as `lambda v: v > 3`, may stand for
a value. An unknown table or column is a `VerifierError`: the harness is wrong then, not the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uigym.compare import same
from uigym.errors import VerifierError, did_you_mean
from uigym.state import Changed, by_token, pair, shown
from uigym.state import token as token_of
from uigym.types import Episode, Row, State, Verdict
from uigym.verify import Verifier, failed, passed

MAX_SIDE_EFFECTS = 50
"""More are counted, not listed."""
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Found:
    """What an expected change found in an episode."""

    rows: frozenset[str]
    """Keys of the rows that it accounts for."""
    problem: str = ""
    """Why it does not hold; empty if it does."""
    extra: tuple[str, ...] = ()
    """Changes of the same kind in the same table that it does not account for."""


@dataclass(frozen=True, slots=True)
class Change:
    """A verifier of an expected change; `unchanged` takes it as an exception for just the rows that it is about."""

    name: str
    table: str
    look: Callable[[Episode], Found]

    def __call__(self, episode: Episode) -> Verdict:
        """Success if the change was made, exactly."""
        found = self.look(episode)
        return failed(self.name, found.problem, side_effects=found.extra) if found.problem else passed(self.name)


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

    def look(episode: Episode) -> Found:
        diff = _Diff.of(episode, table, (*columns, *also))
        token = diff.token(key)
        if token is None or token not in diff.before:
            raise VerifierError(f'changed("{table}"): no row had the key {key!r} when the episode began')
        problem = _not_changed(diff, token, columns)
        if stray := _stray(diff, token, (*columns, *also)):
            return Found(frozenset(), f"{problem}; {stray}" if problem else stray, (_effect(diff, token),))
        return Found(frozenset({token}), problem)

    return Change(f"changed {table} {key}", table, look)


Exception_ = str | tuple[str, Any] | Change


def unchanged(*, except_: str | Change | Iterable[Exception_] = ()) -> Verifier:
    """Nothing in the product's data changed, apart from the exceptions.

    Args:
        except_: Any of: an expected change (`added(...)`), which excepts just its own rows and is the strictest; a row
            as (table, key); the name of a table, whose rows may then change at will.

    Raises:
        ValueError: An exception is none of these.
    """
    exceptions = [except_] if isinstance(except_, str | Change) else list(except_)
    for entry in exceptions:
        if not (isinstance(entry, str | Change) or (isinstance(entry, tuple) and len(entry) == 2)):
            raise ValueError(f"unchanged: {entry!r} is no exception; expected a table, (table, key) or added(...)")

    def verify(episode: Episode) -> Verdict:
        free = {entry for entry in exceptions if isinstance(entry, str)}
        for name in free | {entry[0] for entry in exceptions if isinstance(entry, tuple)}:
            _known_table(episode, name)
        effects = [
            effect
            for table in sorted({*episode.before.tables, *episode.after.tables} - free)
            for effect in _effects(episode, table, exceptions)
        ]
        if not effects:
            return passed("unchanged")
        listed = _cut(effects)
        return failed("unchanged", f"expected nothing else to change, found: {'; '.join(listed)}", side_effects=listed)

    return verify


# --- what changed in a table ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Diff:
    """One table before and after: rows by a token of their key."""

    table: str
    key: tuple[str, ...]
    """Columns of the key; () where rows have none and are compared whole."""
    before: dict[str, Row]
    after: dict[str, Row]

    @classmethod
    def of(cls, episode: Episode, table: str, columns: Iterable[str] = ()) -> _Diff:
        _known_table(episode, table)
        before, after = pair(episode.before, episode.after, table)
        _known_columns(table, (*before, *after), columns)
        key = _key(episode.before, episode.after, table, (*before, *after))
        if any(len({token_of(row, key) for row in rows}) < len(rows) for rows in (before, after)):
            key = ()
        return cls(table, key, by_token(before, key), by_token(after, key))

    @property
    def new(self) -> dict[str, Row]:
        return {token: row for token, row in self.after.items() if token not in self.before}

    @property
    def removed(self) -> dict[str, Row]:
        return {token: row for token, row in self.before.items() if token not in self.after}

    @property
    def altered(self) -> list[str]:
        return [t for t, row in self.before.items() if t in self.after and self.after[t] != row]

    def token(self, key: Any) -> str | None:
        """Of the row with that key, before or after; None if there is none."""
        values = key if isinstance(key, tuple) else (key,)
        if len(values) != len(self.key):
            need = ", ".join(self.key) or "none: rows cannot be named"
            raise VerifierError(f'the key {key!r} does not fit table "{self.table}", whose key is ({need})')
        for token, row in {**self.before, **self.after}.items():
            if all(same(value, row[column]) for value, column in zip(values, self.key, strict=True)):
                return token
        return None

    def label(self, row: Row) -> str:
        """The row's name for messages: table and key."""
        shown = {column: row[column] for column in self.key} if self.key else row
        return f"{self.table} {_columns(shown)}"


def _known_table(episode: Episode, table: str) -> None:
    known = {*episode.before.tables, *episode.after.tables}
    if table not in known:
        raise VerifierError(f'the state has no table "{table}". {did_you_mean(table, known)}')


def _known_columns(table: str, rows: Sequence[Row], columns: Iterable[str]) -> None:
    known = {column for row in rows for column in row}
    for column in columns:
        if rows and column not in known:
            raise VerifierError(f'table "{table}" has no column "{column}". {did_you_mean(column, known)}')


def _key(before: State, after: State, table: str, rows: Sequence[Row]) -> tuple[str, ...]:
    told = before.keys.get(table, after.keys.get(table))
    if not rows:
        return tuple(told or ())
    key = told if told is not None else ("id",) if "id" in rows[0] else tuple(rows[0])[:1]
    return key if all(column in row for row in rows for column in key) else ()


# --- expected against found ----------------------------------------------------------------------------------


def _wanted(
    name: str, rows: Sequence[Mapping[str, Any]], count: int, columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    if count < 1 or (rows and count != 1):
        raise ValueError(f"{name}: count={count} must be at least 1, and goes without rows given one by one")
    return [{**columns, **row} for row in rows] if rows else [dict(columns)] * count


def _listed(episode: Episode, table: str, kind: str, wanted: Sequence[Mapping[str, Any]]) -> Found:
    diff = _Diff.of(episode, table, {column: None for row in wanted for column in row})
    rows = diff.new if kind == "new" else diff.removed
    pairs = _pairs(wanted, rows)
    spare = {token: row for token, row in rows.items() if token not in pairs.values()}
    missing = [row for index, row in enumerate(wanted) if index not in pairs]
    problems = [_missing(diff, kind, row, spare) for row in missing]
    if spare and len(rows) > len(wanted):
        labels = "; ".join(_cut([diff.label(row) for row in spare.values()]))
        problems.append(f"expected {len(wanted)} {kind} row(s) in {table}, found {len(rows)}; besides: {labels}")
    extra = [_effect(diff, token) for token in spare]
    return Found(frozenset(pairs.values()), "; ".join(problems), tuple(_cut(extra)))


def _pairs(wanted: Sequence[Mapping[str, Any]], rows: Mapping[str, Row]) -> dict[int, str]:
    """Which row fills which expectation: as many as can be, one row each (augmenting paths)."""
    fits = [[token for token, row in rows.items() if not _misfits(row, columns)] for columns in wanted]
    owner: dict[str, int] = {}

    def place(index: int, tried: set[str]) -> bool:
        for token in fits[index]:
            if token not in tried:
                tried.add(token)
                if token not in owner or place(owner[token], tried):
                    owner[token] = index
                    return True
        return False

    for index in range(len(wanted)):
        place(index, set())
    return {index: token for token, index in owner.items()}


def _misfits(row: Row, columns: Mapping[str, Any]) -> list[str]:
    return [column for column, value in columns.items() if column not in row or not _fits(value, row[column])]


def _fits(expected: Any, found: Any) -> bool:
    return bool(expected(found)) if callable(expected) else same(expected, found)


def _missing(diff: _Diff, kind: str, columns: Mapping[str, Any], spare: Mapping[str, Row]) -> str:
    expected = f"expected a {kind} row in {diff.table}" + (f" with {_columns(columns)}" if columns else "")
    if not spare:
        return f"{expected}, found no other {kind} row" if diff.new else f"{expected}, found no {kind} row"
    nearest = min(spare.values(), key=lambda row: len(_misfits(row, columns)))
    wrong = {column: nearest.get(column) for column in _misfits(nearest, columns)}
    return f"{expected}, found {diff.label(nearest)} with {_columns(wrong)}"


def _not_changed(diff: _Diff, token: str, columns: Mapping[str, Any]) -> str:
    before, after = diff.before[token], diff.after.get(token)
    label = diff.label(before)
    if after is None:
        return f"expected {label} to have {_columns(columns)}"
    if wrong := _misfits(after, columns):
        found = _columns({column: after.get(column) for column in wrong})
        return f"expected {label} to have {_columns({c: columns[c] for c in wrong})}, found {found}"
    if all(before.get(column) == after.get(column) for column in columns):
        return f"expected {label} to change to {_columns(columns)}, but it was so from the start"
    return ""


def _stray(diff: _Diff, token: str, columns: Iterable[str]) -> str:
    """What happened to a row beside the columns that may change; empty if nothing did."""
    before, after = diff.before[token], diff.after.get(token)
    if after is None:
        return f"found {diff.label(before)} removed"
    moved = [column for column in _differing(before, after) if column not in columns]
    return f"expected the rest of {diff.label(before)} to stay, found {_moves(before, after, moved)}" if moved else ""


# --- side effects --------------------------------------------------------------------------------------------


def _effects(episode: Episode, table: str, exceptions: Sequence[Exception_]) -> list[str]:
    diff = _Diff.of(episode, table)
    excepted: set[str | None] = set()
    for entry in exceptions:
        if isinstance(entry, tuple) and entry[0] == table and (diff.before or diff.after):
            excepted.add(diff.token(entry[1]))
        elif isinstance(entry, Change) and entry.table == table:
            excepted |= entry.look(episode).rows
    moved = [*diff.removed, *diff.altered, *diff.new]
    return [_effect(diff, token) for token in moved if token not in excepted]


def _effect(diff: _Diff, name: str) -> str:
    return str(Changed(diff.table, diff.key, diff.before.get(name), diff.after.get(name)))


def _differing(before: Row, after: Row) -> list[str]:
    missing = object()
    return [c for c in {**before, **after} if before.get(c, missing) != after.get(c, missing)]


def _moves(before: Row, after: Row, columns: Iterable[str]) -> str:
    return ", ".join(f"{c} {_shown(before.get(c))} -> {_shown(after.get(c))}" for c in columns)


def _columns(columns: Mapping[str, Any]) -> str:
    text = " ".join(f"{column}={_shown(value)}" for column, value in columns.items())
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def _shown(value: Any) -> str:
    if callable(value):
        return f"<{getattr(value, '__name__', type(value).__name__).strip('<>')}>"
    return shown(value)


def _cut(lines: Sequence[str]) -> tuple[str, ...]:
    more = len(lines) - MAX_SIDE_EFFECTS
    return tuple(lines) if more <= 0 else (*lines[:MAX_SIDE_EFFECTS], f"and {more} more")
