"""Node-RED as a product to practise on: its flow file as tables, its resets, its tasks."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.fetched import fetch, solve
from uigym.harnesses.nodered.flows import flows
from uigym.harnesses.nodered.state import tables
from uigym.product import Product
from uigym.registry import load
from uigym.state import differences
from uigym.testing import check_harness
from uigym.verify import tried

RED = load("nodered")
SLICE = ["wire_nodes", "set_delay", "build_test"]


@pytest.fixture(scope="module")
def npm() -> str:
    return fetch(RED)["npm"]


def changed(seed: int = 0, **nodes: dict[str, Any]) -> list[dict[str, Any]]:
    """A seed's flows in which some nodes are otherwise."""
    return [{**node, **nodes.get(node["id"], {})} for node in flows(seed)]


def test_a_flow_file_is_tables() -> None:
    state = tables(flows(0))
    assert [row["name"] for row in state.tables["tabs"]] == ["Watering", "Heating", "Airing"]
    assert len(state.tables["nodes"]) == 30 and len(state.tables["wires"]) == 12
    names = [row["name"] for row in state.tables["nodes"]]
    assert len({*names}) == len(names)
    assert tables(flows(0)) == state and tables(flows(1)) != state


def test_ids_that_the_editor_draws_and_places_on_the_canvas_do_not_matter() -> None:
    def with_new(one: str, other: str) -> list[dict[str, Any]]:
        new = {"id": one, "type": "inject", "z": "tab0", "name": "", "x": 9, "y": 9, "wires": [[other]]}
        return [*flows(0), new, {"id": other, "type": "debug", "z": "tab0", "name": "", "x": 1, "y": 1, "wires": []}]

    state = tables(with_new("0123456789abcdef", "fedcba9876543210"))
    assert state == tables(with_new("1111111111111111", "2222222222222222"))
    assert state.tables["wires"][-1] == {
        "source": "new 1", "source_type": "inject", "port": 0, "target": "new 2", "target_type": "debug",
    }  # fmt: skip
    assert tables(changed(n000={"x": 500, "y": 7})) == tables(flows(0))


@pytest.mark.parametrize(
    ("change", "table"),
    [({"name": "x"}, "nodes"), ({"d": True}, "nodes"), ({"topic": "x"}, "nodes"), ({"z": "tab1"}, "nodes"), ({"wires": [[]]}, "wires")],
)  # fmt: skip
def test_every_change_is_seen(change: dict[str, Any], table: str) -> None:
    found = differences(tables(flows(0)), tables(changed(n000=change)))
    assert {each.table for each in found} == {table}


def test_near_misses_of_a_test_that_was_built_are_not_paid() -> None:
    before = tables(flows(0))
    made = RED.tasks["build_test"].instance(0, before)
    tab = next(node["id"] for node in flows(0) if node.get("label") == made.params["tab"])
    one, two, other = "1" * 16, "2" * 16, "n000" if tab != "tab0" else "n100"

    def paid(*, place: str = tab, wires: Any = ((two,),), flipped: bool = False, **seeds: dict[str, Any]) -> bool:
        inject = {"id": one, "type": "inject", "z": place, "name": "", "wires": [list(port) for port in wires]}
        new = [inject, {"id": two, "type": "debug", "z": tab, "name": "debug 1", "wires": []}]
        after = tables([*changed(**seeds), *(reversed(new) if flipped else new)])
        return tried(made.verifier, before=before.tables, after=after.tables).success

    assert paid() and paid(flipped=True)
    assert not paid(wires=((),)) and not paid(wires=((other,),)) and not paid(wires=((two, other),))
    assert not paid(place="tab0" if tab != "tab0" else "tab1")
    assert not paid(**{other: {"name": "renamed"}})


async def test_a_reset_loads_the_seeds_flows_into_the_running_product(npm: str) -> None:
    async with Product(RED) as product:
        before = await product.reset(1)
        async with httpx.AsyncClient(base_url=product.base_url) as client:
            assert {node["id"] for node in (await client.get("/flows")).json()} == {node["id"] for node in flows(1)}
            await client.post("/flows", json=changed(1, n000={"name": "mine"}))
            assert len([*differences(before, await product.read_state())]) == 1
            await client.post("/settings/user", json={"editor": {"view": {"view-show-grid": False}}})
            types = {
                node
                for each in (await client.get("/nodes", headers={"Accept": "application/json"})).json()
                for node in each["types"]
            }
            assert "debug" in types and not types & {"exec", "http request", "file", "tcp out", "mqtt out"}
            assert (await product.reset(1)).digest() == before.digest()
            assert json.dumps((await client.get("/settings/user")).json()).count("grid") == 0
            assert (await client.get("/flows")).json()[3]["name"] == flows(1)[3]["name"]


@pytest.mark.browser
async def test_a_person_can_do_it(npm: str) -> None:
    await solve(RED, SLICE, range(1))


@pytest.mark.browser
@pytest.mark.slow
async def test_every_task_can_be_done(npm: str) -> None:
    await solve(RED, list(RED.tasks), range(3))


@pytest.mark.browser
@pytest.mark.slow
async def test_the_harness_is_sound(npm: str) -> None:
    report = await check_harness(RED, slots=2)
    assert report.ok, "\n".join(f"{f.check} {f.task} {f.seed}: {f.detail}" for f in report.failed)
