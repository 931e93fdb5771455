"""Follows one page: what it loads, and when everything that an input caused is over."""

from __future__ import annotations

import asyncio
import secrets
from functools import cache
from pathlib import Path
from typing import Any

from uigym.browser.wire import Channel, WireError, WireGone

LIMIT_S = 3.0
"""A page that is still at work after this time is shown as it is, with `settled` false."""
WORLD = "uigym"
"""Name of the JavaScript world that settle.js runs in; a page cannot see it."""

_HISTORY = "history"
_STATUS = "performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0"


@cache
def _source(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def scripts() -> tuple[str, str]:
    """(for the page's own world, for ours), joined by a new secret."""
    secret = secrets.token_hex(16)
    causes = _source("causes.js").replace("// __ASKS__", _source("asks.js"))
    ours = _source("settle.js") + _source("beside.js") + _source("chrome.js")
    return causes.replace("__SECRET__", secret), ours.replace("__SECRET__", secret)


class Settler:
    """Waits for one page. Its events must be on: call `start` first."""

    def __init__(self, channel: Channel, frame: str, url: str):
        """
        Args:
            channel: To the page.
            frame: Id of its main frame.
            url: Its address now.
        """
        self._channel = channel
        self._main = frame
        self.url = url
        """Address of the document."""
        self._loop = asyncio.get_running_loop()
        self._worlds: dict[str, int] = {}  # frame -> JavaScript context of our world
        self._leaving: dict[str, float] = {}  # frame -> when it asked for another document
        self._loading: dict[str, float] = {}  # frame -> when it began to load
        self._changed = asyncio.Event()
        self._listen()

    def _listen(self) -> None:
        listeners = {
            "Runtime.executionContextCreated": lambda e: self._world(e["context"]),
            "Runtime.executionContextsCleared": lambda e: self._worlds.clear(),
            "Page.frameRequestedNavigation": self._requested,
            "Page.frameStartedLoading": lambda e: self._note(self._loading, e["frameId"]),
            "Page.frameStoppedLoading": lambda e: self._forget(e["frameId"]),
            "Page.frameNavigated": lambda e: self._navigated(e["frame"]),
            "Page.navigatedWithinDocument": lambda e: self._arrived(e["frameId"], e["url"]),
            "Page.frameDetached": self._detached,
        }
        for event, listener in listeners.items():
            self._channel.on(event, listener)

    async def start(self, script: str) -> None:
        """Switch the events on and put settle.js into this and every later document."""
        send = self._channel.send
        await asyncio.gather(
            send("Page.enable"),
            send("Runtime.enable"),
            send(
                "Page.addScriptToEvaluateOnNewDocument", {"source": script, "worldName": WORLD, "runImmediately": True}
            ),
        )

    async def settle(self, limit_s: float = LIMIT_S, frames: int = 0) -> bool:
        """Wait until nothing that was caused is left to do; False if that takes longer than `limit_s`.

        Args:
            limit_s: Seconds, all navigations included.
            frames: Drawn frames to let pass first: what a scroll causes begins with the next frame.
        """
        end = self._loop.time() + limit_s
        while (left := end - self._loop.time()) > 0:
            if self._is_loading():
                await self._change(left)
                continue
            verdict = await self._ask(left, frames)
            if verdict is None:  # the document went away meanwhile
                await self._change(min(left, 0.05))
            elif not self._is_loading():
                return verdict
        return False

    async def catch_up(self) -> None:
        """Learn of a first document that may have come before the events were on; else wait for it when settling."""
        self._note(self._leaving, self._main)
        frame = (await self._channel.send("Page.getFrameTree"))["frameTree"]["frame"]
        if frame["url"].startswith(("http:", "https:")):
            self._navigated(frame)

    async def status(self) -> int:
        """HTTP status of the document that is shown; 0 if it is not known. Waits for the page to answer."""
        world = self._worlds.get(self._main)
        place = {} if world is None else {"contextId": world}
        try:
            reply = await self._channel.send(
                "Runtime.evaluate", {"expression": _STATUS, "returnByValue": True, **place}
            )
        except WireGone:
            raise
        except WireError:
            return 0  # the document went away; another one comes
        return int(reply["result"].get("value") or 0)

    def has(self, frame: str) -> bool:
        """Whether a frame is in the page."""
        return frame in self._worlds

    @property
    def world(self) -> int | None:
        """JavaScript context of our world in the main frame; None while a document is on its way."""
        return self._worlds.get(self._main)

    async def run(self, expression: str, main: bool = False) -> list[Any]:
        """Evaluate our own script in every frame, or in the main one; the values of those that answered."""
        worlds = [world for frame, world in self._worlds.items() if frame == self._main or not main]
        return await asyncio.gather(*(self._value(expression, world) for world in worlds))

    async def _value(self, expression: str, world: int) -> Any:
        parameters = {"expression": expression, "contextId": world, "returnByValue": True, "userGesture": True}
        try:
            reply = await self._channel.send("Runtime.evaluate", parameters)
        except WireGone:
            raise
        except WireError:
            return None  # the document went away
        return reply["result"].get("value")

    async def navigate(self, url: str) -> str:
        """Begin to open a URL; the network's error, or empty."""
        reply = await self._channel.send("Page.navigate", {"url": url})
        return str(reply.get("errorText", ""))

    def stay(self) -> None:
        """A person has decided that the document is not left: what was asked for does not come."""
        self._leaving.clear()
        self._changed.set()

    async def reload(self) -> None:
        """Begin to load the document again."""
        self._note(self._leaving, self._main)
        await self._channel.send("Page.reload")

    async def go_back(self, entry: int) -> None:
        """Begin to show an entry of the history, which starts in another process and is reported late."""
        self._note(self._leaving, _HISTORY)
        await self._channel.send("Page.navigateToHistoryEntry", {"entryId": entry})

    async def _ask(self, left_s: float, frames: int) -> bool | None:
        if not self._worlds:
            return None
        expression = f"settle({left_s * 1000:.0f}, {frames})"
        replies = await asyncio.gather(*(self._evaluate(expression, world) for world in self._worlds.values()))
        return None if None in replies else all(replies)

    async def _evaluate(self, expression: str, world: int) -> bool | None:
        parameters = {"expression": expression, "contextId": world, "awaitPromise": True, "returnByValue": True}
        try:
            reply = await self._channel.send("Runtime.evaluate", parameters)
        except WireGone:
            raise
        except WireError:
            return None  # the document went away; another one comes
        return bool(reply["result"].get("value"))

    def _is_loading(self) -> bool:
        oldest = self._loop.time() - LIMIT_S
        return any(began > oldest for began in (*self._leaving.values(), *self._loading.values()))

    async def _change(self, seconds: float) -> None:
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return

    def _world(self, context: dict[str, Any]) -> None:
        if context["name"] == WORLD:
            self._worlds[context["auxData"]["frameId"]] = context["id"]
            self._changed.set()

    def _note(self, frames: dict[str, float], frame: str) -> None:
        frames[frame] = self._loop.time()
        self._changed.set()

    def _requested(self, event: dict[str, Any]) -> None:
        if event["disposition"] == "currentTab":
            self._note(self._leaving, event["frameId"])

    def _navigated(self, frame: dict[str, Any]) -> None:
        self._leaving.pop(frame["id"], None)
        self._arrived(frame["id"], frame["url"] + frame.get("urlFragment", ""))

    def _arrived(self, frame: str, url: str) -> None:
        if frame == self._main:
            self.url = url
        self._leaving.pop(_HISTORY, None)
        self._changed.set()

    def _detached(self, event: dict[str, Any]) -> None:
        self._worlds.pop(event["frameId"], None)
        self._forget(event["frameId"])

    def _forget(self, frame: str) -> None:
        self._leaving.pop(frame, None)
        self._loading.pop(frame, None)
        self._changed.set()
