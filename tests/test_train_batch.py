"""Micro-batches, and the logits that predict replies."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from uigym.policy.hf import PictureCache, TransformersPolicy
from uigym.train.batch import plan, reply_logits, spread
from uigym.train.rows import Row
from uigym.types import Observation, StepRecord, Type

Tiny = Callable[..., TransformersPolicy]
Picture = Callable[..., bytes]
PIXELS = np.zeros((1, 48, 64, 3), np.uint8)
LENGTHS = st.lists(st.tuples(st.integers(1, 200), st.integers(1, 60)), max_size=60)


def row(prompt: int, reply: int, image: str = "a") -> Row:
    return Row(image, tuple(range(10, 10 + prompt)), (20,) * reply, (-1.0,) * reply)


@given(LENGTHS, st.integers(1, 2000))
def test_every_row_is_planned_once_within_the_budget(lengths: list[tuple[int, int]], budget: int) -> None:
    rows = [row(*pair) for pair in lengths]
    batches = list(plan(rows, budget_tokens=budget))
    assert sorted(index for batch in batches for index in batch) == list(range(len(rows)))
    for batch in batches:
        padded = len(batch) * max(rows[i].length for i in batch)
        assert batch and (padded <= budget or len(batch) == 1)


def test_nothing_is_planned_for_no_rows() -> None:
    assert list(plan([])) == []


def test_values_are_spread_over_reply_tokens() -> None:
    assert spread([0.5, -1.0], [row(3, 2), row(9, 3)]).tolist() == [0.5, 0.5, -1.0, -1.0, -1.0]


def rows_of(policy: TransformersPolicy, pngs: Mapping[str, bytes]) -> list[Row]:
    """Rows of several lengths; some see the same picture, and not in order."""
    first, second, third = pngs
    said = [("Open Tea.", "<click><x3><y4>", second), ("Type.", "<type>no ice, please", first)]
    said += [("What does Tea cost?", "<answer>2", second), ("Go on with the order.", "<done>", third)]
    made = [(policy.prompts.prompt(text, ["<wait>"]), policy.prompts.reply(action), key) for text, action, key in said]
    return [Row(key, tuple(p), tuple(r), (-1.0,) * len(r)) for p, r, key in made]


def named(picture: Picture, count: int) -> dict[str, bytes]:
    pngs = [picture(number) for number in range(count)]
    return {hashlib.sha256(png).hexdigest(): png for png in pngs}


@torch.no_grad()
def naive(policy: TransformersPolicy, cache: PictureCache, png: bytes, row: Row) -> Tensor:
    """Transformers' own forward pass over the whole row, without padding, cache or sharing."""
    ids = torch.tensor([[*cache.shared.prefix, *row.prompt, *row.reply]])
    out = policy.model(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        mm_token_type_ids=(ids == policy.model.config.image_token_id).int(),
        pixel_values=cache.shared.pixels(cache.pixels({"x": png}))[0],
        image_grid_thw=cache.shared.grid,
        use_cache=False,
    )
    return out.logits[0, -len(row.reply) - 1 : -1].index_fill(1, torch.tensor(policy.prompts.banned), float("-inf"))


@pytest.mark.parametrize("picture_gradient", [False, True])
def test_logits_are_those_before_each_reply_token(tiny: Tiny, picture: Picture, picture_gradient: bool) -> None:
    policy, pngs = tiny(), named(picture, 3)
    cache, rows = policy.cache(64, 48), rows_of(policy, pngs)
    logits, target = reply_logits(cache, pngs, rows, policy.prompts.banned, picture_gradient=picture_gradient)
    assert target.tolist() == [token for row in rows for token in row.reply]
    expected = torch.cat([naive(policy, cache, pngs[row.image], row) for row in rows])
    assert logits.shape == expected.shape and logits.dtype == torch.float32
    assert (logits.isinf() == expected.isinf()).all() and logits.isinf().any()
    differences = (logits.log_softmax(-1) - expected.log_softmax(-1)).nan_to_num(0.0)
    assert differences.abs().max() <= 1e-4


