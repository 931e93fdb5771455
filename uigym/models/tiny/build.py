"""The tiny model from nothing: architecture, byte-level tokenizer and image processor.

The shape is Qwen3-VL, so that transformers and vLLM load the folder as they load the real family. Sizes: pictures
of up to 320 x 256 px become 16 px patches, one token each.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import nn
from transformers import PreTrainedTokenizerFast, Qwen3VLConfig, Qwen3VLForConditionalGeneration

from uigym.policy.codecs.tiny import ACTION_TOKENS

PATCH_PX = 16
MAX_PIXELS = 320 * 256
SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
CHAT_TEMPLATE = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}<|im_start|>{% if m['content'] is string %}{{ m['content'] }}"
    "{% else %}{% for c in m['content'] %}{{ c['text'] }}{% endfor %}{% endif %}<|im_end|>"
    "{% elif m['content'] is string %}{{ m['content'] }}\n{% else %}{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ c['text'] }}\n{% endif %}"
    "{% endfor %}{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>{% endif %}"
)
LANGUAGE = {
    "hidden_size": 160,
    "num_hidden_layers": 5,
    "num_attention_heads": 5,
    "num_key_value_heads": 5,
    "intermediate_size": 448,
}
VISION = {"hidden_size": 160, "depth": 4, "num_heads": 5, "intermediate_size": 480}
HEAD_DIM = 32


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer over the 256 bytes, without merges: any text encodes. Action words are whole tokens."""
    vocabulary = {name: i for i, name in enumerate(SPECIAL)}
    for letter in sorted(pre_tokenizers.ByteLevel.alphabet()):
        vocabulary[letter] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], fuse_unk=False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
    tokenizer.add_tokens([AddedToken(name, special=False, normalized=False) for name in ACTION_TOKENS])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        padding_side="left",
        model_max_length=1024,
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def make_config(tokenizer: PreTrainedTokenizerFast) -> Qwen3VLConfig:
    """The architecture; embeddings untied, so that no engine keeps a stale copy of the head."""
    size = (len(tokenizer) + 63) // 64 * 64
    convert: Callable[[str], Any] = tokenizer.convert_tokens_to_ids
    ids = {name: convert(f"<|{name}|>") for name in ("image_pad", "video_pad", "vision_start", "vision_end")}
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 6, 6], "mrope_interleaved": True}
    return Qwen3VLConfig(
        text_config={
            **LANGUAGE,
            "vocab_size": size,
            "head_dim": HEAD_DIM,
            "max_position_embeddings": 1024,
            "rms_norm_eps": 1e-6,
            "rope_parameters": rope,
            "tie_word_embeddings": False,
            "pad_token_id": tokenizer.pad_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "bos_token_id": None,
        },
        vision_config={
            **VISION,
            "patch_size": PATCH_PX,
            "spatial_merge_size": 1,
            "temporal_patch_size": 1,
            "out_hidden_size": LANGUAGE["hidden_size"],
            "num_position_embeddings": 400,
            "deepstack_visual_indexes": [],
        },
        image_token_id=ids["image_pad"],
        video_token_id=ids["video_pad"],
        vision_start_token_id=ids["vision_start"],
        vision_end_token_id=ids["vision_end"],
        tie_word_embeddings=False,
    )


def make_model(config: Qwen3VLConfig, seed: int = 0) -> Qwen3VLForConditionalGeneration:
    """The model with transformers' own random initialisation, float32."""
    torch.manual_seed(seed)
    model = Qwen3VLForConditionalGeneration._from_config(config, attn_implementation="sdpa", dtype=torch.float32)
    text: Any = config.text_config
    model.generation_config.eos_token_id = text.eos_token_id
    model.generation_config.pad_token_id = text.pad_token_id
    return model


def processor_config() -> dict[str, Any]:
    """What transformers and vLLM need to cut a picture into patches."""
    image = {
        "image_processor_type": "Qwen2VLImageProcessor",
        "patch_size": PATCH_PX,
        "merge_size": 1,
        "temporal_patch_size": 1,
        "size": {"shortest_edge": PATCH_PX**2, "longest_edge": MAX_PIXELS},
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    video = {**image, "video_processor_type": "Qwen3VLVideoProcessor"}
    del video["image_processor_type"]
    return {"processor_class": "Qwen3VLProcessor", "image_processor": image, "video_processor": video}


def save(model: Qwen3VLForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a checkpoint folder that transformers and vLLM load; weights in bfloat16, half the size of float32."""
    folder.mkdir(parents=True, exist_ok=True)
    rounded = copy.deepcopy(model)  # the model itself may be in training, which goes on in float32
    module: nn.Module = rounded
    module.to(torch.bfloat16)
    rounded.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    text = json.dumps(processor_config(), indent=2)
    for name in ("processor_config.json", "preprocessor_config.json"):
        (folder / name).write_text(
            text if name.startswith("processor") else json.dumps(processor_config()["image_processor"], indent=2)
        )
