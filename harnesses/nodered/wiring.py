"""Tasks on the canvas: drag nodes out of the palette, wire them, cut wires; and one that cannot be done."""

from __future__ import annotations

from uigym.harnesses.nodered.flows import TABS
from uigym.harnesses.nodered.product import (
    OR_SAY,
    SPOT,
    UNWIRED,
    UNWIRED_FROM_DEBUG,
    WIRED,
    Page,
    deploy,
    drop,
    node,
    nodered,
    only,
    show_tab,
    wire,
)
from uigym.params import one_of
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verifiers.match import regex
from uigym.verifiers.state import added, removed, unchanged
from uigym.verify import Verifier, all_of


@nodered.task(
    "Add a {kind} node to the flow {tab} and deploy.",
    "Drag a new {kind} node from the palette into the flow {tab}, then deploy the change.",
    "The flow {tab} needs one more {kind} node, not wired to anything. Put it there and press Deploy.",
    heldout_wordings=("Place a {kind} node, as it is, on the tab {tab}; deploy afterwards.",),
    max_steps=18,
    expected_steps=6,
    tags=("drag", "easy"),
)
def add_node(
    kind: str = one_of("inject", "debug", "comment", "function", "switch", "catch"), tab: str = one_of(*TABS)
) -> Verifier:
    return only(added("nodes", type=kind, tab=tab, disabled=False))


@add_node.oracle
async def _(page: Page, kind: str, tab: str) -> None:
    await show_tab(page, tab)
    await drop(page, kind, *SPOT)
    await deploy(page)


@nodered.task(
    'In the flow {pair[tab]}, wire the output of "{pair[source][name]}" to the input of "{pair[target][name]}". Deploy.',
    'Connect the node "{pair[source][name]}" to the node "{pair[target][name]}" in the flow {pair[tab]}, then deploy.',
    'What comes out of "{pair[source][name]}" must go into "{pair[target][name]}" as well (flow {pair[tab]}). Add the wire and deploy.',
    heldout_wordings=(
        'Draw a wire from "{pair[source][name]}" to "{pair[target][name]}" on the tab {pair[tab]} and deploy it.',
    ),
    max_steps=15,
    expected_steps=5,
    tags=("drag", "easy"),
)
def wire_nodes(pair: Row = UNWIRED) -> Verifier:
    return only(added("wires", source=pair["source"]["id"], port=0, target=pair["target"]["id"]))


@wire_nodes.oracle
async def _(page: Page, pair: Row) -> None:
    await show_tab(page, pair["tab"])
    await wire(page, pair["source"]["id"], pair["target"]["id"])
    await deploy(page)


@nodered.task(
    'Remove the wire from "{pair[source][name]}" to "{pair[target][name]}" in the flow {pair[tab]}, and deploy.',
    'In the flow {pair[tab]}, "{pair[source][name]}" must no longer be connected to "{pair[target][name]}": delete that wire and deploy.',
    'Cut the connection between "{pair[source][name]}" and "{pair[target][name]}" on the tab {pair[tab]}; keep both nodes. Deploy.',
    heldout_wordings=(
        'Delete just the wire that leads from "{pair[source][name]}" to "{pair[target][name]}" (flow {pair[tab]}) and deploy.',
    ),
    max_steps=18,
    expected_steps=6,
    tags=("edit", "medium"),
)
def delete_wire(pair: Row = WIRED) -> Verifier:
    return only(removed("wires", source=pair["source"]["id"], target=pair["target"]["id"]))


@delete_wire.oracle
async def _(page: Page, pair: Row) -> None:
    await show_tab(page, pair["tab"])
    start = await node(page, pair["source"]["id"], ".red-ui-flow-port-output").bounding_box()
    end = await node(page, pair["target"]["id"], ".red-ui-flow-port-input").bounding_box()
    await page.mouse.click((start["x"] + end["x"]) / 2 + 5, (start["y"] + end["y"]) / 2 + 5)
    await page.keyboard.press("Delete")
    await deploy(page)


