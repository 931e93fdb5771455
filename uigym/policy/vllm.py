"""vLLM as a sampler, over HTTP: ids in, ids and log-probabilities out, for version 0.23 and newer.

`/inference/v1/generate` takes the context's ids with the pictures' features, `/v1/chat/completions/render` makes those.
Ids that are forbidden get a bias that leaves them no probability at all; the log-probabilities are those of what was
really drawn from (`--logprobs-mode processed_logprobs`). Prefixes are cached by version of the weights, and pictures too
where the vision tower is trained, so that nothing of old weights can be used with new ones.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from uigym.errors import PolicyError, attribute
from uigym.policy import contexts
from uigym.policy.asking import Asking, Here, Question
from uigym.policy.chat import ChatPolicy
from uigym.policy.contexts import Context
from uigym.policy.courier import Couriers
from uigym.policy.endpoint import Endpoint, Unreachable
from uigym.policy.sampler import PLAIN, Reply, Sampling, Weights
from uigym.policy.vllm_server import SERVING, Given, Server, Serving, VLLMServer
from uigym.train.windows import Picture

if TYPE_CHECKING:
    from uigym.models.families.family import Family

_log = logging.getLogger(__name__)
_TRIES = 3
"""How often a reply is asked for while the server fails."""
_NEVER = -1e9
"""Added to a logit: the id's probability is 0 in float32, whatever the others are."""


class Transfer(Protocol):
    """How weights reach a running server without the disk."""

    async def send(self, weights: Weights, endpoint: Endpoint, version: int) -> None:
        """Give the server these weights, while it is paused.

        Raises:
            PolicyError: It did not work.
        """


class VLLMSampler:
    """A vLLM server that samples for everybody who asks.

    Args:
        family: Of the model that the server has.
        server: Its address, or a server that is started when it is first asked.
        transfer: How new weights reach it; None saves them to a folder that the server reads.
        trains_vision: Whether updates change the vision tower as well.
        remembers: Whether the server keeps pictures that it was sent, which spares sending them at every step: one of
            ours does, one with several processes does not; None is that.
        couriers: Processes that ask the server and read its answers; 0 does so here.
        folder: Where weights are saved for the server to read; None is a temporary folder.
    """

    def __init__(
        self,
        family: Family,
        server: str | Server,
        *,
        transfer: Transfer | None = None,
        trains_vision: bool = False,
        remembers: bool | None = None,
        couriers: int = 0,
        folder: Path | None = None,
    ):
        self.family = family
        self.server: Server = Given(server) if isinstance(server, str) else server
        self.transfer = transfer
        self.trains_vision = trains_vision
        self.version = self.server.version
        is_ours = not isinstance(self.server, Given)
        keeps = is_ours if remembers is None else remembers
        self._asking: Asking = Couriers(couriers, remembers=keeps) if couriers else Here(remembers=keeps)
        self._folder = folder
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._starts = 0
        self._open = asyncio.Event()
        self._open.set()

    async def start(self) -> None:
        """Wait until the server takes requests; without it, the first request does.

        Raises:
            PolicyError: It does not come up.
        """
        await self._ready()

    async def sample(
        self, ids: Sequence[int], pictures: Sequence[Picture], pngs: Mapping[str, bytes], sampling: Sampling
    ) -> Reply:
        """Go on from ids in which the pictures' placeholders stand.

        Raises:
            PolicyError: The server refused the request, or failed again and again.
        """
        said = ""
        for attempt in range(_TRIES):
            await self._open.wait()
            endpoint = await self._ready()
            try:
                return await self._reply(endpoint, ids, pictures, pngs, sampling)
            except Unreachable as exc:
                said = str(exc)
                _log.warning("vLLM, attempt %d: %s", attempt + 1, said)
                self.server.failed()
        raise PolicyError(f"vLLM failed {_TRIES} times at one reply; the last time: {said}{self.server.output()}")

    async def pause(self) -> None:
        """Hold everything that is being sampled where it is; what was computed up to now is computed again after it.

        Raises:
            PolicyError: The server did not take it.
        """
        self._open.clear()
        try:
            await self._tell("/pause", mode="keep", clear_cache=True)
        except BaseException:
            self._open.set()
            raise
        self._asking.forget()

    async def resume(self) -> None:
        """Go on.

        Raises:
            PolicyError: The server did not take it.
        """
        await self._tell("/resume")
        self._open.set()

    async def update(self, weights: Weights, version: int) -> None:
        """Exchange the weights, while paused.

        Raises:
            PolicyError: It did not work; the server may have parts of both versions.
        """
        if self._open.is_set():
            raise RuntimeError("weights are exchanged while the sampler is paused: call pause before, resume after")
        with attribute(PolicyError, f"giving the server the weights of version {version}"):
            if self.transfer is not None:
                await self.transfer.send(weights, await self._ready(), version)
            else:
                await self._reload(weights, version)
        self._asking.forget()
        self.version = version

    async def close(self) -> None:
        """End the server, if it was started for this, and remove what was saved for it."""
        await self._asking.close()
        await self.server.close()
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    async def _ready(self) -> Endpoint:
        """The server; one that began anew has the weights that it begins with, and is not paused."""
        endpoint = await self.server.ready()
        if self.server.starts != self._starts:
            self._starts = self.server.starts
            self._asking.forget()
            self.version = self.server.version
        return endpoint

    async def _tell(self, path: str, body: Any = None, **query: str | int | bool) -> None:
        """Send what may be sent twice, again where the server has died over it."""
        said = ""
        for _ in range(_TRIES):
            endpoint = await self._ready()
            try:
                await endpoint.post(path, body, **query)
            except Unreachable as exc:
                said = str(exc)
                self.server.failed()
            else:
                return
        raise PolicyError(f"vLLM failed {_TRIES} times; the last time: {said}{self.server.output()}")

    async def _reload(self, weights: Weights, version: int) -> None:
        folder = self._saves() / f"version-{version}"
        await asyncio.to_thread(weights.save, folder)
        await self._tell("/collective_rpc", {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}})
        before = self.server.folder
        if not isinstance(self.server, Given):
            self.server.folder, self.server.version = folder, version
        if before is not None and before.parent == folder.parent and before != folder:
            await asyncio.to_thread(shutil.rmtree, before, True)

    def _saves(self) -> Path:
        if self._folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="uigym-weights-")
            self._folder = Path(self._temporary.name)
        return self._folder

    async def _reply(
        self,
        endpoint: Endpoint,
        ids: Sequence[int],
        pictures: Sequence[Picture],
        pngs: Mapping[str, bytes],
        sampling: Sampling,
    ) -> Reply:
        """One reply."""
        first = self.version
        shown = {p.hash: await asyncio.to_thread(self.family.shown, p, pngs[p.hash]) for p in pictures}
        question = Question(
            tuple(ids),
            tuple(pictures),
            parameters(self.family, sampling),
            salt=f"version-{first}",
            mark=f"-{first}" if self.trains_vision else "",
        )
        answer = await self._asking.answer(endpoint, question, shown)
        return read(answer, first, self.version)


