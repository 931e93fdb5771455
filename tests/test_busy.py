"""What time goes to."""

from __future__ import annotations

import pytest

from uigym.busy import Busy, Spent


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
def busy(now: list[float]) -> Busy:
    return Busy(lambda: now[0])


def test_two_in_a_phase_count_twice(busy: Busy, now: list[float]) -> None:
    with busy.phase("act"):
        now[0] = 2
        with busy.phase("act"), busy.phase("wait"):
            now[0] = 3
        now[0] = 4
    now[0] = 10
    spent = busy.spent()
    assert (spent.wall, spent.total, spent.some) == (10, {"act": 5, "wait": 1}, {"act": 4, "wait": 1})
    assert spent.share("act", "wait", of=4) == 6 / 40 and spent.share("nothing") == 0


def test_what_is_under_way_counts_up_to_now(busy: Busy, now: list[float]) -> None:
    with busy.phase("act"):
        now[0] = 3
        first = busy.spent()
        now[0] = 5
        assert (first.total, busy.spent().since(first)) == ({"act": 3}, Spent(2, {"act": 2}, {"act": 2}))


def test_those_who_are_held_do_nothing(busy: Busy, now: list[float]) -> None:
    with busy.phase("decide"), busy.phase("act"):
        now[0] = 1
        with busy.hold("decide"):
            now[0] = 4
        now[0] = 5
    assert busy.spent().total == {"decide": 2, "act": 5}


def test_an_error_ends_a_phase(busy: Busy, now: list[float]) -> None:
    with pytest.raises(KeyError), busy.phase("act"):
        raise KeyError
    now[0] = 9
    assert busy.spent().total.get("act", 0) == 0
    assert Spent().share("act") == 0
