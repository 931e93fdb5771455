"""A first harness for an unknown product: what it starts with, what a demonstration changes, and a draft of both."""

from uigym.draft.author import Asked, Draft, draft

__all__ = ["Asked", "Draft", "draft"]
