"""Samplers of task parameters: the default values of a task function's parameters.

Each is typed as the value that it yields, so that the task function reads as ordinary code. What is drawn is a
function of the harness, the task, the seed and the product's initial state alone, never of global random state.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from uigym.errors import HarnessError
from uigym.types import Row, State

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws one parameter from (random source, initial state, parameters drawn before it)."""

    draw: Callable[[random.Random, State, Mapping[str, Any]], Any]
    label: str


def one_of(*values: T) -> T:
    """One of the values, each as likely.

    Raises:
        HarnessError: No value was given.
    """
    if not values:
        raise HarnessError("one_of() needs at least one value")
    return _typed(Sampler(lambda rng, state, params: rng.choice(values), f"one_of{values!r}"))


def between(low: int, high: int, *, step: int = 1) -> int:
    """A whole number from low to high, both included, in steps.

    Raises:
        HarnessError: The range is empty or the step is not positive.
    """
    if step <= 0 or high < low:
        raise HarnessError(f"between({low}, {high}, step={step}): expected low <= high and a positive step")
    return _typed(Sampler(lambda rng, state, params: rng.randrange(low, high + 1, step), f"between({low}, {high})"))


def rows(
    table: str,
    column: str | None = None,
    *,
    where: Mapping[str, Any] | Callable[[Row, Mapping[str, Any]], bool] | None = None,
) -> Any:
    """A row of the product's initial state, or one column of it.

    Args:
        table: Name of the table.
        column: The value to yield; None yields the whole row, usable as {name[column]} in an instruction.
        where: Columns that must have these values, or a function (row, parameters drawn before) -> bool.
    """

    def draw(rng: random.Random, state: State, params: Mapping[str, Any]) -> Any:
        if table not in state.tables:
            raise HarnessError(
                f'rows("{table}"): the state has no such table. Tables: {", ".join(sorted(state.tables))}'
            )
        if table in state.base:
            raise HarnessError(
                f'rows("{table}"): the table is large, so the state holds only the rows that change. '
                f'Name it in the probe\'s whole=("{table}",), or sample from a smaller table'
            )
        found = [row for row in state.tables[table] if _matches(row, params, where)]
        if not found:
            raise HarnessError(
                f'rows("{table}"): none of {len(state.tables[table])} rows fits; the parameters so far: {dict(params)}'
            )
        row = rng.choice(found)
        return row if column is None else row[column]

    return _typed(Sampler(draw, f"rows({table!r})"))


def one_from(function: Callable[[State, Mapping[str, Any]], Sequence[T]]) -> T:
    """One of the values that a function finds in the initial state, given the parameters drawn before, each as likely."""

    def draw(rng: random.Random, state: State, params: Mapping[str, Any]) -> T:
        found = function(state, params)
        if not found:
            raise HarnessError(f"one_from: the state offers no value; the parameters so far: {dict(params)}")
        return rng.choice(found)

    return _typed(Sampler(draw, "one_from"))


def computed(function: Callable[[State, Mapping[str, Any]], T]) -> T:
    """A value derived from the initial state and the parameters drawn before it: an expected answer, say."""
    return _typed(Sampler(lambda rng, state, params: function(state, params), "computed"))


def _matches(row: Row, params: Mapping[str, Any], where: Any) -> bool:
    if where is None:
        return True
    if callable(where):
        return bool(where(row, params))
    return all(row[key] == value for key, value in where.items())


def _typed(sampler: Sampler) -> Any:  # what a sampler yields is typed as the value
    return sampler
