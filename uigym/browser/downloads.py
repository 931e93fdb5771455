"""Files that pages give away: followed from their beginning to their end, and kept for the verifier."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uigym.browser.wire import Wire
from uigym.types import Download, Event

MAX_BYTES = 32 << 20
"""A larger download is cancelled, and counts as failed."""
MAX_DOWNLOADS = 100
"""In a session; further ones are cancelled."""
MAX_NAME = 200
QUICK_S = 0.5
"""A step waits so long for the downloads that it began."""
BEGIN_S = 1.0
"""How long a link that says that it is a download may take to begin it."""


@dataclass
class _Transfer:
    name: str
    size: int = 0
    failure: str = ""
    done: Download | None = None
    told: bool = False  # that it has begun

    @property
    def open(self) -> bool:
        return self.done is None and not self.failure


class Downloads:
    """The downloads of one context. Chromium writes them into its folder, each under an id of Chromium's own."""

    def __init__(
        self,
        wire: Wire,
        folder: Path,
        mine: Callable[[str], bool],
        began: Callable[[str], None],
        report: Callable[[Event], None],
    ):
        """
        Args:
            wire: To the browser, which reports the downloads of all contexts.
            folder: Where this context's downloads go.
            mine: Whether a frame is one of this session.
            began: Called with the frame that has begun a download.
            report: Takes what a person would be told.
        """
        self._wire, self._folder = wire, folder
        self._mine, self._began, self._report = mine, began, report
        self._transfers: dict[str, _Transfer] = {}
        self._others: dict[str, str] = {}  # names of those whose frame is not one that is known here
        self._announced = 0  # download links that were followed and have not begun yet
        self._changed = asyncio.Event()
        self._deaf = [
            wire.listen("", "Browser.downloadWillBegin", self._begun),
            wire.listen("", "Browser.downloadProgress", self._progressed),
        ]

    def announce(self) -> None:
        """A link was followed that says of itself that it is a download."""
        self._announced += 1

    async def rest(self) -> None:
        """Wait for what this step has begun, if it comes quickly; report what is still under way."""
        if self._announced:
            await self._wait(BEGIN_S, lambda: not self._announced)
            self._announced = 0
        fresh = [transfer for transfer in self._transfers.values() if transfer.open and not transfer.told]
        if fresh:
            await self._wait(QUICK_S, lambda: not any(transfer.open for transfer in fresh))
        for transfer in fresh:
            if transfer.open:
                transfer.told = True
                self._report(Event("download", transfer.name, "started"))

    async def finished(self, patience_s: float) -> tuple[Download, ...]:
        """All of them, after waiting for those that are under way."""
        await self._wait(patience_s, lambda: not self._announced and not any(t.open for t in self._transfers.values()))
        return tuple(_record(transfer) for transfer in self._transfers.values())

    def close(self) -> None:
        """Follow no more."""
        for deaf in self._deaf:
            deaf()

    def _begun(self, event: dict[str, Any]) -> None:
        if not self._mine(event["frameId"]):
            self._others[event["guid"]] = event["suggestedFilename"]
            return
        self._announced = max(0, self._announced - 1)
        self._follow(event["guid"], event["suggestedFilename"])
        self._began(event["frameId"])
        self._changed.set()

    def _follow(self, guid: str, name: str) -> _Transfer:
        transfer = self._transfers[guid] = _Transfer(clean(name))
        if len(self._transfers) > MAX_DOWNLOADS:
            self._give_up(guid, f"more than {MAX_DOWNLOADS} downloads")
        return transfer

    def _progressed(self, event: dict[str, Any]) -> None:
        guid, path = event["guid"], event.get("filePath", "")
        transfer = self._transfers.get(guid)
        name = self._others.pop(guid, "") if event["state"] != "inProgress" else ""
        if transfer is None and path and Path(path).parent == self._folder:  # of a frame that came a moment before
            transfer = self._follow(guid, name)
        if transfer is None or not transfer.open:
            return
        transfer.size = int(event["receivedBytes"])
        if event["state"] == "canceled":
            self._fail(transfer, "it broke off")
        elif max(transfer.size, event["totalBytes"]) > MAX_BYTES:
            self._give_up(guid, f"larger than {MAX_BYTES >> 20} MiB")
        elif event["state"] == "completed":
            self._complete(transfer, self._folder / guid)

    def _complete(self, transfer: _Transfer, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as exc:
            self._fail(transfer, f"it cannot be read: {exc.strerror}")
            return
        path.unlink(missing_ok=True)
        done = transfer.done = Download.of(transfer.name, content)
        self._report(Event("download", f"{done.name}, {done.size} bytes, sha256 {done.sha256[:12]}", "finished"))
        self._changed.set()

    def _give_up(self, guid: str, why: str) -> None:
        self._wire.tell("", "Browser.cancelDownload", {"guid": guid})
        self._fail(self._transfers[guid], why)

    def _fail(self, transfer: _Transfer, why: str) -> None:
        transfer.failure = why
        self._report(Event("download", f"{transfer.name}: {why}", "failed"))
        self._changed.set()

    async def _wait(self, seconds: float, over: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not over():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return


def clean(name: str) -> str:
    """A proposed name as a person would see it: no folders, no control characters, not too long."""
    visible = "".join(character if character.isprintable() else "_" for character in name)
    last = visible.replace("\\", "/").rsplit("/", 1)[-1].strip(" .")
    stem, dot, ending = last.rpartition(".")
    if len(last) > MAX_NAME and dot and len(ending) < 16:
        return f"{stem[: MAX_NAME - len(ending) - 1]}.{ending}"
    return last[:MAX_NAME] or "download"


def _record(transfer: _Transfer) -> Download:
    if transfer.done:
        return transfer.done
    return Download(transfer.name, transfer.size, "", "failed" if transfer.failure else "unfinished")
