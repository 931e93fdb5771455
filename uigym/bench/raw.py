"""The limit: Chromium's DevTools protocol over a pipe, input pipelined, a picture at once, nothing waited for.

It has Chromium to itself: no Playwright, no scripts in the page, no events switched on. The switches are uigym's own, so that what is
compared is the way to drive a browser, not two ways to start one.
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import json
import os
from pathlib import Path
from typing import Any

from uigym.bench.processes import group
from uigym.browser import find_chromium, orphans
from uigym.browser.launch import FLAGS
from uigym.errors import BrowserError

_BUFFER_BYTES = 1 << 26
_TRIES = 5
_PICTURE = {"format": "png", "optimizeForSpeed": True}
_CLICK = (
    {"type": "mouseMoved"},
    {"type": "mousePressed", "button": "left", "buttons": 1, "clickCount": 1},
    {"type": "mouseReleased", "button": "left", "clickCount": 1},
)


class RawChromium:
    """One Chromium and one page for each slot."""

    def __init__(self, slots: int, viewport: tuple[int, int]):
        self._viewport = viewport
        self._slots: list[tuple[str, str]] = [("", "")] * slots  # (context, session)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._loaded: dict[str, asyncio.Future[None]] = {}
        self._shown: set[str] = set()  # sessions whose page has begun to come
        self._last = 0
        self.folder = Path()
        """What Chromium leaves on the disk; a sweep finds it after a kill."""
        self.pid = 0
        """Of Chromium's main process."""

    async def start(self) -> None:
        """Launch Chromium.

        Raises:
            BrowserError: It does not answer.
        """
        self.folder = orphans.claim()
        commands, answers = _above(os.pipe()), _above(os.pipe())
        self.pid = self._spawn(commands[0], answers[1])
        for end in (commands[0], answers[1]):
            os.close(end)
        self._commands = os.fdopen(commands[1], "wb", buffering=0)
        reader = asyncio.StreamReader(limit=_BUFFER_BYTES)
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(answers[0], "rb", buffering=0)
        )
        self._reading = loop.create_task(self._read(reader))
        async with asyncio.timeout(30):
            await self._send("Browser.getVersion")

    async def open(self, slot: int, url: str) -> bytes:
        """A fresh context for a slot, showing a page; a picture of it."""
        old, _ = self._slots[slot]
        if old:
            await self._send("Target.disposeBrowserContext", {"browserContextId": old})
        width, height = self._viewport
        size = {"width": width, "height": height}
        context = (await self._send("Target.createBrowserContext"))["browserContextId"]
        target = await self._send("Target.createTarget", {"url": "about:blank", "browserContextId": context, **size})
        attaching = self._send("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        session = (await attaching)["sessionId"]
        self._slots[slot] = context, session
        await self._send("Page.enable", session=session)
        scale = {"deviceScaleFactor": 1, "mobile": False}
        self._send("Emulation.setDeviceMetricsOverride", {**size, **scale}, session)
        loaded = self._loaded[session] = asyncio.get_running_loop().create_future()
        self._send("Page.navigate", {"url": url}, session)
        await loaded
        await self._send("Page.disable", session=session)
        drawn = {"expression": "new Promise((drawn) => requestAnimationFrame(drawn))", "awaitPromise": True}
        for _ in range(_TRIES - 1):  # a page that has just come sometimes cannot be captured yet
            try:
                return await self._capture(session)
            except BrowserError:
                await self._send("Runtime.evaluate", drawn, session)
        return await self._capture(session)

    async def click(self, slot: int, x: float, y: float) -> bytes:
        """A click and a picture, sent in one go."""
        _, session = self._slots[slot]
        self._post_click(session, x, y)
        return await self._capture(session)

    async def touch(self, slot: int, x: float, y: float) -> None:
        """A click without a picture; returns when the page has handled it."""
        _, session = self._slots[slot]
        await self._post_click(session, x, y)

    async def close(self) -> None:
        """End Chromium and delete its profile."""
        if not self.pid:
            return
        self._reading.cancel()
        self._transport.close()
        self._commands.close()
        await asyncio.to_thread(orphans.end_group, self.pid)
        await asyncio.to_thread(os.waitpid, self.pid, 0)
        for _ in range(300):
            if not group(self.pid):
                break
            await asyncio.sleep(0.01)  # its children write into the profile until they are gone
        self.pid = 0
        await asyncio.to_thread(orphans.discard, self.folder)

    def _spawn(self, commands: int, answers: int) -> int:
        """Start Chromium, which reads its commands from descriptor 3 and answers on 4."""
        path = str(find_chromium())
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        own = [f"--user-data-dir={self.folder / 'chromium'}", "--headless", "--remote-debugging-pipe", orphans.mark()]
        quiet = [(os.POSIX_SPAWN_OPEN, end, os.devnull, os.O_RDWR, 0) for end in (0, 1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, commands, 3), (os.POSIX_SPAWN_DUP2, answers, 4)]
        command = [path, *FLAGS, *own, *sandbox, "about:blank"]
        return os.posix_spawn(path, command, os.environ, file_actions=[*quiet, *pipes], setpgroup=0)

    def _post_click(self, session: str, x: float, y: float) -> asyncio.Future[dict[str, Any]]:
        for event in _CLICK:
            last = self._send("Input.dispatchMouseEvent", {"x": x, "y": y, **event}, session)
        return last

    async def _capture(self, session: str) -> bytes:
        return base64.b64decode((await self._send("Page.captureScreenshot", _PICTURE, session))["data"])

    def _send(
        self, method: str, parameters: dict[str, Any] | None = None, session: str = ""
    ) -> asyncio.Future[dict[str, Any]]:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        self._commands.write(json.dumps(message).encode() + b"\0")
        future = self._waiting[self._last] = asyncio.get_running_loop().create_future()
        return future

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                self._receive(json.loads((await reader.readuntil(b"\0"))[:-1]))
        except (asyncio.IncompleteReadError, OSError):
            waiting: list[asyncio.Future[Any]] = [*self._waiting.values(), *self._loaded.values()]
            for future in waiting:
                if not future.done():
                    future.set_exception(BrowserError("Chromium closed the pipe"))
                    future.exception()  # marked as seen: not every command's answer is waited for

    def _note(self, session: str, event: str) -> None:
        """A document has come: the first one after `open` is the page, since the empty one before it was there already."""
        if event == "Page.frameNavigated":
            self._shown.add(session)
        elif event == "Page.loadEventFired" and session in self._shown and session in self._loaded:
            self._loaded.pop(session).set_result(None)

    def _receive(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            self._note(message.get("sessionId", ""), message["method"])
            return
        future = self._waiting.pop(message["id"])
        if "error" in message:
            future.set_exception(BrowserError(message["error"]["message"]))
        else:
            future.set_result(message["result"])


def _above(ends: tuple[int, int]) -> tuple[int, int]:
    """The same pipe with descriptors that 3 and 4 cannot collide with."""
    first, second = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return first, second
