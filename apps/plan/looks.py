"""How the planner may look: the kit's parts, the order of sections and of the agenda's columns, the side of the panel."""

from __future__ import annotations

from ..kit.looks import SHARED, Parts

PARTS: Parts = {
    **SHARED,
    "nav": ("calendar-boards-find-people-settings", "boards-calendar-people-find-settings",
            "calendar-people-boards-settings-find", "people-find-settings-boards-calendar"),
    "columns": ("time-title-calendar-place-guests", "time-title-guests-place-calendar",
                "title-time-place-calendar-guests", "calendar-time-guests-title-place"),
    "panel": ("start", "end"),
}  # fmt: skip
"""The parts of an appearance and the values that each may take; the first is the default."""
FIRST_DAY = {"en": 6, "de": 0, "ko": 6, "ar": 5}
"""With which day a week begins, Monday being 0."""
ZONES = ("America/Los_Angeles", "America/New_York", "Europe/London", "Europe/Berlin", "Asia/Dubai", "Asia/Seoul",
         "Australia/Sydney")  # fmt: skip
"""Time zones that events and people may have."""
COLOURS = ("blue", "green", "violet", "amber", "red", "teal")
"""Of calendars, events and labels."""
