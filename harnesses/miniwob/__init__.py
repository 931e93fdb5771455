"""MiniWoB++: more than a hundred small pages, each a task with a seed and a reward of its own."""

from uigym.harnesses.miniwob import pages, reading, solving, work  # noqa: F401
from uigym.harnesses.miniwob.product import MINIWOB as MINIWOB
