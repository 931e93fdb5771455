"""The page that is shown, as a person or a screen reader would read it: its text and its accessibility tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from uigym.browser.settle import Settler
from uigym.browser.targets import Target
from uigym.browser.wire import WireError, WireGone
from uigym.watched import Node, PageView

MAX_TEXT = 200_000
"""Characters of a page's text."""
MAX_NODES = 20_000
MAX_NAME = 2_000
"""Characters of a node's name or value."""
_SILENT = ("none", "generic", "InlineTextBox", "LineBreak", "Ignored")
_TOLD = (
    "checked",
    "pressed",
    "selected",
    "expanded",
    "disabled",
    "required",
    "readonly",
    "invalid",
    "level",
    "focused",
)
_ALWAYS = ("checked", "pressed", "selected", "expanded")
"""What is worth knowing also where it is false."""


async def view(settler: Settler) -> PageView:
    """Read the page and all frames that are drawn in it.

    Raises:
        WireError: A frame does not answer any more.
    """
    url, title, texts, nodes = settler.url, "", [], []
    for target, frame in settler.parts():
        if target.stuck:
            raise WireError(f"a frame of {settler.url} hangs")
        said = await _said(target, frame)
        if said is not None and not said.get("shown", True):
            continue
        if frame == settler.main:
            title = str((said or {}).get("title", ""))
        try:
            tree = await target.channel.send("Accessibility.getFullAXTree", {"frameId": frame})
        except WireGone:
            raise
        except WireError:
            continue  # the frame has gone meanwhile
        inside = list(_nodes(tree["nodes"], 0 if frame == settler.main else 1))
        # In a frame whose sandbox forbids scripts ours does not run either.
        texts.append(said["text"] if said else "\n".join(n.name for n in inside if n.role == "StaticText"))
        nodes += inside
    return PageView(url, title, "\n".join(filter(None, texts))[:MAX_TEXT], tuple(nodes[:MAX_NODES]))


async def _said(target: Target, frame: str) -> dict[str, Any] | None:
    reply = await target.evaluate(_script(), target.worlds[frame]) if frame in target.worlds else None
    return None if reply is None else reply["result"].get("value")


@cache
def _script() -> str:
    return Path(__file__).with_name("view.js").read_text(encoding="utf-8")


def _nodes(tree: Iterable[Mapping[str, Any]], base: int) -> Iterable[Node]:
    """In the order of the page; depth counts the nodes that are told."""
    by_id = {node["nodeId"]: node for node in tree}
    waiting = [(node, base) for node in by_id.values() if node.get("parentId") not in by_id]
    while waiting:
        node, depth = waiting.pop()
        made = _node(node, depth)
        if made is not None:
            yield made
        inside = depth + (made is not None)
        waiting += [(by_id[child], inside) for child in reversed(node.get("childIds", ())) if child in by_id]


def _node(node: Mapping[str, Any], depth: int) -> Node | None:
    role = str(node.get("role", {}).get("value", ""))
    if node.get("ignored") or role in _SILENT:
        return None
    said = {item["name"]: item["value"].get("value") for item in node.get("properties", ())}
    state = {key: said[key] for key in _TOLD if key in said and (key in _ALWAYS or said[key] not in (False, "false"))}
    return Node(role, _text(node, "name"), _text(node, "value"), state, depth)


def _text(node: Mapping[str, Any], key: str) -> str:
    value = node.get(key, {}).get("value", "")
    return str("" if value is None else value)[:MAX_NAME]
