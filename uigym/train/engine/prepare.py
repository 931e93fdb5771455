"""A loaded model made ready to learn: what learns, in which precision, sharded over the ranks."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import checkpoint

from uigym.errors import ConfigError, MissingExtra
from uigym.models.families.family import Family
from uigym.train.engine.adapters import adapt
from uigym.train.engine.ranks import Ranks
from uigym.train.engine.settings import EngineSettings
from uigym.train.engine.vision import attend_windows


def prepare(model: nn.Module, family: Family, settings: EngineSettings, ranks: Ranks) -> None:
    """Make a float32 model ready to learn, in place.

    What learns stays in float32, split evenly over the ranks; where the arithmetic is bfloat16 each layer is rounded
    when it is used. What does not learn is rounded once, and every rank has all of it: a frozen vision tower then
    needs no exchange, so that no rank waits for one whose windows have no picture.

    Raises:
        ConfigError: A setting needs a GPU, or nothing of the model is left to learn.
        MissingExtra: LoRA without peft, or liger-kernel is not installed.
    """
    family.vision(model).requires_grad_(settings.vision)
    if settings.lora is not None:
        adapt(model, family, settings.lora)
    frozen = {p for p in model.parameters() if not p.requires_grad}
    for parameter in frozen:  # parameters alone: rotary tables are buffers and stay exact
        parameter.data = parameter.data.to(settings.dtype)
    if settings.windows:
        if ranks.device.type != "cuda":
            raise ConfigError(f"windows needs a GPU, and this runs on {ranks.device}; set windows to false")
        attend_windows(family.vision(model))
    if settings.liger:
        _liger(model, ranks)
    layers = [layer for layer in family.layers(model) if any(p.requires_grad for p in layer.parameters())]
    if not layers:
        raise ConfigError("no layer of the model is left to learn")
    _rewrap(layers, settings, ranks)
    if ranks.count > 1 or settings.precision == "bf16":
        _shard(model, layers, frozen, settings, ranks)


def _shard(
    model: nn.Module, layers: list[nn.Module], frozen: set[nn.Parameter], settings: EngineSettings, ranks: Ranks
) -> None:
    # Inputs are not cast: rotary tables must reach the layers in float32, and the rest has the dtype of the weights.
    policy = MixedPrecisionPolicy(settings.dtype, torch.float32, cast_forward_inputs=False)
    shard = functools.partial(fully_shard, mesh=ranks.mesh(), mp_policy=policy, ignored_params=frozen)
    for layer in layers:
        shard(layer)
    shard(model)


def _rewrap(layers: list[nn.Module], settings: EngineSettings, ranks: Ranks) -> None:
    """Compile and recompute layers. Their `forward` is replaced and they are not wrapped, so that names stay as they are."""
    if settings.compile and ranks.device.type != "cuda":
        raise ConfigError(f"compile needs a GPU, and this runs on {ranks.device}; set compile to false")
    for number, layer in enumerate(layers):
        forward: Any = layer.forward
        if settings.compile:
            forward = torch.compile(forward, dynamic=True)
        if int((number + 1) * settings.recompute) > int(number * settings.recompute):
            # Nothing in a layer is random: there is no dropout where a policy learns.
            forward = functools.partial(checkpoint, forward, use_reentrant=False, preserve_rng_state=False)
        layer.forward = forward


def _liger(model: nn.Module, ranks: Ranks) -> None:
    if ranks.device.type != "cuda":
        raise ConfigError(f"liger needs a GPU, and this runs on {ranks.device}; set liger to false")
    try:
        from liger_kernel.transformers import _apply_liger_kernel_to_instance
    except ImportError as exc:
        raise MissingExtra("liger-kernel, which the settings ask for,", "liger") from exc
    # Its fused loss is left out: logits are needed at reply positions alone, and the loss is not cross-entropy.
    _apply_liger_kernel_to_instance(model, fused_linear_cross_entropy=False)
