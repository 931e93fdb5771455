"""How the help desk may look."""

from __future__ import annotations

from ..kit.looks import SHARED, Parts

PAGE_SIZE = {"comfortable": 15, "compact": 20}
"""Rows of a list's page, by density."""
PARTS: Parts = {
    **SHARED,
    "nav": (
        "home-tickets-customers-macros-agents",
        "tickets-customers-agents-macros-home",
        "home-customers-tickets-agents-macros",
        "agents-macros-home-customers-tickets",
    ),
    "columns": (
        "number-subject-customer-assignee-priority-status-due-created",
        "number-subject-status-priority-due-customer-assignee-created",
        "number-priority-subject-customer-status-assignee-created-due",
        "status-number-subject-due-created-customer-assignee-priority",
    ),
    "panel": ("right", "left"),
}
"""The parts of an appearance and the values that each may take; the first is the default."""
