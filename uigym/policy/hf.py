"""A vision-language checkpoint as a policy, sampled with transformers in this process.

Token in, token out: the text comes from the sampled ids, never the other way round, and each decision carries the
ids and log-probabilities that it was sampled with. Calls that are waiting at the same time are answered as one
batch; pictures that have been seen under the current weights are not computed again.
"""

from __future__ import annotations

import asyncio
import io
import json
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uigym.errors import ConfigError, MissingExtra, PolicyError, attribute

try:
    import numpy as np
    import torch
    from PIL import Image
    from transformers import AutoTokenizer, Qwen3VLForConditionalGeneration
    from transformers.utils import logging as transformers_logging
except ImportError as exc:
    raise MissingExtra(f"a model policy needs torch and transformers; {exc.name}", "train") from exc

from uigym.models.families.safe import SAFE, SAFE_WEIGHTS, check_weights, why
from uigym.models.forward import SharedPrefix
from uigym.models.prompt import Prompts
from uigym.models.tiny import tiny_checkpoint
from uigym.policy.codecs import tiny
from uigym.train.rows import Row
from uigym.types import Decision, History, Invalid, Observation

if TYPE_CHECKING:
    from numpy.typing import NDArray

transformers_logging.disable_progress_bar()
_KEPT_PREFIXES = 256
"""Pictures whose keys and values are kept while the weights stay; about 2 MB each for the tiny model."""
_KEPT_FEATURES = 3000
"""Pictures whose picture tokens are kept while the vision tower stays; about 0.2 MB each for the tiny model."""


def picture_size(width: int, height: int, *, cell: int = 16, max_pixels: int = 320 * 256) -> tuple[int, int]:
    """Width and height, px, at which a viewport is shown to the model: multiples of its grid, within its budget.

    Example:
        >>> picture_size(320, 256), picture_size(1280, 720)
        ((320, 256), (368, 208))
    """
    scale = min(1.0, math.sqrt(max_pixels / (width * height)))
    fit = [max(cell, round(side * scale / cell) * cell) for side in (width, height)]
    while fit[0] * fit[1] > max_pixels:
        longer = 0 if fit[0] >= fit[1] else 1
        fit[longer] -= cell
    return fit[0], fit[1]


def load_model(checkpoint: str | Path) -> tuple[Qwen3VLForConditionalGeneration, Prompts, Any]:
    """Model in float32, prompts and tokenizer of a checkpoint that speaks the tiny model's action language.

    Args:
        checkpoint: A folder; "tiny" is the one that ships with uigym.

    Raises:
        ConfigError: There is no such folder, or it holds another kind of model.
    """
    folder = tiny_checkpoint() if str(checkpoint) == "tiny" else Path(checkpoint)
    config_file = folder / "config.json"
    if not config_file.is_file():
        raise ConfigError(f"no checkpoint in {folder}: expected a folder with config.json and model.safetensors")
    try:
        kind = json.loads(config_file.read_text()).get("architectures") or ["unknown"]
    except ValueError as exc:
        raise ConfigError(f"{config_file} is not JSON: {exc}") from exc
    if kind[0] != "Qwen3VLForConditionalGeneration":
        raise ConfigError(f"{folder} holds a {kind[0]}, expected a Qwen3VLForConditionalGeneration")
    check_weights(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **SAFE)
        model = Qwen3VLForConditionalGeneration.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="sdpa", **SAFE_WEIGHTS
        )
    except Exception as exc:
        raise ConfigError(f"the checkpoint in {folder} cannot be loaded: {why(exc)}") from exc
    if tokenizer.convert_tokens_to_ids("<click>") in (None, tokenizer.unk_token_id):
        raise ConfigError(
            f"the tokenizer of {folder} has no <click> token: it does not speak the tiny model's action language"
        )
    return model.eval(), Prompts(tokenizer), tokenizer


def pixels(png: bytes, width: int, height: int) -> NDArray[np.uint8]:
    """uint8 [height, width, 3] of a PNG, resized where it has another size."""
    with Image.open(io.BytesIO(png)) as image:
        rgb = image.convert("RGB")
        return np.array(rgb if rgb.size == (width, height) else rgb.resize((width, height), Image.Resampling.BICUBIC))


def past_actions(history: History, width: int, height: int) -> list[str]:
    """The policy's own past actions as text: its words where it had some, else the action's."""
    return [step.text or tiny.encode(step.action, width, height) for step in history]


class PictureCache:
    """What the model makes of pictures, by hash, so that no picture is computed twice under the same weights."""

    def __init__(self, shared: SharedPrefix):
        self.shared = shared
        self._features: OrderedDict[str, Any] = OrderedDict()
        self._prefixes: OrderedDict[str, torch.Tensor] = OrderedDict()

    def prefixes(self, pngs: Mapping[str, bytes]) -> list[torch.Tensor]:
        """Keys and values of each picture, in the order given."""
        new = _missing(self._prefixes, pngs)
        if new:
            visual, deep = zip(*self.features({key: pngs[key] for key in new}), strict=True)
            stacked = torch.stack(visual), [torch.stack(layer) for layer in zip(*deep, strict=True)]
            _keep(
                self._prefixes,
                dict(zip(new, self.shared.prefill(stacked), strict=True)),
                max(_KEPT_PREFIXES, len(pngs)),
            )
        return [self._prefixes[key] for key in pngs]

    @torch.no_grad()
    def features(self, pngs: Mapping[str, bytes]) -> list[Any]:
        """Picture tokens of each picture, in the order given."""
        new = _missing(self._features, pngs)
        if new:
            visual, deep = self.shared.features(self.shared.pixels(self.pixels({key: pngs[key] for key in new})))
            made = {key: (visual[i], [layer[i] for layer in deep]) for i, key in enumerate(new)}
            _keep(self._features, made, max(_KEPT_FEATURES, len(pngs)))
        return [self._features[key] for key in pngs]

    def pixels(self, pngs: Mapping[str, bytes]) -> NDArray[np.uint8]:
        """uint8 [n, height, width, 3]."""
        height, width = (n * self.shared.patch for n in (self.shared.rows, self.shared.columns))
        return np.stack([pixels(png, width, height) for png in pngs.values()])

    def forget(self, *, vision: bool) -> None:
        """The weights have changed: those of the language part, and of the vision tower if so said."""
        self._prefixes.clear()
        if vision:
            self._features.clear()


