"""What every sampler must do: one in this process, vLLM's stand-in, and vLLM itself where it is given.

UIGYM_VLLM_PYTHON names the interpreter of an environment with vLLM (`make test-vllm` makes one); without it the last
one is left out.
"""

from __future__ import annotations

import asyncio
import io
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fake_vllm import FakeVLLM, serving
from PIL import Image

from uigym.errors import PolicyError
from uigym.models import families
from uigym.models.families.forward import log_probabilities
from uigym.models.families.random import random_checkpoint
from uigym.models.families.weights import checkpoint_names
from uigym.policy.chat import ChatPolicy, turns
from uigym.policy.contexts import hysteresis
from uigym.policy.local import LocalSampler
from uigym.policy.sampler import Reply, Sampler, Sampling
from uigym.policy.vllm import VLLMSampler
from uigym.policy.vllm_server import Serving, VLLMServer
from uigym.train.windows import Picture, Window, windows
from uigym.types import Observation

CLOSE = 2e-3
"""Between a sampler's log-probabilities and the trainer's, nats: kernels differ."""
PYTHON = os.environ.get("UIGYM_VLLM_PYTHON", "")
KINDS = ("qwen3_vl", "qwen2_5_vl")
PLACES = ("local", "fake", *(["vllm"] if PYTHON else []))
BENCHES = (*(f"{place}-{kind}" for place in PLACES for kind in KINDS), f"couriers-{KINDS[0]}")
ON_A_CPU = {"VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


# --- models and weights ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A checkpoint of each family with random weights."""
    root = tmp_path_factory.mktemp("checkpoints")
    return {kind: random_checkpoint(root / kind, kind) for kind in KINDS}


class Changed:
    """A checkpoint's weights with some of them changed: what a trainer would give."""

    def __init__(self, folder: Path, change: Callable[[Any], None]):
        self.folder = folder
        self.family = families.open(folder)
        self.model: Any = self.family.load(folder, torch.float32, "cpu")
        with torch.no_grad():
            change(self.model)

    def named(self) -> Any:
        names = checkpoint_names(self.model)
        return [(names[name], tensor) for name, tensor in self.model.named_parameters()]

    def save(self, folder: Path) -> None:
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        self.model.save_pretrained(folder)


def favour(*ids: int, by: float = 5.0) -> Callable[[Any], None]:
    """Let the model say these ids before any other, whatever it sees; a negative `by` lets it never say them."""

    def change(model: Any) -> None:
        model.model.language_model.embed_tokens.weight[:, 0] = 100.0  # most of every hidden state, to the end
        model.model.language_model.norm.weight[0] = 1.0
        model.lm_head.weight[:, 0] = 0.0
        model.lm_head.weight[list(ids), 0] = by

    return change


def disturbed(model: Any) -> None:
    """Another vision tower and another language part."""
    generator = torch.Generator().manual_seed(7)
    for parameter in model.parameters():
        parameter.add_(0.3 * parameter.std() * torch.randn(parameter.shape, generator=generator))


# --- samplers ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def servers(folders: dict[str, Path]) -> Iterator[dict[str, VLLMServer]]:
    """Real servers, one a family, started when they are first asked."""
    serving = Serving(
        python=PYTHON, dtype="float32", max_tokens=2048, pictures=6, replies=8, memory=0.5,
        more=("--enforce-eager",), environment=ON_A_CPU,
    )  # fmt: skip
    made = {kind: VLLMServer(folder, serving) for kind, folder in folders.items()} if PYTHON else {}
    yield made
    for server in made.values():
        asyncio.run(server.close())


@asynccontextmanager
async def opened(place: str, folder: Path, server: VLLMServer | None) -> AsyncIterator[Sampler]:
    family = families.open(folder)
    if place == "local":
        sampler = LocalSampler(family, family.load(folder, torch.float32, "cpu"), seed=0)
        yield sampler
        await sampler.close()
    elif place in ("fake", "couriers"):
        async with serving(FakeVLLM(folder, longest=2048)) as url:
            couriers = 2 if place == "couriers" else 0
            remote = VLLMSampler(family, url, trains_vision=True, remembers=True, couriers=couriers)
            yield remote
            await remote.close()
    else:
        assert server is not None
        remote = VLLMSampler(family, server, trains_vision=True, folder=folder.parent / f"{folder.name}-versions")
        await remote.start()
        yield remote
        await remote.pause()  # the server goes on for the next test, with the weights that it began with
        await remote.update(Changed(folder, lambda model: None), server.version + 1)
        await remote.resume()
        server.version = 0
        await (await server.ready()).close()


@pytest.fixture(params=BENCHES)
async def bench(
    request: pytest.FixtureRequest, folders: dict[str, Path], servers: dict[str, VLLMServer]
) -> AsyncIterator[Bench]:
    place, _, kind = request.param.partition("-")
    async with opened(place, folders[kind], servers.get(kind)) as sampler:
        yield Bench(sampler, folders[kind])


class Bench:
    """A sampler with what is known of its model."""

    def __init__(self, sampler: Sampler, folder: Path):
        self.sampler, self.folder = sampler, folder
        self.family = families.open(folder)
        self.model: Any = self.family.load(folder, torch.float32, "cpu")

    def screens(self, count: int, seed: int = 0) -> tuple[list[Picture], dict[str, bytes]]:
        """Pictures of noise, of a size that needs no resizing, with their PNGs by hash."""
        cell = self.family.cell  # type: ignore[attr-defined]
        pngs = {f"{seed}-{number}": png(4 * cell, 3 * cell, seed + number) for number in range(count)}
        return [self.family.picture(key, 4 * cell, 3 * cell) for key in pngs], pngs

    async def ask(self, count: int, seed: int = 0, **sampling: Any) -> tuple[Window, Reply, dict[str, bytes]]:
        """A reply to a conversation with so many pictures."""
        pictures, pngs = self.screens(count, seed)
        ids = self.family.fresh(f"Do {seed}.", [], "Now?", pictures)
        reply = await self.sampler.sample(ids, pictures, pngs, Sampling(**{"max_tokens": 12, **sampling}))
        row = Window(
            (*ids, *reply.ids), ((len(ids), len(ids) + len(reply.ids)),), reply.logprobs, tuple(pictures), (0,)
        )
        return row, reply, pngs

    def recomputed(self, row: Window, pngs: Mapping[str, bytes], temperature: float = 1.0) -> list[float]:
        """The log-probabilities of a row's replies as a trainer computes them."""
        with torch.no_grad():
            found, _ = log_probabilities(self.family, self.model, [row], pngs, temperature=temperature)
        return found.tolist()

    async def change(self, change: Callable[[Any], None], version: int = 1) -> None:
        """Give the sampler, and this, other weights."""
        weights = Changed(self.folder, change)
        await self.sampler.pause()
        await self.sampler.update(weights, version)
        await self.sampler.resume()
        self.model = weights.model


def png(width: int, height: int, seed: int) -> bytes:
    """A picture of blocks of colour."""
    blocks = np.random.default_rng(seed).integers(0, 256, (height // 4, width // 4, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(blocks.repeat(4, 0).repeat(4, 1)).save(out, "PNG")
    return out.getvalue()


def near(found: Sequence[float], wanted: Sequence[float]) -> bool:
    return bool(np.allclose(found, wanted, atol=CLOSE, rtol=0))


# --- what is sampled ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [1.0, 0.6])
async def test_logprobs_are_those_of_the_model_at_that_temperature(bench: Bench, temperature: float) -> None:
    row, reply, pngs = await bench.ask(2, temperature=temperature)
    assert near(reply.logprobs, bench.recomputed(row, pngs, temperature))
    assert reply.version == reply.last_version == 0


@pytest.mark.parametrize("pictures", [0, 1, 4])
async def test_any_number_of_pictures(bench: Bench, pictures: int) -> None:
    row, reply, pngs = await bench.ask(pictures, seed=pictures)
    assert near(reply.logprobs, bench.recomputed(row, pngs))


async def test_calls_at_the_same_time_do_not_see_each_other(bench: Bench) -> None:
    asked = await asyncio.gather(*(bench.ask(seed % 4, seed, max_tokens=2 + seed) for seed in range(10, 18)))
    for row, reply, pngs in asked:
        assert near(reply.logprobs, bench.recomputed(row, pngs))


async def test_the_likeliest_ids_at_temperature_0(bench: Bench) -> None:
    row, reply, pngs = await bench.ask(1, temperature=0.0)
    at_one = bench.recomputed(row, pngs)
    assert near(reply.logprobs, at_one)
    again = (await bench.ask(1, temperature=0.0))[1]
    assert again.ids == reply.ids


async def test_a_seed_repeats_a_reply(bench: Bench) -> None:
    pictures, pngs = bench.screens(1)
    ids = bench.family.fresh("Do it.", [], "", pictures)
    told = [Sampling(max_tokens=8, seed=seed) for seed in (5, 5, 6)]
    first, second, other = [await bench.sampler.sample(ids, pictures, pngs, sampling) for sampling in told]
    assert first.ids == second.ids != other.ids


async def test_forbidden_ids_are_never_sampled_however_likely_they_are(bench: Bench) -> None:
    await bench.change(favour(*bench.family.banned))
    asked = await asyncio.gather(*(bench.ask(1, seed, max_tokens=30) for seed in range(4)))
    for row, reply, pngs in asked:
        assert not set(reply.ids) & set(bench.family.banned)
        assert near(reply.logprobs, bench.recomputed(row, pngs))


async def test_a_reply_ends_with_the_end_of_the_turn_which_is_a_sampled_id(bench: Bench) -> None:
    await bench.change(favour(bench.family.end))
    assert (await bench.ask(1))[1].ids == (bench.family.end,)
    await bench.change(favour(bench.family.end, by=-5.0), 2)
    reply = (await bench.ask(1, max_tokens=7))[1]
    assert len(reply.ids) == len(reply.logprobs) == 7
    assert bench.family.end not in reply.ids


async def test_a_context_that_is_too_long_is_told(bench: Bench) -> None:
    if isinstance(bench.sampler, LocalSampler):
        pytest.skip("what a model in this process bears is its own business")
    pictures, pngs = bench.screens(1)
    ids = [*bench.family.fresh("Do it.", [], "", pictures), *[40] * 2100]
    with pytest.raises(PolicyError, match="400"):
        await bench.sampler.sample(ids, pictures, pngs, Sampling())


# --- weights -----------------------------------------------------------------------------------------------


async def test_after_an_update_nothing_old_is_used(bench: Bench) -> None:
    before = (await bench.ask(3, temperature=0.0))[1]
    await bench.change(disturbed)
    row, reply, pngs = await bench.ask(3, temperature=0.0)
    assert (reply.version, reply.last_version) == (1, 1)
    assert near(reply.logprobs, bench.recomputed(row, pngs))
    assert reply.logprobs != before.logprobs


async def test_a_pause_holds_a_reply_and_its_rest_comes_from_the_new_weights(bench: Bench) -> None:
    await bench.change(favour(bench.family.end, by=-5.0), 3)
    asking = asyncio.create_task(bench.ask(2, max_tokens=250))
    await asyncio.sleep(0.4)
    await bench.sampler.pause()
    assert not asking.done()
    waiting = asyncio.create_task(bench.ask(1))
    new = Changed(bench.folder, lambda model: (favour(bench.family.end, by=-5.0)(model), disturbed(model)))
    await bench.sampler.update(new, 4)
    await asyncio.sleep(0.3)
    assert not asking.done() and not waiting.done()
    await bench.sampler.resume()
    row, reply, pngs = await asking
    assert (reply.version, reply.last_version) == (3, 4)
    by_old = np.abs(np.subtract(reply.logprobs, bench.recomputed(row, pngs))) < CLOSE
    bench.model = new.model
    by_new = np.abs(np.subtract(reply.logprobs, bench.recomputed(row, pngs))) < CLOSE
    first = int(np.argmin(by_old))  # that the old weights do not explain
    assert len(reply.ids) == 250 and by_new[first:].all() and not by_old.all()
    assert (await waiting)[1].version == 4


async def test_weights_are_exchanged_in_a_pause_only(bench: Bench) -> None:
    with pytest.raises(RuntimeError, match="pause"):
        await bench.sampler.update(Changed(bench.folder, lambda model: None), 1)


# --- conversations -----------------------------------------------------------------------------------------


async def test_windows_of_a_conversation_give_the_logprobs_that_were_sampled(bench: Bench) -> None:
    policy = ChatPolicy(bench.family, bench.sampler, hysteresis(2, 3), Sampling(max_tokens=6), training=True)
    cell, samples, seen = bench.family.cell, [], {}  # type: ignore[attr-defined]
    conversation = policy.for_episode(None)  # type: ignore[arg-type]
    for step in range(6):
        observation = Observation(
            png(4 * cell, 3 * cell, step), 4 * cell, 3 * cell, "Do it.", error="no" if step else None
        )
        seen[observation.image_hash] = observation.png
        samples.append((await conversation.act(observation, [])).sample)
    rows = windows(turns(samples))
    assert [len(row.replies) for row in rows] == [3, 2, 1]
    for row in rows:
        assert near(row.logprobs, bench.recomputed(row, seen))
