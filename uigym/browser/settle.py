"""Follows one page: what it loads, and when everything that an input caused is over."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from uigym.browser.loads import HISTORY, SOON, TO, Loads
from uigym.browser.targets import Calm, Target, together
from uigym.browser.wire import Channel

LIMIT_S = 3.0
"""A page that is still at work after this time is shown as it is, with `settled` false."""
DRAWN = 2
"""Frames in which one of another process has its part of the picture ready: a picture does not wait for that."""
WORLD = "uigym"
"""Name of the JavaScript world that settle.js runs in; a page cannot see it."""

_STATUS = "performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0"
_FOLLOWED = {
    "autoAttach": True,
    "flatten": True,
    "waitForDebuggerOnStart": True,  # else a worker's first messages come before our script
    "filter": [{"type": "iframe"}, {"type": "worker"}, {"exclude": True}],
}
_NO_BODIES = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0}


@cache
def _source(name: str) -> str:
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")


def _joined(*parts: str) -> str:
    """causes.js and what builds on it, as one expression; its value is that of the last part."""
    built = ", ".join(f"({_source(part)})(tracker, '__SECRET__')" for part in parts)
    return f"((tracker) => ({built}))(({_source('causes')})());\n"


class Scripts(NamedTuple):
    """What runs in a context's pages, joined by a secret."""

    causes: str
    """For the page's own world."""
    settle: str
    """For ours."""


def scripts() -> Scripts:
    """With a new secret."""
    secret = secrets.token_hex(16)
    ours = _source("settle") + _source("beside") + _source("pickers") + _source("chrome")
    return Scripts(*(script.replace("__SECRET__", secret) for script in (_joined("sources", "inputs", "asks"), ours)))


