"""LoRA: small matrices that learn beside large ones. Needs peft, the extra `lora`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from uigym.errors import ConfigError, MissingExtra
from uigym.models.families.family import Family
from uigym.train.engine.settings import Lora
from uigym.train.engine.tensors import whole

_NAME = "default"
_BESIDE = ".base_layer."


def adapt(model: nn.Module, family: Family, lora: Lora) -> None:
    """Put adapters into the language part; nothing else learns afterwards.

    Raises:
        MissingExtra: peft is not installed.
        ConfigError: No layer has a name that the settings give.
    """
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError as exc:
        raise MissingExtra("peft, which LoRA needs,", "lora") from exc
    seen = {id(module) for module in family.vision(model).modules()}
    names = [
        name
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and id(module) not in seen and name.rpartition(".")[2] in lora.targets
    ]
    if not names:
        raise ConfigError(f"no linear layer of the language part is called one of {', '.join(lora.targets)}")
    # Dropout would make the trainer's probabilities differ from the sampler's.
    config = LoraConfig(r=lora.rank, lora_alpha=lora.alpha, target_modules=names, lora_dropout=0.0)
    inject_adapter_in_model(config, model, adapter_name=_NAME)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(".lora_" in name)


def is_adapter(name: str) -> bool:
    """Whether a parameter of that name belongs to an adapter."""
    return ".lora_" in name


def plain(name: str) -> str:
    """A parameter's name in a model without adapters."""
    return name.replace(_BESIDE, ".")


def merged(model: nn.Module, name: str, value: Tensor) -> Tensor:
    """A parameter with what was learned beside it. All ranks must ask together.

    Args:
        model: The model.
        name: The parameter's name in it.
        value: The whole parameter.

    Returns:
        The value itself where there is no adapter, else float32.
    """
    owner, beside, rest = name.partition(_BESIDE)
    if not beside or rest != "weight":
        return value
    layer: Any = model.get_submodule(owner)
    a, b = whole(layer.lora_A[_NAME].weight), whole(layer.lora_B[_NAME].weight)
    return torch.addmm(value.float(), b.float(), a.float(), alpha=layer.scaling[_NAME])
