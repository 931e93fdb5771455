"""Tiny random checkpoints of every architecture."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForImageTextToText, AutoTokenizer

from uigym.models.families.random import KINDS, random_checkpoint


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_whole_checkpoint(kind: str, tmp_path: Path) -> None:
    folder = random_checkpoint(tmp_path / "model", kind)
    model, told = AutoModelForImageTextToText.from_pretrained(folder, output_loading_info=True)
    assert model.config.model_type == kind
    assert not any(told.values())
    assert model.num_parameters() < 1_000_000
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = 'hello, {"action": "left_click"} – 2 €\n'
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert {"config.json", "preprocessor_config.json", "chat_template.jinja"} <= {f.name for f in folder.iterdir()}


def test_the_seed_decides(tmp_path: Path) -> None:
    first, same, other = (
        load_file(random_checkpoint(tmp_path / name, "qwen3_vl", seed=seed) / "model.safetensors")
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["lm_head.weight"], other["lm_head.weight"])


def test_an_unknown_architecture(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no architecture 'llava'; expected one of qwen2_5_vl"):
        random_checkpoint(tmp_path / "model", "llava")
    assert not list(tmp_path.iterdir())
