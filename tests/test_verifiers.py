"""The ready-made verifiers: what passes, and the near misses that must not."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import VerifierError
from uigym.types import Episode, Row, State, Stop, Verdict
from uigym.verifiers.answer import equals
from uigym.verifiers.page import url_matches
from uigym.verifiers.state import added, changed, removed, unchanged
from uigym.verify import Verifier, all_of, weighted

ORDERS: tuple[Row, ...] = (
    {"id": 11, "table_no": 3, "status": "open", "total": 4.5},
    {"id": 12, "table_no": 5, "status": "open", "total": 12.0},
)
LINES: tuple[Row, ...] = (
    {"order_id": 11, "line": 1, "item": "Tea", "quantity": 1},
    {"order_id": 12, "line": 1, "item": "Cake", "quantity": 2},
)
LOG: tuple[Row, ...] = ({"text": "opened"},)
KEYS = {"orders": ("id",), "lines": ("order_id", "line"), "log": ()}
BEFORE = State({"orders": ORDERS, "lines": LINES, "log": LOG}, KEYS)


def order(id: int = 13, table_no: int = 3, status: str = "sent", total: float = 12.5) -> Row:
    return {"id": id, "table_no": table_no, "status": status, "total": total}


def episode(after: State = BEFORE, before: State = BEFORE, **fields: Any) -> Episode:
    stop = Stop.ANSWERED if "answer" in fields else Stop.DONE
    return Episode("e", "kiosk", "order", 0, {}, "Order.", (), stop, before=before, after=after, **fields)


def after(**tables: tuple[Row, ...]) -> Episode:
    """An episode that ended with these tables, the others as they were."""
    return episode(State({**BEFORE.tables, **tables}, KEYS))


def edited(rows: tuple[Row, ...], index: int, **columns: Any) -> tuple[Row, ...]:
    return tuple({**row, **columns} if i == index else row for i, row in enumerate(rows))


# --- added -----------------------------------------------------------------------------------------------------

NEW = added("orders", table_no=3, status="sent", total=12.5)


@pytest.mark.parametrize(
    ("rows", "success", "reason"),
    [
        ((*ORDERS, order()), True, ""),
        ((order(1), *ORDERS), True, ""),
        (ORDERS, False, 'expected a new row in orders with table_no=3 status="sent" total=12.5, found no new row'),
        ((*ORDERS, order(total=12.4)), False, "found orders id=13 with total=12.4"),
        ((*ORDERS, order(total=125)), False, "found orders id=13 with total=125"),
        ((*ORDERS, order(status="draft")), False, 'found orders id=13 with status="draft"'),
        ((*ORDERS, order(status="sent!")), False, 'with status="sent!"'),
        ((*ORDERS, order(13), order(14)), False, "expected 1 new row(s) in orders, found 2; besides: orders id=14"),
        ((*ORDERS, order(13), order(14, table_no=4)), False, "besides: orders id=14"),
        ((*ORDERS[:1], order(12)), False, "found no new row"),
        ((), False, "found no new row"),
    ],
)
def test_added(rows: tuple[Row, ...], success: bool, reason: str) -> None:
    verdict = NEW(after(orders=rows))
    assert (verdict.success, verdict.score) == (success, float(success))
    assert reason in verdict.reason and bool(reason) != success


def test_added_lists_what_else_is_new() -> None:
    verdict = NEW(after(orders=(*ORDERS, order(13), order(14, table_no=4))))
    assert verdict.side_effects == ('orders id=14: added with table_no=4 status="sent" total=12.5',)


def test_added_names_the_nearest_row() -> None:
    far, near = order(13, 9, "draft", 1.0), order(14, 3, "sent", 12.0)
    assert "found orders id=14 with total=12.0" in NEW(after(orders=(*ORDERS, far, near))).reason


def test_added_counts_equal_rows() -> None:
    two = added("orders", count=2, table_no=3)
    assert two(after(orders=(*ORDERS, order(13), order(14)))).success
    assert not two(after(orders=(*ORDERS, order(13)))).success
    assert not two(after(orders=(*ORDERS, order(13), order(14), order(15)))).success
    assert not two(after(orders=(*ORDERS, order(13), order(14, table_no=4)))).success


LINES_OF_13 = added("lines", {"item": "Tea", "quantity": 2}, {"item": "Cake", "quantity": 1}, order_id=13)


def line(number: int, item: str, quantity: int, order_id: int = 13) -> Row:
    return {"order_id": order_id, "line": number, "item": item, "quantity": quantity}


@pytest.mark.parametrize(
    ("rows", "success"),
    [
        ((line(1, "Tea", 2), line(2, "Cake", 1)), True),
        ((line(1, "Cake", 1), line(2, "Tea", 2)), True),
        ((line(1, "Tea", 1), line(2, "Cake", 2)), False),
        ((line(1, "Tea", 2), line(2, "Tea", 2)), False),
        ((line(1, "Tea", 2),), False),
        ((line(1, "Tea", 2), line(2, "Cake", 1), line(3, "Cake", 1)), False),
        ((line(1, "Tea", 2), line(2, "Cake", 1, order_id=12)), False),
    ],
)
def test_added_rows_of_several_kinds(rows: tuple[Row, ...], success: bool) -> None:
    assert LINES_OF_13(after(lines=(*LINES, *rows))).success is success


def test_added_pairs_rows_as_well_as_can_be() -> None:
    """The first expectation fits both rows; it must leave the only one that the second fits."""
    both = added("lines", {"quantity": lambda n: n > 0}, {"quantity": 1})
    assert both(after(lines=(*LINES, line(1, "Tea", 1), line(2, "Cake", 5)))).success
    assert both(after(lines=(*LINES, line(1, "Tea", 5), line(2, "Cake", 1)))).success
    assert not both(after(lines=(*LINES, line(1, "Tea", 5), line(2, "Cake", 5)))).success


def test_added_where_rows_have_no_key() -> None:
    again = added("log", text="opened")
    assert again(after(log=(*LOG, *LOG))).success
    assert not again(after(log=(*LOG, *LOG, *LOG))).success
    assert not again(after(log=({"text": "sent"},))).success


def test_added_takes_columns_that_are_named_like_its_own_arguments() -> None:
    before, new = State({"stock": ()}), State({"stock": ({"id": 1, "count": 3, "table": "x"},)})
    assert added("stock", {"count": 3}, table="x")(episode(new, before)).success


# --- removed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "success", "reason"),
    [
        (ORDERS[:1], True, ""),
        (ORDERS, False, "expected a removed row in orders with id=12, found no removed row"),
        (ORDERS[1:], False, "found orders id=11 with id=11"),
        ((), False, "expected 1 removed row(s) in orders, found 2; besides: orders id=11"),
        (edited(ORDERS, 1, status="gone"), False, "found no removed row"),
    ],
)
def test_removed(rows: tuple[Row, ...], success: bool, reason: str) -> None:
    verdict = removed("orders", id=12)(after(orders=rows))
    assert verdict.success is success
    assert reason in verdict.reason


# --- changed ---------------------------------------------------------------------------------------------------

CANCEL = changed("orders", key=12, status="cancelled")


@pytest.mark.parametrize(
    ("rows", "success", "reason"),
    [
        (edited(ORDERS, 1, status="cancelled"), True, ""),
        (ORDERS, False, 'expected orders id=12 to have status="cancelled", found status="open"'),
        (edited(ORDERS, 0, status="cancelled"), False, 'found status="open"'),
        (edited(ORDERS, 1, status="canceled"), False, 'found status="canceled"'),
        (edited(ORDERS, 1, status="Cancelled"), False, 'found status="Cancelled"'),
        (ORDERS[:1], False, "found orders id=12 removed"),
        (
            edited(ORDERS, 1, status="cancelled", total=0),
            False,
            "the rest of orders id=12 to stay, found total 12.0 -> 0",
        ),
    ],
)
def test_changed(rows: tuple[Row, ...], success: bool, reason: str) -> None:
    verdict = CANCEL(after(orders=rows))
    assert verdict.success is success
    assert reason in verdict.reason


def test_changed_must_have_been_otherwise() -> None:
    done = State({**BEFORE.tables, "orders": edited(ORDERS, 1, status="cancelled")}, KEYS)
    verdict = CANCEL(episode(done, done))
    assert not verdict.success and "it was so from the start" in verdict.reason


def test_changed_allows_named_columns_to_follow() -> None:
    rows = edited(ORDERS, 1, status="cancelled", total=0)
    assert changed("orders", key=12, also=["total"], status="cancelled")(after(orders=rows)).success
    assert not changed("orders", key=12, also=["table_no"], status="cancelled")(after(orders=rows)).success


def test_changed_by_a_key_of_two_columns() -> None:
    more = changed("lines", key=(12, 1), quantity=3)
    assert more(after(lines=edited(LINES, 1, quantity=3))).success
    assert not more(after(lines=edited(LINES, 0, quantity=3))).success


def test_changed_to_what_a_function_says() -> None:
    verify = changed("orders", key=12, total=lambda total: 5 < total < 12)
    assert verify(after(orders=edited(ORDERS, 1, total=6))).success
    assert "to have total=<lambda>, found total=4" in verify(after(orders=edited(ORDERS, 1, total=4))).reason


# --- unchanged --------------------------------------------------------------------------------------------------

EVERY_CHANGE = {
    "added": {"orders": (*ORDERS, order())},
    "removed": {"orders": ORDERS[:1]},
    "edited": {"orders": edited(ORDERS, 0, total=0)},
    "emptied": {"log": ()},
    "doubled": {"log": (*LOG, *LOG)},
    "new table": {"coupons": ({"id": 1},)},
}


@pytest.mark.parametrize("tables", EVERY_CHANGE.values(), ids=EVERY_CHANGE)
def test_unchanged_sees(tables: dict[str, tuple[Row, ...]]) -> None:
    verdict = unchanged()(after(**tables))
    assert not verdict.success and verdict.score == 0.0
    assert len(verdict.side_effects) == 1 and verdict.side_effects[0].startswith(next(iter(tables)))


def test_unchanged_passes_where_nothing_changed() -> None:
    assert unchanged()(episode()).success
    assert unchanged()(after(orders=tuple(reversed(ORDERS)))).success  # order is no data


def test_side_effects_have_table_key_and_column() -> None:
    rows = (*edited(ORDERS, 0, status="paid", total=5)[:1], order(20, 9, "sent", 1))
    verdict = unchanged()(after(orders=rows))
    assert verdict.side_effects == (
        'orders id=12: removed with table_no=5 status="open" total=12.0',
        'orders id=11: status "open" -> "paid", total 4.5 -> 5',
        'orders id=20: added with table_no=9 status="sent" total=1',
    )
    assert "found: orders id=12: removed" in verdict.reason


@pytest.mark.parametrize("except_", ["orders", ["orders"], ("orders", "log"), {"orders"}])
def test_excepted_tables_change_at_will(except_: Any) -> None:
    assert unchanged(except_=except_)(after(orders=())).success
    assert not unchanged(except_=except_)(after(orders=(), lines=())).success


def test_an_excepted_row_excepts_no_other() -> None:
    verify = all_of(CANCEL, unchanged(except_=[("orders", 12)]))
    assert verify(after(orders=edited(ORDERS, 1, status="cancelled"))).success
    both = edited(edited(ORDERS, 1, status="cancelled"), 0, status="cancelled")
    assert verify(after(orders=both)).side_effects == ('orders id=11: status "open" -> "cancelled"',)
    assert not verify(after(orders=both)).success
    lines = unchanged(except_=[("lines", (12, 1))])
    assert lines(after(lines=LINES[:1])).success and not lines(after(lines=LINES[1:])).success


@pytest.mark.parametrize("change", [NEW, CANCEL, removed("orders", id=12)], ids=lambda change: change.name)
def test_an_excepted_change_excepts_just_its_rows(change: Verifier) -> None:
    rows = {
        "added orders": (*ORDERS, order()),
        "changed orders 12": edited(ORDERS, 1, status="cancelled"),
        "removed orders": ORDERS[:1],
    }[change.name]  # type: ignore[attr-defined]
    verify = all_of(change, unchanged(except_=[change, "log"]))  # type: ignore[list-item]
    assert verify(after(orders=rows, log=())).success
    assert not verify(after(orders=edited(rows, 0, table_no=99))).success
    assert not verify(after(orders=(*rows, order(50)))).success
    assert not verify(after(orders=rows, lines=())).success


def test_a_change_that_was_not_made_excepts_nothing() -> None:
    verdict = unchanged(except_=[NEW])(after(orders=(*ORDERS, order(total=1))))
    assert not verdict.success


def test_long_side_effects_are_counted() -> None:
    verdict = unchanged()(after(log=tuple({"text": str(i)} for i in range(500))))
    assert len(verdict.side_effects) == 51 and verdict.side_effects[-1] == "and 451 more"


def test_keys_that_are_not_told_are_id_or_the_first_column() -> None:
    before = State(
        {"a": ({"name": "x", "id": 1, "n": 1},), "b": ({"code": "x", "n": 1},), "c": ({"k": 1, "n": 1},) * 2}
    )
    done = State({"a": ({"name": "x", "id": 1, "n": 2},), "b": ({"code": "x", "n": 2},), "c": ({"k": 1, "n": 2},) * 2})
    assert unchanged()(episode(done, before)).side_effects == (
        "a id=1: n 1 -> 2",
        'b code="x": n 1 -> 2',
        "c k=1 n=1: removed",
        "c k=1 n=1: removed",
        "c k=1 n=2: added",
        "c k=1 n=2: added",
    )


# --- mistakes of the harness ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verify", "message"),
    [
        (added("order", id=1), 'the state has no table "order". Did you mean "orders"'),
        (removed("liness"), 'no table "liness"'),
        (unchanged(except_="oders"), 'no table "oders"'),
        (unchanged(except_=[("oders", 1)]), 'no table "oders"'),
        (added("orders", tableno=1), 'table "orders" has no column "tableno". Did you mean "table_no"'),
        (changed("orders", key=12, state="x"), 'no column "state"'),
        (changed("orders", key=12, also=["when"], status="x"), 'no column "when"'),
        (changed("orders", key=99, status="x"), "no row had the key 99"),
        (changed("orders", key=(12, 1), status="x"), r"whose key is \(id\)"),
        (changed("log", key="opened", text="x"), "rows cannot be named"),
        (unchanged(except_=[("log", "opened")]), "rows cannot be named"),
        (added("orders", table_no=lambda n: n.upper()), None),
    ],
)
def test_mistakes_raise_whatever_the_policy_did(verify: Verifier, message: str | None) -> None:
    with pytest.raises(VerifierError if message else AttributeError, match=message):
        verify(after(orders=(*ORDERS, order())))


@pytest.mark.parametrize(
    "build",
    [
        lambda: changed("orders", key=1),
        lambda: added("orders", count=0),
        lambda: added("orders", {"id": 1}, count=2),
        lambda: unchanged(except_=("orders", 12)),  # type: ignore[arg-type]
        lambda: unchanged(except_=[("orders", 12, "status")]),  # type: ignore[list-item]
        lambda: url_matches("http://127.0.0.1/x"),
    ],
)
def test_mistakes_are_caught_when_written(build: Callable[[], Verifier]) -> None:
    with pytest.raises(ValueError):
        build()


# --- answer -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "answer", "success"),
    [
        (12, "12", True),
        (12, " 12.\n", True),
        (12, "12.0", True),
        (12, "#12", True),
        (12, "110", False),
        (12, "112", False),
        (12, "11 or 12", False),
        (12, "11, 12", False),
        (12, "12 or so", False),
        (12, "the answer is 12, I think", False),
        (12, "-12", False),
        (12, "twelve", False),
        (12, "", False),
        (12, None, False),
        (0, "", False),
        (1250, "1,250", True),
        (1250, "1.250", False),
        (12.5, "$12.50", True),
        (12.5, "12.5 USD", True),
        (Decimal("0.30"), "$0.30", True),
        (0.1 + 0.2, "0.3", True),
        (12.5, "$12.05", False),
        (12.5, "$1250", False),
        ("$12.50", "12.50", True),
        ("$12.50", "12.5", True),
        ("$1,012.50", "1012.50", True),
        ("$12.50", "€12.50", False),
        ("$12.50", "$112.50", False),
        ("12.50", "$12.50", True),
        ("1.10", "1.1", False),
        ("007", "7", False),
        ("Ada Lovelace", "ada  lovelace.", True),
        ("Ada Lovelace", '"Ada Lovelace"', True),
        ("Ada Lovelace", "“Ada Lovelace.”", True),
        ("Ada Lovelace", "Ada Lovelace or Alan Turing", False),
        ("Ada Lovelace", "Lovelace", False),
        ("Ada Lovelace", "Ada\nAda Lovelace", False),
        ("Café", "Cafe\u0301", True),
        ("open", "reopened", False),
        ("open", "open " * 1000, False),
        (True, "Yes.", True),
        (True, "no", False),
        (False, "no", True),
        (False, "0", False),
    ],
)
def test_equals(expected: Any, answer: str | None, success: bool) -> None:
    fields: dict[str, Any] = {} if answer is None else {"answer": answer}
    verdict = equals(expected)(episode(**fields))
    assert verdict.success is success
    assert len(verdict.reason) < 300 and bool(verdict.reason) is not success


def test_equals_takes_a_function_of_the_state_before() -> None:
    owed = equals(lambda state: sum(row["total"] for row in state.tables["orders"] if row["table_no"] == 5))
    assert owed(episode(answer="$12.00")).success
    assert owed(episode(answer="$4.50")).reason == "expected the answer 12.0, found '$4.50'"


def test_equals_rejects_what_is_no_value() -> None:
    with pytest.raises(TypeError, match="expected a text"):
        equals(["a", "b"])  # type: ignore[arg-type]
    with pytest.raises(VerifierError, match="the expected answer is None"):
        equals(lambda state: None)(episode(answer="None"))  # type: ignore[arg-type, return-value]


# --- page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "url", "success"),
    [
        ("/tickets/12", "http://127.0.0.1:8123/tickets/12", True),
        ("/tickets/12", "https://desk.example/tickets/12/", True),
        ("/tickets/12", "http://127.0.0.1:1/tickets/12?tab=notes#top", True),
        ("/tickets/12", "http://127.0.0.1:1/tickets/112", False),
        ("/tickets/12", "http://127.0.0.1:1/tickets/12/edit", False),
        ("/tickets/12", "http://127.0.0.1:1/?next=/tickets/12", False),
        ("/tickets/12", "http://127.0.0.1:1/#/tickets/12", False),
        ("/tickets/12", "file:///tickets/12", False),
        ("/tickets/12", "chrome-error://tickets/12", False),
        ("/tickets/12", "", False),
        ("/", "http://127.0.0.1:1", True),
        ("/", "http://127.0.0.1:1/x", False),
        ("/tickets/*", "http://127.0.0.1:1/tickets/12", True),
        ("/tickets/*", "http://127.0.0.1:1/tickets/12/edit", False),
        ("/tickets/**", "http://127.0.0.1:1/tickets/12/edit", True),
        ("*/companies/globex", "http://127.0.0.1:1/companies/globex", True),
        ("/a.b", "http://127.0.0.1:1/axb", False),
        ("/people/Ada Lovelace", "http://127.0.0.1:1/people/Ada%20Lovelace", True),
        ("/tickets?status=open", "http://127.0.0.1:1/tickets?status=open", True),
        ("/tickets?status=open", "http://127.0.0.1:1/tickets?q=&status=open&tag=", True),
        ("/tickets?status=open&page=2", "http://127.0.0.1:1/tickets?page=2&status=open", True),
        ("/tickets?status=open", "http://127.0.0.1:1/tickets", False),
        ("/tickets?status=open", "http://127.0.0.1:1/tickets?status=reopen", False),
        ("/tickets?status=open", "http://127.0.0.1:1/tickets?status=open&page=2", False),
        ("/tickets?q=*", "http://127.0.0.1:1/tickets?q=printer", True),
        ("/app#/customers/7", "http://127.0.0.1:1/app#/customers/7", True),
        ("/app#/customers/7", "http://127.0.0.1:1/app#/customers/77", False),
    ],
)
def test_url_matches(pattern: str, url: str, success: bool) -> None:
    verdict = url_matches(pattern)(episode(url=url))
    assert verdict.success is success
    assert ("127.0.0.1" not in verdict.reason) and bool(verdict.reason) is not success


# --- whatever happens -----------------------------------------------------------------------------------------------

ROWS = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 5), "v": st.sampled_from(["a", "b"])}),
    max_size=5,
    unique_by=lambda row: row["id"],
).map(tuple)


@settings(deadline=None)
@given(ROWS, ROWS)
def test_unchanged_holds_exactly_if_the_rows_are_the_same(before: tuple[Row, ...], done: tuple[Row, ...]) -> None:
    verdict = unchanged()(episode(State({"t": done}), State({"t": before})))
    changed_ids = {row["id"] for row in (*before, *done) if (row in before) != (row in done)}
    assert verdict.success is (not changed_ids)
    assert len(verdict.side_effects) == len(changed_ids)


@settings(deadline=None)
@given(ROWS, ROWS)
def test_added_holds_exactly_if_one_fitting_row_is_new(before: tuple[Row, ...], done: tuple[Row, ...]) -> None:
    before, done = (*before, {"id": 9, "v": "c"}), (*done, {"id": 9, "v": "c"})
    new = [row for row in done if row["id"] not in {old["id"] for old in before}]
    run = episode(State({"t": done}), State({"t": before}))
    verdict: Verdict = added("t", v="a")(run)
    assert verdict.success is ([row["v"] for row in new] == ["a"])
    assert added("t", v="a")(run) == verdict  # pure


def test_a_side_effect_is_worth_nothing_whatever_was_done() -> None:
    paid = changed("orders", key=12, status="paid")
    verify = all_of(weighted((1.0, NEW), (1.0, paid)), unchanged(except_=[NEW, paid]))
    half = verify(after(orders=(*ORDERS, order())))
    assert (half.success, half.score) == (False, 0.5)
    assert verify(after(orders=(*ORDERS, order()), log=())).score == 0.0
    assert verify(after(orders=(*edited(ORDERS, 1, status="closed"), order()))).score == 0.5  # wrong, but asked for
    strayed = verify(after(orders=(*edited(ORDERS, 1, status="paid", total=0), order())))
    assert strayed.score == 0.0
    assert strayed.side_effects == ('orders id=12: status "open" -> "paid", total 12.0 -> 0',)
    assert verify(after(orders=(ORDERS[0], order()))).score == 0.0
