"""Alerts, confirms, prompts, and the question whether a page may be left."""

from __future__ import annotations

from collections.abc import Callable

from playwright.async_api import Dialog, Error, Page

from uigym.beside import OpenDialog
from uigym.types import Dialog as Answer
from uigym.types import Event


class Dialogs:
    """The dialogs of a session, wherever they come from: any tab, any frame, a page that still loads.

    Without the grant each is answered at once, so that the page goes on: an alert is accepted, a confirm or a prompt
    dismissed, and a page that asks whether it may be left is left. With it, the page stands still until a Dialog
    action answers: accept is OK or leave, the text is the prompt's; not accept is cancel or stay. Keys and movements of
    an action that come while a dialog is open do not reach the page, as on a desktop; what was held is let go.
    """

    def __init__(self, kept: bool, report: Callable[[Event], None], changed: Callable[[], None]):
        """
        Args:
            kept: Whether they wait for an answer.
            report: Takes what a person would be told.
            changed: Called when one opens that waits.
        """
        self._kept, self._report, self._changed = kept, report, changed
        self._waiting: list[Dialog] = []
        self.count = 0
        """How many there have been."""

    @property
    def open(self) -> OpenDialog | None:
        """The one that is to be answered first."""
        if not self._waiting:
            return None
        dialog = self._waiting[0]
        return OpenDialog(dialog.type, dialog.message, dialog.default_value)

    async def opened(self, dialog: Dialog) -> None:
        """Playwright reports one."""
        self.count += 1
        self._report(Event("dialog", dialog.message, dialog.type))
        if self._kept:
            self._waiting.append(dialog)
            self._changed()
        else:
            await _close(dialog, Answer(accept=dialog.type in ("alert", "beforeunload")))

    async def answer(self, answer: Answer) -> Page | None:
        """Close the one that is open; the page that was to be left, if the answer is to stay on it."""
        dialog = self._waiting.pop(0)
        await _close(dialog, answer)
        return dialog.page if dialog.type == "beforeunload" and not answer.accept else None


async def _close(dialog: Dialog, answer: Answer) -> None:
    try:
        await (dialog.accept(answer.text) if answer.accept else dialog.dismiss())
    except Error:
        return  # its page is gone, and the dialog with it
