"""Says in Playwright's words what was clicked: the shortest locator that means this element and no other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from uigym.browser import Session

_AIM = Path(__file__).with_name("aim.js").read_text()
_SAME = "(found, wanted) => found === wanted"
_MOST = 30
"""Of so many elements alike, one is still told by its number."""

Call: TypeAlias = tuple[str, tuple[Any, ...], dict[str, Any]]
"""Method, arguments, keyword arguments."""


@dataclass(frozen=True, slots=True)
class Target:
    """An element of the page."""

    way: tuple[Call, ...]
    """The calls that lead to it from the page."""
    words: str = ""
    """What a person would call it: button "Save"."""
    editable: bool = False
    empty: bool = False
    """It can be typed into, and holds nothing."""

    def locate(self, page: Any) -> Any:
        """Its locator in a page."""
        for method, arguments, options in self.way:
            page = getattr(page, method)(*arguments, **options)
        return page


async def aim(session: Session, x: float, y: float) -> Target | None:
    """The element at a point; None if it has nothing by which it could be told, as on a canvas or in a frame."""
    page = session.page
    handle = await page.evaluate_handle(_AIM, [x, y])
    try:
        told = (
            await (await handle.get_property("told")).json_value()
            if await handle.evaluate("found => !!found")
            else None
        )
        if told is None:
            return None
        element, numbered = await handle.get_property("element"), None
        for way in _ways(told):
            found = Target(way, _words(told), told["editable"], told["empty"])
            locator = found.locate(page)
            count = await locator.count()
            if count == 1 and await locator.evaluate(_SAME, element):
                return found
            if numbered is None and 1 < count <= _MOST:
                numbered = await _numbered(found, locator, count, element)
        return numbered
    finally:
        await handle.dispose()


async def _numbered(target: Target, locator: Any, count: int, element: Any) -> Target | None:
    for number in range(count):
        if await locator.nth(number).evaluate(_SAME, element):
            return dataclasses.replace(target, way=(*target.way, ("nth", (number,), {})))
    return None


def _words(told: Mapping[str, Any]) -> str:
    name = told["name"] or told["placeholder"] or told["text"]
    return " ".join(filter(None, (told["role"], f'"{name[:60]}"' if name else ""))) or "an element"


def _ways(told: Mapping[str, Any]) -> Iterator[tuple[Call, ...]]:
    """Ways to say it, the best first."""
    role, name, row = told["role"], told["name"], told["row"]
    exact = {"exact": True}
    if role and name:
        by_role: Call = ("get_by_role", (role,), {"name": name, **exact})
        yield (by_role,)
        for leaf in told["leaves"] if row else ():  # "Delete" in the row of "Ann"
            yield ("get_by_role", (row,), {}), ("filter", (), {"has_text": leaf}), by_role
    if told["label"]:
        yield (("get_by_label", (told["label"],), exact),)
    if told["placeholder"]:
        yield (("get_by_placeholder", (told["placeholder"],), exact),)
    if told["testid"]:
        yield (("get_by_test_id", (told["testid"],), {}),)
    if told["id"]:
        yield (("locator", (f"#{told['id']}",), {}),)
    if told["text"] and len(told["text"]) <= 80:
        yield (("get_by_text", (told["text"],), exact),)
    if role:
        for leaf in told["leaves"] if row else ():
            yield ("get_by_role", (row,), {}), ("filter", (), {"has_text": leaf}), ("get_by_role", (role,), {})
        yield (("get_by_role", (role,), {}),)
