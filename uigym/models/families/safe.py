"""What a checkpoint folder may hold: weights as safetensors, whole, and nothing that is run when it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from uigym.errors import ConfigError

INDEX = "model.safetensors.index.json"
SAFE: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
"""Given to everything of transformers that reads a folder: its code is not run, and nothing is fetched."""
SAFE_WEIGHTS: dict[str, Any] = {**SAFE, "use_safetensors": True}
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def check_weights(folder: Path) -> None:
    """Look at the weights of a checkpoint without reading them: are they there, complete, and only numbers?

    Raises:
        ConfigError: They are not; the text names the file.
    """
    if (folder / "adapter_config.json").is_file():
        raise ConfigError(
            f"{folder} holds adapters (adapter_config.json), expected a whole model: merge them into theirs and save that"
        )
    for path in _weight_files(folder):
        try:
            with safe_open(path, framework="pt"):
                pass
        except (OSError, SafetensorError) as exc:
            raise ConfigError(f"the weights {path} are damaged or missing: {exc}; copy the checkpoint again") from exc


def _weight_files(folder: Path) -> list[Path]:
    index = folder / INDEX
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise ConfigError(f"{index} does not say where weights are: {type(exc).__name__}: {exc}") from exc
        if strange := [name for name in names if Path(str(name)).name != name]:
            raise ConfigError(f"{index} names weights outside of its folder: {strange[0]!r}")
        return [folder / name for name in names]
    if (folder / "model.safetensors").is_file():
        return [folder / "model.safetensors"]
    pickled = sorted(path.name for pattern in _PICKLED for path in folder.glob(pattern))
    found = f"; {pickled[0]} is a pickle, which runs code when it is read" if pickled else ""
    raise ConfigError(f"no model.safetensors in {folder}{found}. Save the model as safetensors (save_pretrained does)")


def why(exc: Exception) -> str:
    """What to say of an error of transformers: code of a folder's own is not run, whatever its text advises."""
    if "trust_remote_code" in str(exc):
        return "it brings code of its own (auto_map), which is never run; expected what transformers has itself"
    return f"{type(exc).__name__}: {' '.join(str(exc).split())[:500]}"
