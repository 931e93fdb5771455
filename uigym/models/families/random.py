"""Tiny checkpoints with random weights: one of each architecture, for tests and rehearsals.

Each folder is loaded by transformers and by vLLM as the real family is: config, tokenizer, processor, chat template
and safetensors. Cells of the pictures are those of the real families (28 px for Qwen2.5-VL, 32 px for Qwen3-VL and
Qwen3.5); tiles of SmolVLM and Idefics3 are 64 px instead of 512.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import nn
from transformers import AutoConfig, AutoModelForImageTextToText, PreTrainedTokenizerFast
from transformers.utils import logging as transformers_logging

transformers_logging.disable_progress_bar()
KINDS = ("qwen2_5_vl", "qwen3_vl", "qwen3_5", "smolvlm", "idefics3")
"""Architectures, as `config.model_type` says them."""
CONTEXT = 8192
"""Longest row, tokens."""
_HEADS = 2
_HEAD_DIM = 32
_HIDDEN = _HEADS * _HEAD_DIM
_WORDS = ("hello", "action", "arguments", "coordinate", "computer", "click", "left", "name", "terminate", "success", "answer", "wait")  # fmt: skip
_CHATML = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>")  # fmt: skip
_ADDED = ("<tool_call>", "</tool_call>", "<think>", "</think>")
_TILES = ("<fake_token_around_image>", "<image>", "<global-img>", *(f"<row_{r}_col_{c}>" for r in range(1, 7) for c in range(1, 7)))  # fmt: skip
_CHATML_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] in ('image', 'image_url') %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_THINKING = (
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% else %}<think>\n{% endif %}"
    "{% endif %}"
)
_SPOKEN_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ m['role'].capitalize() }}{% if m['content'] is string %}: {{ m['content'] }}"
    "{% else %}{% if m['content'][0]['type'] in ('image', 'image_url') %}:{% else %}: {% endif %}"
    "{% for c in m['content'] %}{% if c['type'] in ('image', 'image_url') %}<image>{% else %}{{ c['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)


def random_checkpoint(folder: str | Path, kind: str, *, seed: int = 0) -> Path:
    """Write a checkpoint of an architecture with random weights, float32, well below a million parameters.

    Weights are scaled by their fan-in, so that every part of the model matters to what it says.

    Args:
        folder: Where; made if it is not there.
        kind: One of `KINDS`.
        seed: Of the weights.

    Returns:
        The folder.

    Raises:
        ValueError: There is no such architecture.
    """
    if kind not in KINDS:
        raise ValueError(f"no architecture {kind!r}; expected one of {', '.join(KINDS)}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer(kind)
    config, processors = (_idefics if kind in ("smolvlm", "idefics3") else _qwen)(kind, tokenizer)
    torch.manual_seed(seed)
    model = AutoModelForImageTextToText.from_config(
        AutoConfig.for_model(kind, **config), dtype=torch.float32, attn_implementation="sdpa"
    )
    _randomise(model, seed)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for name, content in processors.items():
        (folder / name).write_text(json.dumps(content, indent=2))
    return folder


def _randomise(model: nn.Module, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, parameter[0].numel() ** -0.5, generator=generator)


# --- text ---


def _tokenizer(kind: str) -> PreTrainedTokenizerFast:
    """Byte-level pair encoding with a few merges, so that a text has several ways to be cut."""
    chat = kind not in ("smolvlm", "idefics3")
    start = "<|im_start|>" if kind == "smolvlm" else "<|begin_of_text|>"
    special = _CHATML if chat else ("<|endoftext|>", start, "<end_of_utterance>", *_TILES)
    vocabulary = {letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = _merges(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, fuse_unk=False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in special])
    if chat:
        tokenizer.add_tokens([AddedToken(name, special=False, normalized=False) for name in _ADDED])
    named = {} if chat else {"bos_token": start, "fake_image_token": _TILES[0], "image_token": _TILES[1], "global_image_token": _TILES[2]}  # fmt: skip
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>" if chat else "<end_of_utterance>",
        padding_side="left",
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
        **named,
    )
    fast.chat_template = _template(kind, chat)
    return fast


def _template(kind: str, chat: bool) -> str:
    if not chat:
        return _SPOKEN_TEMPLATE
    return _CHATML_TEMPLATE.partition("{% if add_generation")[0] + _THINKING if kind == "qwen3_5" else _CHATML_TEMPLATE


def _merges(vocabulary: dict[str, int]) -> list[tuple[str, str]]:
    """Merges that make the words of `_WORDS` one token each, from the left; their parts join the vocabulary."""
    merges: list[tuple[str, str]] = []
    for word in _WORDS:
        for end in range(1, len(word)):
            pair = (word[:end], word[end])
            if "".join(pair) not in vocabulary:
                vocabulary["".join(pair)] = len(vocabulary)
                merges.append(pair)
    return merges


def _text(tokenizer: PreTrainedTokenizerFast, layers: int) -> dict[str, Any]:
    return {
        "hidden_size": _HIDDEN,
        "intermediate_size": 2 * _HIDDEN,
        "num_hidden_layers": layers,
        "num_attention_heads": _HEADS,
        "num_key_value_heads": 1,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": tokenizer.bos_token_id,
    }


def _ids(tokenizer: PreTrainedTokenizerFast, names: Sequence[str]) -> list[int]:
    convert: Any = tokenizer.convert_tokens_to_ids
    return [int(i) for i in convert(list(names))]


# --- Qwen ---


def _qwen(kind: str, tokenizer: PreTrainedTokenizerFast) -> tuple[dict[str, Any], dict[str, Any]]:
    start, end, image, video = _ids(tokenizer, ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"))
    text = _text(tokenizer, 3)
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [6, 5, 5]}
    vision: dict[str, Any] = {
        "depth": 3,
        "hidden_size": _HIDDEN,
        "num_heads": _HEADS,
        "intermediate_size": _HIDDEN,
        "out_hidden_size": _HIDDEN,
        "patch_size": 14 if kind == "qwen2_5_vl" else 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    }
    if kind == "qwen2_5_vl":
        vision |= {"window_size": 56, "fullatt_block_indexes": [1]}
    else:
        vision |= {"num_position_embeddings": 64}
        text |= {"head_dim": _HEAD_DIM}
        rope |= {"mrope_interleaved": True}
    if kind == "qwen3_vl":
        vision |= {"deepstack_visual_indexes": [0, 1]}
    if kind == "qwen3_5":
        rope |= {"partial_rotary_factor": 0.5, "mrope_section": [4, 2, 2]}
        text |= {f"linear_{name}_head_dim": 128 for name in ("key", "value")}  # the only size that vLLM has on a CPU
        text |= {"linear_num_key_heads": 1, "linear_num_value_heads": 2}
        text |= {"layer_types": ["linear_attention", "full_attention", "linear_attention", "full_attention"]}
        text |= {"num_hidden_layers": 4}
    config = {
        "text_config": text | {"rope_parameters": rope},
        "vision_config": vision,
        "image_token_id": image,
        "video_token_id": video,
        "vision_start_token_id": start,
        "vision_end_token_id": end,
        "tie_word_embeddings": False,
    }
    return config, _qwen_processors(kind, vision["patch_size"])


def _qwen_processors(kind: str, patch: int) -> dict[str, Any]:
    clip = kind == "qwen2_5_vl"
    cut = {
        "patch_size": patch,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "size": {"shortest_edge": (2 * patch) ** 2, "longest_edge": 1280 * (2 * patch) ** 2},
        "image_mean": [0.48145466, 0.4578275, 0.40821073] if clip else [0.5] * 3,
        "image_std": [0.26862954, 0.26130258, 0.27577711] if clip else [0.5] * 3,
    }
    image = cut | {"image_processor_type": "Qwen2VLImageProcessor"}
    video = cut | {"video_processor_type": "Qwen2VLVideoProcessor" if clip else "Qwen3VLVideoProcessor"}
    name = "Qwen2_5_VLProcessor" if clip else "Qwen3VLProcessor"
    return {
        "preprocessor_config.json": image,
        "video_preprocessor_config.json": video,
        "processor_config.json": {"processor_class": name, "image_processor": image, "video_processor": video},
    }


# --- SmolVLM and Idefics3 ---


def _idefics(kind: str, tokenizer: PreTrainedTokenizerFast) -> tuple[dict[str, Any], dict[str, Any]]:
    tile, patch, scale = 64, 16, 2
    rope = {"rope_type": "default", "rope_theta": 10000.0}
    vision = {
        "hidden_size": _HIDDEN,
        "intermediate_size": _HIDDEN,
        "num_hidden_layers": 2,
        "num_attention_heads": _HEADS,
        "image_size": tile,
        "patch_size": patch,
    }
    text = _text(tokenizer, 3) | {"model_type": "llama", "head_dim": _HEAD_DIM, "rope_parameters": rope}
    (image_id,) = _ids(tokenizer, ("<image>",))
    config = {
        "text_config": text,
        "vision_config": vision,
        "image_token_id": image_id,
        "scale_factor": scale,
        "pad_token_id": tokenizer.pad_token_id,
        "tie_word_embeddings": False,
    }
    name = "SmolVLM" if kind == "smolvlm" else "Idefics3"
    image = {
        "image_processor_type": f"{name}ImageProcessor",
        "do_image_splitting": True,
        "do_resize": True,
        "do_rescale": True,
        "do_normalize": True,
        "do_convert_rgb": True,
        "do_pad": True,
        "size": {"longest_edge": 4 * tile},
        "max_image_size": {"longest_edge": tile},
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    processor = {"processor_class": f"{name}Processor", "image_seq_len": (tile // patch // scale) ** 2}
    return config, {"preprocessor_config.json": image, "processor_config.json": processor | {"image_processor": image}}
