"""Tasks of several parts: what each is worth, along the right way and beside it; and tables that are large."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import VerifierError
from uigym.types import Episode, Row, State, Stop
from uigym.verifiers.answer import equals
from uigym.verifiers.match import any_value, close, money, regex, text, when
from uigym.verifiers.state import added, changed, drafted, only, removed, unchanged
from uigym.verify import Verifier

KEYS = {"tickets": ("id",), "replies": ("id",), "events": ("id",)}
TICKETS: dict[int, Row] = {
    7: {"id": 7, "status": "open", "owner": "", "title": "Printer"},
    8: {"id": 8, "status": "open", "owner": "Bob", "title": "Mouse"},
}
Table = dict[int, Row]


def state(tickets: Table | None = None, replies: Sequence[Row] = (), events: int = 0) -> State:
    tables = {
        "tickets": tuple((TICKETS if tickets is None else tickets).values()),
        "replies": tuple({"id": i, **row} for i, row in enumerate(replies, 1)),
        "events": tuple({"id": i} for i in range(events)),
    }
    return State(tables, KEYS)


def episode(after: State, before: State | None = None, **fields: Any) -> Episode:
    stop = Stop.ANSWERED if "answer" in fields else Stop.DONE
    return Episode("e", "desk", "t", 0, {}, "Do.", (), stop, before=before or state(), after=after, **fields)


def edited(**columns: Any) -> Table:
    return {**TICKETS, 7: {**TICKETS[7], **columns}}


CLOSE = changed("tickets", key=7, status="closed")
ASSIGN = changed("tickets", key=7, owner="Ada")
REPLY = added("replies", ticket=7, text=text("Thank you"), sent=1)
ALL = only(CLOSE, ASSIGN, (2, REPLY), except_="events")
SENT: Row = {"ticket": 7, "text": "Thank you", "sent": 1}


@pytest.mark.parametrize(
    ("after", "score"),
    [
        (state(), 0.0),
        (state(edited(status="closed")), 0.25),
        (state(edited(owner="Ada")), 0.25),
        (state(edited(status="closed", owner="Ada")), 0.5),
        (state(edited(status="closed", owner="Bob")), 0.25),
        (state(replies=[SENT]), 0.5),
        (state(edited(status="closed", owner="Ada"), [SENT]), 1.0),
        (state(edited(status="closed", owner="Ada"), [SENT], events=9), 1.0),
        (state(edited(status="closed", owner="Ada"), [SENT, SENT]), 0.0),
        (state(edited(status="closed", owner="Ada"), [{**SENT, "ticket": 8}]), 0.0),
        (state(edited(status="closed", owner="Ada", title="x"), [SENT]), 0.0),
        (state({**edited(status="closed", owner="Ada"), 8: {**TICKETS[8], "status": "closed"}}, [SENT]), 0.0),
        (state({7: edited(status="closed", owner="Ada")[7]}, [SENT]), 0.0),
    ],
)
def test_only(after: State, score: float) -> None:
    verdict = ALL(episode(after))
    assert verdict.score == score and verdict.success is (score == 1.0)
    assert bool(verdict.reason) is not verdict.success


def test_only_names_side_effects_by_table_key_and_column() -> None:
    verdict = ALL(episode(state(edited(status="closed", owner="Ada", title="x"), [SENT])))
    assert verdict.side_effects == (
        'tickets id=7: status "open" -> "closed", owner "" -> "Ada", title "Printer" -> "x"',
    )
    assert 'expected the rest of tickets id=7 to stay, found title "Printer" -> "x"' in verdict.reason


def test_only_in_order_pays_for_nothing_before_its_time() -> None:
    steps = only(CLOSE, REPLY, equals("7"), in_order=True)
    closed, replied = edited(status="closed"), [SENT]
    assert steps(episode(state(replies=replied), answer="7")).score == 0.0
    assert steps(episode(state(closed), answer="7")).score == pytest.approx(1 / 3)
    assert steps(episode(state(closed, replied), answer="8")).score == pytest.approx(2 / 3)
    assert steps(episode(state(closed, replied), answer="7")).success
    assert only((3, CLOSE), REPLY, in_order=True)(episode(state(closed))).score == 0.75


DRAFTED = only(CLOSE, drafted(REPLY, sent=0))


@pytest.mark.parametrize(
    ("replies", "score"),
    [
        ([], 0.5),
        ([{"ticket": 7, "text": "", "sent": 0}], 0.5),
        ([{"ticket": 7, "text": "Thank", "sent": 0}], 0.5),
        ([SENT], 1.0),
        ([SENT, {"ticket": 7, "text": "", "sent": 0}], 0.0),
        ([{"ticket": 7, "text": "", "sent": 0}] * 2, 0.0),
        ([{"ticket": 7, "text": "Thank", "sent": 1}], 0.0),
    ],
)
def test_a_draft_is_worth_nothing_and_costs_nothing(replies: list[Row], score: float) -> None:
    assert DRAFTED(episode(state(edited(status="closed"), replies))).score == score


WAY: list[State] = [
    state(),
    state(edited(status="closed")),
    state(edited(status="closed"), [{"ticket": 7, "text": "", "sent": 0}]),
    state(edited(status="closed"), [{"ticket": 7, "text": "Thank you", "sent": 0}]),
    state(edited(status="closed"), [SENT]),
    state(edited(status="closed", owner="Ada"), [SENT]),
]
PARTS: tuple[Verifier, ...] = (CLOSE, drafted(REPLY, sent=0), ASSIGN)


@pytest.mark.parametrize("in_order", [False, True])
def test_credit_never_falls_along_the_right_way_and_undoing_gives_it_back(in_order: bool) -> None:
    verify = only(*PARTS, in_order=in_order)
    scores = [verify(episode(after)).score for after in WAY]
    assert scores == sorted(scores) and scores[0] == 0.0 and scores[-1] == 1.0 and len(set(scores)) == 4
    for there, back in itertools.combinations(range(len(WAY)), 2):
        undone = verify(episode(WAY[there]))  # whatever was reached in between is in neither state
        assert undone.score == scores[there] <= scores[back]


@settings(deadline=None)
@given(st.permutations(range(3)), st.data())
def test_any_order_is_monotone_and_any_stray_row_is_worth_nothing(order: list[int], data: st.DataObject) -> None:
    columns: list[dict[str, Any]] = [{"status": "closed"}, {"owner": "Ada"}]
    done: dict[str, Any] = {}
    replies: list[Row] = []
    last = 0.0
    for part in order:
        if part < 2:
            done |= columns[part]
        else:
            replies = [SENT]
        score = ALL(episode(state(edited(**done), replies))).score
        assert score > last
        last = score
        stray = data.draw(st.sampled_from([{8: {**TICKETS[8], "owner": "Eve"}}, {9: {**TICKETS[8], "id": 9}}]))
        assert ALL(episode(state({**edited(**done), **stray}, replies))).score == 0.0
    assert last == 1.0


def test_only_takes_what_is_wrong_from_the_start_to_be_no_work() -> None:
    done = state(edited(status="closed", owner="Ada"))
    verdict = only(CLOSE, ASSIGN)(episode(done, done))
    assert verdict.score == 0.0 and "it was so from the start" in verdict.reason


# --- columns that may change --------------------------------------------------------------------------------------

PEOPLE = State({"people": ({"id": 1, "name": "Ada", "seen": 1}, {"id": 2, "name": "Ben", "seen": 1}), "a.b": ()})


def people(*rows: Row, **tables: Any) -> Episode:
    return episode(State({**PEOPLE.tables, "people": rows, **tables}), PEOPLE)


ADA, BEN = {"id": 1, "name": "Ada", "seen": 2}, {"id": 2, "name": "Ben", "seen": 1}


@pytest.mark.parametrize(
    ("run", "effects"),
    [
        (people(ADA, BEN), ()),
        (people(ADA, {**BEN, "seen": None}), ()),
        (people({**ADA, "name": "Eve"}, BEN), ('people id=1: name "Ada" -> "Eve"',)),
        (people(ADA), ('people id=2: removed with name="Ben" seen=1',)),
        (people(ADA, BEN, {**BEN, "id": 3}), ('people id=3: added with name="Ben" seen=1',)),
        (people(ADA, BEN, **{"a.b": ({"id": 1},)}), ("a.b id=1: added",)),
    ],
)
def test_a_column_may_change_in_rows_that_stay(run: Episode, effects: tuple[str, ...]) -> None:
    assert unchanged(except_="people.seen")(run).side_effects == effects
    assert unchanged(except_=["people.seen"])(run).success is (not effects)


def test_a_column_that_may_change_may_do_so_in_the_row_that_must() -> None:
    rename = only(changed("people", key=2, name="Bob"), except_=["people.seen"])
    assert rename(people(ADA, {**BEN, "name": "Bob", "seen": 7})).success
    assert not rename(people({**ADA, "name": "Bob"}, BEN)).success
    assert not only(changed("people", key=2, name="Bob"))(people(ADA, {**BEN, "name": "Bob"})).success


def test_a_table_with_a_dot_in_its_name_is_a_table() -> None:
    assert unchanged(except_=["a.b", "people"])(people(**{"a.b": ({"id": 1},)})).success
    for wrong, message in [
        ("people.sen", 'no column "sen". Did you mean "seen"'),
        ("peple.seen", 'no table "peple.seen"'),
    ]:
        with pytest.raises(VerifierError, match=message):
            unchanged(except_=wrong)(people(ADA, BEN))


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: only(), ValueError),
        (lambda: only((0, CLOSE)), ValueError),
        (lambda: only((-1, CLOSE), ASSIGN), ValueError),
        (lambda: only((float("nan"), CLOSE)), ValueError),
        (lambda: only("tickets"), TypeError),  # type: ignore[arg-type]
        (lambda: only(CLOSE, except_=[("tickets", 7, "status")]), ValueError),  # type: ignore[list-item]
        (lambda: drafted(REPLY), ValueError),
    ],
)
def test_mistakes_are_caught_when_written(build: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        build()


# --- matchers as columns ------------------------------------------------------------------------------------------


FITTING: Row = {"id": 1, "total": "$12.50", "due": "2026-03-05T09:00Z", "note": " No  Sugar", "rate": 0.31, "kind": "b"}
EXPECTED: dict[str, Any] = {
    "total": money("12.50", "USD"),
    "due": when("2026-03-05"),
    "note": text("no sugar"),
    "rate": close(0.3, 0.02),
    "kind": any_value("a", "b"),
}


@pytest.mark.parametrize(
    ("column", "wrong"),
    [("", ""), ("total", "12.51"), ("due", "2026-03-06"), ("note", "sugar"), ("rate", 0.33), ("kind", "c")],
)
def test_matchers_stand_for_columns(column: str, wrong: Any) -> None:
    row = {**FITTING, column: wrong} if column else FITTING
    verdict = added("orders", **EXPECTED)(episode(State({"orders": (row,)}), State({"orders": ()})))
    assert verdict.success is (not column)
    assert verdict.success or f"found orders id=1 with {column}={json.dumps(wrong)}" in verdict.reason


def test_matchers_show_themselves_in_reasons() -> None:
    verdict = changed("tickets", key=7, status=regex("clos.*"))(episode(state()))
    assert verdict.reason == "expected tickets id=7 to have status=regex('clos.*'), found status=\"open\""


# --- large tables -------------------------------------------------------------------------------------------------


def sparse(rows: dict[int, str], base: dict[int, str]) -> State:
    """Only what differs from the base, as a probe gives a large table."""
    keys = sorted(k for k in {**rows, **base} if rows.get(k) != base.get(k))
    now = tuple({"id": k, "v": rows[k]} for k in keys if k in rows)
    return State({"t": now}, {"t": ("id",)}, {"t": tuple({"id": k, "v": base[k]} for k in keys if k in base)})


def whole(rows: dict[int, str]) -> State:
    return State({"t": tuple({"id": k, "v": v} for k, v in sorted(rows.items()))}, {"t": ("id",)})


ROWS = st.dictionaries(st.integers(0, 6), st.sampled_from("abc"), max_size=6)
VERIFIERS: list[Verifier] = [
    unchanged(),
    unchanged(except_=[("t", 3)]),
    added("t", v="a"),
    removed("t", id=2),
    only(added("t", v="b", count=2)),
    only(removed("t", v="a"), (2, added("t", v="b"))),
]


@settings(deadline=None, max_examples=80)
@given(ROWS, ROWS, ROWS)
def test_a_large_table_is_judged_as_if_it_were_whole(base: Any, before: Any, after: Any) -> None:
    for verify in VERIFIERS:
        expected = verify(episode(whole(after), whole(before)))
        found = verify(episode(sparse(after, base), sparse(before, base)))
        assert (found.score, found.success) == (expected.score, expected.success)
        assert len(found.side_effects) == len(expected.side_effects)
    effects = unchanged()(episode(whole(after), whole(before))).side_effects
    assert sorted(unchanged()(episode(sparse(after, base), sparse(before, base))).side_effects) == sorted(effects)
    if 3 in before:
        change = only(changed("t", key=3, v="c"))
        expected = change(episode(whole(after), whole(before)))
        assert change(episode(sparse(after, base), sparse(before, base))).score == expected.score


def test_a_row_of_a_large_table_that_nobody_touched_is_no_mistake_of_the_harness() -> None:
    same = sparse({1: "a"}, {1: "a"})
    assert changed("t", key=1, v="b")(episode(same, same)).reason == 'expected t 1 to have v="b", found it as it was'
    with pytest.raises(VerifierError, match="no row had the key 1 when"):
        changed("t", key=1, v="b")(episode(sparse({1: "b"}, {}), sparse({}, {})))


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_rows_that_stay_cost_no_row_that_moved(seed: int) -> None:
    """Rows are told apart before any of them gets a name: none may be lost on that way."""
    draw = random.Random(seed)
    before = {k: draw.choice("ab") for k in draw.sample(range(200), 100)}
    after = {**before, **{k: draw.choice("abc") for k in draw.sample(range(200), draw.randrange(5))}}
    for gone in draw.sample(sorted(before), draw.randrange(4)):
        after.pop(gone, None)
    moved = {k for k in {**before, **after} if before.get(k) != after.get(k)}
    assert len(unchanged()(episode(whole(after), whole(before))).side_effects) == len(moved)
    assert unchanged(except_=[("t", k) for k in moved])(episode(whole(after), whole(before))).success
