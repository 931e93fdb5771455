"""The mail client: how to start, reset and read it, and what an agent must do in it."""

from uigym.harnesses.mail import people, reading, refusing, sorting, writing
from uigym.harnesses.mail.product import mail

__all__ = ["mail", "people", "reading", "refusing", "sorting", "writing"]
