"""What happens beside the page: dialogs, downloads, file choosers, new tabs, crashes."""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import Dialog, Error, Page

from uigym.browser.tab import Tab
from uigym.types import Event


class Beside:
    """Collects the events of a session's pages, and answers dialogs that nobody may answer.

    Without the grant an alert is accepted and a confirm or prompt dismissed at once, so that the page goes on.
    """

    def __init__(self, keep_dialogs: bool):
        self._keep_dialogs = keep_dialogs
        self._events: list[Event] = []
        self.dialog: Dialog | None = None
        """Open until it is answered; only with the grant."""
        self.stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done while the page stands still: it crashed, or a dialog is open."""
        self.chooser: tuple[Tab, int] | None = None
        """The tab that opened a file chooser, and the DOM node that gets the file."""
        self.crashed = False

    def watch(self, tab: Tab) -> None:
        """Listen to a tab."""
        tab.page.on("dialog", self._on_dialog)
        tab.page.on("crash", self._on_crash)
        tab.channel.on("Page.downloadWillBegin", lambda e: self.add(Event("download", e["suggestedFilename"])))
        tab.channel.on("Page.fileChooserOpened", lambda e: self._on_chooser(tab, e))

    def add(self, event: Event) -> None:
        """Report an event with the next frame."""
        self._events.append(event)

    def take(self) -> tuple[Event, ...]:
        """What happened since the last call."""
        events, self._events = tuple(self._events), []
        return events

    def answered(self) -> Dialog | None:
        """The open dialog, which counts as closed from now on."""
        dialog, self.dialog = self.dialog, None
        self.stopped = asyncio.get_running_loop().create_future()
        return dialog

    async def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            await _close(dialog, accept=True)
            return
        self.add(Event("dialog", dialog.message))
        if self._keep_dialogs:
            self.dialog = dialog
            self._stop()
        else:
            await _close(dialog, accept=dialog.type == "alert")

    def _on_chooser(self, tab: Tab, event: dict[str, Any]) -> None:
        if "backendNodeId" in event:
            self.chooser = (tab, event["backendNodeId"])
        self.add(Event("filechooser", "one file" if event["mode"] == "selectSingle" else "several files"))

    def _on_crash(self, page: Page) -> None:
        self.crashed = True
        self.add(Event("crash", "the page crashed"))
        self._stop()

    def _stop(self) -> None:
        if not self.stopped.done():
            self.stopped.set_result(None)


async def _close(dialog: Dialog, accept: bool) -> None:
    try:
        await (dialog.accept() if accept else dialog.dismiss())
    except Error:
        return  # its page is gone, and the dialog with it
