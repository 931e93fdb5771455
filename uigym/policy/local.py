"""A model in this process as a sampler: calls that wait at the same time are one batch, with a cache of keys and values.

For a CPU, for tests, and as the reference that servers are compared with. A pause stops between two tokens; what was
computed with the old weights is then computed again, from the ids that were sampled so far.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uigym.errors import ConfigError, MissingExtra, PolicyError
from uigym.policy import contexts
from uigym.policy.chat import ChatPolicy
from uigym.policy.contexts import Context
from uigym.policy.manner import Manner
from uigym.policy.manner import read as read_manner
from uigym.policy.sampler import PLAIN, Reply, Sampling, Weights
from uigym.train.windows import Picture, Window

try:
    import torch
    from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, StoppingCriteria
except ImportError as exc:
    raise MissingExtra(f"a model in this process needs torch and transformers; {exc.name}", "train") from exc

from uigym.models import families
from uigym.models.families.weights import checkpoint_names
from uigym.models.tiny import tiny_checkpoint

if TYPE_CHECKING:
    from torch import Tensor, nn

    from uigym.models.families.family import Family

BATCH = 16
"""Calls that are answered at once."""


@dataclass(slots=True, eq=False)
class _Call:
    ids: list[int]
    pictures: tuple[Picture, ...]
    pngs: Mapping[str, bytes]
    sampling: Sampling
    banned: tuple[int, ...]
    reply: asyncio.Future[Reply]
    generator: torch.Generator
    sampled: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    first: int = -1
    """Version of the weights that the first token was sampled with; -1 before it."""
    last: int = -1

    def is_over(self, end: int) -> bool:
        """Whether there is nothing more to sample."""
        return len(self.sampled) >= self.sampling.max_tokens or (bool(self.sampled) and self.sampled[-1] == end)

    def row(self) -> Window:
        """What the model has before it now."""
        return Window((*self.ids, *self.sampled), (), (), self.pictures, ())


class LocalSampler:
    """A transformers model that samples for everybody who asks.

    Args:
        family: Of the model.
        model: The model, in evaluation mode on its device; a trainer may share it if it trains only while it is paused.
        seed: Of the sampling where a call brings none; None takes a new one each time.
        batch: Most calls at once.
    """

    def __init__(self, family: Family, model: nn.Module, *, seed: int | None = None, batch: int = BATCH):
        if batch < 1:
            raise ConfigError(f"a batch has at least 1 call, not {batch}")
        self.family = family
        self.model = model
        self.version = 0
        self.batch = batch
        first = next(model.parameters())
        self._device, self._dtype = first.device, first.dtype
        self._generator = _generator(self._device, seed)
        self._waiting: list[_Call] = []
        self._serving: asyncio.Task[None] | None = None
        self._held = threading.Event()
        self._resumed = asyncio.Event()
        self._resumed.set()
        self._at_work = asyncio.Lock()

    async def start(self) -> None:
        """It is ready."""

    async def sample(
        self, ids: Sequence[int], pictures: Sequence[Picture], pngs: Mapping[str, bytes], sampling: Sampling
    ) -> Reply:
        """Go on from ids in which the pictures' placeholders stand.

        Raises:
            PolicyError: The forward pass failed.
        """
        return await self.sample_without(self.family.banned, ids, pictures, pngs, sampling)

    async def sample_without(
        self,
        banned: Sequence[int],
        ids: Sequence[int],
        pictures: Sequence[Picture],
        pngs: Mapping[str, bytes],
        sampling: Sampling,
    ) -> Reply:
        """`sample` with other ids left out than those that the family bans."""
        loop = asyncio.get_running_loop()
        generator = self._generator if sampling.seed is None else _generator(self._device, sampling.seed)
        call = _Call(list(ids), tuple(pictures), pngs, sampling, tuple(banned), loop.create_future(), generator)
        self._waiting.append(call)
        if self._serving is None or self._serving.done() or self._serving.get_loop() is not loop:
            self._serving = loop.create_task(self._serve())
        return await call.reply

    async def pause(self) -> None:
        """Hold everything that is being sampled where it is."""
        self._held.set()
        self._resumed.clear()
        async with self._at_work:  # until the present token is done
            pass

    async def resume(self) -> None:
        """Go on."""
        self._held.clear()
        self._resumed.set()

    async def update(self, weights: Weights, version: int) -> None:
        """Exchange the weights, while paused.

        Raises:
            PolicyError: A tensor has no place in this model, or another shape.
        """
        if not self._held.is_set():
            raise RuntimeError("weights are exchanged while the sampler is paused: call pause before, resume after")
        await asyncio.to_thread(load, self.model, weights)
        self.version = version

    async def close(self) -> None:
        """Give up on what still waits."""
        self._held.set()
        self._resumed.set()
        if self._serving is not None and not self._serving.done():
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        async with self._at_work:
            self._fail(self._waiting, PolicyError("the sampler was closed"))

    async def _serve(self) -> None:
        batch: list[_Call] = []
        try:
            while batch or self._waiting:
                await asyncio.sleep(0)  # let calls whose picture has just arrived join the batch
                await self._resumed.wait()
                if not batch:
                    batch, self._waiting = self._waiting[: self.batch], self._waiting[self.batch :]
                batch = [call for call in batch if not call.reply.done()]
                if batch:
                    async with self._at_work:
                        await self._work(batch)
        finally:
            self._fail(batch, PolicyError("the sampler was closed while it sampled"))

    async def _work(self, batch: Sequence[_Call]) -> None:
        """Sample until all calls are over, or a pause."""
        thread = asyncio.ensure_future(asyncio.to_thread(self._generate, batch, self.version))
        try:
            await asyncio.shield(thread)
        except asyncio.CancelledError:
            self._held.set()
            await asyncio.wait([thread])
            raise
        except Exception as exc:
            self._fail(batch, PolicyError(f"sampling {len(batch)} replies failed: {type(exc).__name__}: {exc}"))
        for call in batch:
            if call.is_over(self.family.end) and not call.reply.done():
                call.reply.set_result(Reply(tuple(call.sampled), tuple(call.logprobs), call.first, call.last))

    @staticmethod
    def _fail(calls: Sequence[_Call], error: PolicyError) -> None:
        for call in calls:
            if not call.reply.done():
                call.reply.set_exception(error)

    @torch.no_grad()
    def _generate(self, batch: Sequence[_Call], version: int) -> None:
        live = [call for call in batch if not call.is_over(self.family.end)]
        if not live:
            return
        pngs = {key: png for call in live for key, png in call.pngs.items()}
        inputs = self.family.inputs([call.row() for call in live], pngs, str(self._device), self._dtype)
        longest = max(call.sampling.max_tokens - len(call.sampled) for call in live)
        settings = GenerationConfig(
            do_sample=False, max_new_tokens=longest, eos_token_id=None, pad_token_id=self.family.end, use_cache=True
        )
        model: Any = self.model
        model.generate(
            **_left_padded(inputs),
            generation_config=settings,
            logits_processor=LogitsProcessorList([_Chooser(live, self.family.end, version)]),
            stopping_criteria=[_Over(live, self.family.end, self._held)],
        )


class HFPolicy(ChatPolicy):
    """A checkpoint of any family, sampled with transformers in this process.

    Args:
        folder: The checkpoint; "tiny" is the one that ships with uigym.
        context: How much of an episode the model has before it.
        sampling: How replies are sampled.
        training: Whether the replies are to be trained with.
        device: Where the model goes.
        dtype: Of its weights: float32, bfloat16.
        seed: Of the sampling.

    Raises:
        ConfigError: The folder holds no checkpoint of a family that uigym knows.
    """

    def __init__(
        self,
        folder: str | Path,
        context: Context = contexts.DEFAULT,
        sampling: Sampling = PLAIN,
        *,
        training: bool = False,
        device: str = "cpu",
        dtype: str = "float32",
        seed: int | None = None,
    ):
        folder = tiny_checkpoint() if str(folder) == "tiny" else Path(folder)
        family = families.open(folder)
        sampler = LocalSampler(family, family.load(folder, getattr(torch, dtype), device), seed=seed)
        super().__init__(family, sampler, context, sampling, training=training)
        self.name = folder.name


def saved(folder: Path, *, greedy: bool = False) -> ChatPolicy:
    """The policy of a checkpoint as it was trained, on the GPU where there is one.

    Args:
        folder: A checkpoint of any family, with or without the manner in which it is asked.
        greedy: Always the likeliest id.

    Raises:
        ConfigError: The folder holds no checkpoint of a family that uigym knows.
    """
    from uigym.models import families

    manner = read_manner(folder) or Manner()
    family = families.open(folder, codec=manner.codec)
    device, dtype = ("cuda", torch.bfloat16) if torch.cuda.is_available() else ("cpu", torch.float32)
    policy = ChatPolicy(
        family,
        LocalSampler(family, family.load(folder, dtype, device)),
        contexts.parse(manner.context),
        manner.sampling(greedy=greedy),
        limit=manner.limit,
    )
    policy.name = folder.name
    return policy


@torch.no_grad()
def load(model: nn.Module, weights: Weights) -> None:
    """Put weights into a model, in place.

    Raises:
        PolicyError: A tensor has no place in it, or another shape.
    """
    here = dict(model.named_parameters())
    own = {saved: here[name] for name, saved in checkpoint_names(model).items()}
    for name, tensor in weights.named():
        if name not in own or own[name].shape != tensor.shape:
            found = tuple(own[name].shape) if name in own else "nothing of that name"
            raise PolicyError(f"weight {name} of shape {tuple(tensor.shape)} does not fit: the model has {found}")
        if own[name].data_ptr() != tensor.data_ptr():
            own[name].copy_(tensor)


class _Chooser(LogitsProcessor):
    """Draws each row's next id itself and notes it, so that what is noted is what was drawn; all others become -inf."""

    def __init__(self, calls: Sequence[_Call], end: int, version: int):
        self.calls, self.end, self.version = calls, end, version

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """float [N, vocabulary] -> the same shape with one finite entry a row."""
        chosen = [self._draw(call, row) for call, row in zip(self.calls, scores, strict=True)]
        only = torch.full_like(scores, float("-inf"))
        return only.scatter_(1, torch.tensor(chosen, device=scores.device)[:, None], 0.0)

    def _draw(self, call: _Call, logits_V: Tensor) -> int:
        if call.is_over(self.end):
            return self.end
        logprobs = _logprobs(logits_V.float(), call.sampling, call.banned)
        if call.sampling.temperature:
            drawn = torch.multinomial(logprobs.exp(), 1, generator=call.generator)
        else:
            drawn = logprobs.argmax(-1, keepdim=True)
        token = int(drawn)
        call.sampled.append(token)
        call.logprobs.append(min(0.0, float(logprobs[token])))
        call.first = self.version if call.first < 0 else call.first
        call.last = self.version
        return token


