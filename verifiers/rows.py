"""What changed in a table, row by row: what the verifiers of the product's data stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from uigym.compare import Matcher, same
from uigym.errors import VerifierError, did_you_mean
from uigym.state import Changed, by_token, pair, shown
from uigym.state import token as token_of
from uigym.types import Episode, Row, State
from uigym.verifiers.match import pairing

MAX_LISTED = 50
"""More rows are counted, not listed."""
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Diff:
    """The rows of one table that are not the same before and after, by a token of their key."""

    table: str
    key: tuple[str, ...]
    """Columns of the key; () where rows have none and are compared whole."""
    before: dict[str, Row]
    after: dict[str, Row]
    rest: tuple[Row, ...] = ()
    """All rows from before: those that stayed are named only when they are asked for."""
    partial: bool = False
    """The states hold only those rows of the table that ever changed."""

    @classmethod
    def of(cls, episode: Episode, table: str, columns: Iterable[str] = ()) -> Diff:
        """What changed in a table.

        Raises:
            VerifierError: There is no such table or column.
        """
        known_table(episode, table)
        old, new = pair(episode.before, episode.after, table)
        _known_columns(table, old or new, new, columns)
        key = _key(episode.before, episode.after, table, old or new)
        found = _moved(old, new, key)
        if found is None:
            key, found = (), (old, new)
        partial = table in episode.before.base or table in episode.after.base
        return cls(table, key, by_token(found[0], key), by_token(found[1], key), old, partial)

    @property
    def new(self) -> dict[str, Row]:
        """Rows that were not there before."""
        return {token: row for token, row in self.after.items() if token not in self.before}

    @property
    def removed(self) -> dict[str, Row]:
        """Rows that are gone."""
        return {token: row for token, row in self.before.items() if token not in self.after}

    @property
    def altered(self) -> list[str]:
        """Tokens of the rows that are still there, but not as they were."""
        return [t for t, row in self.before.items() if t in self.after and self.after[t] != row]

    @property
    def moved(self) -> list[str]:
        """Tokens of all rows that are not the same: gone, altered, new."""
        return [*self.removed, *self.altered, *self.new]

    def token(self, key: Any) -> str | None:
        """Of the row with that key, before or else after; None if there is none.

        A key that is just the same comes first; else one that compares as the same ("7" and 7), if it is the only one.

        Raises:
            VerifierError: The table's rows are not named by such a key, or several rows from before are.
        """
        values = key if isinstance(key, tuple) else (key,)
        if len(values) != len(self.key):
            need = ", ".join(self.key) or "none: rows cannot be named"
            raise VerifierError(f'the key {key!r} does not fit table "{self.table}", whose key is ({need})')
        named = self._named(self.rest, values)
        if len(named) > 1:
            labels = "; ".join(map(self.label, named[:3]))
            raise VerifierError(
                f"the key {key!r} names {len(named)} rows: {labels}. Write the key just as it is stored"
            )
        if named:
            token = token_of(named[0], self.key)
            if token not in self.before:  # it stayed as it was
                self.before[token] = self.after[token] = named[0]
            return token
        named = self._named(tuple(self.new.values()), values)
        return token_of(named[0], self.key) if len(named) == 1 else None

    def _named(self, rows: Sequence[Row], values: Sequence[Any]) -> list[Row]:
        def fit(one: Callable[[Any, Any], bool]) -> list[Row]:
            return [row for row in rows if all(one(v, row[c]) for v, c in zip(values, self.key, strict=True))]

        return fit(lambda value, found: type(value) is type(found) and value == found) or fit(same)

    def label(self, row: Row) -> str:
        """The row's name for messages: table and key."""
        named = {column: row[column] for column in self.key} if self.key else row
        return f"{self.table} {columns_shown(named)}"

    def moved_only(self, token: str, columns: Sequence[str]) -> bool:
        """Whether a row is still there and differs in nothing but these columns."""
        before, after = self.before.get(token), self.after.get(token)
        return before is not None and after is not None and {*differing(before, after)} <= {*columns}

    def effect(self, token: str, without: Sequence[str] = ()) -> str:
        """What happened to a row, as side effects are listed: table, key, columns; some columns may be left out."""
        before, after = self.before.get(token), self.after.get(token)
        if without and before is not None and after is not None:
            after = {**after, **{column: before[column] for column in without if column in before}}
        return str(Changed(self.table, self.key, before, after))


