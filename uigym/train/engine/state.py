"""What an exact resume needs: weights in float32, the optimizer's state, randomness. No pickle.

    FOLDER/
      config.json, *.safetensors ...     the weights for transformers and vLLM
      state/rank-00000.safetensors       the rows of each tensor that a rank holds; a file a rank
      state/state.json                   counts, and what the caller wants to go on from; written last

Every rank writes its own file at the same time, and any number of ranks can read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from uigym.train.engine.ranks import Ranks
from uigym.train.engine.tensors import first_row, here

FOLDER = "state"
_MOMENTS = ("exp_avg", "exp_avg_sq")


def write_state(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, ranks: Ranks) -> None:
    """Write this rank's part of the weights that learn and of the optimizer's state."""
    parts = {f"weight.{name}": p for name, p in _learning(model)}
    for name, parameter in _learning(model):
        state = optimizer.state.get(parameter, {})
        parts |= {f"{key}.{name}": value for key, value in state.items()}
    starts = {key: first_row(value) for key, value in parts.items()}
    tensors = {key: here(value).cpu().contiguous() for key, value in parts.items()}
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    tensors |= _random(ranks)
    save_file(tensors, folder / FOLDER / f"rank-{ranks.number:05}.safetensors", {"starts": json.dumps(starts)})


def read_state(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, ranks: Ranks) -> None:
    """Set weights, optimizer and randomness to what `write_state` of any number of ranks wrote.

    Raises:
        KeyError: A tensor of the model is not there.
        ValueError: A tensor has another size there.
    """
    with ExitStack() as stack:
        paths = sorted((folder / FOLDER).glob("rank-*.safetensors"))
        files = [_File(stack.enter_context(safe_open(path, "pt"))) for path in paths]
        for name, parameter in _learning(model):
            _fill(files, f"weight.{name}", parameter)
            state = {}
            for key in _MOMENTS:
                if any(f"{key}.{name}" in file.starts for file in files):
                    state[key] = torch.zeros_like(parameter.detach())
                    _fill(files, f"{key}.{name}", state[key])
            if state:
                state["step"] = files[0].handle.get_tensor(f"step.{name}")
                optimizer.state[parameter] = state
        _reseed(files, ranks)


def write_progress(folder: Path, progress: dict[str, Any]) -> None:
    """Say that the state is complete, and what to go on from."""
    (folder / FOLDER / "state.json").write_text(json.dumps(progress))


def read_progress(folder: Path) -> dict[str, Any]:
    """What `write_progress` wrote."""
    progress: dict[str, Any] = json.loads((folder / FOLDER / "state.json").read_text())
    return progress


class _File:
    """One rank's file."""

    def __init__(self, handle: Any):
        self.handle = handle
        self.starts: dict[str, int] = json.loads(handle.metadata()["starts"])


def _learning(model: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    return ((name, p) for name, p in model.named_parameters() if p.requires_grad)


def _fill(files: list[_File], key: str, tensor: Tensor) -> None:
    """Copy the rows of this rank from whichever files hold them."""
    target, start = here(tensor), first_row(tensor)
    if not target.dim():
        target.copy_(files[0].handle.get_tensor(key))
        return
    found = 0
    for file in (f for f in files if key in f.starts):
        source, at = file.handle.get_slice(key), file.starts[key]
        rows, *rest = source.get_shape()
        low, high = max(start, at), min(start + len(target), at + rows)
        if list(target.shape[1:]) != rest:
            raise ValueError(f"{key} has rows of {rest} there, and of {list(target.shape[1:])} here")
        if low < high:
            target[low - start : high - start].copy_(source[low - at : high - at])
            found += high - low
    if found != len(target):
        raise KeyError(f"{key}: {found} of {len(target)} rows are there")


def _random(ranks: Ranks) -> dict[str, Tensor]:
    states = {"random.cpu": torch.get_rng_state()}
    if ranks.device.type == "cuda":
        states["random.cuda"] = torch.cuda.get_rng_state(ranks.device)
    return states


def _reseed(files: list[_File], ranks: Ranks) -> None:
    if ranks.number < len(files):
        handle = files[ranks.number].handle
        torch.set_rng_state(handle.get_tensor("random.cpu"))
        if ranks.device.type == "cuda" and "random.cuda" in set(handle.keys()):
            torch.cuda.set_rng_state(handle.get_tensor("random.cuda"), ranks.device)
