"""A checkpoint as a policy: batches, seeds, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from uigym.errors import ConfigError, PolicyError
from uigym.models.forward import SharedPrefix
from uigym.models.tiny import tiny_checkpoint
from uigym.policy import hf
from uigym.policy.hf import PictureCache, TransformersPolicy, past_actions, picture_size
from uigym.train.rows import Row
from uigym.types import Answer, Click, Decision, Invalid, Observation, StepRecord, Type

Picture = Callable[..., bytes]
Tiny = Callable[..., TransformersPolicy]


class Counting(TransformersPolicy):
    """Notes the size of each batch."""

    def __init__(self, **options: Any):
        super().__init__("tiny", **{"seed": 0, **options})
        self.batches: list[int] = []

    def _sample(self, batch: Sequence[Any], size: tuple[int, int]) -> list[tuple[list[int], list[float]]]:
        self.batches.append(len(batch))
        return super()._sample(batch, size)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def seen(picture: Picture) -> Callable[..., Observation]:
    def see(number: int = 0, instruction: str = "Open Tea.", width: int = 64, height: int = 48) -> Observation:
        return Observation(picture(number, width, height), width, height, instruction)

    return see


Seen = Callable[..., Observation]


# --- batches -------------------------------------------------------------------------------------------------


async def test_calls_that_wait_together_are_one_batch(seen: Seen) -> None:
    policy = Counting()
    decisions = await asyncio.gather(*(policy.act(seen(n % 3), ()) for n in range(7)))
    assert policy.batches == [7] and len(decisions) == 7
    await policy.act(seen(), ())
    assert policy.batches == [7, 1]


async def test_each_call_gets_its_own_answer_whoever_else_waits(seen: Seen) -> None:
    """Greedy, so that the answers can be compared."""
    policy = Counting(temperature=0.0)
    asked = [seen(n, f"Click item {n}.") for n in range(5)]
    together = await asyncio.gather(*(policy.act(o, ()) for o in asked))
    alone = [await policy.act(o, ()) for o in reversed(asked)][::-1]
    assert policy.batches == [5, 1, 1, 1, 1, 1]
    for one, other in zip(together, alone, strict=True):
        assert (one.action, one.text) == (other.action, other.text)
        assert one.sample.reply == other.sample.reply and one.sample.image == other.sample.image
        assert one.sample.logprobs == pytest.approx(other.sample.logprobs, abs=1e-4)
    assert len({d.sample.image for d in together}) == 5


async def test_viewports_of_different_sizes_are_different_batches(seen: Seen) -> None:
    policy = Counting()
    sizes = [(64, 48), (96, 64), (64, 48)]
    decisions = await asyncio.gather(*(policy.act(seen(0, width=w, height=h), ()) for w, h in sizes))
    assert policy.batches == [2, 1] and all(isinstance(d, Decision) for d in decisions)


async def test_who_gives_up_waiting_does_not_disturb_the_others(seen: Seen) -> None:
    policy = Counting()
    calls = [asyncio.create_task(policy.act(seen(n), ())) for n in range(3)]
    await asyncio.sleep(0)
    calls[1].cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(results[1], asyncio.CancelledError)
    assert isinstance(results[0], Decision) and isinstance(results[2], Decision)


def test_a_policy_outlives_an_event_loop(seen: Seen) -> None:
    policy = Counting(temperature=0.0)
    first, second = (asyncio.run(act(policy, seen())) for _ in range(2))
    assert first.text == second.text and policy.batches == [1, 1]


async def act(policy: TransformersPolicy, observation: Observation) -> Decision:
    return await policy.act(observation, ())


# --- what is sampled -----------------------------------------------------------------------------------------


async def test_the_same_seed_says_the_same(seen: Seen, tiny: Tiny) -> None:
    def play(seed: int) -> list[str]:
        policy = tiny(seed=seed, temperature=2.0)
        return [asyncio.run(act(policy, seen(n))).text for n in range(4)]

    first, again, other = await asyncio.to_thread(lambda: (play(1), play(1), play(2)))
    assert first == again != other


async def test_a_decision_carries_its_tokens(seen: Seen, tiny: Tiny) -> None:
    policy, observation = tiny(), seen()
    decision = await policy.act(observation, ())
    row = decision.sample
    assert isinstance(row, Row) and row.image == observation.image_hash and row.version == 0
    assert list(row.prompt) == policy.prompts.prompt("Open Tea.", [])
    assert policy.prompts.read(row.reply) == decision.text and row.reply[-1] == policy.prompts.end
    policy.weights_changed(vision=False)
    assert (await policy.act(observation, ())).sample.version == 1


async def test_only_picture_instruction_and_own_actions_are_seen(seen: Seen, tiny: Tiny) -> None:
    policy, plain = tiny(temperature=0.0), seen()
    rich = Observation(plain.png, 64, 48, plain.instruction, pointer=(3, 4), error="off the page", settled=False)
    assert (await policy.act(plain, ())).sample == (await policy.act(rich, ())).sample
    history = [
        StepRecord("aa", Click(2, 2), text="<click><x1><y1>", error="no such thing"),
        StepRecord("bb", Type("x")),
    ]
    past = (await policy.act(plain, history)).sample
    assert list(past.prompt) == policy.prompts.prompt("Open Tea.", ["<click><x1><y1>", "<type>x"])


def test_own_words_come_before_the_actions_own() -> None:
    history = [
        StepRecord("a", Click(4, 4)),
        StepRecord("b", Invalid("??", "no"), text="??"),
        StepRecord("c", Answer("2")),
    ]
    assert past_actions(history, 320, 256) == ["<click><x0><y0>", "??", "<answer>2"]


async def test_a_reply_that_does_not_end_is_no_action(seen: Seen, tiny: Tiny) -> None:
    decision = await tiny(max_tokens=1).act(seen(), ())
    assert isinstance(decision.action, Invalid) and "did not end within 1 tokens" in decision.action.reason
    assert len(decision.sample.reply) == 1 and decision.action.text == decision.text


# --- pictures ------------------------------------------------------------------------------------------------


class CountingPrefix(SharedPrefix):
    """Counts the pictures that go through the vision tower, and through the language part."""

    looked = 0
    filled = 0

    def features(self, pixels: torch.Tensor) -> Any:
        self.looked += len(pixels)
        return super().features(pixels)

    def prefill(self, features: Any) -> torch.Tensor:
        self.filled += len(features[0])
        return super().prefill(features)


def test_pictures_are_computed_once_under_the_same_weights(tiny: Tiny, picture: Picture) -> None:
    shared = CountingPrefix(tiny().model, 48, 64)
    cache, pngs = PictureCache(shared), {str(n): picture(n) for n in range(4)}
    first = cache.prefixes({k: pngs[k] for k in "012"})
    again = cache.prefixes({k: pngs[k] for k in "130"})
    assert (
        (shared.looked, shared.filled) == (4, 4) and torch.equal(first[1], again[0]) and torch.equal(first[0], again[2])
    )
    cache.forget(vision=False)
    cache.prefixes(pngs)
    assert (shared.looked, shared.filled) == (4, 8)
    cache.forget(vision=True)
    cache.prefixes(pngs)
    assert (shared.looked, shared.filled) == (8, 12)


def test_a_full_cache_keeps_what_is_asked_for(
    tiny: Callable[..., TransformersPolicy], picture: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there already, and the oldest, must outlast what is added beside it."""
    monkeypatch.setattr(hf, "_KEPT_PREFIXES", 3)
    monkeypatch.setattr(hf, "_KEPT_FEATURES", 3)
    pngs = {str(n): picture(n) for n in range(6)}
    cache = PictureCache(tiny().cache(64, 48).shared)
    alone = {key: cache.prefixes({key: png})[0].clone() for key, png in pngs.items()}
    cache = PictureCache(cache.shared)
    for asked in ("012", "03", "30451", "2", "25"):
        found = cache.prefixes({key: pngs[key] for key in asked})
        assert all(torch.allclose(f, alone[key], atol=1e-5) for f, key in zip(found, asked, strict=True))