def known_table(episode: Episode, table: str) -> None:
    """Raises VerifierError if neither state has the table."""
    known = {*episode.before.tables, *episode.after.tables}
    if table not in known:
        raise VerifierError(f'the state has no table "{table}". {did_you_mean(table, known)}')


def need_table(episode: Episode, table: str, probe: str) -> None:
    """Raises VerifierError if the state lacks the table that a probe gives; the text says which probe."""
    known = {*episode.before.tables, *episode.after.tables}
    if table not in known:
        have = ", ".join(sorted(known)) or "none"
        raise VerifierError(f'the state has no table "{table}" (it has: {have}). Write in the harness: state={probe}')


def _known_columns(table: str, old: Sequence[Row], new: Sequence[Row], columns: Iterable[str]) -> None:
    for column in columns:
        if old and not any(column in row for row in old) and not any(column in row for row in new):
            known = {name for row in (*old, *new) for name in row}
            raise VerifierError(f'table "{table}" has no column "{column}". {did_you_mean(column, known)}')


def _key(before: State, after: State, table: str, rows: Sequence[Row]) -> tuple[str, ...]:
    told = before.keys.get(table, after.keys.get(table))
    if not rows:
        return tuple(told or ())
    return tuple(told if told is not None else ("id",) if "id" in rows[0] else tuple(rows[0])[:1])


def _moved(
    old: tuple[Row, ...], new: tuple[Row, ...], key: Sequence[str]
) -> tuple[tuple[Row, ...], tuple[Row, ...]] | None:
    """The rows that are not the same; None where the key does not tell rows apart.

    Done before any row gets its token, since almost all rows of a large table are as they were.
    """
    if not key:
        return None
    try:
        first, last = (dict(zip(map(itemgetter(*key), rows), rows, strict=True)) for rows in (old, new))
    except (KeyError, TypeError):  # rows without the key, or with a list in it
        return _moved_by_token(old, new, key)
    if len(first) < len(old) or len(last) < len(new):
        return None
    return (
        tuple(row for name, row in first.items() if last.get(name) != row),
        tuple(row for name, row in last.items() if first.get(name) != row),
    )


def _moved_by_token(
    old: tuple[Row, ...], new: tuple[Row, ...], key: Sequence[str]
) -> tuple[tuple[Row, ...], tuple[Row, ...]] | None:
    rows = (*old, *new)
    if not all(column in row for row in rows for column in key):
        return None
    unique = all(len({token_of(row, key) for row in side}) == len(side) for side in (old, new))
    return (old, new) if unique else None


# --- expected against found ----------------------------------------------------------------------------------


def pairs(wanted: Sequence[Mapping[str, Any]], rows: Mapping[str, Row]) -> dict[int, str]:
    """Which row fills which expectation: as many as can be, one row each."""
    fits = [[token for token, row in rows.items() if not misfits(row, columns)] for columns in wanted]
    return {index: token for index, token in enumerate(pairing(fits)) if token is not None}


def misfits(row: Row, columns: Mapping[str, Any]) -> list[str]:
    """The columns of a row that are not as expected."""
    return [column for column, value in columns.items() if column not in row or not fits(value, row[column])]


def fits(expected: Any, found: Any) -> bool:
    """Whether a value is as expected: as a plain value, a matcher or a function of the value says."""
    return bool(expected(found)) if callable(expected) else same(expected, found)


def differing(before: Row, after: Row) -> list[str]:
    """Columns that are not the same in two rows."""
    missing = object()
    return [c for c in {**before, **after} if before.get(c, missing) != after.get(c, missing)]


# --- how it is told ------------------------------------------------------------------------------------------


def columns_shown(columns: Mapping[str, Any]) -> str:
    """Columns and values for messages, cut where they are long."""
    text = " ".join(f"{column}={value_shown(value)}" for column, value in columns.items())
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def value_shown(value: Any) -> str:
    """A value, a matcher or a function for messages."""
    if isinstance(value, Matcher):
        return value.shown
    if callable(value):
        return f"<{getattr(value, '__name__', type(value).__name__).strip('<>')}>"
    return shown(value)


def cut(lines: Sequence[str]) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    more = len(lines) - MAX_LISTED
    return tuple(lines) if more <= 0 else (*lines[:MAX_LISTED], f"and {more} more")
