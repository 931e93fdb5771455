"""The deployed flows as tables: `tabs`, `nodes` and `wires`, read from Node-RED's flow file.

The ids that the editor draws are random. A node that the seed has is named by its id there, one that is new by its place
among the new ones: "new 1", "new 2". Where a node lies on the canvas is left out: to move one changes nothing of a flow.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from uigym.errors import ProductError
from uigym.harness import Running
from uigym.harnesses.nodered.flows import flows
from uigym.product.product import Product
from uigym.types import Row, State

KEYS = {"tabs": ("id",), "nodes": ("id",), "wires": ("source", "port", "target")}
SETTINGS = Path(__file__).with_name("settings.js")
USER = {"_": {"editor": {"view": {"view-show-tips": False, "view-show-welcome-tours": False}}}}
"""What the editor remembers of the one who uses it: tips, which change as time goes on, are off."""
_DRAWN = re.compile("[0-9a-f]{16}")
_PLACES = ("tab", "subflow")
_OWN = ("id", "type", "z", "name", "x", "y", "wires", "d", "g")


class Flows:
    """The probe and the reset: both go by the flow file."""

    def __init__(self, file: str = "red/flows.json"):
        self.file = file

    def control(self, product: Running) -> tuple[str, ...]:
        """The flow file, and the settings beside it."""
        return (str(product.workdir / self.file), str(product.workdir / "red/settings.js"))


class Deployed(Flows):
    """A probe: the flows that were deployed last."""

    async def __call__(self, product: Running) -> State:
        """Tables of the flow file.

        Raises:
            ProductError: It is missing or is no flow file.
        """
        try:
            nodes = json.loads(await asyncio.to_thread((product.workdir / self.file).read_text))
            return tables(nodes)
        except (OSError, ValueError, LookupError, TypeError) as exc:
            raise ProductError(f"cannot read the flows from {product.workdir / self.file}: {exc!r}") from exc


class Reload(Flows):
    """A reset: the seed's flows into the file, which Node-RED then loads again; it goes on running.

    What only the gym may touch is that file and the settings beside it. Node-RED's admin API is the editor's own, so a page
    reaches of it what the editor offers, to deploy above all: that is the work itself. Nodes that would leave the process
    (exec, files, network) and the installation of others are off in `settings.js`.
    """

    async def prepare(self, product: Product) -> None:
        """Make the folder that Node-RED starts in."""
        folder = product.workdir / "red"
        folder.mkdir()
        (folder / "settings.js").write_text(SETTINGS.read_text())
        (folder / ".config.users.json").write_text(json.dumps(USER))
        (folder / "flows.json").write_text(json.dumps(flows(0)))

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Write and load.

        Raises:
            ProductError: Node-RED does not take the flows.
        """
        await asyncio.to_thread((product.workdir / self.file).write_text, json.dumps(flows(seed)))
        async with httpx.AsyncClient(base_url=product.base_url, trust_env=False, timeout=30) as client:
            answer = await client.post("/flows", json=[], headers={"Node-RED-Deployment-Type": "reload"})
        if not answer.is_success:
            raise ProductError(f"Node-RED did not load its flows: {answer.status_code} {answer.text[:300]}")


def tables(found: list[dict[str, Any]]) -> State:
    """What a flow file says."""
    names = _named(found)
    nodes = [node for node in found if node["type"] not in _PLACES]
    tabs = tuple(_tab(node, names) for node in found if node["type"] in _PLACES)
    labels = {row["id"]: row["name"] for row in tabs}
    rows = tuple(_row(node, names, labels) for node in nodes)
    return State({"tabs": tabs, "nodes": rows, "wires": tuple(_wires(nodes, names))}, KEYS)


def _named(found: list[dict[str, Any]]) -> dict[str, str]:
    """By id: itself, or the place among those that the editor has drawn."""
    names: dict[str, str] = {}
    for places in (True, False):
        drawn = 0
        for node in found:
            if (node["type"] in _PLACES) is places:
                drawn += bool(_DRAWN.fullmatch(node["id"]))
                names[node["id"]] = f"new {drawn}" if _DRAWN.fullmatch(node["id"]) else node["id"]
    return names


def _tab(node: dict[str, Any], names: Mapping[str, str]) -> Row:
    told = {"name": node.get("label", node.get("name", "")), "info": node.get("info", "")}
    return {"id": names[node["id"]], "type": node["type"], **told, "disabled": bool(node.get("disabled"))}


def _row(node: dict[str, Any], names: Mapping[str, str], labels: Mapping[str, str]) -> Row:
    tab = names.get(node.get("z", ""), "")
    return {
        "id": names[node["id"]],
        "type": node["type"],
        "name": node.get("name", ""),
        "tab": labels.get(tab, tab),
        "disabled": bool(node.get("d")),
        "properties": {key: value for key, value in sorted(node.items()) if key not in _OWN},
    }


def _wires(nodes: list[dict[str, Any]], names: Mapping[str, str]) -> Iterator[Row]:
    types = {node["id"]: node["type"] for node in nodes}
    for node in nodes:
        source = {"source": names[node["id"]], "source_type": node["type"]}
        for port, targets in enumerate(node.get("wires", [])):
            for target in sorted(targets, key=lambda each: names.get(each, each)):
                end = {"target": names.get(target, target), "target_type": types.get(target)}
                yield {**source, "port": port, **end}