class _Over(StoppingCriteria):
    """Ends each row when its call is over, and all of them for a pause."""

    def __init__(self, calls: Sequence[_Call], end: int, held: threading.Event):
        self.calls, self.end, self.held = calls, end, held

    def __call__(self, input_ids: Tensor, scores: Any, **more: Any) -> Tensor:
        """bool [N]."""
        held = self.held.is_set()
        return torch.tensor([held or call.is_over(self.end) for call in self.calls], device=input_ids.device)


def _logprobs(logits_V: Tensor, sampling: Sampling, banned: Sequence[int]) -> Tensor:
    """Of every id as it is sampled: [V], natural logarithms, -inf for what is left out."""
    logits_V = logits_V.clone()
    if banned:
        logits_V[torch.tensor(banned, device=logits_V.device)] = float("-inf")
    logits_V /= sampling.temperature or 1.0
    if sampling.top_k:
        least = logits_V.topk(min(sampling.top_k, len(logits_V))).values[-1]
        logits_V[logits_V < least] = float("-inf")
    if sampling.top_p < 1:
        ordered, order = logits_V.softmax(-1).sort(descending=True)
        outside = ordered.cumsum(0) - ordered > sampling.top_p
        logits_V[order[outside]] = float("-inf")
    return logits_V.log_softmax(-1)


def _left_padded(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A family's inputs, padded on the right, as generation wants them: on the left, and without positions of their own."""
    lengths = inputs["attention_mask"].sum(1).tolist()
    shape = tuple(inputs["input_ids"].shape)

    def moved(value: Any) -> Any:
        is_text = isinstance(value, torch.Tensor) and value.shape[:2] == shape and not value.is_floating_point()
        if not is_text or min(lengths) == shape[1]:
            return value
        return torch.stack([row.roll(shape[1] - length, 0) for row, length in zip(value, lengths, strict=True)])

    return {name: moved(value) for name, value in inputs.items() if name not in ("position_ids", "use_cache")}


def _generator(device: torch.device, seed: int | None) -> torch.Generator:
    generator = torch.Generator(device=device)
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed(seed)
    return generator
