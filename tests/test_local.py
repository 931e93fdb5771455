"""A model in this process as a sampler: every family, batches, and what goes wrong."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from uigym.errors import ConfigError, PolicyError
from uigym.models import families
from uigym.models.families.forward import log_probabilities
from uigym.models.families.random import KINDS, random_checkpoint
from uigym.models.families.weights import checkpoint_names
from uigym.policy.contexts import window
from uigym.policy.hf import TransformersPolicy
from uigym.policy.local import HFPolicy, LocalSampler, load
from uigym.policy.sampler import Sampling
from uigym.train.windows import Window
from uigym.types import Observation, StepRecord


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def png(width: int, height: int, seed: int) -> bytes:
    blocks = np.random.default_rng(seed).integers(0, 256, (height // 8, width // 8, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(blocks.repeat(8, 0).repeat(8, 1)).save(out, "PNG")
    return out.getvalue()


def made(tmp_path: Path, kind: str = "qwen3_vl", **more: Any) -> LocalSampler:
    folder = random_checkpoint(tmp_path / kind, kind)
    family = families.open(folder)
    return LocalSampler(family, family.load(folder, torch.float32, "cpu"), **{"seed": 0, **more})


async def ask(sampler: LocalSampler, count: int, tokens: int = 6) -> Window:
    """A sampled row with so many pictures."""
    family = sampler.family
    pngs = {f"{count}-{n}": png(128, 96, 10 * count + n) for n in range(count)}
    pictures = [family.picture(key, 128, 96) for key in pngs]
    ids = family.fresh(f"Do {count}.", [], "", pictures)
    reply = await sampler.sample(ids, pictures, pngs, Sampling(max_tokens=tokens))
    row = Window((*ids, *reply.ids), ((len(ids), len(ids) + len(reply.ids)),), reply.logprobs, tuple(pictures), (0,))
    with torch.no_grad():
        computed, _ = log_probabilities(family, sampler.model, [row], pngs)
    assert row.logprobs == pytest.approx(computed.tolist(), abs=1e-4)
    return row


@pytest.mark.parametrize("kind", KINDS)
async def test_a_batch_of_any_family_has_the_trainers_logprobs(tmp_path: Path, kind: str) -> None:
    sampler = made(tmp_path, kind)
    await asyncio.gather(*(ask(sampler, count, 3 + count) for count in (2, 0, 1)))
    await sampler.close()


async def test_the_tiny_model_says_what_its_own_policy_says() -> None:
    own = TransformersPolicy("tiny", temperature=0.0)
    policy = HFPolicy("tiny", window(1), Sampling(temperature=0.0, max_tokens=32))
    talk, history = policy.for_episode(None), []  # type: ignore[arg-type]
    for step in range(3):
        seen = Observation(png(320, 256, step), 320, 256, "Order two bags of Green tea.")
        one, other = await own.act(seen, history), await talk.act(seen, history)
        assert (one.text, one.action) == (other.text, other.action)
        history.append(StepRecord(seen.image_hash, one.action, one.text))
    await policy.close()


async def test_calls_beyond_a_batch_wait_for_the_next(tmp_path: Path) -> None:
    sampler = made(tmp_path, batch=2)
    rows = await asyncio.gather(*(ask(sampler, 1) for _ in range(5)))
    assert len(rows) == 5
    await sampler.close()
    with pytest.raises(ConfigError, match="at least 1 call"):
        LocalSampler(sampler.family, sampler.model, batch=0)


async def test_a_call_that_is_cancelled_takes_no_other_with_it(tmp_path: Path) -> None:
    sampler = made(tmp_path)
    gone, stays = asyncio.create_task(ask(sampler, 1, 20)), asyncio.create_task(ask(sampler, 2, 20))
    await asyncio.sleep(0.05)
    gone.cancel()
    assert len((await stays).logprobs) <= 20
    await sampler.close()


async def test_a_context_whose_pictures_do_not_fit_is_an_error_and_the_next_call_is_answered(tmp_path: Path) -> None:
    sampler = made(tmp_path)
    picture = sampler.family.picture("p", 128, 96)
    with pytest.raises(PolicyError, match="sampling 1 replies failed: ValueError"):
        await sampler.sample([1, 2, 3], [picture], {"p": png(128, 96, 0)}, Sampling())
    await ask(sampler, 1)
    await sampler.close()


async def test_a_closed_sampler_gives_up_on_what_waits(tmp_path: Path) -> None:
    sampler = made(tmp_path)
    await sampler.pause()
    waiting = asyncio.create_task(ask(sampler, 1))
    await asyncio.sleep(0.01)
    await sampler.close()
    with pytest.raises(PolicyError, match="closed"):
        await waiting


def test_weights_that_do_not_fit(tmp_path: Path) -> None:
    sampler = made(tmp_path, "qwen2_5_vl")
    names = checkpoint_names(sampler.model)

    class Given:
        def __init__(self, *named: tuple[str, torch.Tensor]):
            self.named = lambda: named

        def save(self, folder: Path) -> None:
            raise AssertionError("never asked for")

    norm = next(name for name in names.values() if name.endswith("model.norm.weight"))
    load(sampler.model, Given((norm, torch.full((64,), 3.0))))
    weight = dict(sampler.model.named_parameters())["model.language_model.norm.weight"]
    assert weight.tolist() == [3.0] * 64
    with pytest.raises(PolicyError, match=r"\(2,\) does not fit: the model has \(64,\)"):
        load(sampler.model, Given((norm, torch.ones(2))))
    with pytest.raises(PolicyError, match="nothing of that name"):
        load(sampler.model, Given(("model.head", torch.ones(2))))
