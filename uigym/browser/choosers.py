"""File choosers: what a page asks for, and the episode's files that answer it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uigym.beside import OpenChooser
from uigym.browser.tab import Tab
from uigym.browser.wire import Channel, WireError
from uigym.errors import ActionRefused, did_you_mean
from uigym.types import Event

_CANCEL = "function () { this.dispatchEvent(new Event('cancel', {bubbles: true})) }"
_GONE = "upload: the page has taken its file chooser away; open it again"


@dataclass(frozen=True)
class _Chooser:
    tab: Tab
    channel: Channel
    frame: str
    node: int
    several: bool
    folder: bool
    accept: str


class Choosers:
    """The file choosers of a session; at most one is open.

    Without the grant each is cancelled at once. With it, it stays open, and as on a desktop nothing else can be done,
    until an Upload names the episode's files, or Upload(()) or the Escape key cancels it. `accept` is told and not
    enforced: a person, too, can choose "all files". Where a page asks for a folder, the folders of the episode's files
    are what can be named.
    """

    def __init__(self, kept: bool, report: Callable[[Event], None]):
        self._kept, self._report = kept, report
        self._chooser: _Chooser | None = None
        self._opening: set[asyncio.Task[None]] = set()
        self.files: Mapping[str, Path] = {}
        """The episode's files by name."""

    def watch(self, tab: Tab, channel: Channel) -> None:
        """Keep the native dialog of a page, or of a frame in it, away: no picture would show it."""
        parameters = {"enabled": True, "cancel": not self._kept}
        channel.tell("Page.setInterceptFileChooserDialog", parameters)
        channel.on("Page.fileChooserOpened", lambda event: self._opened(tab, channel, event))
        channel.on("Page.frameNavigated", lambda event: self._left(tab, event["frame"]["id"]))
        channel.on("Page.frameDetached", lambda event: self._left(tab, event["frameId"]))

    @property
    def open(self) -> OpenChooser | None:
        """The one that is to be answered."""
        chooser = self._chooser
        if chooser is None or chooser.tab.page.is_closed():
            return None
        return OpenChooser(tuple(self._choices(chooser)), chooser.several, chooser.accept)

    async def rest(self) -> None:
        """Wait until all is known of a chooser that has just opened."""
        while self._opening:
            await asyncio.gather(*self._opening)

    def check(self, names: Any) -> None:
        """Refuse an upload that the open chooser does not take.

        Raises:
            ActionRefused: The reason, as the policy should read it.
        """
        if self.open is None or self._chooser is None:
            raise ActionRefused("upload: no file chooser is open; click the page's upload button first")
        wanted = _names(names)
        if len(wanted) > 1 and not self._chooser.several:
            raise ActionRefused(f"upload: this file chooser takes one file, not {len(wanted)}")
        choices = self._choices(self._chooser)
        for name in wanted:
            if name not in choices:
                kind = "folder" if self._chooser.folder else "file"
                raise ActionRefused(f'upload: no {kind} "{name}". {did_you_mean(name, choices)}')

    async def answer(self, names: Any) -> None:
        """Give the open chooser the files of those names; none cancels it.

        Raises:
            ActionRefused: The page has removed the field meanwhile.
        """
        chooser, self._chooser = self._chooser, None
        assert chooser is not None
        choices = self._choices(chooser)
        paths = [str(choices[name]) for name in _names(names)]
        try:
            if paths:
                await chooser.channel.send("DOM.setFileInputFiles", {"files": paths, "backendNodeId": chooser.node})
            else:
                await self._cancel(chooser)
        except WireError as exc:
            raise ActionRefused(_GONE) from exc

    async def _cancel(self, chooser: _Chooser) -> None:
        send, world = chooser.channel.send, chooser.tab.settler.world(chooser.frame)
        place = {} if world is None else {"executionContextId": world}
        node = await send("DOM.resolveNode", {"backendNodeId": chooser.node, **place})
        await send("Runtime.callFunctionOn", {"objectId": node["object"]["objectId"], "functionDeclaration": _CANCEL})

    def _choices(self, chooser: _Chooser) -> dict[str, Path]:
        if not chooser.folder:
            return dict(self.files)
        return {
            name.split("/")[0]: path.parents[name.count("/") - 1] for name, path in self.files.items() if "/" in name
        }

    def _opened(self, tab: Tab, channel: Channel, event: dict[str, Any]) -> None:
        if not self._kept or "backendNodeId" not in event:  # a script's own picker has no field: it was cancelled
            self._report(Event("filechooser", "cancelled at once", "cancelled"))
            return
        task = asyncio.get_running_loop().create_task(self._describe(tab, channel, event))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    def _left(self, tab: Tab, frame: str) -> None:
        """A chooser goes with its document."""
        if self._chooser and self._chooser.tab is tab and frame in (self._chooser.frame, tab.target):
            self._chooser = None

    async def _describe(self, tab: Tab, channel: Channel, event: dict[str, Any]) -> None:
        several = event["mode"] != "selectSingle"
        try:
            reply = await channel.send("DOM.describeNode", {"backendNodeId": event["backendNodeId"]})
        except WireError:
            return  # the page has gone on
        flat = reply["node"].get("attributes", [])
        attributes = dict(zip(flat[::2], flat[1::2], strict=True))
        folder = "webkitdirectory" in attributes
        kind = "folder" if folder else "several" if several else "one"
        self._chooser = _Chooser(
            tab,
            channel,
            event["frameId"],
            event["backendNodeId"],
            several and not folder,
            folder,
            attributes.get("accept", ""),
        )
        self._report(
            Event("filechooser", {"one": "one file", "several": "several files", "folder": "a folder"}[kind], kind)
        )


def _names(names: Any) -> tuple[str, ...]:
    listed = names if isinstance(names, tuple | list) else (names,)
    return tuple(str(name) for name in listed)
