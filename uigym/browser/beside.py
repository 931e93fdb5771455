"""All that happens beside one session's pages, in one place: what is told, what is open, what answers it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from uigym.browser.choosers import Choosers
from uigym.browser.clipboard import Clipboard, pastes
from uigym.browser.console import Complaints
from uigym.browser.dialogs import Dialogs
from uigym.browser.downloads import Downloads
from uigym.browser.keys import NAMED, Chord, parse_chord
from uigym.browser.pickers import Pickers
from uigym.browser.settle import WORLD
from uigym.browser.tab import Tab
from uigym.browser.tabs import Prepared, Tabs
from uigym.browser.wire import Channel
from uigym.errors import ActionRefused
from uigym.surroundings import Surroundings
from uigym.types import NOTHING_OPEN, Action, Dialog, Event, HoldKey, Key, Open, Upload

MAX_EVENTS = 50
"""Told of one step; a page that opens dialogs in a loop fills no more of the record."""
MAX_TEXT = 2_000
"""Characters of an event: it goes into prompts and records."""
ESCAPE = Chord((), NAMED["Escape"])
_BINDING = "besideBinding"


class Beside:
    """Everything about a session that no picture shows."""

    def __init__(self, prepared: Prepared, grants: tuple[type, ...], surroundings: Surroundings):
        self._events: list[Event] = []
        self._dropped = 0
        self.stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done while the page stands still: it crashed, or a dialog is open."""
        self.crashed = False
        self._guard = prepared.guard
        self.complaints = Complaints(lambda: self._guard.step)
        self.dialogs = Dialogs(Dialog in grants, self.add, self._stop)
        self.choosers = Choosers(Upload in grants, self.add)
        self.clipboard = Clipboard(prepared.pasting, "clipboard-read" in surroundings.permissions)
        self.pickers = Pickers(prepared, surroundings, self.add)
        self.tabs = Tabs(prepared, self._watch, self.add)
        self.downloads = Downloads(prepared.wire, prepared.folder, self.tabs.knows, self.tabs.drop_blank, self.add)
        self._watch(prepared.tab)
        prepared.context.on("dialog", self.dialogs.opened)

    def add(self, event: Event) -> None:
        """Tell an event with the next frame."""
        if len(self._events) < MAX_EVENTS:
            self._events.append(replace(event, text=event.text[:MAX_TEXT]))
        else:
            self._dropped += 1

    def take(self) -> tuple[Event, ...]:
        """What happened since the last call."""
        events, self._events = self._events, []
        if self._dropped:
            events.append(Event(events[-1].kind, f"and {self._dropped} more that are not told"))
        self._dropped = 0
        return tuple(events)

    async def rest(self) -> None:
        """Wait for what the last act has begun beside the page, where that comes quickly."""
        await self.choosers.rest()
        await self.downloads.rest()

    async def look(self) -> Open:
        """What is open now."""
        dialog, chooser, tabs = self.dialogs.open, self.choosers.open, self.tabs
        if dialog is None and chooser is None and len(tabs.open) < 2:
            return NOTHING_OPEN
        if len(tabs.open) < 2:
            return Open(dialog, chooser)
        titles = await asyncio.gather(*(tabs.title(tab) for tab in tabs.open))
        return Open(dialog, chooser, tuple(titles), tabs.open.index(tabs.shown))

    def check(self, action: Action) -> None:
        """Refuse what the open dialog or chooser does not allow.

        Raises:
            ActionRefused: The reason, as the policy should read it.
        """
        dialog, chooser = self.dialogs.open, self.choosers.open
        if isinstance(action, Dialog) and dialog is None:
            raise ActionRefused("dialog: no dialog is open")
        if not isinstance(action, Dialog) and dialog is not None:
            raise ActionRefused(f'a dialog is open ("{dialog.message}"): answer it with a dialog action first')
        if isinstance(action, Upload):
            self.choosers.check(action.file)
        elif chooser is not None and not isinstance(action, Dialog) and not is_escape(action):
            raise ActionRefused("a file chooser is open: answer it with an upload action, or press Escape to cancel it")

    async def answer(self, answer: Dialog) -> None:
        """Close the open dialog; the page goes on, unless another one waits."""
        self.stopped = asyncio.get_running_loop().create_future()
        stayed_on = await self.dialogs.answer(answer)
        if self.dialogs.open is not None:
            self._stop()
        for tab in self.tabs.open:
            if tab.page is stayed_on:
                await tab.settler.stay()

    async def escape(self, tab: Tab) -> bool:
        """What the Escape key does that is not the page's: cancel a chooser, leave full screen; whether it did."""
        if self.choosers.open is not None:
            await self.choosers.answer(())
            return True
        return any(await tab.settler.run("leaveFullscreen()"))

    def close(self) -> None:
        """Follow no more."""
        self.tabs.close()
        self.downloads.close()

    def _watch(self, tab: Tab) -> None:
        self.pickers.watch(tab)
        tab.console.hand_to(self.complaints.take)
        tab.channel.on("Inspector.targetCrashed", lambda _: self._on_crash())
        tab.settler.on_lost = lambda: self.add(Event("crash", "a frame of the page crashed"))
        tab.settler.on_missing = lambda host: self.add(Event("navigation", f"{host} could not be reached"))
        tab.settler.each(lambda channel: self._listen(tab, channel))

    def _listen(self, tab: Tab, channel: Channel) -> None:
        """To a page, or to a frame of another process in it."""
        self.choosers.watch(tab, channel)
        channel.on("Log.entryAdded", self._guard.told)
        channel.on("Page.frameNavigated", lambda event: self._expel(channel, event["frame"]))
        channel.tell("Log.enable")
        channel.on("Runtime.bindingCalled", lambda event: self._on_word(channel, event))
        channel.tell("Runtime.addBinding", {"name": _BINDING, "executionContextName": WORLD})

    def _on_word(self, channel: Channel, event: dict[str, Any]) -> None:
        """What asks.js and beside.js say."""
        if event["name"] != _BINDING:
            return
        said = json.loads(event["payload"])
        kind, word = said["kind"], said["word"]
        if kind == "permission":
            self.add(Event("permission", word, word.rpartition(": ")[2]))
        elif kind == "print":
            self.add(Event("print", "the page asked to be printed"))
        elif kind == "saving":
            self.downloads.announce()
        elif kind == "copied":
            self.clipboard.content = word
        elif kind == "read":
            may = self.clipboard.read(channel, event["executionContextId"], word)
            decided = "granted" if may else "denied"
            self.add(Event("permission", f"clipboard-read: {decided}", decided))

    def _expel(self, channel: Channel, frame: dict[str, Any]) -> None:
        """Show an empty page in place of a document that must not be shown."""
        if self._guard.forbids(frame["url"], is_top="parentId" not in frame):
            self._guard.refuse(frame["url"], "documents come from http and https addresses only", "scheme")
            channel.tell("Page.navigate", {"url": "about:blank", "frameId": frame["id"]})

    def _on_crash(self) -> None:
        self.crashed = True
        self.add(Event("crash", "the page crashed"))
        self._stop()

    def _stop(self) -> None:
        if not self.stopped.done():
            self.stopped.set_result(None)


def is_escape(action: Action) -> bool:
    """Whether an action presses Escape alone."""
    return isinstance(action, Key) and parse_chord(action.chord) == ESCAPE


def is_paste(action: Action) -> bool:
    """Whether an action presses a chord that pastes."""
    return isinstance(action, Key | HoldKey) and pastes(parse_chord(action.chord))
