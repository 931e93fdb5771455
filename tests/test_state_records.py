"""Two moments compared: whole tables, and large ones of which only what differs from their base is held."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.errors import HarnessError
from uigym.params import rows
from uigym.state import State, differences, pair, state_from_json, state_to_json

TABLE = st.dictionaries(st.integers(0, 9), st.sampled_from("abc"), max_size=8)


def whole(table: dict[int, str]) -> State:
    return State({"t": tuple({"id": k, "v": v} for k, v in sorted(table.items()))}, {"t": ("id",)})


def sparse(table: dict[int, str], base: dict[int, str]) -> State:
    """Only what differs from the base, and what the base says there."""
    keys = sorted(k for k in {**table, **base} if table.get(k) != base.get(k))
    now = tuple({"id": k, "v": table[k]} for k in keys if k in table)
    was = tuple({"id": k, "v": base[k]} for k in keys if k in base)
    return State({"t": now}, {"t": ("id",)}, {"t": was})


@given(TABLE, TABLE, TABLE)
def test_a_large_table_compares_as_if_it_were_whole(base: Any, before: Any, after: Any) -> None:
    expected = [str(change) for change in differences(whole(before), whole(after))]
    found = [str(change) for change in differences(sparse(before, base), sparse(after, base))]
    assert sorted(found) == sorted(expected)
    assert (sparse(before, base).digest() == sparse(after, base).digest()) is (before == after)


@given(TABLE, TABLE)
def test_states_survive_json(base: Any, table: Any) -> None:
    for state in (whole(table), sparse(table, base)):
        assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state


def test_what_differs_is_named_by_table_key_and_column() -> None:
    before = State({"t": ({"id": 1, "v": "a", "w": 2}, {"id": 2, "v": "b", "w": 3}), "gone": ({"id": 7},)})
    after = State({"t": ({"id": 1, "v": "c", "w": 2}, {"id": 3, "v": "b", "w": 3})})
    assert [str(change) for change in differences(before, after)] == [
        "gone id=7: removed",
        't id=1: v "a" -> "c"',
        't id=2: removed with v="b" w=3',
        't id=3: added with v="b" w=3',
    ]
    assert list(differences(before, before)) == []


def test_rows_without_a_key_are_counted() -> None:
    before, after = State({"t": ({"v": 1}, {"v": 1})}, {"t": ()}), State({"t": ({"v": 1},) * 3}, {"t": ()})
    assert [str(change) for change in differences(before, after)] == ["t v=1: added"]
    assert pair(before, after, "t") == (before.tables["t"], after.tables["t"])


def test_a_parameter_cannot_be_drawn_from_what_is_not_held() -> None:
    sampler: Any = rows("t")
    with pytest.raises(HarnessError, match=r'whole=\("t",\)'):
        sampler.draw(None, sparse({1: "a"}, {}), {})
