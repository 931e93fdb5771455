"""The shared forward pass against transformers' own, for models with and without deepstack and merging."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

from uigym.models.forward import Sampled, SharedPrefix
from uigym.models.tiny.build import MAX_PIXELS, PATCH_PX, make_config, make_model, make_tokenizer

WIDTH, HEIGHT = 96, 64
EOS, PAD, IMAGE, VIDEO, START = 1, 0, 5, 6, 7
BANNED = (IMAGE, VIDEO, START)
TOLERANCE = 1e-4
VOCABULARY = 64


def random_model(merge: int, temporal: int, deepstack: list[int]) -> Qwen3VLForConditionalGeneration:
    """A very small model whose weights are large enough for everything to matter."""
    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3], "mrope_interleaved": True}
    heads = {"hidden_size": 32, "intermediate_size": 48}
    text = {
        **heads,
        **{"num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16},
        **{"vocab_size": VOCABULARY, "rope_parameters": rope, "tie_word_embeddings": False},
        **{"pad_token_id": PAD, "eos_token_id": EOS, "bos_token_id": None},
    }
    vision = {
        **heads,
        **{"depth": 3, "num_heads": 2, "patch_size": 8, "spatial_merge_size": merge, "temporal_patch_size": temporal},
        **{"out_hidden_size": 32, "num_position_embeddings": 36, "deepstack_visual_indexes": deepstack},
    }
    ids = {"image_token_id": IMAGE, "video_token_id": VIDEO, "vision_start_token_id": START, "vision_end_token_id": 8}
    config = Qwen3VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=False, **ids)
    model = make_model(config, seed=1).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.2)
    return model


FAMILIES = {"plain": (1, 1, list[int]()), "merging": (2, 2, [0, 1]), "deep": (1, 2, [1])}


@pytest.fixture(params=FAMILIES)
def shared(request: pytest.FixtureRequest) -> SharedPrefix:
    torch.set_num_threads(1)
    return SharedPrefix(random_model(*FAMILIES[request.param]), HEIGHT, WIDTH)


@pytest.fixture
def plain() -> SharedPrefix:
    torch.set_num_threads(1)
    return SharedPrefix(random_model(*FAMILIES["plain"]), HEIGHT, WIDTH)


def pictures(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, HEIGHT, WIDTH, 3), np.uint8)


def text(length: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(10, VOCABULARY, length).tolist()


def prefill(shared: SharedPrefix, images: np.ndarray) -> Tensor:
    return shared.prefill(shared.features(shared.pixels(images)))


@torch.no_grad()
def whole(shared: SharedPrefix, image: np.ndarray, ids: list[int]) -> Tensor:
    """Logits [len(ids), vocabulary] after the picture, by transformers' own forward pass and nothing of ours."""
    sequence = torch.tensor([[*shared.prefix, *ids]])
    out = shared.model(
        input_ids=sequence,
        attention_mask=torch.ones_like(sequence),
        mm_token_type_ids=(sequence == IMAGE).int(),
        pixel_values=shared.pixels(image[None])[0],
        image_grid_thw=shared.grid,
        use_cache=False,
    )
    return out.logits[0, len(shared.prefix) :]


def differ(a: Tensor, b: Tensor) -> float:
    return (a.log_softmax(-1) - b.log_softmax(-1)).abs().max().item()


# --- equality ------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_rows_that_share_a_picture_are_as_if_alone(shared: SharedPrefix) -> None:
    images = pictures(3)
    rows = [[text(5, 1), text(9, 2), text(2, 3)], [text(7, 4)], [text(1, 5), text(12, 6)]]
    hidden, spans = shared.hidden(shared.features(shared.pixels(images)), rows)
    flat = [segment for row in rows for segment in row]
    assert spans.row.tolist() == [0, 0, 0, 1, 2, 2]
    for segment, b, start in zip(flat, spans.row.tolist(), spans.start.tolist(), strict=True):
        ours = shared.logits(hidden[b, start : start + len(segment)])
        assert differ(ours, whole(shared, images[b], segment)) <= TOLERANCE