def _missing(cache: OrderedDict[str, Any], wanted: Mapping[str, bytes]) -> list[str]:
    """The keys that are not there; those that are count as used, so that what is added does not push them out."""
    for key in wanted:
        if key in cache:
            cache.move_to_end(key)
    return [key for key in wanted if key not in cache]


def _keep(cache: OrderedDict[str, Any], new: Mapping[str, Any], limit: int) -> None:
    cache.update(new)
    while len(cache) > limit:
        cache.popitem(last=False)


@dataclass(slots=True)
class _Call:
    observation: Observation
    prompt: list[int]
    reply: asyncio.Future[tuple[list[int], list[float]]]


class TransformersPolicy:
    """A checkpoint that looks at the screenshot, the instruction and its own past actions, and nothing else.

    Args:
        checkpoint: Folder, or "tiny".
        temperature: Of sampling; 0 takes the likeliest action.
        max_tokens: Longest reply; one that does not end by then is no action.
        seed: Of the sampling; None takes a new one each time.
    """

    def __init__(
        self,
        checkpoint: str | Path = "tiny",
        *,
        temperature: float = 1.0,
        max_tokens: int = 32,
        seed: int | None = None,
    ):
        if not (math.isfinite(temperature) and temperature >= 0) or max_tokens < 1:
            raise ConfigError(
                f"temperature must be 0 or more and max_tokens 1 or more, not {temperature} and {max_tokens}"
            )
        self.model, self.prompts, self.tokenizer = load_model(checkpoint)
        self.name = Path(checkpoint).name
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.version = 0
        self.generator = torch.Generator(device=self.model.device)
        if seed is None:
            self.generator.seed()
        else:
            self.generator.manual_seed(seed)
        self._caches: dict[tuple[int, int], PictureCache] = {}
        self._waiting: list[_Call] = []
        self._serving: asyncio.Task[None] | None = None

    async def act(self, observation: Observation, history: History) -> Decision:
        """Sample one reply.

        Raises:
            PolicyError: The forward pass failed.
        """
        past = past_actions(history, observation.width, observation.height)
        prompt = self.prompts.prompt(observation.instruction, past)
        loop = asyncio.get_running_loop()
        call = _Call(observation, prompt, loop.create_future())
        self._waiting.append(call)
        if self._serving is None or self._serving.done() or self._serving.get_loop() is not loop:
            self._serving = loop.create_task(self._serve())
        ids, logprobs = await call.reply
        return self._decide(observation, prompt, ids, logprobs)

    def weights_changed(self, *, vision: bool) -> None:
        """Say that the model has been updated in place; must not be called while replies are being sampled."""
        for cache in self._caches.values():
            cache.forget(vision=vision)
        self.version += 1

    def cache(self, width: int, height: int) -> PictureCache:
        """What is kept of pictures of that size, px."""
        if (width, height) not in self._caches:
            self._caches[width, height] = PictureCache(SharedPrefix(self.model, height, width))
        return self._caches[width, height]

    async def _serve(self) -> None:
        while self._waiting:
            await asyncio.sleep(0)  # let slots whose picture has just arrived join the batch
            size = picture_size(self._waiting[0].observation.width, self._waiting[0].observation.height)
            batch = [c for c in self._waiting if picture_size(c.observation.width, c.observation.height) == size]
            self._waiting = [c for c in self._waiting if c not in batch]
            try:
                replies = await asyncio.to_thread(self._sample, batch, size)
            except Exception as exc:
                error = PolicyError(f"sampling a batch of {len(batch)} replies failed: {type(exc).__name__}: {exc}")
                for call in (c for c in batch if not c.reply.done()):
                    call.reply.set_exception(error)
            else:
                for call, reply in zip(batch, replies, strict=True):
                    if not call.reply.done():
                        call.reply.set_result(reply)

    def _sample(self, batch: Sequence[_Call], size: tuple[int, int]) -> list[tuple[list[int], list[float]]]:
        cache = self.cache(*size)
        hashes = [call.observation.image_hash for call in batch]
        pngs = {key: call.observation.png for key, call in zip(hashes, batch, strict=True)}
        found = dict(zip(pngs, cache.prefixes(pngs), strict=True))
        prefixes = torch.stack([found[key] for key in hashes])
        got = cache.shared.sample(
            prefixes,
            [call.prompt for call in batch],
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            banned=self.prompts.banned,
            generator=self.generator,
        )
        return list(zip(got.ids, got.logprobs, strict=True))

    def _decide(self, seen: Observation, prompt: list[int], ids: list[int], logprobs: list[float]) -> Decision:
        text = self.prompts.read(ids)
        with attribute(PolicyError, "the model gave no log-probabilities that can be used"):
            row = Row(seen.image_hash, tuple(prompt), tuple(ids), tuple(logprobs), self.version)
        if ids[-1] != self.prompts.end:
            return Decision(
                Invalid(text, f"the reply did not end within {self.max_tokens} tokens: {text[:80]!r}"), text, row
            )
        return Decision(tiny.decode(text, seen.width, seen.height), text, row)
