"""Batches of windows: what a row's log-probabilities are does not depend on its neighbours, on padding or on packing.

Every test that compares numbers is one of a failure that ruins training without a word.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conversations import ALL, PACKING, SIZES, Conversations, family, model, noise
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch import Tensor
from transformers import GenerationConfig

from uigym.errors import ConfigError
from uigym.models.families import forward
from uigym.models.families.forward import log_probabilities
from uigym.models.families.random import KINDS
from uigym.train.engine.export import Export
from uigym.train.windows import Window

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
CLOSE_TINY = {"atol": 2e-4, "rtol": 1e-5}
"""Its weights are trained, and some of its log-probabilities are near -30."""


def close(kind: str) -> dict[str, float]:
    return CLOSE_TINY if kind == "tiny" else CLOSE


@torch.no_grad()
def measure(told: Conversations, *rows: Window, **options: Any) -> Tensor:
    return log_probabilities(told.family, model(told.kind), rows, told.pngs, **options)[0]


def plain(told: Conversations, row: Window, **changes: Any) -> Tensor:
    """All logits of one row, by transformers alone: [L, V]."""
    inputs = {**told.family.inputs([row], told.pngs, "cpu", torch.float32), **changes}
    with torch.no_grad():
        return model(told.kind)(**{k: v for k, v in inputs.items() if v is not None}).logits[0].float()


# --- rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@given(data=st.data())
def test_a_row_is_taken_only_with_all_of_its_pictures(kind: str, data: st.DataObject) -> None:
    told, row = _two_pictures(kind)
    told.family.check(row)
    runs, at = [], 0
    for length in (n for p in row.pictures for n in told.family.runs(p)):
        start = row.ids.index(told.family.placeholder, at)
        runs.append((start, at := start + length))
    cut, kept = data.draw(st.integers(1, len(row.ids))), data.draw(st.integers(0, 2))
    part = replace(row, ids=row.ids[:cut], replies=(), logprobs=(), pictures=row.pictures[:kept])
    wanted = sum(len(told.family.runs(p)) for p in part.pictures)
    if sum(end <= cut for _, end in runs) == wanted == sum(start < cut for start, _ in runs):
        told.family.check(part)
    else:
        with pytest.raises(ValueError, match="it was cut, or a placeholder was sampled"):
            told.family.inputs([part], told.pngs, "cpu", torch.float32)


@cache
def _two_pictures(kind: str) -> tuple[Conversations, Window]:
    told = Conversations(kind)
    return told, told.window([told.screenshot(1), None, told.screenshot(2)])


@pytest.mark.parametrize("kind", ALL)
def test_a_row_with_an_id_that_is_never_sampled_is_refused(kind: str) -> None:
    told = Conversations(kind)
    (row,) = told.rows(2)
    at = row.positions[0]
    for banned in told.family.banned:
        ids = (*row.ids[:at], banned, *row.ids[at + 1 :])
        with pytest.raises(ValueError, match=r"a placeholder was sampled|that are never sampled"):
            measure(told, replace(row, ids=ids))
    with pytest.raises(ValueError, match="no prompt before it"):
        measure(told, replace(row, replies=((0, 1),)))


def test_a_picture_without_its_png_is_refused() -> None:
    told = Conversations("qwen3_vl")
    (row,) = told.rows(1)
    told.family._shown._kept.clear()
    with pytest.raises(ValueError, match="there is no PNG of picture"):
        log_probabilities(told.family, model("qwen3_vl"), [row], {})


# --- the same numbers whatever the batch --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_rows_do_not_change_each_other(kind: str) -> None:
    told = Conversations(kind)
    rows = told.rows(1, 5, 2)
    alone = torch.cat([measure(told, row) for row in rows])
    torch.testing.assert_close(measure(told, *rows), alone, **close(kind))
    assert len(alone) == sum(len(row.positions) for row in rows) and (alone < 0).all()


@pytest.mark.parametrize("kind", PACKING)
def test_packed_rows_do_not_see_each_other(kind: str) -> None:
    told = Conversations(kind)
    rows = told.rows(1, 3, 2)
    torch.testing.assert_close(measure(told, *rows, packed=True), measure(told, *rows), **close(kind))


def test_what_would_let_packed_rows_see_each_other() -> None:
    """Without the place in the row beside the three axes, and with a cache; transformers warns of neither."""
    told = Conversations("qwen3_vl")
    rows = told.rows(2, 2)
    inputs = told.family.packed(rows, told.pngs, "cpu", torch.float32)
    assert inputs["position_ids"].shape[0] == 4 and "attention_mask" not in inputs
    net = model("qwen3_vl")
    with torch.no_grad():
        right = net(**inputs, use_cache=False).logits
        three = net(**{**inputs, "position_ids": inputs["position_ids"][1:]}, use_cache=False).logits
        cached = net(**inputs).logits
    first = len(rows[0].ids)
    for wrong in (three, cached):
        torch.testing.assert_close(wrong[:, :first], right[:, :first], **CLOSE)
        assert (wrong - right)[:, first:].abs().mean() > 0.1


def test_rows_with_a_state_along_them_are_not_packed() -> None:
    told = Conversations("qwen3_5")
    with pytest.raises(ValueError, match="rows of qwen3_5 cannot share a sequence"):
        measure(told, *told.rows(1, 1), packed=True)


@pytest.mark.parametrize("kind", ALL)
def test_our_positions_are_those_of_transformers(kind: str) -> None:
    told = Conversations(kind)
    for row in (*told.rows(3), told.window([None, told.screenshot(1)])):
        ours = told.family.positions(row.ids, row.pictures)
        inputs = told.family.inputs([row], told.pngs, "cpu", torch.float32)
        if kind in ("smolvlm", "idefics3"):
            assert ours.tolist() == [list(range(len(row.ids)))]
            continue
        theirs, _ = model(kind).model.get_rope_index(
            inputs["input_ids"], inputs["mm_token_type_ids"], inputs["image_grid_thw"], None, None
        )
        assert torch.equal(ours[1:], theirs) and ours[0].tolist() == [list(range(len(row.ids)))]


# --- pictures reach the model -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_screenshot_is_seen(kind: str) -> None:
    told = Conversations(kind)
    shots = [noise(seed, *SIZES[kind]) for seed in range(3)]
    row = told.window([told.picture(shot) for shot in shots])
    before = measure(told, row)
    for changed in (0, 2):
        other = [shot.copy() for shot in shots]
        other[changed][16:48, 16:48] = 255 - other[changed][16:48, 16:48]
        after = measure(told, told.window([told.picture(shot) for shot in other]))
        earlier = sum(end - start for start, end in row.replies[:changed])
        assert (after - before)[earlier:].abs().max() > 1e-3
        torch.testing.assert_close(after[:earlier], before[:earlier], **CLOSE)
    swapped = measure(told, told.window([told.picture(shots[n]) for n in (1, 0, 2)]))
    assert (swapped - before).abs().max() > 1e-3


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind not in ("smolvlm", "idefics3")])
@pytest.mark.parametrize("packed", [False, True])
def test_the_model_is_always_told_which_ids_are_pictures(kind: str, packed: bool) -> None:
    told = Conversations(kind)
    if packed and not told.family.packs:
        return
    rows = [told.window([told.screenshot(1), None]), told.window([None])]
    inputs = (told.family.packed if packed else told.family.inputs)(rows, told.pngs, "cpu", torch.float32)
    assert torch.equal(inputs["mm_token_type_ids"], (inputs["input_ids"] == told.family.placeholder).int())


def test_what_happens_without_being_told() -> None:
    """Qwen2.5-VL takes other positions and says nothing."""
    told = Conversations("qwen2_5_vl")
    (row,) = told.rows(2)
    assert (plain(told, row) - plain(told, row, mm_token_type_ids=None)).abs().max() > 1e-3
    with pytest.raises(ValueError, match="mm_token_type_ids"):
        other = Conversations("qwen3_vl")
        plain(other, *other.rows(2), mm_token_type_ids=None)


@pytest.mark.parametrize("kind", ALL)
def test_rows_without_pictures_run_the_vision_tower(kind: str) -> None:
    """Where weights are sharded, a rank that left it out would wait for the others for ever."""
    told = Conversations(kind)
    rows = [told.window([None, None]), told.window([None], say=lambda n: "wait a moment")]
    net = told.family.load(told.family.folder, torch.float32, "cpu")
    tower, calls = told.family.vision(net), list[int]()
    hook = tower.register_forward_hook(lambda *_: calls.append(1))
    for packed in (False, *([True] if told.family.packs else [])):
        calls.clear()
        net.zero_grad()
        logprobs, _ = log_probabilities(told.family, net, rows, told.pngs, packed=packed)
        logprobs.sum().backward()
        assert calls == [1]
        assert all(p.grad is not None and not p.grad.any() for p in tower.parameters())
        text = torch.cat([_without_pictures(told, row) for row in rows])
        torch.testing.assert_close(logprobs.detach(), text, **close(kind))
    hook.remove()


def _without_pictures(told: Conversations, row: Window) -> Tensor:
    """By transformers alone, from ids."""
    with torch.no_grad():
        logits = model(told.kind)(input_ids=torch.tensor([row.ids]), use_cache=False).logits[0]
    return _picked(told, logits, row)


def _picked(told: Conversations, logits_LV: Tensor, row: Window, temperature: float = 1.0) -> Tensor:
    """float64 reference: the reply tokens' log-probabilities with banned ids left out."""
    values = (logits_LV.double() / temperature).numpy()
    values[:, list(told.family.banned)] = -np.inf
    at = np.array(row.positions)
    values = values[at - 1]
    total = np.log(np.exp(values - values.max(1, keepdims=True)).sum(1)) + values.max(1)
    return torch.from_numpy(values[np.arange(len(at)), np.array(row.ids)[at]] - total).float()