@torch.no_grad()
def test_padded_texts_are_as_if_alone(shared: SharedPrefix) -> None:
    images, texts = pictures(2), [text(n, n) for n in (3, 11, 6, 1)]
    at = [0, 1, 0, 1]
    hidden = shared.text_hidden(prefill(shared, images)[at], texts)
    for h, ids, b in zip(hidden, texts, at, strict=True):
        assert differ(shared.logits(h[-len(ids) :]), whole(shared, images[b], ids)) <= TOLERANCE


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_sampled_log_probabilities_are_the_models_own(shared: SharedPrefix, temperature: float) -> None:
    images, texts = pictures(2), [text(n, n) for n in (4, 9, 1)]
    at = [1, 0, 1]
    got = sample(shared, prefill(shared, images)[at], texts, temperature=temperature)
    for prompt, ids, logprobs, b in zip(texts, got.ids, got.logprobs, at, strict=True):
        logits = whole(shared, images[b], prompt + ids)[len(prompt) - 1 : -1]
        logits[:, list(BANNED)] = float("-inf")
        expected = (logits / (temperature or 1.0)).log_softmax(-1)
        picked = expected.gather(1, torch.tensor(ids)[:, None])[:, 0]
        assert (picked - torch.tensor(logprobs)).abs().max() <= TOLERANCE
        if not temperature:
            assert ids == expected.argmax(-1).tolist()


def sample(shared: SharedPrefix, prefixes: Tensor, texts: list[list[int]], **options: Any) -> Sampled:
    options = {"max_tokens": 8, "banned": BANNED, "generator": torch.Generator().manual_seed(0), **options}
    return shared.sample(prefixes, texts, **options)


def test_the_picture_can_be_trained_through(shared: SharedPrefix) -> None:
    """Gradients of the shared pass reach the vision tower, and equal those of transformers' own pass."""
    image, ids = pictures(1), text(6, 0)
    weight = shared.model.model.visual.patch_embed.proj.weight
    hidden, _ = shared.hidden(shared.features(shared.pixels(image)), [[ids]])
    ours = torch.autograd.grad(shared.logits(hidden[0, -len(ids) :])[:, 11].sum(), weight)[0]
    theirs = torch.autograd.grad(whole.__wrapped__(shared, image[0], ids)[:, 11].sum(), weight)[0]
    assert ours.abs().max() > 0 and (ours - theirs).abs().max() <= 1e-3 * theirs.abs().max()


# --- pictures ------------------------------------------------------------------------------------------------


def test_pixels_are_laid_out_as_by_the_familys_processor(shared: SharedPrefix) -> None:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    processor = Qwen2VLImageProcessorPil(
        patch_size=shared.patch,
        merge_size=shared.merge,
        temporal_patch_size=shared.temporal,
        size={"shortest_edge": PATCH_PX**2, "longest_edge": MAX_PIXELS},
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )
    images = pictures(2)
    theirs = processor([Image.fromarray(image) for image in images], return_tensors="pt")
    assert theirs["image_grid_thw"].tolist() == [shared.grid[0].tolist()] * 2
    ours = shared.pixels(images)
    print((ours.flatten(0, 1) - theirs["pixel_values"]).abs().max())
    assert torch.equal(ours.flatten(0, 1), theirs["pixel_values"])


@torch.no_grad()
def test_every_patch_is_seen(shared: SharedPrefix) -> None:
    image, ids, side = pictures(1)[0], text(3, 0), shared.patch
    corners = [(x, y) for x in range(0, WIDTH, side) for y in range(0, HEIGHT, side)]
    changed = np.stack([image] * len(corners))
    for other, (x, y) in zip(changed, corners, strict=True):
        other[y : y + side, x : x + side] ^= 255
    hidden, _ = shared.hidden(shared.features(shared.pixels(changed)), [[ids]] * len(corners))
    before = whole(shared, image, ids)
    for h in hidden:
        assert differ(shared.logits(h[-len(ids) :]), before) > 10 * TOLERANCE


