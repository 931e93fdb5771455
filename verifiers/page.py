"""Verifiers of the page that is open when the episode ends.

What a page shows is the product's word, not its data: where something was to be done, the state says whether it was.
All but `url_matches` need an episode that kept its page: `Harness(watch=("page",))`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from uigym.compare import Matcher, same, words
from uigym.errors import VerifierError
from uigym.types import Episode, Node, PageView, Verdict
from uigym.verifiers.address import Address
from uigym.verifiers.rows import columns_shown, value_shown
from uigym.verify import Verifier, check, failed

_MAX_SHOWN = 300


def url_matches(pattern: str) -> Verifier:
    """The open page's address fits a pattern. Host and port do not count, nor does a slash at the end.

    `*` stands for any characters up to the next slash, `**` for any at all. A query in the pattern (`?status=open`)
    must be the page's own, in any order, where empty values count as absent; without one, the page's query does not
    count. The same holds for a fragment (`#/customers/7`).

    Args:
        pattern: Path, query and fragment, such as "/tickets/*?tab=notes".

    Raises:
        ValueError: The pattern does not begin with / or *.
    """
    if not pattern.startswith(("/", "*")):
        raise ValueError(f"url_matches({pattern!r}): expected a path that begins with / or *, without scheme and host")
    address, name = Address.of(pattern), f"page {pattern}"

    def verify(episode: Episode) -> Verdict:
        parts = urlsplit(episode.url)
        if parts.scheme not in ("http", "https"):
            return failed(name, f"expected a page at {pattern!r}, found {episode.url or 'no page'!r}")
        found = episode.url.removeprefix(f"{parts.scheme}://{parts.netloc}")
        return check(name, address.fits(episode.url), f"expected a page at {pattern!r}, found {found!r}")

    return verify


def title_is(title: str | Matcher) -> Verifier:
    """The open page has this title."""

    def verify(episode: Episode) -> Verdict:
        page = _page(episode, "title_is")
        why = f"expected the page title {value_shown(title)}, found {page.title!r} at {page.url}"
        return check("page title", same(title, page.title), why)

    return verify


def shows(*phrases: str | Matcher) -> Verifier:
    """The open page shows each of these phrases to a person, as whole words; spacing does not count, case does.

    What is in fields is not text of the page: what a policy types, it does not show. A matcher must fit a line.

    Raises:
        ValueError: There is no phrase, or one without words.
    """
    if not phrases or not all(isinstance(one, Matcher) or words(one) for one in phrases):
        raise ValueError(f"shows{phrases!r}: expected at least one phrase, and none that is empty")
    name = f"page shows {', '.join(map(value_shown, phrases))}"

    def verify(episode: Episode) -> Verdict:
        page = _page(episode, "shows")
        missing = [value_shown(phrase) for phrase in phrases if not _is_shown(phrase, page)]
        found = f"{page.text[:_MAX_SHOWN]!r}{'…' if len(page.text) > _MAX_SHOWN else ''}"
        return check(name, not missing, f"expected the page to show {', '.join(missing)}, found {found} at {page.url}")

    return verify


def has_node(
    role: str, label: str | Matcher | None = None, *, value: Any = None, times: int = 1, **state: Any
) -> Verifier:
    """The open page has just so many of these in its accessibility tree: what a screen reader would say.

    Args:
        role: As Chromium says it: "button", "textbox", "checkbox", "heading", "row", ...
        label: Its name, such as a button's caption; None takes any.
        value: What a field holds; None takes any.
        times: How many; 0 for none.
        state: What else must hold, such as checked=True or expanded=False; what the tree does not say is False.

    Raises:
        ValueError: `times` is negative.
    """
    if times < 0:
        raise ValueError(f"has_node({role!r}): times is at least 0, not {times}")
    wanted = {"name": label, "value": value}
    parts = {column: one for column, one in wanted.items() if one is not None}
    shown = " ".join(filter(None, [role, columns_shown({**parts, **state})]))

    def verify(episode: Episode) -> Verdict:
        page = _page(episode, "has_node")
        alike = [node for node in page.tree if node.role.lower() == role.lower()]
        found = [node for node in alike if _fits(node, parts, state)]
        others = "; ".join(_told(node) for node in alike[:5]) or "none of that role"
        why = f"expected {times} time(s) {shown}, found it {len(found)} times at {page.url}; there are: {others}"
        return check(f"node {shown}", len(found) == times, why)

    return verify


def _page(episode: Episode, name: str) -> PageView:
    if episode.page is None:
        raise VerifierError(f'{name}: the episode did not keep its page. Write in the harness: watch=("page",)')
    return episode.page


def _is_shown(phrase: str | Matcher, page: PageView) -> bool:
    if isinstance(phrase, Matcher):
        return any(phrase(words(line)) for line in page.text.splitlines())
    return re.search(rf"(?<!\w){re.escape(words(phrase))}(?!\w)", words(page.text)) is not None


def _fits(node: Node, parts: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    return all(same(value, getattr(node, column)) for column, value in parts.items()) and all(
        _holds(value, node.state.get(column)) for column, value in state.items()
    )


def _holds(expected: Any, found: Any) -> bool:
    """The tree says True in two ways, and False by saying nothing."""
    if isinstance(expected, bool):
        return (found in (True, "true")) is expected
    return same(expected, found)


def _told(node: Node) -> str:
    said = {"name": node.name, **({"value": node.value} if node.value else {}), **node.state}
    return f"{node.role} {columns_shown(said)}"
