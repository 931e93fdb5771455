"""Attention of a vision tower over many small windows at once, instead of one after the other."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from transformers import AttentionInterface

from uigym.errors import ConfigError

NAME = "uigym_flash_windows"
"""As transformers knows it; the word "flash" in it says that it wants the windows' bounds instead of a mask."""


def attend_windows(tower: nn.Module) -> None:
    """Let a vision tower use PyTorch's own kernel for sequences of several lengths.

    Qwen2.5-VL looks at a screenshot through dozens of windows. Without this transformers goes through them in a loop,
    thousands of calls a screenshot, and the processor that starts them is slower than the GPU.

    Raises:
        ConfigError: This PyTorch does not have it, or the tower is of another kind.
    """
    try:
        from torch.nn.attention.varlen import varlen_attn  # noqa: F401
    except ImportError as exc:
        raise ConfigError("windows needs torch 2.10 or newer; set windows to false") from exc
    kind = str(getattr(getattr(tower, "config", None), "model_type", "unknown"))
    if not kind.startswith("qwen"):
        raise ConfigError(f"windows is for Qwen's vision towers, not for one of kind {kind}; set windows to false")
    AttentionInterface.register(NAME, attention)
    for module in tower.modules():
        config: Any = getattr(module, "config", None)
        if config is not None:
            config._attn_implementation = NAME


def attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None, **given: Any
) -> tuple[Tensor, None]:
    """Attention within windows.

    Args:
        module: That attends.
        query, key, value: [1, heads, length, channels].
        attention_mask: Not used: no window sees another.
        given: Bounds of the windows, `cu_seq_lens_q` int32 [windows + 1], the longest, `max_length_q`, and `scaling`.

    Returns:
        [1, length, heads, channels].
    """
    from torch.nn.attention import varlen

    bounds, longest = given["cu_seq_lens_q"], int(given["max_length_q"])
    q, k, v = (x[0].transpose(0, 1).contiguous() for x in (query, key, value))
    out: Any = varlen.varlen_attn(q, k, v, bounds, bounds, longest, longest, scale=given.get("scaling"))
    return out[None], None
