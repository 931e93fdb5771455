"""The records: what is written can be read again, and what cannot be is refused."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import typing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym import types
from uigym.types import (
    GRANTED,
    Action,
    Answer,
    Cause,
    Click,
    Drag,
    Episode,
    Failure,
    Invalid,
    Key,
    Observation,
    State,
    Step,
    Stop,
    Verdict,
    action_from_json,
    action_to_json,
    state_from_json,
    state_to_json,
)

ACTIONS: tuple[type, ...] = typing.get_args(Action)
NUMBER = st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
STATES = st.builds(
    State,
    st.dictionaries(st.text(), st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=3).map(tuple)),
    st.dictionaries(st.text(), st.lists(st.text(), max_size=2).map(tuple)),
)
steady = settings(deadline=None, max_examples=50)


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a field, by its annotation."""
    if annotation is float:
        return NUMBER
    if typing.get_origin(annotation) is typing.Literal:
        return st.sampled_from(typing.get_args(annotation))
    if typing.get_origin(annotation) is tuple:
        inner = typing.get_args(annotation)
        if inner[-1] is Ellipsis:
            return st.lists(values(inner[0]), max_size=4).map(tuple)
        return st.tuples(*map(values, inner))
    return st.from_type(annotation)


def actions_of(cls: type) -> st.SearchStrategy[Any]:
    return st.builds(cls, **{name: values(hint) for name, hint in typing.get_type_hints(cls).items()})


@steady
@given(st.one_of(*map(actions_of, ACTIONS)))
def test_actions_survive_json(action: Action) -> None:
    assert action_from_json(json.loads(json.dumps(action_to_json(action)))) == action
    assert pickle.loads(pickle.dumps(action)) == action
    assert hash(action) == hash(action)


@pytest.mark.parametrize("cls", ACTIONS)
def test_every_action_has_a_name_and_a_meaning(cls: type) -> None:
    assert types._ACTIONS[cls.__name__.lower()] is cls
    assert cls.__doc__ and not cls.__doc__.startswith(cls.__name__ + "(")


def test_granted_actions_are_actions() -> None:
    assert set(GRANTED) < set(ACTIONS)


def test_defaults_may_be_left_out() -> None:
    assert action_from_json({"action": "click", "x": 1, "y": 2}) == Click(1, 2)
    assert action_from_json({"action": "drag", "path": [[1, 2], [3, 4]]}) == Drag(((1, 2), (3, 4)))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, "no action None; expected one of answer, back, click"),
        ({"action": "tap", "x": 1}, "no action 'tap'"),
        ({"action": ["click"]}, "no action"),
        (
            {"action": "click", "x": 1},
            r"a click action cannot have the fields \['x'\]; expected x, y and if wanted button, count, modifiers$",
        ),
        (
            {"action": "key", "chord": "a", "times": 2},
            r"a key action cannot have the fields \['chord', 'times'\]; expected chord$",
        ),
        ({"action": "done", "text": "x"}, r"a done action cannot have the fields \['text'\]; expected none$"),
    ],
)
def test_records_that_are_no_action(record: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action_from_json(record)


@steady
@given(STATES)
def test_states_survive_json(state: State) -> None:
    again = state_from_json(json.loads(json.dumps(state_to_json(state))))
    assert again == state and again.digest() == state.digest()


def test_states_of_before_there_were_keys_are_read() -> None:
    assert state_from_json({"tables": {"t": []}}) == State({"t": ()})


@steady
@given(STATES, STATES)
def test_digests_are_equal_exactly_if_the_rows_are(a: State, b: State) -> None:
    same = json.dumps(state_to_json(a)["tables"], sort_keys=True) == json.dumps(
        state_to_json(b)["tables"], sort_keys=True
    )
    assert (a.digest() == b.digest()) is same


def test_digest_knows_the_order_of_rows_and_not_of_columns() -> None:
    rows = ({"id": 1, "a": 2}, {"id": 2, "a": 3})
    assert State({"t": rows}).digest() == State({"t": ({"a": 2, "id": 1}, {"a": 3, "id": 2})}).digest()
    assert State({"t": rows}).digest() != State({"t": rows[::-1]}).digest()


def episode(**fields: Any) -> Episode:
    return Episode("e", "shop", "buy", 0, {}, "Buy.", (), **fields)


VERDICT, FAILURE = Verdict(1.0, True), Failure(Cause.BROWSER, "crashed")


@pytest.mark.parametrize("stop", [stop for stop in Stop if stop is not Stop.ERROR])
def test_an_episode_that_ended_by_itself_has_no_failure(stop: Stop) -> None:
    assert episode(stop=stop, verdict=VERDICT).reward == 1.0
    with pytest.raises(ValueError, match="a failure exactly if it stopped by error"):
        episode(stop=stop, failure=FAILURE)


def test_an_episode_that_failed_has_a_failure_and_no_verdict() -> None:
    assert episode(stop=Stop.ERROR, failure=FAILURE).reward is None
    with pytest.raises(ValueError, match="a failure exactly if"):
        episode(stop=Stop.ERROR, verdict=VERDICT)
    with pytest.raises(ValueError, match="both a verdict and a failure"):
        episode(stop=Stop.ERROR, verdict=VERDICT, failure=FAILURE)


def test_records_are_frozen() -> None:
    for record in (Key("a"), State(), VERDICT, FAILURE, episode(stop=Stop.DONE, verdict=VERDICT)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, dataclasses.fields(record)[0].name, None)


def test_step_unpacks_as_five_values() -> None:
    observation = Observation(b"png", 320, 256, "Buy.")
    seen, reward, terminated, truncated, info = Step(observation, 1.0, True, False, {})
    assert (seen, reward, terminated, truncated, info) == (observation, 1.0, True, False, {})
    assert observation.image_hash == hashlib.sha256(b"png").hexdigest()


def test_what_ends_an_episode_and_what_could_not_be_read() -> None:
    assert action_to_json(Answer("12")) == {"action": "answer", "text": "12"}
    assert action_to_json(Invalid("click it", "no JSON")) == {
        "action": "invalid",
        "text": "click it",
        "reason": "no JSON",
    }