@nodered.task(
    "Add an inject node and a debug node to the flow {tab}, wire the new inject node to the new debug node, and deploy.",
    "Build a little test in the flow {tab}: a new inject node whose output goes to a new debug node. Deploy it.",
    "On the tab {tab}, put a new inject node and a new debug node on the canvas, connect the first to the second, and deploy.",
    heldout_wordings=("Let a new inject node feed a new debug node, both in the flow {tab}, and deploy the result.",),
    max_steps=24,
    expected_steps=8,
    tags=("drag", "multi-step", "hard"),
)
def build_test(tab: str = one_of(*TABS)) -> Verifier:
    nodes = added("nodes", {"type": "inject"}, {"type": "debug"}, tab=tab, disabled=False)
    new = regex("new [12]")
    return only(nodes, added("wires", source=new, source_type="inject", port=0, target=new, target_type="debug"))


@build_test.oracle
async def _(page: Page, tab: str) -> None:
    x, y = SPOT
    await show_tab(page, tab)
    await drop(page, "inject", x - 120, y + 60)
    await drop(page, "debug", x + 120, y + 60)
    made = page.locator(".red-ui-flow-node-group")
    count = await made.count()
    output = made.nth(count - 2).locator(".red-ui-flow-port-output .red-ui-flow-port")
    await output.drag_to(made.nth(count - 1).locator(".red-ui-flow-port-input .red-ui-flow-port"))
    await deploy(page)


@nodered.task(
    'In the flow {pair[tab]}, wire the output of "{pair[source][name]}" to "{pair[target][name]}" and deploy. '
    + OR_SAY,
    'Connect the output of "{pair[source][name]}" with the input of "{pair[target][name]}" on the tab {pair[tab]}; deploy. '
    + OR_SAY,
    'Let "{pair[target][name]}" get what "{pair[source][name]}" puts out (flow {pair[tab]}), by a wire, and deploy. '
    + OR_SAY,
    heldout_wordings=(
        'A wire from "{pair[source][name]}" to "{pair[target][name]}" (flow {pair[tab]}) is wanted; deploy it. '
        + OR_SAY,
    ),
    max_steps=15,
    expected_steps=5,
    tags=("drag", "medium"),
)
def wire_if_possible(pair: Row = UNWIRED) -> Verifier:
    return only(added("wires", source=pair["source"]["id"], port=0, target=pair["target"]["id"]))


@wire_if_possible.oracle
async def _(page: Page, pair: Row) -> None:
    await show_tab(page, pair["tab"])
    await wire(page, pair["source"]["id"], pair["target"]["id"])
    await deploy(page)


@nodered.task(
    'In the flow {pair[tab]}, wire the output of "{pair[source][name]}" to "{pair[target][name]}" and deploy. '
    + OR_SAY,
    'Connect the output of "{pair[source][name]}" with the input of "{pair[target][name]}" on the tab {pair[tab]}; deploy. '
    + OR_SAY,
    'Let "{pair[target][name]}" get what "{pair[source][name]}" puts out (flow {pair[tab]}), by a wire, and deploy. '
    + OR_SAY,
    heldout_wordings=(
        'A wire from "{pair[source][name]}" to "{pair[target][name]}" (flow {pair[tab]}) is wanted; deploy it. '
        + OR_SAY,
    ),
    max_steps=15,
    expected_steps=5,
    tags=("refuse", "medium"),
)
def wire_from_a_sink(pair: Row = UNWIRED_FROM_DEBUG) -> Verifier:
    return all_of(equals("impossible"), unchanged())


@wire_from_a_sink.oracle
async def _(page: Page, pair: Row) -> str:
    await show_tab(page, pair["tab"])
    await node(page, pair["source"]["id"]).click()
    return "impossible"
