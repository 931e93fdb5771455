"""The folder of a run: whose it is, what is written beside its results."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from uigym.errors import ConfigError, attribute
from uigym.store import checkpoints
from uigym.train.config import RunConfig
from uigym.train.logs import Account, Log

PACKAGES = ("uigym", "torch", "transformers", "playwright", "numpy")


def open_log(config: RunConfig, say: Callable[[str], None]) -> Log:
    """Where the numbers of this run go."""
    account = Account(**config.wandb.model_dump())
    return Log(config.out, config.logger, config.model_dump(mode="json"), say, account=account, page=True)


def write_record(config: RunConfig) -> None:
    """Say in run.json what is run, and on what."""
    record = {"config": config.model_dump(mode="json"), **about()}
    (config.out / "run.json").write_text(json.dumps(record, indent=2))


MAY_CHANGE = (
    "out", "logger", "allow_takeover", "data.val_episodes", "trainer.max_updates", "trainer.max_seconds", "trainer.save_every",
    "trainer.test_every", "trainer.threads", "inference.slots", "inference.browsers",
)  # fmt: skip
"""Keys of a run file with another value of which a run is still the same run; so are all of wandb and inference.vllm."""
MAY_CHANGE_BELOW = ("wandb.", "inference.vllm.")


def refuse_another_run(config: RunConfig) -> None:
    """Do nothing if the folder of the results has no checkpoint, or those of this very run.

    Raises:
        ConfigError: It has checkpoints of a run with other settings; the text names them.
    """
    record = config.out / "run.json"
    if not record.is_file():
        return
    with attribute(ConfigError, f"cannot read {record}"):
        told = json.loads(record.read_text())
        if "schema" in told:
            raise ConfigError(f"{config.out} holds recorded episodes. Name another folder: out=DIR")
        before = _flat(told["config"])
    if not checkpoints(config.out):
        return
    now = _flat(config.model_dump(mode="json"))
    differ = [
        k for k in sorted(before.keys() | now.keys()) if before.get(k, now.get(k)) != now.get(k) and not _may_change(k)
    ]
    if differ:
        changed = ", ".join(f"{key} {before.get(key)!r} (now {now.get(key)!r})" for key in differ)
        raise ConfigError(f"{config.out} holds a run with {changed}. Name another folder: out=DIR")


def _may_change(key: str) -> bool:
    return key in MAY_CHANGE or key.startswith(MAY_CHANGE_BELOW)


def _flat(section: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Values by dotted key."""
    found: dict[str, Any] = {}
    for key, value in section.items():
        found.update(_flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value})
    return found


def about() -> dict[str, Any]:
    """Machine and versions, to be kept beside results."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {"machine": machine(), "versions": {"python": platform.python_version(), **versions}}


def machine() -> str:
    """Processor, cores, memory and GPUs, in words."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        model = next(
            (line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")),
            model,
        )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {gpus()}"


def gpus() -> str:
    """Which GPUs there are, in words."""
    import torch

    if not torch.cuda.is_available():
        return "no GPU used"
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))
