"""What happens beside the page: dialogs, downloads, file choosers, new tabs, crashes."""

from __future__ import annotations

import asyncio

from playwright.async_api import Dialog, Download, Error, FileChooser, Page

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
        self.opened = asyncio.Event()
        """Set while a dialog is open."""
        self.chooser: FileChooser | None = None
        """The last file chooser that a page opened."""
        self.crashed = False

    def watch(self, page: Page) -> None:
        """Listen to a page."""
        page.on("dialog", self._on_dialog)
        page.on("download", self._on_download)
        page.on("filechooser", self._on_chooser)
        page.on("crash", self._on_crash)

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
        self.opened.clear()
        return dialog

    async def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            await _close(dialog, accept=True)
            return
        self.add(Event("dialog", dialog.message))
        if self._keep_dialogs:
            self.dialog = dialog
            self.opened.set()
        else:
            await _close(dialog, accept=dialog.type == "alert")

    def _on_download(self, download: Download) -> None:
        self.add(Event("download", download.suggested_filename))

    def _on_chooser(self, chooser: FileChooser) -> None:
        self.chooser = chooser
        self.add(Event("filechooser", "several files" if chooser.is_multiple() else "one file"))

    def _on_crash(self, page: Page) -> None:
        self.crashed = True
        self.add(Event("crash", "the page crashed"))


async def _close(dialog: Dialog, accept: bool) -> None:
    try:
        await (dialog.accept() if accept else dialog.dismiss())
    except Error:
        return  # its page is gone, and the dialog with it
