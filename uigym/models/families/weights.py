"""Names of weights: as a model has them in memory, and as its checkpoints and servers know them."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers.core_model_loading import revert_weight_conversion

from uigym.models.families.base import bare


def checkpoint_names(model: nn.Module) -> dict[str, str]:
    """The name in a checkpoint of every parameter, by its name in the model.

    They differ for Qwen2.5-VL: `model.language_model.layers.0...` is saved as `model.layers.0...`. A weight that is tied
    to another one is named once.

    Raises:
        ValueError: A parameter has no name of its own in checkpoints, so that it cannot be sent by itself.
    """
    inner: Any = bare(model)
    names: dict[str, str] = {}
    for name, value in inner.named_parameters():
        found = list(revert_weight_conversion(inner, {name: torch.empty(value.shape, device="meta")}))
        if len(found) != 1 or found[0] in names.values():
            raise ValueError(f"the parameter {name} is saved as {found}, expected one name that no other has")
        names[name] = found[0]
    return names