@cache
def _worker_script() -> str:
    return _joined("sources", "worker")


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
        self.documents = 0
        """How many have come in the main frame."""
        self._loop = asyncio.get_running_loop()
        self._page = Target(channel, frame)
        self._others: dict[str, Target] = {}  # DevTools session -> frame of another process, worker
        self._joining: dict[str, asyncio.Task[None]] = {}
        self._loads = Loads()
        self._script = ""
        self._takers: list[Callable[[Channel], None]] = []
        self.on_lost: Callable[[], None] = lambda: None
        """Called when a frame's process crashes and the page lives on."""
        self.on_missing: Callable[[str], None] = lambda host: None
        """Called with the host that a document was asked of in vain."""
        self.missing = ""
        """Address of the document that did not come, while Chromium shows its own page in its place."""
        self._listen(self._page)

    def _listen(self, target: Target) -> None:
        loads = self._loads
        listeners: dict[str, Callable[[dict[str, Any]], object]] = {
            "Runtime.executionContextCreated": lambda e: self._world(target, e["context"]),
            "Runtime.executionContextDestroyed": lambda e: target.leave(e["executionContextId"]),
            "Runtime.executionContextsCleared": lambda e: target.leave(),
            "Page.frameRequestedNavigation": self._requested,
            "Page.frameScheduledNavigation": self._scheduled,
            "Page.frameClearedScheduledNavigation": lambda e: loads.end(SOON + e["frameId"]),
            "Page.frameStartedLoading": lambda e: loads.begin(e["frameId"]),
            "Page.frameStoppedLoading": lambda e: self._stopped(e["frameId"]),
            "Page.frameNavigated": lambda e: self._navigated(e["frame"]),
            "Page.navigatedWithinDocument": lambda e: self._arrived(e["frameId"], e["url"]),
            "Page.frameDetached": lambda e: self._detached(target, e),
            "Network.requestWillBeSent": loads.asked,
            "Network.loadingFinished": loads.answered,
            "Network.loadingFailed": loads.answered,
            "Target.attachedToTarget": self._attached,
            "Target.detachedFromTarget": lambda e: self._left(e["sessionId"]),
            "Inspector.targetCrashed": lambda e: self._crashed(target),
        }
        for event, listener in listeners.items():
            target.channel.on(event, listener)

    async def start(self, script: str) -> None:
        """Switch the events on and put settle.js into this and every later document."""
        self._script = script
        await asyncio.gather(*self._follow(self._channel))

    def _follow(self, channel: Channel) -> list[asyncio.Future[dict[str, Any]]]:
        script = {"source": self._script, "worldName": WORLD, "runImmediately": True}
        return [
            channel.send("Page.enable"),
            channel.send("Runtime.enable"),
            channel.send("Network.enable", _NO_BODIES),
            channel.send("Page.addScriptToEvaluateOnNewDocument", script),
            channel.send("Target.setAutoAttach", _FOLLOWED),
        ]

    def each(self, take: Callable[[Channel], None]) -> None:
        """Call with the channel to the page, and to each frame of another process: now, and when one comes."""
        self._takers.append(take)
        for target in self._targets():
            if target.frame:
                take(target.channel)

    @property
    def leaving(self) -> bool:
        """Whether the page has asked for another document that has not come yet."""
        return self._loads.has(TO + self._main)

    def hope(self) -> bool:
        """Whether scripts or style sheets are still on their way; then what was given up is waited for again."""
        return self._loads.hope()

    async def settle(self, limit_s: float = LIMIT_S, frames: int = 0) -> bool:
        """Wait until nothing that was caused is left to do; False if that takes longer than `limit_s`.

        Args:
            limit_s: Seconds, all navigations included.
            frames: Drawn frames to let pass first: what a scroll causes begins with the next frame.
        """
        end = self._loop.time() + limit_s
        fresh, left_alone = True, False
        self._loads.landed = False
        while (left := end - self._loop.time()) > 0:
            if self._loads:
                await self._loads.change(left)
                continue
            if self._loads.landed:  # a script that has arrived runs a little later
                self._loads.landed, frames = False, max(frames, 1)
            verdict = await self._ask(left, frames, fresh)
            if verdict is None:  # the document went away meanwhile
                await self._loads.change(min(left, 0.05))
                continue
            left_alone = left_alone or verdict is Calm.LEFT
            if verdict is Calm.WORKING:
                break
            if not self._loads and (self._is_alone() or (verdict is Calm.CALM and not fresh)):
                return not left_alone
            fresh = False  # one may have given work to another while that was already calm
            frames = DRAWN if any(other.frame for other in self._others.values()) else 0
        self._loads.give_up()
        return False

    async def catch_up(self) -> None:
        """Learn of a first document that may have come before the events were on; else wait for it when settling."""
        self._loads.begin(TO + self._main)
        frame = (await self._channel.send("Page.getFrameTree"))["frameTree"]["frame"]
        if frame["url"].startswith(("http:", "https:")):
            self._navigated(frame)

    async def status(self) -> int:
        """HTTP status of the document that is shown; 0 if it is not known, or on its way for too long. Waits for the page to answer."""
        if self._loads.is_hopeless(TO + self._main):
            return 0
        world = self.world(self._main)
        if world is None:
            return 0
        reply = await self._page.evaluate(_STATUS, world)
        return int((reply and reply["result"].get("value")) or 0)

    def has(self, frame: str) -> bool:
        """Whether a frame is in the page."""
        return any(frame in target.worlds for target in self._targets())

    @property
    def main(self) -> str:
        """Id of the main frame."""
        return self._main

    def parts(self) -> list[tuple[Target, str]]:
        """Every frame with whom to ask about it, the main one first."""
        every = [(target, frame) for target in self._targets() for frame in target.worlds]
        return sorted(every, key=lambda part: part[1] != self._main)

    def world(self, frame: str) -> int | None:
        """JavaScript context of our world in a frame; None while a document is on its way."""
        return next((target.worlds[frame] for target in self._targets() if frame in target.worlds), None)

    async def run(self, expression: str, main: bool = False) -> list[Any]:
        """Evaluate our own script in every frame, or in the main one; the values of those that answered."""
        answering = [target for target in self._targets() if not (target.stuck or self._is_leaving(target))]
        asked = [
            target.evaluate(expression, world)
            for target in answering
            for frame, world in target.worlds.items()
            if frame == self._main or not main
        ]
        return [reply and reply["result"].get("value") for reply in await asyncio.gather(*asked)]

    async def navigate(self, url: str) -> str:
        """Begin to open a URL; the network's error, or empty."""
        reply = await self._channel.send("Page.navigate", {"url": url})
        return str(reply.get("errorText", ""))

    async def stay(self) -> None:
        """A person has decided that the document is not left: what was asked for does not come."""
        await self.run("0", main=True)  # what the page has asked for is reported before the answer
        self._loads.stay()

    async def reload(self) -> None:
        """Begin to load the document again."""
        self._loads.begin(TO + self._main)
        await self._channel.send("Page.reload")

    async def go_back(self, entry: int) -> None:
        """Begin to show an entry of the history, which starts in another process and is reported late."""
        self._loads.begin(HISTORY)
        await self._channel.send("Page.navigateToHistoryEntry", {"entryId": entry})

    # --- asking --------------------------------------------------------------------------------------------

    def _targets(self) -> tuple[Target, ...]:
        return self._page, *self._others.values()

    def _is_alone(self) -> bool:
        """Whether the page is all there is to ask, so that nobody else can give it work."""
        return not self._others and len(self._page.worlds) == 1

    async def _ask(self, left_s: float, frames: int, fresh: bool) -> Calm | None:
        if not self._page.worlds:
            return None
        if self._is_leaving(self._page):
            return Calm.WORKING
        others = list(self._others.values())
        answers: list[Calm | None] = [other.give_up() for other in others if other.stuck or self._is_leaving(other)]
        asked = {
            other: other.begin(left_s, frames, fresh)
            for other in others
            if not (other.stuck or self._is_leaving(other))
        }
        answers.append(await self._page.ask(left_s, frames, fresh))  # a page that hangs is the caller's to end
        if asked:
            await asyncio.wait(asked.values(), timeout=left_s + 0.05)
        for other, task in asked.items():
            if not task.done():
                answers.append(other.give_up())
            elif not task.cancelled():
                answers.append(task.result())
        return together(answers)

    def _is_leaving(self, target: Target) -> bool:
        """Whether its next document does not come: Chromium holds all questions back until it does."""
        return self._loads.is_hopeless(TO + target.frame)

    # --- others that join and leave ------------------------------------------------------------------------

    def _attached(self, event: dict[str, Any]) -> None:
        session, info = event["sessionId"], event["targetInfo"]
        channel = self._channel.beside(session)
        is_frame = info["type"] == "iframe"
        target = Target(channel, info["targetId"] if is_frame else "")
        self._loads.begin(session)
        self._listen(target)
        self._others[session] = target
        joining = self._join_frame(target) if is_frame else self._join_worker(target, event["waitingForDebugger"])
        self._joining[session] = task = self._loop.create_task(joining)
        task.add_done_callback(lambda _: self._loads.end(session))

    async def _join_frame(self, frame: Target) -> None:
        resumed = frame.channel.send
        for take in self._takers:
            take(frame.channel)
        await asyncio.gather(
            *self._follow(frame.channel), resumed("Runtime.runIfWaitingForDebugger"), return_exceptions=True
        )

    async def _join_worker(self, worker: Target, is_waiting: bool) -> None:
        """Run our script before the worker's own: while it waits, it still lacks some of its functions."""
        send = worker.channel.send
        if is_waiting:
            started = asyncio.Event()
            worker.channel.on("Debugger.paused", lambda e: started.set())
            await asyncio.gather(
                send("Debugger.enable"),
                send("Debugger.setInstrumentationBreakpoint", {"instrumentation": "beforeScriptExecution"}),
                send("Runtime.runIfWaitingForDebugger"),
                return_exceptions=True,
            )
            await started.wait()
        told = await asyncio.gather(
            send("Runtime.evaluate", {"expression": _worker_script()}),
            send("Target.setAutoAttach", _FOLLOWED),
            send("Debugger.disable"),
            return_exceptions=True,
        )
        if not isinstance(told[0], BaseException):
            worker.asker = told[0]["result"].get("objectId", "")

    def _left(self, session: str) -> None:
        self._others.pop(session, None)  # its frame may go on in the page's own process
        if joining := self._joining.pop(session, None):
            joining.cancel()

    def _crashed(self, target: Target) -> None:
        for frame in (*target.worlds, target.frame):
            self._forget(frame)
        if target is not self._page:
            target.crash()
            self.on_lost()

    # --- documents -----------------------------------------------------------------------------------------

    def _world(self, target: Target, context: dict[str, Any]) -> None:
        if context["name"] == WORLD:
            target.worlds[context["auxData"]["frameId"]] = context["id"]
            self._loads.note()

    def _requested(self, event: dict[str, Any]) -> None:
        if event["disposition"] != "currentTab":
            return
        self._loads.begin(TO + event["frameId"])
        if event["frameId"] == self._main:
            self._loop.call_later(LIMIT_S, self._release)

    def _release(self) -> None:
        """A question that was asked just before the page began to leave is held back with it."""
        if self.leaving:
            self._page.release()

    def _scheduled(self, event: dict[str, Any]) -> None:
        if event["delay"] <= 1:  # s
            self._loads.begin(SOON + event["frameId"])

    def _navigated(self, frame: dict[str, Any]) -> None:
        self._loads.end(TO + frame["id"], SOON + frame["id"])
        self._loads.abandon(frame["id"], frame["loaderId"])
        self.documents += frame["id"] == self._main
        if frame["id"] == self._main:
            self.missing = frame.get("unreachableUrl", "")
            if self.missing:
                self.on_missing(urlsplit(self.missing).netloc)
        self._arrived(frame["id"], frame["url"] + frame.get("urlFragment", ""))

    def _arrived(self, frame: str, url: str) -> None:
        if frame == self._main:
            self.url = url
        self._loads.end(HISTORY)

    def _stopped(self, frame: str) -> None:
        self._loads.end(frame, TO + frame)

    def _detached(self, target: Target, event: dict[str, Any]) -> None:
        target.worlds.pop(event["frameId"], None)
        if event.get("reason") != "swap":  # else it goes on in another process
            self._forget(event["frameId"])

    def _forget(self, frame: str) -> None:
        self._loads.end(frame, TO + frame, SOON + frame)
        self._loads.abandon(frame)
