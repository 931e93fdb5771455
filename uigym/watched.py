"""What was watched of an episode beside its pictures: requests, refusals, the page at its end.

For verifiers and reports, never for policies. A harness says what it wants to keep: `Harness(watch=("network", "page"))`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WATCHABLE = ("network", "page", "storage")
"""What `Harness.watch` may name."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that the episode's pages sent, and how it was answered."""

    method: str
    """GET, POST, ...; in capitals."""
    url: str
    """Without its fragment."""
    status: int = 0
    """Of the answer; 0 where none had come when the episode ended, or none came at all."""
    body: str = ""
    """Of the request, as text; at most 64 KiB of it."""
    step: int = 0
    """How many actions had begun when it was sent: 0 while the first page was opened."""
    kind: str = ""
    """What asked for it, as Chromium says it, in small letters: document, fetch, xhr, script, image, websocket, ping."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that a page wanted to reach and that the guard did not let it."""

    url: str
    """What it wanted; of an encrypted connection only host and port are known: https://cdn.example:443."""
    why: str
    """What was not allowed about it."""
    kind: str = ""
    """By what it was refused: origin (no address that the harness allows), scheme (nothing but web pages)."""
    step: int = 0
    """How many actions had begun: 0 while the first page was opened."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that the browser's console shows in red: an error, or a request that failed."""

    kind: str
    """error (a page's script said so), exception (nobody caught it), network (a request failed or was answered with an
    error); else what Chromium calls it, such as security. The last of too many is "more"."""
    text: str
    url: str = ""
    """Of the script, or of the request."""
    step: int = 0
    """How many actions had begun: 0 while the first page was opened."""


@dataclass(frozen=True, slots=True)
class Node:
    """Something in a page's accessibility tree, as a screen reader would say it."""

    role: str
    """As Chromium says it: button, textbox, checkbox, heading, link, StaticText, ..."""
    name: str = ""
    value: str = ""
    """Of a field: what it holds."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """What else is said of it, where it holds: {"checked": "true", "disabled": True, "expanded": False}."""
    depth: int = 0
    """How many nodes it is inside of."""


@dataclass(frozen=True, slots=True)
class PageView:
    """The page that was shown when the episode ended, as a person or a screen reader would read it."""

    url: str
    title: str = ""
    text: str = ""
    """What is visible, line by line, frames included; not what is in fields."""
    tree: tuple[Node, ...] = ()
    """Accessibility nodes in the order of the page, frames included; those that say nothing are left out."""


def exchange_from_json(record: Mapping[str, Any]) -> Exchange:
    """The inverse of `dataclasses.asdict`."""
    return Exchange(**record)


def refusal_from_json(record: Mapping[str, Any]) -> Refusal:
    """The inverse of `dataclasses.asdict`."""
    return Refusal(**record)


def complaint_from_json(record: Mapping[str, Any]) -> Complaint:
    """The inverse of `dataclasses.asdict`."""
    return Complaint(**record)


def page_to_json(page: PageView | None) -> dict[str, Any] | None:
    """The page as a JSON object; None stays None."""
    if page is None:
        return None
    nodes = [{**{f.name: getattr(node, f.name) for f in _NODE}, "state": dict(node.state)} for node in page.tree]
    return {"url": page.url, "title": page.title, "text": page.text, "tree": nodes}


def page_from_json(record: Mapping[str, Any] | None) -> PageView | None:
    """The inverse of `page_to_json`."""
    return None if record is None else PageView(**{**record, "tree": tuple(Node(**node) for node in record["tree"])})


_NODE = dataclasses.fields(Node)
