"""Node-RED, the greenhouse's flows in its editor: how to start, reset and read it; and what its tasks share."""

from __future__ import annotations

from typing import Any

from uigym.harness import Harness
from uigym.harnesses.nodered.state import Deployed, Reload
from uigym.params import one_from
from uigym.product import Npm
from uigym.surroundings import Surroundings
from uigym.types import Row, State
from uigym.verifiers.state import Change, unchanged
from uigym.verify import Verifier, all_of

Page = Any  # Playwright's

nodered = Harness(
    name="nodered",
    install=(Npm("node-red@4.1.0"),),
    start="node {npm}/node_modules/node-red/red.js --userDir {workdir}/red --port {port}",
    state=Deployed(),
    reset=Reload(),
    surroundings=Surroundings(random_seed=1),  # no clock that stands still: the editor tells a double click by it
)


def only(*changes: Change) -> Verifier:
    """These changes of the deployed flows, and nothing else."""
    return all_of(*changes, unchanged(except_=[*changes]))


# --- what the instructions speak of -------------------------------------------------------------------------

OR_SAY = "If that is not possible, answer: impossible."
SPOT = (300, 380)
"""Where nothing lies on any canvas; px from its top left corner."""


def pairs(*sources: str, wired: bool = False) -> Any:
    """A sampler: nodes of one tab of which the first is of one of these types and the second has an input.

    Args:
        sources: Types of the first one.
        wired: Whether there is a wire from the first to the second.
    """

    def found(state: State, params: Any) -> list[Row]:
        wires = {(row["source"], row["target"]) for row in state.tables["wires"]}
        nodes = state.tables["nodes"]
        return [
            {"source": one, "target": other, "tab": one["tab"]}
            for one in nodes
            for other in nodes
            if one["type"] in sources and other["type"] in INPUTS and one["tab"] == other["tab"] and one is not other
            and ((one["id"], other["id"]) in wires) is wired
        ]  # fmt: skip

    return one_from(found)


INPUTS, OUTPUTS = ("change", "delay", "range", "debug"), ("inject", "change", "delay", "range")
UNWIRED, UNWIRED_FROM_DEBUG, WIRED = pairs(*OUTPUTS), pairs("debug"), pairs(*OUTPUTS, wired=True)


# --- how a person does it -----------------------------------------------------------------------------------


def node(page: Page, key: str, part: str = ".red-ui-flow-node") -> Any:
    """A node of the seed on the canvas, or a part of it."""
    return page.locator(f'[id="{key}"] {part}').first


async def show_tab(page: Page, name: str) -> None:
    """Open a flow by its tab, unless it is the one that is shown; the editor may need its time to be there."""
    tab = page.locator("#red-ui-workspace-tabs li.red-ui-tab").filter(has_text=name)
    await tab.wait_for(timeout=40_000)
    if "active" not in await tab.get_attribute("class"):
        await tab.click()


async def drop(page: Page, kind: str, x: float, y: float) -> None:
    """Drag a node from the palette to a spot of the canvas."""
    entry = page.locator(f".red-ui-palette-node[data-palette-type={kind}]")
    await entry.drag_to(page.locator("#red-ui-workspace-chart"), target_position={"x": x, "y": y})


async def wire(page: Page, source: str, target: str) -> None:
    """Drag from the output port of one node to the input port of another."""
    await node(page, source, ".red-ui-flow-port-output .red-ui-flow-port").drag_to(
        node(page, target, ".red-ui-flow-port-input .red-ui-flow-port")
    )


async def done(page: Page) -> None:
    """Close the tray of properties."""
    await page.locator("#node-dialog-ok").click()
    await page.locator("#node-dialog-ok").wait_for(state="hidden")


async def deploy(page: Page) -> None:
    """Deploy what was changed."""
    await page.locator("#red-ui-header-button-deploy").click()
