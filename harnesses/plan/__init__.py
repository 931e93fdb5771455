"""The planner: its harness, and the tasks by what they are about."""

from uigym.harnesses.plan import boards, drags, events, questions, refusals
from uigym.harnesses.plan.product import PLAN as plan

__all__ = ["boards", "drags", "events", "plan", "questions", "refusals"]
