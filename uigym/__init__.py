"""uigym turns a web product into a gym for vision-language agents.

A harness defines a product (how to start, reset and read it) and its tasks; a policy sees screenshots and answers
with mouse and keyboard; a verifier reads the product's own state and says what the episode is worth. Importing this
package loads nothing heavy: each name below brings its module in when it is first used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uigym.agent import Agent as Agent
    from uigym.env import Env as Env
    from uigym.evaluate import evaluate as evaluate
    from uigym.harness import Harness as Harness
    from uigym.harness import Task as Task
    from uigym.policy import Policy as Policy
    from uigym.registry import load as load
    from uigym.rollout import rollout as rollout
    from uigym.types import Action as Action
    from uigym.types import Episode as Episode
    from uigym.types import Observation as Observation
    from uigym.types import Step as Step
    from uigym.types import Verdict as Verdict
    from uigym.verify import Verifier as Verifier
    from uigym.verify import all_of as all_of
    from uigym.verify import any_of as any_of

__version__ = "0.1.0"

_HOME = {
    "Action": "types",
    "Agent": "agent",
    "Env": "env",
    "Episode": "types",
    "Harness": "harness",
    "Observation": "types",
    "Policy": "policy",
    "Step": "types",
    "Task": "harness",
    "Verdict": "types",
    "Verifier": "verify",
    "all_of": "verify",
    "any_of": "verify",
    "evaluate": "evaluate",
    "load": "registry",
    "rollout": "rollout",
}
__all__ = list(_HOME)


class _Package(ModuleType):
    """`rollout` and `evaluate` are functions and the modules that hold them: here the name is always the function.

    Without this, the import system would put the module in its place whenever it loads it.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOME and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'uigym' has no attribute {name!r}")
        value = getattr(importlib.import_module(f"uigym.{_HOME[name]}"), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *_HOME])


sys.modules[__name__].__class__ = _Package
