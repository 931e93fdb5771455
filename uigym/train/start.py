"""What `uigym train` starts: the path that a run file asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from uigym.train.config import RunConfig


def train(config: RunConfig, say: Callable[[str], None] = print) -> Path:
    """Run a run file from where it stands; returns the folder of the final checkpoint.

    Raises:
        UIGymError: A setting cannot be used, the folder holds another run, or too much was lost.
    """
    if config.is_general:
        from uigym.train.course import train as start
    else:
        from uigym.train.run import train as start
    return start(config, say)
