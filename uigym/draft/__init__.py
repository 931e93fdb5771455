"""A first harness for an unknown product: what it starts with, what a demonstration changes, and a draft of both."""

from uigym.draft.draft import Asked, Draft, draft

__all__ = ["Asked", "Draft", "draft"]
