"""How the mail client may look: the parts that every app has, and the order and place of its own pieces."""

from __future__ import annotations

from ..kit.looks import SHARED, Parts

PAGE_SIZE = {"comfortable": 15, "compact": 20}
"""Conversations on a page of a list, by density."""
PARTS: Parts = {
    **SHARED,
    "nav": (
        "inbox-starred-drafts-outbox-sent-archive-spam-trash",
        "inbox-drafts-sent-outbox-starred-archive-trash-spam",
        "inbox-sent-drafts-outbox-archive-starred-spam-trash",
        "starred-inbox-archive-outbox-drafts-sent-trash-spam",
    ),
    "columns": (
        "star-sender-subject-clip-date",
        "sender-star-subject-clip-date",
        "star-date-sender-clip-subject",
        "date-clip-subject-sender-star",
    ),
    "pane": ("off", "side"),
}
"""The parts of an appearance and their values, the default first. With the pane at the side, a conversation opens
beside the list; without it, in place of the list."""
