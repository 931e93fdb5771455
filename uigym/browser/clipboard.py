"""A clipboard of the session's own: what one session copies, another never pastes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from uigym.browser.keys import Chord
from uigym.browser.tab import Tab
from uigym.browser.wire import Channel

_TRIES = 5
_TURN_S = 1.0
_PASTES = {("Control", "v"), ("Control+Shift", "V"), ("Shift", "Insert")}


class Clipboard:
    """What was copied last in a session, by type.

    Chromium's clipboard belongs to all contexts. So beside.js tells what a page copies, right before a paste the
    session's content is put onto Chromium's clipboard, and a paste that holds anything else is stopped before the page
    sees it. The middle button, which would paste Chromium's selection, therefore pastes nothing. Only text and HTML
    are kept.
    """

    def __init__(self, pasting: asyncio.Lock, readable: bool):
        """
        Args:
            pasting: Shared with the browser's other sessions.
            readable: Whether scripts may read it, which they ask the person for.
        """
        self._pasting = pasting
        self._readable = readable
        self.content: Mapping[str, str] = {}
        """By MIME type: text/plain, text/html."""

    def read(self, channel: Channel, world: int, number: int) -> bool:
        """Answer a script that wants to read it; whether it may."""
        content = json.dumps(self.content if self._readable else None)
        channel.tell("Runtime.evaluate", {"expression": f"answerRead({number}, {content})", "contextId": world})
        return self._readable

    async def paste(self, tab: Tab, press: Callable[[], Awaitable[None]]) -> None:
        """Press a chord that pastes, with the session's content; again if another session copied in between."""
        async with self._turn():
            for _ in range(_TRIES):
                content = json.dumps(self.content)
                await tab.settler.run(f"expectPaste({content})")
                await tab.settler.run(f"giveClipboard({content})", main=True)
                await press()
                if not any(await tab.settler.run("pasteSpoilt()")):
                    return

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One session after another; but none waits long for one whose page stands still at a dialog."""
        try:
            held: bool = await asyncio.wait_for(self._pasting.acquire(), _TURN_S)
        except TimeoutError:
            held = False
        try:
            yield
        finally:
            if held:
                self._pasting.release()


def pastes(chord: Chord) -> bool:
    """Whether a chord pastes in a text field."""
    key = chord.stroke.key if chord.stroke else ""
    return ("+".join(sorted(chord.modifiers)), key) in _PASTES
