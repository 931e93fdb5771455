"""How a checkpoint's policy is asked, kept beside its weights: so that it is used as it was trained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from uigym.errors import ConfigError, StoreError, attribute
from uigym.policy.sampler import Sampling

FILE = "policy.json"


@dataclass(frozen=True, slots=True)
class Manner:
    """What belongs to a policy beside its weights."""

    codec: str | None = None
    """Action language; None is its family's own."""
    context: str = "hysteresis(1, 6)"
    """As `uigym.policy.contexts.parse` reads it."""
    limit: int | None = None
    """Longest context with its reply, tokens."""
    temperature: float = 1.0
    max_tokens: int = 256
    """Longest reply."""

    def sampling(self, *, greedy: bool = False) -> Sampling:
        """As in training, or always the likeliest."""
        return Sampling(temperature=0.0 if greedy else self.temperature, max_tokens=self.max_tokens)


def write(folder: Path, manner: Manner) -> None:
    """Keep it in a checkpoint folder.

    Raises:
        StoreError: It cannot be written.
    """
    with attribute(StoreError, f"cannot write into {folder}"):
        values = {name: getattr(manner, name) for name in Manner.__slots__}
        (folder / FILE).write_text(json.dumps(values, indent=2))


def read(folder: Path) -> Manner | None:
    """That of a checkpoint folder; None if it has none.

    Raises:
        ConfigError: It cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    with attribute(ConfigError, f"cannot read {path}"):
        return Manner(**json.loads(path.read_text()))
