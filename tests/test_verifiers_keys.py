"""How a row is named by its key: just as it is stored, or else as what compares the same, if there is one such."""

from __future__ import annotations

from typing import Any

import pytest

from uigym.errors import VerifierError
from uigym.types import Episode, Row, State, Stop
from uigym.verifiers.state import changed, unchanged


def episode(after: State, before: State) -> Episode:
    return Episode("e", "kiosk", "set", 0, {}, "Set.", (), Stop.DONE, before=before, after=after)


def setting(name: Any, value: str = "light") -> Row:
    return {"name": name, "value": value}


@pytest.mark.parametrize(
    ("key", "before", "after", "success"),
    [
        ("theme", ["theme"], [setting("theme", "dark")], True),
        ("theme", ["theme ", "theme"], [setting("theme "), setting("theme", "dark")], True),
        ("theme", ["theme ", "theme"], [setting("theme ", "dark"), setting("theme")], False),
        ("theme", ["theme"], [setting("theme "), setting("theme")], False),
        ("theme", ["theme"], [setting("theme ", "dark"), setting("theme")], False),
        ("theme", ["theme"], [setting("theme ", "dark")], False),
        (7, ["7"], [setting("7", "dark")], True),
        (7, ["007", 7], [setting("007"), setting(7, "dark")], True),
        (7, ["007", 7], [setting("007", "dark"), setting(7)], False),
        (7, ["7"], [setting("7"), setting("007", "dark"), setting("07")], False),
    ],
)
def test_changed_finds_just_the_row_that_is_meant(key: Any, before: list[Any], after: list[Row], success: bool) -> None:
    states = [
        State({"settings": tuple(rows)}, {"settings": ("name",)}) for rows in ([setting(n) for n in before], after)
    ]
    verdict = changed("settings", key=key, value="dark")(episode(states[1], states[0]))
    assert verdict.success is success


def test_a_key_that_names_several_rows_is_a_mistake_of_the_harness() -> None:
    state = State({"settings": (setting("007"), setting("7"))}, {"settings": ("name",)})
    with pytest.raises(VerifierError, match='names 2 rows: settings name="007"; settings name="7"'):
        changed("settings", key=7, value="dark")(episode(state, state))


def test_rows_that_a_policy_makes_up_are_no_mistake_of_the_harness() -> None:
    old = State({"settings": (setting("a"),)}, {"settings": ("name",)})
    new = State({"settings": (setting("a"), setting("7"), setting("07"))}, {"settings": ("name",)})
    assert len(unchanged(except_=[("settings", 7)])(episode(new, old)).side_effects) == 2
    assert len(unchanged(except_=[("settings", "07")])(episode(new, old)).side_effects) == 1
