"""Samplers: what they draw, from what, and what they say when there is nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import HarnessError
from uigym.params import Sampler, between, computed, one_from, one_of, rows
from uigym.types import State

STATE = State(
    {
        "orders": ({"id": 1, "table_no": 3, "open": 1}, {"id": 2, "table_no": 5, "open": 0}),
        "tables": ({"no": 3}, {"no": 5}, {"no": 7}),
        "coupons": (),
    }
)


def draws(sampler: Any, n: int = 200, **params: Any) -> set[Any]:
    """Distinct values of many draws."""
    return {repr(draw(sampler, seed, params)) for seed in range(n)}


def draw(sampler: Any, seed: int = 0, params: Mapping[str, Any] | None = None, state: State = STATE) -> Any:
    assert isinstance(sampler, Sampler)
    return sampler.draw(random.Random(seed), state, params or {})


@pytest.mark.parametrize(
    ("sampler", "values"),
    [
        (one_of("tea", "cake"), {"'tea'", "'cake'"}),
        (between(1, 3), {"1", "2", "3"}),
        (between(100, 300, step=100), {"100", "200", "300"}),
        (between(1, 6, step=4), {"1", "5"}),
        (between(4, 4), {"4"}),
        (rows("orders", "table_no"), {"3", "5"}),
        (rows("orders", "id", where={"open": 1}), {"1"}),
        (rows("orders", "id", where=lambda row, params: row["id"] > 1), {"2"}),
        (rows("orders", where={"id": 2}), {"{'id': 2, 'table_no': 5, 'open': 0}"}),
        (one_from(lambda state, params: [len(state.tables), "x"]), {"3", "'x'"}),
        (computed(lambda state, params: len(state.tables["orders"])), {"2"}),
    ],
)
def test_every_value_is_drawn_and_no_other(sampler: Any, values: set[str]) -> None:
    assert draws(sampler) == values


def test_later_parameters_see_earlier_ones() -> None:
    free = rows("tables", "no", where=lambda row, params: row["no"] != params["table_no"])
    assert draws(free, table_no=3) == {"5", "7"}
    assert draw(computed(lambda state, params: params["a"] * 2), params={"a": 21}) == 42


def test_one_of_is_even() -> None:
    found = [draw(one_of("a", "b"), seed) for seed in range(1000)]
    assert 430 < found.count("a") < 570


@settings(deadline=None, max_examples=50)
@given(st.integers(-100, 100), st.integers(0, 50), st.integers(1, 7), st.integers())
def test_between_stays_between(low: int, width: int, step: int, seed: int) -> None:
    value = draw(between(low, low + width, step=step), seed)
    assert low <= value <= low + width and (value - low) % step == 0


@settings(deadline=None, max_examples=50)
@given(st.integers())
def test_a_draw_depends_on_its_source_alone(seed: int) -> None:
    sampler = rows("tables", "no")
    random.seed(1)
    first = draw(sampler, seed)
    random.seed(2)
    assert draw(sampler, seed) == first


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: one_of(), "at least one value"),
        (lambda: between(5, 4), r"between\(5, 4, step=1\): expected low <= high"),
        (lambda: between(1, 4, step=0), "positive step"),
    ],
)
def test_mistakes_are_caught_when_written(build: Any, message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        build()


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (rows("order"), r'rows\("order"\): the state has no such table. Tables: coupons, orders, tables'),
        (rows("coupons"), "none of 0 rows fits"),
        (rows("orders", where={"open": 9}), r"none of 2 rows fits; the parameters so far: \{'a': 1\}"),
        (one_from(lambda state, params: []), "the state offers no value"),
    ],
)
def test_nothing_to_draw_is_an_error(sampler: Any, message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        draw(sampler, params={"a": 1})
