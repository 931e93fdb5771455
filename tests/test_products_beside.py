"""Several products in one gym: started, reset, read and judged together, each as its own harness says."""

from __future__ import annotations

import dataclasses
import signal
from pathlib import Path
from typing import Any

import pytest

from uigym.check.attacks import targets
from uigym.errors import ConfigError, HarnessError, ProductError
from uigym.harness import Harness
from uigym.policy.scripted import OraclePolicy
from uigym.product import Product
from uigym.registry import load
from uigym.rollout import Pool, Request, rollout
from uigym.testing import check_harness
from uigym.types import Cause, Done, Goto, State

GYM = Path(__file__).parent / "gyms" / "pair.py"
COUNTER, DEPOT = load(f"{GYM}:counter"), load(f"{GYM}:depot")


async def read(product: Any) -> State:
    return State({"t": ({"id": 1},)})


async def reset(product: Any, seed: int, appearance: Any) -> None:
    pass


def harness(**fields: Any) -> Harness:
    return Harness(**{"name": "shop", "state": read, "reset": reset, "asgi": "x:y", **fields})


async def test_each_is_reset_and_read_as_its_own_harness_says() -> None:
    async with Product(COUNTER) as one, Product(COUNTER) as other:
        assert {str(each.workdir / "data.db") for each in one.all} <= {each.place for each in targets(one)}
        first, second = await one.reset(4), await other.reset(4)
        assert first.digest() == second.digest() != (await one.reset(5)).digest()
        assert {"orders", "parcels", "depot.orders", "depot.parcels"} <= first.tables.keys()
        assert len(first.tables["orders"]) == 3 and not first.tables["depot.orders"]
        assert first.keys["depot.parcels"] == ("id",)
        looks = [(await one.reset(seed)).tables for seed in range(6)]
        assert all(tables["look"] == tables["depot.look"] for tables in looks)
        assert len({tables["look"][0]["colour"] for tables in looks}) > 1
        assert one.values["depot_url"] == one.beside["depot"].base_url != one.base_url
        folders = [one.scratch, one.beside["depot"].scratch]
    assert not any(folder.exists() for folder in folders)


@pytest.mark.browser
async def test_the_gym_is_sound() -> None:
    report = await check_harness(COUNTER, seeds=range(2), slots=2)
    assert report.ok, report
    assert report.counts.attacks > 40


@pytest.mark.browser
async def test_the_work_counts_where_it_is_asked_for_only() -> None:
    class Elsewhere:
        """Books by address: a right parcel, or one at the counter's own address, where there is no depot."""

        name = "elsewhere"

        def __init__(self, beside: bool, env: Any = None):
            self.beside, self.env = beside, env

        def for_episode(self, env: Any) -> Elsewhere:
            return Elsewhere(self.beside, env)

        async def act(self, observation: Any, history: Any) -> Any:
            product = self.env.product.beside["depot"] if self.beside else self.env.product
            order = self.env.instance.params["order"]
            path = f"{product.base_url}/book?number={order['id']}&town={order['town']}"
            return Done() if history else Goto(path)

    granted = dataclasses.replace(COUNTER, grants=(Goto,))
    granted.tasks.update(COUNTER.tasks)
    wanted = [Request("book_parcel", 0)]
    right = [done async for done in rollout(granted, Elsewhere(True), wanted, slots=1)]
    wrong = [done async for done in rollout(granted, Elsewhere(False), wanted, slots=1)]
    assert [done.episode.verdict.success for done in (*right, *wrong)] == [True, False]  # type: ignore[union-attr]


@pytest.mark.browser
async def test_a_product_that_dies_beside_is_a_failure_of_a_product(tmp_path: Path) -> None:
    shelf = Path(__file__).parent / "third_party" / "rental.py"
    rental = load(str(shelf))
    both = dataclasses.replace(COUNTER, beside={"depot": DEPOT, "rental": rental}, logs=())
    both.tasks.update(COUNTER.tasks)

    class Killer:
        name = "killer"
        env: Any = None

        def for_episode(self, env: Any) -> Killer:
            self.env = env
            return self

        async def act(self, observation: Any, history: Any) -> Any:
            import os

            os.killpg(self.env.product.beside["rental"]._launched.pid, signal.SIGKILL)
            return Done()

    async with Pool(both, slots=1, retries=0, max_failure_rate=1) as pool:
        (lost,) = [done async for done in pool.run(Killer(), [Request("book_parcel", 0)])]
        assert lost.episode.verdict is None and lost.episode.failure is not None
        assert lost.episode.failure.cause is Cause.PRODUCT and "rental" in lost.episode.failure.message
        (again,) = [done async for done in pool.run(OraclePolicy(), [Request("book_parcel", 1)])]
        assert again.episode.verdict is not None and again.episode.verdict.success


async def test_the_address_of_each_is_known_to_the_start() -> None:
    asked = "{python} -m http.server {port} --bind 127.0.0.1 --directory {workdir}/{depot_url}"
    one = Harness(name="shop", start=asked, state=read, reset=reset, beside={"depot": DEPOT}, ready_timeout_s=20)
    product = Product(one)
    with pytest.raises(ProductError) as caught:
        await product.start()
    assert "depot_url" not in str(caught.value)
    assert not product.beside["depot"].scratch.exists()


async def test_tables_of_one_name_are_not_mixed_up() -> None:
    async def clashing(product: Any) -> State:
        return State({"depot.parcels": ({"id": 1},)})

    with pytest.raises(HarnessError, match=r"'depot.parcels' is read twice; give the product beside another name"):
        async with Product(dataclasses.replace(COUNTER, state=clashing, logs=())) as product:
            await product.reset(0)


async def test_what_cannot_stand_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uigym.product.launch.URL_TIMEOUT_S", 0.5)
    with pytest.raises(HarnessError, match="beside maps names of their own to harnesses, not 'a b'"):
        harness(beside={"a b": DEPOT})
    with pytest.raises(HarnessError, match="not 'shop' to"):
        harness(beside={"shop": DEPOT})
    with pytest.raises(HarnessError, match="has products beside it; name those here as well"):
        harness(beside={"counter": COUNTER})
    with pytest.raises(HarnessError, match="meet must be an async callable, not 3"):
        harness(meet=3)
    logged = harness(beside={"depot": dataclasses.replace(DEPOT, logs=("events",))}, logs=("log",))
    assert logged.logs == ("log", "depot.events")
    remote = dataclasses.replace(DEPOT, asgi="", url="http://127.0.0.1:9")
    with pytest.raises(ConfigError, match="runs already"):
        Pool(harness(beside={"depot": remote}), slots=2)
    with pytest.raises(ProductError, match=r"depot: .*did not answer"):
        await Product(dataclasses.replace(COUNTER, beside={"depot": remote}, logs=())).start()
