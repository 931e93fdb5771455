"""Where the numbers of a run go: a JSONL file always, Weights & Biases on request."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from uigym.errors import MissingExtra, StoreError, attribute
from uigym.hold import hold


class Log:
    """Appends one JSON object a line to `metrics.jsonl`, flushed at once, and passes it on to wandb if asked.

    Args:
        folder: Of the run.
        loggers: Names; "wandb" adds Weights & Biases, offline where no account is set.
        config: What is being run, for wandb.
        say: Takes lines meant for a person.

    Raises:
        StoreError: The folder cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        loggers: tuple[str, ...] = (),
        config: Mapping[str, Any] | None = None,
        say: Callable[[str], None] = print,
    ):
        with attribute(StoreError, f"cannot write into the run folder {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            self._hold = hold(folder)  # two runs in one folder would mix their rows
            self._file = (folder / "metrics.jsonl").open("ab", buffering=0)
        self._wandb = _wandb(folder, config or {}, say) if "wandb" in loggers else None

    def write(self, numbers: Mapping[str, Any]) -> None:
        """Record one row of numbers.

        Raises:
            StoreError: The disk is full.
        """
        line = json.dumps(numbers).encode() + b"\n"
        with attribute(StoreError, f"cannot write {self._file.name}"):
            if self._file.write(line) < len(line):
                raise OSError("the disk is full")
        if self._wandb is not None:
            self._wandb.log({k: v for k, v in numbers.items() if isinstance(v, int | float)})

    def close(self) -> None:
        """Finish the files."""
        self._file.close()
        if self._wandb is not None:
            self._wandb.finish()


def _wandb(folder: Path, config: Mapping[str, Any], say: Callable[[str], None]) -> Any:
    try:
        import wandb
    except ImportError as exc:
        raise MissingExtra("wandb, which the run file asks for,", "wandb") from exc
    account = os.environ.get("WANDB_API_KEY") or (Path.home() / ".netrc").exists()
    mode: Any = os.environ.get("WANDB_MODE") or ("online" if account else "offline")
    if mode == "offline":
        say(f"wandb: no account is set, so the run is recorded offline in {folder / 'wandb'}; `wandb sync` uploads it.")
    return wandb.init(
        project="uigym", dir=str(folder), config=dict(config), mode=mode, settings=wandb.Settings(silent=True)
    )
