"""Harness and task: what is drawn for a seed, and that a mistake is told with its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.errors import HarnessError
from uigym.harness import SPLIT_SIZE, Harness, Looks, Split, Task
from uigym.params import between, computed, one_of, rows
from uigym.types import Click, Goto, State
from uigym.verifiers.state import added, unchanged
from uigym.verify import Verifier, all_of

STATE = State({"orders": ({"id": 7, "guest": "Ada"}, {"id": 8, "guest": "Alan"})})


async def read(product: Any) -> State:
    return STATE


async def reset(product: Any, seed: int, appearance: Any) -> None: ...


def harness(**fields: Any) -> Harness:
    return Harness(**{"name": "shop", "url": "http://127.0.0.1:1", "state": read, "reset": reset, **fields})


def order_task(shop: Harness) -> Task:
    @shop.task(
        "Order {count} {item} for {order[guest]}.",
        "{order[guest]} wants {count} {item}.",
        heldout_wordings=("Please bring {count} {item} to {order[guest]}.",),
        max_steps=9,
        tags=("orders",),
        expected_steps=4,
    )
    def order(order: Any = rows("orders"), item: str = one_of("tea", "cake"), count: int = between(1, 3)) -> Verifier:
        return all_of(added("orders", guest=order["guest"], count=count), unchanged(except_="orders"))

    return order


# --- seeds -------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(list(Split)), st.integers(0, SPLIT_SIZE - 1))
def test_splits_are_disjoint_sets_of_seeds(split: Split, index: int) -> None:
    assert Split.of(split.seed(index)) is split
    assert 0 <= split.seed(index) < 3 * SPLIT_SIZE


@pytest.mark.parametrize("seed", [-1, 3 * SPLIT_SIZE])
def test_seeds_out_of_range(seed: int) -> None:
    with pytest.raises(ValueError, match=f"seeds go from 0 to 2999999, not {seed}"):
        Split.of(seed)
    with pytest.raises(ValueError, match="a split has the seeds 0 to 999999"):
        Split.TRAIN.seed(SPLIT_SIZE)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 3 * SPLIT_SIZE - 1))
def test_an_instance_is_a_function_of_task_and_seed(seed: int) -> None:
    one, two = order_task(harness()).instance(seed, STATE), order_task(harness()).instance(seed, STATE)
    assert (one.params, one.instruction) == (two.params, two.instruction)
    assert one.id == "shop/order" and one.seed == seed
    assert str(one.params["count"]) in one.instruction and one.params["order"]["guest"] in one.instruction


def test_tasks_of_one_seed_are_independent() -> None:
    shop = harness()

    @shop.task("{n}", max_steps=1)
    def a(n: int = between(0, 10**9)) -> Verifier:
        return unchanged()

    @shop.task("{n}", max_steps=1)
    def b(n: int = between(0, 10**9)) -> Verifier:
        return unchanged()

    assert a.instance(1, STATE).params != b.instance(1, STATE).params


def test_heldout_wordings_are_for_heldout_seeds_alone() -> None:
    task = order_task(harness())
    for split in Split:
        said = {task.instance(split.seed(i), STATE).instruction.split()[0] for i in range(50)}
        assert said == ({"Please"} if split is Split.HELDOUT else {"Order", "Ada", "Alan"})


def test_appearance_is_a_function_of_the_seed_and_heldout_values_are_unseen() -> None:
    shop = harness(looks={"theme": Looks(("light", "dark"), heldout=("rose",)), "density": Looks(("wide", "tight"))})
    seen = {split: [shop.appearance(split.seed(i)) for i in range(50)] for split in Split}
    assert {look["theme"] for look in seen[Split.TRAIN]} == {look["theme"] for look in seen[Split.VALIDATION]}
    assert {look["theme"] for look in seen[Split.TRAIN]} == {"light", "dark"}
    assert {look["theme"] for look in seen[Split.HELDOUT]} == {"rose"}
    assert {look["density"] for look in seen[Split.HELDOUT]} == {"wide", "tight"}
    assert shop.appearance(5) == shop.appearance(5)


# --- mistakes in the definition ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "My Shop"}, "lower-case letters, digits, - and _, not 'My Shop'"),
        ({"url": ""}, r"exactly one of start, asgi and url \(given: none\)"),
        ({"start": "serve {port}"}, r"\(given: start, url\)"),
        ({"state": "shop.db"}, "state must be an async callable such as Sqlite"),
        ({"reset": dict}, "reset must be an async callable"),
        ({"grants": (Click,)}, "cannot be granted; expected some of"),
        ({"allow": "https://cdn.example"}, "allow must be a tuple of texts, not 'https://cdn.example'"),
        (
            {"allow": ("https://cdn.example/lib",)},
            "allow takes origins .* without a path .* not 'https://cdn.example/lib'",
        ),
        ({"allow": ("https://*.example",)}, "allow takes origins"),
        ({"allow": ("cdn.example",)}, "allow takes origins"),
        ({"allow": ("file:///etc",)}, "allow takes origins"),
        ({"allow": ("https://cdn.example:99999",)}, "allow takes origins"),
        ({"allow": (7,)}, "allow takes origins .* not 7"),
        ({"watch": "network"}, "watch must be a tuple of texts"),
        ({"watch": ("networks",)}, "'networks' cannot be watched. Did you mean \"network\"?"),
        ({"init": 7}, "init must be JavaScript as text, not 7"),
        ({"reads": "done"}, "reads must be JavaScript expressions by name, not 'done'"),
        ({"reads": {"done": ""}}, "reads must be JavaScript expressions by name"),
        (
            {"reads": {"done": "over"}, "until": "don"},
            "until must name one of reads, not 'don'. Did you mean \"done\"?",
        ),
        ({"until": "done"}, "until must name one of reads, not 'done'"),
        ({"viewport": (0, 720)}, r"viewport must be width and height, whole CSS px, not \(0, 720\)"),
    ],
)
def test_harness(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        harness(**fields)


def test_looks_need_a_value() -> None:
    with pytest.raises(HarnessError, match="at least one value"):
        Looks((), heldout=("rose",))


def test_grants_are_taken() -> None:
    assert harness(grants=(Goto,)).grants == (Goto,)


def define(*wordings: str, max_steps: int = 3, function: Any = None, **more: Any) -> Task:
    def buy(item: str = one_of("tea")) -> Verifier:
        return unchanged()

    return harness().task(*wordings, max_steps=max_steps, **more)(function or buy)


def without_sampler(item: str) -> Verifier:
    return unchanged()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"wordings": ("Buy {itm}.",)}, r'task \'buy\' .* uses \{itm\}, .* Did you mean "item"\? Parameters: item'),
        ({"wordings": ("Buy {item.",)}, "cannot be read: expected '}'"),
        ({"wordings": ("Buy {}.",)}, r"uses \{\}, which is not a parameter"),
        ({"wordings": ()}, "at least one wording and a whole max_steps >= 1"),
        ({"wordings": ("Buy.",), "max_steps": 0}, "at least one wording and a whole max_steps >= 1, not 0"),
        ({"wordings": ("Buy.",), "max_steps": 2.5}, "a whole max_steps >= 1, not 2.5"),
        ({"wordings": ("Buy.",), "max_steps": "3"}, "a whole max_steps >= 1, not '3'"),
        ({"wordings": ("Buy.",), "tags": "short"}, "tags and heldout_wordings are several texts"),
        ({"wordings": ("Buy.",), "home": "//evil.example/"}, "home must be a path"),
        ({"wordings": ("Buy.",), "home": "orders"}, "home must be a path such as \"/orders/new\", not 'orders'"),
        ({"wordings": ("Buy.",), "home": "/{itm}"}, r"its home uses \{itm\}, .* Did you mean \"item\"\?"),
        ({"wordings": ("Buy.",), "function": without_sampler}, "default of parameter 'item' must be a sampler"),
    ],
)
def test_task(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        define(*fields.pop("wordings"), **fields)


def test_two_tasks_of_one_name() -> None:
    shop = harness()
    order_task(shop)
    with pytest.raises(HarnessError, match="task 'order' of harness 'shop' is defined twice"):
        order_task(shop)


def test_unknown_task() -> None:
    shop = harness()
    order_task(shop)
    assert shop.find_task("order").max_steps == 9
    with pytest.raises(HarnessError, match=r'harness "shop" has no task "ordr". Did you mean "order"'):
        shop.find_task("ordr")


def test_oracle_takes_the_page_and_the_parameters() -> None:
    task = order_task(harness())

    @task.oracle
    async def solve(page: Any, count: int) -> None: ...

    assert task.solve is solve
    with pytest.raises(HarnessError, match=r'oracle of shop/order takes \'cnt\', .* Did you mean "count"'):

        @task.oracle
        async def other(page: Any, cnt: int) -> None: ...


# --- mistakes that show when a seed is drawn --------------------------------------------------------------------------


def failing(item: str = one_of("tea")) -> Verifier:
    raise KeyError(item)


def no_verifier(item: str = one_of("tea")) -> Any:
    return True


def failing_sampler(item: str = computed(lambda state, params: params["drink"])) -> Verifier:
    return unchanged()


def nothing_to_draw(item: str = rows("orders", "id", where={"id": 99})) -> Verifier:
    return unchanged()


def no_such_column(item: Any = rows("orders")) -> Verifier:
    return unchanged()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (failing, r"task shop/failing, seed 5: its function raised KeyError: 'tea' \(.*test_harness.py, line \d+\)"),
        (no_verifier, "shop/no_verifier: its function must return a verifier, not True"),
        (failing_sampler, "seed 5, parameter 'item': KeyError: 'drink'"),
        (nothing_to_draw, "seed 5, parameter 'item': rows.*none of 2 rows fits"),
        (no_such_column, r"cannot say 'Buy \{item\[price\]\}.' with .*: KeyError: 'price'"),
    ],
)
def test_drawing(function: Any, message: str) -> None:
    wording = "Buy {item[price]}." if function is no_such_column else "Buy {item}."
    with pytest.raises(HarnessError, match=message):
        define(wording, function=function).instance(5, STATE)
