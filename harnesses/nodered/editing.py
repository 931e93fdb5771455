"""Tasks that open a node or a tab and change it, copy, delete or import it; and one that asks for an answer."""

from __future__ import annotations

import json
from typing import Any

from uigym.harnesses.nodered.flows import TABS
from uigym.harnesses.nodered.product import SPOT, Page, deploy, done, node, nodered, only, show_tab
from uigym.params import between, computed, one_from, one_of, rows
from uigym.types import Row
from uigym.verifiers.answer import equals
from uigym.verifiers.match import exact
from uigym.verifiers.state import added, changed, removed, unchanged
from uigym.verify import Verifier, all_of

NAMES = ("Night mode", "Spare part", "Old sensor", "Bench test", "North wing", "Second try", "Frost guard", "Day shift")


async def open_node(page: Page, one: Row) -> None:
    """Show its flow and double-click it."""
    await show_tab(page, one["tab"])
    await node(page, one["id"]).dblclick()


@nodered.task(
    'Rename the node "{one[name]}" in the flow {one[tab]} to "{name}", and deploy.',
    'The node "{one[name]}" (flow {one[tab]}) shall be called "{name}". Change its name and deploy.',
    'In the flow {one[tab]}, give the node "{one[name]}" the new name "{name}"; then press Deploy.',
    heldout_wordings=('Let "{one[name]}" on the tab {one[tab]} have "{name}" as its name from now on, and deploy it.',),
    max_steps=27,
    expected_steps=9,
    tags=("edit", "form", "easy"),
)
def rename_node(one: Row = rows("nodes"), name: str = one_of(*NAMES)) -> Verifier:
    return only(changed("nodes", key=one["id"], name=exact(name)))


@rename_node.oracle
async def _(page: Page, one: Row, name: str) -> None:
    await open_node(page, one)
    await page.locator("#node-input-name").fill(name)
    await done(page)
    await deploy(page)


@nodered.task(
    'Let the delay node "{one[name]}" in the flow {one[tab]} delay each message for {count} {unit}. Deploy.',
    'Set the fixed delay of "{one[name]}" (flow {one[tab]}) to {count} {unit}, and deploy.',
    'In the flow {one[tab]}, the node "{one[name]}" must hold every message back for {count} {unit}. Change and deploy it.',
    heldout_wordings=(
        'Messages shall wait {count} {unit} in the node "{one[name]}" on the tab {one[tab]}. Deploy that.',
    ),
    max_steps=33,
    expected_steps=11,
    tags=("form", "edit", "medium"),
)
def set_delay(
    one: Row = rows("nodes", where={"type": "delay"}),
    count: int = between(31, 59),
    unit: str = one_from(
        lambda state, p: [u for u in ("seconds", "minutes", "hours") if u != told(p["one"], "timeoutUnits")]
    ),
) -> Verifier:
    return only(changed("nodes", key=one["id"], properties=with_(one, timeout=str(count), timeoutUnits=unit)))


def told(one: Row, what: str) -> Any:
    """A property of a node."""
    return one["properties"][what]


def with_(one: Row, **values: Any) -> Any:
    """A node's properties with other values in some of them, and no other change."""
    return exact({**one["properties"], **values})


@set_delay.oracle
async def _(page: Page, one: Row, count: int, unit: str) -> None:
    await open_node(page, one)
    await page.locator("#node-input-timeout").fill(str(count))
    await page.locator("#node-input-timeoutUnits").select_option(unit)
    await done(page)
    await deploy(page)


@nodered.task(
    'In the node "{one[name]}" of the flow {one[tab]}, change the target range so that it ends at {high}. Deploy.',
    'The range node "{one[name]}" (flow {one[tab]}) must map its input to the range from 0 to {high}. Set that and deploy.',
    'Open "{one[name]}" in the flow {one[tab]} and set the upper end of its result range to {high}; deploy.',
    heldout_wordings=('Let the target range of "{one[name]}" on the tab {one[tab]} be 0 to {high}, and deploy.',),
    max_steps=27,
    expected_steps=9,
    tags=("form", "edit", "medium"),
)
def set_range(one: Row = rows("nodes", where={"type": "range"}), high: int = between(200, 400, step=5)) -> Verifier:
    return only(changed("nodes", key=one["id"], properties=with_(one, maxout=str(high))))


@set_range.oracle
async def _(page: Page, one: Row, high: int) -> None:
    await open_node(page, one)
    await page.locator("#node-input-maxout").fill(str(high))
    await done(page)
    await deploy(page)


@nodered.task(
    'Disable the node "{one[name]}" in the flow {one[tab]}, and deploy.',
    'The node "{one[name]}" (flow {one[tab]}) must stay where it is but be disabled. Do that and deploy.',
    'Switch the node "{one[name]}" on the tab {one[tab]} from enabled to disabled; deploy the change.',
    heldout_wordings=('Let "{one[name]}" in the flow {one[tab]} be a disabled node, and deploy.',),
    max_steps=21,
    expected_steps=7,
    tags=("edit", "easy"),
)
def disable_node(one: Row = rows("nodes", where=lambda row, _: row["type"] != "comment")) -> Verifier:
    return only(changed("nodes", key=one["id"], disabled=True))


@disable_node.oracle
async def _(page: Page, one: Row) -> None:
    await open_node(page, one)
    await page.locator(".red-ui-tray-footer").get_by_text("Enabled").click()
    await done(page)
    await deploy(page)


