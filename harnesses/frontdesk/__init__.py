"""Mail and help desk beside each other: what comes by mail is to be done in the desk, and the other way round."""

from __future__ import annotations

from uigym.harnesses.frontdesk.product import frontdesk  # isort: skip
from uigym.harnesses.frontdesk import desk_from_mail, mail_from_desk

__all__ = ["desk_from_mail", "frontdesk", "mail_from_desk"]
