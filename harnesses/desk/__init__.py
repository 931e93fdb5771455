"""The help desk: how to start, reset and read it, and what an agent must do in it."""

from __future__ import annotations

from uigym.harnesses.desk.product import desk  # isort: skip
from uigym.harnesses.desk import answers, lists, macros, merging, tickets

__all__ = ["answers", "desk", "lists", "macros", "merging", "tickets"]