# --- log-probabilities --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_log_probabilities_are_those_of_sampling(kind: str, temperature: float) -> None:
    told = Conversations(kind)
    (row,) = told.rows(2)
    wanted = _picked(told, plain(told, row), row, temperature)
    torch.testing.assert_close(measure(told, row, temperature=temperature), wanted, **close(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_sampled_with_a_cache_is_computed_again_to_the_same(kind: str) -> None:
    """Greedy replies about four screenshots, a token at a time, against one forward pass."""
    told, net = Conversations(kind), model(kind)
    row = told.window([told.screenshot(n) for n in range(4)])
    start = row.replies[-1][0]
    prompt = replace(row, ids=row.ids[:start], replies=(), logprobs=())
    settings = GenerationConfig(
        do_sample=False,
        max_new_tokens=8,
        eos_token_id=None,
        pad_token_id=told.family.end,
        suppress_tokens=list(told.family.banned),
        return_dict_in_generate=True,
        output_scores=True,
    )
    inputs = told.family.inputs([prompt], told.pngs, "cpu", torch.float32)
    out = net.generate(**inputs, generation_config=settings)
    ids = out.sequences[0, start:].tolist()
    said = torch.stack([scores[0].log_softmax(-1)[i] for scores, i in zip(out.scores, ids, strict=True)])
    again = replace(prompt, ids=(*prompt.ids, *ids), replies=((start, start + 8),), logprobs=tuple(said.tolist()))
    torch.testing.assert_close(measure(told, again), said, atol=3e-5, rtol=1e-5)


def test_banned_ids_have_no_probability() -> None:
    """Left out of the sampler alone, they would bias every ratio."""
    told = Conversations("qwen3_vl")
    (row,) = told.rows(3)
    at = torch.tensor(row.positions)
    logits = plain(told, row)[at - 1]
    unmasked = logits.log_softmax(-1).gather(1, torch.tensor(row.ids)[at][:, None])[:, 0]
    assert ((measure(told, row) - unmasked) > 0).all()
    every = torch.arange(logits.shape[1])
    banned = torch.tensor(told.family.banned)
    scores, _ = forward.scored(logits[:1].expand(len(every), -1), every, banned, 1.0)
    assert scores[banned].isinf().all() and abs(scores.exp().sum().item() - 1) < 1e-5


def test_entropies_and_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = torch.randn(7, 11, generator=torch.Generator().manual_seed(0), requires_grad=True)
    ids, banned = torch.arange(7), torch.tensor([9, 10])
    kept = logits.detach()[:, :9] / 0.5
    wanted = torch.distributions.Categorical(logits=kept)
    whole, grads = None, []
    for chunk in (100, 3):
        monkeypatch.setattr(forward, "CHUNK", chunk)
        logprobs, entropies = forward.scored(logits, ids, banned, 0.5)
        torch.testing.assert_close(logprobs, wanted.log_prob(ids))
        torch.testing.assert_close(entropies, wanted.entropy())
        assert not entropies.requires_grad
        grads += torch.autograd.grad(logprobs.sum(), logits)
        whole = logprobs if whole is None else whole
        assert torch.equal(whole, logprobs)
    assert torch.equal(*grads) and not grads[0][:, 9:].any() and grads[0].isfinite().all()


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("packed", [False, True])
def test_logits_exist_for_reply_tokens_only(kind: str, packed: bool) -> None:
    told, net = Conversations(kind), model(kind)
    if packed and not told.family.packs:
        return
    rows = told.rows(2, 1)
    shapes: list[tuple[int, ...]] = []
    hook = net.lm_head.register_forward_hook(lambda _m, _i, out: shapes.append(tuple(out.shape)))
    measure(told, *rows, packed=packed)
    measure(told, rows[0])
    hook.remove()
    tokens = [len(row.positions) for row in rows]
    size = net.lm_head.weight.shape[0]
    together = (1, sum(tokens)) if packed else (2, len({at for row in rows for at in row.positions}))
    assert shapes == [(*together, size), (1, tokens[0], size)]


def test_a_batch_without_replies() -> None:
    told = Conversations("qwen3_vl")
    (row,) = told.rows(1)
    assert measure(told, replace(row, replies=(), logprobs=())).shape == (0,)


@pytest.mark.parametrize("temperature", [0.0, -1.0])
def test_a_temperature_that_nothing_was_sampled_with(temperature: float) -> None:
    told = Conversations("qwen3_vl")
    with pytest.raises(ValueError, match="a temperature above 0, not"):
        measure(told, *told.rows(1), temperature=temperature)


def test_bfloat16() -> None:
    told = Conversations("qwen3_vl")
    (row,) = told.rows(2)
    net = told.family.load(told.family.folder, torch.bfloat16, "cpu")
    logprobs, _ = log_probabilities(told.family, net, [row], told.pngs)
    assert logprobs.dtype == torch.float32
    torch.testing.assert_close(logprobs.detach(), measure(told, row), atol=0.5, rtol=0.05)


# --- weights ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_every_parameter_has_one_name_in_checkpoints(kind: str, tmp_path: Path) -> None:
    told = Conversations(kind)
    (row,) = told.rows(1)
    net = told.family.load(told.family.folder, torch.float32, "cpu")
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(1.01)
    net.save_pretrained(tmp_path)
    again = told.family.load(tmp_path, torch.float32, "cpu")
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), again.parameters(), strict=True))
    saved, sent = (
        load_file(tmp_path / "model.safetensors"),
        list(Export(net, told.family.folder, torch.float32).named()),
    )
    assert sorted(name for name, _ in sent) == sorted(saved)
    assert all(torch.equal(saved[name], value) for name, value in sent)
    changed = log_probabilities(told.family, again, [row], told.pngs)[0]
    assert torch.equal(changed, log_probabilities(told.family, net, [row], told.pngs)[0])


@pytest.mark.parametrize("kind", ALL)
def test_parts_of_a_model(kind: str) -> None:
    told, net = Conversations(kind), model(kind)
    config: Any = net.config
    vision = getattr(config.vision_config, "depth", None) or config.vision_config.num_hidden_layers
    layers = told.family.layers(net)
    assert len(layers) == config.text_config.num_hidden_layers + vision == len({id(layer) for layer in layers})
    tower = {id(p) for p in told.family.vision(net).parameters()}
    assert 0 < len(tower) < len(list(net.parameters()))
    assert sum(id(p) in tower for layer in layers[-vision:] for p in layer.parameters()) > 0
    assert not any(id(p) in tower for layer in layers[:-vision] for p in layer.parameters())


def test_weights_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no model.safetensors in .*Save the model as safetensors"):
        family("qwen3_vl").load(tmp_path, torch.float32, "cpu")
