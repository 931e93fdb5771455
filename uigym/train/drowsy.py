"""A sampler that gives up its GPU's memory while it is paused: for trainer and server on one GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uigym.policy.sampler import Reply, Sampling, Weights
from uigym.policy.vllm import VLLMSampler
from uigym.train import sync
from uigym.train.windows import Picture


class Drowsy:
    """Sleeps from a pause to the exchange of its weights, or to the resumption where there is none.

    Nothing may be under way when it is paused: what was being sampled loses its cache of keys and values. That is so
    where playing and learning take turns (`max_staleness: 0`).

    Args:
        sampler: Whose server was started with `--enable-sleep-mode`.
    """

    def __init__(self, sampler: VLLMSampler):
        self.inner = sampler
        self._asleep = 0
        """How often the server had begun when it went to sleep; 0 while it is awake."""

    @property
    def version(self) -> int:
        """How many updates its weights have seen."""
        return self.inner.version

    @version.setter
    def version(self, version: int) -> None:
        self.inner.version = version

    async def start(self) -> None:
        """See `Sampler.start`."""
        await self.inner.start()

    async def sample(
        self, ids: Sequence[int], pictures: Sequence[Picture], pngs: Mapping[str, bytes], sampling: Sampling
    ) -> Reply:
        """See `Sampler.sample`."""
        return await self.inner.sample(ids, pictures, pngs, sampling)

    async def pause(self) -> None:
        """Hold still, then sleep."""
        await self.inner.pause()
        endpoint = await self.inner.server.ready()
        if self._asleep != self.inner.server.starts:
            await sync.sleep(endpoint)
            self._asleep = self.inner.server.starts

    async def update(self, weights: Weights, version: int) -> None:
        """Take memory for the weights, exchange them, then take the rest."""
        endpoint = await self.inner.server.ready()
        asleep = self._asleep == self.inner.server.starts
        if asleep:
            await sync.wake_weights(endpoint)
        await self.inner.update(weights, version)
        if asleep:
            await sync.wake_cache(endpoint)
        self._asleep = 0

    async def resume(self) -> None:
        """Wake, then go on."""
        if self._asleep == self.inner.server.starts:
            endpoint = await self.inner.server.ready()
            await sync.wake_weights(endpoint)
            await sync.wake_cache(endpoint)
        self._asleep = 0
        await self.inner.resume()

    async def close(self) -> None:
        """End what was started."""
        await self.inner.close()