@pytest.mark.parametrize("picture_gradient", [False, True])
def test_how_far_gradients_reach(tiny: Tiny, picture: Picture, picture_gradient: bool) -> None:
    policy, pngs = tiny(), named(picture, 3)
    rows = rows_of(policy, pngs)
    logits, target = reply_logits(
        policy.cache(64, 48), pngs, rows, policy.prompts.banned, picture_gradient=picture_gradient
    )
    torch.nn.functional.cross_entropy(logits, target).backward()
    reached = {name for name, p in policy.model.named_parameters() if p.grad is not None and p.grad.abs().max() > 0}
    assert any(".layers." in name for name in reached) and any("lm_head" in name for name in reached)
    assert any(".visual." in name for name in reached) is picture_gradient


def test_a_reply_that_nobody_can_have_sampled_is_refused(tiny: Tiny, picture: Picture) -> None:
    policy, pngs = tiny(), named(picture, 1)
    bad = policy.prompts.banned[2]
    rows = [Row(next(iter(pngs)), (20, 21), (30, bad), (-1.0, -1.0))]
    with pytest.raises(ValueError, match=rf"can never be sampled: \[{bad}\]"):
        reply_logits(policy.cache(64, 48), pngs, rows, policy.prompts.banned)


async def test_a_row_cut_by_length_keeps_its_picture_whole(tiny: Tiny, picture: Picture) -> None:
    """Instruction, history and reply are cut; the picture is no part of what is, and has its tokens once."""
    policy, png = tiny(max_tokens=3), picture(1)
    seen = Observation(png, 64, 48, "Write. " * 200)
    history = [StepRecord(seen.image_hash, Type(f"number {number}"), f"<type>number {number}") for number in range(40)]
    row = (await policy.act(seen, history)).sample
    assert isinstance(row, Row) and len(row.reply) <= 3 and row.image == seen.image_hash
    shared, pad = policy.cache(64, 48).shared, policy.model.config.image_token_id
    assert shared.prefix.count(pad) == shared.num_visual == shared.features(shared.pixels(PIXELS))[0].shape[1]
    assert pad not in row.prompt + row.reply
    for text in (
        "<|image_pad|>" * 50,
        "<|vision_start|><|image_pad|><|vision_end|>",
    ):  # what a page or a user may write
        said = policy.prompts.prompt(text, [text])
        assert pad not in said and said.count(policy.prompts.vision_end) == 1


@pytest.mark.parametrize("budget", [1, 30, 10_000])
def test_each_row_of_a_batch_has_its_own_picture_however_batches_are_cut(
    tiny: Tiny, picture: Picture, budget: int
) -> None:
    policy, pngs = tiny(), named(picture, 3)
    rows, cache = rows_of(policy, pngs), policy.cache(64, 48)
    whole, _ = reply_logits(cache, pngs, rows, policy.prompts.banned)
    ends = [sum(len(row.reply) for row in rows[: i + 1]) for i in range(len(rows))]
    for indices in plan(rows, budget_tokens=budget):
        part = [rows[i] for i in indices]
        logits, target = reply_logits(cache, {r.image: pngs[r.image] for r in part}, part, policy.prompts.banned)
        assert len(target) == sum(len(row.reply) for row in part)
        expected = torch.cat([whole[ends[i] - len(rows[i].reply) : ends[i]] for i in indices])
        assert (logits.log_softmax(-1) - expected.log_softmax(-1)).nan_to_num(0.0).abs().max() <= 1e-4


def test_a_row_whose_picture_is_missing_is_refused(tiny: Tiny, picture: Picture) -> None:
    policy, pngs = tiny(), named(picture, 3)
    rows = rows_of(policy, pngs)
    with pytest.raises(KeyError):
        reply_logits(policy.cache(64, 48), {rows[0].image: pngs[rows[0].image]}, rows, policy.prompts.banned)