@nodered.task(
    'Delete the comment "{one[name]}" from the flow {one[tab]}, and deploy.',
    'The comment node "{one[name]}" (flow {one[tab]}) is out of date: remove it and deploy.',
    'Take the comment "{one[name]}" off the tab {one[tab]}; then press Deploy.',
    heldout_wordings=('There shall be no comment "{one[name]}" in the flow {one[tab]} any more. Deploy that.',),
    max_steps=18,
    expected_steps=6,
    tags=("edit", "easy"),
)
def delete_comment(one: Row = rows("nodes", where={"type": "comment"})) -> Verifier:
    return only(removed("nodes", id=one["id"]))


@delete_comment.oracle
async def _(page: Page, one: Row) -> None:
    await show_tab(page, one["tab"])
    await node(page, one["id"]).click()
    await page.keyboard.press("Delete")
    await deploy(page)


@nodered.task(
    'Add a new, empty flow with the name "{name}", and deploy.',
    'Make one more tab in the editor, name it "{name}", leave it empty, and deploy.',
    'There must be a flow called "{name}" without any nodes. Create it and press Deploy.',
    heldout_wordings=('Let the workspace have an additional, empty flow named "{name}"; deploy it.',),
    max_steps=27,
    expected_steps=9,
    tags=("navigate", "form", "medium"),
)
def add_flow(name: str = one_of(*NAMES)) -> Verifier:
    return only(added("tabs", type="tab", name=exact(name), disabled=False, info=""))


@add_flow.oracle
async def _(page: Page, name: str) -> None:
    await show_tab(page, TABS[0])
    await page.locator(".red-ui-tab-button.red-ui-tabs-add a").click()
    await page.locator("#red-ui-workspace-tabs li.red-ui-tab.active").dblclick()
    await page.locator("#node-input-name").fill(name)
    await done(page)
    await deploy(page)


@nodered.task(
    'Copy the node "{one[name]}" from the flow {one[tab]} into the flow {other}, and deploy.',
    'The flow {other} needs the same node as "{one[name]}" of the flow {one[tab]}: copy it there and deploy. The first one stays.',
    'Put a copy of "{one[name]}" (flow {one[tab]}) onto the tab {other}, without any wires; then deploy.',
    heldout_wordings=('Let {other} have a copy of the node "{one[name]}" from {one[tab]}, and deploy.',),
    max_steps=30,
    expected_steps=10,
    tags=("edit", "multi-step", "hard"),
)
def copy_node(
    one: Row = rows("nodes", where=lambda row, _: row["type"] in ("change", "delay", "range")),
    other: str = one_from(lambda state, p: [tab for tab in TABS if tab != p["one"]["tab"]]),
) -> Verifier:
    copied = {key: one[key] for key in ("type", "name", "disabled")}
    return only(added("nodes", tab=other, properties=exact(one["properties"]), **copied))


@copy_node.oracle
async def _(page: Page, one: Row, other: str) -> None:
    await show_tab(page, one["tab"])
    await node(page, one["id"]).click()
    await page.keyboard.press("Control+C")
    await show_tab(page, other)
    await page.keyboard.press("Control+V")
    await put_down(page)
    await deploy(page)


async def put_down(page: Page) -> None:
    """Click where the nodes that hang at the pointer shall lie."""
    canvas = await page.locator("#red-ui-workspace-chart").bounding_box()
    x, y = canvas["x"] + SPOT[0], canvas["y"] + SPOT[1]
    await page.mouse.move(x - 10, y - 10)
    await page.mouse.click(x, y)


@nodered.task(
    "Import this node into the flow {tab} and deploy: {code}",
    "Use the editor's import to add this to the flow {tab}, then deploy: {code}",
    "The flow {tab} must contain the following, imported from its JSON text, and be deployed: {code}",
    heldout_wordings=("Paste the JSON below into the import dialog for the tab {tab}, import it and deploy. {code}",),
    max_steps=30,
    expected_steps=10,
    tags=("form", "multi-step", "hard"),
)
def import_node(
    tab: str = one_of(*TABS),
    name: str = one_of(*NAMES),
    info: str = one_of("Ask the gardener.", "Runs at night only.", "See the plan in the shed.", "Do not touch."),
    code: str = computed(
        lambda state, p: json.dumps(
            [{"id": "a1", "type": "comment", "name": p["name"], "info": p["info"], "x": 90, "y": 40}]
        )
    ),
) -> Verifier:
    return only(
        added("nodes", type="comment", tab=tab, name=exact(name), properties=exact({"info": info}), disabled=False)
    )


@import_node.oracle
async def _(page: Page, tab: str, code: str) -> None:
    await show_tab(page, tab)
    await page.keyboard.press("Control+I")
    await page.locator("#red-ui-clipboard-dialog-import-text").fill(code)
    await page.locator("#red-ui-clipboard-dialog-ok").click()
    await put_down(page)
    await deploy(page)


@nodered.task(
    'How long does the node "{one[name]}" in the flow {one[tab]} delay each message? Answer with a number and its unit.',
    'Open the properties of "{one[name]}" (flow {one[tab]}) and answer for how long it holds a message back: number and unit.',
    'What is the fixed delay that the node "{one[name]}" on the tab {one[tab]} is set to? Answer with number and unit.',
    heldout_wordings=(
        'Answer with the delay, number and unit, for which "{one[name]}" in the flow {one[tab]} is set.',
    ),
    max_steps=15,
    expected_steps=5,
    tags=("find", "answer", "easy"),
)
def read_delay(
    one: Row = rows("nodes", where={"type": "delay"}),
    delay: str = computed(lambda state, p: f"{told(p['one'], 'timeout')} {told(p['one'], 'timeoutUnits')}"),
) -> Verifier:
    return all_of(equals(delay), unchanged())


@read_delay.oracle
async def _(page: Page, one: Row, delay: str) -> str:
    await open_node(page, one)
    await page.locator("#node-input-timeout").wait_for()
    return delay
