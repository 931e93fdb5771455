"""What is on its way to a page: documents, scripts, style sheets, pictures, fonts."""

from __future__ import annotations

import asyncio
from typing import Any

TO = "to "
"""Before a frame's id: a document on its way to it."""
SOON = "soon "
"""Before a frame's id: a document that it will ask for in a moment."""
HISTORY = "history"
"""An entry of the history on its way, which is reported late."""
_VITAL = ("Script", "Stylesheet")
_AWAITED = (*_VITAL, "Image", "Font")


class Loads:
    """Keeps what was announced and has not arrived."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._hopeless: set[str] = set()
        self._requests: dict[str, tuple[str, str]] = {}  # id -> (frame, document that asked)
        self._vital: set[str] = set()  # ids of requests without whose answers a page is not itself
        self._changed = asyncio.Event()
        self.landed = False
        """Whether a request has ended since this was last set to False."""

    def __bool__(self) -> bool:
        """Whether something is to come that is worth waiting for."""
        return not self._open <= self._hopeless

    def begin(self, *keys: str) -> None:
        """Something is on its way."""
        self._open.update(keys)
        self._hopeless.difference_update(keys)
        self._changed.set()

    def end(self, *keys: str) -> None:
        """It is here, or will not come."""
        self._open.difference_update(keys)
        self._hopeless.difference_update(keys)
        self._changed.set()

    def give_up(self) -> None:
        """What is still not here is not waited for again."""
        self._hopeless |= self._open

    def hope(self) -> bool:
        """Whether a script or style sheet has still not come; then all that was given up is waited for again."""
        if coming := bool(self._vital & self._requests.keys()):
            self._hopeless.clear()
        return coming

    def has(self, key: str) -> bool:
        """Whether it was announced and has not come."""
        return key in self._open

    def is_hopeless(self, key: str) -> bool:
        """Whether it was given up and has not come since."""
        return key in self._hopeless

    def stay(self) -> None:
        """No document that was asked for comes."""
        self.end(HISTORY, *(key for key in self._open if key.startswith(TO)))

    def note(self) -> None:
        """Wake who waits for a change."""
        self._changed.set()

    async def change(self, seconds: float) -> None:
        """Wait until something begins or ends, at most so long."""
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return

    # --- requests of a document ---

    def asked(self, event: dict[str, Any]) -> None:
        """A document asks for something (Network.requestWillBeSent)."""
        own = event["loaderId"]  # empty for the script of a worker, which ends elsewhere
        if own and event.get("type") in _AWAITED and not event["request"]["url"].startswith("data:"):
            self._requests[event["requestId"]] = event.get("frameId", ""), own
            self._vital |= {event["requestId"]} if event["type"] in _VITAL else set()
            self.begin(event["requestId"])

    def answered(self, event: dict[str, Any]) -> None:
        """It has arrived or failed."""
        self._vital.discard(event["requestId"])
        if self._requests.pop(event["requestId"], None):
            self.landed = True
            self.end(event["requestId"])

    def abandon(self, frame: str, document: str = "") -> None:
        """A frame shows another document, or none: what the earlier ones asked for will not come."""
        for request, (owner, loader) in list(self._requests.items()):
            if owner == frame and loader != document:
                del self._requests[request]
                self.end(request)
