"""Weights as others load them: names as in a checkpoint, whole tensors, a folder for transformers and vLLM."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.core_model_loading import revert_weight_conversion

from uigym.train.engine.adapters import is_adapter, merged, plain
from uigym.train.engine.tensors import whole

SHARD_BYTES = 4 * 2**30
"""Most bytes of one file of weights."""
_OWN = ("config.json", "generation_config.json")


class Export:
    """The weights of a model that learns, as a checkpoint names them.

    Args:
        model: Ready to learn; weights are read from it whenever they are asked for.
        source: Folder that it was loaded from: its tokenizer and processor go along.
        dtype: Of what is given out.
    """

    def __init__(self, model: nn.Module, source: Path, dtype: torch.dtype):
        self.model, self.source, self.dtype = model, source, dtype
        self.names = _names(model)
        self.architecture = type(model).__name__.removeprefix("FSDP")  # sharding renames the class

    def named(self) -> Iterator[tuple[str, Tensor]]:
        """(name in the checkpoint, whole tensor), one after the other. All ranks must go through it together."""
        tensors = dict(self.model.named_parameters()) | dict(self.model.named_buffers())
        for name, value in tensors.items():
            if not is_adapter(name) and plain(name) in self.names:
                yield self.names[plain(name)], merged(self.model, name, whole(value)).to(self.dtype)

    def save(self, folder: Path, *, writes: bool = True) -> None:
        """Write a folder that transformers and vLLM load.

        Args:
            folder: Where; files of that name are replaced.
            writes: Whether this rank writes; the others only give their parts.
        """
        files = self._files()
        tensors = self.named()
        if writes:
            folder.mkdir(parents=True, exist_ok=True)
        for file, names in files.items():
            part = {}
            for _ in names:
                name, value = next(tensors)
                if writes:
                    part[name] = value.to("cpu", copy=True).contiguous()
            if writes:
                save_file(part, folder / file, metadata={"format": "pt"})
        if writes:
            self._describe(folder, files)

    def _files(self) -> dict[str, list[str]]:
        """File -> names in it, in the order of `named`."""
        parts: list[list[str]] = [[]]
        size = 0
        tensors = dict(self.model.named_parameters()) | dict(self.model.named_buffers())
        for name, value in tensors.items():
            if is_adapter(name) or plain(name) not in self.names:
                continue
            more = value.numel() * self.dtype.itemsize
            if parts[-1] and size + more > SHARD_BYTES:
                parts, size = [*parts, []], 0
            parts[-1].append(self.names[plain(name)])
            size += more
        if len(parts) == 1:
            return {"model.safetensors": parts[0]}
        return {f"model-{n:05}-of-{len(parts):05}.safetensors": names for n, names in enumerate(parts, start=1)}

    def _describe(self, folder: Path, files: dict[str, list[str]]) -> None:
        if len(files) > 1:
            index = {"metadata": {}, "weight_map": {name: file for file, names in files.items() for name in names}}
            (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        for path in self.source.iterdir():
            kept = path.suffix in (".json", ".jinja", ".txt", ".model") and not path.name.endswith(".index.json")
            if kept and path.name not in _OWN and path.parent != folder:
                shutil.copyfile(path, folder / path.name)
        model: Any = self.model
        config = copy.deepcopy(model.config)
        config.architectures = [self.architecture]
        for part in (config, *(getattr(config, name) for name in getattr(config, "sub_configs", {}))):
            part.dtype = self.dtype
        config.save_pretrained(folder)
        model.generation_config.save_pretrained(folder)


def _names(model: nn.Module) -> dict[str, str]:
    """Name in a model without adapters -> name in its checkpoints.

    transformers may call parts of a model otherwise than the files do, and changes the names back when it saves. To
    learn the names it is given numbers in place of the tensors.
    """
    names = {plain(name) for name, _ in model.named_parameters() if not is_adapter(name)}
    names |= {plain(name) for name in model.state_dict() if plain(name) in dict(model.named_buffers())}
    if not isinstance(model, PreTrainedModel):
        return {name: name for name in names}
    order = sorted(names)
    back = revert_weight_conversion(model, {name: torch.tensor(i) for i, name in enumerate(order)})
    return {order[int(number)]: name for name, number in back.items()}
