"""What pages complain of, as the browser's console shows it: errors, what nobody caught, requests that failed.

Chromium tells it anyway, with the events that settling needs; here it is only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from uigym.browser.wire import Channel
from uigym.watched import Complaint

MAX_COMPLAINTS = 200
"""Kept of one session, the first ones; a page that complains in a loop fills no more of the record."""
MAX_TEXT = 2_000
_ERRORS = ("error", "assert")
Take = Callable[[Complaint], None]


class Console:
    """Of one window: keeps what comes until somebody takes it."""

    def __init__(self) -> None:
        self._kept: list[Complaint] = []
        self._take: Take = self._keep

    def listen(self, channel: Channel) -> None:
        """To the page, or to a frame of another process in it."""
        channel.on("Runtime.consoleAPICalled", self._said)
        channel.on("Runtime.exceptionThrown", lambda event: self._thrown(event["exceptionDetails"]))
        channel.on("Log.entryAdded", lambda event: self._logged(event["entry"]))

    def hand_to(self, take: Take) -> None:
        """Give what was kept, and from now on what comes."""
        self._take = take
        for complaint in self._kept:
            take(complaint)
        self._kept = []

    def _keep(self, complaint: Complaint) -> None:
        if len(self._kept) < MAX_COMPLAINTS:
            self._kept.append(complaint)

    def _said(self, event: Mapping[str, Any]) -> None:
        if event["type"] in _ERRORS:
            self._take(_complaint("error", " ".join(_words(event["args"])), _place(event)))

    def _thrown(self, details: Mapping[str, Any]) -> None:
        thrown = details.get("exception", {})
        text = f"{details['text']} {_word(thrown)}" if thrown else details["text"]
        self._take(_complaint("exception", text, details.get("url") or _place(details)))

    def _logged(self, entry: Mapping[str, Any]) -> None:
        if entry["level"] == "error":
            self._take(_complaint(entry["source"], entry["text"], entry.get("url", "")))


class Complaints:
    """Of one session: numbered by step, and no more than a record can bear."""

    def __init__(self, step: Callable[[], int]):
        """
        Args:
            step: How many actions have begun.
        """
        self._step = step
        self._all: list[Complaint] = []
        self._dropped = 0

    def take(self, complaint: Complaint) -> None:
        """One more."""
        if len(self._all) < MAX_COMPLAINTS:
            self._all.append(Complaint(complaint.kind, complaint.text, complaint.url, self._step()))
        else:
            self._dropped += 1

    def told(self) -> tuple[Complaint, ...]:
        """All so far, in the order in which they came."""
        if not self._dropped:
            return tuple(self._all)
        return (*self._all, Complaint("more", f"and {self._dropped} more that are not told", "", self._step()))


def _complaint(kind: str, text: str, url: str) -> Complaint:
    return Complaint(kind, text[:MAX_TEXT], url[:MAX_TEXT])


def _words(arguments: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    return (_word(argument) for argument in arguments)


def _word(value: Mapping[str, Any]) -> str:
    """A value of the page's, as the console would print it."""
    for name in ("value", "unserializableValue", "description", "subtype", "type"):
        if value.get(name) is not None:
            return str(value[name])
    return ""


def _place(event: Mapping[str, Any]) -> str:
    """Address of the script that it comes from."""
    frames = event.get("stackTrace", {}).get("callFrames", [])
    return str(frames[0]["url"]) if frames else ""