@pytest.mark.parametrize(("height", "width"), [(60, 96), (64, 100), (7, 96)])
def test_a_picture_that_does_not_fit_the_grid_is_refused(height: int, width: int) -> None:
    with pytest.raises(ValueError, match=f"pictures of {width} x {height} px do not fit the 16 px grid"):
        SharedPrefix(random_model(*FAMILIES["merging"]), height, width)


# --- sampling ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.0, 1.0, 5.0])
def test_banned_ids_are_never_sampled(plain: SharedPrefix, temperature: float) -> None:
    """Not even by a model that wants nothing else."""
    plain.model.lm_head = leaning_head(plain.model.lm_head.weight, BANNED)
    got = sample(plain, prefill(plain, pictures(1)).expand(64, -1, -1, -1, -1, -1), [text(4, 0)] * 64,
                 temperature=temperature, max_tokens=16)  # fmt: skip
    assert not set(BANNED) & {i for ids in got.ids for i in ids}
    assert np.isfinite([p for logprobs in got.logprobs for p in logprobs]).all()


def leaning_head(weight: Tensor, favourites: tuple[int, ...]) -> torch.nn.Linear:
    head = torch.nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        head.weight.copy_(weight)
        head.bias.zero_()
        head.bias[list(favourites)] = 100.0
    return head


def test_a_reply_ends_with_the_end_token_or_with_the_budget(plain: SharedPrefix) -> None:
    plain.model.lm_head = leaning_head(plain.model.lm_head.weight / 10, ())
    with torch.no_grad():
        plain.model.lm_head.bias[EOS] = 2.0
    got = sample(plain, prefill(plain, pictures(1)).expand(40, -1, -1, -1, -1, -1), [text(4, 0)] * 40)
    lengths = {len(ids) for ids in got.ids}
    assert len(lengths) > 3 and max(lengths) <= 8
    for ids, logprobs in zip(got.ids, got.logprobs, strict=True):
        assert EOS not in ids[:-1] and len(logprobs) == len(ids)
        assert ids[-1] == EOS or len(ids) == 8


def test_sampling_follows_the_probabilities(plain: SharedPrefix) -> None:
    prefixes = prefill(plain, pictures(1))
    logits = whole(plain, pictures(1)[0], text(4, 0))[-1]
    logits[list(BANNED)] = float("-inf")
    got = sample(plain, prefixes.expand(4000, -1, -1, -1, -1, -1), [text(4, 0)] * 4000, max_tokens=1)
    counts = np.bincount([ids[0] for ids in got.ids], minlength=VOCABULARY) / 4000
    assert np.abs(counts - logits.softmax(-1).numpy()).max() < 0.04


def test_the_tiny_models_own_architecture() -> None:
    """The shape that ships, with random weights and full pictures."""
    torch.set_num_threads(1)
    model = make_model(make_config(make_tokenizer())).eval()
    shared = SharedPrefix(model, 256, 320)
    image = np.random.default_rng(0).integers(0, 256, (1, 256, 320, 3), np.uint8)
    ids = text(12, 0)
    sequence = torch.tensor([[*shared.prefix, *ids]])
    with torch.no_grad():
        theirs = model(
            input_ids=sequence,
            attention_mask=torch.ones_like(sequence),
            mm_token_type_ids=(sequence == model.config.image_token_id).int(),
            pixel_values=shared.pixels(image)[0],
            image_grid_thw=shared.grid,
        ).logits[0, -len(ids) :]
        ours = shared.logits(shared.text_hidden(prefill(shared, image), [ids])[0])
    assert differ(ours, theirs) <= TOLERANCE
