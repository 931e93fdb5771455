"""Books and shop beside each other: what the shop sold is to agree with what the books say."""

from __future__ import annotations

from uigym.harnesses.backroom.product import backroom  # isort: skip
from uigym.harnesses.backroom import agreeing, copying

__all__ = ["agreeing", "backroom", "copying"]
