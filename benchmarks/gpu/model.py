"""A Qwen3-VL of about 50 million parameters with random weights: small enough to learn an app from nothing in minutes.

python benchmarks/gpu/model.py models/small
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForImageTextToText

from uigym.models.families.random import random_checkpoint

TEXT = {
    "hidden_size": 512,
    "intermediate_size": 1536,
    "num_hidden_layers": 8,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "max_position_embeddings": 16384,
}
VISION = {
    "hidden_size": 384,
    "intermediate_size": 1536,
    "depth": 6,
    "num_heads": 6,
    "out_hidden_size": 512,
    "num_position_embeddings": 2304,
    "deepstack_visual_indexes": [2, 4],
}
ROPE = {"rope_type": "default", "rope_theta": 100000.0, "mrope_section": [12, 10, 10], "mrope_interleaved": True}


def small_checkpoint(folder: Path, *, seed: int = 0) -> Path:
    """Write the checkpoint, with the tokenizer and the processor of the random ones of the tests; gives the folder."""
    random_checkpoint(folder, "qwen3_vl")
    config = AutoConfig.from_pretrained(folder)
    for name, value in (TEXT | {"rope_parameters": ROPE}).items():
        setattr(config.text_config, name, value)
    for name, value in VISION.items():
        setattr(config.vision_config, name, value)
    torch.manual_seed(seed)
    model = AutoModelForImageTextToText.from_config(config, dtype=torch.float32)
    model.save_pretrained(folder)
    return folder


def parameters(folder: Path) -> int:
    """Of the model in a checkpoint folder."""
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.bfloat16)
    return sum(p.numel() for p in model.parameters())


if __name__ == "__main__":
    out = small_checkpoint(Path(sys.argv[1]))
    print(f"{out}: {parameters(out) / 1e6:.1f} million parameters")
