"""What a session's pages keep in the browser, as tables: cookies, localStorage, sessionStorage, IndexedDB.

Read in our own world, or, where no window shows a page of an origin, from an empty page that is laid under its
address for the purpose and asks the product for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import Route

from uigym.browser.tabs import Prepared, Tabs
from uigym.browser.wire import WireError
from uigym.errors import BrowserError
from uigym.origins import Origin, origin_of
from uigym.state import Row, State

KEYS = {
    "browser.cookies": ("domain", "path", "name"),
    "browser.local_storage": ("origin", "key"),
    "browser.session_storage": ("tab", "origin", "key"),
    "browser.indexed_db": ("origin", "database", "store", "key"),
}
"""The tables and what names their rows."""
OWN = "product"
"""What stands for the product's own origin, whose port is another one in every slot."""
_READ = {"returnByValue": True, "awaitPromise": True}


async def read_storage(prepared: Prepared, tabs: Tabs) -> State:
    """The tables of `KEYS`; an origin beside the product and what its harness allows is not read.

    Raises:
        BrowserError: A page's storage cannot be read.
        WireError: A page is gone.
    """
    found: dict[str, list[Row]] = {table: [] for table in KEYS}
    found["browser.cookies"] = await _cookies(prepared)
    missing = set(prepared.guard.allow)
    for number, tab in enumerate(tabs.open):
        told: set[Origin] = set()
        for target, frame in tab.settler.parts():
            if target.stuck:
                raise WireError(f"a frame of {tab.settler.url} hangs")
            address = await target.evaluate("location.origin", target.worlds[frame]) if frame in target.worlds else None
            origin = origin_of(str(address["result"].get("value"))) if address else None
            if origin is None or origin in told or origin not in prepared.guard.allow:
                continue
            reply = await target.evaluate(_script(), target.worlds[frame], _READ)
            if reply is None:
                continue  # another document comes: it is read from an empty one
            if "exceptionDetails" in reply:
                raise BrowserError(f"the storage of {origin} cannot be read: {reply['exceptionDetails'].get('text')}")
            where = OWN if origin == prepared.guard.own else str(origin)
            _take(found, where, number, reply["result"]["value"], anew=origin in missing)
            told.add(origin)
            missing.discard(origin)
    for origin in sorted(missing):
        where = OWN if origin == prepared.guard.own else str(origin)
        _take(found, where, -1, await _from_aside(prepared, tabs, origin), anew=True)
    return State({table: tuple(rows) for table, rows in found.items()}, KEYS)


async def _cookies(prepared: Prepared) -> list[Row]:
    reply = await prepared.wire.post("", "Storage.getCookies", {"browserContextId": prepared.tab.context})
    rows = [
        {
            "domain": cookie["domain"],
            "path": cookie["path"],
            "name": cookie["name"],
            "value": cookie["value"],
            "secure": cookie["secure"],
            "http_only": cookie["httpOnly"],
            "same_site": cookie.get("sameSite", ""),
            "ends_with_session": cookie["session"],
        }
        for cookie in reply["cookies"]
    ]
    return sorted(rows, key=lambda row: (row["domain"], row["path"], row["name"]))


async def _from_aside(prepared: Prepared, tabs: Tabs, origin: Origin) -> dict[str, Any]:
    """Of an origin that no window shows."""
    with tabs.aside():
        page = await prepared.context.new_page()
        try:
            cdp = await prepared.context.new_cdp_session(page)
            await cdp.send("Network.enable")
            await cdp.send("Network.setBypassServiceWorker", {"bypass": True})  # it may answer for the product
            await page.route("**/*", _empty)
            await page.goto(str(origin))
            return dict(await page.evaluate(_script()))
        finally:
            await page.close()


async def _empty(route: Route) -> None:
    await route.fulfill(status=200, content_type="text/html", body="")


def _take(found: dict[str, list[Row]], where: str, tab: int, said: dict[str, Any], anew: bool) -> None:
    if tab >= 0:
        found["browser.session_storage"] += _pairs(where, said["session"], tab=tab)
    if anew:
        found["browser.local_storage"] += _pairs(where, said["local"])
        columns = ("database", "store", "key", "value")
        found["browser.indexed_db"] += [
            {"origin": where, **dict(zip(columns, row, strict=True))} for row in said["databases"]
        ]


def _pairs(origin: str, pairs: Iterable[tuple[str, str]], **more: Any) -> list[Row]:
    return [{**more, "origin": origin, "key": key, "value": value} for key, value in pairs]


@cache
def _script() -> str:
    return Path(__file__).with_name("storage.js").read_text(encoding="utf-8")
