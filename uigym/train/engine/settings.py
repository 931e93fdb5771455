"""How an engine computes and learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import torch

from uigym.errors import ConfigError

Precision: TypeAlias = Literal["bf16", "fp32"]


@dataclass(frozen=True, slots=True)
class Lora:
    """Learn small matrices beside those of the language part, which stay as they are."""

    rank: int = 32
    alpha: float = 64.0
    """The product of the small matrices is scaled by alpha / rank."""
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    """Last parts of the names of the linear layers."""

    def __post_init__(self) -> None:
        if self.rank < 1 or self.alpha <= 0 or not self.targets:
            raise ConfigError(f"lora needs a rank of 1 or more, an alpha above 0 and targets, not {self}")


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How an engine computes and learns; the same on all ranks.

    Raises:
        ConfigError: A value is out of its range.
    """

    rate: float = 1e-6
    """Learning rate of AdamW, where an update is given none."""
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.0
    """Of matrices; vectors have none."""
    clip: float = 1.0
    """Most that the norm of an update's gradient may be."""
    precision: Precision = "bf16"
    """Of the arithmetic. Weights that learn, their gradients and the optimizer's state are float32 in either case."""
    vision: bool = False
    """Whether the vision tower learns too."""
    lora: Lora | None = None
    recompute: float = 1.0
    """Share of the layers that keep nothing but their input for the backward pass: less memory, more time."""
    budget: int = 16384
    """Tokens of a micro-batch, padding counted; a longer window is one of its own."""
    packed: bool = False
    """Whether the windows of a micro-batch share one sequence instead of being padded. Their attention then goes by a
    mask, which is slower: worth it where windows are short."""
    temperature: float = 1.0
    """That replies are sampled at."""
    liger: bool = False
    """Use liger-kernel's norms, activations and rotations; GPU only."""
    windows: bool = False
    """Let a Qwen vision tower attend within all its windows at once; GPU and bf16 only."""
    compile: bool = False
    """Compile the layers with `torch.compile`: a minute at the start, faster afterwards; GPU only."""

    def __post_init__(self) -> None:
        for ok, what in (
            (self.rate >= 0, f"rate must be 0 or more, not {self.rate}"),
            (self.clip > 0, f"clip must be above 0, not {self.clip}"),
            (self.precision in ("bf16", "fp32"), f"precision must be bf16 or fp32, not {self.precision!r}"),
            (0 <= self.recompute <= 1, f"recompute is a share of the layers, from 0 to 1, not {self.recompute}"),
            (self.budget >= 1, f"budget must be at least 1 token, not {self.budget}"),
            (self.temperature > 0, f"temperature must be above 0 where a policy learns, not {self.temperature}"),
            (not self.windows or self.precision == "bf16", "windows computes in bf16: set precision to bf16"),
            (not (self.lora and self.vision), "lora learns beside the language part: it cannot go with vision"),
        ):
            if not ok:
                raise ConfigError(what)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """What `dataclasses.asdict` made, perhaps after a way through JSON."""
        lora = values["lora"]
        adapters = Lora(lora["rank"], lora["alpha"], tuple(lora["targets"])) if lora else None
        return cls(**{**values, "betas": tuple(values["betas"]), "lora": adapters})

    @property
    def dtype(self) -> torch.dtype:
        """Of the arithmetic, of what does not learn, and of exported weights."""
        return torch.bfloat16 if self.precision == "bf16" else torch.float32