async def test_a_large_viewport_is_shown_smaller(seen: Seen, tiny: Tiny) -> None:
    policy = tiny(temperature=0.0)
    decision = await policy.act(seen(0, width=1280, height=720), ())
    assert policy.cache(368, 208).shared.num_visual == 23 * 13
    if isinstance(decision.action, Click):
        assert 0 < decision.action.x < 1280 and 0 < decision.action.y < 720


@pytest.mark.parametrize(
    "width, height", [(320, 256), (1280, 720), (375, 812), (16, 16), (4000, 40), (20, 4000), (333, 250)]
)
def test_pictures_keep_to_grid_and_budget(width: int, height: int) -> None:
    wide, high = picture_size(width, height)
    assert wide % 16 == high % 16 == 0 and 0 < wide * high <= 320 * 256
    if max(width, height) < 3 * min(width, height) and min(width, height) > 100:
        assert abs(math.log((wide / high) / (width / height))) < 0.1


# --- what goes wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.0, 1.0])
async def test_a_broken_forward_pass_is_the_policys_error(seen: Seen, temperature: float) -> None:
    policy = Counting(temperature=temperature)
    with torch.no_grad():
        policy.model.lm_head.weight.fill_(math.nan)
    results = await asyncio.gather(*(policy.act(seen(n), ()) for n in range(2)), return_exceptions=True)
    assert [type(r) for r in results] == [PolicyError, PolicyError]


