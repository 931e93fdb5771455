"""Checkpoints of a run: weights that any tool loads, and what an exact resume needs. No pickle anywhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from uigym.store import checkpoints
from uigym.train.drafts import drafted, resuming, writing
from uigym.train.learner import Learner


def save(folder: Path, learner: Learner, progress: dict[str, Any]) -> Path:
    """Write a checkpoint: complete under its name, or not there at all.

    Args:
        folder: Where it shall be.
        learner: Weights and optimisers.
        progress: JSON values to go on from.

    Raises:
        StoreError: The disk is full, or the folder cannot be written; a former checkpoint of that name is still there.
    """
    with writing(folder), drafted(folder) as draft:
        _write(draft, learner, progress)
    return folder


def _write(draft: Path, learner: Learner, progress: dict[str, Any]) -> None:
    learner.save(draft)
    weights = {name: value.contiguous() for name, value in learner.policy.model.state_dict().items()}
    tensors, plain = _flatten(learner.optimizer_state())
    # The weights that tools load are rounded to bfloat16; an exact resume goes on from the ones in float32.
    save_file(weights, draft / "weights.fp32.safetensors")
    save_file(tensors, draft / "optimizer.safetensors")
    (draft / "progress.json").write_text(json.dumps({**progress, "optimizer": plain, "random": _random_state(learner)}))


def load(folder: Path, learner: Learner) -> dict[str, Any]:
    """Restore weights, optimisers and the sampler's randomness; returns the progress.

    Raises:
        ConfigError: The folder is no checkpoint of this kind of run.
    """
    with resuming(folder):
        progress: dict[str, Any] = json.loads((folder / "progress.json").read_text())
        version = int(progress["version"])
        tensors = load_file(folder / "optimizer.safetensors")
        learner.policy.model.load_state_dict(load_file(folder / "weights.fp32.safetensors"))
        for optimizer, state in zip(learner.optimizers, _unflatten(tensors, progress.pop("optimizer")), strict=True):
            optimizer.load_state_dict(state)
        learner.policy.generator.set_state(torch.tensor(list(bytes.fromhex(progress.pop("random"))), dtype=torch.uint8))
    learner.policy.weights_changed(vision=True)
    learner.policy.version = version
    return progress


def latest(run: Path) -> Path | None:
    """The newest complete checkpoint of a run folder; None if there is none."""
    return next(reversed(checkpoints(run)), None)


def _random_state(learner: Learner) -> str:
    return bytes(learner.policy.generator.get_state().tolist()).hex()


def _flatten(states: list[dict[str, Any]]) -> tuple[dict[str, torch.Tensor], list[Any]]:
    """Optimiser states as named tensors and JSON."""
    tensors: dict[str, torch.Tensor] = {}
    plain = []
    for number, state in enumerate(states):
        for index, values in state["state"].items():
            for name, value in values.items():
                tensors[f"{number}.{index}.{name}"] = value.contiguous()
        plain.append(state["param_groups"])
    return tensors, plain


def _unflatten(tensors: dict[str, torch.Tensor], plain: list[Any]) -> list[dict[str, Any]]:
    states: list[dict[str, Any]] = [{"state": {}, "param_groups": groups} for groups in plain]
    for key, value in tensors.items():
        number, index, name = key.split(".", 2)
        states[int(number)]["state"].setdefault(int(index), {})[name] = value
    return states


def remove(folder: Path) -> None:
    """Delete a checkpoint, its mark of completeness first."""
    (folder / "progress.json").unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
