"""The loop over a vLLM server of its own (its stand-in), which is killed in mid-run and comes back with old weights or new ones."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import fake_vllm
import pytest
import torch
from streams import PAD, Tasks, mixed
from test_samplers import Changed

from uigym.bench.simulated import SimulatedPool
from uigym.models import families
from uigym.models.families.random import random_checkpoint
from uigym.policy.chat import ChatPolicy
from uigym.policy.contexts import window
from uigym.policy.sampler import Sampling, Weights
from uigym.policy.vllm import VLLMSampler
from uigym.policy.vllm_server import VLLMServer
from uigym.train.groups import turns
from uigym.train.loop import Loop, Update
from uigym.train.stream import Flow, Stream
from uigym.train.windows import Window
from uigym.types import Observation


class Nudged(Changed):
    """A trainer that moves every weight a little."""

    def __init__(self, folder: Path):
        super().__init__(folder, lambda model: None)
        self.generator = torch.Generator().manual_seed(0)

    def save(self, folder: Path) -> None:
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)  # a version is given again where the server lost it
        self.model.save_pretrained(folder)

    @torch.no_grad()
    def train(
        self,
        windows: Sequence[Window],
        advantages: Sequence[Sequence[float]],
        pngs: Mapping[str, bytes],
        *,
        denominator: float,
    ) -> dict[str, float]:
        for parameter in self.model.parameters():
            parameter.add_(0.01 * torch.randn(parameter.shape, generator=self.generator))
        return {}

    def checkpoint(self, folder: Path, progress: dict[str, Any] | None = None) -> None:
        raise AssertionError("nobody asks for checkpoints")

    def resume(self, folder: Path) -> dict[str, Any]:
        raise AssertionError("nobody asks for checkpoints")


class Forgetful(VLLMSampler):
    """One whose server comes back with the weights that it was first started with."""

    async def update(self, weights: Weights, version: int) -> None:
        assert isinstance(self.server, VLLMServer)
        first = self.server.folder
        await super().update(weights, version)
        self.server.folder, self.server.version = first, 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [VLLMSampler, Forgetful])
async def test_a_server_that_is_killed_is_started_again_with_the_weights_that_it_had(
    tmp_path: Path, picture: Callable[..., bytes], kind: type[VLLMSampler]
) -> None:
    torch.set_num_threads(1)
    folder = random_checkpoint(tmp_path / "qwen3_vl", "qwen3_vl")
    png = picture(0, *PAD.viewport)
    server = VLLMServer(folder, command=[sys.executable, fake_vllm.__file__, str(folder), "{port}"])
    sampler, trainer = kind(families.open(folder), server), Nudged(folder)
    policy = ChatPolicy(sampler.family, sampler, window(2), Sampling(max_tokens=4), training=True)
    found: list[Update] = []
    try:
        async with SimulatedPool(PAD, mixed, png, slots=4) as pool:
            flow = Flow(group_size=2, groups=2, max_staleness=1, rest_s=0.5)
            async with aclosing(Loop(Stream(pool, policy, Tasks(), flow), sampler, trainer).updates()) as running:
                async for update in running:
                    found.append(update)
                    if update.number in (2, 4):
                        assert server.pid is not None
                        os.kill(server.pid, signal.SIGKILL)
                    if update.number == 6:
                        break
            assert sampler.version == 6 and server.starts == 3
            reply = await _greedy(policy, png)
            fresh = VLLMServer(folder, command=[sys.executable, fake_vllm.__file__, str(folder), "{port}"])
            other = VLLMSampler(families.open(folder), fresh)
            try:
                await other.pause()
                await other.update(trainer, 6)
                await other.resume()
                assert await _greedy(ChatPolicy(other.family, other, window(2)), png) == pytest.approx(reply, abs=1e-5)
            finally:
                await other.close()
    finally:
        await sampler.close()
    for update in found:
        assert max(update.staleness) <= 1 and len(update.groups) == 2
        for group in update.groups:
            assert all(done.episode.verdict is not None and list(turns(done)) for done in group.members)


async def _greedy(policy: ChatPolicy, png: bytes) -> Iterable[float]:
    """Log-probabilities of the likeliest reply."""
    policy.sampling, policy.training = Sampling(temperature=0.0, max_tokens=4), False
    seen = Observation(png, *PAD.viewport, "Do it.")
    return (await policy.for_episode(None).act(seen, ())).sample.logprobs  # type: ignore[arg-type]