async def test_a_picture_that_is_none_is_the_policys_error_and_passes(seen: Seen, tiny: Tiny) -> None:
    policy = tiny()
    with pytest.raises(PolicyError, match="sampling a batch of 1 replies failed: UnidentifiedImageError"):
        await policy.act(Observation(b"no picture", 64, 48, "Open Tea."), ())
    assert isinstance(await policy.act(seen(), ()), Decision)


@pytest.mark.parametrize("options", [{"temperature": -1.0}, {"temperature": math.nan}, {"max_tokens": 0}])
def test_settings_that_make_no_sense(options: dict[str, Any], tiny: Tiny) -> None:
    with pytest.raises(ConfigError, match="temperature must be 0 or more and max_tokens 1 or more"):
        tiny(**options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_checkpoint(), tmp_path / "checkpoint"))


def test_weights_that_are_cut_off(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100_000])
    with pytest.raises(
        ConfigError, match=r"the weights .*model.safetensors are damaged or missing: .*; copy the checkpoint again"
    ):
        TransformersPolicy(folder)


def test_a_config_that_is_not_json(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    with pytest.raises(ConfigError, match=r"config\.json is not JSON"):
        TransformersPolicy(folder)


def test_a_tokenizer_that_does_not_speak_the_language(folder: Path) -> None:
    file = folder / "tokenizer.json"
    data = json.loads(file.read_text())
    data["added_tokens"] = [t for t in data["added_tokens"] if t["content"] != "<click>"]
    file.write_text(json.dumps(data))
    with pytest.raises(ConfigError, match="has no <click> token: it does not speak"):
        TransformersPolicy(folder)


async def test_a_denser_picture_is_shown_at_the_models_size(picture: Picture, tiny: Tiny) -> None:
    policy = tiny(temperature=0.0)
    plain = Observation(picture(1, 64, 48), 64, 48, "Open Tea.")
    dense = Observation(picture(1, 128, 96), 64, 48, "Open Tea.", scale=2.0)
    for observation in (plain, dense):
        decision = await policy.act(observation, ())
        assert isinstance(decision.sample, Row)
    assert list(policy._caches) == [picture_size(64, 48)]
