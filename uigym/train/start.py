"""What `uigym train` starts: the path that a run file asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from uigym.train import run
from uigym.train.config import RunConfig
from uigym.train.folder import refuse_another_run
from uigym.train.preflight import check


def train(config: RunConfig, say: Callable[[str], None] = print) -> Path:
    """Run a run file from where it stands; returns the folder of the final checkpoint.

    Raises:
        UIGymError: A setting cannot be used, the folder holds another run, or too much was lost.
    """
    refuse_another_run(config)
    check(config, say)
    if not config.is_general:
        return run.train(config, say)
    from uigym.train import course

    return course.train(config, say)