def parameters(family: Family, sampling: Sampling) -> dict[str, Any]:
    """A request's `sampling_params`: nothing is left to the server's defaults or to the checkpoint's."""
    said: dict[str, Any] = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "max_tokens": sampling.max_tokens,
        "logprobs": 0,
        "stop_token_ids": [family.end],
        "ignore_eos": True,
        "detokenize": False,
        "logit_bias": {str(banned): _NEVER for banned in family.banned},
    }
    return said if sampling.seed is None else {**said, "seed": sampling.seed}


def read(answer: Any, first: int, last: int) -> Reply:
    """The reply in a server's answer.

    Args:
        answer: Of `/inference/v1/generate`.
        first, last: Versions of the weights when it was asked and when it was answered.

    Raises:
        Unreachable: The server says that it failed or gave up.
        PolicyError: It is no such answer.
    """
    try:
        (choice,) = answer["choices"]
        how, ids = choice["finish_reason"], choice["token_ids"]
        if how not in ("stop", "length"):
            raise Unreachable(f"the server ended a reply by {how!r}")
        logprobs = [each["logprob"] for each in choice["logprobs"]["content"]]
        return Reply(tuple(ids), tuple(min(0.0, float(value)) for value in logprobs), first, last)
    except (KeyError, TypeError, ValueError) as exc:
        raise PolicyError(f"the server's answer is none of /inference/v1/generate: {exc!r}: {answer!r:.300}") from exc


class VLLMPolicy(ChatPolicy):
    """A checkpoint of any family, sampled by vLLM.

    Args:
        folder: The checkpoint: how its family's ids are made, and what a server of our own serves.
        context: How much of an episode the model has before it.
        sampling: How replies are sampled.
        url: A server that runs already; None starts one.
        serving: How it is started.
        training: Whether the replies are to be trained with.

    Raises:
        ConfigError: The folder holds no checkpoint of a family that uigym knows.
    """

    def __init__(
        self,
        folder: str | Path,
        context: Context = contexts.DEFAULT,
        sampling: Sampling = PLAIN,
        *,
        url: str | None = None,
        serving: Serving = SERVING,
        training: bool = False,
    ):
        from uigym.models import families

        folder = Path(folder)
        sampler = VLLMSampler(families.open(folder), url or VLLMServer(folder, serving))
        limit = None if url else serving.max_tokens
        super().__init__(sampler.family, sampler, context, sampling, training=training, limit=limit)
        self.name = folder.name
